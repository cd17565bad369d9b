"""From what the rows say to a Fit: statuses, intervals, bodies that could be real, a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.identification.fit import Combination, Estimate, Fit, Residual
from freefloat.identification.linear.columns import SPRINGS, updated
from freefloat.identification.linear.estimate import LinearEstimate
from freefloat.identification.natural_sizes import natural_sizes
from freefloat.identification.parameters import Parameter, Parameters
from freefloat.identification.physical import Physical, closest_physical, realise
from freefloat.identification.samples import Samples
from freefloat.identification.scale import REMEDY, Scale, is_scaled, scale_of
from freefloat.identification.solve import eliminated
from freefloat.identification.visibility import Sight, Visibility, visibility
from freefloat.identification.write_back import with_parameters
from freefloat.model.model import Model

KNOWN = ("seen", "weak")
SIGMAS = 1.959964  # of a 95 % interval
NOISY = 1.3  # chi-square per row from which the residuals no longer match the stated noise
VAGUE = 10.0  # natural sizes: how far what noise buries may be off
USELESS = 9.0  # ... and from which the answer is not to be trusted


@dataclass(frozen=True)
class Finding:
    """What a method found in its own unknowns, and how those follow from the parameters.

    sources: what could fix the scale; unknowns_of: the unknowns of a system, for methods whose
    unknowns are not the parameters themselves.
    """

    estimate: LinearEstimate
    prepared: tuple[Samples, ...]
    system: System
    sources: tuple[str, ...]
    unknowns_of: Callable[[System], Array] | None = None
    is_start_only: bool = False

    def root(self, sizes: Array) -> Array:
        """A square root of the information on the unknowns, nuisance eliminated.

        Directions buried in noise are not unseen for sure: they count as known to `VAGUE` natural
        sizes, so that a parameter that hardly takes part in them is still known.
        """
        n, found = self.estimate.n_parameters, self.estimate.solution
        rows = eliminated(found.root, n)
        if not found.buried.shape[1]:
            return rows
        directions = np.linalg.qr(found.buried[:n] / sizes[:, None])[0]
        return np.vstack([rows, directions.T / sizes / VAGUE])

    @property
    def is_noise_known(self) -> bool:
        """Whether the noise of every channel was stated."""
        return all(samples.is_noise_known for samples in self.prepared)

    @property
    def misfit(self) -> float:
        """Mean square residual in units of the noise, of the worst kind of row."""
        worst = max(float(np.mean(left**2)) for left in self.estimate.residuals.values())
        return worst if self.estimate.robust_scale is None else self.estimate.robust_scale**2

    @property
    def memory(self) -> float:
        """(1 + r) / (1 - r) for the correlation r of residuals with the next, of the worst kind."""
        found = [1.0]
        for left in self.estimate.residuals.values():
            r = float(left[1:] @ left[:-1] / max(float(left @ left), 1e-300))
            if r > max(0.15, 4.0 / np.sqrt(len(left))):
                found.append((1.0 + r) / max(1.0 - r, 1e-3))
        return max(found)

    @property
    def widening(self) -> float:
        """How much wider intervals are than white noise as stated makes them."""
        misfit = self.misfit if self.misfit > NOISY or not self.is_noise_known else 1.0
        return float(np.sqrt(misfit * self.memory))


@dataclass(frozen=True)
class Answer:
    """Values of the free parameters, and J (rows, names): root of the information on them."""

    values: Array
    J: Array
    physical: Physical | None
    notes: tuple[str, ...]
    J_start: Array | None = None  # where J depends on the values: at those of the model


def fit_of(
    parameters: Parameters,
    finding: Finding,
    *,
    method: str,
    reason: str,
    is_physical: bool,
    notes: Sequence[str],
    provenance: Mapping[str, str],
) -> Fit:
    """The Fit of a finding."""
    answer = _answer(parameters, finding, is_physical=is_physical)
    seen = _seen(parameters, finding, answer)
    estimates, covariance = _estimates(parameters, answer, seen, finding.widening)
    model, trouble = _model(parameters, answer)
    told = [*notes, *answer.notes, *trouble, *_remarks(finding)]
    scale = seen.scale.words if seen.scale else "no parameter grows with the scale"
    status, is_good = _status(estimates, seen, finding)
    return Fit(
        model=model, prior_model=parameters.model, method=method, reason=reason,
        estimates=estimates, covariance=covariance,
        combinations=_combinations(finding, seen, answer), trades=seen.trades, scale=scale,
        residuals=_residuals(finding), status=status, is_trustworthy=is_good,
        notes=tuple(dict.fromkeys(told)), provenance=provenance,
    )  # fmt: skip


def _answer(parameters: Parameters, finding: Finding, *, is_physical: bool) -> Answer:
    names = parameters.names
    if finding.unknowns_of is not None:
        residual = _residual_of(parameters, finding)
        found = realise(parameters, names, residual)
        kept = {name: value for name, value in zip(found.names, found.values, strict=True)}
        values = np.array([kept.get(p.name, p.value) for p in parameters.free_ones])
        start = np.array([p.value for p in parameters.free_ones])
        return Answer(values, residual(values)[1], found, found.notes, residual(start)[1])
    values = finding.estimate.values[: len(names)]
    J = finding.root(natural_sizes(finding.system, names))
    if not is_physical or any(p.status == "tied" for p in parameters):
        return Answer(values, J, None, ())
    is_inertial = np.array([name.rpartition(".")[2] not in SPRINGS for name in names])
    order = np.argsort(~is_inertial, kind="stable")  # springs last, to be eliminated
    n = int(is_inertial.sum())
    rows = eliminated(J[:, order], n)
    chosen = [names[k] for k in order[:n]]
    found = closest_physical(parameters, chosen, values[order[:n]], rows.T @ rows)
    kept = {name: value for name, value in zip(found.names, found.values, strict=True)}
    moved = np.array([kept.get(n, v) for n, v in zip(names, values, strict=True)])
    return Answer(moved if found.is_moved else values, J, found, found.notes)


def _residual_of(
    parameters: Parameters, finding: Finding
) -> Callable[[Array], tuple[Array, Array]]:
    """Whitened misfit of the unknowns and its slope, as functions of the free parameters."""
    assert finding.unknowns_of is not None
    system, names, unknowns_of = finding.system, parameters.names, finding.unknowns_of
    before = np.array([p.value for p in parameters.free_ones])
    sizes = natural_sizes(system, names)
    n = finding.estimate.n_parameters
    target = finding.estimate.values[:n]
    root = finding.root(np.full(n, np.max(np.abs(unknowns_of(system)))))

    def at(theta: Array) -> Array:
        return unknowns_of(updated(system, names, before, theta))

    priors = [(k, *p.prior) for k, p in enumerate(parameters.free_ones) if p.prior]

    def residual(theta: Array) -> tuple[Array, Array]:
        steps = 1e-4 * sizes * np.eye(len(names))
        slopes = [(at(theta + h) - at(theta - h)) / (2.0 * h[k]) for k, h in enumerate(steps)]
        known = [(theta[k] - mean) / std for k, mean, std in priors]
        rows = [np.eye(len(names))[k] / std for k, _, std in priors]
        J = np.vstack([root @ np.column_stack(slopes), *rows])
        return np.concatenate([root @ (at(theta) - target), known]), J

    return residual


def _seen(parameters: Parameters, finding: Finding, answer: Answer) -> Visibility:
    names, free = parameters.names, parameters.free_ones
    sizes = natural_sizes(finding.system, names)
    priors = np.array([p.prior[1] if p.prior else np.inf for p in free])
    theta = np.array([v * is_scaled(n) for n, v in zip(names, answer.values, strict=True)])
    J = _data_alone(answer.J, priors) / finding.widening
    scale = _scale_words(scale_of(J * sizes, theta / sizes, {}), finding)
    seen = visibility(
        J, names, sizes, prior_std=priors if np.any(np.isfinite(priors)) else None,
        values=answer.values, units=[p.unit for p in free], scale=scale,
    )  # fmt: skip
    if answer.J_start is not None:
        other = visibility(_data_alone(answer.J_start, priors) / finding.widening, names, sizes)
        seen = replace(seen, parameters=tuple(map(_worse, seen.parameters, other.parameters)))
    return seen if scale is None or scale.is_fixed else _only_ratios(seen)


def _worse(one: Sight, other: Sight) -> Sight:
    """The less favourable of two views: where they differ, a linear deviation means little."""
    if one.status not in KNOWN or other.status not in KNOWN:
        worst = one.status if one.status not in KNOWN else other.status
        return replace(one, status=worst, std=float("nan"))
    status = "weak" if "weak" in (one.status, other.status) else "seen"
    return replace(one, std=max(one.std, other.std), status=status)


def _data_alone(J: Array, priors: Array) -> Array:
    """The root of the information with that of the priors taken off; `visibility` adds it again."""
    if not np.any(np.isfinite(priors)):
        return J
    size = np.where(
        np.isfinite(priors), priors, 1.0 / np.maximum(np.linalg.norm(J, axis=0), 1e-300)
    )
    information = (J * size).T @ (J * size) - np.diag(np.where(np.isfinite(priors), 1.0, 0.0))
    values, V = np.linalg.eigh(information)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * V.T / size


def _only_ratios(seen: Visibility) -> Visibility:
    """Without a scale nothing that grows with it is known, however small its part in it."""
    sights = [
        replace(sight, status="only in combination", std=float("nan"))
        if is_scaled(sight.name) and abs(sight.value) > 1e-3 * sight.size and sight.status in KNOWN
        else sight
        for sight in seen.parameters
    ]
    return replace(seen, parameters=tuple(sights))


def _scale_words(scale: Scale | None, finding: Finding) -> Scale | None:
    if scale is None or not scale.is_fixed:
        return scale
    if not finding.sources:
        return Scale(False, float("nan"), f"not fixed: only ratios; {REMEDY}")
    return Scale(True, scale.std, f"fixed by {' and '.join(finding.sources)}")


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


def _combinations(finding: Finding, seen: Visibility, answer: Answer) -> tuple[Combination, ...]:
    """The method's own unknowns where it has some, else the sums the parameters are seen in."""
    if finding.unknowns_of is not None:
        e, widening = finding.estimate, finding.widening
        std = e.solution.std[: e.n_parameters] * widening
        rows = zip(e.names[: e.n_parameters], e.values, std, strict=False)
        unit = "kg m^2" if finding.estimate.names[0].startswith("J[") else ""
        told = ((w, unit, float(v), float(s)) for w, v, s in rows if np.isfinite(s))
        return tuple(_combination(*part) for part in told)
    units = {s.name: s.unit for s in seen.parameters}
    values = dict(zip((s.name for s in seen.parameters), answer.values, strict=True))
    return tuple(
        _combination(
            part.words,
            units[part.terms[0][0]],
            float(sum(factor * values[name] for name, factor in part.terms)),
            part.std,
        )
        for part in seen.combinations
    )


