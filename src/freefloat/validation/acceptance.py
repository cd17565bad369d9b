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
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Fit
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Positive, Share
from freefloat.text import listing
from freefloat.validation.end_effectors import EndEffector
from freefloat.validation.momentum_balance import MomentumBalance
from freefloat.validation.residual_tests import Whiteness
from freefloat.validation.scores import Score, excess

# These follow what an actuator does at once; their errors are those of differentiated encoders.
ACCELERATED = (".torque", ".acceleration", ".motor_torque")


@dataclass(frozen=True)
class AcceptanceLimits(CheckedOptions, error=IdentificationError):
    """From when on a criterion fails; the defaults are for models that shall predict to 10 %.

    error: prediction error beyond noise, relative to the signal that was measured (0.1 is 10 %).
    noise: an error in units of what is to be expected of a right model, below which it does not
    count. correlation: the largest autocorrelation of residuals, which is the share of their power
    that is autocorrelated; a quarter of the power is half the noise. outside: the share of lags
    that may leave the 99 % band of white noise. explained: standard deviations of the expected
    error that explain an autocorrelation (one or two directions of the parameters usually make all
    of it, so it scatters as a single number does). worse: how much larger an error may be than
    before the fit. tip: the mean error of an end-effector [m]; none: not judged.

    >>> AcceptanceLimits(error=0.02, tip=5e-3)  # predicts to 2 %, end-effectors to 5 mm
    AcceptanceLimits(error=0.02, noise=2.0, correlation=0.25, outside=0.05, explained=3.0, \
worse=1.05, tip=0.005)
    """

    error: Positive = 0.1
    noise: Positive = 2.0
    correlation: Share = 0.25
    outside: Share = 0.05
    explained: Positive = 3.0
    worse: Positive = 1.05
    tip: Positive | None = None


@dataclass(frozen=True)
class AcceptanceCriterion:
    """One criterion: whether it is met (None: it could not be judged), by what number, and why.

    code is the reason for programs: it begins with the name of the criterion.
    """

    name: str
    is_met: bool | None
    value: float
    limit: float
    reason: str
    code: str = ""


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
        code = "prediction.error"
        reason = f"error beyond the noise, relative to the measured signal: {', '.join(failed)}"
    elif worst == 0.0:
        code = "prediction.within_expected"
        reason = f"every sensor is predicted to within {limits.noise:g} times the expected error"
    else:
        code = "prediction.within_limit"
        reason = f"the worst sensor is {100 * worst:.2g} % off, beyond its noise"
    return AcceptanceCriterion("prediction", not failed, worst, limits.error, reason, code)


def white_residuals(
    found: Sequence[Whiteness], scores: Sequence[Score], limits: AcceptanceLimits
) -> AcceptanceCriterion:
    """Are residuals white? Judged where noise is not that of differentiated encoders.

    Long recordings show any autocorrelation, however small; one that carries less than a quarter of
    the residual's power is less than half the noise, and does not count. Nor does one that the
    stated standard deviations of the parameters explain.
    """
    own = {score.channel: score for score in scores}
    judged = [w for w in found if not own[w.channel].group.endswith(ACCELERATED)]
    coloured = [
        w
        for w in judged
        if w.outside > limits.outside and not own[w.channel].is_explained(limits.explained)
    ]
    worst = max((w.largest for w in coloured), default=0.0)
    failed = [w for w in coloured if w.largest > limits.correlation]
    if not judged:
        code, reason = "residuals.not_judged", "no channel to judge them by"
    elif not failed:
        code = "residuals.white"
        reason = "residuals are white, or explained by the stated standard deviations"
    else:
        code = "residuals.autocorrelated"
        names = listing((w.channel for w in failed), most=4)
        reason = f"residuals are autocorrelated, so something is unmodelled or wrong: {names}"
    is_met = not failed if judged else None
    return AcceptanceCriterion("residuals", is_met, worst, limits.correlation, reason, code)


