"""O6: live updates of base and target of a seven-joint arm, beside other RLS in the same run.

Everybody gets the same whitened rows for the recursion alone; the whole update (rows, noise, gate,
correction, estimate) is ours only. A long stream shows that memory and answer stay put.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import tracemalloc

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import freefloat as ff
from freefloat.compilation import kernel
from freefloat.excitation import Pulses, Sinusoid
from freefloat.identification.online.estimator import OnlineEstimator
from freefloat.identification.online.kernels.triangle import rotate_in, solve_triangle
from freefloat.identification.online.rls import PlainRls
from freefloat.telemetry.stream import Sample


@kernel
def givens(T, rows, work, x, g):
    """The same recursion in square-root form: rows into the triangle, and the estimate."""
    N = T.shape[0]
    for r in range(rows.shape[0]):
        for i in range(N + 1):
            work[i] = rows[r, i]
        rotate_in(T, work)
    for i in range(N):
        g[i] = T[i, N]
    solve_triangle(T, g, x)


def flight() -> tuple[ff.Model, ff.Telemetry]:
    """The seven-joint servicer without wings and tank, shaken and pushed for a minute at 10 Hz."""
    from freefloat.model.assembly import rigid

    model = rigid(ff.load_model("servicer"))
    joints = [j for j in model.joints if j.type != "fixed"]
    motions = {
        j.name: Sinusoid(60.0, j.home, 0.3, 9.0 + 2.0 * k, 3.0, first=j.home)
        for k, j in enumerate(joints)
    }
    thrusts = {
        t.name: Pulses(((2.0 + 0.5 * k, 2.0, 0.5 * t.max_force),))
        for k, t in enumerate(model.thrusters)
    }
    return model, ff.simulate(model, ff.Plan(60.0, motions=motions, thrusts=thrusts), seed=0)


def latencies(step, items) -> np.ndarray:
    """Seconds of each call."""
    out = np.empty(len(items))
    for k, item in enumerate(items):
        begun = time.perf_counter()
        step(item)
        out[k] = time.perf_counter() - begun
    return out


def row(name: str, seconds: np.ndarray) -> dict[str, object]:
    p50, p99 = np.percentile(seconds, [50, 99]) * 1e6
    return {"who": name, "p50_us": float(p50), "p99_us": float(p99), "per_s": 1e6 / float(p50)}


def recursions(rows: list[np.ndarray]) -> list[dict[str, object]]:
    """Ours, numpy, padasip and filterpy on the same rows (m, N + 1)."""
    N = rows[0].shape[1] - 1
    T, x, work, g = np.zeros((N, N + 1)), np.zeros(N), np.zeros(N + 1), np.zeros(N + 1)
    np.fill_diagonal(T, 1e-3)
    givens(T, rows[0], work, x, g)
    found = [row("ours: Givens, compiled", latencies(lambda r: givens(T, r, work, x, g), rows))]
    rls = PlainRls(np.zeros(N), np.full(N, 1e6))
    found.append(
        row("numpy: covariance RLS", latencies(lambda r: rls.update(r[:, :-1], r[:, -1]), rows))
    )
    try:
        import padasip

        other = padasip.filters.FilterRLS(N, mu=1.0, eps=1e-6)

        def adapt(r: np.ndarray) -> None:
            for line in r:
                other.adapt(line[-1], line[:-1])

        found.append(row("padasip: FilterRLS", latencies(adapt, rows)))
    except ImportError:
        found.append({"who": "padasip: not installed, skipped"})
    try:
        from filterpy.kalman import KalmanFilter

        kf = KalmanFilter(dim_x=N, dim_z=len(rows[0]))
        kf.P *= 1e6

        def update(r: np.ndarray) -> None:
            kf.update(r[:, -1], R=np.eye(len(r)), H=r[:, :-1])

        found.append(row("filterpy: KalmanFilter", latencies(update, rows)))
    except ImportError:
        found.append({"who": "filterpy: not installed, skipped"})
    return found


def stream(tracker: OnlineEstimator, samples: list[Sample], n: int) -> dict[str, object]:
    """A long stream: the same minute again and again, the clock going on."""
    tracemalloc.start()
    first = None
    begun, taken = time.process_time(), 0
    while taken < n:
        shift = 60.0 * (taken // (len(samples) - 1))
        for sample in samples[1:]:
            tracker.update(Sample(sample.time + shift, sample.values))
            taken += 1
        first = tracemalloc.get_traced_memory()[0] if first is None else first
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    seconds = time.process_time() - begun
    return {"samples": taken, "bytes_grown": grown, "cpu_s": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model, seen = flight()
    params = ff.Parameters(model).free(f"{model.root.body}.*", "target.*")
    tracker = OnlineEstimator(model, params, like=seen)
    tracker.warm_up()
    samples, rows = list(seen), []
    whole = []
    for sample in samples:
        begun = time.perf_counter()
        estimate = tracker.update(sample)
        whole.append(time.perf_counter() - begun)
        if estimate.verdict == "taken":
            rows.append(tracker.memory.rows.copy())
    table = [row("ours: whole update", np.array(whole[50:])), *recursions(rows[50:])]
    longer = stream(tracker, samples, 20_000 if options.quick else 1_000_000)
    longer["target.mass"] = tracker.estimate["target.mass"]
    content = {"table": table, "stream": longer, "unknowns": len(params.free_ones)}
    if options.json:
        print(json.dumps(content))
        return
    for entry in table:
        if "p50_us" in entry:
            print(
                f"{entry['who']:28s} p50 {entry['p50_us']:8.1f} us   p99 {entry['p99_us']:8.1f} us"
            )
        else:
            print(entry["who"])
    print(longer)


if __name__ == "__main__":
    main()