def _combination(words: str, unit: str, value: float, std: float) -> Combination:
    is_known = bool(np.isfinite(std))
    interval = (value - SIGMAS * std, value + SIGMAS * std) if is_known else None
    return Combination(words, unit, value, std if is_known else float("nan"), interval)


def _residuals(finding: Finding) -> tuple[Residual, ...]:
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


def _remarks(finding: Finding) -> list[str]:
    found = finding.estimate
    remarks = []
    misfit = finding.misfit
    if finding.memory > 1.0:
        remarks.append(
            "residuals go on as they begin (coloured noise, a bias, a delay or something the model"
            f" lacks); intervals were widened by {np.sqrt(finding.memory):.2g}"
        )
    if misfit > NOISY and finding.is_noise_known:
        remarks.append(
            f"residuals are {np.sqrt(misfit):.2g} times the stated noise: the model lacks"
            " something, or the noise is larger; intervals were widened by that factor"
        )
    if found.n_outliers:
        remarks.append(f"{found.n_outliers} rows were given less than half their weight: outliers")
    return remarks


def _status(estimates: Sequence[Estimate], seen: Visibility, finding: Finding) -> tuple[str, bool]:
    """A sentence a person can act on, and whether to trust the numbers."""
    n, good = len(estimates), sum(e.status == "seen" for e in estimates)
    weak = sum(e.status == "weak" for e in estimates)
    misfit, n_rows = finding.misfit, finding.estimate.solution.n_rows
    if finding.estimate.n_outliers > 0.1 * n_rows:
        return (
            f"Not to be trusted: {finding.estimate.n_outliers} of {n_rows} rows count as outliers;"
            " the noise is larger than stated, or the model lacks something.",
            False,
        )
    if finding.memory > USELESS:
        return (
            "Not to be trusted: residuals follow each other; look for a bias, a delay between"
            " channels, or something the model lacks.",
            False,
        )
    if misfit > USELESS:
        return (
            f"Not to be trusted: residuals are {np.sqrt(misfit):.2g} times the noise; check the"
            " model, the channels and their units.",
            False,
        )
    if seen.scale is not None and not seen.scale.is_fixed:
        return (f"Only ratios are known; {REMEDY}.", False)
    if finding.is_start_only:
        return (
            "A starting point, not an answer: gyro noise biases the reduced dynamics, and nothing"
            " unmodelled shows in it; measure the base velocity or use output error.",
            False,
        )
    if good == n:
        all_of = f"All {n} parameters" if n > 1 else "The parameter"
        return f"{all_of} known to better than a tenth of their natural size.", True
    if good + weak == 0:
        sums = len(seen.combinations)
        told = f"only {sums} combinations" if sums else "nor any combination"
        return f"No parameter is seen on its own, {told}: move more joints.", False
    invisible = sum(e.status == "invisible" for e in estimates)
    mixed = n - good - weak - invisible
    parts = [f"{good} of {n} parameters known to a tenth of their natural size"]
    parts += [f"{weak} weakly"] * bool(weak)
    parts += [f"{mixed} only in combination"] * bool(mixed)
    parts += [f"{invisible} invisible in this motion"] * bool(invisible)
    return ", ".join(parts) + ".", good > 0


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
