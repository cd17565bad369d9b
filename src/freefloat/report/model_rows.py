"""Rows of text about a model: its bodies, mass, modes, drives, sensors, limits, what is seen.

The command and the studio show the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from freefloat.digits import DASH, short_number, vector_text
from freefloat.model.checks import sensor_targets
from freefloat.text import name_list

if TYPE_CHECKING:
    from freefloat.dynamics.model_check import ModelCheck
    from freefloat.dynamics.modes import Mode
    from freefloat.model.body_tree import Branch
    from freefloat.model.model import Model
    from freefloat.model.parts import Sensor
    from freefloat.observability.visibility import ParameterVisibility

TREE_HEAD = ("body", "mass [kg]", "carried by", "type", "role")
MODE_HEAD = ("frequency [Hz]", "period [s]", "damping ratio", "moving (largest is 1)")
SENSOR_HEAD = ("sensor", "on", "rate [Hz]", "noise", "unit", "also")
LIMIT_HEAD = ("joint", "home", "lower", "upper", "velocity", "accel.", "jerk", "effort")
VISIBILITY_HEAD = ("parameter", "unit", "value", "expected std", "status")
READING_UNITS = {
    "encoder": "rad", "joint_rate": "rad/s", "joint_torque": "N m", "motor_encoder": "rad",
    "motor_rate": "rad/s", "motor_torque": "N m", "gyro": "rad/s", "attitude": "rad",
    "position": "m", "velocity": "m/s", "accelerometer": "m/s^2", "wheel_speed": "rad/s",
    "wheel_torque": "N m", "thruster": "N",
}  # fmt: skip
MOST_MOVING = 3  # format: coordinates named for each mode


def mass_facts(checked: ModelCheck) -> Iterator[tuple[str, str]]:
    """Mass, centre of mass and inertia of everything, joints at home."""
    mass = checked.mass
    yield "total mass", f"{mass.mass:.6g} kg"
    if checked.model.root.type == "planar":  # nothing else matters in the plane
        yield (
            "centre of mass",
            f"{vector_text(mass.com[:2])} m from the origin of {checked.model.root.body}",
        )
        yield "inertia about it", f"zz {mass.inertia[2, 2]:.4g} kg m^2"
        return
    origin = f"m from the origin of {checked.model.root.body}"
    yield "centre of mass", f"{vector_text(mass.com)} {origin}"
    xx, xy, xz = mass.inertia[0]
    yy, yz, zz = mass.inertia[1, 1], mass.inertia[1, 2], mass.inertia[2, 2]
    yield "inertia about it", f"xx {xx:.4g}  yy {yy:.4g}  zz {zz:.4g} kg m^2"
    yield "", f"xy {xy:.4g}  xz {xz:.4g}  yz {yz:.4g} kg m^2"
    yield "principal moments", f"{vector_text(mass.principal)} kg m^2"


def mode_row(mode: Mode) -> tuple[str, ...]:
    """A mode by `MODE_HEAD`."""
    largest = sorted(mode.shape.items(), key=lambda item: -abs(item[1]))[:MOST_MOVING]
    moving = ", ".join(f"{name} {value:+.2f}" for name, value in largest if abs(value) > 0.05)
    period = 1.0 / mode.frequency
    return f"{mode.frequency:.4f}", f"{period:.3g}", f"{mode.damping:.4f}", moving


def actuator_facts(model: Model) -> Iterator[tuple[str, str]]:
    """Wheels and thrusters, those alike together."""
    wheels: dict[tuple, list[str]] = {}
    for wheel in model.wheels:
        key = (wheel.body, wheel.inertia, wheel.max_speed, wheel.max_torque, wheel.role)
        wheels.setdefault(key, []).append(wheel.name)
    for (body, inertia, speed, torque, role), names in wheels.items():
        bounds = _bounds((speed, "rad/s"), (torque, "N m"))
        yield "wheels", f"{name_list(names)} on {body}: {inertia:g} kg m^2, {role}{bounds}"
    turning = [f"{wheel.name} {wheel.speed:g}" for wheel in model.wheels if wheel.speed]
    if turning:
        yield "", f"at the start {name_list(turning)} rad/s"
    thrusters: dict[tuple, list[str]] = {}
    for thruster in model.thrusters:
        thrusters.setdefault((thruster.body, thruster.max_force), []).append(thruster.name)
    for (body, force), names in thrusters.items():
        yield "thrusters", f"{name_list(names)} on {body}{_bounds((force, 'N'))}"


def _bounds(*limits: tuple[float | None, str]) -> str:
    given = [f"{value:g} {unit}" for value, unit in limits if value is not None]
    return ", up to " + " and ".join(given) if given else ""


def sensor_row(model: Model, sensor: Sensor) -> tuple[str, ...]:
    """A sensor by `SENSOR_HEAD`."""
    also = []
    if sensor.bias:
        also.append("bias")
    if sensor.quantisation:
        also.append(f"steps of {sensor.quantisation:.3g}")
    if sensor.delay:
        also.append(f"{sensor.delay:g} s late")
    if sensor.dropout:
        also.append(f"{100 * sensor.dropout:g} % lost")
    if sensor.saturation is not None:
        also.append(f"clips at {sensor.saturation:g}")
    if sensor.coloured is not None:
        also.append(f"coloured {sensor.coloured.sigma:.3g} over {sensor.coloured.time:g} s")
    noise = f"{sensor.noise:.3g}" if sensor.noise else "–"
    read = sensor_targets(model, sensor)
    on = f"{read[0]} … {read[-1]} ({len(read)})" if len(read) > 2 else ", ".join(read)
    on = on if sensor.channel is None else f"{on} as {sensor.channel}"
    return sensor.kind, on, f"{sensor.rate:g}", noise, READING_UNITS[sensor.kind], ", ".join(also)


def branch_row(branch: Branch) -> tuple[str, ...]:
    """A body by `TREE_HEAD`."""
    mass = short_number(branch.mass)
    return branch.lines + branch.body, mass, branch.joint, branch.type, branch.role


def limit_rows(model: Model) -> list[tuple[str, ...]]:
    """Joints that have limits, by `LIMIT_HEAD`: rad, s, N m; m and N for prismatic ones."""
    rows = []
    for joint in model.joints:
        limits = joint.limits
        values = (limits.lower, limits.upper, limits.velocity, limits.acceleration)
        if any(value is not None for value in (*values, limits.jerk, limits.effort)):
            more = (limits.jerk, limits.effort)
            rows.append((joint.name, *map(short_number, (joint.home, *values, *more))))
    return rows


def limit_facts(model: Model) -> list[tuple[str, str]]:
    """The limits of the whole."""
    whole = model.limits
    pairs = [
        ("base attitude", whole.base_attitude, "rad from the start"),
        ("base rate", whole.base_rate, "rad/s from the start"),
        ("wheel momentum", whole.wheel_momentum, "N m s each"),
        ("thruster impulse", whole.thruster_impulse, "N s in all"),
    ]
    return [(name, f"{value:g} {unit}") for name, value, unit in pairs if value is not None]


def visibility_row(one: ParameterVisibility) -> tuple[str, ...]:
    """A parameter by `VISIBILITY_HEAD`."""
    std = short_number(float(f"{one.std:.2g}")) if isfinite(one.std) else DASH
    return one.name, one.unit, short_number(one.value), std, one.status
