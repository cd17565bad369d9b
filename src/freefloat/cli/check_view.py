"""How `freefloat check` shows a model on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.check_tree import Branch, branches
from freefloat.cli.screen import (
    counted,
    facts,
    heading,
    indented,
    named,
    number,
    table,
    vector,
)
from freefloat.errors import shortened
from freefloat.model.checks import sensor_targets

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.cli.check import Checked
    from freefloat.dynamics.modes import Mode
    from freefloat.model import Model, Sensor

UNITS = {
    "encoder": "rad", "joint_rate": "rad/s", "joint_torque": "N m", "motor_encoder": "rad",
    "motor_rate": "rad/s", "motor_torque": "N m", "gyro": "rad/s", "attitude": "rad",
    "position": "m", "velocity": "m/s", "accelerometer": "m/s^2", "wheel_speed": "rad/s",
    "wheel_torque": "N m", "thruster": "N",
}  # fmt: skip
MOST_MOVING = 3  # coordinates named for each mode


def structure(model: Model) -> Iterator[RenderableType]:
    """What the model is, and its tree; this takes no time, so it can be shown first."""
    yield Text.assemble((model.name, "bold"), f" · {model.root.type} root {model.root.body}")
    for line in model.description.strip().splitlines():
        yield indented(Text(shortened(line, 200), style="dim"))
    rows = [(b.lines + b.body, number(b.mass), b.joint, b.type, b.role) for b in branches(model)]
    head = ("body", "mass [kg]", "carried by ", "type ", "role ")
    yield from _section("Structure", table(head, rows))


def overview(found: Checked) -> Iterator[RenderableType]:
    """The other sections one below the other, the verdict last."""
    model = found.model
    yield from _section("Mass properties at home, in root axes", facts(_mass(found)))
    if found.modes:
        head = ("frequency [Hz]", "period [s]", "damping ratio", "moving (largest is 1) ")
        yield from _section(
            "Modes at home, driven joints held",
            table(head, map(_mode, found.modes), left=0),
        )
    if model.wheels or model.thrusters:
        yield from _section("Actuators beyond the joints", facts(_actuators(model)))
    if model.frames:
        head = ("frame", "on ", "position [m]", "roll, pitch, yaw [rad]")
        rows = [
            (f.name, f.body, vector(f.placement.xyz), vector(f.placement.rpy)) for f in model.frames
        ]
        yield from _section("Frames", table(head, rows))
    if model.sensors:
        head = ("sensor", "on ", "rate [Hz]", "noise", "unit ", "also ")
        rows = [_sensor(model, sensor) for sensor in model.sensors]
        yield from _section("Sensors", table(head, rows))
    yield from _limits(model)
    if found.notes:
        yield from _section("Notes", *(_item(note) for note in found.notes))
    yield from _verdict(found)


def _section(title: str, *parts: RenderableType) -> Iterator[RenderableType]:
    yield ""
    yield heading(title)
    yield from parts


def _item(text: str) -> RenderableType:
    return facts([("·", shortened(text, 400))])


def _mass(found: Checked) -> Iterator[tuple[str, str]]:
    mass = found.mass
    yield "total mass", f"{mass.mass:.6g} kg"
    if found.model.root.type == "planar":  # nothing else matters in the plane
        yield (
            "centre of mass",
            f"{vector(mass.com[:2])} m from the origin of {found.model.root.body}",
        )
        yield "inertia about it", f"zz {mass.inertia[2, 2]:.4g} kg m^2"
        return
    yield "centre of mass", f"{vector(mass.com)} m from the origin of {found.model.root.body}"
    xx, xy, xz = mass.inertia[0]
    yy, yz, zz = mass.inertia[1, 1], mass.inertia[1, 2], mass.inertia[2, 2]
    yield "inertia about it", f"xx {xx:.4g}  yy {yy:.4g}  zz {zz:.4g} kg m^2"
    yield "", f"xy {xy:.4g}  xz {xz:.4g}  yz {yz:.4g} kg m^2"
    yield "principal moments", f"{vector(mass.principal)} kg m^2"


def _mode(mode: Mode) -> tuple[str, ...]:
    largest = sorted(mode.shape.items(), key=lambda item: -abs(item[1]))[:MOST_MOVING]
    moving = ", ".join(f"{name} {value:+.2f}" for name, value in largest if abs(value) > 0.05)
    period = 1.0 / mode.frequency
    return f"{mode.frequency:.4f}", f"{period:.3g}", f"{mode.damping:.4f}", moving


def _actuators(model: Model) -> Iterator[tuple[str, str]]:
    wheels: dict[tuple, list[str]] = {}
    for wheel in model.wheels:
        key = (wheel.body, wheel.inertia, wheel.max_speed, wheel.max_torque, wheel.role)
        wheels.setdefault(key, []).append(wheel.name)
    for (body, inertia, speed, torque, role), names in wheels.items():
        bounds = _bounds((speed, "rad/s"), (torque, "N m"))
        yield "wheels", f"{named(names)} on {body}: {inertia:g} kg m^2, {role}{bounds}"
    turning = [f"{wheel.name} {wheel.speed:g}" for wheel in model.wheels if wheel.speed]
    if turning:
        yield "", f"at the start {named(turning)} rad/s"
    thrusters: dict[tuple, list[str]] = {}
    for thruster in model.thrusters:
        thrusters.setdefault((thruster.body, thruster.max_force), []).append(thruster.name)
    for (body, force), names in thrusters.items():
        yield "thrusters", f"{named(names)} on {body}{_bounds((force, 'N'))}"


def _bounds(*limits: tuple[float | None, str]) -> str:
    given = [f"{value:g} {unit}" for value, unit in limits if value is not None]
    return ", up to " + " and ".join(given) if given else ""


def _sensor(model: Model, sensor: Sensor) -> tuple[str, ...]:
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
    return sensor.kind, on, f"{sensor.rate:g}", noise, UNITS[sensor.kind], ", ".join(also)


def _limits(model: Model) -> Iterator[RenderableType]:
    rows = []
    for joint in model.joints:
        limits = joint.limits
        values = (limits.lower, limits.upper, limits.velocity, limits.acceleration)
        if any(value is not None for value in (*values, limits.jerk, limits.effort)):
            more = (limits.jerk, limits.effort)
            rows.append((joint.name, *map(number, (joint.home, *values, *more))))
    whole = model.limits
    pairs = [
        ("base attitude", whole.base_attitude, "rad from the start"),
        ("base rate", whole.base_rate, "rad/s from the start"),
        ("wheel momentum", whole.wheel_momentum, "N m s each"),
        ("thruster impulse", whole.thruster_impulse, "N s in all"),
    ]
    given = [(name, f"{value:g} {unit}") for name, value, unit in pairs if value is not None]
    if not rows and not given:
        return
    parts: list[RenderableType] = [facts(given)] if given else []
    if rows:
        head = ("joint", "home", "lower", "upper", "velocity", "accel.", "jerk", "effort")
        parts.append(table(head, rows))
        parts.append(Text("  rad, s, N m; m and N for prismatic joints", style="dim"))
    yield from _section("Limits", *parts)


def _verdict(found: Checked) -> Iterator[RenderableType]:
    yield ""
    if found.faults:
        yield Text(f"{found.model.name} cannot fly:", style="bold red")
        yield from (_item(fault) for fault in found.faults)
        return
    model = found.model
    moving = sum(joint.type != "fixed" for joint in model.joints)
    parts = [_bodies(branches(model)), counted(moving, "moving joint")]
    parts += [counted(len(found.modes), "mode"), counted(len(model.sensors), "sensor")]
    yield Text(f"{model.name} holds together: {', '.join(parts)}.", style="bold green")


def _bodies(drawn: list[Branch]) -> str:
    """How many bodies there are, as in the structure above, and which of them are special."""
    kinds = {
        "fuel": sum(branch.type == "pendulum" for branch in drawn),
        "grasped": sum(branch.type == "grasped" for branch in drawn),
        "massless": sum(branch.mass == 0.0 for branch in drawn),
    }
    special = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return counted(len(drawn), "body") + (f" ({special})" if special else "")
