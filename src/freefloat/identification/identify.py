"""`identify`: from recorded flights to a Fit, by the method the measurements allow."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.linear.delay_columns import Clock
from freefloat.identification.linear.families import choose
from freefloat.identification.linear.least_squares import Loss, Solver
from freefloat.identification.linear.linear_fit import LinearOptions, identified_by_equations
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.output_error_fit import (
    identified_by_output_error,
    why_output_error,
)
from freefloat.identification.recording_warnings import suspicions
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import write_values
from freefloat.provenance import provenance
from freefloat.telemetry.telemetry import Telemetry

Method = Literal[
    "auto", "momentum", "angular", "force", "torque", "weak", "energy", "reduced", "output_error"
]  # fmt: skip


def identify(
    model: Model,
    parameters: Parameters,
    flights: Telemetry | Sequence[Telemetry],
    *,
    method: Method = "auto",
    solver: Solver = "corrected",
    robust: Loss | None = None,
    physical: bool = True,
    momentum: Sequence[float] | None = None,
    drag: bool = False,
    clock: Clock | None = None,
    plan: Plan | Sequence[Plan] | None = None,
    known_start: bool = False,
    search: SearchOptions = USUAL,
    seed: int = 0,
) -> Fit:
    """Find the free parameters from one or several recordings of the same system.

    method: a family of equations, or "auto": the one the measurements allow. solver: "corrected"
    least squares (free of the bias that noise in the columns causes), plain "ls", or "iv"
    (instrumental variables). robust: "huber" or "tukey" against outliers. physical: bodies that
    could be real. momentum: the known angular momentum [N m s] about the centre of mass (zeros for
    a start at rest), for the angular family; drag: whether an air bearing brakes the root.
    clock: "base", "joints" or "torques" when those channels may be late by an unknown time.

    "output_error" flies the model again and compares what its sensors would read; it is chosen
    where only it can find what is free (see docs/output_error.md). plan: what was flown, if known
    exactly, for all recordings or one each; else the recorded joint motion drives the model.
    known_start: the initial state is the plan's, not to be found; search: how it is looked for.

    >>> from dataclasses import replace
    >>> import freefloat as ff
    >>> from freefloat.excitation import Pulses
    >>> model = ff.load_model("planar-capture")
    >>> plan = replace(ff.default_plan(model), thrusts={"thr_1": Pulses(((1.0, 5.0, 5.0),))})
    >>> wanted = ff.Parameters(model).free("bus.mass", "target.mass")
    >>> fit = ff.identify(model, wanted, ff.simulate(model, plan, seed=1))
    >>> fit.method, fit["target.mass"].status
    ('momentum', 'seen')
    """
    recorded = (flights,) if isinstance(flights, Telemetry) else tuple(flights)
    _require(model, parameters, recorded)
    _require_options(solver, robust, seed)
    parameters = write_values(parameters)
    is_auto = method == "auto"
    chosen, reason = _choose(parameters, recorded) if is_auto else (method, "asked for")
    record = _record(recorded, chosen, seed)
    by_flying = partial(
        identified_by_output_error, parameters, recorded, prior_model=model, plan=plan,
        robust=robust, known_start=known_start, options=search, seed=seed,
    )  # fmt: skip
    _require_of_method(
        chosen, equations=clock or drag or momentum, flying=plan is not None or known_start
    )
    odd = suspicions(model, recorded)
    if chosen == "output_error":
        fit = by_flying(reason=reason, provenance=record)
        return replace(fit, notes=(*odd, *fit.notes))
    at = None if momentum is None else _three(momentum)
    fit, n_buried = identified_by_equations(
        parameters, recorded, chosen, reason=reason, notes=odd,
        provenance={**record, "solver": solver},
        how=LinearOptions(solver, robust, physical, at, drag, clock, seed),
    )  # fmt: skip
    if is_auto and n_buried and not fit.is_trustworthy:
        why = f"noise hides {n_buried} combinations from the {chosen} equations"
        other = by_flying(reason=why, provenance={**record, "method": "output_error"})
        fit = other if other.is_trustworthy else fit
    return replace(fit, prior_model=model)


def _require(model: Model, parameters: Parameters, recorded: Sequence[Telemetry]) -> None:
    if not recorded:
        raise IdentificationError("identify needs at least one recording")
    if parameters.model != model:
        raise IdentificationError(
            "the parameters belong to another model; make them with Parameters(model)"
        )
    if not parameters.free_ones:
        raise IdentificationError(
            "no parameter is free; say which to find, e.g. Parameters(model).free('bus.*')"
        )


def _require_of_method(method: str, *, equations: object, flying: object) -> None:
    """Raise IdentificationError for options of the other kind of method."""
    if method == "output_error" and equations:
        raise IdentificationError(
            "momentum, drag and clock are for equations; with output error free what is unknown,"
            " such as 'delay.base.rate', or give the drag in the model"
        )
    if method != "output_error" and flying:
        raise IdentificationError("plan and known_start are for the method output_error only")


def _record(recorded: Sequence[Telemetry], method: str, seed: int) -> dict[str, str]:
    each = " ".join(digest([flight]) for flight in recorded)
    return provenance(seed=seed, data=digest(recorded), method=method, recordings=each)


def _choose(parameters: Parameters, recorded: Sequence[Telemetry]) -> tuple[str, str]:
    """The method the measurements allow, and why this one."""
    system = flatten(parameters.model)
    why = why_output_error(system, parameters, recorded)
    if why is not None:
        return "output_error", why
    try:
        return choose(system, samples_of(system, recorded[0]), parameters.names)
    except IdentificationError as error:
        if "no linear method" not in str(error):
            raise
        return "output_error", "no linear method can use these channels"


def _require_options(solver: str, robust: str | None, seed: int) -> None:
    for name, value, known in (
        ("solver", solver, get_args(Solver)), ("robust", robust, (None, *get_args(Loss))),
    ):  # fmt: skip
        if value not in known:
            words = ", ".join(map(repr, known))
            raise IdentificationError(f"{name}={value!r} is not known; choose one of {words}")
    if seed < 0:
        raise IdentificationError(f"seed={seed} is negative; give 0 or more")


def _three(momentum: Sequence[float]) -> tuple[float, float, float]:
    try:
        numbers = [float(x) for x in momentum]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 3 or not np.all(np.isfinite(numbers)):
        raise IdentificationError(
            f"momentum must be three finite numbers [N m s], got {list(momentum)!r}"
        )
    return numbers[0], numbers[1], numbers[2]


def digest(recorded: Sequence[Telemetry]) -> str:
    """The sha256 of every channel's name, times and values."""
    total = hashlib.sha256()
    for telemetry in recorded:
        for name, channel in telemetry.channels.items():
            for part in (name.encode(), channel.time.tobytes(), channel.values.tobytes()):
                total.update(part)
    return total.hexdigest()
