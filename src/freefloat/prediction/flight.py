"""One way to simulate a flight on a grid, with or without its derivative by named parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion, observe
from freefloat.dynamics.frames import FrameMotion, frame_motion
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.kernels.tangent import Directions
from freefloat.dynamics.sensitivity import (
    LinkChange,
    Sensitivity,
    integrate_with_sensitivity,
    link_change,
)
from freefloat.dynamics.setup_change import SetupChanges
from freefloat.dynamics.tree import System
from freefloat.prediction.time_grid import TimeGrid


@dataclass(frozen=True)
class FlightSegment:
    """A stretch of a simulated flight: states, motion and inputs at the same times [s].

    sensitivity: how the motion changes with parameters, where it was simulated along.
    """

    times: Array
    states: Array
    motion: SystemMotion
    inputs: Inputs
    sensitivity: Sensitivity | None = None

    @cached_property
    def _frames(self) -> dict[str, FrameMotion]:
        return {}

    @cached_property
    def _changes(self) -> dict[tuple[int, str, bool], LinkChange]:
        return {}

    @property
    def tangent(self) -> Sensitivity:
        """The sensitivity; whoever asks must have simulated it."""
        assert self.sensitivity is not None, "simulated without a derivative"
        return self.sensitivity

    def frame(self, system: System, target: str) -> FrameMotion:
        """How the frame or body `target` of the system moves; sensors on it share the work."""
        if target not in self._frames:
            self._frames[target] = frame_motion(system, target, self.states, motion=self.motion)
        return self._frames[target]

    def change(self, system: System, target: str, *, with_acceleration: bool) -> LinkChange:
        """How the motion of a frame's link changes with the parameters; sensors share the work."""
        body = system.body_of(target)
        is_apart = any(move.body == body for _, move in self.tangent.moves)
        key = (system.body_link[body], body if is_apart else "", with_acceleration)
        if key not in self._changes:
            self._changes[key] = link_change(
                system, key[0], self.motion.links, self.tangent, body=key[1],
                with_acceleration=with_acceleration,
            )  # fmt: skip
        return self._changes[key]

    def thin(self, every: int) -> FlightSegment:
        """Every so many of the instants."""
        if every == 1:
            return self
        some = slice(None, None, every)
        motion = SystemMotion(*(part[some] for part in vars(self.motion).values()))
        given, effort, push = (t if len(t) == 1 else t[some] for t in self.inputs[:3])
        inputs = Inputs(given, effort, push, self.inputs.gains)
        slopes = None if self.sensitivity is None else self.sensitivity.thin(some)
        return FlightSegment(self.times[some], self.states[some], motion, inputs, slopes)


def fly(
    system: System,
    start: Array,
    grid: TimeGrid,
    *,
    inputs: Inputs,
    record_inputs: Inputs,
    names: Sequence[str] = (),
    with_forces: bool = True,
    known: tuple[Directions, Array] | None = None,
    setup: SetupChanges | None = None,
) -> FlightSegment:
    """Simulate from the state `start` on by RK4, and observe the motion at every record.

    Args:
        system: The model's arrays, at the parameter values to simulate with.
        start: State vector (13 + 2 c,) at `grid.first`.
        grid: Step [s], records and how many steps lie between them.
        inputs: At the stages of every step (`grid.stages`).
        record_inputs: At every record (`grid.instants`).
        names: Parameters to differentiate by; the segment has its `sensitivity` either way.
        with_forces: Whether the derivative of accelerations and forces is wanted too.
        known: `parameter_directions` of the names, for whoever simulates many times.
        setup: What those of the names change that belong to inputs, geometry and surroundings.

    Returns:
        States and motion at the records; not checked to be finite.
    """
    sensitivity = integrate_with_sensitivity(
        system, start, names, inputs=inputs, step=grid.step, n_steps=grid.n_steps,
        every=grid.every, time=grid.first, with_efforts=with_forces, known=known,
        setup=setup,
    )  # fmt: skip
    motion = observe(system, sensitivity.states, inputs=record_inputs, times=grid.times)
    return FlightSegment(grid.times, sensitivity.states, motion, record_inputs, sensitivity)
