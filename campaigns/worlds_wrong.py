"""One wrong world, drawn by the seed; `make campaigns` has the folder of tests in reach."""

import numpy as np

FIRST = 10_000  # of seeds that nothing was chosen by


def run(inputs, seed):
    from worlds.kinds import all_kinds
    from worlds.outcome import try_kind
    from worlds.robots import ROBOTS

    rng = np.random.default_rng(seed)
    kinds = all_kinds()
    kind = kinds[rng.integers(len(kinds))]
    able = [robot for robot in ROBOTS if kind.suites(robot)]
    robot, size = able[rng.integers(len(able))], kind.sizes[rng.integers(len(kind.sizes))]
    o = try_kind(kind, robot, FIRST + int(rng.integers(10**6)), size)
    return {
        "grade": o.grade,
        "method": o.method,
        "is_wrong": o.is_wrong,
        "is_trusted_and_wrong": o.is_confident_error,
        "total_sigma": o.total_sigma,
        "is_catalogued": o.catalogued,
        "is_first": o.rank == 1,
        "is_named": o.rank > 0,
    }
