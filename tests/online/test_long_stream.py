"""A day of samples: no false alarm, no memory, and no drift away from what all rows say."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from live_flights import noisy, truth, wanted

import freefloat as ff
from freefloat.online.filter_problem import DIFFUSE
from freefloat.telemetry.sample_rows import Sample

PLANE = "planar-capture"


class AllRows:
    """The information of all rows, summed in extended precision: what batch would make of them.

    A new segment has a new initial momentum, so the last one is eliminated, and nothing is known
    of the new one.
    """

    def __init__(self, tracker: ff.OnlineEstimator) -> None:
        self.n = tracker.filter.problem.n_nuisance
        T = tracker.filter.memory.information_root.astype(np.longdouble)
        self.A = T.T @ T

    def new_segment(self) -> None:
        A, n = self.A, self.n
        left = np.linalg.inv(A[:n, :n].astype(float)).astype(np.longdouble)
        left = left @ (2.0 * np.eye(n) - A[:n, :n] @ left)  # one Newton step: to the last digits
        A[n:, n:] -= A[n:, :n] @ left @ A[:n, n:]
        A[:n], A[:, :n] = 0.0, 0.0
        A[range(n), range(n)] = DIFFUSE**-2

    def add(self, rows: np.ndarray) -> None:
        wide = rows.astype(np.longdouble)
        self.A += wide.T @ wide

    def drift(self, root: np.ndarray) -> float:
        """How far the factor's solution is from that of the sum, in standard deviations."""
        R = np.linalg.cholesky(self.A[:-1, :-1].astype(float)).T
        x = np.linalg.solve(R, np.linalg.solve(R.T, self.A[:-1, -1].astype(float)))
        own = np.linalg.solve(root[:, :-1], root[:, -1])
        return float(np.max(np.abs(R @ (own - x))))


def run(n_samples: int) -> tuple[ff.OnlineEstimator, AllRows, int, int]:
    """The same minute with fresh noise, again and again; the clock jumps in between.

    Returned: the estimator, all its rows since it settled, how much memory grew in the second half
    [kB], and alarms.
    """
    tracker = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=noisy(PLANE, 0))
    rows: AllRows | None = None
    taken, lap, early, alarms = 0, 0, 0, 0
    while taken < n_samples:
        for sample in noisy(PLANE, 10_000 + lap):
            estimate = tracker.update(Sample(sample.time + 1000.0 * lap, sample.values))
            if rows is not None and estimate.outcome == "begun":
                rows.new_segment()
            if rows is not None and estimate.outcome == "taken":
                rows.add(tracker.filter.memory.rows)
            alarms += sum(event.kind == "change" for event in estimate.events)
            taken += 1
        if lap == 0:
            rows = AllRows(tracker)  # the first samples are taken twice
        lap += 1
        if taken < 0.5 * n_samples:
            early = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert rows is not None
    return tracker, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - early, alarms


def judge(figure, n_samples: int) -> None:
    tracker, rows, grown, alarms = run(n_samples)
    estimate = tracker.estimate
    drift = rows.drift(tracker.filter.memory.information_root)
    off = np.max(np.abs(estimate.values - truth(PLANE)) / estimate.std)
    n, hours = estimate.health.n_samples, estimate.health.n_samples / 36_000
    gated = estimate.health.counts.get("gated", 0)
    figure("O3", f"{alarms} false alarms in {hours:.1f} h at 10 Hz ({n} samples, {gated} gated)")
    told = f"{n} samples: {grown} kB more in the second half"
    figure("O6", f"{told}; {drift:.1e} deviations from the sum of all rows")
    assert alarms == 0
    assert grown < 2000  # [kB] a million samples would be hundreds of megabytes
    # rounding of one update is 1e-16 of numbers that have grown to sqrt(samples): far from this
    assert drift < 1e-3
    assert off < 5.0  # of eight deviations the largest


@pytest.mark.promise("O3")
@pytest.mark.promise("O6")
def test_half_an_hour_is_as_the_minute_was(figure):
    judge(figure, 15_000)


@pytest.mark.full
@pytest.mark.promise("O3")
@pytest.mark.promise("O6")
def test_a_day_without_an_alarm_and_without_drift(figure):
    """1e6 samples: 27.8 h at 10 Hz."""
    judge(figure, 1_000_000)
