"""What bodies look like: their meshes and primitive shapes with pose and scale, for drawing.

A URDF says it in its `<visual>` elements, MJCF in the geoms that MuJoCo compiles. A body of which
nothing is said may be drawn as the box that has its mass and its inertia.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import ModelError
from freefloat.model import inertia as inertial
from freefloat.model.loading import model_files
from freefloat.model.meshes import MeshPlaces, find_mesh, mesh_places
from freefloat.model.model import Model
from freefloat.model.mujoco_ import Names, compile_mjcf, is_mjcf
from freefloat.model.parts import Body, Placement, Vector
from freefloat.model.rotations import matrix_from_quaternion, rpy_from_matrix
from freefloat.model.urdf_xml import Element, parse_xml
from freefloat.notes import Note
from freefloat.text import count_noun, listing

ShapeKind = Literal["mesh", "box", "ellipsoid", "cylinder", "capsule"]
Colour = tuple[float, float, float, float]

LAST_SHOWN_GROUP = 2  # format: MuJoCo draws the groups 0 to 2 unless told otherwise
XML_FILES = (".xml", ".mjcf")
# format: MuJoCo's numbers of geom types
GEOM_KINDS: dict[int, ShapeKind] = {
    2: "ellipsoid", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh",
}  # fmt: skip


@dataclass(frozen=True)
class Visual:
    """One shape of a body.

    `placement` is that of the shape in the body's axes. `size` is its extent [m] along its own
    axes: edges of a box, diameters of an ellipsoid (a sphere has three equal ones), diameter,
    diameter and whole length of a cylinder or capsule, which stand along z. Of a mesh it is what
    the vertices of the file are multiplied by. `colour` is red, green, blue, opacity, 0 to 1.
    """

    body: str
    shape: ShapeKind
    placement: Placement
    size: Vector
    colour: Colour | None = None
    uri: str = ""  # what the robot's file calls the mesh
    path: Path | None = None  # its file, where it was found
    use: Literal["visual", "collision", "inertia"] = "visual"


@dataclass(frozen=True)
class Visuals:
    """The shapes of a model, in the order of its bodies, and notes on those that are missing."""

    shapes: tuple[Visual, ...]
    notes: tuple[str, ...] = ()

    def of(self, body: str) -> tuple[Visual, ...]:
        """The shapes of one body."""
        return tuple(shape for shape in self.shapes if shape.body == body)


def find_visuals(
    model: Model,
    source: str | Path,
    *,
    search: Sequence[str | Path] = (),
    use: Literal["visual", "collision"] = "visual",
    inertia_boxes: bool = True,
) -> Visuals:
    """What the bodies of a model look like, grasped targets included.

    Args:
        model: as it was read, or with other values; bodies are found by their names.
        source: the name or file that it was read from: meshes are named from there.
        search: folders that hold ROS packages, or are one; they are looked through first.
        use: shapes for drawing, or those for contact.
        inertia_boxes: a body with mass and without a shape is drawn as a box of even density that
            has its mass and inertia.

    Returns:
        The shapes. A mesh whose file is nowhere has no `path`, and a note says so.

    >>> from freefloat.model import load_model
    >>> find_visuals(load_model("cepheus"), "cepheus").of("bus")[0].shape
    'box'
    """
    file = model_files(source)[-1]
    skipped: list[str] = []
    if file.suffix.lower() in XML_FILES and is_mjcf(file):
        shapes = list(_mjcf_shapes(file, use))
    else:
        places = mesh_places(file, search)
        shapes = list(_urdf_shapes(model, places, use=use, skipped=skipped))
    bodies = (*model.bodies, *(target.body for target in model.targets))
    order = {body.name: k for k, body in enumerate(bodies)}
    shapes = sorted((s for s in shapes if s.body in order), key=lambda s: order[s.body])
    if inertia_boxes:
        bare = [body for body in bodies if not any(s.body == body.name for s in shapes)]
        shapes += [box for body in bare if (box := inertia_box(body)) is not None]
        shapes.sort(key=lambda s: order[s.body])
    return Visuals(tuple(shapes), tuple(_notes(shapes, skipped)))


def _notes(shapes: Sequence[Visual], skipped: Sequence[str]) -> Iterator[Note]:
    missing = list(dict.fromkeys(s.uri for s in shapes if s.shape == "mesh" and s.path is None))
    if missing:
        text = f"{count_noun(len(missing), 'mesh', 'meshes')} not found: {listing(missing, most=3)}"
        yield Note("visuals.no_mesh", text + "; name the folder of the package in search")
    if skipped:
        yield Note("visuals.unreadable", f"not drawn: {listing(skipped, most=3)}")


def inertia_box(body: Body) -> Visual | None:
    """The box of even density with the mass and inertia of a body; None for one without mass.

    A plate or a rod without thickness is drawn a hundredth as thick as it is long.
    """
    if not body.mass > 0.0:
        return None
    moments, axes = np.linalg.eigh(inertial.tensor(body.inertia))
    axes[:, 0] *= np.linalg.det(axes)  # a rotation, not a reflection
    # theory: a box has m (b² + c²) / 12 about its axis a
    squares = np.clip(6.0 / body.mass * (moments.sum() - 2.0 * moments), 0.0, None)
    edges = np.sqrt(squares)
    if not edges.max() > 0.0:
        return None
    edges = np.maximum(edges, edges.max() / 100.0)
    placement = _placement(axes, np.array(body.com))
    return Visual(body.name, "box", placement, _vector(edges), use="inertia")


# ---- URDF ----------------------------------------------------------------------------------------


def _urdf_shapes(
    model: Model, places: MeshPlaces, *, use: str, skipped: list[str]
) -> Iterator[Visual]:
    """The shapes that the extras of bodies say; what cannot be understood is added to `skipped`."""
    colours = dict(_named_colours(map(_parse, _of_tag(model.extras, "material"))))
    for body in (*model.bodies, *(target.body for target in model.targets)):
        elements = [_parse(extra) for extra in _of_tag(body.extras, use)]
        colours |= dict(_named_colours(m for e in elements for m in e.children))
        for element in elements:
            try:
                shape = _read_shape(element, body.name, colours)
            except (KeyError, ValueError) as error:
                skipped.append(f"<{use}> of {body.name!r} ({error})")
                continue
            if shape is not None:
                path = find_mesh(shape.uri, places) if shape.uri else None
                yield replace(shape, path=path, use="visual" if use == "visual" else "collision")


def _of_tag(extras: Sequence[str], tag: str) -> Iterator[str]:
    return (extra for extra in extras if extra.startswith((f"<{tag} ", f"<{tag}>", f"<{tag}\n")))


def _parse(extra: str) -> Element:
    try:
        return parse_xml(extra.encode(), "")
    except ModelError:  # extras of a model that was made by hand
        return Element("", {}, 0, 0)


def _named_colours(elements: Any) -> Iterator[tuple[str, Colour]]:
    for element in elements:
        colour = _colour(element) if element.tag == "material" else None
        if colour is not None:
            yield element.attributes.get("name", ""), colour


def _colour(material: Element) -> Colour | None:
    for child in material.children:
        if child.tag == "color":
            try:
                r, g, b, a = _floats(child.attributes.get("rgba", ""), 4)
            except ValueError:
                return None
            return r, g, b, a
    return None


def _read_shape(element: Element, body: str, colours: Mapping[str, Colour]) -> Visual | None:
    """The shape of a <visual> or <collision>; None without a geometry."""
    parts = {child.tag: child for child in reversed(element.children)}
    shapes = parts["geometry"].children if "geometry" in parts else []
    if not shapes:
        return None
    given = shapes[0].attributes
    uri = ""
    kind: ShapeKind
    if shapes[0].tag == "mesh":
        kind, uri = "mesh", given["filename"]
        size = _floats(given.get("scale", "1 1 1"), 3)
    elif shapes[0].tag == "box":
        kind, size = "box", _floats(given["size"], 3)
    elif shapes[0].tag == "sphere":
        (radius,) = _floats(given["radius"], 1)
        kind, size = "ellipsoid", [2.0 * radius] * 3
    elif shapes[0].tag in ("cylinder", "capsule"):
        (radius,), (length,) = _floats(given["radius"], 1), _floats(given["length"], 1)
        kind = "cylinder" if shapes[0].tag == "cylinder" else "capsule"
        # the length of a capsule is that of its straight part
        size = [2.0 * radius, 2.0 * radius, length + 2.0 * radius * (kind == "capsule")]
    else:
        raise ValueError(f"<{shapes[0].tag}>")
    place = parts["origin"].attributes if "origin" in parts else {}
    xyz, rpy = (_floats(place.get(key, "0 0 0"), 3) for key in ("xyz", "rpy"))
    colour = None
    if "material" in parts:
        colour = _colour(parts["material"]) or colours.get(
            parts["material"].attributes.get("name", "")
        )
    placement = Placement(_vector(xyz), _vector(rpy))
    return Visual(body, kind, placement, _vector(size), colour, uri)


def _floats(text: str, count: int) -> list[float]:
    """The finite numbers of an attribute; ValueError where there are more, fewer or others."""
    numbers = [float(word) for word in text.split()]
    if len(numbers) != count or not np.all(np.isfinite(numbers)):
        raise ValueError(f"{text[:40]!r} is not {count_noun(count, 'number')}")
    return numbers


# ---- MJCF ----------------------------------------------------------------------------------------


def _mjcf_shapes(file: Path, use: str) -> Iterator[Visual]:
    """The geoms of a compiled model that are drawn, or those that can touch something."""
    m = compile_mjcf(file)
    names = Names.of(m).bodies
    for g in range(m.ngeom):
        kind = GEOM_KINDS.get(int(m.geom_type[g]))
        touches = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        is_drawn = m.geom_group[g] <= LAST_SHOWN_GROUP
        if kind is None or not (is_drawn if use == "visual" else touches):
            continue
        R = _rotation(m.geom_quat[g])
        p, size = np.array(m.geom_pos[g]), 2.0 * np.array(m.geom_size[g])
        uri, path = "", None
        if kind == "mesh":
            k = int(m.geom_dataid[g])
            # MuJoCo moves a mesh to its centre and principal axes; the file itself has not moved
            R, moved = R @ _rotation(m.mesh_quat[k]).T, np.array(m.mesh_pos[k])
            p, size = p - R @ moved, np.array(m.mesh_scale[k])
            at = int(m.mesh_pathadr[k])
            uri = "" if at < 0 else m.paths[at:].partition(b"\0")[0].decode(errors="replace")
            path = find_mesh(uri, mesh_places(file)) if uri else None
            uri = os.path.relpath(uri, file.parent) if Path(uri).is_absolute() else uri
        elif m.geom_type[g] == 2:  # a sphere has its radius alone
            size = np.repeat(size[0], 3)
        elif kind in ("capsule", "cylinder"):
            length = size[1] + (size[0] if kind == "capsule" else 0.0)
            size = np.array([size[0], size[0], length])
        rgba = m.geom_rgba[g] if m.geom_matid[g] < 0 else m.mat_rgba[m.geom_matid[g]]
        r, green, b, a = map(float, rgba)
        yield Visual(
            names[m.geom_bodyid[g]], kind, _placement(R, p), _vector(size), (r, green, b, a),
            uri, path, "visual" if use == "visual" else "collision",
        )  # fmt: skip


def _rotation(quaternion: Any) -> Array:
    """R of MuJoCo's quaternion, whose scalar comes first."""
    w, x, y, z = np.asarray(quaternion, dtype=float)
    return matrix_from_quaternion([x, y, z, w])


def _placement(R: Array, p: Array) -> Placement:
    return Placement(_vector(p), _vector(rpy_from_matrix(R)))


def _vector(numbers: Any) -> Vector:
    x, y, z = np.asarray(numbers, dtype=float).tolist()
    return x, y, z
