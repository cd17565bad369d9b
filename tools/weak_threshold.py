"""From which relative standard deviation on do stated intervals stop holding?

    python tools/weak_threshold.py --seeds 24

Monte Carlo over the first seconds of a capture (planar-capture, output error, four parameters of
the target): every fit states a standard deviation for each parameter that it knows on its own. Over
bins of that deviation, relative to the parameter's natural size, it prints

    95 %     how often the stated 95 % interval holds the truth
    rms z    root mean square of (estimate - truth) / stated deviation: 1 if deviations hold
    varies   how far the stated deviation is from the median of its duration (90th percentile of the
             relative difference): 0 if it does not depend on the noise at hand
    below 0  how many intervals of a mass or moment of inertia reach below zero

With 16 seeds: intervals hold (94 to 100 %) up to 0.5 natural sizes; beyond, 88 % hold and a quarter
of those of masses and inertias reach below zero. Intervals do not tell 0.1 from 0.3; what does is
how far linear propagation of a deviation holds, see `freefloat.observability.visibility.WEAK`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.parameters.natural_sizes import natural_sizes

NAMES = ("target.mass", "target.mx", "target.my", "target.izz")
DURATIONS = (6.0, 8.0, 10.0, 13.0, 17.0, 22.0, 30.0)  # [s]
EDGES = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)


@dataclass(frozen=True)
class Trial:
    """One parameter of one fit; `std` relative to its natural size, z: error over std."""

    name: str
    duration: float
    std: float
    z: float
    is_held: bool
    reaches_below_zero: bool


def trials(model: ff.Model, n_seeds: int) -> Iterator[Trial]:
    """The parameters that fits of the first seconds of noisy flights know on their own."""
    wanted = ff.Parameters(model).free(*NAMES)
    plan = ff.default_plan(model)
    sizes = natural_sizes(flatten(model), NAMES)
    for seed in range(n_seeds):
        flight = ff.simulate(model, plan, seed=seed)
        for duration in DURATIONS:
            cut = flight.between(0.0, duration)
            fit = ff.identify(model, wanted, cut, method="output_error", assess=False)
            for name, size in zip(NAMES, sizes, strict=True):
                found, truth = fit[name], wanted[name].value
                if found.std is None or found.interval95 is None or not found.std < np.inf:
                    continue
                low, high = found.interval95
                yield Trial(
                    name, duration, found.std / size, (found.value - truth) / found.std,
                    low <= truth <= high, name.endswith(("mass", "izz")) and low < 0.0,
                )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Where stated deviations stop holding.")
    parser.add_argument("--seeds", type=int, default=24)
    found = list(trials(ff.load_model("planar-capture"), parser.parse_args().seeds))
    groups: dict[tuple[str, float], list[float]] = defaultdict(list)
    for one in found:
        groups[one.name, one.duration].append(one.std)
    medians = {group: float(np.median(stds)) for group, stds in groups.items()}
    print(f"{'std / size':>13} {'n':>5} {'95 %':>6} {'rms z':>6} {'varies':>7} {'below 0':>8}")
    for low, high in pairwise(EDGES):
        own = [t for t in found if low < medians[t.name, t.duration] <= high]
        if not own:
            continue
        ratios = [abs(t.std / medians[t.name, t.duration] - 1.0) for t in own]
        print(
            f"{low:5.2g} .. {high:4.2g} {len(own):5d} {np.mean([t.is_held for t in own]):6.2f}"
            f" {np.sqrt(np.mean([t.z**2 for t in own])):6.2f} {np.percentile(ratios, 90):7.2f}"
            f" {np.mean([t.reaches_below_zero for t in own]):8.2f}"
        )


if __name__ == "__main__":
    main()
