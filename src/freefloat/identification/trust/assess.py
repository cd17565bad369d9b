"""From a Fit and its recordings to a graded Fit: total deviations, evidence, causes, doubts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.excitation.plan import Plan
from freefloat.identification.assessment import (
    GRADES,
    Assessment,
    AssumptionLimits,
    Cause,
    DoubtShare,
    Evidence,
    ScaleCarrier,
    worst_grade,
)
from freefloat.identification.fit import Fit
from freefloat.identification.fit_assembly import with_covariance, with_total_covariance
from freefloat.identification.output_error.moment_rows import with_moments
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.trust.assumption_columns import assumption_columns, assumption_values
from freefloat.identification.trust.assumption_limits import assumption_limits
from freefloat.identification.trust.causes import (
    Explanation,
    Reported,
    explain,
    if_stretches_agree,
)
from freefloat.identification.trust.consider import (
    Consideration,
    adjusted_noise,
    doubt_shares,
    total_covariance,
)
from freefloat.identification.trust.effect_scores import with_effects
from freefloat.identification.trust.evidence import (
    METHODS_DISAGREE,
    block_evidence,
    cause_evidence,
    is_refused,
    method_differences,
    method_evidence,
    misfit_evidence,
    noise_evidence,
    scale_evidence,
    search_evidence,
    status_evidence,
    total_evidence,
    unit_evidence,
)
from freefloat.identification.trust.flight_problem import flight_problem
from freefloat.identification.trust.likelihood_fit import SUPERSEDED, is_sharper, likelihood_fit
from freefloat.identification.trust.misfit import BlockTest, block_tests
from freefloat.identification.trust.recording_evidence import with_contradictions
from freefloat.identification.trust.reversed_joints import with_reversed_joint
from freefloat.identification.trust.scale_carriers import scale_carriers, scale_note
from freefloat.identification.trust.trust_options import USUAL_TRUST, TrustOptions
from freefloat.identification.trust.white_rows import WhiteRows, white_rows
from freefloat.identification.trust.whole_covariance import whole_covariance
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.measurements import with_sensor_noise
from freefloat.prediction.recording_pieces import cut_at_gaps
from freefloat.progress import Progress, silent
from freefloat.telemetry.digest import digest
from freefloat.telemetry.doctor import Prepared, prepare_recording
from freefloat.telemetry.telemetry import Telemetry


def assess_fit(
    fit: Fit,
    flights: Telemetry | Sequence[Telemetry],
    *,
    parameters: Parameters | None = None,
    plan: Plan | Sequence[Plan] | None = None,
    known_start: bool = False,
    options: TrustOptions = USUAL_TRUST,
    search: SearchOptions = USUAL,
    seed: int = 0,
    improve: bool = False,
    raw: bool = False,
    progress: Progress = silent,
) -> Fit:
    """The fit with its grade, total deviations, causes and what carries the scale.

    Args:
        fit: Of any method.
        flights: The recordings it was made from, or others of the same system.
        parameters: Bounds, priors and ties of the parameters; without them those of the fit are
            free.
        plan: The commands, if known exactly, for all recordings or one each.
        known_start: Whether the initial state is the plan's.
        options: Significance and limits.
        search: How the model is simulated.
        seed: Of the draws of noise.
        improve: Whether the maximum of the likelihood of all channels takes the place of the fit
            where it is sharper.
        raw: Whether the recordings are used as they are; else their faults are repaired first.
        progress: Called before every simulation; may raise to stop.

    Returns:
        The fit with an `assessment`, and with `total_std` in every estimate that has a `std`.

    Raises:
        IdentificationError: A recording lacks what the model needs to be simulated.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> flight = ff.simulate(model, ff.default_plan(model), seed=1)
    >>> wanted = ff.Parameters(model).free("target.mass", "target.m?")
    >>> fit = ff.assess_fit(ff.identify(model, wanted, flight), flight, improve=True)
    >>> fit.assessment.grade, fit["target.mass"].total_std > fit["target.mass"].std
    ('trusted', True)
    """
    given = (flights,) if isinstance(flights, Telemetry) else tuple(flights)
    shift = not any(e.name.startswith("delay.") for e in fit.estimates)
    # by the model that the fit began with, as `identify` does
    model = fit.prior_model
    each = [prepare_recording(flight, model, raw=raw, shift=shift) for flight in given]
    sound = [with_sensor_noise(model, one.recording) for one in each]
    graded = grade_fit(
        fit, cut_at_gaps(model, sound)[0] if plan is None else sound,
        biases=new_biases(parameters or Parameters(model), each),
        parameters=parameters, plan=plan, known_start=known_start, options=options, search=search,
        seed=seed, improve=improve, progress=progress,
    )  # fmt: skip
    graded = with_contradictions(graded, [f for one in each for f in one.contradictions])
    return _with_earlier(graded, fit) if fit.provenance.get("data") == digest(given) else graded


def _with_earlier(graded: Fit, fit: Fit) -> Fit:
    """The graded fit with what these recordings showed of the method that the fit began with.

    Where the likelihood has taken its place, nothing of that method is left to be compared.
    """
    before, now = fit.assessment, graded.assessment
    if before is None or now is None or any(e.code == METHODS_DISAGREE for e in now.evidence):
        return graded
    kept = [e for e in before.evidence if e.code == METHODS_DISAGREE]
    evidence = (*now.evidence, *kept)
    return _grade(graded, evidence, now.causes, now.doubts, now.carriers, now.limits)


def grade_fit(
    fit: Fit,
    recorded: Sequence[Telemetry],
    *,
    parameters: Parameters | None,
    plan: Plan | Sequence[Plan] | None,
    known_start: bool,
    options: TrustOptions,
    search: SearchOptions,
    seed: int,
    improve: bool,
    biases: Sequence[str] = (),
    progress: Progress = silent,
) -> Fit:
    """`assess_fit` by recordings that are sound, with the noise of the model's sensors.

    biases: of sensors, which the recordings show, to be found beside the fit's own parameters.
    """
    plans = plan if isinstance(plan, Sequence) else [plan] * len(recorded)
    free = _free(fit, parameters, biases)
    if not free.free_ones:
        return _grade(fit, [*status_evidence(fit)])
    try:
        rows = _rows(fit, free, recorded, plans, known_start, options, search, seed, progress)
    except (FreefloatError, np.linalg.LinAlgError) as error:
        text = f"the recordings could not be simulated at the fit: {error}"
        failed = Evidence(
            "assessment.not_simulated", text, "with reservations",
            remedy="cut the recording where a driving channel is missing, or give the plan",
        )  # fmt: skip
        return _grade(fit, [*status_evidence(fit), failed])
    again = None
    if improve and (not is_refused(fit) or fit.status_code in SUPERSEDED):
        again = free
    # what is adjusted lies elsewhere: tests begin where it did, with its assumptions exact
    better = likelihood_fit(fit, rows, free) if again is not None or fit.adjusted else None
    if better is not None and not fit.adjusted:
        better = better if _is_better(better, fit, rows, biases, options) else None
    graded = _assess(better or fit, rows, options, compared=fit, free=again, biases=biases)
    begun = _free(replace(fit, model=fit.prior_model), parameters, biases)
    problem_of = partial(
        flight_problem, begun, plans=plans, known_start=known_start, search=search,
        progress=progress, known={},
    )  # fmt: skip
    return with_reversed_joint(graded, rows, recorded, problem_of)


def _is_better(
    better: Fit, fit: Fit, rows: WhiteRows, biases: Sequence[str], options: TrustOptions
) -> bool:
    """Whether the likelihood's fit is sharper, or the method's own deviations cannot be right."""
    places, labels = _report_places(rows, biases)
    differ = method_differences(fit, rows, places, labels, options)
    return is_sharper(better, fit) or any(True for _ in differ)


def _report_places(rows: WhiteRows, but: Sequence[str]) -> tuple[list[int], list[str]]:
    """Places and labels of the unknowns that are reported, but for those named."""
    items = rows.problem.unknowns.items
    places = [k for k, u in enumerate(items) if u.is_reported and u.name not in but]
    return places, [items[k].label for k in places]


def new_biases(parameters: Parameters, recordings: Sequence[Prepared]) -> tuple[str, ...]:
    """Biases that recordings show and of which nothing is said among the parameters."""
    found = dict.fromkeys(name for one in recordings for name in one.biases)
    told = {parameter.name for parameter in parameters}
    return tuple(name for name in found if name not in told and parameters.matching(name))


def _free(fit: Fit, parameters: Parameters | None, biases: Sequence[str]) -> Parameters:
    """The fit's parameters, free at its values, with the conditions given, and biases."""
    labels = [e.name for e in fit.estimates if e.status not in ("fixed", "at bound")]
    own = Parameters(fit.model)
    for label in dict.fromkeys([*labels, *biases]):
        name, mark, _ = label.partition("[")  # gravity.x[2] is that of the second recording
        own = own.free(name)
        own = own.per_recording(name) if mark else own
    return own if parameters is None else own.with_conditions_of(parameters)


