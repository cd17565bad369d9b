"""A recorded flight, predicted: the model follows the joints as recorded, the rest it must know.

Where the flight begins is not known exactly: the start of the root (and on request of wings and
fuel) is fitted to the recording, as every comparison of a simulation with measurements has to.
Everything after follows from the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion, observe
from freefloat.dynamics.integrate import require_stable_step
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.sensitivity import integrate_with_sensitivity
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError, TelemetryError
from freefloat.model.model import Model
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.prediction.flight import FlightSegment
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.measurement_points import Look, looks_of
from freefloat.validation.replay_inputs import ReplayInputs, drive_of

STEP = 1e-2  # [s]: with motion at a few hertz RK4 is exact to 1e-8 there
MOST_ITERATIONS = 8
SETTLED = 1e-2  # standard deviations by which the last correction may move the start
MOST_SAMPLES = 1500  # per sensor, in the fit of the start alone
MOST_ROWS = 1500  # of the tangent
WEAK = 1e-6  # directions of the start seen less than this, relative, stay as they are


@dataclass(frozen=True)
class Predicted:
    """A prediction of a flight: states on a grid, and what the sensors should have read."""

    drive: ReplayInputs
    at: FlightSegment
    looks: tuple[Look, ...]
    values: tuple[Array, ...]
    estimated: tuple[str, ...]

    def residuals(self) -> tuple[Array, ...]:
        """Measured minus predicted, of every look."""
        pairs = zip(self.looks, self.values, strict=True)
        return tuple(look.residual(values) for look, values in pairs)


def predict_flight(
    model: Model, telemetry: Telemetry, *, step: float = STEP, deflections: bool = False
) -> Predicted:
    """What the model says the sensors should have read on a recorded flight.

    deflections: also fit where unmeasured wings, fuel and springs start; at rest otherwise.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    >>> predicted = predict_flight(model, flight)
    >>> [look.group for look in predicted.looks]
    ['base.angle', 'base.position', 'base.rate']
    """
    drive = drive_of(model, telemetry, step=step)
    system = drive.system
    looks = looks_of(system, telemetry, (drive.start, float(drive.times[-1])))
    if not looks:
        raise TelemetryError(
            "the recording has no channel that a prediction could be compared with, such as"
            " base.rate.*, base.attitude.*, base.velocity.* or a torque"
        )
    x = _first_guess(drive, looks)
    require_stable_step(system, x, step)
    names = start_names(system, looks, deflections=deflections)
    x = _fitted_start(drive, looks, x, names)
    at = flown(drive, x)
    values = tuple(look.predicted(system, at) for look in looks)
    return Predicted(drive, at, looks, values, tuple(names))


def start_names(system: System, looks: tuple[Look, ...], *, deflections: bool) -> list[str]:
    """What of the start the recording can tell."""
    if system.model.root.type == "fixed":
        names: list[str] = []
    else:
        kinds = {look.sensor.kind for look in looks}
        fields = ["rate"] * bool(kinds & {"gyro", "attitude", "accelerometer"})
        fields += ["attitude"] * ("attitude" in kinds)
        fields += ["velocity"] * bool(kinds & {"velocity", "position"})
        fields += ["position"] * ("position" in kinds)
        is_planar = system.model.root.type == "planar"
        turning = "z" if is_planar else "xyz"
        sliding = "xy" if is_planar else "xyz"
        axes = {"rate": turning, "attitude": turning, "velocity": sliding, "position": sliding}
        names = [f"start.{field}.{axis}" for field in fields for axis in axes[field]]
    measured = {look.target for look in looks if look.sensor.kind == "encoder"}
    for g in system.tree.free:
        name = system.coordinates[int(g) - 6] if g >= 6 else ""
        if name and (deflections or name in measured):
            names += [f"start.{name}.position", f"start.{name}.velocity"]
    return names


def _first_guess(drive: ReplayInputs, looks: tuple[Look, ...]) -> Array:
    """The start as the first samples have it; what is not measured is zero, or at home."""
    x = Start().vector(drive.system)
    c = drive.system.n_coordinates
    given = drive.inputs.given[0, 0]
    for k, i in enumerate(drive.system.tree.given):
        x[13 + i], x[13 + c + i] = given[k, 0], given[k, 1]
    for look in looks:
        if look.target != drive.system.model.root.body:
            continue
        n = max(1, min(5, len(look.times) // 10))
        first = look.measured[:n].mean(axis=0)
        kind = look.sensor.kind
        if kind == "attitude" and look.is_attitude:
            x[3:7] = look.measured[0]
        elif kind == "attitude":
            x[3:7] = quaternion_from_rotation_vector(np.array([0.0, 0.0, first[0]]))
        elif kind in ("gyro", "velocity", "position"):
            place = {"gyro": 10, "velocity": 7, "position": 0}[kind]
            x[[place + k for k in look.stream.columns]] = first
    return x


def _fitted_start(
    drive: ReplayInputs, looks: tuple[Look, ...], x: Array, names: list[str]
) -> Array:
    """Gauss-Newton on the start, every channel divided by its noise."""
    if not names:
        return x
    few = [thinned(look) for look in looks if look.sensor.kind not in ("joint_torque",)]
    best, cost = x, np.inf
    shrink = 1.0
    change = np.zeros(len(names))
    for _ in range(MOST_ITERATIONS):
        try:
            rows, left = linearised(drive, few, x, names)
        except FreefloatError:
            left, rows = np.array([np.inf]), np.zeros((1, len(names)))
        new = float(left @ left)
        if not new < cost:
            if shrink < 0.1:
                break
            shrink *= 0.3
            x = _moved(drive.system, best, names, shrink * change)
            continue
        best, cost, shrink = x, new, 1.0
        change, size = _least_squares(rows, left)
        if size < SETTLED:
            break
        x = _moved(drive.system, best, names, change)
    return best


def _least_squares(rows: Array, left: Array) -> tuple[Array, float]:
    """The correction, without directions that are hardly seen, and its size in deviations."""
    scale = np.linalg.norm(rows, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, s, Vt = np.linalg.svd(rows / scale, full_matrices=False)
    seen = s > WEAK * s[0] if s[0] > 0.0 else np.zeros(len(s), dtype=bool)
    along = np.where(seen, U.T @ left, 0.0)
    change = Vt.T @ np.where(seen, along / np.where(seen, s, 1.0), 0.0) / scale
    return change, float(np.max(np.abs(along), initial=0.0))


def thinned(look: Look) -> Look:
    """Fewer samples of the same: enough to fit a handful of numbers by."""
    every = max(1, len(look.times) // MOST_SAMPLES)
    return look.taken(np.arange(len(look.times)) % every == 0)


def linearised(
    drive: ReplayInputs, looks: list[Look], x: Array, names: list[str]
) -> tuple[Array, Array]:
    """Slopes and residuals of all samples by the start, whitened."""
    every = max(1, drive.n_steps // MOST_ROWS)
    at = _with_slopes(drive, x, names, every)
    rows, left = [], []
    for look in looks:
        residual = look.residual(look.predicted(drive.system, at))
        moved = look.slopes(drive.system, at)
        rows.append((moved / look.noise[:, None]).reshape(-1, len(names)))
        left.append((residual / look.noise).ravel())
    return np.vstack(rows), np.concatenate(left)


def _with_slopes(drive: ReplayInputs, x: Array, names: list[str], every: int) -> FlightSegment:
    slopes = integrate_with_sensitivity(
        drive.system, x, names, inputs=drive.inputs, step=drive.step,
        n_steps=drive.n_steps, every=every, time=drive.start,
    )  # fmt: skip
    return replace(_observed(drive, slopes.states, every), sensitivity=slopes)


def flown(drive: ReplayInputs, x: Array) -> FlightSegment:
    """The flight from a start, every step recorded."""
    slopes = integrate_with_sensitivity(
        drive.system, x, (), inputs=drive.inputs, step=drive.step, n_steps=drive.n_steps,
        time=drive.start, with_efforts=False,
    )  # fmt: skip
    return _observed(drive, slopes.states, 1)


def _observed(drive: ReplayInputs, states: Array, every: int) -> FlightSegment:
    if not np.all(np.isfinite(states)):
        raise FreefloatError(
            f"the predicted motion of {drive.system.model.name!r} is not finite; a mass or a"
            " stiffness cannot be what the model says"
        )
    times = drive.times[::every][: len(states)]
    rows = np.minimum(np.arange(len(states)) * every, drive.n_steps - 1)
    last = np.arange(len(states)) * every >= drive.n_steps
    given, effort, push = (_at_rows(table, rows, last) for table in drive.inputs[:3])
    inputs = Inputs(given, effort, push, drive.inputs.gains)
    motion: SystemMotion = observe(drive.system, states, inputs=inputs, times=times)
    return FlightSegment(times, states, motion, inputs)


def _at_rows(table: Array, rows: NDArray[np.intp], last: NDArray[np.bool_]) -> Array:
    """Input tables whose three stages are those of one instant: a step's start, or the last end."""
    if len(table) == 1:
        return table
    chosen = np.where(last, 2, 0)
    return np.ascontiguousarray(np.repeat(table[rows, chosen][:, None], 3, axis=1))


def _moved(system: System, x: Array, names: list[str], change: Array) -> Array:
    """The start moved by a correction; attitudes by a small turn in root axes."""
    new, c = x.copy(), system.n_coordinates
    turn = np.zeros(3)
    for name, delta in zip(names, change, strict=True):
        _, what, part = name.split(".", 2)
        if what in ("position", "velocity", "rate"):
            new[{"position": 0, "velocity": 7, "rate": 10}[what] + "xyz".index(part)] += delta
        elif what == "attitude":
            turn["xyz".index(part)] = delta
        else:
            name_of, _, field = name.removeprefix("start.").rpartition(".")
            place = system.coordinates.index(name_of)
            new[13 + place + c * (field == "velocity")] += delta
    new[3:7] = quaternion_product(x[3:7], quaternion_from_rotation_vector(turn))
    return new
