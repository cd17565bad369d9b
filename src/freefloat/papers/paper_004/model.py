"""Paper 004's test bed and model: reference torque, eq. 21, held motor, Table 2's own figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import mass_matrix, observe
from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import Start, positions
from freefloat.dynamics.tree import System, flatten
from freefloat.excitation.motions import Accelerate
from freefloat.excitation.plan import Plan
from freefloat.identification.linear.parameter_columns import update_system
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.papers.paper_004.lagrangian import arm_of, integrate_by_hand
from freefloat.papers.paper_004.published import ACCELERATIONS, BOUNDS, PUBLISHED, TRUTH
from freefloat.papers.paper_rows import Row, printed_row, within
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.sensor_models import sensor_readings
from freefloat.prediction.sensor_noise import report
from freefloat.telemetry.telemetry import Telemetry

JOINT, MOTOR = "arm_1", "arm_1.motor"
# theory: [s]: at the 2 rad/s of the spring RK4 errs by (2 h)^4 / 120 = 5e-8 of the swing a radian,
# after 10 s by 1e-6 of it: a ten-thousandth of what vision sees
STEP = 0.025
RATE = 20.0  # format: protocol, [Hz], chosen
EVERY = round(1.0 / (RATE * STEP))


class DriveValues(NamedTuple):
    """What the paper identifies: I_m [kg m^2], k [N m/rad], b [N m s/rad]."""

    inertia: float
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Bench:
    """The arm as the paper models it: a slow disc pushed by a known torque behind a spring."""

    model: Model

    @classmethod
    def of(cls, model: Model | None = None) -> Bench:
        """The bench of the built-in model, or of another one of the same make."""
        return cls(load_model("cbk-arm") if model is None else model)

    @cached_property
    def drive(self) -> DriveValues:
        """The drive of the model itself."""
        drive = self.model.joint(JOINT).drive
        assert drive is not None
        return DriveValues(drive.inertia, drive.stiffness, drive.damping)

    @cached_property
    def motions(self) -> dict[str, Accelerate]:
        """The commanded motion of every joint."""
        return {
            name: Accelerate(float(np.deg2rad(a)), self.model.joint(name).home)
            for name, a in ACCELERATIONS.items()
        }

    @property
    def joint_motions(self) -> dict[str, Accelerate]:
        """The motions of joints 2 and 3."""
        return {name: motion for name, motion in self.motions.items() if name != JOINT}

    @cached_property
    def stages(self) -> Array:
        """Start, middle and end of every step (steps, 3) [s]."""
        n = round(PUBLISHED["duration"] / STEP)
        return (np.arange(n)[:, None] + np.array([0.0, 0.5, 1.0])) * STEP

    @cached_property
    def _disc(self) -> System:
        return flatten(self.model)

    @cached_property
    def _stiff(self) -> System:
        """The rigid-joint arm without a disc."""
        return flatten(replace(rigid(self.model), sensors=()))

    def system(self, drive: DriveValues) -> System:
        """The arm with another drive, ready to compute with."""
        names, before = [f"{JOINT}.drive.inertia"], np.array([self.drive.inertia])
        new = update_system(self._disc, names, before, np.array([drive.inertia]))
        owners = [spring.owner for spring in self.model.assembly.springs]
        spring = new.parameters.spring.copy()
        spring[owners.index(f"{JOINT}.drive"), :2] = drive.stiffness, drive.damping
        return replace(new, parameters=new.parameters._replace(spring=spring))

    def reference_torque(self, inertia: float) -> Array:
        """Torque (steps, 3) [N m] that moves the motor of the rigid-joint arm as commanded.

        The disc then turns with link 1 and counts to its inertia. The paper does not say whether
        its reference has the disc; without it the torque could not move a disc of several kg m^2.
        """
        zero = np.zeros(1)
        stiff = update_system(self._stiff, ["link_1.izz"], zero, np.array([inertia]))
        times = np.arange(2 * len(self.stages) + 1) * 0.5 * STEP
        start, steps, rows = self._stiff_tables
        flight = integrate(
            stiff, start, lambda _: steps, duration=float(times[-1]), step=0.5 * STEP
        )
        torque = observe(stiff, flight.states, inputs=rows, times=times).forces
        row = torque[:, stiff.coordinates.index(JOINT)]
        return np.column_stack([row[:-1:2], row[1::2], row[2::2]])

    @cached_property
    def _stiff_tables(self) -> tuple[Array, Inputs, Inputs]:
        """Start and inputs of the rigid arm: for every half step, and at their ends."""
        plan = Plan(PUBLISHED["duration"], motions=self.motions)
        tabulate = plan.inputs(self._stiff)
        n = 2 * len(self.stages)
        steps = (np.arange(n)[:, None] + np.array([0.0, 0.5, 1.0])) * 0.5 * STEP
        ends = np.repeat(np.arange(n + 1)[:, None] * 0.5 * STEP, 3, axis=1)
        return plan.start_state(self._stiff), tabulate(steps), tabulate(ends)

    @cached_property
    def _moving(self) -> Inputs:
        return Plan(PUBLISHED["duration"], motions=self.joint_motions).inputs(self._disc)(
            self.stages
        )

    def inputs(self, torque: Array) -> Inputs:
        """Tables for the integrator: joints 2 and 3 move, the motor is pushed."""
        effort = np.zeros((len(self.stages), 3, self._disc.n_coordinates, 3))
        effort[:, :, self._disc.coordinates.index(MOTOR), 0] = torque
        return self._moving._replace(effort=effort)

    def start(self, offset: float, rate: float = 0.0) -> Array:
        """The state at t = 0: at rest but for the spring's offset [rad] and its rate [rad/s]."""
        home = self.model.joint(JOINT).home
        plan = Plan(
            PUBLISHED["duration"], motions=self.joint_motions,
            start=Start(coordinates={JOINT: home + offset, MOTOR: home}, speeds={JOINT: rate}),
        )  # fmt: skip
        return plan.start_state(self._disc)

    def states(
        self, drive: DriveValues, offset: float, torque: Array | None = None, *, rate: float = 0.0
    ) -> Array:
        """States (steps + 1, ...) of a run of the disc model; `rate` of the spring [rad/s]."""
        torque = self.reference_torque(drive.inertia) if torque is None else torque
        table = self.inputs(torque)
        flight = integrate(
            self.system(drive), self.start(offset, rate), lambda _: table,
            duration=PUBLISHED["duration"], step=STEP,
        )  # fmt: skip
        return flight.states

    def joint_angle(self, drive: DriveValues, offset: float, torque: Array | None = None) -> Array:
        """q1 at the sample instants [rad]."""
        return positions(self.states(drive, offset, torque))[::EVERY, 0]

    def flight(
        self, drive: DriveValues, offset: float, *, seed: int, is_noisy: bool = True
    ) -> Telemetry:
        """What the sensors of the bench report of a run of the disc model."""
        system, torque = self.system(drive), self.reference_torque(drive.inertia)
        states = self.states(drive, offset, torque)[::EVERY]
        table = self.inputs(torque)
        rows = [np.concatenate([t[::EVERY], t[-1:, ::-1]]) for t in (table.given, table.effort)]
        push = np.zeros((len(states), 3, table.push.shape[-1]))
        inputs = Inputs(rows[0], rows[1], push, table.gains)
        times = np.arange(len(states)) / RATE
        at = FlightSegment(
            times, states, observe(system, states, inputs=inputs, times=times), inputs
        )
        channels = [
            channel
            for sensor in self.model.sensors
            for name, truth in sensor_readings(system, sensor, at).items()
            for channel in report(
                sensor if is_noisy else replace(sensor, noise=0.0), name, times, truth, seed=seed
            )
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
    e = e + _rotate(l2, q2) + _rotate(l3, q2 + q3)
    c, s = np.cos(angle), np.sin(angle)
    p_m = model.joint(JOINT).placement.xyz
    px = c * (xe - x0) + s * (ye - y0) - p_m[0]
    py = -s * (xe - x0) + c * (ye - y0) - p_m[1]
    turn = np.arctan2(py, px) - np.arctan2(e[1], e[0])
    return np.arctan2(np.sin(turn), np.cos(turn))


def _rotate(vector: tuple[float, ...], angle: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


# -- paper 004's model, checked: its equations, the mode it rings with, eq. 21, Table 2's figures --


@dataclass(frozen=True)
class HeldMotor:
    """What the base, link 1 and the disc weigh against each other in the start posture.

    B: inertia of everything about its centre of mass; L: of the arm about joint 1; C: their
    coupling; all [kg m^2], joints locked, translation eliminated, no disc.
    """

    B: float
    L: float
    C: float

    @classmethod
    def of(cls, model: Model) -> HeldMotor:
        """The three numbers of a model with a flexible first joint."""
        plain = model.with_joint("arm_1", drive=None, role="torque")
        system = flatten(replace(plain, sensors=()))
        home = np.array([c.home for c in system.model.assembly.coordinates])
        H = mass_matrix(system, home)  # rate z, velocity x and y, joint 1
        move = [1, 2]
        coupling = np.linalg.solve(H[np.ix_(move, move)], H[np.ix_(move, [0, 3])])
        A = H[np.ix_([0, 3], [0, 3])] - H[np.ix_([0, 3], move)] @ coupling
        return cls(float(A[0, 0]), float(A[1, 1]), float(A[0, 1]))

    @property
    def effective(self) -> float:
        """What joint 1 moves while the base floats: L - C^2 / B."""
        return self.L - self.C**2 / self.B

    @property
    def equivalent_inertia(self) -> float:
        """The free disc that stays put in the arm's own oscillation, as a held motor does.

        With a disc I_m on the base the inertia matrix of (q1, q_m) is M11 = L - C^2/(B + I_m),
        M12 = -C I_m/(B + I_m). The disc does not take part where M12 = -M11.
        """
        return self.B * self.effective / (self.C - self.L)

    @property
    def stiffness_ratio(self) -> float:
        """By how much k is then overestimated: M11(I_m*) / M11(0) = B / (B - C)."""
        return self.B / (self.B - self.C)


def model_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """The equations by hand, the effective inertia, the mode with the motor held."""
    bench = Bench.of(model)
    held = HeldMotor.of(bench.model)
    table = "Eqs 1 to 20: the model"
    k = bench.drive.stiffness
    return [
        within(table, "q1, equations by hand against ours", "rad", lagrangian_gap(bench),
               between=BOUNDS["lagrangian"], status="reproduced",
               note="the seven-coordinate Lagrangian, 10 s, same RK4 steps; largest difference"),
        within(table, "effective inertia of joint 1, base free", "kg m^2", held.effective,
               between=BOUNDS["effective inertia"], note="L - C^2/B, start posture"),
        within(table, "mode with the motor held", "rad/s", float(np.sqrt(k / held.effective)),
               between=BOUNDS["held mode"]),
        Row(table, "reaction on the base, overstated by", "-", None, gear_ratio(),
            "paper wrong" if gear_ratio() > 1.0 else "missed",
            "a rotor J behind a gear N weighs N^2 J at the joint but pushes the base"
            " with N J only; eqs 17-20 have N^2 J in both places"),
    ]  # fmt: skip


def gear_ratio() -> float:
    """N of the geared arm: I_m = N^2 J at the joint, N J towards the base."""
    drive = load_model("cbk-arm-geared").joint("arm_1").drive
    assert drive is not None
    return drive.ratio


def lagrangian_gap(bench: Bench) -> float:
    """The largest difference of q1 [rad] between the equations by hand and the kernels'."""
    offset = float(np.deg2rad(PUBLISHED["offsets"][1]))
    torque = bench.reference_torque(bench.drive.inertia)
    ours = positions(bench.states(bench.drive, offset, torque))
    motion = np.stack(
        [np.stack(m.at(bench.stages), axis=-1) for m in bench.joint_motions.values()], axis=2
    )
    start = np.zeros(14)
    start[3:7] = positions(bench.start(offset))
    start[11:13] = motion[0, 0, :, 1]
    theirs = integrate_by_hand(arm_of(bench.model), start, motion, torque, STEP)
    return float(np.max(np.abs(theirs[:, 3] - ours[:, 0])))


def vision_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Eq. 21 has a closed form; what vision noise makes of q1."""
    bench, table = Bench.of(model), "Eq. 21: q1 from vision"
    drive, offset = DriveValues(**TRUTH), float(np.deg2rad(PUBLISHED["offsets"][1]))
    truth = bench.joint_angle(drive, offset)
    clean = bench.flight(drive, offset, seed=seed, is_noisy=False)
    errors = [
        angle_from_vision(bench.model, bench.flight(drive, offset, seed=seed + n)) - truth
        for n in range(3 if quick else 20)
    ]
    return [
        within(table, "closed form against the truth, no noise", "rad",
               float(np.max(np.abs(angle_from_vision(bench.model, clean) - truth))),
               between=BOUNDS["closed form"], status="reproduced",
               note="the turn from [l1 + l2 c2 + l3 c23, l2 s2 + l3 s23] to R0^T (x_e - x0) - p_m"),
        within(table, "deviation of q1", "deg", float(np.rad2deg(np.std(errors))),
               between=BOUNDS["vision"], note="vision 1 mm and 0.1 deg, chosen; every sample"),
    ]  # fmt: skip


def average_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Table 2's averages and deviations from its own five rows."""
    table, names = "Table 2: its own figures", ("inertia", "stiffness", "damping")
    units = ("kg m^2", "N m/rad", "N m s/rad")
    rows = []
    for k, (name, unit) in enumerate(zip(names, units, strict=True)):
        values = np.array(PUBLISHED[name])
        note = "printed in kg m/s, which no damping has" if name == "damping" else ""
        rows += [
            printed_row(table, f"average {name}", unit, PUBLISHED["average"][k],
                    float(np.mean(values)), digits=1, note=note),
            Row(table, f"deviation of {name}", unit, PUBLISHED["deviation"][k], spread(values),
                # the five values are rounded, and so is what is printed of their deviation
                "reproduced" if abs(spread(values) - PUBLISHED["deviation"][k]) < 0.1 else "missed",
                "n - 1 in the denominator, from the five printed values"),
        ]  # fmt: skip
    return rows


def spread(values: Array) -> float:
    """The deviation as the paper takes it, n - 1 in the denominator."""
    return float(np.std(values, ddof=1))
