"""The scene: a robot as nodes of the viewer, moved as a flight or a slider says.

Where things are is worked out by the model (`body_poses`), so that a moment costs half a
millisecond and nothing has to be compiled in the process of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.model.mass_properties import MassProperties, body_poses, mass_properties
from freefloat.model.model import Model
from freefloat.model.rotations import (
    matrix_from_quaternion,
    matrix_from_rotation_vector,
    quaternion_from_matrix,
)
from freefloat.studio.craft import Craft, DrawnPart
from freefloat.studio.flight_motion import Moment
from freefloat.studio.studio_state import SHOWN_FIRST

LAYERS = {
    "bodies": "Bodies", "joints": "Joints", "wheels": "Wheels", "thrusters": "Thrusters",
    "fuel": "Fuel", "capsules": "Keep-out capsules", "com": "Centre of mass",
    "momentum": "Momentum", "axes": "Principal axes", "orbit": "Orbit, Earth", "grid": "Grid",
}  # fmt: skip
# format: turns of a drawn wheel for one of a real one, which would be a blur
WHEEL_SHARE = 0.02
CAMERA = np.array([1.1, -1.5, 0.9])  # format: from where the scene is first seen, in sizes
BESIDE = np.array([1.5, 1.1, 0.0])  # format: to the right of the first, in sizes, as seen first
AXES = ((220, 60, 60), (60, 170, 60), (60, 90, 220))  # format: colours of x, y, z
COM, MOMENTUM, SPIN = (250, 210, 40), (40, 200, 160), (200, 90, 220)
PREDICTED = (60, 190, 230)


def still(model: Model) -> Moment:
    """The robot at home, at rest at the origin."""
    zero = np.zeros(3)
    return Moment(0.0, zero, np.array([0.0, 0.0, 0.0, 1.0]), {}, {}, zero, zero)


@dataclass
class CraftNodes:
    """The nodes of one robot below a name of the scene."""

    scene: Any
    root: str
    craft: Craft
    opacity: float = 1.0
    tint: tuple[int, int, int] | None = None
    shown: set[str] = field(default_factory=lambda: {*SHOWN_FIRST})
    offset: Array = field(default_factory=lambda: np.zeros(3))
    _frames: dict[str, Any] = field(default_factory=dict)
    _parts: list[tuple[DrawnPart, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._top = self.scene.add_frame(self.root, show_axes=False)
        for k, name in enumerate(dict.fromkeys(part.body for part in self.craft.parts)):
            # by number: names of bodies may hold anything
            self._frames[name] = self.scene.add_frame(f"{self.root}/b{k}", show_axes=False)
        for k, part in enumerate(self.craft.parts):
            self._parts.append((part, self._add(k, part)))

    def _add(self, number: int, part: DrawnPart) -> Any:
        opacity = part.opacity * self.opacity
        R = np.eye(3) if part.rotation is None else part.rotation
        return self.scene.add_mesh_simple(
            f"{self._frames[part.body].name}/p{number}", part.vertices, part.faces,
            color=part.colour if self.tint is None else self.tint,
            opacity=None if opacity >= 1.0 else opacity, flat_shading=part.has_edges, side="double",
            wxyz=wxyz(R), position=np.zeros(3) if part.position is None else part.position,
            visible=part.layer in self.shown and not part.thruster,
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip

    def show_layer(self, layer: str, is_shown: bool) -> None:
        """Show or hide the parts of a layer."""
        (self.shown.add if is_shown else self.shown.discard)(layer)
        for part, node in self._parts:
            if part.layer == layer and not part.thruster:
                node.visible = is_shown

    def pose(self, moment: Moment) -> None:
        """Move everything to where it is at a moment."""
        poses = body_poses(self.craft.model, posture=moment.posture)
        self._top.position = moment.position + self.offset
        self._top.wxyz = np.roll(moment.attitude, 1)
        for name, node in self._frames.items():
            R, p = poses[name]
            node.position, node.wxyz = p, wxyz(R)
        for part, node in self._parts:
            if part.coordinate and part.layer in self.shown:
                angle = WHEEL_SHARE * moment.posture.get(part.coordinate, 0.0)
                turn = matrix_from_rotation_vector([0.0, 0.0, angle])
                node.wxyz = wxyz(part.rotation @ turn)  # type: ignore[operator]
            elif part.thruster:
                is_on = moment.thrust.get(part.thruster, 0.0) > 0.0 and "thrusters" in self.shown
                if node.visible != is_on:
                    node.visible = is_on

    def fade(self, opacity: float) -> None:
        """Let what is inside of the bodies be seen; 1 draws them as they are."""
        for part, node in self._parts:
            if part.layer == "bodies":
                left = part.opacity * self.opacity * opacity
                node.opacity = None if left >= 1.0 else left

    def frame_of(self, body: str) -> str | None:
        """The name of the node of a body; None where nothing of it is drawn."""
        return self._frames[body].name if body in self._frames else None

    def remove(self) -> None:
        """Take everything away."""
        self._top.remove()


class Scene:
    """What is in the 3D view: the robot, what it may be compared with, and arrows."""

    def __init__(self, server: Any) -> None:
        self.server, self.scene = server, server.scene
        self.nodes: CraftNodes | None = None
        self.ghost: CraftNodes | None = None
        self.shown: set[str] = {*SHOWN_FIRST}
        self.moment: Moment | None = None
        self.n_updates = 0
        self._marks: dict[str, Any] = {}
        self._mass: MassProperties | None = None
        self.scene.set_up_direction("+z")
        self.scene.world_axes.visible = False
        self.scene.add_light_ambient("/lights/all_around", intensity=0.5)

    def show_craft(self, craft: Craft) -> None:
        """Show a robot in place of the one before, at home."""
        with self.server.atomic():
            self._clear()
            self.nodes = CraftNodes(self.scene, "/craft", craft, shown=set(self.shown))
            self._add_marks(craft)
            self.pose(still(craft.model))
        self.look(np.zeros(3), 1.0)

    def look(self, middle: Array, distance: float) -> None:
        """Turn every camera to a place [m] from a distance, in sizes of the robot."""
        if self.nodes is None:
            return
        far = self.nodes.craft.size
        aim = middle + np.array([0.0, 0.0, 0.1 * far])
        places = {"position": tuple(middle + distance * far * CAMERA), "look_at": tuple(aim)}
        for camera in (
            self.server.initial_camera,
            *(client.camera for client in self.server.get_clients().values()),
        ):
            camera.position, camera.look_at = places["position"], places["look_at"]

    def show_ghost(self, craft: Craft | None, *, beside: bool = False) -> None:
        """Show a second robot, translucent, at the place of the first or beside it."""
        with self.server.atomic():
            if self.ghost is not None:
                self.ghost.remove()
                self.ghost = None
            if craft is not None:
                offset = BESIDE * craft.size if beside else np.zeros(3)
                layers = {"bodies", "fuel"}
                self.ghost = CraftNodes(
                    self.scene, "/ghost", craft, opacity=0.4, tint=PREDICTED, shown=layers,
                    offset=offset,
                )  # fmt: skip
                self.ghost.pose(self.moment or still(craft.model))

    def show_layer(self, layer: str, is_shown: bool) -> None:
        """Show or hide a layer of LAYERS."""
        (self.shown.add if is_shown else self.shown.discard)(layer)
        if self.nodes is not None:
            self.nodes.show_layer(layer, is_shown)
        for name, node in self._marks.items():
            if name.partition("/")[0] == layer:
                node.visible = is_shown
        if self.moment is not None:
            self.pose(self.moment)

    def pose(self, moment: Moment, ghost: Moment | None = None) -> None:
        """Move the robot, and the ghost with it or as it says itself."""
        self.moment = moment
        if self.nodes is None:
            return
        with self.server.atomic():
            self.nodes.pose(moment)
            if self.ghost is not None:
                self.ghost.pose(ghost or moment)
            self._pose_marks(moment)
        self.n_updates += 1

    def _clear(self) -> None:
        self.show_ghost(None)
        if self.nodes is not None:
            self.nodes.remove()
        for node in self._marks.values():
            node.remove()
        self._marks = {}

    # -- arrows, axes, the ground ------------------------------------------------------------------

    def _add_marks(self, craft: Craft) -> None:
        size, add = craft.size, self._marks
        add["com/ball"] = self.scene.add_icosphere("/marks/com", radius=0.022 * size, color=COM)
        for k, colour in enumerate(AXES):
            name = f"/marks/axis{k}"
            add[f"axes/{k}"] = self._arrow(name, colour, 0.004 * size)
        add["momentum/linear"] = self._arrow("/marks/momentum", MOMENTUM, 0.008 * size)
        add["momentum/spin"] = self._arrow("/marks/spin", SPIN, 0.008 * size)
        for name, colour in (("earth", (70, 130, 220)), ("ahead", (130, 160, 130))):
            if craft.model.orbit is not None:
                add[f"orbit/{name}"] = self._arrow(f"/marks/{name}", colour, 0.006 * size)
                text = {"earth": "to the Earth", "ahead": "along the orbit"}[name]
                add[f"orbit/{name}_label"] = self.scene.add_label(f"/marks/{name}_label", text)
        add["grid/ground"] = self.scene.add_grid(
            "/marks/grid", width=6.0 * size, height=6.0 * size, cell_size=_round_size(0.2 * size),
            section_size=5.0 * _round_size(0.2 * size), position=(0.0, 0.0, -1.05 * size),
            cell_color=(150, 150, 160), section_color=(120, 120, 130),
            shadow_opacity=0.0,
        )  # fmt: skip
        for name, node in add.items():
            node.visible = name.partition("/")[0] in self.shown

    def _arrow(self, name: str, colour: tuple[int, int, int], width: float) -> Any:
        points = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])
        return self.scene.add_arrows(
            name, points, colors=colour, shaft_radius=width, head_radius=2.5 * width,
            head_length=6.0 * width,
        )  # fmt: skip

    def _pose_marks(self, moment: Moment) -> None:
        if self.nodes is None or not self.shown & {"com", "axes", "momentum", "orbit"}:
            return
        model, size = self.nodes.craft.model, self.nodes.craft.size
        R = matrix_from_quaternion(moment.attitude)
        whole = mass_properties(model, posture=moment.posture)
        com = moment.position + R @ whole.com
        if "com" in self.shown:
            self._marks["com/ball"].position = com
        if "axes" in self.shown:
            _, axes = np.linalg.eigh(whole.inertia)
            for k in range(3):
                self._point(f"axes/{k}", com, 0.5 * size * (R @ axes[:, k]))
        if "momentum" in self.shown:
            for name, value in (("linear", moment.momentum), ("spin", moment.spin)):
                length = float(np.linalg.norm(value))
                is_there = length > 1e-9
                self._marks[f"momentum/{name}"].visible = is_there
                if is_there:
                    self._point(f"momentum/{name}", com, 0.8 * size * value / length)
        if "orbit" in self.shown and model.orbit is not None:
            radial, ahead = orbit_directions(model, moment.time)
            for name, way in (("earth", -radial), ("ahead", ahead)):
                self._point(f"orbit/{name}", com, 1.1 * size * way)
                self._marks[f"orbit/{name}_label"].position = com + 1.2 * size * way

    def _point(self, name: str, start: Array, along: Array) -> None:
        self._marks[name].points = np.array([[start, start + along]], dtype=np.float32)


def orbit_directions(model: Model, time: float) -> tuple[Array, Array]:
    """Away from the Earth, and along the orbit, as unit vectors in world axes at a time [s]."""
    assert model.orbit is not None
    normal = np.array(model.orbit.normal) / np.linalg.norm(model.orbit.normal)
    radial = np.array(model.orbit.radial) / np.linalg.norm(model.orbit.radial)
    radial = matrix_from_rotation_vector(model.orbit.rate * time * normal) @ radial
    return radial, np.cross(normal, radial)


def wxyz(R: Array) -> Array:
    """The viewer's quaternion, scalar first, of a rotation."""
    return np.roll(quaternion_from_matrix(R), 1)


def _round_size(length: float) -> float:
    """A power of ten, or twice or five times one, near a length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k * power - length)) * power)


def mode_posture(model: Model, shape: Mapping[str, float], share: float) -> dict[str, float]:
    """Coordinates with a mode's shape at a share, -1 to 1, of what is drawn of it."""
    home = {c.name: c.home for c in model.assembly.coordinates}
    return {name: home[name] + 0.35 * share * value for name, value in shape.items()}
