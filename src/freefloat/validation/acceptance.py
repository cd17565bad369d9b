"""What a model must do to be believed, each criterion with its limit and its reason.

Whether a prediction could be made at all (execution) is not among them: a simulation that ran to
its end has shown nothing yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.digits import amount_text
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.identification.assessment import NOT_ASSESSED
from freefloat.identification.fit import Fit
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Positive, Share
from freefloat.text import count_noun, listing
from freefloat.validation.consistency import COMBINATION_UNIT, Consistency
from freefloat.validation.end_effectors import EndEffector
from freefloat.validation.flight_prediction import FlightPrediction
from freefloat.validation.momentum_balance import MomentumBalance
from freefloat.validation.scores import Score, excess
from freefloat.validation.start_search import StartSearch


@dataclass(frozen=True)
class AcceptanceLimits(CheckedOptions, error=IdentificationError):
    """From when on a criterion fails; the defaults are for models that shall predict to 10 %.

    error: prediction error beyond noise, relative to the signal that was measured (0.1 is 10 %).
    noise: an error in units of what is to be expected of a right model, below which it does not
    count. significance: the chance that all tests of the residuals together call a right model
    wrong. worse: how much larger an error may be than before the fit. tip: the mean error of an
    end-effector [m]; none: not judged.

    >>> AcceptanceLimits(error=0.02, tip=5e-3)  # predicts to 2 %, end-effectors to 5 mm
    AcceptanceLimits(error=0.02, noise=2.0, significance=0.001, worse=1.05, tip=0.005)
    """

    error: Positive = 0.1
    noise: Positive = 2.0
    significance: Share = 1e-3
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


def initial_state(
    found: StartSearch, *, contradicted: str = "", is_explained: bool = False
) -> AcceptanceCriterion:
    """Is it known where the flight begins? contradicted: what of a given start is not so."""
    nan = float("nan")
    if contradicted:
        code, reason = "start.contradicted", contradicted
        return AcceptanceCriterion("start", False, found.misfit, nan, reason, code)
    if found.held is None:
        code, reason = "start.known", "the initial state is the plan's"
    elif not found.theta.size:
        code, reason = "start.none", "nothing about the start has to be found"
    elif found.is_found or is_explained:
        code = "start.found"
        reason = f"{count_noun(found.theta.size, 'initial state')} found from the recording"
        if found.n_agreed > 1:
            reason += f"; {found.n_agreed} searches agree"
    else:
        code = "start.not_found"
        ends = found.n_tried - found.n_agreed + 1
        why = f"{count_noun(found.n_tried, 'search', 'searches')} ended at {ends} places"
        reason = (
            f"no initial state was found that explains the flight, and {why}: the model may be"
            " right; give the commands (--plan), say how it began (--start), record the attitude"
            " and rate of the base, or validate on a shorter stretch"
        )
    is_met = code != "start.not_found"
    return AcceptanceCriterion("start", is_met, found.misfit, nan, reason, code)


def without_start(
    criterion: AcceptanceCriterion, prediction: FlightPrediction
) -> AcceptanceCriterion:
    """The criterion where the initial state was not found: only momentum needs none.

    Nor does momentum speak where joints swing unmeasured: their motion is the prediction's.
    """
    is_free = criterion.name == "momentum" and not prediction.has_hidden_swing
    if is_free or criterion.is_met is not False:
        return criterion
    return replace(
        criterion, is_met=None, code=f"{criterion.name}.not_judged",
        reason=f"not judged without the initial state ({criterion.reason})",
    )  # fmt: skip


def prediction(
    scores: Sequence[Score], limits: AcceptanceLimits, *, is_explained: bool
) -> AcceptanceCriterion:
    """Is every sensor predicted? is_explained: noise and stated deviations explain what is left."""
    errors: dict[str, float] = {}
    failed = []
    for group in dict.fromkeys(score.group for score in scores):
        own = [score for score in scores if score.group == group]
        beyond, signal, ratio = excess(own)
        share = beyond / signal if signal > 0.0 else np.inf
        is_noise = is_explained or ratio <= limits.noise
        errors[group] = 0.0 if is_noise else share
        if not is_noise and share > limits.error:
            failed.append(f"{group} ({100 * min(share, 9.99):.0f} %)")
    worst = max(errors.values(), default=0.0)
    if failed:
        code = "prediction.error"
        reason = (
            f"error beyond the noise, relative to the measured signal: {', '.join(failed)};"
            " `freefloat diagnose` names causes, `freefloat structure` parts that are missing"
        )
    elif worst == 0.0:
        code = "prediction.within_expected"
        reason = "every sensor is predicted as well as a right model would"
    else:
        code = "prediction.within_limit"
        reason = f"the worst sensor is {100 * worst:.2g} % off, beyond its noise"
    return AcceptanceCriterion("prediction", not failed, worst, limits.error, reason, code)


def residuals(found: Consistency) -> AcceptanceCriterion:
    """Is what the prediction leaves noise, once stated deviations have had their share?"""
    large, limit = found.large, found.options.significance
    if not large:
        code, reason = "residuals.noise", "what is left of every channel is noise"
        if found.has_doubts:
            reason += ", with what is taken as exact off by no more than its doubt"
        return AcceptanceCriterion("residuals", True, 1.0, limit, reason, code)
    worst = max(large, key=lambda test: test.ratio * np.sqrt(test.n))
    names = listing(dict.fromkeys(test.channel for test in large), most=3)
    reason = (
        f"neither noise nor stated deviations explain {names}: between {worst.low:.2g} and"
        f" {worst.high:.2g} Hz {worst.channel} has {worst.ratio:.3g} times the power of its noise"
    )
    code = "residuals.too_large"
    if found.is_healed:
        code = "residuals.one_cause"
        reason += "; one cause explains all of it, see deviations"
    else:
        reason += "; something is missing in the model: see `freefloat structure` and `diagnose`"
    return AcceptanceCriterion("residuals", False, worst.ratio, limit, reason, code)


def deviations(found: Consistency) -> AcceptanceCriterion:
    """Does nothing have to be further off than it is said to be uncertain?"""
    limit = found.options.significance
    if not found.causes:
        code = "deviations.kept"
        reason = "the flight contradicts no parameter and no assumption beyond its deviation"
        return AcceptanceCriterion("deviations", True, 0.0, limit, reason, code)
    cause = next((c for c in found.causes if c.heals), None)
    if cause is None:
        names = listing([c.names[0] for c in found.causes], most=3)
        reason = (
            f"the flight contradicts the model beyond all stated deviations, and no single cause"
            f" explains it (nearest: {names}); look at `freefloat diagnose` and the recording"
        )
        value = max(c.chi_square for c in found.causes) ** 0.5
        return AcceptanceCriterion("deviations", False, value, limit, reason, "deviations.several")
    others = f" (or {listing(cause.names[1:], most=3)})" if cause.names[1:] else ""
    off = amount_text(cause.amplitude, cause.unit, cause.std)
    if cause.unit == COMBINATION_UNIT:
        code = "deviations.parameter"
        remedy = "identify from both flights together, or state what else is uncertain"
    else:
        code = "deviations.assumption"
        remedy = f"correct {cause.names[0]}, or free it and identify again"
    reason = f"the flight says that {cause.names[0]}{others} is off by {off}; {remedy}"
    value = cause.chi_square**0.5
    return AcceptanceCriterion("deviations", False, value, limit, reason, code)


def momentum(
    found: Sequence[MomentumBalance],
    why_not: str,
    limits: AcceptanceLimits,
    *,
    is_explained: bool,
) -> AcceptanceCriterion:
    """Does momentum balance with the model's masses, or within their stated deviations?"""
    if not found:
        reason, code = why_not or "not measured", "momentum.not_judged"
        return AcceptanceCriterion("momentum", None, float("nan"), limits.noise, reason, code)
    failed = [b for b in found if b.rms > limits.noise and not b.share <= limits.error]
    worst = max(b.rms for b in found)
    if failed and is_explained:
        failed, code = [], "momentum.explained"
        reason = "momentum balances as well as the masses are known"
    elif failed:
        code = "momentum.unbalanced"
        names = ", ".join(f"{b.component} ({b.rms:.2g} times)" for b in failed)
        reason = (
            f"momentum does not balance to within its noise: {names}; look for a force that nobody"
            " recorded, or for wrong masses"
        )
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
    reason = "every body is physically realisable"
    if faults:
        reason = f"{', '.join(faults)}; identify with physical=True, or correct the model"
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
    elif not is_met:
        reason += "; keep the model before, or identify from more flights"
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
    if not is_met:
        reason += "; check link lengths and encoder zeros (`freefloat diagnose`)"
    yield AcceptanceCriterion("end-effector", is_met, worst.mean, limits.tip, reason, code)