def momentum(
    found: Sequence[MomentumBalance], why_not: str, limits: AcceptanceLimits
) -> AcceptanceCriterion:
    """Does momentum balance with the model's masses?"""
    if not found:
        reason, code = why_not or "not measured", "momentum.not_judged"
        return AcceptanceCriterion("momentum", None, float("nan"), limits.noise, reason, code)
    failed = [b for b in found if b.rms > limits.noise and not b.share <= limits.error]
    worst = max(b.rms for b in found)
    if failed:
        code = "momentum.unbalanced"
        names = ", ".join(f"{b.component} ({b.rms:.2g} times)" for b in failed)
        reason = f"momentum does not balance to within its noise: {names}"
    else:
        code = "momentum.balanced"
        reason = "momentum minus the impulse of thrust is conserved to within its noise"
    return AcceptanceCriterion("momentum", not failed, worst, limits.noise, reason, code)


def physical(model: Model) -> AcceptanceCriterion:
    """Is every body physically realisable?"""
    faults = [
        f"{body.name} has {wrong}"
        for body in flatten(model).model.assembly.bodies
        if (
            wrong := inertial.inconsistency(
                inertial.phi_from_com(body.mass, body.com, body.inertia)
            )
        )
    ]
    reason = "; ".join(faults) or "every body is physically realisable"
    code = "physical.impossible" if faults else "physical.realisable"
    return AcceptanceCriterion("physical", not faults, float(len(faults)), 0.0, reason, code)


def improvement(scores: Sequence[Score], limits: AcceptanceLimits) -> AcceptanceCriterion:
    """Does the new model predict better than the old one?

    An old model that was right already predicts better than any estimate does; so an error that is
    to be expected of a right model is not held against the new one.
    """
    compared = [s for s in scores if s.rmse_before > 0.0 and s.noise > 0.0]
    if not compared:
        reason, code = "there is no model before to compare with", "improvement.not_judged"
        return AcceptanceCriterion("improvement", None, float("nan"), limits.worse, reason, code)
    expected = [limits.noise * math.hypot(s.noise, s.expected) for s in compared]
    value = _geometric([s.noise for s in compared], compared)
    judged = _geometric(expected, compared)
    is_met = judged <= limits.worse
    code = "improvement.better" if value < 1.0 else "improvement.worse"
    words = f"{1 / value:.3g} times smaller than" if value < 1.0 else f"{value:.3g} times"
    reason = f"errors are {words} those of the model before (geometric mean over channels)"
    if 0.995 <= value <= 1.005:
        code, reason = "improvement.equal", "errors are as large as those of the model before"
    elif value > 1.0 and is_met:
        code = "improvement.explained"
        reason += ", which its stated standard deviations explain"
    return AcceptanceCriterion("improvement", is_met, value, limits.worse, reason, code)


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
        reason, code = "no attitude is measured", "end-effector.not_judged"
        yield AcceptanceCriterion("end-effector", None, float("nan"), limits.tip, reason, code)
        return
    worst = max(found, key=lambda tip: tip.mean)
    is_met = worst.mean <= limits.tip
    code = "end-effector.within_limit" if is_met else "end-effector.error"
    reason = f"{worst.frame}: {1e3 * worst.mean:.3g} mm on average, against {worst.reference}"
    yield AcceptanceCriterion("end-effector", is_met, worst.mean, limits.tip, reason, code)


def provenance_criteria(
    source: Fit | Model, is_held_out: bool | None
) -> Iterator[AcceptanceCriterion]:
    """Was the flight a new one, and was the fit to be trusted in the first place?"""
    if isinstance(source, Model):
        return
    code, reason = {
        True: ("held_out.new", "this flight took no part in the fit"),
        False: ("held_out.used", "the fit was made from this flight; validate on another one"),
        None: ("held_out.unknown", "the fit does not say what it was made from"),
    }[is_held_out]
    nan = float("nan")
    yield AcceptanceCriterion("held out", is_held_out, nan, nan, reason, code)
    code = "fit.trustworthy" if source.is_trustworthy else "fit.doubtful"
    yield AcceptanceCriterion("fit", source.is_trustworthy, nan, nan, source.status, code)
