"""What a model must do to be believed, each criterion with its limit and its reason.

Whether a prediction could be made at all (execution) is not among them: a simulation that ran to
its end has shown nothing yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.dynamics.tree import flatten
from freefloat.identification.fit import Fit
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.validation.balance import MomentumBalance
from freefloat.validation.end_effectors import EndEffector
from freefloat.validation.metrics import Score, excess
from freefloat.validation.residual_tests import Whiteness

# Both follow what an actuator does at once; their errors are those of differentiated encoders.
ACCELERATED = (".torque", ".acceleration", ".motor_torque")


@dataclass(frozen=True)
class AcceptanceLimits:
    """From when on a criterion fails; the defaults are for models that shall predict to 10 %.

    error: prediction error beyond noise, relative to what was seen; noise: an error in units of
    what is to be expected of a right model, below which it does not count; correlation: the share
    of a residual's power that may have a memory; outside: the share of lags that may leave the 99 %
    band; worse: how much larger an error may be than before the fit; tip: the mean error of an
    end-effector [m], or None.
    """

    error: float = 0.1
    noise: float = 2.0
    correlation: float = 0.25
    outside: float = 0.05
    worse: float = 1.05
    tip: float | None = None


@dataclass(frozen=True)
class AcceptanceCriterion:
    """One criterion: whether it is met (None: it could not be judged), by what number, and why."""

    name: str
    is_met: bool | None
    value: float
    limit: float
    reason: str


def prediction(scores: Sequence[Score], limits: AcceptanceLimits) -> AcceptanceCriterion:
    """Is every sensor predicted?"""
    errors: dict[str, float] = {}
    failed = []
    for group in dict.fromkeys(score.group for score in scores):
        own = [score for score in scores if score.group == group]
        beyond, signal, ratio = excess(own)
        share = beyond / signal if signal > 0.0 else np.inf
        is_noise = ratio <= limits.noise
        errors[group] = 0.0 if is_noise else share
        if not is_noise and share > limits.error:
            failed.append(f"{group} ({100 * min(share, 9.99):.0f} %)")
    worst = max(errors.values(), default=0.0)
    if failed:
        reason = f"error beyond the noise, relative to what was seen: {', '.join(failed)}"
    elif worst == 0.0:
        reason = f"every sensor is met to within {limits.noise:g} times the expected error"
    else:
        reason = f"the worst sensor is {100 * worst:.2g} % off, beyond its noise"
    return AcceptanceCriterion("prediction", not failed, worst, limits.error, reason)


def white_residuals(
    found: Sequence[Whiteness], scores: Sequence[Score], limits: AcceptanceLimits
) -> AcceptanceCriterion:
    """Is what is left noise? Judged where noise is not that of differentiated encoders.

    Long recordings show any memory, however small; one that carries less than a quarter of the
    residual's power is less than half the noise, and does not count. Nor does one that parameters
    known only so well leave behind.
    """
    own = {score.channel: score for score in scores}
    judged = [w for w in found if not own[w.channel].group.endswith(ACCELERATED)]
    # what its channel's own uncertainty explains is nothing to judge by
    told = [w for w in judged if w.outside > limits.outside and not own[w.channel].is_explained]
    worst = max((w.largest for w in told), default=0.0)
    failed = [w for w in told if w.largest > limits.correlation]
    if not judged:
        return AcceptanceCriterion(
            "residuals", None, worst, limits.correlation, "no channel to judge them by"
        )
    if not failed:
        reason = "what is left is noise, or what the stated deviations of the parameters leave"
    else:
        names = ", ".join(w.channel for w in failed[:4]) + (" ..." if len(failed) > 4 else "")
        reason = f"what is left has a memory, so something is not modelled or off: {names}"
    return AcceptanceCriterion("residuals", not failed, worst, limits.correlation, reason)


def momentum(
    found: Sequence[MomentumBalance], why_not: str, limits: AcceptanceLimits
) -> AcceptanceCriterion:
    """Does momentum balance with the model's masses?"""
    if not found:
        return AcceptanceCriterion(
            "momentum", None, float("nan"), limits.noise, why_not or "not measured"
        )
    failed = [b for b in found if b.rms > limits.noise and not b.share <= limits.error]
    worst = max(b.rms for b in found)
    if failed:
        names = ", ".join(f"{b.component} ({b.rms:.2g} times)" for b in failed)
        reason = f"momentum does not balance to within its noise: {names}"
    else:
        reason = "momentum minus the impulse of thrust stays what it was, to within its noise"
    return AcceptanceCriterion("momentum", not failed, worst, limits.noise, reason)


