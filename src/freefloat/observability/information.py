"""What a flight would tell, before it is flown: readings' slopes in units of their noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import hypot, sqrt

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import STEP, require_stable_step
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError, IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.model.checks import sensor_targets
from freefloat.model.parts import Sensor
from freefloat.prediction.predict import PredictedReading, predict

AT_ONCE = 60  # parameters a run: a table of slopes for all of a large model would not fit in memory
QUIETEST = 1e-6  # of its root mean square: the noise a sensor is given that claims to have none
TORQUES = ("joint_torque", "wheel_torque", "motor_torque")


@dataclass(frozen=True)
class Expected:
    """Rows in units of their noise, turned so that there are no more of them than columns.

    Turning rows changes no length and no angle between columns, and nothing else is ever asked.
    columns (rows, any): the slopes, mixed as asked; biases (rows, any): what an offset on a channel
    does; torques (rows,): what torque sensors read, other sensors nothing; notes: what was assumed.
    """

    columns: Array
    biases: Array
    torques: Array
    notes: tuple[str, ...]


def expected_rows(
    system: System,
    plan: Plan,
    sensors: Sequence[Sensor],
    names: Sequence[str],
    mix: Array,
    biases: Sequence[str] = (),
) -> Expected:
    """The rows of a flight: slopes by `names` times `mix` (names, columns), whitened."""
    suite = tuple(s for s in sensors if s.kind != "thruster")  # what is commanded is known anyway
    if not suite:
        raise IdentificationError("thruster channels alone see nothing; choose other sensors")
    owners = [sensor for sensor in suite for _ in sensor_targets(system.model, sensor)]
    parts, readings = _mixed(system, plan, suite, names, mix)
    pairs = list(zip(owners, readings, strict=True))
    torques = [
        (reading.values * (owner.kind in TORQUES))[:, : reading.slopes.shape[1], None]
        for owner, reading in pairs  # an attitude has four numbers but three slopes
    ]
    weights = [sample_weight(owner, reading) for owner, reading in pairs]
    tables = (parts, _offsets(readings, biases), torques)
    tall = np.hstack([_whitened(table, weights) for table in tables])
    short = np.asarray(np.linalg.qr(tall[np.any(tall != 0.0, axis=1)], mode="r"))
    n = mix.shape[1]
    return Expected(short[:, :n], short[:, n:-1], short[:, -1], tuple(_notes(suite)))


def _mixed(
    system: System, plan: Plan, suite: tuple[Sensor, ...], names: Sequence[str], mix: Array
) -> tuple[Sequence[Array], tuple[PredictedReading, ...]]:
    """For every reading its slopes times `mix` (N, r, columns), and the readings themselves."""
    step = _step(system, plan)
    parts: Sequence[Array] = ()
    readings: tuple[PredictedReading, ...] = ()
    for first in range(0, max(1, len(names)), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        readings = predict(system.model, plan, names[some], step=step, sensors=suite).readings
        mixed = [reading.slopes @ mix[some] for reading in readings]
        parts = [old + new for old, new in zip(parts, mixed, strict=True)] if parts else mixed
    return parts, readings


def _whitened(tables: Sequence[Array], weights: Sequence[float]) -> Array:
    """Tables (N, r, columns) one below the other, each times its weight."""
    flat = [table.reshape(table.shape[0] * table.shape[1], -1) for table in tables if table.size]
    if not flat:
        return np.zeros((sum(t.shape[0] * t.shape[1] for t in tables), 0))
    return np.vstack([w * rows for w, rows in zip(weights, flat, strict=True)])


def _step(system: System, plan: Plan) -> float:
    """Ten times the step of a simulation where springs allow: slopes need no ten digits."""
    try:
        require_stable_step(system, plan.start_state(system), 10.0 * STEP)
    except FreefloatError:
        return STEP
    return 10.0 * STEP


def sample_weight(sensor: Sensor, reading: PredictedReading) -> float:
    """One over the noise of a sample, less for samples that get lost."""
    level = noise_of(sensor)
    if level == 0.0:
        level = max(QUIETEST * float(np.sqrt(np.mean(reading.values**2))), 1e-12)
    return sqrt(1.0 - sensor.dropout) / level


def noise_of(sensor: Sensor) -> float:
    """Noise of a sample; coloured noise as the white noise that is as strong at low frequencies."""
    coloured = 0.0
    if sensor.coloured is not None:
        alike = max(1.0, 2.0 * sensor.coloured.time * sensor.rate)  # samples that err together
        coloured = sensor.coloured.sigma * sqrt(alike)
    return hypot(sensor.noise, coloured, sensor.quantisation / sqrt(12.0))


def _notes(suite: Sequence[Sensor]) -> Iterator[str]:
    perfect = [f"{sensor.kind} on {sensor.on}" for sensor in suite if noise_of(sensor) == 0.0]
    if perfect:
        yield (
            f"no noise given: {', '.join(perfect)}; counted as {QUIETEST:g} of what it reads, give"
            " its noise for honest deviations"
        )
    if any(sensor.coloured for sensor in suite):
        yield "coloured noise counts as white noise that is as strong at low frequencies"


def _offsets(readings: Sequence[PredictedReading], biases: Sequence[str]) -> Sequence[Array]:
    """Columns (N, r, biases) of ones where a channel fits a glob of `biases`."""
    globs = [name.removeprefix("bias.") for name in biases]
    places = [
        (n, k)
        for n, reading in enumerate(readings)
        for k, channel in enumerate(reading.channels[: reading.slopes.shape[1]])
        if any(fnmatchcase(channel, glob) for glob in globs)
    ]
    known = [channel for reading in readings for channel in reading.channels]
    missing = [g for g in globs if not any(fnmatchcase(channel, g) for channel in known)]
    if missing:
        raise IdentificationError(
            f"no sensor writes a channel like {', '.join(missing)}; known: {', '.join(known[:6])}"
        )
    columns = [np.zeros((*reading.slopes.shape[:2], len(places))) for reading in readings]
    for p, (n, k) in enumerate(places):
        columns[n][:, k, p] = 1.0
    return columns
