"""What an update of the live Kalman filter costs: processor time by sample, once it has begun.

    python benchmarks/kalman_update.py                     # servicer: wings, fuel, arm, wheels
    python benchmarks/kalman_update.py servicer-wings --seconds 20
    PYTHONPATH=../old/src python benchmarks/kalman_update.py --save build/old.npz
    python benchmarks/kalman_update.py --beside build/old.npz   # whether estimates are the same

The first four seconds are solved at once and do not count; --flight keeps the flight, so that two
versions read the same.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.online.filter_options import FilterOptions, KalmanOptions

WINDOW = 4.0  # [s]
FREE = {
    "servicer": ("bus.mass", "bus.i??", "target.mass", "target.m?", "hinge_*.stiffness"),
    "servicer-wings": ("bus.mass", "bus.i??", "hinge_*.stiffness"),
    "servicer-slosh": ("bus.mass", "bus.i??", "tank.mass", "tank.length"),
    "cbk-arm": ("*.drive.stiffness", "bus.mass"),
}


def flight_of(model: ff.Model, seconds: float, kept: Path | None) -> ff.Telemetry:
    """The flight that is followed."""
    if kept is not None and kept.exists():
        return ff.read_telemetry(kept)
    flight = ff.simulate(model, ff.default_plan(model, duration=seconds, seed=2), seed=3)
    if kept is not None:
        flight.save(kept)
    return flight


def main() -> None:
    """Follow a flight and print what its samples cost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="servicer", choices=sorted(FREE))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--flight", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--beside", type=Path)
    options = parser.parse_args()
    model = ff.load_model(options.model)
    flight = flight_of(model, options.seconds, options.flight)
    wanted = ff.Parameters(model).free(*FREE[options.model])
    window = {"start_window": WINDOW, "failed_window": WINDOW, "vague_window": WINDOW}
    tracker = ff.OnlineEstimator(
        model, wanted, method="kalman", like=flight,
        options=FilterOptions(kalman=KalmanOptions(**window)),
    )  # fmt: skip
    costs, found = [], []
    for sample in tracker.samples_of(flight):
        begin = time.process_time()
        estimate = tracker.update(sample)
        if sample.time > flight.start + WINDOW + 0.5:
            costs.append(time.process_time() - begin)
            found.append([*estimate.values, *estimate.std])
    cost, table = 1e3 * np.array(costs), np.array(found)
    p50, p90, p99 = np.quantile(cost, [0.5, 0.9, 0.99])
    share = cost.sum() / 10.0 / (options.seconds - WINDOW - 0.5)
    print(
        f"{options.model}, {len(wanted.free_ones)} parameters, {len(cost)} samples [ms]:"
        f" mean {cost.mean():.3f}, median {p50:.3f}, 90 % {p90:.3f}, 99 % {p99:.3f};"
        f" {share:.1f} % of one core"
    )
    if options.save is not None:
        np.savez(options.save, table=table)
    if options.beside is not None:
        other = np.load(options.beside)["table"]
        n = other.shape[1] // 2
        apart = np.abs(table[:, :n] - other[:, :n]) / np.where(other[:, n:] > 0, other[:, n:], 1.0)
        narrow = np.abs(table[:, n:] / np.where(other[:, n:] > 0, other[:, n:], 1.0) - 1.0)
        print(
            f"estimates differ by at most {np.nanmax(apart):.2g} of their deviations, deviations"
            f" by {np.nanmax(narrow):.2g} of themselves"
        )


if __name__ == "__main__":
    main()