def _rows(
    fit: Fit, free: Parameters, recorded: Sequence[Telemetry], plans: Sequence[Plan | None],
    known_start: bool, options: TrustOptions, search: SearchOptions, seed: int,
    progress: Progress,
) -> WhiteRows:  # fmt: skip
    # a model has one place for what every recording has a value of its own
    known = {e.name: e.value for e in fit.estimates if "[" in e.name}
    problem, theta = flight_problem(
        free, recorded, plans=plans, known_start=known_start, search=search, progress=progress,
        known=known,
    )  # fmt: skip
    return white_rows(with_moments(problem, theta), theta, options=options, seed=seed)


def _assess(
    fit: Fit, rows: WhiteRows, options: TrustOptions, *, compared: Fit, free: Parameters | None,
    biases: Sequence[str],
) -> Fit:  # fmt: skip
    """The fit graded by the rows.

    compared: the fit that is held against their likelihood. free: what is fitted again where
    assumptions have to give way; None leaves the fit where it is. biases: unknowns that nobody
    asked for, which do not count.
    """
    reported = _report_of(fit, rows, biases)
    taken = assumption_columns(rows, prior=fit.prior_model)
    found = if_stretches_agree(explain(rows, taken, reported, options), reported, options)
    found = with_effects(found, reported, options)
    considered, is_replaced = found.considered, fit is not compared
    adjusted = _adjust(fit, compared, found, free)
    if adjusted is None and compared.adjusted:
        fit, is_replaced = compared, False
        reported = _report_of(fit, rows, biases)
    if adjusted is not None:
        fit, point = adjusted, found.joint
        assert point is not None  # what was adjusted was adjusted there
        considered = replace(point.consideration, is_adjusted=True)
        if free is None:  # it has the noise of what was adjusted already
            fit = with_covariance(fit, fit.covariance - _adjusted_noise(fit, rows, considered))
        reported = _report_of(fit, rows, biases)
    total = reported.total(considered)
    known = np.isfinite(reported.std)
    ratio = float(np.max(reported.std[known] / total[known])) if known.any() else 1.0
    places, names = reported.places, reported.names
    tests = block_tests(found.rows, list(places), options)
    evidence = (
        *status_evidence(fit),
        *unit_evidence(fit),
        *search_evidence(found),
        *noise_evidence(rows),
        *misfit_evidence(found, ratio, options),
        *cause_evidence(found, options, is_adjusted=adjusted is not None),
        *block_evidence(tests, names, reported.std, total, options),
    )  # fmt: skip
    if not compared.adjusted:  # else it is the likelihood's own
        is_settled = (is_replaced or adjusted is not None) and found.is_noise
        more = method_evidence(compared, rows, places, names, total, options, is_settled=is_settled)
        evidence = (*evidence, *more)
    values = {e.name: e.value for e in fit.estimates}
    carriers = scale_carriers(considered, reported, values, options)
    whole = _report_of(fit, rows, ())
    spread = dict(zip(whole.names, whole.total(considered), strict=True))
    spread |= dict(zip(names, _with_scatter(reported, total, tests, options), strict=True))
    sizes = dict(zip(whole.names, whole.sizes, strict=True))
    fit = with_total_covariance(fit, _total_covariance(fit, whole, considered, spread), sizes)
    moves = considered.moves[list(whole.places)] * whole.sizes[:, None]
    own = taken if adjusted is None or found.joint is None else found.joint.taken
    fit = replace(
        fit,
        whole_covariance=whole_covariance(
            fit, rows, own, considered, [*zip(whole.names, moves, strict=True)]
        ),
    )
    doubts = doubt_shares(considered, places, names, total, reported.sizes)
    if carriers:
        fit = replace(fit, scale=scale_note(carriers))
    if adjusted is not None:
        fit = with_covariance(fit, fit.covariance + _adjusted_noise(fit, rows, considered))
    evidence = (*evidence, *scale_evidence(carriers), *total_evidence(reported, total, doubts))
    limits = assumption_limits(rows, found.considered, reported, total)
    return _grade(fit, evidence, found.causes, doubts, carriers, limits)


