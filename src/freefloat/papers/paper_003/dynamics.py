"""Paper 003's closing claim: the minimal set is enough to reconstruct the full dynamics."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System
from freefloat.excitation.default import default_plan
from freefloat.excitation.plan import Plan
from freefloat.identification.linear.pair_torques import pair_motion
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.model.model import Model
from freefloat.papers.paper_003.bench import Bench, instants
from freefloat.papers.paper_003.experiment import start_rate, suite
from freefloat.papers.paper_003.noise import NOISE, least_squares_runs
from freefloat.papers.paper_003.published import BOUNDS
from freefloat.papers.paper_rows import Row, within
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

TABLE = "Full dynamics from pi alone"


def dynamics_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Torques of a motion that was not used to identify, predicted from the eight parameters."""
    bench = Bench.of(model)
    plan, flight = _second_motion(bench)
    clean = bench.solve(bench.samples(instants(), bench.wheel_speed))
    n = 20 if quick else 100
    noisy = least_squares_runs(bench, instants(), NOISE, n=n, seed=seed)
    misses = [torque_miss(bench.system, plan, flight, pi * bench.signs, bench) for pi in noisy]
    return [
        within(TABLE, "joint torque, relative error", "-",
               torque_miss(bench.system, plan, flight, clean * bench.signs, bench),
               between=BOUNDS["torque"], status="reproduced",
               note="pi from Table 2's motion without noise, torques of another motion"),
        Row(TABLE, "the same, pi from noisy data", "%", None, 100.0 * float(np.median(misses)),
            "not published", f"q 1e-4, dq and omega 1e-3; median of {n} runs"),
    ]  # fmt: skip


def _second_motion(bench: Bench) -> tuple[Plan, Telemetry]:
    speed = bench.wheel_speed
    start = Start(rate=(0.0, 0.0, start_rate(bench, speed)), speeds={"rw_z": speed})
    motions = default_plan(bench.model, duration=5.0, seed=7).motions
    plan = Plan(5.0, start=start, motions=motions, name="another motion")
    return plan, simulate(bench.model, plan, sensors=suite(bench.model, 20.0))


def torque_miss(
    system: System, plan: Plan, flight: Telemetry, parameters: Array, bench: Bench
) -> float:
    """Rms of predicted less true joint torques, over the rms of the true ones."""
    samples = samples_of(system, flight)
    accelerations = [
        plan.motion_of(name, system.model).at(samples.time)[2] for name in system.coordinates
    ]
    found = pair_motion(
        system, samples.states, np.column_stack(accelerations), parameters,
        bench.form.minimal.kept,
    )  # fmt: skip
    true = true_torques(system, flight, samples.time)
    return float(np.linalg.norm(found.torque - true) / np.linalg.norm(true))


def true_torques(system: System, flight: Telemetry, times: Array) -> Array:
    """Joint torques (N, joints) [N m] as the simulation had them."""
    assert flight.truth is not None
    names = [f"{name}.torque" for name in system.coordinates[: system.n_links - 1]]
    return flight.truth.matrix(names, times)[1]
