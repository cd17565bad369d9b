"""T3: how far errors are from the Cramér-Rao bound of all sensors, and what deviations promise.

    python tests/worlds/bound.py [--cases GLOB] [--seeds 40] [--method auto] [--json OUT]
                                 [--assess] [--quiet-joints]

Cases: models of the library flown by freefloat, and the robots of this folder flown by MuJoCo, each
with its sensor sets; one flight each, and another noise with every seed. Printed, root mean squares
over all seeds and parameters:

    error/bound   errors over the bound of all sensors (observability/motion_bound.py): joints,
                  wheels and thrust are known as far as their own sensors tell
    worst         the same of the parameter that is worst
    error/std     errors over the statistical deviations that the fits state
    std/bound     those deviations over the bound
    known         errors over the bound that takes the motion of joints and wheels, and thrust, as
                  known exactly: out of reach unless encoders are much better than other sensors

Everything is as believed but the estimates, and the models say so (an uncertainty of nought of all
that is taken as exact): `auto` ends at the maximum of the likelihood of all channels, and no
assumption is doubted. --assess leaves `identify` as it comes: it tries every assumption, which
takes several times as long, and may adjust some.
--quiet-joints: with a hundredth of the noise of encoders.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from worlds.mechanism import fly
from worlds.recorder import record
from worlds.right import LIBRARY, flight_plan, library_model
from worlds.robots import ROBOTS, Suite
from worlds.world import World, right_world

import freefloat as ff
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import flatten
from freefloat.errors import FreefloatError
from freefloat.excitation.commands import Pulses
from freefloat.excitation.motions import Table
from freefloat.excitation.plan import Plan
from freefloat.observability.cramer_rao import cramer_rao
from freefloat.observability.motion_bound import motion_bound
from freefloat.parameters.parameters import parameter_values


@dataclass(frozen=True)
class Case:
    """A model as believed, the one that flies, its plan, and recordings by seed."""

    name: str
    believed: ff.Model
    model: ff.Model
    free: tuple[str, ...]
    plan: Plan
    flight: Callable[[int], ff.Telemetry]


@dataclass(frozen=True)
class Efficiency:
    """Root mean squares of error over bound and over the stated deviation."""

    case: str
    method: str
    over_bound: float
    worst: float
    worst_name: str
    over_std: float
    std_over_bound: float
    over_known: float
    n_trusted: int
    n_seeds: int
    n_failed: int
    seconds: float


def cases(glob: str = "*", *, is_quiet: bool = False) -> Iterator[Case]:
    """Library models by freefloat, robots of this folder by MuJoCo."""
    for name in LIBRARY:
        if any(fnmatchcase(name, part) for part in glob.split(",")):
            yield library_case(name, is_quiet)
    for robot, make in ROBOTS.items():
        for suite in make().suites:
            if any(fnmatchcase(f"{robot}/{suite}", part) for part in glob.split(",")):
                yield engine_case(robot, suite, is_quiet)


def quiet(suite: Suite) -> Suite:
    """The sensors with joints that are known a hundred times better."""
    kinds = ("encoder", "joint_rate", "motor_encoder", "motor_rate")
    return tuple(replace(s, noise=0.01 * s.noise) if s.kind in kinds else s for s in suite)


def library_case(name: str, is_quiet: bool) -> Case:
    """A model of the library with another bus or target than believed, flown by freefloat."""
    believed, model, free = library_model(name, 0, "white")
    if is_quiet:
        believed, model = (replace(m, sensors=quiet(m.sensors)) for m in (believed, model))
    plan = flight_plan(model, 0)
    return Case(name, believed, model, free, plan, lambda seed: ff.simulate(model, plan, seed=seed))


def engine_case(robot: str, suite: str, is_quiet: bool) -> Case:
    """A robot of this folder, flown once by MuJoCo."""
    world = right_world(robot, 0, suite)
    if is_quiet:
        world.suite = quiet(world.suite)
        world.believed = replace(world.believed, sensors=world.suite)
    readings = fly(world)

    def flight(seed: int) -> ff.Telemetry:
        world.noise = seed
        return record(world, readings)

    model = replace(world.model, sensors=world.suite)
    return Case(f"{robot}/{suite}", world.believed, model, world.free, plan_of(world), flight)


def plan_of(world: World) -> Plan:
    """What a right world flies, as a plan of freefloat."""
    t = np.linspace(0.0, world.duration, round(world.duration * 50) + 1)
    motions = {name: Table(tuple(t), tuple(course(t))) for name, course in world.motions.items()}
    fine = np.linspace(0.0, world.duration, round(world.duration * 500) + 1)
    for name, speed in world.wheels.items():
        middle = speed(0.5 * (fine[1:] + fine[:-1])) * np.diff(fine)
        angle = np.interp(t, fine, np.concatenate([[0.0], np.cumsum(middle)]))
        motions[name] = Table(tuple(t), tuple(angle))
    thrusts = {name: Pulses(tuple(_pulses(fine, course(fine)))) for name, course in
               world.thrusts.items()}  # fmt: skip
    start = Start(velocity=tuple(world.velocity), rate=tuple(world.rate))
    return Plan(world.duration, start=start, motions=motions, thrusts=thrusts, name="world")


def _pulses(t: np.ndarray, level: np.ndarray) -> Iterator[tuple[float, float, float]]:
    """Rows of start, length and level of what is on and off."""
    is_on = np.concatenate([[0], (level > 0.0).astype(int), [0]])
    ups, downs = np.flatnonzero(np.diff(is_on) > 0), np.flatnonzero(np.diff(is_on) < 0)
    for a, b in zip(ups, downs, strict=True):
        end = t[b] if b < len(t) else t[-1]
        yield float(t[a]), float(end - t[a]), float(level[a])


def efficiency(
    case: Case, n_seeds: int, *, method: str = "auto", first: int = 0, is_exact: bool = True
) -> Efficiency:
    """Errors over `n_seeds` noises of one flight, held against bound and stated deviations.

    is_exact: whether the model states that nothing it takes as exact is doubtful.
    """
    import time

    if is_exact:
        case = replace(case, believed=replace(case.believed, uncertainty={"*": 0.0}))
    wanted = ff.Parameters(case.model).free(*case.free)
    known = cramer_rao(case.model, wanted, case.plan)
    bound = motion_bound(case.model, wanted, case.plan)
    true = parameter_values(flatten(case.model))
    errors, stated, methods, failed, trusted = [], [], set(), 0, 0
    begun = time.perf_counter()
    for seed in range(first, first + n_seeds):
        free = ff.Parameters(case.believed).free(*case.free)
        try:
            fit = ff.identify(case.believed, free, case.flight(seed), method=method)
        except FreefloatError:
            failed += 1
            continue
        methods.add(fit.method)
        error = np.array([fit[name].value - true[name] for name in bound.names])
        errors.append(error)
        stated.append([fit[name].std for name in bound.names])
        trusted += fit.assessment is not None and fit.assessment.grade == "trusted"
    seconds = (time.perf_counter() - begun) / max(n_seeds, 1)
    error, std = np.array(errors), np.array(stated)
    ratio = np.sqrt(np.nanmean((error / bound.std) ** 2, axis=0))
    k = int(np.nanargmax(ratio))
    return Efficiency(
        case.name, ", ".join(sorted(methods)), float(np.sqrt(np.nanmean(ratio**2))),
        float(ratio[k]), bound.names[k], _rms(error / std), _rms(std / bound.std),
        _rms(error / known.std), trusted, n_seeds, failed, seconds,
    )  # fmt: skip


def _rms(table: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(np.square(table))))


def main() -> None:
    """Print a row a case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--cases", default="*", help="globs of library models or robot/sensors, apart by commas"
    )
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--assess", action="store_true", help="doubt every assumption as well")
    parser.add_argument("--quiet-joints", action="store_true", help="encoders 100 times better")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    print(f"{'case':<23}{'error/bound':>12}{'worst':>7}  {'':<20}{'error/std':>10}{'std/bound':>10}"
          f"{'known':>7}")  # fmt: skip
    found = []
    for case in cases(args.cases, is_quiet=args.quiet_joints):
        e = efficiency(
            case, args.seeds, method=args.method, first=args.first, is_exact=not args.assess
        )
        found.append(vars(e))
        print(
            f"{e.case:<23}{e.over_bound:>12.2f}{e.worst:>7.2f}  {e.worst_name:<20}"
            f"{e.over_std:>10.2f}{e.std_over_bound:>10.2f}{e.over_known:>7.2f}  ({e.n_seeds} seeds,"
            f" {e.n_trusted} trusted, {e.n_failed} failed, {e.seconds:.1f} s, {e.method})",
            flush=True,
        )
        if args.json is not None:
            args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
