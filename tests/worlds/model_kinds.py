"""A mechanism or a surrounding that is not as the model has it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation
from worlds.kinds import Change, Kind, unit_vector
from worlds.robots import six, tensor
from worlds.world import Appendage, Slip, World, smooth_step

from freefloat.dynamics.tree import flatten
from freefloat.model.mass_properties import mass_properties
from freefloat.model.parts import Body, Joint, Placement, Thruster, Wheel
from freefloat.parameters.parameters import parameter_values


def one_joint(alter) -> Change:
    """One joint of the arms through alter(joint, size, rng)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        inner = [j for j in world.model.joints if np.linalg.norm(j.placement.xyz) > 0.1]
        old = inner[int(rng.integers(len(inner)))]
        world.part = old.name
        joints = tuple(alter(j, size, rng) if j is old else j for j in world.model.joints)
        world.model = replace(world.model, joints=joints)

    return change


def lengthen(joint: Joint, size: float, rng: np.random.Generator) -> Joint:
    xyz = np.array(joint.placement.xyz)
    xyz = xyz + size * xyz / np.linalg.norm(xyz)
    return replace(joint, placement=Placement(tuple(xyz.tolist()), joint.placement.rpy))


def tilt(joint: Joint, size: float, rng: np.random.Generator) -> Joint:
    across = np.cross(joint.axis, unit_vector(rng))
    turn = Rotation.from_rotvec(size * across / np.linalg.norm(across))
    return replace(joint, axis=tuple(turn.apply(joint.axis).tolist()))


def known_bodies(world: World) -> list[str]:
    """Bodies that the engineer takes as known."""
    return [body.name for body in world.model.bodies if body.name not in world.robot.drawn]


def heavier(world: World, size: float, rng: np.random.Generator) -> None:
    """All known links are heavier than stated, by the same factor."""
    for name in known_bodies(world):
        scale_body(world, name, 1.0 + size)


def one_heavier(world: World, size: float, rng: np.random.Generator) -> None:
    """The heaviest known link is heavier than stated."""
    world.part = max(known_bodies(world), key=lambda name: world.model.body(name).mass)
    scale_body(world, world.part, 1.0 + size)


def lopsided(world: World, size: float, rng: np.random.Generator) -> None:
    """The mass of the last known link is not where it is drawn."""
    world.part = known_bodies(world)[-1]
    body, is_planar = world.model.body(world.part), world.model.root.type == "planar"
    com = np.array(body.com) + size * unit_vector(rng, is_planar)
    world.model = world.model.with_body(replace(body, com=tuple(com.tolist())))


def bulky(world: World, size: float, rng: np.random.Generator) -> None:
    """The heaviest known link has a larger inertia than stated, its mass is right."""
    world.part = max(known_bodies(world), key=lambda name: world.model.body(name).mass)
    body = world.model.body(world.part)
    inertia = tuple((1.0 + size) * i for i in body.inertia)
    world.model = world.model.with_body(replace(body, inertia=inertia))


def each_heavier(world: World, size: float, rng: np.random.Generator) -> None:
    """Every known link is another one than stated, each by its own factor."""
    for name in known_bodies(world):
        scale_body(world, name, 1.0 + size * float(rng.normal()))


def scale_body(world: World, name: str, factor: float) -> None:
    """Mass and inertia of a body by a factor, its centre as it is."""
    body = world.model.body(name)
    inertia = tuple(factor * x for x in body.inertia)
    world.model = world.model.with_body(
        replace(body, mass=factor * body.mass, inertia=inertia)  # type: ignore[arg-type]
    )


def other_wheel(world: World, size: float, rng: np.random.Generator) -> None:
    """Wheels with another spin inertia; the bus keeps its own locked inertia."""
    wheels = tuple(replace(w, inertia=w.inertia * (1.0 + size)) for w in world.model.wheels)
    world.model = replace(world.model, wheels=wheels)


