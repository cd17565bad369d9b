"""padasip's and filterpy's RLS on given rows: speed and answers. Runs in the peers' interpreter."""

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


def follow(name: str, path: str) -> dict:
    """Estimates after the last sample, old samples forgotten, and their deviations.

    Six rows a sample, divided by what one solution of all of them leaves, as a user would weight
    them after a first look.
    """
    with np.load(path) as file:
        rows, right, n, x = file["rows"], file["right"], int(file["n"]), file["believed"]
    scale = np.abs(x) + 0.01 * np.max(np.abs(x))
    left = right - rows @ np.linalg.lstsq(rows, right, rcond=None)[0]
    size = np.maximum(left.reshape(n, 6).std(axis=0), 1e-9)
    a = (rows * scale).reshape(n, 6, -1) / size[:, None]
    b = (right.reshape(n, 6) - (rows @ x).reshape(n, 6)) / size
    z, covariance = FOLLOWERS[name](a, b)
    return {"version": version(name), "values": (x + scale * z).tolist(),
            "std": (scale * np.sqrt(np.diag(covariance))).tolist()}  # fmt: skip


KEEP = 0.9997  # of the information, a row; six rows a sample, so for some 20 s at 25 Hz
PRIOR = 0.3**2  # variance of what is believed, relative


def follow_by_padasip(a, b):
    """FilterRLS with forgetting, a row at a time; it starts from what is believed."""
    import padasip

    other = padasip.filters.FilterRLS(a.shape[2], mu=KEEP, eps=1.0 / PRIOR, w="zeros")
    for row, value in zip(a.reshape(-1, a.shape[2]), b.ravel(), strict=True):
        other.adapt(value, row)
    return other.w, other.R


def follow_by_filterpy(a, b):
    """KalmanFilter with fading memory, all rows of a sample at once."""
    from filterpy.kalman import KalmanFilter

    other = KalmanFilter(dim_x=a.shape[2], dim_z=6)
    other.P *= PRIOR
    other.Q *= 0.0  # the memory alone forgets
    other.alpha = KEEP**-3.0  # squared, six rows a sample
    unit = np.eye(6)
    for rows, values in zip(a, b, strict=True):
        other.predict()
        other.update(values[:, None], R=unit, H=rows)
    return other.x[:, 0], other.P


FOLLOWERS = {"padasip": follow_by_padasip, "filterpy": follow_by_filterpy}


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
    serve({"run": run, "follow": follow})
