"""Paper 004's model, checked: its equations, the mode it rings with, eq. 21, Table 2's figures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.state import positions
from freefloat.dynamics.tree import flatten
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.papers.paper_004.bench import STEP, Bench, DriveValues, angle_from_vision
from freefloat.papers.paper_004.lagrangian import arm_of, flown
from freefloat.papers.paper_004.published import BOUNDS, PUBLISHED, TRUTH
from freefloat.papers.paper_rows import Row, printed, within


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
        [np.stack(m.at(bench.stages), axis=-1) for m in bench.driven.values()], axis=2
    )
    start = np.zeros(14)
    start[3:7] = positions(bench.start(offset))
    start[11:13] = motion[0, 0, :, 1]
    theirs = flown(arm_of(bench.model), start, motion, torque, STEP)
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
            printed(table, f"average {name}", unit, PUBLISHED["average"][k],
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