def physical(model: Model) -> AcceptanceCriterion:
    """Could every body exist?"""
    faults = [
        f"{body.name} has {wrong}"
        for body in flatten(model).model.assembly.bodies
        if (
            wrong := inertial.inconsistency(
                inertial.phi_from_com(body.mass, body.com, body.inertia)
            )
        )
    ]
    reason = "; ".join(faults) or "every body could exist"
    return AcceptanceCriterion("physical", not faults, float(len(faults)), 0.0, reason)


def improvement(scores: Sequence[Score], limits: AcceptanceLimits) -> AcceptanceCriterion:
    """Does the new model predict better than the old one?

    An old model that was right already predicts better than any estimate does; so an error that is
    to be expected of a right model is not held against the new one.
    """
    compared = [s for s in scores if s.rmse_before > 0.0 and s.noise > 0.0]
    if not compared:
        reason = "there is no model before to compare with"
        return AcceptanceCriterion("improvement", None, float("nan"), limits.worse, reason)
    expected = [limits.noise * math.hypot(s.noise, s.expected) for s in compared]
    value = _geometric([s.noise for s in compared], compared)
    judged = _geometric(expected, compared)
    words = f"{1 / value:.3g} times smaller than" if value < 1.0 else f"{value:.3g} times"
    reason = f"errors are {words} those of the model before (geometric mean over channels)"
    if 0.995 <= value <= 1.005:
        reason = "errors are as large as those of the model before"
    elif value > 1.0 and judged <= limits.worse:
        reason += ", which its stated deviations explain"
    return AcceptanceCriterion("improvement", judged <= limits.worse, value, limits.worse, reason)


def _geometric(floors: Sequence[float], scores: Sequence[Score]) -> float:
    """New error over old, geometric mean; what is below a channel's floor counts as the floor."""
    ratios = [
        max(s.rmse, floor) / max(s.rmse_before, floor)
        for s, floor in zip(scores, floors, strict=True)
    ]
    return float(np.exp(np.mean(np.log(ratios))))


def tips(found: Sequence[EndEffector], limits: AcceptanceLimits) -> Iterator[AcceptanceCriterion]:
    """Are the end-effectors where they should be? Only where a limit is given."""
    if limits.tip is None:
        return
    if not found:
        yield AcceptanceCriterion(
            "end-effector", None, float("nan"), limits.tip, "no attitude is measured"
        )
        return
    worst = max(found, key=lambda tip: tip.mean)
    reason = f"{worst.frame}: {1e3 * worst.mean:.3g} mm on average, against {worst.reference}"
    yield AcceptanceCriterion(
        "end-effector", worst.mean <= limits.tip, worst.mean, limits.tip, reason
    )


def provenance_criteria(
    source: Fit | Model, is_held_out: bool | None
) -> Iterator[AcceptanceCriterion]:
    """Was the flight a new one, and was the fit to be trusted in the first place?"""
    if isinstance(source, Model):
        return
    reasons = {
        True: "this flight took no part in the fit",
        False: "the fit was made from this flight: it says nothing of others; validate on another",
        None: "the fit does not say what it was made from",
    }
    value = float("nan")
    yield AcceptanceCriterion("held out", is_held_out, value, value, reasons[is_held_out])
    yield AcceptanceCriterion("fit", source.is_trustworthy, value, value, source.status)
