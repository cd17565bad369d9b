"""From which size on an assumption is seen and does harm, against least squares done in full."""

import numpy as np
import pytest
from identification.trust.linear_rows import assumptions, linear_rows

from freefloat.identification.trust.assumption_limits import VISIBLE, assumption_limits
from freefloat.identification.trust.assumption_scores import noise_level
from freefloat.identification.trust.causes import Reported
from freefloat.identification.trust.consider import consider


def test_limits_are_those_of_least_squares():
    rows = linear_rows(np.random.default_rng(2))
    rng = np.random.default_rng(3)
    wave = np.sin(0.5 * np.tile(np.linspace(0.0, 60.0, 600), 3))
    blind = rows.jacobian @ np.array([0.3, 0.0, -0.2, 0.1])  # what the unknowns take up altogether
    columns = np.column_stack([wave + 0.1 * rng.standard_normal(1800), blind, np.zeros(1800)])
    taken = assumptions(columns, "a.zero", "b.zero", "c.zero")
    considered = consider(rows, taken)
    std = np.sqrt(np.diag(np.linalg.inv(rows.jacobian.T @ rows.jacobian)))
    reported = Reported((0, 1, 2, 3), ("p", "q", "r", "s"), np.ones(4), std)
    total = reported.total(considered)
    first, second, third = assumption_limits(rows, considered, reported, total)
    # the blind one first, though it is never seen; what does nothing at all comes last
    assert [limit.name for limit in (first, second, third)] == ["b.zero", "a.zero", "c.zero"]
    assert np.isinf(first.visible_at) and np.isinf(third.harmful_at)
    moved = np.linalg.lstsq(rows.jacobian, first.harmful_at * blind, rcond=None)[0]
    assert np.max(np.abs(moved) / total) == pytest.approx(1.0, rel=1e-9)  # rounding
    both = np.column_stack([rows.jacobian, columns[:, 0]])
    alone = np.sqrt(np.linalg.inv(both.T @ both)[-1, -1])
    expected = VISIBLE * alone * noise_level(rows, considered)
    assert second.visible_at == pytest.approx(expected, rel=1e-6)  # rounding of a projection