def hidden_wheel(world: World, size: float, rng: np.random.Generator) -> None:
    """A wheel that no model knows keeps `size` of the bus's inertia times 1 rad/s."""
    body = world.model.body(world.model.root.body)
    axis = (0.0, 0.0, 1.0) if world.model.root.type == "planar" else unit_vector(rng)
    inertia = 0.01 * float(np.max(body.inertia))
    wheel = Wheel("hidden", body.name, tuple(float(a) for a in axis), inertia)
    world.model = replace(world.model, wheels=(*world.model.wheels, wheel))
    speed = 100.0 * size
    slowed = 0.5 if world.model.root.type == "planar" else 0.0  # in a plane only changes count
    world.wheels["hidden"] = lambda t: speed * (1.0 - slowed * smooth_step(t / world.duration))


def drag(world: World, size: float, rng: np.random.Generator) -> None:
    """The bus is braked: it would lose a share `size` of its motion per 100 s."""
    whole = mass_properties(world.model)
    world.linear_drag = size * whole.mass / 100.0
    world.angular_drag = size * float(np.trace(whole.inertia)) / 3.0 / 100.0


def slope(world: World, size: float, rng: np.random.Generator) -> None:
    """Gravity of `size` [m/s^2] along some direction, as on a floor that is not level."""
    g = size * unit_vector(rng, world.model.root.type == "planar")
    world.gravity = tuple(g.tolist())


def orbit(world: World, size: float, rng: np.random.Generator) -> None:
    """A low orbit's gravity gradient, `size` times; n = 1.13e-3 rad/s."""
    world.gradient = size * 1.13e-3**2


def soft_mass(share: float, where: float, frequency: float) -> Change:
    """Mass on a spring, of the bus if it did not move: fuel, or the tip of a wing outside."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        bus = world.model.body(world.model.root.body)
        is_planar = world.model.root.type == "planar"
        radius = float(np.sqrt(max(bus.inertia) / bus.mass))
        at = np.array(bus.com) + where * radius * unit_vector(rng, is_planar)
        axis = np.cross(at, unit_vector(rng)) if not is_planar else np.array([-at[1], at[0], 0.0])
        axis = axis / np.linalg.norm(axis)
        mass = size * share * bus.mass
        world.model = world.model.with_body(_with_point(bus, mass, at))
        world.appendages.append(
            Appendage(bus.name, mass, tuple(at.tolist()), tuple(axis.tolist()),
                      frequency)
        )  # fmt: skip

    return change


def _with_point(body: Body, mass: float, at: np.ndarray) -> Body:
    """A body with a point mass more."""
    total = body.mass + mass
    com = (body.mass * np.array(body.com) + mass * at) / total
    inertia = tensor(body.inertia)
    for m, r in ((body.mass, np.array(body.com) - com), (mass, at - com)):
        inertia = inertia + m * (r @ r * np.eye(3) - np.outer(r, r))
    return replace(body, mass=total, com=tuple(com.tolist()), inertia=six(inertia))


def lose_mass(world: World, size: float, rng: np.random.Generator) -> None:
    """The bus loses a share of its mass half way, without a push."""
    bus = world.model.root.body
    before = world.model
    scale_body(world, bus, 1.0 - size)
    after = parameter_values(flatten(world.model))
    world.model = before
    world.other_truths.append({name: after[name] for name in world.free})
    world.lost.append((round(0.5 * world.duration, 3), bus, 1.0 - size))


def slip(is_sliding: bool) -> Change:
    """The captured body turns [rad] or slides [m] in the hand, half way, within two seconds."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        body, is_planar = world.model.targets[0].name, world.model.root.type == "planar"
        if is_planar and not is_sliding:
            axis = np.array([0.0, 0.0, 1.0])
        else:
            axis = unit_vector(rng, is_planar)
        when = 0.5 * world.duration
        before, phi = world.model, world.model.body(body)
        R = Rotation.from_rotvec(size * axis).as_matrix() if not is_sliding else np.eye(3)
        com = R @ np.array(phi.com) + (size * axis if is_sliding else 0.0)
        moved = replace(phi, com=tuple(com.tolist()), inertia=six(R @ tensor(phi.inertia) @ R.T))
        after = parameter_values(flatten(before.with_body(moved)))
        world.other_truths.append({name: after[name] for name in world.free})
        world.slips.append(
            Slip(body, tuple(axis.tolist()), lambda t: size * smooth_step((t - when) / 2.0),
                 is_sliding)
        )  # fmt: skip

    return change


