"""Identification by output error: the Fit whose model, simulated, reads like the recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit, Residual
from freefloat.identification.fit_assembly import (
    KNOWN,
    Solution,
    assemble_fit,
    name_sources,
    scale_sources,
)
from freefloat.identification.output_error.alternative_minima import spring_changes
from freefloat.identification.output_error.cost import Loss
from freefloat.identification.output_error.covariance import (
    encoder_notes,
    estimate_covariance,
    information_root,
)
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.physical_model import make_physical
from freefloat.identification.output_error.profile_likelihood import profile_interval
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.search import SearchResult, search
from freefloat.identification.output_error.unknowns import Unknown
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName, field_of
from freefloat.notes import Note
from freefloat.observability.scale import is_scaled, scale_of, scale_remedy
from freefloat.observability.visibility import Visibility, visibility, without
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.sensor_models import SENSOR_MODELS
from freefloat.progress import Progress, silent
from freefloat.telemetry.names import unit_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun, listing

SPRING_FIELDS = ("stiffness", "damping", "friction", "armature")


def identify_by_output_error(
    parameters: Parameters,
    flights: Sequence[Telemetry],
    *,
    prior_model: Model,
    reason: str,
    provenance: Mapping[str, str],
    plan: Plan | Sequence[Plan] | None = None,
    robust: Loss | None = None,
    known_start: bool = False,
    options: SearchOptions = USUAL,
    seed: int = 0,
    progress: Progress = silent,
) -> Fit:
    """The Fit whose model, simulated again, reads most like the recordings."""
    plans = _plans(plan, len(flights))
    several = len(flights) > 1
    kinds = {ParameterName.parse(p.name).kind for p in parameters.free_ones}
    needs_start = known_start or "start" in kinds
    recordings = [
        recording_of(
            parameters.model, flight, plan=own, step=options.step, has_delays="delay" in kinds,
            trims=(not needs_start, True), place=f"recording {k}: " if several else "",
        )
        for k, (flight, own) in enumerate(zip(flights, plans, strict=True), start=1)
    ]  # fmt: skip
    found = search(
        parameters,
        recordings,
        robust=robust,
        is_start_known=known_start,
        options=options,
        seed=seed,
        progress=progress,
    )
    notes = [note for recording in recordings for note in recording.notes]
    fit = assemble_fit(
        solution_of(parameters, found, notes, options.profile),
        method="output_error", reason=reason, prior_model=prior_model, provenance=provenance,
    )  # fmt: skip
    costs = encoder_notes(parameters, found, fit.estimates)
    return replace(fit, notes=tuple(dict.fromkeys((*fit.notes, *costs))))


def _plans(plan: Plan | Sequence[Plan] | None, n: int) -> Sequence[Plan | None]:
    if plan is None or isinstance(plan, Plan):
        return [plan] * n
    if len(plan) != n:
        raise IdentificationError(
            f"{count_noun(len(plan), 'plan')} for {count_noun(n, 'recording')}; give one for all,"
            " or one each in their order",
            code="plan.count",
        )
    return plan


def solution_of(
    parameters: Parameters, found: SearchResult, notes: Sequence[str], profile: Sequence[str]
) -> Solution:
    """The end of a search as a Solution; `profile` names (globs) what gets its interval so."""
    J = information_root(found)
    theta, model, trouble = make_physical(parameters, found, J)
    seen = _visibility(parameters, found, J, theta)
    unknowns = found.problem.unknowns
    shown = [k for k, u in enumerate(unknowns.items) if u.is_reported]
    at_bound = (theta <= unknowns.lower) | (theta >= unknowns.upper)
    for k, sight in zip(shown, seen.parameters, strict=True):
        at_bound[k] &= sight.status != "invisible"  # nothing pressed it there
    has_std = np.array(
        [s.status in KNOWN and not at_bound[k] for k, s in zip(shown, seen.parameters, strict=True)]
    )
    covariance = estimate_covariance(found, J, at_bound)[np.ix_(shown, shown)]
    covariance[~has_std] = np.nan
    covariance[:, ~has_std] = np.nan
    std = np.sqrt(np.diag(covariance))
    return Solution(
        parameters=tuple(replace(unknowns.items[k].parameter, name=unknowns.items[k].label)
                         for k in shown),
        values=theta[shown], std=std, covariance=covariance, visibility=seen,
        at_bound=at_bound[shown], model=model, residuals=_residuals(found),
        notes=(*notes, *trouble, *_search_notes(found, seen)), objection=_objection(found),
        profiles=_profiles(found, seen, std, profile),
    )  # fmt: skip


def _visibility(parameters: Parameters, found: SearchResult, J: Array, theta: Array) -> Visibility:
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
    sources = scale_sources(parameters, _inputs(parameters.model, found), has_springs=True)
    remedy = scale_remedy(parameters.model, sources)
    return visibility(
        J[:, shown], names, sizes, nuisance=nuisance,
        prior_std=priors if np.any(np.isfinite(priors)) else None, values=theta[shown],
        units=[u.parameter.unit for u in items],
        scale=name_sources(
            scale_of(A, scaled / sizes, {}, remedy=remedy), sources, remedy=remedy
        ),
    )  # fmt: skip


def _sizes(items: Sequence[Unknown], sizes: Array, theta: Array) -> Array:
    """Natural sizes; of springs that turned out larger than the model had them, their own."""
    grown = [field_of(u.name) in SPRING_FIELDS and u.recording is None for u in items]
    return np.where(grown, np.maximum(sizes, np.abs(theta)), sizes)


def _inputs(model: Model, found: SearchResult) -> list[str]:
    """What in the recordings has known newtons."""
    recordings = found.problem.recordings
    n = len(model.thrusters)
    pushes = [recording.inputs.push for recording in recordings]
    kinds = {
        measurement.sensor.kind
        for recording in recordings
        for measurement in recording.measurements
    }
    efforts = any(np.any(recording.inputs.effort[..., 0]) for recording in recordings)
    sources = ["thrust"] * any(np.any(push[..., :n]) for push in pushes)
    sources += ["the commanded wrench"] * any(np.any(push[..., n:]) for push in pushes)
    sources += ["measured torques"] * any(kind.endswith("_torque") for kind in kinds)
    return sources + ["applied torques"] * efforts


def _profiles(
    found: SearchResult, seen: Visibility, std: Array, globs: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Intervals by profile likelihood of the parameters asked for, by name."""
    labels = [u.label for u in found.problem.unknowns.items]
    names = [sight.name for sight in seen.parameters]
    unmatched = [g for g in globs if not any(fnmatchcase(name, g) for name in names)]
    if unmatched:
        expected, remedy = "a free parameter", f"free ones: {listing(names, most=6)}"
        faults = [Fault("profile", repr(g), expected, remedy, "name.unknown") for g in unmatched]
        raise IdentificationError("no such profile can be made:", faults)
    return {
        sight.name: profile_interval(found, labels.index(sight.name), float(std[k]))
        for k, sight in enumerate(seen.parameters)
        if sight.status != "invisible" and any(fnmatchcase(sight.name, glob) for glob in globs)
    }


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


