"""S4: 1000 simulations of 20 s at 10 ms with different parameters, against a Pinocchio loop."""

from __future__ import annotations

import time

import common
import numpy as np

from freefloat.dynamics import integrate_batch, stack_parameters
from freefloat.dynamics.kernels.integrate import Stages, rk4

STEP, N_STEPS = 1e-2, 2000


def main() -> None:
    """Run all and print ratios."""
    options = common.arguments(__doc__)
    n = 40 if options.quick else 200  # simulations timed, then scaled to 1000
    n_slow = 100
    table = common.inputs(N_STEPS, STEP)
    x0, system = common.start(table), common.SYSTEM
    rng = np.random.default_rng(0)
    own = system.parameters
    sets = [
        own._replace(phi=own.phi * rng.uniform(0.9, 1.1), spring=own.spring * rng.uniform(0.8, 1.2))
        for _ in range(n)
    ]
    parameters = stack_parameters(sets)
    stages = Stages(*(np.zeros_like(x0) for _ in range(3)))
    out, work = np.zeros((N_STEPS // 100, len(x0))), common.work()
    last = {}

    def batch(n_threads: int | None) -> None:
        last["batch"] = integrate_batch(
            system, x0, parameters, table, step=STEP, n_steps=N_STEPS, every=100,
            n_threads=n_threads,
        )  # fmt: skip

    def one() -> None:
        for k in range(4):
            x = x0.copy()
            rk4(system.tree, sets[k], work, table, 0.0, STEP, N_STEPS, 100, x, stages, out)
            last[k] = out.copy()

    loop = common.PinocchioLoop()
    batch(1)
    one()
    times = dict.fromkeys(("one core", "all cores", "scalar", "peer"), np.inf)
    jobs = {
        "one core": lambda: batch(1),
        "all cores": lambda: batch(None),
        "scalar": one,
        "peer": lambda: loop.run(x0, table, STEP, n_slow),
    }

    for _ in range(3):
        for name, job in jobs.items():  # threads: wall clock
            begin = time.perf_counter()
            job()
            times[name] = min(times[name], time.perf_counter() - begin)
    per = {
        "one core": times["one core"] / n,
        "all cores": times["all cores"] / n,
        "scalar": times["scalar"] / 4,
        "peer": times["peer"] * N_STEPS / n_slow,
    }
    same = all(np.array_equal(last["batch"][k, 1:], last[k]) for k in range(4))
    rows: dict[str, float | str] = {
        "1000 simulations on one core [s]": 1000 * per["one core"],
        "Pinocchio loop / ours, one core (promise >= 25)": per["peer"] / per["one core"],
        "Pinocchio loop / ours, all cores": per["peer"] / per["all cores"],
        "one simulation at a time / in lanes": per["scalar"] / per["one core"],
        "same bits in the batch as alone": "yes" if same else "NO",
    }
    common.report(options, "S4: batch", rows)


if __name__ == "__main__":
    main()
