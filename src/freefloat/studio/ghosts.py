"""What is drawn beside the robot: the identified model, inertia ellipsoids, the prediction.

Ellipsoids have the mass and inertia of a body. The shell around that of the identified body is as
far out as its 95 % interval reaches, where one is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.model import inertia as inertial
from freefloat.model.mass_properties import body_poses
from freefloat.studio.craft import equal_ellipsoid
from freefloat.studio.scene import Scene, wxyz
from freefloat.validation.end_effectors import EndEffector, tips_of

if TYPE_CHECKING:
    from freefloat.identification.fit import Fit
    from freefloat.model.model import Model
    from freefloat.studio.craft import Craft
    from freefloat.studio.flight_motion import FlightMotion, Moment
    from freefloat.studio.studio_state import StudioState

BEFORE, AFTER, ERROR = (170, 170, 180), (60, 190, 230), (230, 60, 60)
SPREAD = 1.96  # theory: standard deviations on either side that hold 95 % of a normal
SEE_THROUGH = 0.35  # format: opacity of bodies around their ellipsoids
WIDEST = 1.0  # format: a shell is at most that share larger than its ellipsoid
EXAGGERATION = 50.0  # format: errors of end-effectors are drawn so much longer, and so labelled


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An inertia ellipsoid in a body's frame: half axes (3) [m], and how far they are known."""

    body: str
    halves: Array
    rotation: Array
    centre: Array
    spread: float


def ellipsoids_of(model: Model, bodies: list[str], fit: Fit | None = None) -> Iterator[Ellipsoid]:
    """Those of bodies of a model; with the deviations of a fit if one is given."""
    for name in bodies:
        body = model.body(name)
        tensor = inertial.tensor(body.inertia)
        if body.mass > 0.0 and np.trace(tensor) > 0.0:
            halves, axes = equal_ellipsoid(body.mass, tensor)
            spread = 0.0 if fit is None else _spread(fit, name)
            yield Ellipsoid(name, halves, axes, np.array(body.com), spread)


def _spread(fit: Fit, name: str) -> float:
    """By how much of itself a half axis may be off, about: half of what mass and moments are."""
    try:
        found = next(one for one in fit.mass_properties if one.of == name)
    except (StopIteration, FreefloatError):
        return 0.0
    shares = []
    for quantity in found.quantities:
        if quantity.name == "mass" or quantity.name.startswith("moment"):
            std = quantity.std if np.isnan(quantity.total_std) else quantity.total_std
            if np.isfinite(std) and quantity.value > 0.0:
                shares.append(std / quantity.value)
    # theory: a half axis goes with the root of a moment over a mass
    return min(0.5 * SPREAD * max(shares, default=0.0) * np.sqrt(2.0), WIDEST)


