"""Worlds tracked live: what the grade says, held against what is true.

    python tests/worlds/live.py [--kinds GLOB] [--robots tug,puck] [--seeds N] [--right N] [--prove]

Only sensor sets with the base's velocity: without it no momentum is followed live. Seeds as in
run.py: those from 0 on are for choosing anything, `--prove` takes others.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from worlds.kinds import all_kinds
from worlds.outcome import WRONG_SHARE, WRONG_SIGMA, Outcome
from worlds.recorder import record
from worlds.right import COLOURS, in_colour
from worlds.robots import ROBOTS
from worlds.run import PROVE, row, summary
from worlds.world import World, right_world

import freefloat as ff
from freefloat.online.live_estimate import LiveEstimate

SUITES = ("velocity", "slow", "tracked")


def track_world(world: World, suite: str, kind: str, size: float) -> Outcome:
    """Track a world, and hold the answer against the truth."""
    label = (kind, size, world.robot.name, suite, world.seed)
    flight, begun = record(world), time.perf_counter()
    free = ff.Parameters(world.believed).free(*world.free)
    try:
        estimate = ff.OnlineEstimator(world.believed, free, like=flight).run(flight)
    except ff.FreefloatError as error:
        return Outcome(*label, "refused", tuple(error.codes), "track")
    codes = tuple(reason.code for reason in estimate.assessment.reasons)
    each = [errors(estimate, truth) for truth in world.truths]
    found = min(each, key=lambda e: (e["is_wrong"], e["total_sigma"]))
    seconds = time.perf_counter() - begun
    return Outcome(*label, estimate.grade, codes, "track", **found, seconds=seconds)


def errors(estimate: LiveEstimate, truth: dict[str, float]) -> dict:
    """The largest errors, in both deviations and of the natural size."""
    true = np.array([truth[name] for name in estimate.names])
    known = np.isfinite(estimate.std)
    if not known.any():
        return {"is_wrong": False, "total_sigma": 0.0}
    total = np.where(np.isfinite(estimate.total_std), estimate.total_std, estimate.std)[known]
    error = np.abs(estimate.values - true)[known]
    share = error / np.maximum(np.abs(true), estimate.sizes)[known]
    is_far = error > WRONG_SIGMA * total
    worst = int(np.argmax(np.where(is_far, 1.0 + share, share)))
    return {
        "sigma": float(np.max(error / estimate.std[known])),
        "total_sigma": float(np.max(error / total)), "share": float(share[worst]),
        "worst": np.array(estimate.names)[known][worst].item(),
        "is_wrong": bool(np.any(is_far & (share > WRONG_SHARE))),
        "covered": int(np.sum(error < 1.96 * total)), "seen": len(error),
    }  # fmt: skip


def wrong_outcomes(glob: str, robots: Sequence[str], seeds: Sequence[int]) -> Iterator[Outcome]:
    """Every kind and size with one robot and sensor set each, by turns."""
    for n, kind in enumerate(all_kinds()):
        able = [(r, s) for r in robots for s in kind.suites(r) if s in SUITES]
        if not able or not fnmatchcase(kind.name, glob):
            continue
        for k, size in enumerate(kind.sizes):
            for seed in seeds:
                robot, suite = able[(n + k + seed) % len(able)]
                world, suite = kind.world(robot, seed, size, suite=suite)
                yield track_world(world, suite, kind.name, size)


def right_outcomes(n: int, robots: Sequence[str], *, first: int) -> Iterator[Outcome]:
    """Right worlds by turns of robots, sensor sets and colours of noise."""
    able = [(r, s) for r in robots for s in ROBOTS[r]().suites if s in SUITES]
    for k in range(n):
        turn, which = divmod(k, len(able))
        robot, suite = able[which]
        colour = COLOURS[(turn + which) % len(COLOURS)]
        world = right_world(robot, first + k, suite)
        world.suite = in_colour(world.suite, colour)
        world.believed = replace(world.believed, sensors=world.suite)
        yield track_world(world, suite, f"right, {colour}", 0.0)


def main() -> None:
    """Print rows as they come, then the summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kinds", default="*", help="glob of names of kinds")
    parser.add_argument("--robots", default="", help="names with commas; all unless given")
    parser.add_argument("--seeds", type=int, default=1, help="of every kind and size")
    parser.add_argument("--right", type=int, default=0, help="number of right worlds")
    parser.add_argument("--prove", action="store_true", help="seeds that nothing was chosen by")
    args = parser.parse_args()
    first, robots = PROVE if args.prove else 0, args.robots.split(",") if args.robots else [*ROBOTS]
    out: list[Outcome] = []
    seeds = range(first, first + args.seeds)
    for outcomes in (
        wrong_outcomes(args.kinds, robots, seeds),
        right_outcomes(args.right, robots, first=first),
    ):
        for outcome in outcomes:
            out.append(outcome)
            print(row(outcome), flush=True)
    print("\n".join(summary(out)))


if __name__ == "__main__":
    main()
