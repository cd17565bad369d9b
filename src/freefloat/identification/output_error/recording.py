"""One recording ready to be flown again: grid, inputs, nominal start, and where samples fall."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.integrate import require_stable_step
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError, IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.prediction.inputs import Driving, driving_by_plan, driving_by_telemetry
from freefloat.prediction.measurements import WITH_FORCES, Stream, streams_of
from freefloat.telemetry.telemetry import Telemetry

SHORTEST = 1e-4  # [s]
COARSEST = 2e-2  # [s] between records where samples fall between them
TAPS = 6  # records a sample between them is made of
ON_RECORD = 1e-6  # of a record interval


@dataclass(frozen=True)
class Taps:
    """Samples as sums over records: columns (N, TAPS) of records, weights and their slopes [1/s].

    Slopes are by the sample's time; what is read before the first record is the first record.
    """

    records: NDArray[np.intp]
    weights: Array
    slopes: Array
    is_exact: bool  # every sample is a record: weights need not be looked at

    def values(self, table: Array) -> Array:
        """Rows of a table (records, ...) at the samples."""
        if self.is_exact:
            return table[self.records[:, 0]]
        return np.einsum("nk,nk...->n...", self.weights, table[self.records])

    def rates(self, table: Array) -> Array:
        """Their derivative by time [1/s]."""
        return np.einsum("nk,nk...->n...", self.slopes, table[self.records])


@dataclass(frozen=True)
class Recording:
    """A recording on a grid of records: `every` steps of `step` [s] each, from `first` [s] on.

    start: the nominal state vector at `first`; `start.*` parameters are counted from it.
    """

    driving: Driving
    streams: tuple[Stream, ...]
    start: Array
    first: float
    step: float
    every: int
    n_records: int
    telemetry: Telemetry
    is_planned: bool  # a plan drives it, rather than the telemetry
    place: str = ""  # "recording 2: " where there are several
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> Model:
        """The model with the roles that the driving takes."""
        return self.driving.model

    @property
    def system(self) -> System:
        """The model's arrays, at its own numbers."""
        return self.driving.system

    @cached_property
    def times(self) -> Array:
        """The times of the records [s]."""
        return self.first + np.arange(self.n_records) * (self.every * self.step)

    @cached_property
    def inputs(self) -> Inputs:
        """Inputs of every step."""
        n_steps = (self.n_records - 1) * self.every
        stages = np.arange(n_steps)[:, None] + np.array([0.0, 0.5, 1.0])
        return self.driving.tabulate(self.first + stages * self.step)

    @cached_property
    def record_inputs(self) -> Inputs:
        """Inputs at every record."""
        return self.driving.tabulate(np.repeat(self.times[:, None], 3, axis=1))

    @cached_property
    def needs_forces(self) -> bool:
        """Whether a sensor reads forces or accelerations."""
        return any(stream.sensor.kind in WITH_FORCES for stream in self.streams)

    @cached_property
    def _nominal_taps(self) -> dict[int, Taps]:
        return {}

    def taps(self, k: int, delay: float | None = None) -> Taps:
        """Where the samples of stream k fall; with a delay [s], how that changes too."""
        stream = self.streams[k]
        if delay is not None:
            return self._taps(stream, delay, is_moving=True)
        if k not in self._nominal_taps:
            self._nominal_taps[k] = self._taps(stream, stream.sensor.delay)
        return self._nominal_taps[k]

    def _taps(self, stream: Stream, delay: float, *, is_moving: bool = False) -> Taps:
        interval = self.every * self.step
        at = np.clip((stream.times - delay - self.first) / interval, 0.0, self.n_records - 1.0)
        nearest = np.round(at)
        is_exact = not is_moving and bool(np.all(np.abs(at - nearest) < ON_RECORD))
        n = min(TAPS, self.n_records)
        below = np.clip(np.floor(at).astype(int) - (n // 2 - 1), 0, self.n_records - n)
        if is_exact:
            records = nearest.astype(np.intp)[:, None]
            return Taps(records, np.ones((len(at), 1)), np.zeros((len(at), 1)), True)
        records = (below[:, None] + np.arange(n)).astype(np.intp)
        weights, slopes = _lagrange(at - below, n)
        slopes[at <= 0.0] = 0.0
        return Taps(records, weights, slopes / interval, False)

    def finer(self) -> Recording:
        """The same recording, integrated with half the step."""
        return replace(self, step=0.5 * self.step, every=2 * self.every)

    def until(self, seconds: float) -> Recording:
        """The first `seconds` of the recording."""
        n = min(self.n_records, max(2, round(seconds / (self.every * self.step)) + 1))
        if n == self.n_records:
            return self
        end = self.first + (n - 1) * self.every * self.step
        kept = tuple(s.taken(s.times <= end + 1e-9) for s in self.streams)
        kept = tuple(s for s in kept if len(s.times))
        return replace(self, streams=kept, n_records=n)


def _lagrange(at: Array, n: int) -> tuple[Array, Array]:
    """Weights (N, n) of the values at 0 .. n - 1 in the polynomial at `at`, and their slopes."""
    nodes = np.arange(float(n))
    apart = nodes[:, None] - nodes
    np.fill_diagonal(apart, 1.0)
    bottom = np.prod(apart, axis=1)
    gaps = at[:, None] - nodes
    weights, slopes = np.empty((len(at), n)), np.zeros((len(at), n))
    for k in range(n):
        others = [j for j in range(n) if j != k]
        weights[:, k] = np.prod(gaps[:, others], axis=1) / bottom[k]
        for left in others:
            rest = [j for j in others if j != left]
            slopes[:, k] += np.prod(gaps[:, rest], axis=1) / bottom[k]
    return weights, slopes


def recording_of(
    model: Model,
    telemetry: Telemetry,
    *,
    plan: Plan | None = None,
    step: float,
    has_delays: bool = False,
    trims: tuple[bool, bool] = (True, True),
    place: str = "",
) -> Recording:
    """The recording of a flight; raises IdentificationError for what it lacks.

    has_delays: samples will be looked for between records. trims: whether the start and the end,
    where smoothed motion is known poorly, may be left out; not where the state there matters.
    """
    try:
        driving = (
            driving_by_telemetry(model, telemetry) if plan is None else driving_by_plan(model, plan)
        )
        driving = _inside(driving, telemetry, trims)
        return _on_grid(driving, telemetry, plan, step, has_delays, place)
    except IdentificationError as error:
        raise IdentificationError(f"{place}{error}") from None


def _inside(driving: Driving, telemetry: Telemetry, trims: tuple[bool, bool]) -> Driving:
    """The driving without its margins, from one sample of the finest channel to another."""
    before, after = (
        m if is_trimmed else 0.0 for m, is_trimmed in zip(driving.margins, trims, strict=True)
    )
    first, last = driving.first + before, driving.last - after
    times = max((c.time for c in telemetry.channels.values()), key=len)
    inside = times[(times >= first - 1e-9) & (times <= last + 1e-9)]
    if len(inside) < 2:
        return driving
    return replace(
        driving,
        first=float(inside[0]) if before else first,
        last=float(inside[-1]) if after else last,
    )


def _on_grid(
    driving: Driving,
    telemetry: Telemetry,
    plan: Plan | None,
    step: float,
    has_delays: bool,
    place: str,
) -> Recording:
    system = driving.system
    first, last = driving.first, driving.last
    slack = 1e-9
    streams = [
        stream.taken((stream.times >= first - slack) & (stream.times <= last + slack))
        for stream in streams_of(system, telemetry)
    ]
    streams = [stream for stream in streams if len(stream.times)]
    if not streams:
        raise IdentificationError(
            "the recording has no channel the model predicts; give base.rate.*, base.attitude.*, a"
            f" joint torque or the like (channels: {', '.join(telemetry.names[:6])} ...)"
        )
    start = _nominal_start(system, driving, streams, plan)
    interval = _record_interval(streams, first, step)
    if has_delays and interval > COARSEST:
        interval /= np.ceil(interval / COARSEST)
    step = _stable_step(system, start, min(step, interval))
    every = max(1, int(np.ceil(interval / step * (1.0 - 1e-9))))
    end = min(last, max(float(stream.times[-1]) for stream in streams))
    n_records = int(np.ceil((end - first) / interval * (1.0 - 1e-12) - ON_RECORD)) + 1
    if n_records < 2:
        raise IdentificationError(
            f"the recording lasts {end - first:g} s, less than two samples; record longer"
        )
    guessed = [name for s in streams if not s.is_noise_known for name in s.rows]
    notes = list(driving.notes)
    if guessed:
        names = ", ".join(guessed[:3]) + (" ..." if len(guessed) > 3 else "")
        notes.append(f"noise estimated from the residuals, none was given: {names}")
    return Recording(
        driving, tuple(streams), start, first, interval / every, every, n_records, telemetry,
        plan is not None, place, tuple(notes),
    )  # fmt: skip


def _record_interval(streams: list[Stream], first: float, step: float) -> float:
    """The finest sample interval where all samples fall on it, else one fine enough to bridge."""
    intervals = [np.median(np.diff(s.times)) for s in streams if len(s.times) > 1]
    finest = float(min(intervals, default=step))
    for stream in streams:
        at = (stream.times - stream.sensor.delay - first) / finest
        at = at[at > 0.0]
        if np.any(np.abs(at - np.round(at)) > ON_RECORD):
            return min(finest, COARSEST)
    return finest


def _stable_step(system: System, start: Array, step: float) -> float:
    while step > SHORTEST:
        try:
            require_stable_step(system, start, step)
        except FreefloatError:
            step /= 2.0
        else:
            return step
    return step


def _nominal_start(
    system: System, driving: Driving, streams: list[Stream], plan: Plan | None
) -> Array:
    """The plan's start; without one the first readings, with springs at rest."""
    if plan is not None:
        return plan.start_state(system)
    x = Start().vector(system)
    c = system.n_coordinates
    given = driving.tabulate(np.full((1, 3), driving.first)).given[0, 0]
    for m, i in enumerate(system.tree.given):
        x[13 + i], x[13 + c + i] = given[m, 0], given[m, 1]
    for (a, b), spring in zip(system.tree.spring_ends, system.model.assembly.springs, strict=True):
        if b >= 0 and a not in system.tree.given:
            x[13 + a], x[13 + c + a] = x[13 + b] + spring.rest, x[13 + c + b]
        elif b < 0 and a not in system.tree.given and spring.stiffness > 0.0:
            x[13 + a] = spring.rest
    root = system.model.root.body
    places = {"position": 0, "velocity": 7, "gyro": 10}
    for stream in streams:
        kind = stream.sensor.kind
        if stream.target == root and kind in places:
            for k, column in enumerate(stream.columns):
                x[places[kind] + column] = stream.values[0, k]
        elif stream.target == root and kind == "attitude":
            x[3:7] = _first_attitude(stream)
        elif kind in ("encoder", "joint_rate"):
            i = system.coordinates.index(stream.target)
            x[13 + i + c * (kind == "joint_rate")] = stream.values[0, 0]
    return x


def _first_attitude(stream: Stream) -> Array:
    first = stream.values[0]
    if stream.is_attitude:
        return first / np.linalg.norm(first)
    return np.array([0.0, 0.0, np.sin(first[0] / 2.0), np.cos(first[0] / 2.0)])
