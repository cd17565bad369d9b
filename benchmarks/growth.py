"""How time and memory grow with bodies, parameters, samples and recordings, as fitted exponents.

    python benchmarks/growth.py            # bodies 3 to 100, parameters 5 to 300, samples to 1e6
    python benchmarks/growth.py --quick    # a tenth of that
    python benchmarks/growth.py --only simulate jacobian

A row is a number of things, the processor seconds they take and, where a process of its own is
measured, its largest memory [MB]. The exponent p of time ~ n^p is fitted to the larger half of a
series, where what is the same for all sizes no longer counts. Promise S10 holds the exponents.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA", "MKL")}
STEPS = 2000
# measured: repetitions of one series on a busy machine scatter by a tenth of an exponent
ALLOWED = 1.2


@dataclass(frozen=True)
class Series:
    """Sizes, their cost, and how it may grow at most."""

    title: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    measure: Callable[[int], float]
    most: float = ALLOWED
    is_apart: bool = False  # in a process each, whose memory is told


def chain(n: int):
    """A free-floating robot of n bodies: arms of six links on one bus, springs in every joint."""
    import freefloat as ff
    from freefloat.model import Body, Joint, Placement

    bodies = [Body("bus", 500.0, inertia=(200.0, 0.0, 0.0, 210.0, 0.0, 190.0))]
    joints, place = [], Placement(xyz=(0.6, 0.0, 0.1))
    for k in range(n - 1):
        parent = "bus" if k % 6 == 0 else f"link_{k - 1}"
        inertia = (0.1, 0.0, 0.0, 0.4, 0.0, 0.4)
        bodies.append(Body(f"link_{k}", 8.0, com=(0.3, 0.0, 0.0), inertia=inertia))
        axis = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))[k % 2]
        joints.append(
            Joint(
                f"joint_{k}", type="revolute", parent=parent, child=f"link_{k}", axis=axis,
                role="passive", placement=place, stiffness=40.0, damping=0.5,
            )
        )  # fmt: skip
    return ff.Model(f"chain of {n}", root=replace(ff.load_model("cepheus").root, body="bus",
                    type="floating"), bodies=tuple(bodies), joints=tuple(joints))  # fmt: skip


def _seconds(work: Callable[[], object], least: float = 0.2) -> float:
    """Processor seconds of one call, the least of several."""
    work()  # compiled and in the cache
    best, spent = np.inf, 0.0
    while spent < least:
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
        spent += time.process_time() - begin
    return best


def _flight(system, n_steps: int):
    from freefloat.dynamics.equations import no_inputs

    x = np.zeros(system.layout.width)
    x[6], x[10:13] = 1.0, (0.02, -0.01, 0.03)
    return x, no_inputs(system), n_steps


def simulate(n: int) -> float:
    """A simulation of n bodies."""
    from freefloat.dynamics import flatten, integrate_with_sensitivity

    system = flatten(chain(n))
    x, inputs, steps = _flight(system, STEPS)
    how = {"inputs": inputs, "step": 1e-3, "n_steps": steps, "every": steps}
    return _seconds(lambda: integrate_with_sensitivity(system, x, [], **how))


def jacobian_bodies(n: int) -> float:
    """The derivative of n bodies by 12 parameters."""
    return _jacobian(n, 12)


def jacobian_parameters(p: int) -> float:
    """The derivative of 40 bodies by p parameters."""
    return _jacobian(40, p)


def _jacobian(n: int, p: int) -> float:
    from freefloat.dynamics import flatten, integrate_with_sensitivity
    from freefloat.dynamics.named_parameters import parameter_names

    system = flatten(chain(n))
    names = [name for name in parameter_names(system) if not name.startswith("start.")][:p]
    assert len(names) == p
    x, inputs, steps = _flight(system, STEPS // 10)
    how = {"inputs": inputs, "step": 1e-3, "n_steps": steps, "every": steps}
    return _seconds(lambda: integrate_with_sensitivity(system, x, names, **how))


def identify_samples(n: int) -> float:
    """Five inertial parameters from n samples, by momentum."""
    return _identify(n / 100.0, 1)


def identify_recordings(n: int) -> float:
    """The same from n recordings of 10 s."""
    return _identify(10.0, n)


def _identify(seconds: float, n: int) -> float:
    import freefloat as ff

    model = ff.load_model("planar-capture")
    sensors = tuple(replace(s, rate=100.0) for s in model.sensors)
    plan = ff.default_plan(model, duration=seconds, seed=1)
    first = ff.simulate(model, plan, seed=1, sensors=sensors, step=1e-2)
    flights = [first] + [
        ff.simulate(model, plan, seed=k, sensors=sensors, step=1e-2) for k in range(2, n + 1)
    ]
    wanted = ff.Parameters(model).free("target.mass", "target.m?", "target.izz")
    ff.identify(model, wanted, flights[0].between(0.0, 10.0), method="momentum", assess=False)
    begin = time.process_time()
    ff.identify(model, wanted, flights, method="momentum", assess=False)
    return time.process_time() - begin


SERIES = {
    "simulate": Series("simulation, by bodies", (3, 6, 12, 25, 50, 100), (3, 12, 25, 50), simulate),
    "jacobian": Series(
        "Jacobian by 12 parameters, by bodies", (3, 6, 12, 25, 50, 100), (3, 12, 25, 50),
        jacobian_bodies,
    ),
    "parameters": Series(
        "Jacobian of 40 bodies, by parameters", (5, 20, 75, 150, 300), (5, 40, 100, 200),
        jacobian_parameters,
    ),
    "samples": Series(
        "identification, by samples", (1000, 10_000, 100_000, 300_000, 1_000_000),
        (1000, 4000, 16_000), identify_samples, is_apart=True,
    ),
    "recordings": Series(
        "identification, by recordings of 1000 samples", (1, 5, 20, 50, 100), (1, 4, 8, 16),
        identify_recordings, is_apart=True,
    ),
}  # fmt: skip


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """p of seconds ~ size^p, of the larger half of the sizes.

    >>> round(exponent([1, 2, 4, 8], [9.0, 10.0, 20.0, 40.0]), 6)
    1.0
    """
    n = max(2, (len(sizes) + 1) // 2)
    return float(np.polyfit(np.log(sizes[-n:]), np.log(seconds[-n:]), 1)[0])


def _apart(key: str, size: int) -> tuple[float, float]:
    """Processor seconds and megabytes of one size, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", key, str(size)], check=True, capture_output=True,
        text=True, env={**os.environ, **ONE_THREAD},
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["megabytes"]


