"""Before any data: what a plan and a sensor suite would tell of a model's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError, require_type
from freefloat.excitation.default import default_plan
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.parameter_name import owner_of
from freefloat.model.parts import Sensor
from freefloat.notes import Note
from freefloat.observability.information import (
    ExpectedRows,
    at_model_values,
    choose_sensors,
    column_mix,
    expected_rows,
    free_parameters,
    sensor_notes,
    unknown_initial_states,
)
from freefloat.observability.scale import Scale, is_scaled, scale_of, scale_remedy
from freefloat.observability.visibility import Visibility, visibility, without
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameter, Parameters

LABELS = (
    "a wheel of known inertia",
    "known springs, dampers and rotors",
    "what is held fixed",
    "known bodies",
)


def identifiability(
    model: Model,
    parameters: Parameters,
    *,
    plan: Plan | None = None,
    sensors: str | Sequence[Sensor] | None = None,
    unknown_start: bool = True,
    biases: Sequence[str] = (),
) -> Visibility:
    """What a flight of `plan` would tell of the free parameters, at the model's values.

    Args:
        model: what flies, with its sensors and their noise.
        parameters: of that model; the free ones are judged, tied ones follow theirs.
        plan: the motion; every driven joint on a gentle one for 60 s unless given.
        sensors: words such as "gyro encoders", or a list; the model's suite unless given.
        unknown_start: whether the initial state is unknown; it is not reported.
        biases: channels (globs) whose bias is unknown too; not reported either.

    Returns:
        for every parameter its status, expected standard deviation and what it trades against.

    Raises:
        IdentificationError: no parameter is free, or a name fits nothing of the model.

    >>> from freefloat.model import load_model
    >>> model = load_model("cepheus")
    >>> found = identifiability(model, Parameters.of(model).free("bus.izz", "bus.ixx"))
    >>> found["bus.izz"].status, found["bus.ixx"].status
    ('seen', 'invisible')
    """
    require_type(model, Model, "model", error=IdentificationError)
    require_type(parameters, Parameters, "parameters", error=IdentificationError)
    require_type(plan, (Plan, type(None)), "plan", error=IdentificationError)
    system = flatten(model)
    parameters = at_model_values(system, parameters)
    wanted = free_parameters(parameters)
    flown = plan if plan is not None else default_plan(model)
    states = unknown_initial_states(system, parameters, unknown_start)
    known = _known_parts(model, parameters)
    names, mix = column_mix(parameters, wanted, states, known)
    suite = choose_sensors(model, sensors)
    rows = expected_rows(system, flown, suite, names, mix, biases)
    n, end = len(wanted), len(wanted) + len(states)
    nuisance = np.hstack([rows.columns[:, n:end], rows.biases])
    sizes = natural_sizes(system, [p.name for p in wanted])
    prior = [p.prior[1] if p.prior else np.nan for p in wanted]
    sources = _sources(rows, flown, model, known, wanted)
    remedy = scale_remedy(model, sources)
    return visibility(
        rows.columns[:, :n],
        [p.name for p in wanted],
        sizes,
        nuisance=nuisance,
        prior_std=np.array(prior),
        values=np.array([p.value for p in wanted]),
        units=[p.unit for p in wanted],
        scale=_scale(rows, wanted, sizes, nuisance, sources, remedy),
        notes=(*rows.notes, *sensor_notes(model, sensors), *_plan_notes(plan, flown, model)),
    )


def _known_parts(model: Model, parameters: Parameters) -> dict[str, list[Parameter]]:
    """Fixed parameters with known kilograms or newtons, gathered under a name each."""
    wheels = {f"{wheel.name}.inertia" for wheel in model.wheels}
    bodies = {body.name for body in model.assembly.bodies} | {tank.name for tank in model.tanks}
    asked = {_owner(p) for p in parameters if p.status != "fixed"}
    groups: dict[str, list[Parameter]] = {label: [] for label in LABELS}
    for p in parameters:
        if p.status != "fixed" or not is_scaled(p.name) or p.value == 0.0:
            continue
        if p.name in wheels:
            groups["a wheel of known inertia"].append(p)
        elif _owner(p) not in bodies:
            groups["known springs, dampers and rotors"].append(p)
        elif _owner(p) in asked:
            groups["what is held fixed"].append(p)
        else:
            groups["known bodies"].append(p)
    return {f"{label} ({_owners(group)})": group for label, group in groups.items() if group}


def _owner(p: Parameter) -> str:
    return owner_of(p.name)


def _owners(group: Sequence[Parameter]) -> str:
    owners = list(dict.fromkeys(map(_owner, group)))
    more = f", {len(owners) - 3} more" if len(owners) > 3 else ""
    return ", ".join(owners[:3]) + more


def _sources(
    rows: ExpectedRows,
    plan: Plan,
    model: Model,
    known: dict[str, list[Parameter]],
    wanted: Sequence[Parameter],
) -> dict[str, Array]:
    """Change of the rows per unit growth of everything with known kilograms or newtons."""
    first = rows.columns.shape[1] - len(known)
    sources = {name: rows.columns[:, first + k] for k, name in enumerate(known)}
    if np.any(rows.torques):
        sources["measured joint torques"] = -rows.torques
    pushed = ", ".join(_pushes(plan, model))
    if pushed:
        theta = np.array([p.value * is_scaled(p.name) for p in wanted])
        rest = rows.columns[:, : len(wanted)] @ theta + sum(sources.values())
        sources[pushed] = -rest  # all that grows with the scale adds up to nothing
    return sources


def _pushes(plan: Plan, model: Model) -> Iterator[str]:
    if plan.thrusts:
        yield "thrust"
    if plan.wrench:
        yield "a known wrench"
    if plan.torques or plan.feedback:
        yield "commanded torques"
    if model.root.linear_drag or model.root.angular_drag:
        yield "known drag"


def _scale(
    rows: ExpectedRows,
    wanted: Sequence[Parameter],
    sizes: Array,
    nuisance: Array,
    sources: dict[str, Array],
    remedy: str,
) -> Scale | None:
    theta = np.array([p.value * is_scaled(p.name) for p in wanted]) / sizes
    A = without(nuisance, rows.columns[:, : len(wanted)] * sizes)
    table = np.column_stack([np.zeros(len(A)), *sources.values()])
    shown = without(nuisance, table)
    named = {name: shown[:, k] for k, name in enumerate(sources, start=1)}
    return scale_of(A, theta, named, remedy=remedy)


def _plan_notes(asked: Plan | None, plan: Plan, model: Model) -> Iterator[str]:
    if asked is None:
        motion = f"the plan: every driven joint on a gentle motion for {plan.duration:g} s"
        yield Note("plan.default", motion)
    if not any(_pushes(plan, model)) and model.root.type != "fixed":  # nothing pushes the ground
        yield Note("plan.unforced", "the plan has no thrust, wrench or commanded torque")
