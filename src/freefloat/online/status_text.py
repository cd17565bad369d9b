"""What of the parameters is seen, in words: and if nothing is, why, and what would show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from freefloat.observability.scale import is_scaled

if TYPE_CHECKING:
    from freefloat.arrays import Array
    from freefloat.model.model import Model
    from freefloat.online.live_estimate import LiveEstimate

KNOWN = ("seen", "weak")
MOSTLY = 0.7  # of the length of the masses and inertias lies in what is lost: the scale is
PART = 0.1  # of a lost combination that a parameter must be to tell it when it is known


def sight(estimate: LiveEstimate) -> str:
    """How many parameters are seen; why not, and a remedy, where none are."""
    names, statuses = estimate.names, estimate.statuses
    unseen = [name for name, s in zip(names, statuses, strict=True) if s not in KNOWN]
    if not unseen:
        n_weak = statuses.count("weak")
        return f"all {len(names)} parameters are seen" + (f", {n_weak} weakly" if n_weak else "")
    if len(unseen) < len(names):
        n_seen = len(names) - len(unseen)
        return f"{n_seen} of {len(names)} parameters are seen; not {listed(unseen)}"
    return f"no parameter is seen on its own: {_why(estimate)}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Some names, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _why(estimate: LiveEstimate) -> str:
    """What hides all parameters, and what would show them."""
    lost = estimate.lost
    if lost is None:
        return "the first samples are still being kept, to be solved together"
    if not lost.shape[1]:
        return "too few samples yet"
    n, k = len(estimate.names), lost.shape[1]
    told = f"noise hides {k} of {n} combinations"
    if not _is_scale_lost(estimate, lost):
        return f"{told}; larger or longer motion of the joints would show more, or fewer free ones"
    ways = [*_forces(estimate.parameters.model)]
    mass = _telling_mass(estimate, lost)
    if mass:
        ways.append(f"a known mass (fix {mass})")
    ways.append("identify from the recording, which uses positions too")
    return f"{told}, the scale of all masses among them; try {', or '.join(ways)}"


def _is_scale_lost(estimate: LiveEstimate, lost: Array) -> bool:
    """Whether growing all masses and inertias together would go unnoticed."""
    sizes = estimate.unknowns.sizes[len(estimate.unknowns.nuisance) :]
    moves = np.linalg.norm(lost, axis=1) > 1e-6  # what no reading depends on is no part of it
    pairs = zip(estimate.names, estimate.values, moves, strict=True)
    theta = np.array([v * (is_scaled(name) and bool(m)) for name, v, m in pairs]) / sizes
    size = float(np.linalg.norm(theta))
    return size > 0.0 and float(np.linalg.norm(lost.T @ theta)) > MOSTLY * size


def _telling_mass(estimate: LiveEstimate, lost: Array) -> str:
    """A mass that tells the scale once it is known; empty if more than that is lost."""
    if lost.shape[1] > 1:
        return ""
    masses = [k for k, name in enumerate(estimate.names) if name.endswith(".mass")]
    best = max(masses, key=lambda k: abs(lost[k, 0]), default=None)
    return "" if best is None or abs(lost[best, 0]) < PART else estimate.names[best]


def _forces(model: Model) -> list[str]:
    """Known forces that the model could have."""
    thrust = f"{model.thrusters[0].name}.force ..." if model.thrusters else "base.force.x ..."
    return [f"thrust (told as {thrust})", *(["wheels that spin up"] if model.wheels else [])]
