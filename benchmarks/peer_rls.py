"""padasip's and filterpy's RLS on given rows. Runs in the peers' interpreter."""

from __future__ import annotations

import time
from importlib.metadata import version

import numpy as np
from peer_loop import serve


def run(name: str, path: str, out: str, passes: int) -> dict:
    """Processor time [s] of a thousand steps, the best of some passes, and the last estimate."""
    with np.load(path) as file:
        rows, variance = file["rows"], float(file["variance"])
    best = np.inf
    estimate = np.zeros(rows.shape[2] - 1)
    for _ in range(passes):
        step, read = STEPS[name](*rows.shape[1:], variance)
        begun = time.thread_time_ns()
        for r in rows:
            step(r)
        best = min(best, 1e-9 * (time.thread_time_ns() - begun))
        estimate = read()
    np.savez(out, x=estimate)
    return {"version": version(name), "best": 1e3 * best / len(rows)}


def padasip_steps(_m: int, width: int, variance: float):
    """FilterRLS takes one row at a time."""
    import padasip

    other = padasip.filters.FilterRLS(width - 1, mu=1.0, eps=1.0 / variance, w="zeros")

    def step(r):
        for line in r:
            other.adapt(line[-1], line[:-1])

    return step, lambda: other.w


def filterpy_steps(m: int, width: int, variance: float):
    """KalmanFilter takes all rows of a sample at once."""
    from filterpy.kalman import KalmanFilter

    other = KalmanFilter(dim_x=width - 1, dim_z=m)
    other.P *= variance
    unit = np.eye(m)
    return lambda r: other.update(r[:, -1:], R=unit, H=r[:, :-1]), lambda: other.x[:, 0]


STEPS = {"padasip": padasip_steps, "filterpy": filterpy_steps}

if __name__ == "__main__":
    serve({"run": run})
