"""What a model looks like: parts as surfaces, each in the frame of a body.

Bodies have the shapes that the robot's file gives them; others are boxes or, if grasped, ellipsoids
of the same mass and inertia. Nothing here knows the viewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.model import inertia as inertial
from freefloat.model.mass_properties import body_poses
from freefloat.model.model import Model
from freefloat.model.parts import Body
from freefloat.model.rotations import frame_with_z
from freefloat.model.visuals import Visual, find_visuals

if TYPE_CHECKING:
    from trimesh import Trimesh

Layer = Literal["bodies", "joints", "wheels", "thrusters", "fuel", "capsules"]
Colour = tuple[int, int, int]

# format: colours of parts, told apart on a light and on a dark page
BUS, LINK, WING, TARGET = (120, 144, 176), (222, 134, 72), (52, 96, 176), (226, 180, 60)
FUEL, WHEEL, NOZZLE, PLUME = (64, 176, 200), (150, 150, 160), (110, 110, 120), (255, 150, 40)
JOINT, KEEP_OUT = (70, 70, 80), (200, 80, 80)
MOST_FACES = 60_000  # format: faces of one mesh; beyond, its body is drawn as a box
LARGEST_MESH = 64 * 2**20  # format: [B] of a mesh file
ALIKE = 0.03  # format: moments that differ by less are those of a cube
DENSITY = 1000.0  # format: [kg/m^3] of a ball drawn for fuel
SMOOTH = 24  # format: edges around a cylinder


@dataclass(frozen=True, eq=False)
class DrawnPart:
    """A thing to draw: a surface in a frame of its own, at a place in a body's frame.

    coordinate: the wheel whose angle turns it about its z axis; thruster: it is its plume, drawn
    while that pushes; has_edges: it is not to be drawn smooth.
    """

    name: str
    body: str
    layer: Layer
    vertices: Array
    faces: NDArray[np.uint32]
    colour: Colour
    opacity: float = 1.0
    rotation: Array | None = None
    position: Array | None = None
    coordinate: str = ""
    thruster: str = ""
    has_edges: bool = False


@dataclass(frozen=True, eq=False)
class Craft:
    """A model to be drawn: its parts, its size [m] and what could not be drawn as it is."""

    model: Model
    parts: tuple[DrawnPart, ...]
    size: float
    notes: tuple[str, ...] = ()


def craft_of(model: Model, source: str | Path = "") -> Craft:
    """Everything of a model that can be drawn; `source` is the file or name it was read from."""
    poses = body_poses(model)
    size = _size(model)
    parts = [*_bodies(model, source, notes := []), *_joints(model, size), *_wheels(model, size)]
    parts += [*_thrusters(model, size), *_tanks(model), *_capsules(model)]
    known = [part for part in parts if part.body in poses]
    return Craft(model, tuple(known), size, tuple(notes))


def _size(model: Model) -> float:
    """About how far the robot reaches from its root [m]."""
    far = [0.1]
    bodies = {body.name: body for body in model.assembly.bodies}
    for name, (R, p) in body_poses(model).items():
        half = max(equal_box(bodies[name]), default=0.0) / 2.0
        far.append(float(np.linalg.norm(p + R @ np.array(bodies[name].com))) + half)
    return max(far)


# -- bodies ----------------------------------------------------------------------------------------


def equal_box(body: Body) -> tuple[float, ...]:
    """Edges [m] of the even box with the mass and inertia of a body; none without mass."""
    if not body.mass > 0.0:
        return ()
    moments = np.linalg.eigvalsh(inertial.tensor(body.inertia))
    # theory: a box has m (b^2 + c^2) / 12 about its axis a
    squares = np.clip(6.0 / body.mass * (moments.sum() - 2.0 * moments), 0.0, None)
    return tuple(np.sqrt(squares).tolist())


def equal_ellipsoid(mass: float, tensor: Array) -> tuple[Array, Array]:
    """Half axes (3) [m] and rotation of the even ellipsoid with a mass and an inertia."""
    moments, axes = np.linalg.eigh(tensor)
    axes[:, 0] *= np.linalg.det(axes)
    # theory: an ellipsoid has m (b^2 + c^2) / 5 about its half axis a
    squares = np.clip(2.5 / max(mass, 1e-12) * (moments.sum() - 2.0 * moments), 0.0, None)
    halves = np.sqrt(squares)
    return np.maximum(halves, 0.02 * max(float(halves.max()), 1e-6)), axes


def _bodies(model: Model, source: str | Path, notes: list[str]) -> Iterator[DrawnPart]:
    grasped = {target.name for target in model.targets}
    colours = _body_colours(model)
    filled = {tank.body for tank in model.tanks}  # what is inside shall be seen
    drawn = set()
    if source:
        found = find_visuals(model, source, inertia_boxes=False)
        notes += found.notes
        for shape in found.shapes:
            mesh = _mesh_of(shape, notes)
            if mesh is not None:
                drawn.add(shape.body)
                given = shape.colour
                colour = colours[shape.body] if given is None else _bytes(given)
                edges = shape.shape == "box"
                yield _part(mesh, shape.body, shape.body, "bodies", colour, has_edges=edges)
    for body in (*model.bodies, *(target.body for target in model.targets)):
        if body.name not in drawn and body.mass > 0.0:
            opacity = 0.6 if body.name in filled else 0.85 if body.name in grasped else 1.0
            is_round = body.name in grasped
            yield from _stand_in(body, colours[body.name], is_round=is_round, opacity=opacity)


def _stand_in(body: Body, colour: Colour, *, is_round: bool, opacity: float) -> Iterator[DrawnPart]:
    """A box or an ellipsoid with the mass and inertia of a body."""
    import trimesh

    tensor = inertial.tensor(body.inertia)
    edges = np.array(equal_box(body))
    if not edges.any():
        return
    if is_round:
        halves, axes = equal_ellipsoid(body.mass, tensor)
        mesh = trimesh.creation.icosphere(subdivisions=3)
        mesh.apply_scale(halves)
    else:
        moments, axes = np.linalg.eigh(tensor)
        axes[:, 0] *= np.linalg.det(axes)
        if np.ptp(moments) < ALIKE * moments.max():
            axes = np.eye(3)  # a cube: its principal axes may point anywhere
        # a rod or plate without thickness is drawn a fiftieth as thick as it is long
        mesh = trimesh.creation.box(extents=np.maximum(edges, edges.max() / 50.0))
    _move(mesh, axes, np.array(body.com))
    yield _part(
        mesh, body.name, body.name, "bodies", colour, opacity=opacity, has_edges=not is_round
    )


def _body_colours(model: Model) -> dict[str, Colour]:
    """Bus, links of driven joints, wings on springs, what is grasped."""
    colours = {model.root.body: BUS}
    for joint in model.joints:
        if joint.type == "fixed":
            colours[joint.child] = colours.get(joint.parent, BUS)
        else:
            colours[joint.child] = WING if joint.role == "passive" else LINK
    return {body.name: colours.get(body.name, BUS) for body in model.bodies} | {
        target.name: TARGET for target in model.targets
    }


def _mesh_of(shape: Visual, notes: list[str]) -> Trimesh | None:
    """The surface of a shape, in its body's frame; None where there are none."""
    import trimesh

    a, b, c = shape.size
    if shape.shape == "box":
        mesh = trimesh.creation.box(extents=(a, b, c))
    elif shape.shape == "ellipsoid":
        mesh = trimesh.creation.icosphere(subdivisions=3)
        mesh.apply_scale(np.array([a, b, c]) / 2.0)
    elif shape.shape == "cylinder":
        mesh = trimesh.creation.cylinder(radius=a / 2.0, height=c, sections=SMOOTH)
    elif shape.shape == "capsule":
        mesh = trimesh.creation.capsule(height=max(c - a, 1e-6), radius=a / 2.0, count=[16, 16])
        mesh.apply_translation([0.0, 0.0, -max(c - a, 0.0) / 2.0])
    else:
        mesh = _load_mesh(shape.path, notes)
        if mesh is None:
            return None
        mesh.apply_scale(np.array(shape.size))
    _move(mesh, shape.placement.rotation, shape.placement.position)
    return mesh


