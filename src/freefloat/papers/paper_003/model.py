"""Cepheus on its granite table: parameters, motion, least squares, and the experiment flown."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System, flatten
from freefloat.excitation.motions import Fourier, Speeds
from freefloat.excitation.plan import Plan
from freefloat.identification.linear.angular import AngularForm
from freefloat.identification.linear.angular_regressor import angular_rows, pair_form
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.papers.paper_003.published import BOUNDS, PUBLISHED
from freefloat.papers.paper_rows import Row, printed_row, within
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

JOINTS = ("arm_1", "arm_2")
WHEEL = "rw_z"
EXPERIMENT_TABLE = "Eq. 13: the wheel, flown from rest"
SPIN_UP = 20.0  # format: protocol, [s]


@dataclass(frozen=True)
class Emulator:
    """The emulator with its parameters in the paper's order.

    form: the pair form reduced to eight columns in the order pi1 ... pi8; signs turns its
    parameters into the paper's, which counts pi3 and pi4 the other way.
    """

    model: Model
    system: System
    form: AngularForm
    signs: Array

    @classmethod
    def of(cls, model: Model | None = None) -> Emulator:
        """The bench of a model with two joints and a wheel; the built-in one by default."""
        model = load_model("cepheus") if model is None else model
        system = flatten(model)
        form = AngularForm.of(system)
        kept = [pair_form(system).names[k] for k in form.minimal.kept]
        places = [kept.index(name) for name in _order(system)]
        minimal = replace(
            form.minimal, kept=form.minimal.kept[places], regroup=form.minimal.regroup[places]
        )
        signs = np.array([1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
        return cls(model, system, replace(form, minimal=minimal), signs)

    @property
    def pi(self) -> Array:
        """The true pi1 ... pi8 [kg m^2]."""
        return self.signs * self.form.parameters(self.system)

    @property
    def wheel_inertia(self) -> float:
        """Spin inertia of the wheel [kg m^2]."""
        return next(wheel.inertia for wheel in self.model.wheels if wheel.name == WHEEL)

    @property
    def wheel_speed(self) -> float:
        """The speed [rad/s] that leaves the paper's momentum to the rest, starting from rest."""
        return -PUBLISHED["momentum"] / self.wheel_inertia

    def rows(self, rate: Array, q: Array, dq: Array) -> Array:
        """Y (N, 8) of base rates (N,), joint angles (N, 2) and joint rates (N, 2)."""
        zero = np.zeros((len(rate), 1))
        still = np.zeros((len(rate), 6))
        rest = np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (len(rate), 1))
        x = np.hstack([still, rest, rate[:, None], q, zero, dq, zero])
        Y = angular_rows(self.system, x)[:, 2]
        return Y[:, self.form.minimal.kept] * self.signs

    def base_rate(self, q: Array, dq: Array, momentum: Array | float) -> Array:
        """The base rate (N,) [rad/s] at which links of the true pi have the momentum [N m s]."""
        return predicted_rate(self, self.pi, q, dq, momentum)

    def samples(self, time: Array, wheel_speed: Array | float) -> Samples:
        """Exact measurements of Table 2's motion, all at rest before the wheel was spun up."""
        q, dq = table_2(time)
        speed = np.broadcast_to(wheel_speed, time.shape)
        rate = self.base_rate(q, dq, -self.wheel_inertia * speed)
        zero = np.zeros_like(rate)
        return Samples(
            time, np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1)),
            np.column_stack([zero, zero, rate]), None, np.column_stack([q, zero]),
            np.column_stack([dq, speed]), None, np.zeros((len(time), 6)),
            np.zeros((len(time), len(self.model.thrusters))),
        )  # fmt: skip

    def solve(self, samples: Samples, *, momentum: float = 0.0, drag: bool = False) -> Array:
        """Least squares (eq. 11): pi1 ... pi8, and the drag [N m s/rad] where asked for.

        momentum: that of the whole robot, wheel included [N m s]; zero after a start from rest.
        """
        form = replace(self.form, momentum=(0.0, 0.0, momentum), has_drag=drag)
        equations = form.equations(self.system, samples, {}, noise=False)
        Y, y = equations.Y[:, 0], equations.y[:, 0]
        found = np.linalg.lstsq(Y, y, rcond=None)[0]
        return np.concatenate([self.signs * found[:8], found[8:]])

    def errors(self, found: Array) -> Array:
        """Relative errors [%] of pi1 ... pi8."""
        return 100.0 * (found[..., :8] / self.pi - 1.0)

    def worst(self, found: Array) -> float:
        """The largest of the eight relative errors [%]."""
        return float(np.max(np.abs(self.errors(found))))


