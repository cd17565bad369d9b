"""How `freefloat check` shows a model on a terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import (
    facts,
    indent,
    item,
    name_list,
    number,
    section,
    table,
    vector,
)
from freefloat.errors import shorten
from freefloat.model.checks import sensor_targets
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.cli.check import ModelCheck
    from freefloat.dynamics.modes import Mode
    from freefloat.model import Joint, Model, Sensor
    from freefloat.observability.visibility import ParameterVisibility, Visibility

UNITS = {
    "encoder": "rad", "joint_rate": "rad/s", "joint_torque": "N m", "motor_encoder": "rad",
    "motor_rate": "rad/s", "motor_torque": "N m", "gyro": "rad/s", "attitude": "rad",
    "position": "m", "velocity": "m/s", "accelerometer": "m/s^2", "wheel_speed": "rad/s",
    "wheel_torque": "N m", "thruster": "N",
}  # fmt: skip
STYLES = {"seen": "green", "weak": "yellow", "only in combination": "red", "invisible": "red"}
MOST_MOVING = 3  # format: coordinates named for each mode
DEEPEST = 12  # format: levels of the tree drawn in full; beyond, lines to the left are left out
MOST_LINES = 12  # format: combinations shown, and trades


def structure(model: Model) -> Iterator[RenderableType]:
    """What the model is, and its tree; this takes no time, so it can be shown first."""
    yield Text.assemble((model.name, "bold"), f" · {model.root.type} root {model.root.body}")
    for line in model.description.strip().splitlines():
        yield indent(Text(shorten(line, 200), style="dim"))
    rows = [(b.lines + b.body, number(b.mass), b.joint, b.type, b.role) for b in branches(model)]
    head = ("body", "mass [kg]", "carried by", "type", "role")
    yield from section("Structure", table(head, rows, align="Lrlll"))


def overview(checked: ModelCheck) -> Iterator[RenderableType]:
    """The other sections one below the other, the verdict last."""
    model = checked.model
    yield from section("Mass properties at home, in root axes", facts(_mass(checked)))
    if checked.modes:
        head = ("frequency [Hz]", "period [s]", "damping ratio", "moving (largest is 1)")
        rows = [_mode(mode) for mode in checked.modes]
        yield from section("Modes at home, driven joints held", table(head, rows, align="Rrrl"))
    if model.wheels or model.thrusters:
        yield from section("Actuators beyond the joints", facts(_actuators(model)))
    if model.frames:
        head = ("frame", "on", "position [m]", "roll, pitch, yaw [rad]")
        rows = [
            (f.name, f.body, vector(f.placement.xyz), vector(f.placement.rpy)) for f in model.frames
        ]
        yield from section("Frames", table(head, rows, align="Llrr"))
    if model.sensors:
        head = ("sensor", "on", "rate [Hz]", "noise", "unit", "also")
        rows = [_sensor(model, sensor) for sensor in model.sensors]
        yield from section("Sensors", table(head, rows, align="Llrrll"))
    yield from _limits(model)
    if checked.notes:
        yield from section("Notes", *(item(note) for note in checked.notes))
    yield from _verdict(checked)


def _mass(checked: ModelCheck) -> Iterator[tuple[str, str]]:
    mass = checked.mass
    yield "total mass", f"{mass.mass:.6g} kg"
    if checked.model.root.type == "planar":  # nothing else matters in the plane
        yield (
            "centre of mass",
            f"{vector(mass.com[:2])} m from the origin of {checked.model.root.body}",
        )
        yield "inertia about it", f"zz {mass.inertia[2, 2]:.4g} kg m^2"
        return
    yield "centre of mass", f"{vector(mass.com)} m from the origin of {checked.model.root.body}"
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
        parts.append(table(head, rows, align="Lrrrrrrr"))
        parts.append(Text("  rad, s, N m; m and N for prismatic joints", style="dim"))
    yield from section("Limits", *parts)


def _verdict(checked: ModelCheck) -> Iterator[RenderableType]:
    yield ""
    if checked.faults:
        yield Text(f"{checked.model.name} cannot fly:", style="bold red")
        yield from (item(fault) for fault in checked.faults)
        return
    model = checked.model
    moving = sum(joint.type != "fixed" for joint in model.joints)
    parts = [_bodies(branches(model)), count_noun(moving, "moving joint")]
    parts += [count_noun(len(checked.modes), "mode"), count_noun(len(model.sensors), "sensor")]
    yield Text(f"{model.name} holds together: {', '.join(parts)}.", style="bold green")


def _bodies(drawn: list[Branch]) -> str:
    """How many bodies there are, as in the structure above, and which of them are special."""
    kinds = {
        "fuel": sum(branch.type == "pendulum" for branch in drawn),
        "grasped": sum(branch.type == "grasped" for branch in drawn),
        "massless": sum(branch.mass == 0.0 for branch in drawn),
    }
    special = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return count_noun(len(drawn), "body", "bodies") + (f" ({special})" if special else "")


def visibility_overview(model: Model, seen: Visibility) -> Iterator[RenderableType]:
    """The table of parameters, then their combinations, then the verdict."""
    yield Text.assemble((model.name, "bold"), " · what the flight would show")
    yield ""
    head = ("parameter", "unit", "value", "expected std", "status")
    yield table(head, map(_parameter, seen.parameters), align="Llrrl")
    sums = [f"{one.words}, ± {one.std:.2g}" for one in seen.combinations]
    yield from _list("Observable in combination", sums)
    yield from _list("Not distinguishable (changes that cancel)", seen.trades)
    yield from _list("Notes", seen.notes)
    yield ""
    yield Text(
        f"{len(seen.names('seen'))} of {count_noun(len(seen.parameters), 'parameter')} seen;"
        f" rank of the information matrix {seen.rank}.",
        style="bold",
    )
    if seen.scale is not None:
        style = "green" if seen.scale.is_fixed else "yellow"
        yield Text(f"Scale of masses and forces {seen.scale.words}.", style=style)


def _parameter(one: ParameterVisibility) -> tuple[str | Text, ...]:
    std = number(float(f"{one.std:.2g}")) if isfinite(one.std) else "–"
    return one.name, one.unit, number(one.value), std, Text(one.status, style=STYLES[one.status])


def _list(title: str, lines: Sequence[str]) -> Iterator[RenderableType]:
    if not lines:
        return
    yield from section(title, *map(item, lines[:MOST_LINES]))
    if len(lines) > MOST_LINES:
        yield item(f"and {len(lines) - MOST_LINES} more (--json has all)")


# -- the tree of bodies, drawn ---------------------------------------------------------------------


@dataclass(frozen=True)
class Branch:
    """A body in the tree: how deep it sits, and the joint that carries it."""

    body: str
    mass: float
    parent: str | None
    joint: str
    type: str
    role: str
    lines: str = ""


def branches(model: Model) -> list[Branch]:
    """Every body, fuel and grasped targets included, parents before children, lines drawn.

    >>> from freefloat.model import load_model
    >>> [branch.lines + branch.body for branch in branches(load_model("cepheus"))]
    ['bus', '└ link_1', '  └ link_2']
    """
    below = _below(model)
    root = model.body(model.root.body)
    drawn: list[Branch] = []
    first = Branch(root.name, root.mass, None, "", model.root.type, "")
    waiting: list[tuple[Branch, str]] = [(first, "")]
    while waiting:  # not by recursion: a chain may have a thousand links
        branch, margin = waiting.pop()
        drawn.append(branch)
        children = below[branch.body]
        for n, child in reversed(list(enumerate(children))):
            is_last = n == len(children) - 1
            lines = margin + ("└ " if is_last else "├ ")
            inner = margin + ("  " if is_last else "│ ")
            waiting.append((_with_lines(child, lines), inner))
    return drawn


def _below(model: Model) -> dict[str, list[Branch]]:
    below: dict[str, list[Branch]] = defaultdict(list)
    for joint in model.joints:
        mass = model.body(joint.child).mass
        role = "" if joint.type == "fixed" else _role(joint)
        below[joint.parent].append(
            Branch(joint.child, mass, joint.parent, joint.name, joint.type, role)
        )
    for target in model.targets:
        below[target.on].append(Branch(target.name, target.body.mass, target.on, "", "grasped", ""))
    for tank in model.tanks:
        joints = f"{tank.name}_1, {tank.name}_2"
        below[tank.body].append(
            Branch(tank.name, tank.mass, tank.body, joints, "pendulum", "passive")
        )
    return below


def _role(joint: Joint) -> str:
    return joint.role if joint.drive is None else f"drive, {joint.drive.role}"


def _with_lines(branch: Branch, lines: str) -> Branch:
    shown = lines if len(lines) <= 2 * DEEPEST else "… " + lines[-2 * DEEPEST + 2 :]
    return replace(branch, lines=shown)
