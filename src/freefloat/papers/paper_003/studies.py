"""Paper 003 beyond its tables: errors that do not average out, and better motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import NEARBY, CandidateFlight
from freefloat.design.criteria import Information, Optimality
from freefloat.design.excitation import Design, Effort, finish_design, start_search
from freefloat.design.variables import Variables, variables_of
from freefloat.dynamics.tree import System
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import limits_of
from freefloat.excitation.plan import Plan
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.model.model import Model
from freefloat.papers.paper_003.model import (
    JOINTS,
    Emulator,
    fly,
    instants,
    motions,
    predicted_rate,
    start_rate,
    with_drag,
)
from freefloat.papers.paper_003.published import BOUNDS, PUBLISHED
from freefloat.papers.paper_003.tables import NOISE, Noise, least_squares_runs, rms
from freefloat.papers.paper_rows import Row, within
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.limit_monitors import LimitMonitor
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.clock_offsets import estimate_offset
from freefloat.telemetry.resample import resample
from freefloat.telemetry.telemetry import Telemetry

DRAG = "Air-bearing drag, spin-down 1000 s"
LAG = "Base 10 ms behind the joints"
RIPPLE = "Wheel speed 0.1 % off and on"
SCALE = "Momentum 5 % wrong"
DESIGN_TABLE = "Better motions"
# format: protocol, [s], [deg], [deg/s]
LONG = {"duration": 10.0, "harmonics": 5, "reach": 90.0, "rate": 60.0}
# measured: tests/papers/test_every_study.py. What an independent prototype found, and what ours are
# held to: its condition number, and errors a little above those we find ourselves, which are a
# little above its own.
PROTOTYPE = {"error": 1.5, "cond": 61.5, "long": 0.55}
# measured: tests/papers/test_every_study.py holds every row to it
HELD_TO = {"error": 1.6, "cond": 61.5, "long": 0.6}


def systematic_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Worst errors of the eight parameters, as the paper does it and with the remedy."""
    bench = Emulator.of(model)
    return [
        *_drag_rows(bench),
        *_lag_rows(bench),
        *_ripple_rows(bench, n=12 if quick else 40),
        *_scale_rows(bench),
    ]


def _drag_rows(bench: Emulator) -> list[Row]:
    model, drag = with_drag(bench, 1000.0)
    speed = bench.wheel_speed
    samples = samples_of(bench.system, fly(model, start_rate(bench, speed), speed))
    modelled = bench.solve(samples, drag=True)
    return [
        within(DRAG, "worst error, drag left out", "%", bench.worst(bench.solve(samples)),
               between=BOUNDS["drag"], note="the paper's procedure; elsewhere found as 19"),
        within(DRAG, "worst error, a column for the drag", "%", bench.worst(modelled),
               between=BOUNDS["drag column"], status="better",
               note=f"drag found to {100 * (modelled[8] / drag - 1):+.1e} %"),
    ]  # fmt: skip


def _lag_rows(bench: Emulator, lag: float = 0.010) -> list[Row]:
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


def _found_lag(bench: Emulator, late: Telemetry) -> float:
    """The lag [s] at which base and joints agree, by secants: wrong clocks bend pi as well."""
    tried, left = [0.0], []
    for _ in range(5):
        moved = late.shift("base.*", -tried[-1])
        left.append(_offset(bench, moved, _at_35(bench, moved)))
        slope = 1.0 if len(left) < 2 else (left[-2] - left[-1]) / (tried[-1] - tried[-2])
        tried.append(tried[-1] + left[-1] / slope)
    return tried[-1]


def _at_35(bench: Emulator, flight: Telemetry) -> Array:
    """The parameters from the flight at the paper's instants, as far as all channels have them."""
    first = max(channel.time[0] for channel in flight.channels.values())
    last = min(channel.time[-1] for channel in flight.channels.values())
    times = np.clip(instants(), first, last)
    return bench.solve(samples_of(bench.system, resample(flight, times=np.unique(times))))


