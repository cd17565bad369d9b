"""O6: live updates of base and target of a seven-joint arm, beside other RLS in the same run.

The recursion alone: everybody gets the same whitened rows of every sample, and gives the estimate
after it. From sample to estimate: ours with noise, gate and correction, beside plain RLS in NumPy,
which has none of these (its rows come from our compiled regressor). A long stream shows that memory
and answer stay put. Times are those of the processor: the best of several passes, for
latencies the best of each sample. The job of the table is a thousand updates.
"""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import peers  # first: one thread of linear algebra

# isort: split
import common
import numpy as np

import freefloat as ff
from freefloat.arrays import Array
from freefloat.excitation import Pulses, Sinusoid
from freefloat.numba_.bound_arguments import bind, compile_call, unpack
from freefloat.numba_.compilation import kernel
from freefloat.online.estimator import OnlineEstimator
from freefloat.online.kernels.square_root_information import ROOM, add_rows, solve_upper
from freefloat.papers.paper_001.recursive_filter import recursive_filter
from freefloat.telemetry.sample_rows import Sample

VARIANCE = 1e6  # of the unknowns before the first sample, in natural sizes
AGREE = 0.1  # deviations: the covariance form loses digits that the square root keeps
LIMIT = 300.0  # [s] for an answer of a peer


@kernel
def square_root_step(bound, rows):
    """The same recursion in square-root form: rows into the factor, and the estimate."""
    T, turned, right, x = unpack(bound)
    add_rows(T, rows, turned)
    for i in range(x.shape[0]):
        right[i] = T[i, x.shape[0]]
    solve_upper(T, right, x)


class NumpyRls:
    """Covariance RLS as quick as we know how in NumPy: in place, nothing made that need not be."""

    def __init__(self, N: int) -> None:
        self.x, self.P = np.zeros(N), VARIANCE * np.eye(N)

    def take(self, rows: Array) -> None:
        """All rows of a sample at once."""
        Y, y = rows[:, :-1], rows[:, -1]
        across = Y @ self.P
        S = across @ Y.T
        S.flat[:: len(S) + 1] += 1.0
        K = np.linalg.solve(S, across)
        self.x += (y - Y @ self.x) @ K
        self.P -= across.T @ K
        self.P += self.P.T  # symmetric again: else rounding takes its sign away
        self.P *= 0.5

    def take_singly(self, rows: Array) -> None:
        """One row after the other: no system to solve; P stays symmetric by itself."""
        for row in rows:
            across = self.P @ row[:-1]
            K = across / (1.0 + row[:-1] @ across)
            self.x += (row[-1] - row[:-1] @ self.x) * K
            self.P -= K[:, None] * across


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


def latencies(
    begin: Callable[[], Callable[[Any], object]], items: Sequence[Any], *, passes: int
) -> tuple[Array, Array]:
    """Seconds of each step: of the processor, the best of some passes; of the clock, the first."""
    best, wall = np.full(len(items), np.inf), np.zeros(len(items))
    gc.collect()
    gc.disable()  # as real-time code does
    for turn in range(passes):
        step = begin()
        for k, item in enumerate(items):
            since, begun = time.perf_counter_ns(), time.thread_time_ns()
            step(item)
            best[k] = min(best[k], 1e-9 * (time.thread_time_ns() - begun))
            if turn == 0:
                wall[k] = 1e-9 * (time.perf_counter_ns() - since)
    gc.enable()
    return best, wall


def throughputs(
    contenders: dict[str, Callable[[], Callable[[Any], object]]],
    items: Sequence[Any],
    *,
    passes: int,
) -> dict[str, float]:
    """Processor seconds of a thousand steps of each, the best pass; contenders take turns.

    Reading the clock does not count: it is read once a pass.
    """
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(passes):
        for name, begin in contenders.items():
            step = begin()
            begun = time.thread_time_ns()
            for item in items:
                step(item)
            best[name] = min(best[name], 1e-6 * (time.thread_time_ns() - begun) / len(items))
    return best


def p50(seconds: Array) -> float:
    """A thousand median updates [s]."""
    return 1e3 * float(np.median(seconds))


def apart(T: Array, x: Array, other: Array) -> float:
    """How far two estimates are apart, in standard deviations of what the rows say."""
    return float(np.linalg.norm(T[:, :-1] @ (x - other)) / np.sqrt(len(x)))


