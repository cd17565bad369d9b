"""Paper 003's experiment, flown: the wheel is spun up from rest, then the arm moves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.dynamics.equations import balance
from freefloat.dynamics.state import Start
from freefloat.excitation.motions import Speeds
from freefloat.excitation.plan import Plan
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.papers.paper_003.bench import WHEEL, Bench, motions
from freefloat.papers.paper_003.published import BOUNDS, PUBLISHED
from freefloat.papers.paper_rows import Row, printed, within
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

TABLE = "Eq. 13: the wheel, flown from rest"
SPIN_UP = 20.0  # [s]


@dataclass(frozen=True)
class SpunUp:
    """The robot after the spin-up: base rate [rad/s], momentum of all but the wheel's spin."""

    rate: float
    momentum: float


def experiment_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """The momentum the wheel leaves to the robot, its sign, and what the wrong one does."""
    bench = Bench.of(model)
    speeds = {
        "simulation": (-bench.wheel_speed, PUBLISHED["momentum"]),
        "experiment": (PUBLISHED["experiment_speed"], PUBLISHED["experiment_momentum"]),
    }
    rows = []
    for words, (speed, paper) in speeds.items():
        size = bench.wheel_inertia * speed
        quantity = f"{words}: I_rw times {speed:.0f} rad/s"
        rows.append(printed(TABLE, quantity, "N m s", paper, size, digits=4))
    speed = PUBLISHED["experiment_speed"]
    after = spin_up(bench, speed)
    is_opposite = np.isclose(after.momentum, -bench.wheel_inertia * speed, rtol=1e-6)
    rows.append(
        Row(TABLE, "momentum of the robot after spin-up", "N m s",
            PUBLISHED["experiment_momentum"], after.momentum,
            "paper wrong" if is_opposite else "missed",
            "flown from rest: what the wheel takes, the robot loses; eq. 13 lacks the minus")
    )  # fmt: skip
    return [*rows, *_identified(bench, speed, after)]


def _identified(bench: Bench, speed: float, after: SpunUp) -> list[Row]:
    samples = samples_of(bench.system, fly(bench.model, after.rate, speed))
    right = bench.worst(bench.solve(samples))
    # Twice the wheel's momentum turns the right side of Y pi = -I_rw w around: eq. 13 as printed.
    wrong = bench.errors(bench.solve(samples, momentum=2.0 * bench.wheel_inertia * speed))
    is_turned = np.allclose(wrong, -200.0, atol=1e-4)
    return [
        within(TABLE, "worst error, momentum from the wheel speed", "%", right,
               between=BOUNDS["noise-free"], note="35 samples of Table 2's motion, no noise"),
        Row(TABLE, "every error with the sign of eq. 13", "%", None, float(np.mean(wrong)),
            "paper wrong" if is_turned else "missed",
            "all eight come out negative: no body has such inertias"),
        Row(TABLE, "parameters identified in the experiment", "-", None, None, "not published",
            "the paper says that pi was found and does not print it"),
    ]  # fmt: skip


def spin_up(bench: Bench, speed: float) -> SpunUp:
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


def start_rate(bench: Bench, speed: float) -> float:
    """The base rate [rad/s] of a robot with straight arm that was at rest before the spin-up."""
    zero = np.zeros((1, 2))
    return float(bench.base_rate(zero, zero, -bench.wheel_inertia * speed)[0])


def with_drag(bench: Bench, spin_down: float) -> tuple[Model, float]:
    """The model whose straight robot spins down in `spin_down` [s], and its drag [N m s/rad]."""
    zero = np.zeros((1, 2))
    locked = float((bench.rows(np.ones(1), zero, zero) @ bench.pi)[0])
    root = replace(bench.model.root, angular_drag=locked / spin_down)
    return replace(bench.model, root=root), locked / spin_down


def read(bench: Bench, flight: Telemetry) -> Samples:
    """The flight as samples."""
    return samples_of(bench.system, flight)
