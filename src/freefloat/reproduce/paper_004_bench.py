"""Paper 004's test bed: the motion, the torque of the rigid reference, eq. 21 and its flights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import observe
from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import Start, positions
from freefloat.dynamics.tree import System, flatten
from freefloat.excitation.motions import Accelerate
from freefloat.excitation.plan import Plan
from freefloat.identification.write_back import PLANAR, stretched, with_parameters
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.reproduce.paper_004_published import ACCELERATIONS, PUBLISHED
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.sensors import report
from freefloat.telemetry.truths import Instant, readings

JOINT, MOTOR = "arm_1", "arm_1.motor"
STEP = 0.025  # [s]: RK4 errs by 1e-9 rad at the 2 rad/s of the spring
RATE = 20.0  # [Hz], chosen
EVERY = round(1.0 / (RATE * STEP))


@dataclass(frozen=True)
class Bench:
    """The arm as the paper models it: a slow disc pushed by a known torque behind a spring."""

    model: Model

    @classmethod
    def of(cls, model: Model | None = None) -> Bench:
        """The bench of the built-in model, or of another one of the same make."""
        return cls(load_model("cbk-arm") if model is None else model)

    @cached_property
    def motions(self) -> dict[str, Accelerate]:
        """The commanded motion of every joint."""
        return {
            name: Accelerate(float(np.deg2rad(a)), self.model.joint(name).home)
            for name, a in ACCELERATIONS.items()
        }

    @cached_property
    def stages(self) -> Array:
        """Start, middle and end of every step (steps, 3) [s]."""
        n = round(PUBLISHED["duration"] / STEP)
        return (np.arange(n)[:, None] + np.array([0.0, 0.5, 1.0])) * STEP

    def with_drive(self, *, inertia: float, stiffness: float, damping: float) -> Model:
        """The arm with another drive."""
        names = (f"{JOINT}.drive.inertia", f"{JOINT}.drive.stiffness", f"{JOINT}.drive.damping")
        values = (inertia, stiffness, damping)
        return with_parameters(self.model, dict(zip(names, values, strict=True)))

    def reference_torque(self, model: Model) -> Array:
        """Torque (steps, 3) [N m] that moves the motor of the rigid-joint arm as commanded.

        The disc then turns with link 1 and counts to its inertia. The paper does not say whether
        its reference has the disc; without it the torque could not move a disc of several kg m^2.
        """
        drive = model.joint(JOINT).drive
        assert drive is not None
        link = model.body("link_1")
        four = link.phi[list(PLANAR)] + np.array([0.0, 0.0, 0.0, drive.inertia])
        plain = replace(rigid(model), sensors=())  # the motor's have nothing to sit on any more
        stiff = flatten(plain.with_body(stretched(link, four)))
        plan = Plan(PUBLISHED["duration"], motions=self.motions)
        tabulate = plan.inputs(stiff)
        times = np.arange(2 * len(self.stages) + 1) * 0.5 * STEP
        flight = integrate(
            stiff, plan.start_state(stiff), tabulate, duration=float(times[-1]), step=0.5 * STEP
        )
        inputs = tabulate(np.repeat(times[:, None], 3, axis=1))
        torque = observe(stiff, flight.states, inputs=inputs, times=times).forces
        row = torque[:, stiff.coordinates.index(JOINT)]
        return np.column_stack([row[:-1:2], row[1::2], row[2::2]])

    def inputs(self, system: System, torque: Array) -> Inputs:
        """Tables for the integrator: joints 2 and 3 move, the motor is pushed."""
        table = Plan(PUBLISHED["duration"], motions=self.driven).inputs(system)(self.stages)
        effort = np.zeros((len(self.stages), 3, system.n_coordinates, 3))
        effort[:, :, system.coordinates.index(MOTOR), 0] = torque
        return table._replace(effort=effort)

    @property
    def driven(self) -> dict[str, Accelerate]:
        """The motions of joints 2 and 3."""
        return {name: motion for name, motion in self.motions.items() if name != JOINT}

    def start(self, system: System, offset: float, rate: float = 0.0) -> Array:
        """The state at t = 0: at rest but for the spring's offset [rad] and rate [rad/s]."""
        home = self.model.joint(JOINT).home
        plan = Plan(
            PUBLISHED["duration"], motions=self.driven,
            start=Start(coordinates={JOINT: home + offset, MOTOR: home}, speeds={JOINT: rate}),
        )  # fmt: skip
        return plan.start_state(system)

    def states(self, model: Model, offset: float, torque: Array | None = None) -> Array:
        """States (N, ...) at every step of a run of the disc model."""
        system = flatten(model)
        torque = self.reference_torque(model) if torque is None else torque
        table = self.inputs(system, torque)
        flight = integrate(
            system, self.start(system, offset), lambda _: table,
            duration=PUBLISHED["duration"], step=STEP,
        )  # fmt: skip
        return flight.states

    def joint_angle(self, model: Model, offset: float) -> Array:
        """q1 at the sample instants [rad]."""
        return positions(self.states(model, offset))[::EVERY, 0]

    def flight(self, model: Model, offset: float, *, seed: int) -> Telemetry:
        """What the sensors of the bench report of a run of the disc model."""
        system, torque = flatten(model), self.reference_torque(model)
        states = self.states(model, offset, torque)[::EVERY]
        table = self.inputs(system, torque)
        last = [np.concatenate([t[::EVERY], t[-1:, ::-1]]) for t in (table.given, table.effort)]
        push = np.zeros((len(states), 3, table.push.shape[-1]))
        inputs = Inputs(last[0], last[1], push, table.gains)
        times = np.arange(len(states)) / RATE
        motion = observe(system, states, inputs=inputs, times=times)
        at = Instant(times, states, motion, inputs)
        channels = [
            channel
            for sensor in model.sensors
            for name, truth in readings(system, sensor, at).items()
            for channel in report(sensor, name, times, truth, seed=seed)
        ]
        return Telemetry.of(channels)


def angle_from_vision(model: Model, flight: Telemetry) -> Array:
    """Eq. 21 solved for q1 [rad]: the turn from the arm as folded to the arm as seen.

    p = R0^T (x_e - x0) - p_m must equal R(q1) e, where e is the hand seen from joint 1 when q1 = 0.
    """
    channels = ("base.position.x", "base.position.y", "hand.position.x", "hand.position.y",
                "base.angle", "arm_2.position", "arm_3.position")  # fmt: skip
    x0, y0, xe, ye, angle, q2, q3 = flight.matrix(channels)[1].T
    l1, l2 = (model.joint(name).placement.xyz[:2] for name in ("arm_2", "arm_3"))
    l3 = next(frame for frame in model.frames if frame.name == "hand").placement.xyz[:2]
    e = np.zeros((2, len(q2))) + np.array(l1)[:, None]
    e = e + _turned(l2, q2) + _turned(l3, q2 + q3)
    c, s = np.cos(angle), np.sin(angle)
    p_m = model.joint(JOINT).placement.xyz
    px = c * (xe - x0) + s * (ye - y0) - p_m[0]
    py = -s * (xe - x0) + c * (ye - y0) - p_m[1]
    turn = np.arctan2(py, px) - np.arctan2(e[1], e[0])
    return np.arctan2(np.sin(turn), np.cos(turn))


def _turned(vector: tuple[float, ...], angle: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])