def predicted_rate(
    bench: Emulator, pi: Array, q: Array, dq: Array, momentum: Array | float
) -> Array:
    """The base rate (N,) [rad/s] that parameters pi predict: the momentum is linear in it."""
    zero = np.zeros(len(q))
    locked = bench.rows(zero + 1.0, q, np.zeros_like(dq)) @ pi
    return (momentum - bench.rows(zero, q, dq) @ pi) / locked


def with_r_0(model: Model, r_0: tuple[float, float]) -> Model:
    """The model with joint 1 at r_0 [m] on the base."""
    place = replace(model.joint(JOINTS[0]).placement, xyz=(*r_0, 0.0))
    return model.with_joint(JOINTS[0], placement=place)


def instants() -> Array:
    """The paper's 35 sample times [s], both ends included."""
    return np.linspace(0.0, PUBLISHED["duration"], PUBLISHED["n_samples"])


def motions() -> dict[str, Fourier]:
    """Table 2's motion of each joint."""
    return {
        name: Fourier(PUBLISHED["duration"], a, b)
        for name, a, b in zip(JOINTS, PUBLISHED["a"], PUBLISHED["b"], strict=True)
    }


def table_2(time: Array) -> tuple[Array, Array]:
    """Angles and rates (N, 2) of Table 2's motion."""
    parts = [motion.at(time) for motion in motions().values()]
    return np.column_stack([p[0] for p in parts]), np.column_stack([p[1] for p in parts])


def _order(system: System) -> list[str]:
    """The pair form's columns behind pi1 ... pi8; straight links make a ninth zero."""
    base, one, two = pair_form(system).links
    return [
        f"B[{base},{one}].xx", f"B[{base},{two}].xx", f"B[{base},{one}].xy", f"B[{base},{two}].xy",
        f"J[{base}].zz", f"B[{one},{two}].xx", f"J[{one}].zz", f"J[{two}].zz",
    ]  # fmt: skip


# -- paper 003's experiment, flown: the wheel is spun up from rest, then the arm moves -------------


@dataclass(frozen=True)
class SpunUp:
    """The robot after the spin-up: base rate [rad/s], momentum of all but the wheel's spin."""

    rate: float
    momentum: float


def experiment_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """The momentum the wheel leaves to the robot, its sign, and what the wrong one does."""
    bench = Emulator.of(model)
    speeds = {
        "simulation": (-bench.wheel_speed, PUBLISHED["momentum"]),
        "experiment": (PUBLISHED["experiment_speed"], PUBLISHED["experiment_momentum"]),
    }
    rows = []
    for words, (speed, paper) in speeds.items():
        size = bench.wheel_inertia * speed
        quantity = f"{words}: I_rw times {speed:.0f} rad/s"
        rows.append(printed_row(EXPERIMENT_TABLE, quantity, "N m s", paper, size, digits=4))
    speed = PUBLISHED["experiment_speed"]
    after = spin_up(bench, speed)
    is_opposite = np.isclose(after.momentum, -bench.wheel_inertia * speed, rtol=1e-6)
    rows.append(
        Row(EXPERIMENT_TABLE, "momentum of the robot after spin-up", "N m s",
            PUBLISHED["experiment_momentum"], after.momentum,
            "paper wrong" if is_opposite else "missed",
            "flown from rest: what the wheel takes, the robot loses; eq. 13 lacks the minus")
    )  # fmt: skip
    return [*rows, *_identification_rows(bench, speed, after)]


