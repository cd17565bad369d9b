"""Paper 001 rebuilt: closed forms, ranks and faults hold; ours is better where it says so."""

from __future__ import annotations

import numpy as np

from freefloat.papers.paper_001.published import NEVER
from freefloat.papers.paper_001.tables import Case, _error, _our_time, _time, _value, pattern_rows


def test_eq_16_by_the_letter_is_far_off(quick_rows):
    rows = quick_rows("001", "fault_rows")
    (row,) = [row for row in rows if row.table.startswith("Eq. 16")]
    assert row.status == "paper wrong" and row.ours is not None and row.ours > 100.0


def test_every_row_of_ours_can_be_missed():
    assert _error("", "", 1e-3).status == "met"
    assert _error("", "", 1.0).status == "missed"
    assert _our_time("", "", 9.5, 2.0).status == "better"
    assert _our_time("", "", 0.6, 2.0).status == "met"  # within 3 s, but the paper was sooner
    assert _our_time("", "", None, 2.0).status == "met"
    assert _our_time("", "", NEVER, 2.0).status == "met"
    assert _our_time("", "", 9.5, 3.2).status == _our_time("", "", None, None).status == "missed"


def test_the_papers_method_on_unpublished_geometry_is_no_failure_of_ours():
    assert _value("", "", "kg", 500.0, 500.001, 500.0).status == "reproduced"
    assert _value("", "", "kg", 500.0, 505.0, 500.0).status == "reproduced in pattern"
    assert _value("", "", "kg", 500.0, 600.0, 500.0).status == "differs"
    assert _time("", "", 9.5, 12.0).status == "reproduced in pattern"
    assert _time("", "", 9.5, None).status == "differs"
    assert _time("", "", NEVER, None).status == "reproduced in pattern"
    assert _time("", "", NEVER, 5.0).status == "differs"
    assert _time("", "", None, 12.0).status == "not published"


def _case(momentum, force, *, times=(1.0, 10.0, 20.0)) -> Case:
    """A run of one mass and I_n, both 10; columns of estimates."""
    names = ["m_1", "I_n"]
    printed = {"m_1": (10.0, 10.0, None, 10.0, None), "I_n": (10.0, 10.0, None, 10.0, None)}
    return Case("x", printed, names, np.array([10.0, 10.0]), np.array(times),
                np.array(momentum).T, np.array(force).T, {})  # fmt: skip


def test_patterns_can_be_missed():
    good = _case([[5.0, 10.0, 10.0], [5.0, 5.0, 10.001]], [[5.0, 9.9, 9.9], [5.0, 6.0, 7.0]])
    assert {row.status for row in pattern_rows([good, good])} == {"reproduced in pattern"}
    # momentum worse than force, I_n right at once, and the small target slower than the large one
    bad = _case([[5.0, 5.0, 5.0], [10.0, 10.0, 10.0]], [[10.0] * 3, [10.0] * 3])
    missed = [row.note for row in pattern_rows([bad, good]) if row.status == "missed"]
    assert missed == [
        "momentum is better", "low, and not converged", "I_n is the slowest",
        "a larger target takes longer", "P0 = 1e6: 6 to 25 s",
    ]  # fmt: skip