def provenance_criteria(
    source: Fit | Model, is_held_out: bool | None
) -> Iterator[AcceptanceCriterion]:
    """Was the flight a new one, and was the fit to be trusted in the first place?"""
    if isinstance(source, Model):
        return
    code, reason = {
        True: ("held_out.new", "this flight took no part in the fit"),
        False: (
            "held_out.used",
            "the fit was made from samples of this flight; use another",
        ),
        None: (
            "held_out.unknown",
            "the fit does not say what it was made from; identify it again, and save it",
        ),
    }[is_held_out]
    nan = float("nan")
    yield AcceptanceCriterion("held out", is_held_out, nan, nan, reason, code)
    if source.grade == NOT_ASSESSED:
        text = "the fit was not assessed; leave out --no-assess or assess=False"
        yield AcceptanceCriterion("fit", None, nan, nan, text, "fit.not_assessed")
        return
    code = "fit.trustworthy" if source.is_trustworthy else "fit.doubtful"
    found = source.assessment.reasons if source.assessment is not None else ()
    status = source.status
    if found and not source.is_trustworthy:
        status = f"{found[0].text}; {found[0].remedy}" if found[0].remedy else found[0].text
    yield AcceptanceCriterion("fit", source.is_trustworthy, nan, nan, status, code)