class Ghosts:
    """The second robot and what belongs to the comparison."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._nodes: list[Any] = []
        self._error: Any = None
        self._label: Any = None
        self._tips: tuple[EndEffector, ...] = ()

    def show(self, state: StudioState, before: StudioState) -> None:
        """The identified model beside the robot, or the motion that it predicts in its place."""
        is_predicted = state.play.shown == "verdict" and state.judged is not None
        key = (state.is_compared, state.identified, is_predicted and state.judged, state.robot)
        old_predicted = before.play.shown == "verdict" and before.judged is not None
        old = (before.is_compared, before.identified, old_predicted and before.judged, before.robot)
        if all(a is b for a, b in zip(key, old, strict=True)):
            return
        was_beside = bool(self._nodes)
        self._clear()
        found = state.identified
        if state.is_compared and found is not None and state.robot is not None:
            self._show_beside(state.robot.craft, found.fit)
            return
        elif is_predicted and state.robot is not None:
            self.scene.show_ghost(state.robot.craft)
        else:
            self.scene.show_ghost(None)
        if was_beside:
            self.scene.look(np.zeros(3), 1.0)

    def _show_beside(self, craft: Craft, fit: Fit) -> None:
        """Both robots, see-through, each with its name and with inertia ellipsoids."""
        scene = self.scene
        scene.show_ghost(craft, beside=True)
        assert scene.nodes is not None and scene.ghost is not None
        scene.nodes.fade(SEE_THROUGH)
        self._add_ellipsoids(fit)
        above = np.array([0.0, 0.0, 1.1 * craft.size])
        for nodes, words in ((scene.nodes, "before"), (scene.ghost, "identified")):
            name = f"{nodes.root}/name"
            label = scene.scene.add_label(name, words, position=above, anchor="bottom-center")
            self._nodes.append(label)
        scene.look(0.5 * scene.ghost.offset, 1.7)

    def pose(self, state: StudioState, moment: Moment) -> Moment | None:
        """Where the ghost is; None: with the robot. The error of the end-effectors is drawn."""
        judged = state.judged
        if state.play.shown != "verdict" or judged is None or judged.predicted is None:
            return None
        predicted: FlightMotion = judged.predicted
        ghost = predicted.at(min(max(moment.time, predicted.start), predicted.end))
        self._tips = judged.verdict.end_effectors
        if state.robot is not None:
            self._draw_error(state.robot.model, moment, ghost)
        return ghost

    def _draw_error(self, model: Model, measured: Moment, predicted: Moment) -> None:
        tips = tips_of(model)
        if not tips:
            return
        ends = [_tip_positions(model, tips, moment) for moment in (measured, predicted)]
        errors = ends[1] - ends[0]
        points = np.stack([ends[0], ends[0] + EXAGGERATION * errors], axis=1).astype(np.float32)
        largest = int(np.argmax(np.linalg.norm(errors, axis=1)))
        text = f"{tips[largest]}: {1e3 * np.linalg.norm(errors[largest]):.2g} mm off"
        if noise := self._noise(tips[largest]):
            text += f" (noise {1e3 * noise:.2g} mm)"
        text += f", drawn {EXAGGERATION:g} times longer"
        if self._error is None:
            self._error = self.scene.scene.add_line_segments(
                "/compare/error", points, colors=ERROR, thickness=4.0, thickness_units="screen"
            )
            self._label = self.scene.scene.add_label(
                "/compare/error_label", text, anchor="bottom-right"
            )
        self._error.points = points
        self._label.position = points[largest, 1]
        if self._label.text != text:
            self._label.text = text

    def _noise(self, tip: str) -> float:
        """What noise of the base's sensors alone would make of it [m]; 0 where truth is drawn."""
        found = [e for e in self._tips if e.frame == tip]
        is_truth = any(e.reference == "truth" for e in found)
        return 0.0 if is_truth else max((e.expected for e in found), default=0.0)

    def _add_ellipsoids(self, fit: Fit) -> None:
        """Ellipsoids before, and identified with a shell, on the bodies that were estimated."""
        ghost, nodes = self.scene.ghost, self.scene.nodes
        if ghost is None or nodes is None:
            return
        owners = dict.fromkeys(e.name.partition(".")[0] for e in fit.estimates)
        known = {body.name for body in fit.model.bodies} | {t.name for t in fit.model.targets}
        bodies = [name for name in owners if name in known]
        for model, given, shown, colour in (
            (fit.prior_model, None, nodes, BEFORE), (fit.model, fit, ghost, AFTER)
        ):  # fmt: skip
            for k, one in enumerate(ellipsoids_of(model, bodies, given)):
                frame = shown.frame_of(one.body)
                if frame is None:
                    continue
                self._add(f"{frame}/inertia{k}", one, colour, 1.0, is_wire=True)
                if one.spread > 0.0:
                    self._add(f"{frame}/shell{k}", one, colour, 1.0 + one.spread, is_wire=False)

    def _add(
        self, name: str, one: Ellipsoid, colour: tuple[int, int, int], size: float, *, is_wire: bool
    ) -> None:
        scale = tuple((size * one.halves).tolist())
        node = self.scene.scene.add_icosphere(
            name, radius=1.0, color=colour, scale=scale, wireframe=is_wire,
            opacity=None if is_wire else 0.2, subdivisions=2, position=one.centre,
            wxyz=wxyz(one.rotation), cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        self._nodes.append(node)

    def _clear(self) -> None:
        for node in self._nodes:
            node.remove()
        if self._nodes and self.scene.nodes is not None:
            self.scene.nodes.fade(1.0)
        self._nodes = []
        for node in (self._error, self._label):
            if node is not None:
                node.remove()
        self._error = self._label = None


def _tip_positions(model: Model, tips: list[str], moment: Moment) -> Array:
    """Where end-effectors are in the world (n, 3) [m]."""
    from freefloat.model.rotations import matrix_from_quaternion

    poses = body_poses(model, posture=moment.posture)
    frames = {frame.name: frame for frame in model.frames}
    R_WB, found = matrix_from_quaternion(moment.attitude), []
    for name in tips:
        frame = frames.get(name)
        R, p = poses[name if frame is None else frame.body]
        local = p if frame is None else p + R @ frame.placement.position
        found.append(moment.position + R_WB @ local)
    return np.array(found)
