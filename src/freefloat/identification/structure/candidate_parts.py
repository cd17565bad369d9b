"""Parts a model may have or not: what each brings, and the model and recording without it.

Some parts change what can move (a hinge, a tank, a flexible drive), some only act (an orbit, a
wheel), and some are one number that may be nought (friction, damping, drag).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.model.assembly import Spring, rigid
from freefloat.model.checks import sensor_targets
from freefloat.model.model import Model
from freefloat.model.parts import Sensor, SensorKind
from freefloat.model.uncertainty import without_idle_uncertainty
from freefloat.parameters.parameters import unit_of
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry.telemetry import Telemetry

AT_JOINT: dict[str, SensorKind | None] = {
    "motor_encoder": "encoder", "motor_rate": "joint_rate", "motor_torque": None,
}  # fmt: skip
NUMBERS = ("friction", "damping", "drag")  # effects whose parts are a number each, never negative


def _same_flight(flight: Telemetry) -> Telemetry:
    return flight


def _same_plan(plan: Plan) -> Plan:
    return plan


@dataclass(frozen=True)
class Part:
    """One part of a model that may be there or not.

    parameters: freed where it is there; coordinates: those it lets move; remove: the model without
    it; record_without and plan_without: telemetry and plan as that model takes them. size and unit:
    of its one number as the model has it, or 1 of what the model says.
    """

    name: str
    effect: str
    parameters: tuple[str, ...]
    remove: Callable[[Model], Model]
    coordinates: tuple[str, ...] = ()
    record_without: Callable[[Telemetry], Telemetry] = _same_flight
    plan_without: Callable[[Plan], Plan] = _same_plan
    size: float = 1.0
    unit: str = "1"

    @property
    def is_number(self) -> bool:
        """Whether it is a number that is nought where the part is absent."""
        return self.effect in NUMBERS


def parts_of(model: Model, effects: Sequence[str] | None = None) -> tuple[Part, ...]:
    """The parts of the named effects; of all that the model can have where none are named.

    Drag is not looked for in space unless it is named or the model has some.

    >>> from freefloat.model import load_model
    >>> [part.name for part in parts_of(load_model("servicer-slosh"))]
    ['tank']
    >>> [part.name for part in parts_of(load_model("planar-capture"), ["drag"])]
    ['drag.linear', 'drag.angular']
    """
    unknown = [name for name in effects or () if name not in EFFECTS]
    if unknown:
        raise IdentificationError(
            f"there is no effect called {unknown[0]!r}; there are: {', '.join(EFFECTS)}",
            code="name.unknown",
        )
    found = {name: tuple(EFFECTS[name](model)) for name in effects or EFFECTS}
    missing = [name for name, parts in found.items() if effects and not parts]
    if missing:
        raise IdentificationError(
            f"{model.name!r} has no {missing[0]}; drop it from the effects", code="effect.absent"
        )
    if effects is None and not _has_drag(model):
        found["drag"] = ()
    return tuple(part for name in EFFECTS for part in found.get(name, ()))


def without_parts(model: Model, parts: Sequence[Part]) -> Model:
    """The model without these parts.

    >>> import freefloat as ff
    >>> wings = ff.load_model("servicer-wings")
    >>> len(ff.modes(without_parts(wings, parts_of(wings, ["wings"]))))
    0
    """
    for part in parts:
        model = part.remove(model)
    return without_idle_uncertainty(model) if parts else model


def _has_drag(model: Model) -> bool:
    root = model.root
    return root.type == "planar" or root.linear_drag > 0.0 or root.angular_drag > 0.0


def _hinges(model: Model) -> Iterator[Part]:
    for joint in model.joints:
        if joint.role == "passive" and joint.drive is None and joint.stiffness > 0.0:
            name = joint.name
            yield Part(
                name, "wings", (f"{name}.stiffness", f"{name}.damping"),
                lambda model, name=name: model.with_joint(name, role="locked"), (name,),
            )  # fmt: skip


def _tanks(model: Model) -> Iterator[Part]:
    for tank in model.tanks:
        name = tank.name

        def remove(model: Model, name: str = name) -> Model:
            own = tuple(t for t in model.tanks if t.name == name)
            kept = tuple(t for t in model.tanks if t.name != name)
            frozen = rigid(replace(model, tanks=own))
            held = frozen.joints[len(model.joints) :]
            return replace(model, bodies=frozen.bodies, joints=model.joints + held, tanks=kept)

        swings = (f"{name}_1", f"{name}_2")
        springs = [f"{swing}.{field}" for swing in swings for field in ("stiffness", "damping")]
        parameters = (f"{name}.mass", f"{name}.length", *springs)
        yield Part(name, "slosh", parameters, remove, swings)


def _drives(model: Model) -> Iterator[Part]:
    for joint in model.joints:
        if joint.drive is None:
            continue
        name = joint.name

        def remove(model: Model, name: str = name) -> Model:
            sensors = tuple(_without_motor(model, name))
            stiff = model.with_joint(name, role="motion", drive=None)
            return replace(stiff, sensors=sensors)

        def record_without(flight: Telemetry, name: str = name) -> Telemetry:
            names = {
                f"{name}.motor_{field}": f"{name}.{field}"
                for field in ("position", "velocity")
                if f"{name}.motor_{field}" in flight and f"{name}.{field}" not in flight
            }
            return flight.with_truth(None).rename(names) if names else flight

        def plan_without(plan: Plan, name: str = name) -> Plan:
            motor = f"{name}.motor"
            motions = {name if n == motor else n: motion for n, motion in plan.motions.items()}
            tables = ("coordinates", "speeds")
            start = replace(plan.start, **{
                table: {n: v for n, v in getattr(plan.start, table).items()
                        if n not in (name, motor)}
                for table in tables
            })  # fmt: skip
            return replace(plan, motions=motions, start=start)

        parameters = (f"{name}.drive.stiffness", f"{name}.drive.damping")
        yield Part(
            f"{name}.drive", "flexible joint", parameters, remove, (name,), record_without,
            plan_without,
        )  # fmt: skip


def _without_motor(model: Model, joint: str) -> Iterator[Sensor]:
    """The sensors; those of a motor read its joint, unless that has some of its own."""
    for sensor in model.sensors:
        targets = sensor_targets(model, sensor)
        if sensor.kind not in AT_JOINT or joint not in targets:
            yield sensor
            continue
        if len(targets) > 1:
            yield sensor
        kind = AT_JOINT[sensor.kind]
        own = (s for s in model.sensors if s.kind == kind and joint in sensor_targets(model, s))
        if kind is not None and next(own, None) is None:
            yield replace(sensor, kind=kind, on=joint)


def _wheels(model: Model) -> Iterator[Part]:
    for wheel in model.wheels:
        name = wheel.name

        def remove(model: Model, name: str = name) -> Model:
            still = tuple(replace(w, speed=0.0) if w.name == name else w for w in model.wheels)
            return replace(model, wheels=still)

        def record_without(flight: Telemetry, name: str = name) -> Telemetry:
            dropped = [n for n in flight.names if n.split(".")[0] == name]
            return flight.without(dropped) if dropped else flight

        def plan_without(plan: Plan, name: str = name) -> Plan:
            speeds = {n: speed for n, speed in plan.start.speeds.items() if n != name}
            motions = {n: motion for n, motion in plan.motions.items() if n != name}
            return replace(plan, motions=motions, start=replace(plan.start, speeds=speeds))

        yield Part(name, "wheels", (), remove, (), record_without, plan_without)


def _gradient(model: Model) -> Iterator[Part]:
    if model.orbit is not None:
        yield Part("orbit", "gravity gradient", (), lambda model: replace(model, orbit=None))


def _of_springs(model: Model, field: str) -> Iterator[Part]:
    """A number of every spring on a coordinate that is not prescribed."""
    known = {joint.name for joint in model.joints}
    roles = {c.name: c.role for c in model.assembly.coordinates}
    for spring in model.assembly.springs:
        owner = spring.owner.removesuffix(".drive")
        held = all(roles.get(end, "motion") in ("motion", "locked") for end in _ends(spring))
        if owner not in known or held:
            continue
        if field == "damping" and spring.stiffness > 0.0:
            continue  # the damping of a spring belongs to what the spring makes
        name = f"{spring.owner}.{field}"

        def remove(model: Model, name: str = name, owner: str = spring.owner) -> Model:
            there = any(s.owner == owner for s in model.assembly.springs)
            return with_parameters(model, {name: 0.0}) if there else model

        size = getattr(spring, field)
        yield Part(name, field, (name,), remove, size=size, unit=unit_of(name, model))


def _ends(spring: Spring) -> tuple[str, ...]:
    return (spring.coordinate,) if spring.other is None else (spring.coordinate, spring.other)


def _friction(model: Model) -> Iterator[Part]:
    return _of_springs(model, "friction")


def _damping(model: Model) -> Iterator[Part]:
    return _of_springs(model, "damping")


def _drag(model: Model) -> Iterator[Part]:
    if model.root.type == "fixed":
        return
    for field in ("linear", "angular"):
        key, name = f"{field}_drag", f"drag.{field}"

        def remove(model: Model, key: str = key) -> Model:
            return replace(model, root=replace(model.root, **{key: 0.0}))

        size = getattr(model.root, key)
        yield Part(name, "drag", (name,), remove, size=size, unit=unit_of(name, model))


EFFECTS: dict[str, Callable[[Model], Iterator[Part]]] = {
    "wings": _hinges,
    "slosh": _tanks,
    "flexible joint": _drives,
    "gravity gradient": _gradient,
    "wheels": _wheels,
    "friction": _friction,
    "damping": _damping,
    "drag": _drag,
}