def _adjusted_noise(fit: Fit, rows: WhiteRows, considered: Consideration) -> Array:
    """What noise adds to the covariance of the estimates, in their order, by what is adjusted."""
    whole, order = _report_of(fit, rows, ()), [e.name for e in fit.estimates]
    own = [i for i, name in enumerate(whole.names) if name in order]
    at = [order.index(whole.names[i]) for i in own]
    found = np.zeros_like(fit.covariance)
    found[np.ix_(at, at)] = adjusted_noise(
        considered, [whole.places[i] for i in own], whole.sizes[own]
    )
    return found


def _total_covariance(
    fit: Fit, whole: Reported, considered: Consideration, spread: Mapping[str, float]
) -> Array:
    """The total covariance of the estimates in their order, with these deviations; NaN elsewhere.

    How stretches that disagree move several estimates together, they are too few to tell: their
    scatter is on the diagonal alone.
    """
    order = [e.name for e in fit.estimates]
    own = [i for i, name in enumerate(whole.names) if name in order]
    at = [order.index(whole.names[i]) for i in own]
    places, sizes = [whole.places[i] for i in own], whole.sizes[own]
    total = np.full_like(fit.covariance, np.nan)
    total[np.ix_(at, at)] = total_covariance(
        considered, places, fit.covariance[np.ix_(at, at)], sizes
    )
    total[at, at] = [spread[order[k]] ** 2 for k in at]
    return total


