"""S2: a whole 45 s flexible fit with 26 parameters, from a start 40 % and 25 % off.

Beside us: the same fit (same descent, horizons and tolerances) with finite differences over MuJoCo,
whose rollouts loop in C.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import common
import numpy as np
from common import GIVEN, MODEL, Array, C

import freefloat as ff
from freefloat.excitation import Moves
from freefloat.excitation.plan import Plan
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.recording import Recording, recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.model import inertia
from freefloat.model.parts import Sensor
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.predictor import Prediction

WINGS = ("l1", "l2", "r1", "r2")
NAMES = [f"bus.{field}" for field in inertia.NAMES]
NAMES += [f"panel_{wing}.{field}" for wing in WINGS for field in ("my", "ixx")]
NAMES += [f"hinge_{wing}.{field}" for wing in WINGS for field in ("stiffness", "damping")]
SENSORS = (
    Sensor("gyro", "bus", 50.0, noise=1e-4),
    Sensor("velocity", "bus", 50.0, noise=1e-4),
)
HORIZONS = (4.0, 8.0, 16.0)
STEP = 1e-2  # [s]


def shaking_plan(duration: float) -> Plan:
    """Quick moves of the whole arm for 20 s, then the wings swing out."""
    rng = np.random.default_rng(0)
    motions = {}
    for joint in (j for j in MODEL.joints if j.role == "motion"):
        times, values = [0.0], [joint.home]
        while times[-1] < min(20.0, 0.5 * duration):
            times.append(times[-1] + rng.uniform(1.6, 2.6))
            values.append(joint.home + 0.3 * rng.uniform(-1.0, 1.0))
        motions[joint.name] = Moves((*times, times[-1] + 2.5), (*values, joint.home))
    return Plan(duration, motions=motions, name="shaking")


def problem_of(duration: float) -> OutputErrorProblem:
    """The fit, at its start: stiffness 40 % too high, the bus 25 % too light."""
    plan = shaking_plan(duration)
    flight = ff.simulate(MODEL, plan, seed=1, sensors=SENSORS)
    value = {p.name: p.value for p in ff.Parameters(MODEL)}
    change = {n: 0.75 * value[n] for n in NAMES if n.startswith("bus")}
    change |= {n: 1.4 * value[n] for n in NAMES if n.endswith("stiffness")}
    model = replace(with_parameters(MODEL, change), sensors=SENSORS)
    recording = recording_of(model, flight, plan=plan, step=STEP)
    wanted = ff.Parameters(model).free(*NAMES)
    unknowns = unknowns_of(wanted, [recording], is_start_known=True)
    return OutputErrorProblem(
        (recording,), unknowns, stated_noise([recording]), None, unknowns.start
    )


def search(problem: OutputErrorProblem) -> Descent:
    """The search over growing horizons, as `identify` does it."""
    theta = problem.unknowns.start
    for seconds in HORIZONS:
        if seconds < 0.8 * problem.recordings[0].times[-1]:
            theta = descend(problem.until(seconds), theta, most=20, enough=0.01).at.theta
    return descend(problem, theta)


@dataclass(frozen=True)
class ByDifferences(OutputErrorProblem):
    """The same problem, flown by MuJoCo and differentiated by forward differences."""

    def _prediction(self, r: int, theta: Array) -> tuple[Prediction, list[int], Array] | None:
        places, names, mix = self.unknowns.columns(r)
        values = self.unknowns.values(theta, r)
        steps = 1e-4 * self.unknowns.sizes[places]
        sets = [values]
        sets += [{**values, n: values[n] + h} for n, h in zip(names, steps, strict=True)]
        flown = fly(self.recordings[r], sets)
        values, residuals, jacobian = [], [], []
        for measurement in self.recordings[r].measurements:
            rows = np.round(measurement.times / STEP).astype(int)
            columns = slice(3, 6) if measurement.sensor.kind == "gyro" else slice(0, 3)
            read = flown[:, rows, columns]
            values.append(read[0])
            residuals.append(read[0] - measurement.values)
            jacobian.append(np.moveaxis((read[1:] - read[0]) / steps[:, None, None], 0, -1))
        tables = (tuple(table) for table in (values, residuals, jacobian))
        return Prediction(tuple(names), *tables), places, mix


ROBOTS: list = []


def fly(recording: Recording, sets: list[dict[str, float]]) -> Array:
    """Base velocity and rate (sets, steps + 1, 6) of a flight with each set of parameters."""
    import mujoco
    import mujoco_
    from mujoco import rollout

    while len(ROBOTS) < len(sets):
        ROBOTS.append(mujoco_.build(STEP))
    joints = [joint.name for joint in MODEL.assembly.joints]
    for robot, values in zip(ROBOTS, sets, strict=False):
        bodies: dict[str, Array] = {}
        for name, value in values.items():
            owner, _, field = name.rpartition(".")
            if name.startswith("start."):
                continue
            if owner.startswith("hinge"):
                k = joints.index(owner) + 1
                if field == "stiffness":
                    robot.jnt_stiffness[k] = value
                else:
                    robot.dof_damping[robot.jnt_dofadr[k]] = value
            else:
                phi = bodies.setdefault(owner, MODEL.body(owner).phi.copy())
                phi[inertia.NAMES.index(field)] = value
        for owner, phi in bodies.items():
            mujoco_.set_parameters(robot, owner, phi)
    applied = mujoco_.forces(recording.inputs)
    data = mujoco.MjData(ROBOTS[0])
    mujoco_.load(data, recording.start)
    whole = mujoco.mjtState.mjSTATE_FULLPHYSICS.value
    begin = np.zeros(mujoco.mj_stateSize(ROBOTS[0], whole))
    mujoco.mj_getState(ROBOTS[0], data, begin, whole)
    robots = ROBOTS[: len(sets)]
    states, _ = rollout.rollout(
        robots, data, np.tile(begin, (len(robots), 1)), applied,
        control_spec=mujoco.mjtState.mjSTATE_QFRC_APPLIED.value,
    )  # fmt: skip
    speeds = states[:, :, 8 + C : 14 + C]
    return np.concatenate([np.tile(begin[8 + C : 14 + C], (len(robots), 1, 1)), speeds], axis=1)


def main() -> None:
    """Fit both ways, compare, report."""
    options = common.arguments(__doc__)
    duration = 12.0 if options.quick else 45.0
    problem = problem_of(duration)
    assert len(problem.unknowns.items) == 26 and len(GIVEN) == 7
    times = common.race({"ours": lambda: search(problem)}, rounds=1 if options.quick else 3)
    ours = search(problem)
    result = common.Table("S2", f"a {duration:g} s flexible fit with 26 parameters")
    result.add_time("ours, analytic slopes", times["ours"], times["ours"], f"{ours.ending}")
    if not options.quick:
        result.add_promise("seconds for the whole fit", times["ours"], most=5.0)
    try:
        other = ByDifferences(**vars(problem))
        begin = time.thread_time()
        peer = search(other)
        seconds = time.thread_time() - begin
        note = f"{peer.ending}, {peer.n_evaluations} flights at last"
        result.add_time("MuJoCo differences, mujoco.rollout", seconds, times["ours"], note)
        value = {p.name: p.value for p in ff.Parameters(MODEL)}
        truth = np.array([value[u.name] for u in problem.unknowns.items])
        for name, found in (("ours", ours), ("MuJoCo", peer)):
            error = np.abs(found.at.theta - truth) / problem.unknowns.sizes
            # forward differences and forces held over a step leave MuJoCo a little off
            result.add_check(f"largest error of {name}, natural sizes", float(error.max()), 0.1)
        result.add_promise("MuJoCo differences / ours", seconds / times["ours"], least=20.0)
    except ImportError:
        result.notes.append("MuJoCo is not installed: left out")
    result.show(options)


if __name__ == "__main__":
    main()