def _offset(bench: Emulator, flight: Telemetry, pi: Array) -> float:
    """By how much [s] the base lags the base rate that the joints and pi predict."""
    joints = flight["arm_1.position"].time
    q = np.column_stack([flight[f"arm_{k}.position"].values for k in (1, 2)])
    dq = np.column_stack([flight[f"arm_{k}.velocity"].values for k in (1, 2)])
    momentum = -bench.wheel_inertia * flight["rw_z.speed"].values
    expected = predicted_rate(bench, pi, q, dq, momentum)
    joined = Channel("expected.rate", "rad/s", joints, expected)
    return estimate_offset(joined, flight["base.rate.z"], max_offset=0.1).seconds


def _ripple_rows(bench: Emulator, n: int, size: float = 1e-3) -> list[Row]:
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


def _scale_rows(bench: Emulator, wrong: float = 0.05) -> list[Row]:
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


# -- better motions for paper 003's bench: designed for small errors instead of a small condition --
# The paper minimises the condition number of its regressor (section 4). Inside the envelope of its
# own motion there are motions with less than half of that, and others with less than half the
# error.


@dataclass(frozen=True)
class BenchFlights:
    """Flights on the bench, where the base rate follows from the angular momentum alone.

    is_raw: rows as the paper has them; otherwise in units of their noise, per 1 of every pi.
    """

    bench: Emulator
    variables: Variables
    times: Array
    is_raw: bool
    monitors: tuple[LimitMonitor, ...] = ()

    @property
    def system(self) -> System:
        """The bench's mechanism."""
        return self.bench.system

    def fly(self, x: Array) -> CandidateFlight:
        """The rows of one motion."""
        return self._rows_of([x])[0]

    def neighbours(self, x: Array) -> list[CandidateFlight]:
        """The rows of motions close by."""
        return self._rows_of([x + NEARBY * unit for unit in np.eye(len(x))])

    def replay(self, plan: Plan) -> FlightSegment:
        """Nothing is watched that the motion does not show."""
        return _nothing(self.times)

    def _rows_of(self, motions: Sequence[Array]) -> list[CandidateFlight]:
        """Many motions at once: their samples one after the other."""
        parts = [joint_motion(self.variables.plan(x), self.times) for x in motions]
        q, dq = (np.concatenate([part[k] for part in parts]) for k in range(2))
        rows = bench_rows(self.bench, q, dq, None if self.is_raw else NOISE)
        at, none = _nothing(self.times), np.zeros((1, 0))
        return [CandidateFlight(at, own, none) for own in np.split(rows, len(motions))]


def _nothing(times: Array) -> FlightSegment:
    return FlightSegment(times, None, None, None)  # type: ignore[arg-type]


def joint_motion(plan: Plan, times: Array) -> tuple[Array, Array]:
    """Angles and rates (N, 2) of a plan's joints."""
    parts = [plan.motions[name].at(times) for name in JOINTS]
    return np.column_stack([p[0] for p in parts]), np.column_stack([p[1] for p in parts])


def bench_rows(bench: Emulator, q: Array, dq: Array, noise: Noise | None) -> Array:
    """Y (N, 8); with noise, in units of each row's and per 1 of every pi."""
    rate = bench.base_rate(q, dq, -bench.wheel_inertia * bench.wheel_speed)
    Y = bench.rows(rate, q, dq)
    if noise is None:
        return Y
    variance = np.zeros(len(rate))
    tiny = 1e-6
    changes = [(rate + tiny, q, dq, noise.omega)]
    for k in range(2):
        push = tiny * np.eye(2)[k]
        changes += [(rate, q + push, dq, noise.q), (rate, q, dq + push, noise.dq)]
    for a, b, c, level in changes:
        variance += ((bench.rows(a, b, c) - Y) @ bench.pi / tiny * level) ** 2
    return Y * bench.pi / np.sqrt(variance)[:, None]


def design_motion(
    bench: Emulator,
    kind: Optimality,
    *,
    limits: dict[str, float],
    duration: float,
    harmonics: int,
    n_samples: int,
    effort: Effort,
    seed: int = 0,
) -> Design:
    """The best motion of the bench within limits, for its eight parameters."""
    allowed = limits_of(bench.model, limits)
    basis = Basis("fourier", duration, harmonics)
    variables = variables_of(bench.system, allowed, basis=basis)
    times = np.linspace(0.0, duration, n_samples)
    flights = BenchFlights(bench, variables, times, kind == "cond")
    criterion = Information(kind, 8, np.ones(8), np.zeros(8))
    search = start_search(
        bench.model, variables, allowed, [flights], [criterion], seed=seed, effort=effort
    )
    return finish_design(search, variables, allowed, kind)


