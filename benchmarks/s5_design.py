"""S5: an exciting motion for seven joints: D-optimal and free-floating, beside FIGAROH.

Same arm, same limits, same time: ours floats, FIGAROH's stands on a fixed base without gravity (it
designs for no other). FIGAROH makes the condition number of its base regressor small, so its motion
is judged twice: by its own number, and by ours, flown on the floating arm.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import peers  # first: it asks for one thread of linear algebra, here as there

# isort: split
import arms
import common
import numpy as np

import freefloat as ff
from freefloat.design.criteria import flights_and_criterion
from freefloat.design.excitation import Effort, design
from freefloat.design.variables import variables_of
from freefloat.dynamics import flatten
from freefloat.excitation import Table
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import limits_of
from freefloat.model import JointLimits

N_JOINTS = 7
POINTS, SEGMENT, RATE = 5, 2.0, 10.0  # FIGAROH's defaults but for the rate [s], [Hz]
DURATION = (POINTS - 1) * SEGMENT
LIMITS = JointLimits(-1.57, 1.57, velocity=1.0, effort=200.0)
WANTED = [f"link_{k}.*" for k in range(1, N_JOINTS + 1)]
LIMIT = 900.0  # [s], wall clock
HARMONICS = 4
EFFORT = Effort(random=8, starts=1, rounds=5)  # what follows gains a tenth, see the last row
ROUNDS = 200  # of IPOPT: FIGAROH's default


def arm() -> ff.Model:
    """The seven-joint arm with the limits of both."""
    model = arms.arm(N_JOINTS)
    return replace(model, joints=tuple(replace(j, limits=LIMITS) for j in model.joints))


def deviation(model: ff.Model, plan: ff.Plan) -> float:
    """Geometric mean deviation [%] over all directions, of any plan flown on the floating arm."""
    system, allowed = flatten(model), limits_of(model)
    variables = variables_of(system, allowed, basis=Basis("fourier", DURATION, HARMONICS))
    wanted = ff.Parameters.of(model).free(*WANTED)
    flights, judge = flights_and_criterion(
        system, wanted, variables, (), model.sensors, "d_optimal"
    )
    return judge.describe(judge.value(flights.fly_plan(plan).rows)[0])[1]


def ours(model: ff.Model, effort: Effort) -> tuple[float, ff.Plan, float]:
    """Processor seconds of a design, its plan, and the criterion."""
    parameters = ff.Parameters.of(model).free(*WANTED)
    begin = time.process_time()
    found = design(
        model, parameters, duration=DURATION, criterion="d_optimal", harmonics=HARMONICS,
        effort=effort,
    )  # fmt: skip
    return time.process_time() - begin, found.plan, found.value


def compare(result: common.Table, folder: Path, *, quick: bool) -> None:
    """Ours, then FIGAROH's."""
    model = arm()
    ff.design_excitation(  # compile everything before the clock runs
        model, ff.Parameters.of(model).free("link_7.mass"), duration=DURATION, harmonics=1,
        effort=Effort(random=1, starts=1, rounds=1),
    )  # fmt: skip
    seconds, plan, value = ours(model, EFFORT)
    result.add_time("ours, D-optimal, free-floating", seconds, seconds, f"deviation {value:.3g} %")
    plan.check(model)
    if not quick:
        long, _, value = ours(model, Effort())
        result.add_time("ours, two starts to the end", long, seconds, f"deviation {value:.3g} %")
    try:
        with peers.Peer("peer_figaroh_design.py") as figaroh:
            model.save(folder / "arm.urdf")
            told = figaroh.ask(
                "design", limit=LIMIT, urdf=str(folder / "arm.urdf"), out=str(folder / "q.npz"),
                points=POINTS, segment=SEGMENT, rate=RATE, rounds=ROUNDS,
            )  # fmt: skip
    except peers.PeerError as error:
        result.notes.append(f"FIGAROH: left out, {error}")
        return
    result.add_time(
        f"FIGAROH {told['version']}, fixed base", told["seconds"], seconds,
        f"condition {told['before']:.0f} -> {told['after']:.1f}",
    )  # fmt: skip
    result.add_promise("FIGAROH / ours", told["seconds"] / seconds, least=10.0)
    theirs = figaroh_plan(model, folder / "q.npz")
    pair = [deviation(model, one) for one in (plan, theirs)]
    result.notes.append("deviation: geometric mean over all directions, of natural sizes")
    result.notes.append(f"on the floating arm: ours {pair[0]:.3g} %, FIGAROH's {pair[1]:.3g} %")
    result.add_promise("deviation of FIGAROH's motion / ours", pair[1] / pair[0], least=1.0)


def figaroh_plan(model: ff.Model, path: Path) -> ff.Plan:
    """Its motion as a plan: a table a joint, through its samples."""
    with np.load(path) as found:
        t, q = found["t"], found["q"]
    t = t - t[0]
    motions = {
        joint.name: Table(tuple(t.tolist()), tuple(q[:, k].tolist()))
        for k, joint in enumerate(model.joints)
    }
    return ff.Plan(float(t[-1]), motions=motions, name="FIGAROH's")


def main() -> None:
    """Time, compare, report."""
    options = common.arguments(__doc__)
    result = common.Table("S5", f"excitation design, {N_JOINTS} joints, {DURATION:g} s")
    with tempfile.TemporaryDirectory() as folder:
        compare(result, Path(folder), quick=options.quick)
    result.show(options)


if __name__ == "__main__":
    main()
