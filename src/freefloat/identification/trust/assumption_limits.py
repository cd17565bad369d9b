"""From which size on an assumption that is wrong would be seen, and from which on it does harm."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.assessment import AssumptionLimits
from freefloat.identification.trust.assumption_scores import noise_level, score
from freefloat.identification.trust.causes import Reported
from freefloat.identification.trust.consider import Consideration
from freefloat.identification.trust.white_rows import WhiteRows

# theory: what a single test, asked for by name, calls seen: a chance of 0.3 % by noise alone
VISIBLE = 3.0  # [standard deviations] of its own score
# theory: an amount known to less than that of its doubt is known by its doubt alone
BLIND = 1e-9


def assumption_limits(
    rows: WhiteRows, considered: Consideration, reported: Reported, total: Array
) -> tuple[AssumptionLimits, ...]:
    """Of every assumption, those that do harm before they are seen first.

    considered: with all assumptions exact. Seen: the others within their doubt. Harm: one total
    standard deviation of an estimate.
    """
    if not considered.assumptions:
        return ()
    std = score(
        considered, np.zeros(len(considered.assumptions)), noise=noise_level(rows, considered)
    ).std
    seen = 1.0 - np.diag(considered.posterior) > BLIND
    found = []
    for c, assumption in enumerate(considered.assumptions):
        shift, moves = reported.largest_shift(considered.moves[:, c], total)
        visible = VISIBLE * float(std[c]) if seen[c] else np.inf
        harmful = 1.0 / shift if shift > 0.0 else np.inf
        found.append(
            AssumptionLimits(
                assumption.name, assumption.unit, assumption.std, assumption.is_stated,
                visible * assumption.std, harmful * assumption.std, moves,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=_rank))


def _rank(limits: AssumptionLimits) -> tuple[bool, float]:
    """Those that do harm before they are seen first; of these those nearest to their doubt."""
    is_seen_first = not limits.harmful_at < limits.visible_at
    return is_seen_first, limits.harmful_at / limits.deviation
