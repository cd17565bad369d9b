"""S4: 1000 simulations of 20 s at 10 ms with different parameters, beside a Pinocchio loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import common
import numpy as np
from common import SYSTEM

from freefloat.dynamics import integrate_batch, stack_parameters
from freefloat.dynamics.tree import ParameterArrays

STEP, N_STEPS, EVERY, N = 1e-2, 2000, 100, 1000


def parameter_sets(n: int) -> list[ParameterArrays]:
    """Every number off by a few per cent, differently in each simulation; still physical."""
    rng, own = np.random.default_rng(0), SYSTEM.parameters
    return [
        ParameterArrays(
            own.phi * rng.uniform(0.9, 1.1, size=(len(own.phi), 1)),
            own.rotor,
            own.spring * rng.uniform(0.8, 1.2, size=(len(own.spring), 1)),
        )
        for _ in range(n)
    ]


def main() -> None:
    """Time, compare, report."""
    options = common.arguments(__doc__)
    n, n_single, n_slow = (40, 4, 100) if options.quick else (200, 8, 500)
    table = common.inputs(N_STEPS, STEP)
    x0, sets = common.start(table), parameter_sets(n)
    parameters = stack_parameters(sets)
    single = common.Kernel(table, x0, step=STEP, n_steps=N_STEPS, every=EVERY)

    def batch(n_threads: int | None) -> np.ndarray:
        return integrate_batch(
            SYSTEM, x0, parameters, table, step=STEP, n_steps=N_STEPS, every=EVERY,
            n_threads=n_threads,
        )  # fmt: skip

    def one_by_one() -> np.ndarray:
        return np.array([(single.run(own), single.out.copy())[1] for own in sets[:n_single]])

    result = common.Table("S4", f"{N} simulations of 20 s at 10 ms (timed: {n}, scaled)")
    bits = np.count_nonzero(batch(1)[:n_single, 1:] != one_by_one())
    result.add_check("numbers that differ between batch and single", float(bits), 0.0)
    jobs: dict[str, Callable[[], object]] = {
        "one core": lambda: batch(1),
        "all cores": lambda: batch(None),
        "single": one_by_one,
    }
    try:
        import pinocchio_

        loop = pinocchio_.Loop()
        jobs["pinocchio"] = lambda: loop.run(x0, table, step=STEP, n_steps=n_slow)
        result.notes.append("Pinocchio's parameters are left alone: changing them costs it nothing")
    except ImportError:
        result.notes.append("Pinocchio is not installed: left out")

    # threads do the work, so this thread's processor time would tell nothing
    rounds = 5 if options.quick else 9
    times = common.race(jobs, rounds=rounds, clock=time.perf_counter)
    one, every = N / n * times["one core"], N / n * times["all cores"]
    alone = N / n_single * times["single"]
    result.add_time("ours, one core", one, one)
    result.add_time(f"ours, all {os.cpu_count()} cores", every, one)
    result.add_time("ours, one simulation at a time", alone, one, f"{n_single} simulations, scaled")
    if "pinocchio" in times:
        seconds = N * N_STEPS / n_slow * times["pinocchio"]
        result.add_time("Pinocchio, Python loop, one core", seconds, one, f"{n_slow} steps, scaled")
        result.add_promise("Pinocchio loop / ours, one core", seconds / one, least=25.0)
    result.show(options)


if __name__ == "__main__":
    main()
