"""Errors that do not average out: drag, clocks, the wheel's ripple, a wrong momentum.

The paper sees its base slow down and suspects the air bearings; the others it does not mention.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.linear.samples import Samples
from freefloat.model.model import Model
from freefloat.papers.paper_003.bench import Bench, instants, predicted_rate
from freefloat.papers.paper_003.experiment import fly, read, start_rate, with_drag
from freefloat.papers.paper_003.published import BOUNDS
from freefloat.papers.paper_rows import Row, within
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.clock_offsets import estimate_offset
from freefloat.telemetry.resample import resample
from freefloat.telemetry.telemetry import Telemetry

DRAG = "Air-bearing drag, spin-down 1000 s"
LAG = "Base 10 ms behind the joints"
RIPPLE = "Wheel speed 0.1 % off and on"
SCALE = "Momentum 5 % wrong"


def systematic_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Worst errors of the eight parameters, as the paper does it and with the remedy."""
    bench = Bench.of(model)
    return [
        *_drag_rows(bench),
        *_lag_rows(bench),
        *_ripple_rows(bench, n=12 if quick else 40),
        *_scale_rows(bench),
    ]


def _drag_rows(bench: Bench) -> list[Row]:
    model, drag = with_drag(bench, 1000.0)
    speed = bench.wheel_speed
    samples = read(bench, fly(model, start_rate(bench, speed), speed))
    modelled = bench.solve(samples, drag=True)
    return [
        within(DRAG, "worst error, drag left out", "%", bench.worst(bench.solve(samples)),
               between=BOUNDS["drag"], note="the paper's procedure; elsewhere found as 19"),
        within(DRAG, "worst error, a column for the drag", "%", bench.worst(modelled),
               between=BOUNDS["drag column"], status="better",
               note=f"drag found to {100 * (modelled[8] / drag - 1):+.1e} %"),
    ]  # fmt: skip


def _lag_rows(bench: Bench, lag: float = 0.010) -> list[Row]:
    speed = bench.wheel_speed
    flight = fly(bench.model, start_rate(bench, speed), speed, hertz=100.0)
    late = flight.shift("base.*", lag)
    before = bench.worst(_at_35(bench, late))
    found = _found_lag(bench, late)
    after = bench.worst(_at_35(bench, late.shift("base.*", -found)))
    return [
        within(LAG, "worst error, clocks trusted", "%", before, between=BOUNDS["lag"],
               note="the paper's procedure; elsewhere found as 33"),
        within(LAG, "worst error, clocks compared first", "%", after,
               between=BOUNDS["lag corrected"], status="regression",
               note=f"held to {BOUNDS['lag corrected'][1]:g} %; lag found:"
               f" {1e3 * found:.3f} ms, from the base rate the joints predict"),
    ]  # fmt: skip


def _found_lag(bench: Bench, late: Telemetry) -> float:
    """The lag [s] at which base and joints agree, by secants: wrong clocks bend pi as well."""
    tried, left = [0.0], []
    for _ in range(5):
        moved = late.shift("base.*", -tried[-1])
        left.append(_offset(bench, moved, _at_35(bench, moved)))
        slope = 1.0 if len(left) < 2 else (left[-2] - left[-1]) / (tried[-1] - tried[-2])
        tried.append(tried[-1] + left[-1] / slope)
    return tried[-1]


def _at_35(bench: Bench, flight: Telemetry) -> Array:
    """The parameters from the flight at the paper's instants, as far as all channels have them."""
    first = max(channel.time[0] for channel in flight.channels.values())
    last = min(channel.time[-1] for channel in flight.channels.values())
    times = np.clip(instants(), first, last)
    return bench.solve(read(bench, resample(flight, times=np.unique(times))))


def _offset(bench: Bench, flight: Telemetry, pi: Array) -> float:
    """By how much [s] the base lags the base rate that the joints and pi predict."""
    joints = flight["arm_1.position"].time
    q = np.column_stack([flight[f"arm_{k}.position"].values for k in (1, 2)])
    dq = np.column_stack([flight[f"arm_{k}.velocity"].values for k in (1, 2)])
    momentum = -bench.wheel_inertia * flight["rw_z.speed"].values
    expected = predicted_rate(bench, pi, q, dq, momentum)
    joined = Channel("expected.rate", "rad/s", joints, expected)
    return estimate_offset(joined, flight["base.rate.z"], max_offset=0.1).seconds


def _ripple_rows(bench: Bench, n: int, size: float = 1e-3) -> list[Row]:
    """A ripple at the frequency and phase that hurt most, the wheel's mean speed believed."""
    time, speed = instants(), bench.wheel_speed
    worst, at = 0.0, 0.0
    for hertz in np.geomspace(0.2, 2.0, n):
        for phase in np.arange(8) * np.pi / 8.0:
            ripple = size * np.sin(2.0 * np.pi * hertz * time + phase)
            exact = bench.samples(time, speed * (1.0 + ripple))
            error = bench.worst(bench.solve(_constant_wheel(exact, speed)))
            worst, at = max((worst, at), (error, float(hertz)))
    wave = size * np.sin(2.0 * np.pi * at * time)
    exact = bench.samples(time, speed * (1.0 + wave))
    return [
        within(RIPPLE, "worst error, speed taken as constant", "%", worst, between=BOUNDS["ripple"],
               note=f"at the worst frequency, {at:.2f} Hz; elsewhere found as 50, at one unsaid"),
        within(RIPPLE, "worst error, speed measured at every row", "%",
               bench.worst(bench.solve(exact)), between=BOUNDS["noise-free"], status="better"),
    ]  # fmt: skip


def _constant_wheel(samples: Samples, speed: float) -> Samples:
    dq = samples.dq.copy()
    dq[:, 2] = speed
    return replace(samples, dq=dq)


def _scale_rows(bench: Bench, wrong: float = 0.05) -> list[Row]:
    momentum = -bench.wheel_inertia * bench.wheel_speed
    samples = bench.samples(instants(), bench.wheel_speed)
    errors = bench.errors(bench.solve(samples, momentum=wrong * momentum))
    low, high = float(np.min(errors)), float(np.max(errors))
    note = "every parameter is wrong by as much: nothing else in the data fixes the scale"
    return [
        within(SCALE, f"{words} error of the eight", "%", value, between=(4.999999, 5.000001),
               note=note if words == "least" else "")
        for words, value in (("least", low), ("largest", high))
    ]  # fmt: skip
