"""Everything a motion may not exceed, by name: of joints, wheels, thrusters, springs and the base.

Names are `part.quantity`: `arm_1.upper`, `arm_1.velocity`, `arm_1.effort`, `hinge_l1.deflection`,
`base.attitude`, `base.rate`, `rw_1.torque`, `thrusters.impulse`, `clearance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from freefloat.errors import ExcitationError, Fault
from freefloat.model.model import Model
from freefloat.model.parts import Joint
from freefloat.text import did_you_mean

SIGNED = ("lower", "upper")


@dataclass(frozen=True)
class Limit:
    """One limit: the part, the quantity, its value in `unit`; infinite where nothing is said."""

    part: str
    quantity: str
    value: float
    unit: str
    is_assumed: bool = False

    @property
    def name(self) -> str:
        """`part.quantity`."""
        return f"{self.part}.{self.quantity}"


def limits_of(
    model: Model,
    given: Mapping[str, float] | None = None,
    *,
    reach: float = 0.5,
    speed: float = 0.2,
) -> dict[str, Limit]:
    """Every limit of a model by name.

    Args:
        model: the model.
        given: limits that replace those of the model, by name or glob, in SI units.
        reach: assumed for a joint without position and velocity limits, from home [rad or m].
        speed: assumed for such a joint [rad/s or m/s].

    Returns:
        The limits; infinite where nothing is said, and marked where they are assumed.

    Raises:
        ExcitationError: a name that fits no limit, or a value that cannot be one.

    >>> from freefloat.model import load_model
    >>> found = limits_of(load_model("cepheus"), {"arm_*.velocity": 0.5})
    >>> found["arm_1.velocity"].value, found["arm_1.acceleration"].value
    (0.5, 2.8)
    """
    found = {limit.name: limit for limit in _model_limits(model, reach, speed)}
    faults = []
    for glob, value in (given or {}).items():
        names = [name for name in found if fnmatchcase(name, glob)]
        if not names:
            expected = f"a limit such as {', '.join(list(found)[:6])}"
            remedy = did_you_mean(glob, found, otherwise="name one")
            faults.append(Fault(glob, f"{value:g}", expected, remedy, "name.unknown"))
        is_signed = glob.rpartition(".")[2] in SIGNED
        if not (np.isfinite(value) and (is_signed or value >= 0.0)):
            fault = Fault(glob, f"{value:g}", "a number >= 0", "drop the sign", "value.range")
            faults.append(fault)
        for name in names:
            found[name] = replace(found[name], value=float(value), is_assumed=False)
    if faults:
        raise ExcitationError("these limits cannot be used:", faults)
    return found


def _model_limits(model: Model, reach: float, speed: float) -> Iterator[Limit]:
    whole = model.limits
    yield Limit("base", "attitude", _or_infinite(whole.base_attitude), "rad")
    yield Limit("base", "rate", _or_infinite(whole.base_rate), "rad/s")
    for joint in model.joints:
        if joint.type != "fixed":
            yield from _joint_limits(joint, reach, speed)
    for tank in model.tanks:
        for axis in (1, 2):
            yield Limit(f"{tank.name}_{axis}", "deflection", np.inf, "rad")
    for wheel in model.wheels:
        yield Limit(wheel.name, "speed", _or_infinite(wheel.max_speed), "rad/s")
        yield Limit(wheel.name, "torque", _or_infinite(wheel.max_torque), "N m")
        yield Limit(wheel.name, "momentum", _or_infinite(whole.wheel_momentum), "N m s")
    for thruster in model.thrusters:
        yield Limit(thruster.name, "force", _or_infinite(thruster.max_force), "N")
    if model.thrusters:
        yield Limit("thrusters", "impulse", _or_infinite(whole.thruster_impulse), "N s")
    if len(model.capsules) > 1:
        yield Limit("capsules", "clearance", 0.0, "m")


def _joint_limits(joint: Joint, reach: float, speed: float) -> Iterator[Limit]:
    unit, force = ("m", "N") if joint.type == "prismatic" else ("rad", "N m")
    own, name = joint.limits, joint.name
    is_driven = joint.role == "motion" or joint.drive is not None
    # Something must bound the motion of a driven joint; either limit of its own does.
    reach = reach if is_driven and own.velocity is None else np.inf
    speed = speed if is_driven and own.lower is None and own.upper is None else np.inf
    lower = own.lower if own.lower is not None else joint.home - reach
    upper = own.upper if own.upper is not None else joint.home + reach
    velocity = own.velocity if own.velocity is not None else speed
    yield Limit(name, "lower", lower, unit, own.lower is None and np.isfinite(reach))
    yield Limit(name, "upper", upper, unit, own.upper is None and np.isfinite(reach))
    is_assumed = own.velocity is None and np.isfinite(speed)
    yield Limit(name, "velocity", velocity, f"{unit}/s", is_assumed)
    yield Limit(name, "acceleration", _or_infinite(own.acceleration), f"{unit}/s^2")
    yield Limit(name, "jerk", _or_infinite(own.jerk), f"{unit}/s^3")
    yield Limit(name, "effort", _or_infinite(own.effort), force)
    if joint.role == "passive" or joint.drive is not None:
        yield Limit(name, "deflection", np.inf, unit)


def _or_infinite(value: float | None) -> float:
    return np.inf if value is None else value
