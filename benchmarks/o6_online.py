"""O6: live updates of base and target of a seven-joint arm, beside other RLS in the same run.

Everybody gets the same whitened rows for the recursion alone; the whole update (rows, noise, gate,
correction, estimate) is ours only. A long stream shows that memory and answer stay put. Times are
those of the processor; the job of the table is a thousand updates.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import common
import numpy as np

import freefloat as ff
from freefloat.arrays import Array
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
    joints = [c for c in model.assembly.coordinates if c.role == "motion"]
    motions = {
        j.name: Sinusoid(60.0, j.home, 0.3, 9.0 + 2.0 * k, 3.0, first=j.home)
        for k, j in enumerate(joints)
    }
    thrusts = {
        t.name: Pulses(((2.0 + 0.5 * k, 2.0, 0.5 * t.max_force),))
        for k, t in enumerate(model.thrusters)
    }
    sensors = tuple(replace(s, rate=10.0) for s in model.sensors)
    plan = ff.Plan(60.0, motions=motions, thrusts=thrusts)
    return model, ff.simulate(model, plan, sensors=sensors, seed=0)


def latencies(step: Callable[[Any], object], items: Sequence[Any]) -> Array:
    """Processor seconds of each call."""
    out = np.empty(len(items))
    for k, item in enumerate(items):
        begun = time.thread_time_ns()
        step(item)
        out[k] = 1e-9 * (time.thread_time_ns() - begun)
    return out


def p50(seconds: Array) -> float:
    """A thousand median updates [s]."""
    return 1e3 * float(np.median(seconds))


def recursions(result: common.Table, rows: list[Array]) -> float:
    """Ours, numpy, padasip and filterpy on the same rows (m, N + 1); ours [s]."""
    N = rows[0].shape[1] - 1
    T, x, work, g = np.zeros((N, N + 1)), np.zeros(N), np.zeros(N + 1), np.zeros(N + 1)
    np.fill_diagonal(T, 1e-3)
    givens(T, rows[0], work, x, g)
    T[:] = 0.0
    np.fill_diagonal(T, 1e-3)
    ours = p50(latencies(lambda r: givens(T, r, work, x, g), rows))
    result.add_time("recursion alone, ours: Givens, compiled", ours, ours)
    rls = PlainRls(np.zeros(N), np.full(N, 1e6))
    theirs = p50(latencies(lambda r: rls.update(r[:, :-1], r[:, -1]), rows))
    result.add_time("recursion alone, numpy: covariance RLS", theirs, ours)
    result.add_promise("recursion: times faster than numpy", theirs / ours, least=20.0)
    for run in (run_padasip, run_filterpy):
        try:
            run(result, rows, ours)
        except ImportError as error:
            result.notes.append(f"left out: {error}")
    return ours


def run_padasip(result: common.Table, rows: list[Array], ours: float) -> None:
    """FilterRLS takes one row at a time."""
    import padasip

    other = padasip.filters.FilterRLS(rows[0].shape[1] - 1, mu=1.0, eps=1e-6)

    def adapt(r: Array) -> None:
        for line in r:
            other.adapt(line[-1], line[:-1])

    result.add_time("recursion alone, padasip: FilterRLS", p50(latencies(adapt, rows)), ours)


def run_filterpy(result: common.Table, rows: list[Array], ours: float) -> None:
    """KalmanFilter takes all rows of a sample at once."""
    from filterpy.kalman import KalmanFilter

    kf = KalmanFilter(dim_x=rows[0].shape[1] - 1, dim_z=len(rows[0]))
    kf.P *= 1e6
    unit = np.eye(len(rows[0]))
    times = latencies(lambda r: kf.update(r[:, -1], R=unit, H=r[:, :-1]), rows)
    result.add_time("recursion alone, filterpy: KalmanFilter", p50(times), ours)


def long_stream(
    result: common.Table, tracker: OnlineEstimator, samples: list[Sample], n: int
) -> None:
    """The same minute again and again, the clock going on: memory and answer must stay put.

    After every lap the clock jumps, so that nothing is taken to happen between them.
    """
    truth = np.array([p.value for p in tracker.parameters.free_ones])
    taken, laps, early = 0, 0, 0
    while taken < n:
        laps += 1
        for sample in samples:
            tracker.update(Sample(sample.time + 1000.0 * laps, sample.values))
        taken += len(samples)
        if laps == 5:
            early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - early
    estimate = tracker.estimate
    sizes = estimate.unknowns.sizes[len(estimate.unknowns.nuisance) :]
    off = float(np.max(np.abs(estimate.values - truth) / sizes))
    result.add_promise(f"peak memory grown over {taken} samples [kB]", float(grown), most=1000.0)
    result.notes.append(
        f"{taken} samples: {tracker.health.n_rejected} rejected, worst parameter"
        f" {off:.2g} natural sizes off; the noise of the one minute repeats in every lap"
    )


def main() -> None:
    options = common.arguments(__doc__)
    model, seen = flight()
    params = ff.Parameters(model).free(f"{model.root.body}.*", "target.*")
    n = len(params.free_ones)
    result = common.Table("O6", f"live updates, 7 joints, {n} unknowns, 1000 updates")
    tracker = OnlineEstimator(model, params, like=seen)
    tracker.warm_up()
    samples, rows = list(seen), []
    for sample in samples:
        if tracker.update(sample).verdict == "taken":
            rows.append(tracker.memory.rows.copy())
    ours = recursions(result, rows[50:])
    again = OnlineEstimator(model, params, like=seen)
    whole = latencies(again.update, samples)[100:]
    result.add_time("whole update, ours", p50(whole), ours)
    result.add_promise("whole update, p99 [us]", 1e6 * float(np.percentile(whole, 99)), most=50.0)
    result.notes.append(
        f"whole update p50 {1e3 * p50(whole):.1f} us; {int(np.sum(whole > 5e-3))} updates over 5 ms"
        " (the first samples are taken again once)"
    )
    long_stream(result, tracker, samples, 20_000 if options.quick else 1_000_000)
    result.show(options)


if __name__ == "__main__":
    main()
