"""A recorded flight, predicted: joints follow their recording, the model must know the rest.

Where the flight begins is not known exactly: the initial state of the root (and on request of wings
and fuel) is fitted to the recording, as every comparison of a simulation with measurements has to.
Everything after follows from the model. What drives the simulation (encoders of driven joints,
wheel speeds, thrust) is not compared: it agrees with itself and says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import require_stable_step
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError, IdentificationError
from freefloat.excitation.commands import SAME_INSTANT
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.model.rotations import (
    conjugate,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.notes import Note
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.predictor import Predictor, predictor_of
from freefloat.telemetry.attitude import continuous, unit
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry

# theory: RK4 errs by about (2 pi f h)^5 / 120 a step, 1e-8 for motion at 1 Hz
STEP = 1e-2  # [s]
# theory: Gauss-Newton squares the error: three iterations from 0.1 to 1e-8 standard deviations; the
# others are for steps that had to be shortened
MOST_ITERATIONS = 8
# theory: an error of s standard deviations adds s^2 / 2 to an rms in units of noise, here 5e-5
SETTLED = 1e-2  # standard deviations by which the last correction may move the initial state
# theory: a dozen initial states from 1500 samples are known to a tenth of one sample's noise
MOST_SAMPLES = 1500  # per sensor, in the fit of the initial state alone
# theory: the square root of rounding times a condition of 100; below, a direction is noise
SINGULAR = 1e-6  # of the largest singular value: such directions of the initial state stay put
# theory: the rms of n samples is known to 1 / sqrt(2 n), of eight to a quarter
LEAST_SAMPLES = 8  # of a sensor, below which nothing is said of its errors
AXES = ("x", "y", "z")


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

    recording: the stretch of the telemetry that drove it; start: the fitted `start.*` values,
    counted from the predictor's own initial state; segment: the predicted motion at every step;
    sensors: each beside its prediction.
    """

    recording: Telemetry
    predictor: Predictor
    start: Mapping[str, float]
    segment: FlightSegment
    sensors: tuple[ComparedSensor, ...]
    notes: tuple[str, ...]

    @property
    def system(self) -> System:
        """The mechanism that was simulated, recorded joints prescribed."""
        return self.predictor.system

    def thin(self) -> Predictor:
        """The predictor with fewer samples of every sensor, enough for their statistics."""
        return _thin(self.predictor)


def predict_flight(
    model: Model, telemetry: Telemetry, *, step: float = STEP, deflections: bool = False
) -> FlightPrediction:
    """What the model says the sensors should have read on a recorded flight.

    Args:
        model: predicts; drives whose motor nobody recorded count as stiff.
        telemetry: drives the simulation where every driven joint is recorded, and is compared.
        step: of the integration [s], at most; halved until springs are stable.
        deflections: also fit where unmeasured wings, fuel and springs start; at home otherwise.

    Raises:
        IdentificationError: what the recording lacks.
        FreefloatError: the simulation does not run.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    >>> [sensor.measurement.group for sensor in predict_flight(model, flight).sensors]
    ['base.angle', 'base.position', 'base.rate']
    """
    model, notes = _with_stiff_drives(model, telemetry)
    stretch = _longest_stretch(model, telemetry)
    predictor = _comparable(predictor_of(model, stretch, step=step, trims=(False, False)))
    times = predictor.times
    if times[-1] - times[0] < 0.99 * telemetry.duration:
        text = f"predicted from {times[0]:.4g} s to {times[-1]:.4g} s, where every driven joint is"
        notes.append(Note("prediction.stretch", f"{text} recorded"))
    require_stable_step(predictor.system, predictor.start, predictor.grid.step)
    names = start_names(predictor.system, predictor.measurements, deflections=deflections)
    start = _fit_start(_thin(predictor), names)
    prediction = predictor.at(start)
    if prediction is None:
        raise FreefloatError(
            f"the predicted motion of {model.name!r} is not finite; a mass or a stiffness cannot be"
            " what the model says",
            code="motion.not_finite",
        )
    grid = predictor.grid
    every_step = replace(grid, every=1, n_records=grid.n_steps + 1)
    sensors = tuple(
        ComparedSensor(m, "rad" if m.is_attitude else telemetry[m.channels[0]].unit, -residual)
        for m, residual in zip(predictor.measurements, prediction.residuals, strict=True)
    )
    return FlightPrediction(
        stretch, predictor, start, predictor.fly(start, grid=every_step), sensors,
        (*notes, *predictor.source.notes),
    )  # fmt: skip