def _search_notes(found: SearchResult, seen: Visibility) -> list[Note]:
    """What a reader should know of the search and its residuals."""
    notes = [Note("search.simulations", f"{found.n_evaluations} simulations")]
    known = {
        recording.place + name
        for recording in found.problem.recordings
        for measurement in recording.measurements
        if measurement.is_noise_known
        for name in measurement.rows
    }
    noisy = found.problem.options.trust.noisy
    large = [n for n, misfit in found.misfit.items() if misfit > noisy and n in known]
    if large:
        worst = max(large, key=lambda name: found.misfit[name])
        text = (
            f"residuals of {listing(large, most=3)} are up to"
            f" {np.sqrt(found.misfit[worst]):.2g} times the stated noise; intervals go by the"
            " residuals"
        )
        notes.append(Note("residuals.large", text))
    if found.colour:
        text = (
            f"residuals of {listing(found.colour, most=3)} are autocorrelated; they were weighted"
            " as the coloured noise they look like"
        )
        notes.append(Note("residuals.autocorrelated", text))
    invisible = seen.names("invisible")
    if invisible:
        text = f"no effect on the data, left as they were: {listing(invisible, most=8)}"
        notes.append(Note("parameters.invisible", text))
    if found.descent.at.n_outliers:
        text = f"{found.descent.at.n_outliers} samples got less than half their weight: outliers"
        notes.append(Note("rows.outliers", text))
    return notes


def _objection(found: SearchResult) -> Note | None:
    """Why the numbers are not to be trusted, whatever their intervals; None if they are."""
    if found.descent.ending != "converged":
        return Note(
            "not_trusted.not_converged",
            f"Not to be trusted: the search is {found.descent.ending}; start from better values,"
            " free fewer parameters or give priors.",
        )
    worst = max(found.misfit.values(), default=0.0)
    is_known = all(s.is_noise_known for r in found.problem.recordings for s in r.measurements)
    if worst > found.problem.options.trust.useless and is_known:
        return Note(
            "not_trusted.residuals",
            f"Not to be trusted: residuals are {np.sqrt(worst):.2g} times the noise: the model"
            " lacks something, or this is a local minimum; look for what is missing (`freefloat"
            " structure`), or start from other values.",
        )
    minima = [other for other in found.alternatives if other.is_minimum]
    if minima:
        other = spring_changes(found.problem, found.descent.at, minima[0])
        is_planned = all(recording.is_planned for recording in found.problem.recordings)
        plan = "" if is_planned else " or the plan that was flown"
        return Note(
            "not_trusted.alternative_minima",
            "Not to be trusted: other springs explain the data as well:"
            f" {listing(other, most=3)}; record a free response after a kick, or give"
            f" priors{plan}.",
        )
    return None