def use_up(world: World, size: float, rng: np.random.Generator) -> None:
    """The bus loses a share of its mass evenly, in twenty steps without a push."""
    bus, before, n = world.model.root.body, world.model, 20
    for k in range(n):
        share = (1.0 - size * (k + 1) / n) / (1.0 - size * k / n)
        scale_body(world, bus, share)
        world.lost.append((round((k + 0.5) * world.duration / n, 3), bus, share))
        if k in (n // 2 - 1, n - 1):
            values = parameter_values(flatten(world.model))
            world.other_truths.append({name: values[name] for name in world.free})
    world.model = before


def hidden_push(course) -> Change:
    """Something that no model knows pushes the bus: by course(times, duration)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        bus, is_planar = world.model.body(world.model.root.body), world.model.root.type == "planar"
        radius = float(np.sqrt(max(bus.inertia) / bus.mass))
        direction, at = unit_vector(rng, is_planar), radius * unit_vector(rng, is_planar)
        hidden = Thruster("hidden", bus.name, tuple(direction.tolist()), tuple(at.tolist()))
        world.model = replace(world.model, thrusters=(*world.model.thrusters, hidden))
        force = size * bus.mass
        world.thrusts["hidden"] = lambda t: force * course(t, world.duration)

    return change


KINDS = (
    Kind("link length", ("*.offset*",), (2e-3, 0.01, 0.05),
         "m", one_joint(lengthen), part="joints"),
    Kind("axis tilt", ("*.tilt*",), (5e-3, 0.03, 0.15), "rad",
         one_joint(tilt), part="joints", root="floating"),
    Kind("known arm heavier", ("*link*.scale", "*link*.mass", "bodies*"), (0.01, 0.03, 0.1), "1",
         heavier, part="joints"),
    Kind("one known link heavier", ("*link*.scale", "*link*.mass"), (0.02, 0.1, 0.3), "1",
         one_heavier, part="joints"),
    Kind("centre of mass of a known link", ("*.com*",), (3e-3, 0.02, 0.05), "m", lopsided,
         part="joints"),
    Kind("inertia of a known link", ("*.i[xyz][xyz]",), (0.02, 0.1, 0.3), "1", bulky,
         part="joints"),
    Kind("every known link off", ("*link*.scale", "*link*.mass"), (0.01, 0.05, 0.15), "1",
         each_heavier, part="joints"),
    Kind("wheel inertia", ("rw.inertia", "rw.gear"), (0.01, 0.05, 0.2), "1",
         other_wheel, part="wheels"),
    Kind("hidden wheel", (), (1e-3, 1e-2, 0.05), "rad/s", hidden_wheel),
    Kind("drag", ("drag.*",), (0.01, 0.1, 1.0), "1/100 s", drag),
    Kind("residual gravity", ("gravity.*",), (1e-6, 1e-4, 3e-3), "m/s^2", slope),
    Kind("gravity gradient", ("gravity.gradient*",), (0.3, 1.0, 5.0),
         "of a low orbit", orbit, root="floating"),
    Kind("wing mode", (), (0.2, 1.0, 3.0), "3 % of the bus", soft_mass(0.03, 2.5, 0.7)),
    Kind("slosh mode", (), (0.2, 1.0, 3.0), "8 % of the bus", soft_mass(0.08, 0.6, 0.12)),
    Kind("mass lost", ("change.*",), (0.01, 0.05, 0.2), "1", lose_mass),
    Kind("mass used up", ("change.*",), (0.01, 0.05, 0.2), "1", use_up),
    Kind("knock", ("knock*",), (1e-4, 1e-3, 1e-2), "m/s", hidden_push(
        lambda t, duration: 5.0 * (np.abs(t - 0.4 * duration) < 0.1))),
    Kind("constant push", ("push*",), (1e-6, 1e-5, 1e-3), "m/s^2", hidden_push(
        lambda t, duration: np.ones_like(t))),
    Kind("swaying push", (), (1e-5, 1e-4, 3e-3), "m/s^2", hidden_push(
        lambda t, duration: np.sin(2.0 * np.pi * 0.07 * t))),
    Kind("target turns in the hand", ("change.*",), (0.01, 0.1, 0.5), "rad", slip(False),
         part="targets"),
    Kind("target slides in the hand", ("change.*",), (0.003, 0.03, 0.15), "m", slip(True),
         part="targets"),
)  # fmt: skip
