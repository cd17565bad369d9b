"""How many parameters the samples show; where none is observable, why, and what would show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.model.model import Model
from freefloat.model.parameter_name import field_of
from freefloat.notes import Note
from freefloat.observability.scale import is_scaled
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    from freefloat.online.live_estimate import LiveEstimate

NO_BAND = "no band"  # the status of all that an estimator without deviations finds
KNOWN = ("seen", "weak")
# theory: of a vector that has nothing to do with k lost directions of n, a part sqrt(k / n) lies in
# them by chance, 0.4 for 3 of 20; of the vector of all masses all of it, but for the errors of its
# estimates. The limit lies half way
MOSTLY = 0.7
# theory: a mass known to 1 % tells a direction, of which it is so large a part, to 10 %: where
# `known_status` begins to call a parameter weak
PART = 0.1


def status_note(estimate: LiveEstimate) -> Note:
    """How many parameters are observable; why not, and a remedy, where none is."""
    names, statuses = estimate.names, estimate.statuses
    if NO_BAND in statuses:
        return Note("observable.unknown", "this method has no covariance; square-root has")
    unseen = [name for name, s in zip(names, statuses, strict=True) if s not in KNOWN]
    seen = f"{len(names) - len(unseen)} of {count_noun(len(names), 'parameter')} seen"
    if not unseen:
        n_weak = statuses.count("weak")
        return Note("observable.all", seen + (f", {n_weak} weakly" if n_weak else ""))
    if len(unseen) < len(names):
        return Note("observable.some", f"{seen}; not {listing(unseen, most=4)}")
    return _nothing_seen(estimate)


def _nothing_seen(estimate: LiveEstimate) -> Note:
    """What hides all parameters, and what would show them."""
    start = "no single parameter is observable: "
    lost = estimate.lost_directions
    if lost is None:
        why = "the first samples are still being kept, to be solved together"
        return Note("observable.none.starting", start + why)
    if not lost.shape[1]:
        return Note("observable.none.too_few_samples", f"{start}too few samples yet")
    n, k = len(estimate.names), lost.shape[1]
    why = f"{k} of {count_noun(n, 'combination')} not observable"
    if not _is_scale_lost(estimate, lost):
        help_ = "larger or longer motion of the joints would show more, or fewer free parameters"
        return Note("observable.none.motion", f"{start}{why}; {help_}")
    ways = [*_forces(estimate.parameters.model)]
    mass = _telling_mass(estimate, lost)
    if mass:
        ways.append(f"a known mass (fix {mass})")
    ways.append("identify from the recording, which uses positions too")
    why = f"{why}, the scale of all masses among them; try {', or '.join(ways)}"
    return Note("observable.none.scale", start + why)


def _is_scale_lost(estimate: LiveEstimate, lost: Array) -> bool:
    """Whether growing all masses and inertias together would go unnoticed."""
    moves = np.linalg.norm(lost, axis=1) > 1e-6  # what no reading depends on is no part of it
    pairs = zip(estimate.names, estimate.values, moves, strict=True)
    theta = np.array([v * (is_scaled(name) and bool(m)) for name, v, m in pairs]) / estimate.sizes
    size = float(np.linalg.norm(theta))
    return size > 0.0 and float(np.linalg.norm(lost.T @ theta)) > MOSTLY * size


def _telling_mass(estimate: LiveEstimate, lost: Array) -> str:
    """A mass that tells the scale once it is known; empty if more than that is lost."""
    if lost.shape[1] > 1:
        return ""
    masses = [k for k, name in enumerate(estimate.names) if field_of(name) == "mass"]
    best = max(masses, key=lambda k: abs(lost[k, 0]), default=None)
    return "" if best is None or abs(lost[best, 0]) < PART else estimate.names[best]


def _forces(model: Model) -> list[str]:
    """Known forces that the model could have."""
    thrust = f"{model.thrusters[0].name}.force ..." if model.thrusters else "base.force.x ..."
    return [f"thrust (given as {thrust})", *(["wheels that spin up"] if model.wheels else [])]