def _load_mesh(path: Path | None, notes: list[str]) -> Trimesh | None:
    """The mesh of a file; None, and a note, for one that cannot be drawn."""
    import trimesh

    if path is None:
        return None
    try:
        if path.stat().st_size > LARGEST_MESH:
            raise ValueError(f"larger than {LARGEST_MESH // 2**20} MB")
        mesh = trimesh.load_mesh(path)
        if not isinstance(mesh, trimesh.Trimesh):
            mesh = mesh.to_mesh()
        if not 0 < len(mesh.faces) <= MOST_FACES:
            raise ValueError(f"{len(mesh.faces)} faces, at most {MOST_FACES} are drawn")
    except Exception as error:  # a file of anybody's, read by a library of others
        notes.append(f"{path.name} is not drawn: {str(error)[:120]}")
        return None
    return mesh


# -- what sits on bodies ---------------------------------------------------------------------------


def _joints(model: Model, size: float) -> Iterator[DrawnPart]:
    import trimesh

    length = 0.045 * size
    for joint in model.joints:
        if joint.type == "fixed":
            continue
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        R = frame_with_z(axis)
        if joint.type == "revolute":
            mesh = trimesh.creation.cylinder(radius=0.3 * length, height=length, sections=SMOOTH)
        else:
            mesh = trimesh.creation.box(extents=(0.4 * length, 0.4 * length, 1.6 * length))
        _move(mesh, R, np.zeros(3))
        yield _part(mesh, joint.name, joint.child, "joints", JOINT)


