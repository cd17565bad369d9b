"""From what any method found to a Fit: intervals, combinations, status and notes, in one place.

A method hands over a `Solution` in the parameters it was asked for; `assemble_fit` does the rest,
so that a number, a status and a sentence mean the same whatever method they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import IdentificationError
from freefloat.identification.fit import (
    Estimate,
    EstimateStatus,
    Fit,
    FittedCombination,
    Interval,
    Residual,
)
from freefloat.identification.fitted_mass_properties import SIGMAS
from freefloat.model.model import Model
from freefloat.model.parameter_name import owner_of
from freefloat.notes import Note
from freefloat.observability.scale import Scale, is_scaled, not_fixed, scale_remedy
from freefloat.observability.visibility import WEAK, Visibility, known_status
from freefloat.parameters.parameters import Parameter, Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Positive, Share
from freefloat.telemetry.channel import Mask
from freefloat.text import count_noun, listing

KNOWN = ("seen", "weak")  # the statuses with a standard deviation


@dataclass(frozen=True)
class TrustLimits(CheckedOptions, error=IdentificationError):
    """When residuals are worth a note, and when a fit is not to be trusted.

    Args:
        noisy: mean square residual over the stated noise from which intervals are widened by it.
        useless: the same, and the variance inflation by autocorrelation, from which the fit is not
            to be trusted.
        outliers: share of the rows that may count as outliers.
        timing: relative uncertainty of the impulse of thrust, by switching between samples.
    """

    noisy: Positive = 1.3
    useless: Positive = 9.0
    outliers: Share = 0.1
    timing: Positive = 0.01


@dataclass(frozen=True)
class Solution:
    """What a method found of the parameters it was asked for.

    parameters: with their values before; values, std (n,) and covariance (n, n) in their order, NaN
    where unknown; visibility: what the data tell of each; at_bound (n,): held there. model has the
    values written in. objection: why the numbers are not to be trusted, None if they are.
    combinations: of a method whose unknowns are combinations, else those of `visibility`; profiles:
    95 % intervals by profile likelihood, by name.
    """

    parameters: tuple[Parameter, ...]
    values: Array
    std: Array
    covariance: Array
    visibility: Visibility
    at_bound: Mask
    model: Model
    residuals: tuple[Residual, ...]
    notes: tuple[str, ...]
    objection: Note | None = None
    combinations: tuple[FittedCombination, ...] | None = None
    profiles: Mapping[str, Interval] = field(default_factory=dict)


def assemble_fit(
    solution: Solution,
    *,
    method: str,
    reason: str,
    prior_model: Model,
    provenance: Mapping[str, str],
) -> Fit:
    """The Fit of a solution."""
    s, seen = solution, solution.visibility
    estimates = tuple(_estimate(s, k) for k in range(len(s.parameters)))
    combinations = s.combinations
    if combinations is None:
        combinations = _combinations(seen, dict(zip(_names(seen), s.values, strict=True)))
    status, is_trustworthy = _judge(s, estimates)
    return Fit(
        model=s.model, prior_model=prior_model, method=method, reason=reason,
        estimates=estimates, covariance=s.covariance, combinations=combinations,
        trades=seen.trades, scale=_scale_note(seen.scale),
        residuals=s.residuals, status=status, is_trustworthy=is_trustworthy,
        notes=tuple(dict.fromkeys(s.notes)), provenance=provenance, status_code=status.code,
    )  # fmt: skip


def _scale_note(scale: Scale | None) -> Note:
    if scale is None:
        return Note("scale.none", "no parameter grows with the scale")
    return Note("scale.fixed" if scale.is_fixed else "scale.not_fixed", scale.words)


def _estimate(s: Solution, k: int) -> Estimate:
    p, sight = s.parameters[k], s.visibility.parameters[k]
    value, std, note = float(s.values[k]), float(s.std[k]), ""
    status: EstimateStatus = "at bound" if s.at_bound[k] else sight.status
    half = SIGMAS * std
    interval = (value - half, value + half) if status in KNOWN else None
    if status == "invisible":  # whatever rounding or completing a body made of it
        value = p.value
    elif p.name in s.profiles:
        low, high = s.profiles[p.name]
        is_closed = bool(np.isfinite(low) and np.isfinite(high))
        interval = (low, high) if is_closed else interval
        note = "interval by profile likelihood" + ("" if is_closed else f": {low:.4g}, {high:.4g}")
    return Estimate(p.name, p.unit, value, std, interval, status, p.value, note)


def _names(seen: Visibility) -> list[str]:
    return [sight.name for sight in seen.parameters]


def _combinations(seen: Visibility, values: Mapping[str, float]) -> tuple[FittedCombination, ...]:
    """The sums that parameters of these values are seen in."""
    units = {sight.name: sight.unit for sight in seen.parameters}
    return tuple(
        combination_of(
            part.words,
            units[part.terms[0][0]],
            float(sum(factor * values[name] for name, factor in part.terms)),
            part.std,
        )
        for part in seen.combinations
    )


def combination_of(words: str, unit: str, value: float, std: float) -> FittedCombination:
    """A combination with its 95 % interval, where its standard deviation is known."""
    is_known = bool(np.isfinite(std))
    interval = (value - SIGMAS * std, value + SIGMAS * std) if is_known else None
    return FittedCombination(words, unit, value, std if is_known else float("nan"), interval)


def _judge(s: Solution, estimates: Sequence[Estimate]) -> tuple[Note, bool]:
    """A sentence a person can act on, and whether to trust the numbers."""
    if s.objection is not None:
        return s.objection, False
    scale = s.visibility.scale
    if scale is not None and not scale.is_fixed:
        remedy = scale_remedy(s.model, scale.weak)
        return Note("scale.not_fixed", f"Only ratios are known; {remedy}."), False
    status, is_trustworthy = _count_statuses(estimates, len(s.visibility.combinations))
    bounds = [e.name for e in estimates if e.status == "at bound"]
    return _with_bounds(bounds, status, status.code), is_trustworthy


def _with_bounds(names: Iterable[str], status: str, code: str) -> Note:
    words = listing(names, most=3)
    return Note(code, f"{words} at the bound. {status}" if words else status)


def with_total_covariance(fit: Fit, total: Array, sizes: Mapping[str, float]) -> Fit:
    """The fit with its total covariance, and statuses by its deviations: natural sizes are given.

    What the method objects to stays its status.
    """
    estimates = []
    for e, std in zip(fit.estimates, np.sqrt(np.diag(total)).tolist(), strict=True):
        status = e.status
        if status in KNOWN and np.isfinite(std):
            status = known_status(std / sizes[e.name])
        estimates.append(replace(e, total_std=std, status=status))
    words = (fit.status, fit.status_code)
    if fit.status_code.startswith("seen.") and fit.status_code != "seen.none":
        status, _ = _count_statuses(estimates, len(fit.combinations))
        bounds = [e.name for e in estimates if e.status == "at bound"]
        words = (_with_bounds(bounds, status, status.code), status.code)
    return replace(
        fit, estimates=tuple(estimates), total_covariance=total, status=words[0],
        status_code=words[1],
    )  # fmt: skip


def with_covariance(fit: Fit, covariance: Array) -> Fit:
    """The fit with another covariance of its estimates, with deviations and intervals by it."""
    estimates = []
    variances = np.maximum(np.diag(covariance), 0.0).tolist()
    for e, variance in zip(fit.estimates, variances, strict=True):
        half, is_known = SIGMAS * variance**0.5, e.interval95 is not None
        interval = (e.value - half, e.value + half) if is_known else None
        estimates.append(replace(e, std=variance**0.5, interval95=interval))
    return replace(fit, estimates=tuple(estimates), covariance=covariance)


def _count_statuses(estimates: Sequence[Estimate], n_combinations: int) -> tuple[Note, bool]:
    """How many parameters are known how well, and whether any is."""
    n, good = len(estimates), sum(e.status == "seen" for e in estimates)
    weak = sum(e.status == "weak" for e in estimates)
    within = f"to {100.0 * WEAK:g} % of their natural size or better"
    if good == n:
        text = f"All {n} parameters known {within}."
        if n == 1:
            text = f"The parameter is known {within.replace('their', 'its')}."
        return Note("seen.all", text), True
    if good + weak == 0:
        sums = count_noun(n_combinations, "combination")
        what = f"only {sums}" if n_combinations else "nor any combination"
        text = f"No parameter is observable on its own, {what}; move more joints."
        return Note("seen.none", text), False
    invisible = sum(e.status == "invisible" for e in estimates)
    mixed = n - good - weak - invisible
    parts = [f"{good} of {n} parameters known {within}"]
    parts += [f"{weak} weakly"] * bool(weak)
    parts += [f"{mixed} only in combination"] * bool(mixed)
    parts += [f"{invisible} invisible in this motion"] * bool(invisible)
    if not good:
        text = ", ".join(parts) + "; move farther and for longer, or give priors."
        return Note("seen.weak", text), False
    return Note("seen.some", ", ".join(parts) + "."), True


def scale_sources(
    parameters: Parameters, inputs: Iterable[str], *, has_springs: bool
) -> tuple[str, ...]:
    """What has known newtons or kilograms: inputs of the recordings, and what the model fixes.

    has_springs: whether what is known of springs and tanks acts in the method's equations.
    """
    unknown = {p.name for p in parameters if p.status != "fixed"}
    model = parameters.model
    wheels = {wheel.name for wheel in model.wheels}
    bodies = {body.name for body in model.assembly.bodies}
    known = (p for p in parameters if p.name not in unknown and p.value != 0.0)
    if has_springs:
        is_known = any(is_scaled(p.name) and owner_of(p.name) not in wheels for p in known)
    else:
        is_known = any(owner_of(p.name) in bodies for p in known)
    found = [*inputs]
    if any(f"{wheel}.inertia" not in unknown for wheel in wheels):
        found.append("wheels of known inertia")
    if is_known:
        found.append(f"what is known of {'bodies and springs' if has_springs else 'the bodies'}")
    if any(p.prior is not None for p in parameters.free_ones):
        found.append("priors")
    return tuple(found)


def name_sources(scale: Scale | None, sources: Sequence[str], *, remedy: str) -> Scale | None:
    """The scale with what fixes it; not fixed where nothing has known newtons or kilograms."""
    if scale is None:
        return None
    if not scale.is_fixed:
        why = f"{', '.join(sources)}: below the errors"
        return not_fixed(why, remedy, sources) if sources else scale
    if not sources:
        return not_fixed("", remedy)
    return Scale(True, scale.std, f"fixed by {' and '.join(sources)}", tuple(sources))


def hold_at_bounds(fit: Fit, beyond: Sequence[Parameter], again: Fit | None) -> Fit:
    """The fit with the parameters `beyond` their bounds held there, and the others found anew."""
    held = {
        p.name: Estimate(
            p.name, p.unit, float(np.clip(fit[p.name].value, p.lower, p.upper)), float("nan"), None,
            "at bound", p.value, f"the data say {fit[p.name].value:.4g}",
        )
        for p in beyond
    }  # fmt: skip
    if again is None:
        model = with_parameters(fit.model, {name: e.value for name, e in held.items()})
        again = replace(fit, model=model, covariance=np.full((0, 0), np.nan), estimates=())
    order = [e.name for e in fit.estimates]
    estimates = tuple(held.get(name) or again[name] for name in order)
    covariance = np.full((len(order), len(order)), np.nan)
    places = [order.index(e.name) for e in again.estimates]
    covariance[np.ix_(places, places)] = again.covariance
    return replace(
        again, prior_model=fit.prior_model, estimates=estimates, covariance=covariance,
        status=_with_bounds(held, again.status, again.status_code),
    )  # fmt: skip