def recursions(result: common.Table, rows: Array, *, passes: int) -> None:
    """Ours, numpy, padasip and filterpy on the same rows (samples, m, N + 1)."""
    N = rows.shape[2] - 1
    T, x = np.zeros((N, N + 1)), np.zeros(N)
    bound = bind(T, np.zeros(ROOM), np.zeros(N), x)
    step = compile_call(square_root_step, bound, rows[0])

    def ours() -> Callable[[Array], None]:
        T[:] = 0.0
        np.fill_diagonal(T, VARIANCE**-0.5)
        return step

    others: dict[str, NumpyRls] = {}

    def numpy_rls(way: str) -> Callable[[], Callable[[Array], None]]:
        def begin() -> Callable[[Array], None]:
            others[way] = NumpyRls(N)
            return getattr(others[way], way)

        return begin

    contenders = {"own": ours, **{way: numpy_rls(way) for way in ("take", "take_singly")}}
    own, block, single = throughputs(contenders, rows, passes=passes).values()
    result.add_time("recursion alone, ours: square root, compiled", own, own)
    result.add_time("recursion alone, numpy: six rows at once", block, own)
    result.add_time("recursion alone, numpy: row by row", single, own)
    for way, other in others.items():
        told = "six at once" if way == "take" else "row by row"
        result.add_check(f"ours and numpy, {told} [deviations]", apart(T, x, other.x), AGREE)
    result.add_promise("recursion: times faster than numpy, row by row", single / own, least=20.0)
    result.add_promise("recursion: times faster than numpy, six at once", block / own, least=20.0)
    for name in ("padasip", "filterpy"):
        try:
            run_peer(result, name, rows, (T, x), own, passes=passes)
        except peers.PeerError as error:
            result.notes.append(f"{name} is left out: {error}")


def run_peer(
    result: common.Table,
    name: str,
    rows: Array,
    ours: tuple[Array, Array],
    own: float,
    *,
    passes: int,
) -> None:
    """The same rows through a neighbour's filter."""
    with tempfile.TemporaryDirectory() as folder, peers.Peer("peer_rls.py") as peer:
        path, out = str(Path(folder) / "rows.npz"), str(Path(folder) / "found.npz")
        np.savez(path, rows=rows, variance=VARIANCE)
        told = peer.ask("run", limit=LIMIT, name=name, path=path, out=out, passes=passes)
        with np.load(out) as found:
            theirs = found["x"]
    result.add_time(f"recursion alone, {name} {told['version']}", told["best"], own)
    result.add_check(f"ours and {name} [deviations]", apart(*ours, theirs), AGREE)


def whole_updates(
    result: common.Table, model: ff.Model, params: ff.Parameters, seen: ff.Telemetry, *, passes: int
) -> None:
    """From sample to estimate: ours and RLS in NumPy, without what comes before the first 150."""
    samples, settled = list(seen), slice(150, None)

    def begin(method: str) -> Callable[[], Callable[[Any], object]]:
        chosen = {"filter": recursive_filter(method)} if method == "rls" else {"method": method}
        return lambda: OnlineEstimator(model, params, like=seen, **chosen).update

    best, wall = (a[settled] for a in latencies(begin("square-root"), samples, passes=passes))
    plain, _ = latencies(begin("rls"), samples, passes=passes)
    own = p50(best)
    result.add_time("sample to estimate, ours", own, own)
    result.add_time("sample to estimate, plain RLS in numpy", p50(plain[settled]), own)
    result.add_promise("sample to estimate, p99 [us]", 1e6 * np.percentile(best, 99), most=50.0)
    told = [1e6 * np.percentile(a, q) for a in (best, wall) for q in (50, 99)]
    result.notes.append(
        "sample to estimate: p50 {:.1f} us, p99 {:.1f} us of the processor; on the clock, one pass,"
        " p50 {:.1f} us, p99 {:.1f} us".format(*told)
        + f"; {1.0 / float(np.mean(best)):.0f} updates per second"
    )


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
    off = float(np.max(np.abs(estimate.values - truth) / estimate.sizes))
    result.add_promise(f"peak memory grown over {taken} samples [kB]", float(grown), most=1000.0)
    result.notes.append(
        f"{taken} samples: {tracker.health.n_rejected} rejected, worst parameter"
        f" {off:.2g} natural sizes off; the noise of the one minute repeats in every lap"
    )


def main() -> None:
    options = common.arguments(__doc__)
    passes = 5 if options.quick else 15
    model, seen = flight()
    params = ff.Parameters(model).free(f"{model.root.body}.*", "target.*")
    n = len(params.free_ones)
    result = common.Table("O6", f"live updates, 7 joints, {n} unknowns, 1000 updates")
    tracker = OnlineEstimator(model, params, like=seen)
    tracker.warm_up()
    OnlineEstimator(model, params, like=seen, filter=recursive_filter("rls")).warm_up()
    samples, rows = list(seen), []
    for sample in samples:
        if tracker.update(sample).outcome == "taken":
            rows.append(tracker.filter.memory.rows.copy())
    recursions(result, np.array(rows[50:]), passes=passes)
    whole_updates(result, model, params, seen, passes=passes)
    long_stream(result, tracker, samples, 20_000 if options.quick else 1_000_000)
    result.show(options)


if __name__ == "__main__":
    main()