def envelope() -> dict[str, float]:
    """How far and fast Table 2's motion goes, as limits of the joints."""
    fine = np.linspace(0.0, PUBLISHED["duration"], 20_001)
    found = {}
    for name, motion in motions().items():
        q, dq, ddq = (float(np.max(np.abs(part))) for part in motion.at(fine))
        found |= {f"{name}.lower": -q, f"{name}.upper": q}
        found |= {f"{name}.velocity": dq, f"{name}.acceleration": ddq}
    return found


def least_squares_error(bench: Emulator, plan: Plan, times: Array, *, n: int, seed: int) -> float:
    """Root mean square error [%] of eq. 11 over the eight parameters and n noisy recordings."""
    found = least_squares_runs(bench, *joint_motion(plan, times), NOISE, n=n, seed=seed)
    return rms(bench.errors(found))


def design_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Errors and condition numbers of designed motions beside those of Table 2's."""
    bench = Emulator.of(model)
    n = 1000 if quick else 4000
    # Two starts may both end in a poor minimum: 0.58 to 0.62 % over four seeds; four have 0.58.
    effort = Effort(random=20, starts=4 if quick else 6, rounds=15)
    short = instants()
    table_2 = Plan(PUBLISHED["duration"], motions=motions())
    before = least_squares_error(bench, table_2, short, n=n, seed=seed)
    rows = [
        within(DESIGN_TABLE, "least squares error, Table 2's motion", "%", before,
               between=(4.0, 4.4), note="noise q 1e-4, dq and omega 1e-3; elsewhere found as 4.2")
    ]  # fmt: skip
    found = {
        kind: design_motion(
            bench, kind, limits=envelope(), duration=PUBLISHED["duration"], harmonics=3,
            n_samples=len(short), effort=effort, seed=seed,
        )
        for kind in ("a", "cond")
    }  # fmt: skip
    for kind, words in (("a", "A-optimal"), ("cond", "least condition")):
        plan = found[kind].plan
        error = least_squares_error(bench, plan, short, n=n, seed=seed)
        condition = float(np.linalg.cond(bench_rows(bench, *joint_motion(plan, short), None)))
        quantity = f"least squares error, {words}, same envelope"
        note = f"condition number {condition:.1f}"
        if kind == "a":
            rows.append(_regression_row(quantity, error, "error", note))
        else:
            note = f"aim: less than with Table 2's motion; {note}"
            rows += [
                within(DESIGN_TABLE, quantity, "%", error, between=(0.0, before), status="met",
                       note=note),
                within(DESIGN_TABLE, "condition number, least", "-", condition,
                       between=(0.0, HELD_TO["cond"]), status="met",
                       note=f"aim {HELD_TO['cond']:g}; the paper's own criterion; Table 2's motion"
                       " has 143.6"),
            ]  # fmt: skip
    return [*rows, _long_row(bench, effort, n=n, seed=seed)]


def _long_row(bench: Emulator, effort: Effort, *, n: int, seed: int) -> Row:
    """Ten seconds and a quarter turn either way: what a little more room is worth."""
    reach, rate = np.deg2rad(LONG["reach"]), np.deg2rad(LONG["rate"])
    limits = {"arm_*.lower": -reach, "arm_*.upper": reach, "arm_*.velocity": rate}
    times = np.linspace(0.0, LONG["duration"], PUBLISHED["n_samples"])
    plan = design_motion(
        bench, "a", limits=limits, duration=LONG["duration"], harmonics=int(LONG["harmonics"]),
        n_samples=len(times), effort=effort, seed=seed,
    ).plan  # fmt: skip
    error = least_squares_error(bench, plan, times, n=n, seed=seed)
    quantity = "least squares error, A-optimal, 10 s, 90 deg, 60 deg/s"
    return _regression_row(quantity, error, "long", "35 samples, five harmonics")


def _regression_row(quantity: str, error: float, which: str, note: str) -> Row:
    """An error [%] held to a limit of our own."""
    held = f"held to {HELD_TO[which]:g}; an independent prototype had {PROTOTYPE[which]:g}; {note}"
    return within(DESIGN_TABLE, quantity, "%", error, between=(0.0, HELD_TO[which]),
                  status="regression", note=held)  # fmt: skip
