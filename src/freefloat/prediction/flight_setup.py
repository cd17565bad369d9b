"""What a flight is simulated with at some parameter values: the system and its inputs.

Inputs are recorded curves or a plan's; here they get the gain, bias and delay of what acts, and the
zero, gear and delay of the encoders they were read by:

    force(t) = (gain + fade (t - t0)) recorded(t - delay) + bias    thrusters, with leak and fading
    force(t) = gain * recorded(t - delay) + bias                    the wrench, driving torques
    recorded(t) = home + gear (position(t - delay) - home) + zero   joints that follow encoders

Geometry, gravity and drag change the system. Where every value is nominal nothing is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.kernels.spatial import (
    ANGULAR_DRAG,
    GRADIENT,
    GRAVITY,
    HAS_GRAVITY,
    LINEAR_DRAG,
)
from freefloat.dynamics.named_parameters import with_parameter_values
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import Fault, IdentificationError
from freefloat.excitation.commands import WRENCH
from freefloat.model.geometry import AXES, geometry_names, with_geometry
from freefloat.model.mass_properties import mass_properties
from freefloat.model.model import Model
from freefloat.model.parameter_name import (
    SURROUNDINGS,
    ParameterName,
    is_of_sensor,
    is_of_setup,
    is_start,
)
from freefloat.prediction.inputs import InputSource, torque_channel
from freefloat.prediction.time_grid import TimeGrid
from freefloat.text import did_you_mean

# theory: factors are one, all else is nought
NOMINAL = {"gain": 1.0, "gear": 1.0, "scale": 1.0}
# theory: a convention, like the choice of units: what an amateur's set-up may well be off by
SIZES = {
    "gain": 0.1, "gear": 0.1, "scale": 0.1, "delay": 0.01, "zero": 0.1, "tilt": 0.1,
    "offset": 0.1, "gravity": 0.01, "com": 0.1, "fade": 1e-3,
}  # fmt: skip
SLOW_STOP = 100.0  # theory: likewise; [s] in which a drag of natural size slows the robot down
DRAGS = {"linear": LINEAR_DRAG, "angular": ANGULAR_DRAG}
WRENCHES = ("base.torque", "base.force")
THRUSTER_FIELDS = ("gain", "fade", "bias", "delay")  # bias: what it leaks while it is shut
SIDES = 6  # theory: steps and records of a value and of either side of it


@dataclass(frozen=True)
class InputTables:
    """The inputs of a flight as they were recorded or planned, at the steps and records of a grid.

    ahead(seconds): the same so much later in the recording; kept as long as one evaluation, with
    the derivatives by all delays, may ask for it again.
    """

    source: InputSource
    grid: TimeGrid

    @cached_property
    def steps(self) -> Inputs:
        """At the stages of every step."""
        return self.source.tabulate(self.grid.stages)

    @cached_property
    def records(self) -> Inputs:
        """At every record."""
        return self.source.tabulate(self.grid.instants)

    def ahead(self, seconds: float, owner: str, *, is_record: bool) -> Inputs:
        """The inputs `seconds` [s] ahead of every step or record; those of the owner at least."""
        if seconds == 0.0:
            return self.records if is_record else self.steps
        key = (seconds, owner, is_record)
        if key not in self._store:
            while len(self._store) >= SIDES * self._owners:
                self._store.pop(next(iter(self._store)))
            times = self.grid.instants if is_record else self.grid.stages
            self._store[key] = self.source.tabulate(times + seconds, owner)
        return self._store[key]

    @cached_property
    def _owners(self) -> int:
        """How many inputs can have a delay each."""
        model = self.source.model
        return 2 * len(model.assembly.coordinates) + len(model.thrusters) + len(WRENCHES)

    @cached_property
    def _store(self) -> dict[tuple[float, str, bool], Inputs]:
        return {}


@dataclass(frozen=True)
class FlightSetup:
    """A system, its inputs at every step and at every record, and a start that goes with them."""

    system: System
    inputs: Inputs
    record_inputs: Inputs
    start: Array


def model_values(values: Mapping[str, float]) -> dict[str, float]:
    """The values that belong to the bodies, springs and rotors of a model."""
    return {
        n: v for n, v in values.items() if not (is_start(n) or is_of_sensor(n) or is_of_setup(n))
    }


def setup_names(model: Model) -> list[str]:
    """Every name of the inputs, the geometry and the surroundings of a model."""
    names = [f"{t.name}.{field}" for t in model.thrusters for field in THRUSTER_FIELDS]
    names += [f"{wrench}.{field}" for wrench in WRENCHES for field in ("gain", "delay")]
    for c in model.assembly.coordinates:
        if c.role in ("motion", "torque"):
            names += [f"{c.name}.{field}" for field in ("zero", "gear", "delay")]
        if c.role == "torque":
            names += [f"{torque_channel(c.name)}.{field}" for field in ("gain", "bias", "delay")]
    names += geometry_names(model)
    names += [f"gravity.{axis}" for axis in AXES]
    return names + [f"drag.{field}" for field in DRAGS]


def nominal_value(model: Model, name: str) -> float:
    """The value of a parameter of the setup, or of a body's scale, as the model has it."""
    parsed = ParameterName.parse(name)
    if parsed.kind == "gravity":
        return model.gravity[AXES.index(parsed.field)]
    if parsed.kind == "drag":
        return model.root.linear_drag if parsed.field == "linear" else model.root.angular_drag
    return NOMINAL.get(parsed.field, 0.0)