def _wheels(model: Model, size: float) -> Iterator[DrawnPart]:
    """Discs with spokes, outside of their body: files do not say where wheels are."""
    import trimesh

    bodies = {body.name: body for body in model.assembly.bodies}
    radius = 0.05 * size
    for wheel in model.wheels:
        axis = np.array(wheel.axis) / np.linalg.norm(wheel.axis)
        disc = trimesh.creation.cylinder(radius=radius, height=0.25 * radius, sections=SMOOTH)
        spoke = trimesh.creation.box(extents=(2.1 * radius, 0.25 * radius, 0.35 * radius))
        mesh = disc + spoke
        carrier = bodies[wheel.body]
        edges = equal_box(carrier) or (size,)
        # outside of the box that is drawn for the body, where they can be seen
        centre = np.array(carrier.com) + axis * (0.55 * max(edges) + radius)
        yield _part(
            mesh, wheel.name, wheel.body, "wheels", WHEEL,
            R=frame_with_z(axis), p=centre, coordinate=wheel.name,
        )  # fmt: skip


def _thrusters(model: Model, size: float) -> Iterator[DrawnPart]:
    import trimesh

    length = 0.05 * size
    for thruster in model.thrusters:
        push = np.array(thruster.direction) / np.linalg.norm(thruster.direction)
        R, p = frame_with_z(-push), np.array(thruster.position)  # gas leaves along +z
        nozzle = trimesh.creation.cone(radius=0.45 * length, height=length, sections=SMOOTH)
        nozzle.apply_transform(trimesh.transformations.rotation_matrix(np.pi, [1, 0, 0]))
        nozzle.apply_translation([0.0, 0.0, length])  # its opening outwards
        yield _part(nozzle, thruster.name, thruster.body, "thrusters", NOZZLE, R=R, p=p)
        plume = trimesh.creation.cone(radius=0.6 * length, height=4.0 * length, sections=SMOOTH)
        plume.apply_translation([0.0, 0.0, length])
        yield _part(
            plume, thruster.name, thruster.body, "thrusters", PLUME,
            opacity=0.6, R=R, p=p, thruster=thruster.name,
        )  # fmt: skip


def _tanks(model: Model) -> Iterator[DrawnPart]:
    import trimesh

    for tank in model.tanks:
        radius = float(np.cbrt(3.0 * tank.mass / (4.0 * np.pi * DENSITY)))
        ball = trimesh.creation.icosphere(subdivisions=2, radius=radius)
        last = next(b for b in model.assembly.bodies if b.name == tank.name)
        ball.apply_translation(last.com)
        yield _part(ball, tank.name, tank.name, "fuel", FUEL, opacity=0.8)
        along = np.array(last.com)
        rod = trimesh.creation.cylinder(
            radius=0.08 * radius, segment=[[0.0, 0.0, 0.0], along.tolist()], sections=12
        )
        yield _part(rod, tank.name, tank.name, "fuel", FUEL)


def _capsules(model: Model) -> Iterator[DrawnPart]:
    import trimesh

    for capsule in model.capsules:
        start, end = np.array(capsule.start), np.array(capsule.end)
        length = float(np.linalg.norm(end - start))
        mesh = trimesh.creation.capsule(
            height=max(length, 1e-6), radius=capsule.radius, count=[12, 16]
        )
        axis = (end - start) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        _move(mesh, frame_with_z(axis), start)
        yield _part(mesh, capsule.body, capsule.body, "capsules", KEEP_OUT, opacity=0.15)


def _part(
    mesh: Trimesh, name: str, body: str, layer: Layer, colour: Colour, *, opacity: float = 1.0,
    R: Array | None = None, p: Array | None = None, coordinate: str = "", thruster: str = "",
    has_edges: bool = False,
) -> DrawnPart:  # fmt: skip
    vertices = np.asarray(mesh.vertices, dtype=np.float32)
    faces = np.asarray(mesh.faces, dtype=np.uint32)
    return DrawnPart(
        name, body, layer, vertices, faces, colour, opacity, R, p, coordinate, thruster, has_edges
    )


def _move(mesh: Trimesh, R: Array, p: Array) -> None:
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = R, p
    mesh.apply_transform(whole)


def _bytes(colour: tuple[float, float, float, float]) -> Colour:
    r, g, b = (round(255.0 * min(max(x, 0.0), 1.0)) for x in colour[:3])
    return r, g, b
