"""Before any data: what a plan and a sensor suite would tell of a model's parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.default import default_plan
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.observability.counts import minimal_count as minimal_count
from freefloat.observability.information import Expected, expected_rows
from freefloat.observability.scale import Scale, is_scaled, scale_of
from freefloat.observability.sensor_choice import chosen_sensors
from freefloat.observability.visibility import Visibility, visibility, without
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameter, Parameters, parameter_values

START_AXES = {
    "floating": ("position.xyz", "attitude.xyz", "velocity.xyz", "rate.xyz"),
    "planar": ("position.xy", "attitude.z", "velocity.xy", "rate.z"),
    "fixed": (),
}
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

    `plan`: the default motion unless given; `sensors`: words such as "gyro encoders", or a list;
    the model's suite unless given. The initial state is unknown, unless said otherwise; `biases`
    names channels (globs) whose offset is unknown too. Neither is reported.

    >>> from freefloat.model import load_model
    >>> model = load_model("cepheus")
    >>> found = identifiability(model, Parameters.of(model).free("bus.izz", "bus.ixx"))
    >>> found["bus.izz"].status, found["bus.ixx"].status
    ('seen', 'invisible')
    """
    system = flatten(model)
    parameters = at_model_values(system, parameters)
    wanted = wanted_ones(parameters)
    flown = plan if plan is not None else default_plan(model)
    states = unknown_states(system, parameters, unknown_start)
    known = _known_parts(model, parameters)
    names, mix = mixed(parameters, wanted, states, known)
    suite = chosen_sensors(model, sensors)
    rows = expected_rows(system, flown, suite, names, mix, biases)
    n, end = len(wanted), len(wanted) + len(states)
    nuisance = np.hstack([rows.columns[:, n:end], rows.biases])
    sizes = natural_sizes(system, [p.name for p in wanted])
    prior = [p.prior[1] if p.prior else np.nan for p in wanted]
    return visibility(
        rows.columns[:, :n],
        [p.name for p in wanted],
        sizes,
        nuisance=nuisance,
        prior_std=np.array(prior),
        values=np.array([p.value for p in wanted]),
        units=[p.unit for p in wanted],
        scale=_scale(rows, wanted, sizes, nuisance, _sources(rows, flown, model, known, wanted)),
        notes=(*rows.notes, *_plan_notes(plan, flown, model)),
    )


def at_model_values(system: System, parameters: Parameters) -> Parameters:
    """The parameters with the values of a system; all of them must be its own."""
    values = parameter_values(system)
    strange = [p.name for p in parameters if p.name not in values]
    if strange:
        raise IdentificationError(
            f"{system.model.name!r} has no parameter {', '.join(strange[:3])}; take the parameters"
            " of the model that flies"
        )
    entries = (replace(p, value=values[p.name]) for p in parameters)
    return replace(parameters, entries=tuple(entries))


def wanted_ones(parameters: Parameters) -> list[Parameter]:
    """The free parameters without initial states; at least one."""
    wanted = [p for p in parameters.free_ones if not p.name.startswith("start.")]
    if not wanted:
        raise IdentificationError("no parameter is free; free some, such as 'bus.*'")
    return wanted


def unknown_states(system: System, parameters: Parameters, unknown_start: bool) -> list[str]:
    """Names of initial states that are not known: all that the root allows, or those set free."""
    free = [name for name in parameters.names if name.startswith("start.")]
    if not unknown_start:
        return free
    names = [
        f"start.{field}.{axis}"
        for field, axes in (word.split(".") for word in START_AXES[system.model.root.type])
        for axis in axes
    ]
    for g in system.tree.free:
        if g >= 6:
            coordinate = system.coordinates[int(g) - 6]
            names += [f"start.{coordinate}.position", f"start.{coordinate}.velocity"]
    return list(dict.fromkeys([*names, *free]))


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
    return p.name.rpartition(".")[0]


def _owners(group: Sequence[Parameter]) -> str:
    owners = list(dict.fromkeys(map(_owner, group)))
    more = f", {len(owners) - 3} more" if len(owners) > 3 else ""
    return ", ".join(owners[:3]) + more


def mixed(
    parameters: Parameters,
    wanted: Sequence[Parameter],
    states: Sequence[str],
    known: dict[str, list[Parameter]],
) -> tuple[list[str], Array]:
    """Names to differentiate by, and how they make columns: wanted, states, one a known part.

    A tied parameter adds its factor to the column of the one it follows; a known part is the sum
    of its parameters times their values.
    """
    columns = [p.name for p in wanted] + list(states)
    entries = [(name, k, 1.0) for k, name in enumerate(columns)]
    for p in parameters:
        if p.tied_to is not None and p.tied_to[0] in columns:
            entries.append((p.name, columns.index(p.tied_to[0]), p.tied_to[1]))
    for k, group in enumerate(known.values(), start=len(columns)):
        entries += [(p.name, k, p.value) for p in group]
    names = list(dict.fromkeys(name for name, _, _ in entries))
    mix = np.zeros((len(names), len(columns) + len(known)))
    for name, k, factor in entries:
        mix[names.index(name), k] = factor
    return names, mix


def _sources(
    rows: Expected,
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
        told = rows.columns[:, : len(wanted)] @ theta + sum(sources.values())
        sources[pushed] = -told  # all that grows with the scale adds up to nothing
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
    rows: Expected,
    wanted: Sequence[Parameter],
    sizes: Array,
    nuisance: Array,
    sources: dict[str, Array],
) -> Scale | None:
    theta = np.array([p.value * is_scaled(p.name) for p in wanted]) / sizes
    A = without(nuisance, rows.columns[:, : len(wanted)] * sizes)
    table = np.column_stack([np.zeros(len(A)), *sources.values()])
    shown = without(nuisance, table)
    return scale_of(A, theta, {name: shown[:, k] for k, name in enumerate(sources, start=1)})


def _plan_notes(asked: Plan | None, plan: Plan, model: Model) -> Iterator[str]:
    if asked is None:
        yield f"the plan: every driven joint on a gentle motion for {plan.duration:g} s"
    if not any(_pushes(plan, model)):
        yield "the plan has no thrust, wrench or commanded torque"