def _identification_rows(bench: Emulator, speed: float, after: SpunUp) -> list[Row]:
    samples = samples_of(bench.system, fly(bench.model, after.rate, speed))
    right = bench.worst(bench.solve(samples))
    # Twice the wheel's momentum turns the right side of Y pi = -I_rw w around: eq. 13 as printed.
    wrong = bench.errors(bench.solve(samples, momentum=2.0 * bench.wheel_inertia * speed))
    is_turned = np.allclose(wrong, -200.0, atol=1e-4)
    return [
        within(EXPERIMENT_TABLE, "worst error, momentum from the wheel speed", "%", right,
               between=BOUNDS["noise-free"], note="35 samples of Table 2's motion, no noise"),
        Row(EXPERIMENT_TABLE, "every error with the sign of eq. 13", "%", None,
            float(np.mean(wrong)), "paper wrong" if is_turned else "missed",
            "all eight come out negative: no body has such inertias"),
        Row(EXPERIMENT_TABLE, "parameters identified in the experiment", "-", None, None,
            "not published", "the paper says that pi was found and does not print it"),
    ]  # fmt: skip


def spin_up(bench: Emulator, speed: float) -> SpunUp:
    """Fly from rest until the wheel turns at `speed` [rad/s], the arm held."""
    plan = Plan(SPIN_UP, motions={WHEEL: Speeds((0.0, SPIN_UP), (0.0, speed))}, name="spin-up")
    flight = simulate(bench.model, plan, sensors=suite(bench.model, 1.0))
    assert flight.truth is not None
    rate = float(flight.truth["base.rate.z"].values[-1])
    # With the wheel's relative speed left out, its spin counts as the rest of the robot's.
    state = Start(rate=(0.0, 0.0, rate)).vector(bench.system)
    return SpunUp(rate, float(balance(bench.system, state).angular_momentum_about_com[0, 2]))


def fly(model: Model, rate: float, speed: float, *, hertz: float | None = None) -> Telemetry:
    """Table 2's motion flown from a base rate and a wheel speed, measured without noise."""
    start = Start(rate=(0.0, 0.0, rate), speeds={WHEEL: speed})
    plan = Plan(PUBLISHED["duration"], start=start, motions=motions(), name="Table 2")
    chosen = (PUBLISHED["n_samples"] - 1) / PUBLISHED["duration"] if hertz is None else hertz
    return simulate(model, plan, sensors=suite(model, chosen))


def suite(model: Model, hertz: float) -> tuple[Sensor, ...]:
    """The model's own kinds of sensors, without noise and all at one rate."""
    kinds = ("gyro", "attitude", "encoder", "joint_rate", "wheel_speed")
    chosen = [sensor for sensor in model.sensors if sensor.kind in kinds]
    return tuple(Sensor(s.kind, s.on, hertz, channel=s.channel) for s in chosen)


def start_rate(bench: Emulator, speed: float) -> float:
    """The base rate [rad/s] of a robot with straight arm that was at rest before the spin-up."""
    zero = np.zeros((1, 2))
    return float(bench.base_rate(zero, zero, -bench.wheel_inertia * speed)[0])


def with_drag(bench: Emulator, spin_down: float) -> tuple[Model, float]:
    """The model whose straight robot spins down in `spin_down` [s], and its drag [N m s/rad]."""
    zero = np.zeros((1, 2))
    locked = float((bench.rows(np.ones(1), zero, zero) @ bench.pi)[0])
    root = replace(bench.model.root, angular_drag=locked / spin_down)
    return replace(bench.model, root=root), locked / spin_down