def _comparable(predictor: Predictor) -> Predictor:
    """The predictor with sensors of enough samples that fall inside it, and wings at home."""
    first, last = predictor.source.first, predictor.source.last
    kept = []
    for m in predictor.measurements:
        asked = m.times - m.sensor.delay
        m = m.select((asked >= first - SAME_INSTANT) & (asked <= last + SAME_INSTANT))
        if len(m.times) >= LEAST_SAMPLES:
            kept.append(m)
    if not kept:
        raise IdentificationError(
            "the recording has no channel that a prediction could be compared with, such as"
            " base.rate.*, base.attitude.*, base.velocity.* or a torque",
            code="channel.none",
        )
    system, start = predictor.system, predictor.start.copy()
    # Wings and fuel begin at home, where a plan has them, not where their springs are at rest; a
    # flexible drive begins relaxed about its recorded motor.
    driven = {int(a) for a, b in system.tree.spring_ends if b >= 0}
    passive = {int(a) for a, b in system.tree.spring_ends if b < 0} - driven
    for i in passive - {int(g) for g in system.tree.given}:
        if not _is_measured(system, i, kept):
            start[13 + i] = system.model.assembly.coordinates[i].home
    return replace(predictor, measurements=tuple(kept), start=start)


def _is_measured(system: System, coordinate: int, measurements: Sequence[Measurement]) -> bool:
    name = system.coordinates[coordinate]
    return any(m.sensor.kind == "encoder" and m.target == name for m in measurements)


def start_names(
    system: System, measurements: Sequence[Measurement], *, deflections: bool
) -> list[str]:
    """The initial states that the recording can tell, as `start.*` names."""
    if system.model.root.type == "fixed":
        names: list[str] = []
    else:
        kinds = {m.sensor.kind for m in measurements}
        fields = ["rate"] * bool(kinds & {"gyro", "attitude", "accelerometer"})
        fields += ["attitude"] * ("attitude" in kinds)
        fields += ["velocity"] * bool(kinds & {"velocity", "position"})
        fields += ["position"] * ("position" in kinds)
        is_planar = system.model.root.type == "planar"
        turning = "z" if is_planar else "xyz"
        sliding = "xy" if is_planar else "xyz"
        axes = {"rate": turning, "attitude": turning, "velocity": sliding, "position": sliding}
        names = [f"start.{field}.{axis}" for field in fields for axis in axes[field]]
    for g in system.tree.free:
        if g >= 6 and (deflections or _is_measured(system, int(g) - 6, measurements)):
            name = system.coordinates[int(g) - 6]
            names += [f"start.{name}.position", f"start.{name}.velocity"]
    return names


def _fit_start(predictor: Predictor, names: Sequence[str]) -> dict[str, float]:
    """Gauss-Newton on the initial state, every channel divided by its noise."""
    # torques follow the prescribed motion at once and say next to nothing of the initial state
    some = [m for m in predictor.measurements if m.sensor.kind != "joint_torque"]
    predictor = replace(predictor, measurements=tuple(some))
    best: dict[str, float] = dict.fromkeys(names, 0.0)
    if not names or not some:
        return best
    start, cost, shrink = best, np.inf, 1.0
    change = np.zeros(len(names))
    for _ in range(MOST_ITERATIONS):
        rows, left = linearise(predictor, start, names)
        new = float(left @ left)
        if not new < cost:
            if shrink < 0.1:
                break
            shrink *= 0.3
            start = _move(best, names, shrink * change)
            continue
        best, cost, shrink = start, new, 1.0
        change, size = _least_squares(rows, left)
        if size < SETTLED:
            break
        start = _move(best, names, change)
    return best


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


def _least_squares(rows: Array, left: Array) -> tuple[Array, float]:
    """The correction, without directions that are hardly seen, and its size in deviations."""
    scale = np.linalg.norm(rows, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, s, Vt = np.linalg.svd(rows / scale, full_matrices=False)
    seen = s > SINGULAR * s[0] if s[0] > 0.0 else np.zeros(len(s), dtype=bool)
    along = np.where(seen, U.T @ left, 0.0)
    change = Vt.T @ np.where(seen, along / np.where(seen, s, 1.0), 0.0) / scale
    return change, float(np.max(np.abs(along), initial=0.0))


def _move(start: Mapping[str, float], names: Sequence[str], change: Array) -> dict[str, float]:
    """Initial states moved by a correction; rotation vectors by a small turn in root axes."""
    new = dict(start)
    turn, old = np.zeros(3), np.zeros(3)
    for name, delta in zip(names, change.tolist(), strict=True):
        parsed = ParameterName.parse(name)
        if parsed.owner == "attitude":
            axis = AXES.index(parsed.field)
            turn[axis], old[axis] = delta, start[name]
        else:
            new[name] += delta
    composed = rotation_vector_from_quaternion(
        quaternion_product(
            quaternion_from_rotation_vector(old), quaternion_from_rotation_vector(turn)
        )
    )
    new |= {
        f"start.attitude.{axis}": float(composed[k])
        for k, axis in enumerate(AXES)
        if f"start.attitude.{axis}" in new
    }
    return new


def _thin(predictor: Predictor) -> Predictor:
    """Fewer samples of every sensor: enough to fit a handful of numbers by."""
    parts = []
    for m in predictor.measurements:
        every = max(1, len(m.times) // MOST_SAMPLES)
        parts.append(m.select(np.arange(len(m.times)) % every == 0))
    return replace(predictor, measurements=tuple(parts))


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
