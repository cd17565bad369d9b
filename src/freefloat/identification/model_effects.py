"""Effects a model may have or not: what each consists of, and the model without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry.telemetry import Telemetry

Plans = Plan | Sequence[Plan] | None


def _same_flight(flight: Telemetry) -> Telemetry:
    return flight


def _same_plan(plan: Plans) -> Plans:
    return plan


def _same_model(model: Model) -> Model:
    return model


@dataclass(frozen=True)
class Effect:
    """One effect of a model: its parts, the parameters it brings, and the model without it.

    record_without and plan_without: telemetry and plan as the model without the effect takes them;
    start: the model as a search with the effect should begin.
    """

    name: str
    parts: tuple[str, ...]
    parameters: tuple[str, ...]
    remove: Callable[[Model], Model]
    record_without: Callable[[Telemetry], Telemetry] = _same_flight
    plan_without: Callable[[Plans], Plans] = _same_plan
    start: Callable[[Model], Model] = _same_model


def effects_of(model: Model, names: Sequence[str] | None) -> tuple[Effect, ...]:
    """The named effects of a model; all that it has where none are named.

    >>> from freefloat.model import load_model
    >>> [effect.name for effect in effects_of(load_model("servicer"), None)]
    ['wings', 'slosh', 'gravity gradient', 'wheels']
    """
    unknown = [name for name in names or () if name not in EFFECTS]
    if unknown:
        raise IdentificationError(
            f"there is no effect called {unknown[0]!r}; there are: {', '.join(EFFECTS)}",
            code="name.unknown",
        )
    found = [EFFECTS[name](model) for name in EFFECTS if names is None or name in names]
    if names is None:
        found = [e for e in found if e is not None and (e.name != "friction" or _is_rough(model))]
    missing = [n for n, e in zip(names or (), found, strict=False) if e is None]
    if missing:
        raise IdentificationError(
            f"{model.name!r} has no {missing[0]}; drop it from the effects", code="effect.absent"
        )
    return tuple(effect for effect in found if effect is not None)


def _is_rough(model: Model) -> bool:
    return any(spring.friction > 0.0 for spring in model.assembly.springs)


def _wings(model: Model) -> Effect | None:
    hinges = tuple(j.name for j in model.joints
                   if j.role == "passive" and j.drive is None and j.stiffness > 0.0)  # fmt: skip

    def remove(model: Model) -> Model:
        for name in hinges:
            model = model.with_joint(name, role="locked")
        return model

    parameters = tuple(f"{h}.{field}" for h in hinges for field in ("stiffness", "damping"))
    return Effect("wings", hinges, parameters, remove) if hinges else None


def _slosh(model: Model) -> Effect | None:
    tanks = tuple(tank.name for tank in model.tanks)

    def remove(model: Model) -> Model:
        whole = rigid(model)
        held = whole.joints[len(model.joints) :]
        return replace(model, bodies=whole.bodies, joints=model.joints + held, tanks=())

    parameters = tuple(
        name
        for tank in tanks
        for name in (f"{tank}.mass", f"{tank}.length",
                     *(f"{tank}_{k}.{field}" for k in (1, 2) for field in ("stiffness", "damping")))
    )  # fmt: skip
    return Effect("slosh", tanks, parameters, remove) if tanks else None


def _flexible(model: Model) -> Effect | None:
    joints = tuple(j.name for j in model.joints if j.drive is not None)

    def remove(model: Model) -> Model:
        for name in joints:
            model = model.with_joint(name, role="motion", drive=None)
        sensors = tuple(
            replace(s, kind=s.kind.replace("motor_encoder", "encoder"))
            for s in model.sensors if s.kind != "motor_torque"
        )  # fmt: skip
        return replace(model, sensors=sensors)

    def record_without(flight: Telemetry) -> Telemetry:
        names = {
            f"{j}.motor_{field}": f"{j}.{field}"
            for j in joints for field in ("position", "velocity")
            if f"{j}.motor_{field}" in flight and f"{j}.{field}" not in flight
        }  # fmt: skip
        return flight.with_truth(None).rename(names) if names else flight

    def plan_without(plan: Plans) -> Plans:
        if plan is None or not isinstance(plan, Plan):
            return plan if plan is None else [_without_motors(p, joints) for p in plan]
        return _without_motors(plan, joints)

    parameters = tuple(f"{j}.drive.{field}" for j in joints for field in ("stiffness", "damping"))
    if not joints:
        return None
    return Effect("flexible joint", joints, parameters, remove, record_without, plan_without)


def _without_motors(plan: Plan, joints: tuple[str, ...]) -> Plan:
    motions = {name.removesuffix(".motor"): motion for name, motion in plan.motions.items()}
    start = replace(
        plan.start,
        coordinates={n: v for n, v in plan.start.coordinates.items()
                     if n.removesuffix(".motor") not in joints},
        speeds={n: v for n, v in plan.start.speeds.items()
                if n.removesuffix(".motor") not in joints},
    )  # fmt: skip
    return replace(plan, motions=motions, start=start)


def _friction(model: Model, deflection: float = 3e-3) -> Effect | None:
    """Without any yet, a search begins with the torque of the spring at a deflection [rad]."""
    springs = [s for s in model.assembly.springs if s.stiffness > 0.0]
    owners = tuple(dict.fromkeys(s.owner for s in springs))
    stiffness = {s.owner: s.stiffness for s in springs}

    def remove(model: Model) -> Model:
        known = {s.owner for s in model.assembly.springs}
        return with_parameters(model, {f"{o}.friction": 0.0 for o in owners if o in known})

    def start(model: Model) -> Model:
        now = {s.owner: s.friction for s in model.assembly.springs}
        slight = {f"{o}.friction": deflection * stiffness[o] for o in owners if now.get(o) == 0.0}
        return with_parameters(model, slight) if slight else model

    parameters = tuple(f"{o}.friction" for o in owners)
    if not owners:
        return None
    return Effect("friction", owners, parameters, remove, start=start)


def _gradient(model: Model) -> Effect | None:
    def remove(model: Model) -> Model:
        return replace(model, orbit=None)

    return Effect("gravity gradient", ("orbit",), (), remove) if model.orbit else None


def _wheels(model: Model) -> Effect | None:
    wheels = tuple(wheel.name for wheel in model.wheels)

    def remove(model: Model) -> Model:
        still = tuple(replace(wheel, speed=0.0) for wheel in model.wheels)
        return replace(model, wheels=still)

    def record_without(flight: Telemetry) -> Telemetry:
        dropped = [name for name in flight.names if name.split(".")[0] in wheels]
        return flight.without(dropped) if dropped else flight

    def plan_without(plan: Plans) -> Plans:
        if plan is None or not isinstance(plan, Plan):
            return plan if plan is None else [_at_rest(p, wheels) for p in plan]
        return _at_rest(plan, wheels)

    return Effect("wheels", wheels, (), remove, record_without, plan_without) if wheels else None


def _at_rest(plan: Plan, wheels: tuple[str, ...]) -> Plan:
    speeds = {name: speed for name, speed in plan.start.speeds.items() if name not in wheels}
    motions = {name: motion for name, motion in plan.motions.items() if name not in wheels}
    return replace(plan, motions=motions, start=replace(plan.start, speeds=speeds))


EFFECTS: dict[str, Callable[[Model], Effect | None]] = {
    "wings": _wings,
    "slosh": _slosh,
    "flexible joint": _flexible,
    "friction": _friction,
    "gravity gradient": _gradient,
    "wheels": _wheels,
}
