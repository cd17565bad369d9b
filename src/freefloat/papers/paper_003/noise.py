"""Noise on paper 003's motion: which noise explains Table 3, and what a stated one costs.

An error "over all" is the root mean square over the eight parameters and all repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.linear.least_squares import Solver, estimate
from freefloat.identification.linear.samples import NoiseSource, Samples
from freefloat.model.model import Model
from freefloat.papers.paper_003.bench import Bench, instants, table_2
from freefloat.papers.paper_003.published import BOUNDS, PUBLISHED
from freefloat.papers.paper_rows import Row, within
from freefloat.parameters.parameters import Parameter

TABLE_3 = "Table 3: errors"
STATED = "Noise: q 1e-4 rad, dq and omega 1e-3 rad/s"
SAMPLING = 100.0  # [Hz], what the bench records
FEWER = 0.95  # of the error: what fourteen times the samples must at least be good for


@dataclass(frozen=True)
class Noise:
    """Standard deviations of joint angles [rad], joint rates and base rate [rad/s]."""

    q: float
    dq: float
    omega: float


NOISE = Noise(1e-4, 1e-3, 1e-3)


def noise_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Table 3's errors explained by gyro noise, and the errors at a stated noise."""
    bench = Bench.of(model)
    n = 1000 if quick else 4000
    size, spread = _explaining(bench, n, seed)
    note = "makes the mean of the eight errors, in the median of all runs, that of Table 3"
    limits, words = BOUNDS["gyro noise"], "gyro noise that explains them"
    rows = [within(TABLE_3, words, "rad/s", size, between=limits, note=note)]
    for k, (paper, own) in enumerate(zip(PUBLISHED["errors"], spread.T, strict=True), start=1):
        is_likely = paper < np.quantile(own, 0.99)
        status = "reproduced in pattern" if is_likely else "missed"
        note = "ours: median of its size with that gyro noise" if k == 1 else ""
        rows.append(Row(TABLE_3, f"pi{k}", "%", paper, float(np.median(own)), status, note))
    errors = bench.errors(least_squares_runs(bench, instants(), NOISE, n=n, seed=seed))
    rows.append(
        within(STATED, "least squares (eq. 11), over all", "%", _over_all(errors),
               between=BOUNDS["noise"], note="rms of eight parameters; elsewhere found as 4.2")
    )  # fmt: skip
    return [*rows, *_solver_rows(bench, quick=quick, seed=seed)]


def _explaining(bench: Bench, n: int, seed: int) -> tuple[float, Array]:
    """Gyro noise [rad/s] that makes errors as large as Table 3's, and their sizes (n, 8) [%]."""
    unit = 1e-4
    found = least_squares_runs(bench, instants(), Noise(0.0, 0.0, unit), n=n, seed=seed)
    sizes = np.abs(bench.errors(found))
    factor = float(np.mean(PUBLISHED["errors"]) / np.median(np.mean(sizes, axis=1)))
    return unit * factor, factor * sizes  # errors this small grow in proportion


def least_squares_runs(bench: Bench, time: Array, noise: Noise, *, n: int, seed: int) -> Array:
    """pi1 ... pi8 (n, 8) by eq. 11 from n noisy recordings of Table 2's motion."""
    rng = np.random.default_rng(seed)
    momentum = -bench.wheel_inertia * bench.wheel_speed
    q, dq = table_2(time)
    rate = bench.base_rate(q, dq, momentum)
    shape = (n, len(time), 2)
    qs, dqs = q + noise.q * rng.normal(size=shape), dq + noise.dq * rng.normal(size=shape)
    rates = rate + noise.omega * rng.normal(size=shape[:2])
    Y = bench.rows(rates.ravel(), qs.reshape(-1, 2), dqs.reshape(-1, 2))
    return np.linalg.pinv(Y.reshape(n, len(time), 8)) @ np.full(len(time), momentum)


def _solver_rows(bench: Bench, *, quick: bool, seed: int) -> list[Row]:
    """The library's solvers, with weights made for a model 30 % off."""
    n = 30 if quick else 200
    n_fine = int(PUBLISHED["duration"] * SAMPLING) + 1
    fine = np.linspace(0.0, PUBLISHED["duration"], n_fine)
    plans: list[tuple[str, Solver, Array]] = [
        ("weighted, 35 samples", "ls", instants()),
        ("corrected for noisy columns, 35 samples", "corrected", instants()),
        ("weighted, 100 Hz", "ls", fine),
        ("corrected for noisy columns, 100 Hz", "corrected", fine),
        ("instrumental variables, 100 Hz", "iv", fine),
    ]
    rows, plain = [], None
    for words, solver, time in plans:
        errors = solver_errors(bench, time, solver, n=n, seed=seed)
        plain = _over_all(errors) if plain is None else plain
        note = f"mean error of pi7 {np.mean(errors[:, 6]):+.2f} %, {n} runs"
        most, status = (FEWER * plain, "met") if time is fine else (np.inf, "not published")
        if time is fine:
            note = f"aim: below {most:.2g}, {FEWER:g} of what 35 samples leave; {note}"
        rows.append(within(STATED, words, "%", _over_all(errors), between=(0.0, most),
                           status=status, note=note))  # fmt: skip
    return rows


def solver_errors(bench: Bench, time: Array, solver: Solver, *, n: int, seed: int) -> Array:
    """Relative errors (n, 8) [%] of a solver of the library over n noisy recordings."""
    wrong = Bench.of(heavier(bench.model, 1.3))
    exact = with_sources(bench.samples(time, bench.wheel_speed), NOISE)
    form = replace(bench.form, momentum=(0.0, 0.0, 0.0))
    start = form.parameters(wrong.system)
    unknowns = [
        Parameter(words, float(value), "kg m^2", status="free")
        for words, value in zip(form.minimal.words, start, strict=True)
    ]
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        noisy, _ = exact.jittered(rng)
        answer = estimate(form.equations, wrong.system, [noisy], unknowns, solver=solver)
        found.append(bench.signs * answer.values[:8])
    return bench.errors(np.array(found))


def heavier(model: Model, factor: float) -> Model:
    """The model with every mass and inertia times a factor: a wrong guess."""
    bodies = tuple(
        replace(
            b, mass=factor * b.mass, inertia=tuple(factor * x for x in b.inertia)  # type: ignore[arg-type]
        )
        for b in model.bodies
    )  # fmt: skip
    return replace(model, bodies=bodies)


def with_sources(samples: Samples, noise: Noise) -> Samples:
    """The samples, said to have that noise."""
    sources = [NoiseSource((("rate", 2, noise.omega),))]
    for k in range(2):
        sources += [NoiseSource((("q", k, noise.q),)), NoiseSource((("dq", k, noise.dq),))]
    return replace(samples, sources=tuple(sources))


def _over_all(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))
