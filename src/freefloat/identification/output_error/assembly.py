"""From what the search found to a Fit: intervals, combinations, residuals, the new model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Estimate, Fit, Residual
from freefloat.identification.fit_assembly import SIGMAS, combinations_of
from freefloat.identification.fit_text import USELESS, tally
from freefloat.identification.output_error.alternative_minima import moved_springs
from freefloat.identification.output_error.covariance import covariance_of, information_root
from freefloat.identification.output_error.encoder_noise import cost_of_encoders
from freefloat.identification.output_error.physical_step import realised
from freefloat.identification.output_error.profile import profile_interval
from freefloat.identification.output_error.search import SearchResult
from freefloat.identification.output_error.unknowns import Unknown
from freefloat.identification.solution import NOISY
from freefloat.identification.solution_report import KNOWN
from freefloat.model.model import Model
from freefloat.observability.scale import REMEDY, Scale, is_scaled, scale_of
from freefloat.observability.visibility import Visibility, visibility, without
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.sensor_models import SENSOR_MODELS
from freefloat.telemetry.names import unit_of

SPRING_FIELDS = ("stiffness", "damping", "friction")


def fit_of(
    parameters: Parameters,
    found: SearchResult,
    *,
    reason: str,
    prior_model: Model,
    notes: Sequence[str],
    provenance: Mapping[str, str],
    profile: Sequence[str] = (),
) -> Fit:
    """The Fit of a search; `profile` names (globs) what gets its interval by likelihood."""
    J = information_root(found)
    theta, model, trouble = realised(parameters, found, J)
    seen = seen_of(parameters, found, J, theta)
    estimates, covariance = _estimates(found, seen, J, theta)
    estimates = _profiled(found, estimates, profile)
    status, is_good = _status(estimates, seen, found)
    scale = seen.scale.words if seen.scale else "no parameter grows with the scale"
    told = [*notes, *trouble, *_remarks(found, seen)]
    told += cost_of_encoders(parameters, found, estimates)
    return Fit(
        model=model, prior_model=prior_model, method="output_error", reason=reason,
        estimates=estimates, covariance=covariance,
        combinations=combinations_of(seen, {s.name: s.value for s in seen.parameters}),
        trades=seen.trades, scale=scale,
        residuals=_residuals(found), status=status, is_trustworthy=is_good,
        notes=tuple(dict.fromkeys(told)), provenance=provenance,
    )  # fmt: skip


def seen_of(parameters: Parameters, found: SearchResult, J: Array, theta: Array) -> Visibility:
    """What the data tell of every reported unknown."""
    unknowns = found.problem.unknowns
    shown = [k for k, u in enumerate(unknowns.items) if u.is_reported]
    hidden = [k for k, u in enumerate(unknowns.items) if not u.is_reported]
    items = [unknowns.items[k] for k in shown]
    names, sizes = [u.label for u in items], _sizes(items, unknowns.sizes[shown], theta[shown])
    priors = np.array([u.parameter.prior[1] if u.parameter.prior else np.inf for u in items])
    scaled = np.array([v * is_scaled(n) for n, v in zip(names, theta[shown], strict=True)])
    nuisance = J[:, hidden] * unknowns.sizes[hidden]
    A = without(nuisance, J[:, shown] * sizes)
    scale = _scale_words(scale_of(A, scaled / sizes, {}), sources_of(parameters, found))
    seen = visibility(
        J[:, shown], names, sizes, nuisance=nuisance,
        prior_std=priors if np.any(np.isfinite(priors)) else None, values=theta[shown],
        units=[u.parameter.unit for u in items], scale=scale,
    )  # fmt: skip
    return seen


def _sizes(items: Sequence[Unknown], sizes: Array, theta: Array) -> Array:
    """Natural sizes; of springs that turned out larger than the model had them, their own."""
    grown = [u.name.rpartition(".")[2] in SPRING_FIELDS and u.recording is None for u in items]
    return np.where(grown, np.maximum(sizes, np.abs(theta)), sizes)


def sources_of(parameters: Parameters, found: SearchResult) -> tuple[str, ...]:
    """What in the recordings or the model has known newtons or kilograms."""
    recordings = found.problem.recordings
    sources = []
    n = len(parameters.model.thrusters)
    pushes = [recording.inputs.push for recording in recordings]
    sources += ["thrust"] * any(np.any(push[..., :n]) for push in pushes)
    sources += ["the commanded wrench"] * any(np.any(push[..., n:]) for push in pushes)
    kinds = {
        measurement.sensor.kind
        for recording in recordings
        for measurement in recording.measurements
    }
    sources += ["measured torques"] * any(kind.endswith("_torque") for kind in kinds)
    efforts = any(np.any(recording.inputs.effort[..., 0]) for recording in recordings)
    sources += ["applied torques"] * efforts
    unknown = {p.name for p in parameters if p.status != "fixed"}
    wheels = [w.name for w in parameters.model.wheels if f"{w.name}.inertia" not in unknown]
    sources += ["wheels of known inertia"] * bool(wheels)
    known = [
        p for p in parameters
        if p.name not in unknown and p.value != 0.0 and is_scaled(p.name)
        and p.name.rpartition(".")[0] not in {w.name for w in parameters.model.wheels}
    ]  # fmt: skip
    sources += ["what is known of bodies and springs"] * bool(known)
    sources += ["priors"] * any(p.prior is not None for p in parameters.free_ones)
    return tuple(sources)


def _scale_words(scale: Scale | None, sources: tuple[str, ...]) -> Scale | None:
    if scale is None or not scale.is_fixed:
        return scale
    if not sources:
        return Scale(False, float("nan"), f"not fixed: only ratios; {REMEDY}")
    return Scale(True, scale.std, f"fixed by {' and '.join(sources)}")


def _estimates(
    found: SearchResult, seen: Visibility, J: Array, theta: Array
) -> tuple[tuple[Estimate, ...], Array]:
    unknowns = found.problem.unknowns
    shown = [k for k, u in enumerate(unknowns.items) if u.is_reported]
    at_bound = (theta <= unknowns.lower) | (theta >= unknowns.upper)
    for k, sight in zip(shown, seen.parameters, strict=True):
        at_bound[k] &= sight.status != "invisible"  # nothing pressed it there
    has_std = np.array(
        [s.status in KNOWN and not at_bound[k] for k, s in zip(shown, seen.parameters, strict=True)]
    )
    covariance = covariance_of(found, J, at_bound)[np.ix_(shown, shown)]
    covariance[~has_std] = np.nan
    covariance[:, ~has_std] = np.nan
    std = np.sqrt(np.diag(covariance))
    estimates = []
    for i, (k, sight) in enumerate(zip(shown, seen.parameters, strict=True)):
        p, value = unknowns.items[k].parameter, float(theta[k])
        status = "at bound" if at_bound[k] else sight.status
        interval = (value - SIGMAS * std[i], value + SIGMAS * std[i]) if has_std[i] else None
        note = "no effect on the data" if status == "invisible" else ""
        value = p.value if status == "invisible" else value
        estimates.append(
            Estimate(sight.name, p.unit, value, float(std[i]), interval, status, p.value, note)
        )
    return tuple(estimates), covariance


def _profiled(
    found: SearchResult, estimates: tuple[Estimate, ...], globs: Sequence[str]
) -> tuple[Estimate, ...]:
    """The estimates, those asked for with intervals by profile likelihood."""
    labels = [u.label for u in found.problem.unknowns.items]
    unmatched = [g for g in globs if not any(fnmatchcase(e.name, g) for e in estimates)]
    if unmatched:
        raise IdentificationError(
            f"profile: no free parameter is called {unmatched[0]!r}; free ones:"
            f" {_some([e.name for e in estimates], 6)}"
        )
    out = []
    for e in estimates:
        if e.status != "invisible" and any(fnmatchcase(e.name, glob) for glob in globs):
            low, high = profile_interval(found, labels.index(e.name), e.std)
            is_closed = bool(np.isfinite(low) and np.isfinite(high))
            told = "interval by profile likelihood" + (
                "" if is_closed else f": {low:.4g}, {high:.4g}"
            )
            e = replace(e, interval95=(low, high) if is_closed else e.interval95, note=told)
        out.append(e)
    return tuple(out)


def _residuals(found: SearchResult) -> tuple[Residual, ...]:
    """Root mean square errors of every row, over stated noise and in its unit."""
    out = []
    for r, recording in enumerate(found.problem.recordings):
        for k, measurement in enumerate(recording.measurements):
            for c, name in enumerate(measurement.rows):
                error = found.descent.at.errors[r][k][:, c]
                rms = float(np.sqrt(found.misfit[recording.place + name]))
                raw = float(np.sqrt(np.mean(error**2)))
                unit = _unit(measurement, name)
                out.append(Residual(recording.place + name, unit, len(error), rms, raw))
    return tuple(out)


def _unit(measurement: Measurement, name: str) -> str:
    own = SENSOR_MODELS[measurement.sensor.kind].unit
    return "rad" if measurement.sensor.kind == "attitude" else own or unit_of(name)[0]


def _remarks(found: SearchResult, seen: Visibility) -> list[str]:
    told = [f"{found.n_evaluations} flights of the model"]
    large = [name for name, misfit in found.misfit.items() if misfit > NOISY]
    known = {
        recording.place + name
        for recording in found.problem.recordings
        for measurement in recording.measurements
        if measurement.is_noise_known
        for name in measurement.rows
    }
    large = [name for name in large if name in known]
    if large:
        worst = max(large, key=lambda name: found.misfit[name])
        told.append(
            f"residuals of {_some(large)} are up to {np.sqrt(found.misfit[worst]):.2g} times the"
            " stated noise; intervals go by the residuals"
        )
    if found.colour:
        told.append(
            f"residuals of {_some(found.colour)} go on as they begin; they were weighed as the"
            " coloured noise they look like"
        )
    invisible = seen.names("invisible")
    if invisible:
        told.append(f"no effect on the data, left as they were: {_some(invisible, 8)}")
    if found.descent.at.n_outliers:
        told.append(f"{found.descent.at.n_outliers} samples got less than half their weight")
    return told


def _some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" * (len(names) > most))


def _status(
    estimates: Sequence[Estimate], seen: Visibility, found: SearchResult
) -> tuple[str, bool]:
    """A sentence a person can act on, and whether to trust the numbers."""
    bounds = [e.name for e in estimates if e.status == "at bound"]
    worst = max(found.misfit.values(), default=0.0)
    if found.descent.ending != "converged":
        return (
            f"Not to be trusted: the search is {found.descent.ending}; start from better values,"
            " free fewer parameters or give priors.",
            False,
        )
    is_known = all(s.is_noise_known for r in found.problem.recordings for s in r.measurements)
    if worst > USELESS and is_known:
        return (
            f"Not to be trusted: residuals are {np.sqrt(worst):.2g} times the noise; the model"
            " lacks something, or this is a false minimum.",
            False,
        )
    minima = [rival for rival in found.rivals if rival.is_minimum]
    if minima:
        other = moved_springs(found.problem, found.descent.at, minima[0])
        is_planned = all(recording.is_planned for recording in found.problem.recordings)
        plan = "" if is_planned else " or the plan that was flown"
        return (
            f"Not to be trusted: other springs explain the data as well: {_some(other)}; record a"
            f" flight in which they swing freely after a kick, or give priors{plan}.",
            False,
        )
    if seen.scale is not None and not seen.scale.is_fixed:
        return (f"Only ratios are known; {REMEDY}.", False)
    words, is_good = tally(estimates, seen)
    if bounds:
        words = f"{_some(bounds)} at the bound. {words}"
    return words, is_good