def show(key: str, *, is_quick: bool) -> bool:
    """One series as a table; whether it grows as it should."""
    series = SERIES[key]
    sizes, seconds = list(series.quick if is_quick else series.sizes), []
    print(f"\n{series.title}")
    for size in sizes:
        if series.is_apart:
            spent, megabytes = _apart(key, size)
            print(f"  {size:9d} {spent:10.4f} s {megabytes:8.0f} MB", flush=True)
        else:
            spent = series.measure(size)
            print(f"  {size:9d} {spent:10.4f} s", flush=True)
        seconds.append(spent)
    p = exponent(sizes, seconds)
    is_met = p <= series.most
    print(f"  time ~ n^{p:.2f}, at most {series.most:g}: {'met' if is_met else 'missed'}")
    return is_met


def main() -> int:
    """Print every series; 1 where one grows faster than it should."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    parser.add_argument("--only", nargs="+", choices=SERIES, default=list(SERIES))
    parser.add_argument("--one", nargs=2, metavar=("SERIES", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        seconds = SERIES[options.one[0]].measure(int(options.one[1]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
        print(json.dumps({"seconds": seconds, "megabytes": peak}))
        return 0
    return 0 if all([show(key, is_quick=options.quick) for key in options.only]) else 1


if __name__ == "__main__":
    sys.exit(main())