def is_jump_delay(source: InputSource, name: str) -> bool:
    """Whether a parameter delays an input that jumps, such as thrust or a digital torque."""
    parsed = ParameterName.parse(name)
    jumping = {*_push_columns(source.model), *source.held}
    return parsed.field == "delay" and parsed.owner in jumping


def setup_size(model: Model, name: str, inputs: Inputs | None = None) -> float:
    """The natural size of a parameter of the setup, in its unit; always positive.

    Drag: what stops the robot in 100 s. The bias of a torque: the torque's root mean square, of
    `inputs` where they are known. The leak of a thruster: its full thrust.
    """
    parsed = ParameterName.parse(name)
    if parsed.kind == "drag":
        whole = mass_properties(model)
        inertia = float(np.trace(whole.inertia)) / 3.0
        stopped = whole.mass if parsed.field == "linear" else inertia
        return stopped / SLOW_STOP
    if parsed.kind == "input" and parsed.field == "bias":
        full = [t.max_force for t in model.thrusters if t.name == parsed.owner]
        if full:
            push = 0.0 if inputs is None else inputs.push[:, :, _push_columns(model)[parsed.owner]]
            return float(np.max(np.abs(push))) or full[0] or 1.0
        names = [torque_channel(c.name) for c in model.assembly.coordinates]
        if inputs is None or parsed.owner not in names:
            return 1.0
        torque = inputs.effort[:, :, names.index(parsed.owner), 0]
        return float(np.sqrt(np.mean(torque**2))) or 1.0
    return SIZES[parsed.field.partition(".")[0] if parsed.kind != "gravity" else "gravity"]


def setup_at(
    system: System, tables: InputTables, start: Array, values: Mapping[str, float]
) -> FlightSetup:
    """What to simulate with at `values`; `system` and `start` are those at the model's own."""
    own = {name: value for name, value in values.items() if is_of_setup(name)}
    refuse_unknown(system.model, own)
    changed = {n: v for n, v in own.items() if v != nominal_value(system.model, n)}
    return _with_inputs(_system_at(system, values, changed), tables, start, changed)


def _with_inputs(
    system: System, tables: InputTables, start: Array, changed: Mapping[str, float]
) -> FlightSetup:
    """The setup with its inputs as `changed` says, and a start that goes with them."""
    named: dict[str, dict[str, float]] = {}
    for name, value in changed.items():
        parsed = ParameterName.parse(name)
        if parsed.kind == "input":
            named.setdefault(parsed.owner, {})[parsed.field] = value
    if not named:
        return FlightSetup(system, tables.steps, tables.records, start)
    inputs = _inputs_at(system, tables, named, is_record=False)
    record_inputs = _inputs_at(system, tables, named, is_record=True)
    start, layout = start.copy(), system.layout
    for m, i in enumerate(system.tree.given):
        start[layout.position_of(i)], start[layout.rate_of(i)] = record_inputs.given[0, 0, m, :2]
    return FlightSetup(system, inputs, record_inputs, start)