def _with_scatter(
    reported: Reported, total: Array, tests: Sequence[BlockTest], options: TrustOptions
) -> Array:
    """Total deviations, as wide as stretches that disagree say: no matter what disturbs them."""
    is_bad = np.array([test.chance * len(tests) < options.significance for test in tests])
    scatter = np.array([test.deviation for test in tests]) * reported.sizes
    more = np.maximum(scatter**2 - reported.std**2, 0.0)
    return np.where(is_bad, np.sqrt(total**2 + more), total)


def _adjust(fit: Fit, compared: Fit, found: Explanation, free: Parameters | None) -> Fit | None:
    """The fit at the joint maximum, where one was needed and found; itself if made at one."""
    point = found.joint
    if point is None or not (point.is_reached and point.is_possible):
        return None
    if free is None:
        return compared if compared.adjusted else None
    joint = likelihood_fit(fit, point.rows, free, is_joint=True)
    values = assumption_values(point.rows, point.taken, point.deviations)
    return None if joint is None else replace(joint, adjusted=values)


def _report_of(fit: Fit, rows: WhiteRows, but: Sequence[str]) -> Reported:
    """The unknowns that are reported, with the deviations of the fit; NaN where there is none."""
    places, names = _report_places(rows, but)
    known = {e.name: e.std for e in fit.estimates}
    std = np.array([known.get(name, np.nan) for name in names])
    sizes = rows.problem.unknowns.sizes[places]
    return Reported(tuple(places), tuple(names), sizes, std)


def _grade(
    fit: Fit,
    evidence: Sequence[Evidence],
    causes: Sequence[Cause] = (),
    doubts: Sequence[DoubtShare] = (),
    carriers: Sequence[ScaleCarrier] = (),
    limits: Sequence[AssumptionLimits] = (),
) -> Fit:
    order = sorted(evidence, key=lambda e: -GRADES.index(e.grade))
    grade = worst_grade(order)
    assessment = Assessment(
        grade, tuple(order), tuple(causes), tuple(doubts), tuple(carriers), tuple(limits)
    )
    return replace(fit, assessment=assessment, is_trustworthy=grade != "not trusted")
