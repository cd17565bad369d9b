"""The grade of a live estimate: what its samples, events and innovations say, and its trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.assessment import (
    GRADES,
    Assessment,
    DoubtShare,
    Evidence,
    worst_grade,
)

if TYPE_CHECKING:
    from freefloat.online.live_estimate import LiveEstimate


@dataclass(frozen=True)
class Judgement:
    """Total deviations of one estimate, evidence against it, and what its scale rests on."""

    total_std: Array
    evidence: tuple[Evidence, ...] = ()
    doubts: tuple[DoubtShare, ...] = ()


def assess_estimate(estimate: LiveEstimate) -> Assessment:
    """The grade of an estimate with all its evidence, the worst first."""
    judged = estimate.judgement
    ratio = 1.0 if judged is None else largest_ratio(estimate.std, judged.total_std)
    evidence = list(estimate.health.evidence(ratio))
    if judged is not None:
        evidence += judged.evidence
    elif np.isfinite(estimate.std).any():
        evidence.append(
            Evidence(
                "assumptions.not_considered",
                "what the model takes as exact is not in the deviations: this filter does not work"
                " that out, or there are too few samples since it began",
                "with reservations", remedy="track for longer, or identify from the recording",
            )
        )  # fmt: skip
    order = sorted(evidence, key=lambda e: -GRADES.index(e.grade))
    doubts = () if judged is None else judged.doubts
    return Assessment(worst_grade(order), tuple(order), (), doubts)


def largest_ratio(std: Array, total: Array) -> float:
    """The largest statistical deviation over its total one; one where none is known.

    >>> largest_ratio(np.array([1.0, np.nan]), np.array([4.0, np.nan]))
    0.25
    """
    known = np.isfinite(std) & (total > 0.0)
    return float(np.max(std[known] / total[known])) if known.any() else 1.0
