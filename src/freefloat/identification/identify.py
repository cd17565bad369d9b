"""`identify`: from recorded flights to a Fit, by the method the measurements allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from freefloat.errors import IdentificationError, require_all, require_type
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.linear.families import family_named
from freefloat.identification.linear.linear_fit import identify_by_equations
from freefloat.identification.linear.linear_options import (
    DEFAULTS,
    Clock,
    LinearOptions,
    Loss,
    Solver,
)
from freefloat.identification.linear.method_choice import OUTPUT_ERROR, Choice, choose_method
from freefloat.identification.method_names import Method
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.output_error_fit import identify_by_output_error
from freefloat.identification.recording_warnings import recording_warnings
from freefloat.identification.trust.assess import grade_fit, new_biases
from freefloat.identification.trust.recording_evidence import with_contradictions
from freefloat.identification.trust.trust_options import USUAL_TRUST, TrustOptions
from freefloat.model.model import Model
from freefloat.model.uncertainty import name_faults
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.recorded_parameters import fix_unrecorded
from freefloat.parameters.write_back import write_values
from freefloat.prediction.inputs import lock_unrecorded
from freefloat.prediction.measurements import with_sensor_noise
from freefloat.prediction.recording_pieces import cut_at_gaps
from freefloat.progress import Progress, silent
from freefloat.provenance import provenance
from freefloat.records.option_record import require_value
from freefloat.telemetry.diagnosis import Finding
from freefloat.telemetry.digest import digest
from freefloat.telemetry.doctor import prepare_recording
from freefloat.telemetry.sample_codes import codes_of_all
from freefloat.telemetry.telemetry import Telemetry


def identify(
    model: Model,
    parameters: Parameters,
    flights: Telemetry | Sequence[Telemetry],
    *,
    method: Method | str = "auto",
    solver: Solver | None = None,
    robust: Loss | None = None,
    physical: bool | None = None,
    momentum: Sequence[float] | None = None,
    drag: bool | None = None,
    clock: Clock | None = None,
    options: LinearOptions = DEFAULTS,
    plan: Plan | Sequence[Plan] | None = None,
    known_start: bool = False,
    search: SearchOptions = USUAL,
    seed: int | None = None,
    raw: bool = False,
    assess: bool = True,
    trust: TrustOptions = USUAL_TRUST,
    progress: Progress = silent,
) -> Fit:
    """Find the free parameters from one or several recordings of the same system.

    Args:
        model: the system as it is known so far.
        parameters: which parameters are free, fixed or tied, with bounds and priors.
        flights: one recording or several.
        method: "auto", "output_error" or a linear one; docs/choose.md tells them apart.
        solver: "corrected" (usual), "ls" or "iv"; this, the next five and `seed`: of `options`.
        robust: "huber" or "tukey" loss against outliers; also for output error.
        physical: whether estimates are moved to the closest physically consistent ones.
        momentum: known angular momentum about the centre of mass [N m s] (angular method).
        drag: whether an air bearing brakes the root by an unknown factor (angular method).
        clock: "base", "joints" or "torques" when those channels have an unknown delay.
        options: everything a linear method can be set to; see `LinearOptions`.
        plan, known_start: commands known exactly, for all or each; their initial state as well.
        search, seed: how output error looks for its minimum; of everything drawn at random.
        raw: use the recordings as they are; else their faults are repaired first, and noted.
        assess, trust: grade the fit by all channels (docs/trust.md), where "auto" ends; its limits.
        progress: called before every simulation; may raise to stop.

    Returns:
        Values with intervals and statuses, residuals, the new model, and how far to trust them.

    Raises:
        IdentificationError: nothing is free, an option is unknown, or channels are missing.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> flight = ff.simulate(model, ff.default_plan(model), seed=1)
    >>> fit = ff.identify(model, ff.Parameters(model).free("bus.mass", "target.mass"), flight)
    >>> fit.method, fit["target.mass"].status, fit.assessment.grade
    ('output_error', 'seen', 'trusted')
    """
    recorded = (flights,) if isinstance(flights, Telemetry) else flights
    recorded = _require(model, parameters, recorded, method=method, plan=plan)
    for name, value, kind in (("search", search, SearchOptions), ("trust", trust, TrustOptions)):
        require_value(value, kind, name, IdentificationError)
    given = {"solver": solver, "robust": robust, "physical": physical, "drag": drag, "clock": clock}
    options = _merge(options, **given, seed=seed, momentum=momentum)
    how = {"plan": plan, "known_start": known_start, "seed": options.seed, "progress": progress}
    progress("examining the recordings", None)
    used = _prepare(parameters, recorded, options, raw=raw, is_planned=plan is not None)
    fit = _identify(used, method, options, search, how)
    if assess:
        how |= {"search": search, "options": trust, "improve": method == "auto"}
        fit = grade_fit(fit, used.pieces, parameters=used.parameters, biases=used.biases, **how)
    is_simulated = assess or fit.method == OUTPUT_ERROR
    return _with_findings(fit, recorded, used, options.seed, is_simulated=is_simulated)


@dataclass(frozen=True)
class _Used:
    """What is used of what was given.

    recorded: without faults; pieces: the same as far as it can be simulated; biases: shown by the
    recordings, to be estimated as well; contradictions: between streams, not repaired; notes: what
    was found and done; cuts: where pieces end.
    """

    parameters: Parameters
    recorded: tuple[Telemetry, ...]
    pieces: tuple[Telemetry, ...]
    biases: tuple[str, ...]
    contradictions: tuple[Finding, ...]
    notes: tuple[Note, ...]
    cuts: tuple[Note, ...]

    def notes_of(self, is_simulated: bool) -> tuple[Note, ...]:
        """What to tell of a fit; of pieces where they were simulated."""
        return (*self.notes, *self.cuts) if is_simulated else self.notes


def _with_findings(
    fit: Fit, recorded: Sequence[Telemetry], used: _Used, seed: int, *, is_simulated: bool
) -> Fit:
    """The fit with what was found in its recordings, which it names as they came."""
    fit, found = with_contradictions(fit, used.contradictions), used.notes_of(is_simulated)
    if not found:
        return fit
    given = _record(recorded, fit.method, seed)
    about = {key: given[key] for key in ("data", "recordings", "samples")}
    return replace(fit, notes=(*found, *fit.notes), provenance={**fit.provenance, **about})


def _prepare(
    parameters: Parameters,
    recorded: tuple[Telemetry, ...],
    options: LinearOptions,
    *,
    raw: bool,
    is_planned: bool,
) -> _Used:
    """The recordings without their faults, and what of the parameters they have."""
    model, locked = parameters.model, ()
    if not is_planned:
        model, locked = lock_unrecorded(model, recorded)
        parameters = replace(parameters, model=model) if locked else parameters
    is_delay_sought = options.clock is not None or any(
        parameter.name.startswith("delay.") for parameter in parameters.free_ones
    )
    each = [prepare_recording(r, model, raw=raw, shift=not is_delay_sought) for r in recorded]
    notes = dict.fromkeys(note for one in each for note in one.notes)
    sound = tuple(with_sensor_noise(model, one.recording) for one in each)
    biases = new_biases(parameters, each)
    parameters, held = fix_unrecorded(parameters, sound, is_planned=is_planned)
    # a plan drives a simulation across any gap; equations take no notice of them
    pieces, cuts = (sound, ()) if is_planned else cut_at_gaps(model, sound)
    contradictions = tuple(finding for one in each for finding in one.contradictions)
    found = (*locked, *notes, *held)
    return _Used(parameters, sound, pieces, biases, contradictions, found, cuts)


def _identify(
    used: _Used,
    method: str,
    options: LinearOptions,
    search: SearchOptions,
    how: Mapping[str, Any],
) -> Fit:
    """By the method asked for or chosen; by output error where noise hides too much from that."""
    model, recorded = used.parameters.model, used.recorded
    parameters = write_values(used.parameters)
    wider = parameters.free(*used.biases) if used.biases else parameters
    by_output_error = partial(
        identify_by_output_error, wider, used.pieces, prior_model=model, robust=options.robust,
        options=search, **how,
    )  # fmt: skip
    has_plan = how["plan"] is not None or how["known_start"]
    is_auto = method == "auto"
    how["progress"]("choosing a method", None)
    choice = choose_method(parameters, recorded) if is_auto else _named_choice(method)
    record = _record(recorded, choice.method, options.seed)
    _require_of_method(choice.method, options, has_plan=has_plan)
    odd = recording_warnings(model, recorded)
    if choice.method == OUTPUT_ERROR:
        fit = by_output_error(reason=choice.reason, provenance=record)
        return replace(fit, notes=(*odd, *fit.notes))
    how["progress"](f"solving the {choice.method} equations", None)
    solve = partial(
        identify_by_equations, parameters, recorded, choice.method, reason=choice.reason,
        notes=odd, provenance={**record, "solver": options.solver}, progress=how["progress"],
    )  # fmt: skip
    other, is_first_look = None, is_auto and _is_long(recorded, options)
    fit, n_buried = solve(options=_first_look(options) if is_first_look else options)
    is_hidden = bool(n_buried) and not fit.is_trustworthy
    if is_auto and is_hidden:
        text = f"noise hides {n_buried} combinations from the {choice.method} equations"
        other = by_output_error(
            reason=Note("choice.buried_in_noise", text),
            provenance={**record, "method": OUTPUT_ERROR},
        )
        fit = other if other.is_trustworthy else fit
    if is_first_look and fit is not other:
        fit, _ = solve(options=options)
    return replace(fit, prior_model=model)


def _is_long(recorded: Sequence[Telemetry], options: LinearOptions) -> bool:
    """Whether a pass over the equations takes long, and needs but a pair of draws."""
    longest = max(len(c.time) for flight in recorded for c in flight.channels.values())
    return longest >= options.noise_instants


def _first_look(options: LinearOptions) -> LinearOptions:
    """One pass, which shows what noise hides: weights that fit better change little about that."""
    return replace(options, passes=1, most_passes=1, first_noise_pairs=1, noise_pairs=1)


def _require(
    model: Model,
    parameters: Parameters,
    recorded: Sequence[Telemetry],
    *,
    method: str,
    plan: Plan | Sequence[Plan] | None,
) -> tuple[Telemetry, ...]:
    """The recordings, once all arguments are of their types and fit each other."""
    require_type(model, Model, "model", error=IdentificationError)
    require_type(parameters, Parameters, "parameters", error=IdentificationError)
    require_all(recorded, Telemetry, "flights", error=IdentificationError)
    require_type(method, str, "method", error=IdentificationError)
    if plan is not None and not isinstance(plan, Plan):
        require_all(plan, Plan, "plan", error=IdentificationError)
    if not recorded:
        raise IdentificationError(
            "there is no recording; give at least one", code="recordings.none"
        )
    if parameters.model != model:
        raise IdentificationError(
            "the parameters belong to another model; make them with Parameters(model)",
            code="parameters.model",
        )
    if faults := [*name_faults(model, model.uncertainty)]:
        text = f"{model.name!r}: uncertainties are stated for unknown names"
        raise IdentificationError(text, faults)
    if not parameters.free_ones:
        raise IdentificationError(
            "no parameter is free; say which to find, e.g. Parameters(model).free('bus.*')",
            code="parameters.none",
        )
    return tuple(recorded)


def _merge(options: LinearOptions, **given: Any) -> LinearOptions:
    """The options with what was given beside them; IdentificationError for what cannot be."""
    chosen = {name: value for name, value in given.items() if value is not None}
    return replace(require_value(options, LinearOptions, "options", IdentificationError), **chosen)


def _named_choice(method: str) -> Choice:
    if method != OUTPUT_ERROR:
        family_named(method)
    return Choice(method, Note("choice.asked_for", "asked for"))


def _require_of_method(method: str, options: LinearOptions, *, has_plan: bool) -> None:
    """Raise IdentificationError for options of the other kind of method."""
    if method == OUTPUT_ERROR and (options.clock or options.drag or options.momentum):
        raise IdentificationError(
            "momentum, drag and clock are for linear methods; with output error free what is"
            " unknown, such as 'delay.base.rate', or give the drag in the model",
            code="option.conflict",
        )
    if method != OUTPUT_ERROR and has_plan:
        raise IdentificationError(
            "plan and known_start are for output error only; choose method='output_error'",
            code="option.conflict",
        )


def _record(recorded: Sequence[Telemetry], method: str, seed: int) -> dict[str, str]:
    each = " ".join(digest([flight]) for flight in recorded)
    return provenance(
        seed=seed, data=digest(recorded), method=method, recordings=each,
        samples=codes_of_all(recorded),
    )  # fmt: skip
