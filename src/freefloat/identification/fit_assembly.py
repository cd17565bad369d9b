"""From a finding to a Fit: estimates with intervals, combinations, residuals, the new model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.fit import Estimate, Fit, FittedCombination, Residual
from freefloat.identification.fit_text import remarks, status_of
from freefloat.identification.linear.parameter_columns import SPRINGS
from freefloat.identification.solution import Solved
from freefloat.identification.solution_report import KNOWN, Answer, answer_of, seen_of
from freefloat.model.model import Model
from freefloat.observability.visibility import Visibility
from freefloat.parameters.parameters import Parameter, Parameters
from freefloat.parameters.write_back import with_parameters

SIGMAS = 1.959964  # of a 95 % interval


def fit_of(
    parameters: Parameters,
    finding: Solved,
    *,
    method: str,
    reason: str,
    is_physical: bool,
    notes: Sequence[str],
    provenance: Mapping[str, str],
) -> Fit:
    """The Fit of a finding."""
    answer = answer_of(parameters, finding, is_physical=is_physical)
    seen = seen_of(parameters, finding, answer)
    estimates, covariance = _estimates(parameters, answer, seen, finding.widening)
    model, trouble = _model(parameters, answer)
    told = [*notes, *answer.notes, *trouble, *remarks(finding)]
    scale = seen.scale.words if seen.scale else "no parameter grows with the scale"
    status, is_good = status_of(estimates, seen, finding)
    return Fit(
        model=model, prior_model=parameters.model, method=method, reason=reason,
        estimates=estimates, covariance=covariance,
        combinations=_combinations(finding, seen, answer), trades=seen.trades, scale=scale,
        residuals=_residuals(finding), status=status, is_trustworthy=is_good,
        notes=tuple(dict.fromkeys(told)), provenance=provenance,
    )  # fmt: skip


def _estimates(
    parameters: Parameters, answer: Answer, seen: Visibility, widening: float
) -> tuple[tuple[Estimate, ...], Array]:
    n = len(answer.values)
    has_std = np.array([s.status in KNOWN for s in seen.parameters], dtype=bool)
    std = np.where(has_std, [s.std for s in seen.parameters], np.nan)
    covariance = np.full((n, n), np.nan)
    if has_std.any():
        spread = np.linalg.pinv(answer.J) * widening
        whole = spread @ spread.T
        covariance[np.ix_(has_std, has_std)] = whole[np.ix_(has_std, has_std)]
    raw = answer.values
    found = []
    for k, (p, sight) in enumerate(zip(parameters.free_ones, seen.parameters, strict=True)):
        low, high = raw[k] - SIGMAS * std[k], raw[k] + SIGMAS * std[k]
        # invisible: whatever rounding or completing a body made of it
        value = p.value if sight.status == "invisible" else float(raw[k])
        interval = (float(low), float(high)) if has_std[k] else None
        found.append(
            Estimate(p.name, p.unit, value, float(std[k]), interval, sight.status, p.value)
        )
    return tuple(found), covariance


def _combinations(
    finding: Solved, seen: Visibility, answer: Answer
) -> tuple[FittedCombination, ...]:
    """The method's own unknowns where it has some, else the sums the parameters are seen in."""
    if finding.unknowns_of is not None:
        e, widening = finding.estimate, finding.widening
        std = e.solution.std[: e.n_parameters] * widening
        rows = zip(e.names[: e.n_parameters], e.values, std, strict=False)
        unit = "kg m^2" if finding.estimate.names[0].startswith("J[") else ""
        told = ((w, unit, float(v), float(s)) for w, v, s in rows if np.isfinite(s))
        return tuple(combination_of(*part) for part in told)
    names = (s.name for s in seen.parameters)
    return combinations_of(seen, dict(zip(names, answer.values, strict=True)))


def combinations_of(seen: Visibility, values: Mapping[str, float]) -> tuple[FittedCombination, ...]:
    """The sums that parameters of these values are seen in."""
    units = {s.name: s.unit for s in seen.parameters}
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
    """A combination with its 95 % interval, where its deviation is known."""
    is_known = bool(np.isfinite(std))
    interval = (value - SIGMAS * std, value + SIGMAS * std) if is_known else None
    return FittedCombination(words, unit, value, std if is_known else float("nan"), interval)


def _residuals(finding: Solved) -> tuple[Residual, ...]:
    found = finding.estimate
    return tuple(
        Residual(label, found.units[label], len(left), float(np.sqrt(np.mean(left**2))))
        for label, left in found.residuals.items()
    )


def _model(parameters: Parameters, answer: Answer) -> tuple[Model, tuple[str, ...]]:
    """The model with the answer written in; the old one where no robot could have it."""
    free = dict(zip(parameters.names, map(float, answer.values), strict=True))
    if answer.physical is not None:
        springs = {n: max(v, 0.0) for n, v in free.items() if n.rpartition(".")[2] in SPRINGS}
        return with_parameters(answer.physical.model, springs), ()
    tied = {
        p.name: p.tied_to[1] * free.get(p.tied_to[0], parameters[p.tied_to[0]].value)
        for p in parameters
        if p.tied_to is not None
    }
    try:
        return with_parameters(parameters.model, {**free, **tied}), ()
    except FreefloatError as error:
        lines = str(error).splitlines()
        note = "the estimates were not written into the model, no robot could have them: "
        return parameters.model, (note + lines[0],)


def at_bounds(fit: Fit, beyond: Sequence[Parameter], again: Fit | None) -> Fit:
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
    words = f"{', '.join(held)} at the bound. {again.status}"
    return replace(
        again, prior_model=fit.prior_model, estimates=estimates, covariance=covariance,
        status=words,
    )  # fmt: skip
