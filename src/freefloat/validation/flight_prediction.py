"""A recorded flight, predicted: joints follow their recording, the model must know the rest.

Where the flight begins is not known exactly: the initial state is found from the recording, as
every comparison of a simulation with measurements has to, unless a plan says it.
Everything after follows from the model. What drives the simulation (encoders of driven joints,
wheel speeds, thrust) is not compared: it agrees with itself and says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import require_stable_step
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.excitation.commands import SAME_INSTANT
from freefloat.excitation.plan import Plan
from freefloat.identification.output_error.recording import (
    Recording,
    between_switches,
    recording_of,
)
from freefloat.model.model import Model
from freefloat.model.rotations import conjugate, quaternion_product
from freefloat.notes import Note
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.predictor import Predictor
from freefloat.progress import Progress, silent
from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.start_search import StartSearch, find_start

# theory: RK4 errs by about (2 pi f h)^5 / 120 a step, 1e-8 for motion at 1 Hz
STEP = 1e-2  # [s]
# theory: a dozen initial states from 1500 samples are known to a tenth of one sample's noise
MOST_SAMPLES = 1500  # per sensor, in what is expected of a right model
# theory: the rms of n samples is known to 1 / sqrt(2 n), of eight to a quarter
LEAST_SAMPLES = 8  # of a sensor, below which nothing is said of its errors
AXES = ("x", "y", "z")
StartKind = Literal["search", "rest", "plan"]


@dataclass(frozen=True)
class ComparedSensor:
    """A measurement beside its prediction: residual (N, r) is measured minus predicted.

    unit: of the residual; of an attitude it is the small rotation from predicted to measured [rad].
    """

    measurement: Measurement
    unit: str
    residual: Array

    @property
    def names(self) -> tuple[str, ...]:
        """One name for every column of the residual; of an attitude the turn about each axis."""
        if not self.measurement.is_attitude:
            return self.measurement.channels
        prefix = self.measurement.group.removesuffix("attitude")
        return tuple(f"{prefix}turn.{axis}" for axis in AXES)

    @property
    def samples(self) -> Array:
        """Measured values (N, k), less the stated bias; attitudes are quaternions."""
        m = self.measurement
        return continuous(unit(m.values)) if m.is_attitude else m.values - m.bias

    @property
    def curve(self) -> Array:
        """The samples (N, r) as they are drawn: an attitude as the turn since the start [rad]."""
        samples = self.samples
        if not self.measurement.is_attitude:
            return samples
        turn = continuous(quaternion_product(conjugate(samples[0]), samples))
        sine = np.linalg.norm(turn[:, :3], axis=1, keepdims=True)
        angle = 2.0 * np.arctan2(sine, turn[:, 3:])
        return turn[:, :3] * np.where(sine > 1e-12, angle / np.where(sine > 1e-12, sine, 1.0), 2.0)


@dataclass(frozen=True)
class FlightPrediction:
    """A prediction of a recorded flight.

    recording: the stretch of the telemetry that drove it; search: how its initial state was found;
    segment: the predicted motion at every step; sensors: each beside its prediction.
    """

    recording: Telemetry
    search: StartSearch
    segment: FlightSegment
    sensors: tuple[ComparedSensor, ...]
    notes: tuple[str, ...]

    @property
    def predictor(self) -> Predictor:
        """What was simulated, beside the measurements that it is compared with."""
        return self.search.problem.recordings[0]

    @property
    def start(self) -> Mapping[str, float]:
        """The `start.*` values found, counted from the predictor's own initial state."""
        return self.search.values

    @property
    def system(self) -> System:
        """The mechanism that was simulated, recorded joints prescribed."""
        return self.predictor.system

    @property
    def has_hidden_swing(self) -> bool:
        """Whether a joint moves by its spring and nobody measured it."""
        recording = self.search.problem.recordings[0]
        free = [int(g) - 6 for g in self.system.tree.free if g >= 6]
        return any(not _is_measured(self.system, i, recording) for i in free)

    def thin(self) -> Predictor:
        """The predictor with fewer samples of every sensor, enough for their statistics."""
        parts = []
        for m in self.predictor.measurements:
            every = max(1, len(m.times) // MOST_SAMPLES)
            parts.append(m.select(np.arange(len(m.times)) % every == 0))
        return replace(self.predictor, measurements=tuple(parts))


def predict_flight(
    model: Model,
    telemetry: Telemetry,
    *,
    step: float = STEP,
    plan: Plan | None = None,
    start: StartKind = "search",
    progress: Progress = silent,
) -> FlightPrediction:
    """What the model says the sensors should have read on a recorded flight.

    Args:
        model: predicts; drives whose motor nobody recorded count as stiff.
        telemetry: drives the simulation where every driven joint is recorded, and is compared.
        step: of the integration [s], at most; shortened until shorter ones change nothing.
        plan: drives everything in place of the recorded motion.
        start: the initial state. "search": found from the recording, that of wings, fuel and
            springs as well; "rest": the same, with those at home and at rest; "plan": the plan's.
        progress: called before every simulation.

    Returns:
        Every sensor's readings, predicted and measured, and the initial state used.

    Raises:
        IdentificationError: what the recording lacks.
        FreefloatError: the simulation does not run.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    >>> [sensor.measurement.group for sensor in predict_flight(model, flight).sensors]
    ['base.angle', 'base.position', 'base.rate']
    """
    if start == "plan" and plan is None:
        raise IdentificationError(
            "the initial state is to be the plan's, but there is no plan; give it, or let the"
            " initial state be found",
            code="option.conflict",
        )
    notes: list[str] = []
    stretch = telemetry
    if plan is None:
        model, notes = _with_stiff_drives(model, telemetry)
        stretch = _longest_stretch(model, telemetry)
    # the ends of smoothed motion are known poorly, and would be taken for the model's error
    trims = (plan is None, plan is None)
    recording = _comparable(
        between_switches(recording_of(model, stretch, plan=plan, step=step, trims=trims)), plan
    )
    times = recording.times
    if stretch is not telemetry:
        text = f"predicted from {times[0]:.4g} s to {times[-1]:.4g} s, where every driven joint is"
        notes.append(Note("prediction.stretch", f"{text} recorded"))
    require_stable_step(recording.system, recording.start, recording.grid.step)
    search = find_start(recording, held=_coordinates_at_rest(recording, start), progress=progress)
    recording = search.problem.recordings[0]
    grid = recording.grid
    every_step = replace(grid, every=1, n_records=grid.n_steps + 1)
    sensors = tuple(
        ComparedSensor(m, "rad" if m.is_attitude else telemetry[m.channels[0]].unit, -residual)
        for m, residual in zip(recording.measurements, search.descent.at.errors[0], strict=True)
    )
    segment = recording.fly(search.values, grid=every_step)
    return FlightPrediction(stretch, search, segment, sensors, (*notes, *recording.source.notes))


def _coordinates_at_rest(recording: Recording, start: StartKind) -> list[str] | None:
    """Coordinates whose initial state is not looked for; None: nor is that of the root."""
    if start == "plan":
        return None
    system = recording.system
    return [
        system.coordinates[int(g) - 6]
        for g in system.tree.free
        if g >= 6 and start == "rest" and not _is_measured(system, int(g) - 6, recording)
    ]


def _comparable(recording: Recording, plan: Plan | None) -> Recording:
    """The recording with sensors of enough samples that fall inside it, and wings at home."""
    first, last = recording.source.first, recording.source.last
    kept = []
    for m in recording.measurements:
        asked = m.times - m.sensor.delay
        m = m.select((asked >= first - SAME_INSTANT) & (asked <= last + SAME_INSTANT))
        if len(m.times) >= LEAST_SAMPLES:
            kept.append(m)
    if not kept:
        raise IdentificationError(
            "the recording has no channel that a prediction could be compared with; record one such"
            " as base.rate.*, base.attitude.*, base.velocity.* or a torque",
            code="channel.none",
        )
    recording = replace(recording, measurements=tuple(kept))
    system, start = recording.system, recording.start.copy()
    if plan is not None:
        return recording
    # Wings and fuel begin at home, where a plan has them, not where their springs are at rest; a
    # flexible drive begins relaxed about its recorded motor.
    driven = {int(a) for a, b in system.tree.spring_ends if b >= 0}
    passive = {int(a) for a, b in system.tree.spring_ends if b < 0} - driven
    for i in passive - {int(g) for g in system.tree.given}:
        if not _is_measured(system, i, recording):
            start[13 + i] = system.model.assembly.coordinates[i].home
    return replace(recording, start=start)


def _is_measured(system: System, coordinate: int, recording: Recording) -> bool:
    name = system.coordinates[coordinate]
    return any(m.sensor.kind == "encoder" and m.target == name for m in recording.measurements)


def linearise(
    predictor: Predictor, start: Mapping[str, float], names: Sequence[str]
) -> tuple[Array, Array]:
    """Jacobian (rows, names) and residuals (rows,) of all samples, in units of their noise.

    Residuals are measured minus predicted; infinite where the simulation is not finite.
    """
    prediction = predictor.at(start, names)
    if prediction is None:
        return np.zeros((1, len(names))), np.array([np.inf])
    rows, left = [], []
    parts = zip(predictor.measurements, prediction.jacobian, prediction.residuals, strict=True)
    for m, jacobian, residual in parts:
        rows.append((jacobian / m.noise[:, None]).reshape(residual.size, len(names)))
        left.append((-residual / m.noise).ravel())
    return np.vstack(rows), np.concatenate(left)


def between(times: Array, table: Array, wanted: Array) -> Array:
    """A smooth table on a grid, at other times, by a cubic spline."""
    from scipy.interpolate import CubicSpline

    if len(times) > 3:
        return CubicSpline(times, table, axis=0)(wanted)
    return np.column_stack([np.interp(wanted, times, column) for column in table.T])


def _with_stiff_drives(model: Model, telemetry: Telemetry) -> tuple[Model, list[str]]:
    """The model with those flexible drives stiff whose motor nobody recorded, and notes on them."""
    notes: list[str] = []
    for joint in model.joints:
        motor = f"{joint.name}.motor_position"
        if joint.drive is None or motor in telemetry or f"{joint.name}.position" not in telemetry:
            continue
        text = f"{motor} is not recorded: the drive counts as stiff"
        notes.append(Note("drive.stiff", text))
        model = model.with_joint(joint.name, drive=None, role="motion")
    return model, notes


def _longest_stretch(
    model: Model, telemetry: Telemetry, *, max_gap_steps: float = 20.0
) -> Telemetry:
    """The recording where no driven joint or wheel has a gap too long to be bridged.

    max_gap_steps: median steps, as many as `freefloat.telemetry.smoothing.smooth` bridges.
    """
    breaks: list[tuple[float, float]] = []
    for coordinate in model.assembly.coordinates:
        if coordinate.role not in ("motion", "torque"):
            continue
        for name in channel_names(coordinate):
            if name not in telemetry or telemetry[name].valid.sum() < 3:
                continue
            time = telemetry[name].usable()[0]
            steps = np.diff(time)
            long = np.flatnonzero(steps > max_gap_steps * np.median(steps))
            breaks += [(float(time[k]), float(time[k + 1])) for k in long]
            break  # the position; the rate beside it is not followed
    if not breaks:
        return telemetry
    pieces, begin = [], telemetry.start
    for gap_start, gap_end in sorted(breaks):
        if gap_start > begin:
            pieces.append((begin, gap_start))
        begin = max(begin, gap_end)
    pieces.append((begin, telemetry.end))
    return telemetry.between(*max(pieces, key=lambda piece: piece[1] - piece[0]))
