"""The Plan: how we shake the robot. One frozen noun, saved as TOML.

A plan says how long, from where, how the driven coordinates move, what torques, thrusters and
wrenches push, and which coordinates are held on their motion by feedback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import InputFunction
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System
from freefloat.errors import ExcitationError
from freefloat.excitation.commands import WRENCH, AnyCommand, Wave
from freefloat.excitation.motions import AnyMotion, Hold, Speeds
from freefloat.excitation.plan_checks import model_faults, own_faults
from freefloat.excitation.plan_write import save_plan
from freefloat.model.model import Model
from freefloat.notebook import html_table, html_view
from freefloat.records.values import Bounds
from freefloat.text import count_noun, table_lines

Gain = Annotated[float, Bounds(least=0.0, remedy="drop the sign")]


@dataclass(frozen=True)
class Feedback:
    """Joint PD: torque = kp (q_ref - q) + kd (dq_ref - dq) + feedforward, clipped to +-limit.

    kp [N m/rad], kd [N m s/rad], limit [N m] (None: no clipping). The reference is the plan's
    motion of the coordinate, the feedforward its torque, where there is one.
    """

    kp: Gain
    kd: Gain
    limit: Gain | None = None


@dataclass(frozen=True)
class CaptureControl:
    """Closed-loop control of paper 001: the arm steadies the base, thrusters brake the whole.

    The base's attitude angles e (yaw, pitch, roll for a floating root) obey
    dde + damping de + stiffness e = 0 (eq. 39) through the arm alone: joint accelerations are the
    smallest that do it. Force and torque on the base are proportional to the system's linear and
    angular momentum, saturated axis by axis (eqs 40, 41).

    damping [1/s], stiffness [1/s^2], force_gain and torque_gain [1/s], max_force [N], max_torque
    [N m]; the force acts at the root's origin, in world axes; momentum is about the system's
    centre of mass.
    """

    damping: Gain = 0.7071067811865476
    stiffness: Gain = 0.25
    force_gain: Gain = 1.0
    max_force: Gain = 10.0
    torque_gain: Gain = 1.0
    max_torque: Gain = 10.0
    kind: Literal["capture"] = "capture"


@dataclass(frozen=True)
class Plan:
    """A motion to fly: duration [s], start, and what moves and pushes.

    motions: coordinate -> motion (prescribed ones follow it exactly; torque-driven ones need a
    feedback and use it as reference). torques: coordinate -> command [N m]. thrusts: thruster ->
    command [N]. wrench: "force.x" [N] ... "torque.z" [N m] on the root's origin, world axes.
    """

    duration: float
    start: Start = Start()
    motions: Mapping[str, AnyMotion] = field(default_factory=dict)
    torques: Mapping[str, AnyCommand] = field(default_factory=dict)
    thrusts: Mapping[str, AnyCommand] = field(default_factory=dict)
    wrench: Mapping[str, AnyCommand] = field(default_factory=dict)
    feedback: Mapping[str, Feedback] = field(default_factory=dict)
    control: CaptureControl | None = None
    name: str = "plan"

    def __str__(self) -> str:
        """One line, and another for everything that moves or pushes."""
        rows = table_lines(self._rows(), left=3)
        return "\n".join([self._headline(), *(f"  {row}" for row in rows)])

    def _repr_html_(self) -> str:
        head = ("name", "part of the plan", "kind")
        return html_view(self._headline(), html_table(head, self._rows()))

    def _headline(self) -> str:
        return f"{self.name}: {self.duration:g} s, {count_noun(len(self._rows()), 'command')}"

    def _rows(self) -> list[tuple[str, str, str]]:
        """Name, part of the plan and kind of everything that moves or pushes."""
        parts = {
            "motion": self.motions, "torque": self.torques, "thrust": self.thrusts,
            "wrench": self.wrench, "feedback": self.feedback,
        }  # fmt: skip
        rows = [
            (name, part, type(command).__name__)
            for part, commands in parts.items()
            for name, command in commands.items()
        ]
        return rows + ([("base", "control", "CaptureControl")] if self.control else [])

    def save(self, path: str | Path) -> None:
        """Write the plan as TOML."""
        save_plan(self, path)

    def check(self, model: Model) -> None:
        """Raise ExcitationError listing all that is wrong with the plan, or beyond the model."""
        faults = [*own_faults(self), *model_faults(self, model)]
        if faults:
            raise ExcitationError(f"the plan {self.name!r} does not fit {model.name!r}", faults)

    def motion_of(self, name: str, model: Model) -> AnyMotion:
        """The motion of a coordinate; those not mentioned stay at home, wheels keep their speed."""
        if name in self.motions:
            return self.motions[name]
        coordinate = model.assembly.coordinates[model.assembly.index(name)]
        home = self.start.coordinates.get(name, coordinate.home)
        speed = self.start.speeds.get(name, coordinate.speed)
        return Speeds((0.0,), (speed,), home) if speed else Hold(home)

    def start_state(self, system: System) -> Array:
        """The state vector at t = 0; prescribed coordinates start on their motion."""
        x = self.start.vector(system)
        c, zero = system.n_coordinates, np.zeros(1)
        for i in system.tree.given:
            q, dq, _ = self.motion_of(system.coordinates[i], system.model).at(zero)
            x[13 + i], x[13 + c + i] = q[0], dq[0]
        return x

    def inputs(self, system: System) -> InputFunction:
        """The function that tabulates this plan for the integrator."""
        model = system.model
        given = [self.motion_of(system.coordinates[i], model) for i in system.tree.given]
        gains = self._gains(system)
        thrusters = [thruster.name for thruster in model.thrusters]

        def tabulate(times: Array) -> Inputs:
            rows = len(times)
            motion = np.empty((rows, 3, len(given), 3))
            for k, part in enumerate(given):
                motion[:, :, k] = np.stack(part.at(times), axis=-1)
            effort = np.zeros((1, 3, system.n_coordinates, 3))
            if self.torques or self.feedback:
                effort = self._efforts(system, times)
            push = np.zeros((1, 3, len(thrusters) + 6))
            if self.thrusts or self.wrench:
                push = self._pushes(thrusters, times)
            return Inputs(motion, effort, push, gains)

        return tabulate

    def edges(self) -> tuple[float, ...]:
        """The times [s] at which commands jump."""
        commands = (*self.torques.values(), *self.thrusts.values(), *self.wrench.values())
        return tuple(sorted({t for command in commands for t in command.edges()}))

    def _gains(self, system: System) -> Array:
        gains = np.zeros((system.n_coordinates, 3))
        gains[:, 2] = np.inf
        for name, part in self.feedback.items():
            limit = np.inf if part.limit is None else part.limit
            gains[system.coordinates.index(name)] = part.kp, part.kd, limit
        return gains

    def _efforts(self, system: System, times: Array) -> Array:
        effort = np.zeros((len(times), 3, system.n_coordinates, 3))
        for name, command in self.torques.items():
            effort[:, :, system.coordinates.index(name), 0] = _levels(command, times)
        for name in self.feedback:
            q, dq, _ = self.motion_of(name, system.model).at(times)
            effort[:, :, system.coordinates.index(name), 1:] = np.stack([q, dq], axis=-1)
        return effort

    def _pushes(self, thrusters: list[str], times: Array) -> Array:
        push = np.zeros((len(times), 3, len(thrusters) + 6))
        for name, command in self.thrusts.items():
            push[:, :, thrusters.index(name)] = _levels(command, times)
        for name, command in self.wrench.items():
            push[:, :, len(thrusters) + WRENCH.index(name)] = _levels(command, times)
        return push


def _levels(command: AnyCommand, times: Array) -> Array:
    """Levels at the three stages of each step: smooth ones as they are, jumping ones averaged."""
    if isinstance(command, Wave):
        return command.over(times, times)
    return command.over(times[:, :1], times[:, 2:]) + np.zeros(3)