def refuse_unknown(model: Model, names: Iterable[str]) -> None:
    """Raise IdentificationError for names of a setup that the model does not have."""
    names = list(names)
    known = setup_names(model) if names else []
    faults = [
        Fault(name, "unknown", "what the model takes as exact", did_you_mean(name, known),
              "name.unknown")
        for name in names
        if name not in known
    ]  # fmt: skip
    if faults:
        raise IdentificationError(f"{model.name!r} has no such parameters", faults)


def _system_at(system: System, values: Mapping[str, float], changed: Mapping[str, float]) -> System:
    """The system with its geometry, surroundings and numbers at `values`."""
    model = with_geometry(system.model, changed)
    if model is not system.model:
        system = flatten(model)
    numbers = model_values(values)
    if numbers:
        system = with_parameter_values(system, numbers)
    outside = [n for n in map(ParameterName.parse, changed) if n.kind in SURROUNDINGS]
    if not outside:
        return system
    field = system.tree.field.copy()
    for name in outside:
        at = GRAVITY + AXES.index(name.field) if name.kind == "gravity" else DRAGS[name.field]
        field[at] = changed[str(name)]
    field[HAS_GRAVITY] = float(np.any(field[: GRADIENT + 1] != 0.0))
    return replace(system, tree=system.tree._replace(field=field))


def _inputs_at(
    system: System,
    tables: InputTables,
    named: Mapping[str, Mapping[str, float]],
    *,
    is_record: bool,
) -> Inputs:
    """The inputs with the gains, biases and delays of their owners."""
    nominal = tables.ahead(0.0, "", is_record=is_record)
    changed = {"given": nominal.given.copy(), "effort": nominal.effort.copy(),
               "push": nominal.push.copy()}  # fmt: skip
    for owner, own in named.items():
        columns = input_columns(system, tables, owner, own, is_record=is_record)
        for (part, column), table in columns.items():
            if len(table) > len(changed[part]):  # one row holds for every step
                changed[part] = np.repeat(changed[part], len(table), axis=0)
            view = changed[part][:, :, column]
            (view[..., 0] if part == "effort" else view)[:] = table
    return Inputs(**changed, gains=nominal.gains)


def input_columns(
    system: System,
    tables: InputTables,
    owner: str,
    own: Mapping[str, float],
    *,
    is_record: bool,
) -> dict[tuple[str, int], Array]:
    """The columns of the inputs that belong to an owner, with its gain, bias, ... in `own`.

    By table and place in it: given (rows, 3, 3), effort and push (rows, 3).
    """
    found: dict[tuple[str, int], Array] = {}
    for m, i in enumerate(system.tree.given):
        if system.coordinates[i] == owner:
            late, gear = own.get("delay", 0.0), own.get("gear", 1.0)
            table = tables.ahead(late, owner, is_record=is_record).given[:, :, m] / gear
            # an encoder is set where its joint is at home
            home = system.model.assembly.coordinates[i].home
            table[:, :, 0] += home - (home + own.get("zero", 0.0)) / gear
            found["given", m] = table
    late, gain = -own.get("delay", 0.0), own.get("gain", 1.0)
    for c, coordinate in enumerate(system.model.assembly.coordinates):
        if torque_channel(coordinate.name) == owner and coordinate.role == "torque":
            effort = tables.ahead(late, owner, is_record=is_record).effort
            found["effort", c] = gain * effort[:, :, c, 0] + own.get("bias", 0.0)
    columns = _push_columns(system.model).get(owner, slice(0, 0))
    if "fade" in own:
        times = tables.grid.instants if is_record else tables.grid.stages
        gain = gain + own["fade"] * (times - tables.grid.first)
    for k in range(columns.start, columns.stop):
        push = tables.ahead(late, owner, is_record=is_record).push[:, :, k]
        found["push", k] = gain * push + own.get("bias", 0.0)
    return found


def _push_columns(model: Model) -> dict[str, slice]:
    """Where in the table of forces a thruster or a wrench on the root is."""
    n = len(model.thrusters)
    found = {thruster.name: slice(k, k + 1) for k, thruster in enumerate(model.thrusters)}
    firsts = [WRENCH.index(f"{name.removeprefix('base.')}.x") for name in WRENCHES]
    return found | {
        name: slice(n + first, n + first + 3) for name, first in zip(WRENCHES, firsts, strict=True)
    }
