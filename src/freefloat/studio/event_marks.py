"""Events of a live run in the scene: a capture, a release, a joint that is stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.studio.scene import Scene

if TYPE_CHECKING:
    from freefloat.online.health import Event
    from freefloat.studio.studio_state import StudioState

MOST_MARKS = 6  # format: parts of the robot that are marked at once, the last ones
COLOUR = (230, 60, 60)


class EventMarks:
    """A label and a red ball where something happened, at every body and joint concerned.

    labels: what they say.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._shown: tuple[Event, ...] = ()
        self._nodes: list[Any] = []
        self.labels: tuple[str, ...] = ()

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        events = _events(state)
        if events == self._shown and state.robot is before.robot:
            return
        self._shown = events
        for node in self._nodes:
            node.remove()
        self._nodes, self.labels = [], ()
        if state.robot is None or not events:
            return
        places = _places(state)
        last = {name: event for event in events for name in event.about if name in places}
        for k, (name, event) in enumerate([*last.items()][-MOST_MARKS:]):
            self._mark(k, name, event, *places[name])

    def _mark(self, number: int, name: str, event: Event, body: str, at: np.ndarray) -> None:
        nodes = self.scene.nodes
        frame = None if nodes is None else nodes.frame_of(body)
        if nodes is None or frame is None:
            return
        scene, size = self.scene.scene, nodes.craft.size
        text = f"{name}: {event.kind} at {event.time:.1f} s"
        self.labels = (*self.labels, text)
        self._nodes += [
            scene.add_icosphere(
                f"{frame}/event{number}", radius=0.06 * size, color=COLOUR, opacity=0.5,
                position=at, cast_shadow=False, receive_shadow=False,
            ),
            scene.add_label(
                f"{frame}/event{number}_label", text, position=at, anchor="bottom-center"
            ),
        ]  # fmt: skip


def _events(state: StudioState) -> tuple[Event, ...]:
    live = state.live
    is_shown = live is not None and live.last is not None and state.play.shown == "live"
    return live.last.events if is_shown else ()  # type: ignore[union-attr]


def _places(state: StudioState) -> dict[str, tuple[str, np.ndarray]]:
    """Body and place in it of whatever an event can be about: bodies at their centre, joints."""
    model = state.model
    found = {body.name: (body.name, np.array(body.com)) for body in model.assembly.bodies}
    found |= {t.name: (t.name, np.array(t.body.com)) for t in model.targets}
    return found | {joint.name: (joint.child, np.zeros(3)) for joint in model.joints}
