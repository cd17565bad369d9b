"""What may be wrong with readings beyond a bias, a gain or a delay, as columns.

    step.GROUP           the readings of a sensor jump, or their delay does
    clock.drift          the clock of the sensors and that of the inputs run apart
    walk.GROUP           the bias of a sensor wanders
    bend.GROUP           the scale factor of a sensor depends on what it reads

None needs a simulation of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.trust.assumption_columns import AssumptionColumns
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.prediction.predictor import Prediction
from freefloat.telemetry.names import unit_of as channel_unit

KNOTS = 12  # theory: of a walk's power all but 1/(pi^2 KNOTS) lies below half a turn a knot
# format: sensors whose zero means that there is nothing, so that a scale factor can bend about it
ZEROED = ("gyro", "accelerometer", "joint_torque", "motor_torque")


@dataclass(frozen=True)
class Effect:
    """Something that the model lacks.

    columns (rows, k), one unit each; parts: the name and unit of every column; time [s]: when it
    sets in, NaN where it is there all along. remedy: what to do about it. spread (k, k): the
    covariance of the amounts, up to a factor, of what wanders; empty where any amount is as likely.
    frequency [Hz]: of a joint that swings; NaN of what does not.
    """

    name: str
    parts: tuple[tuple[str, str], ...]
    columns: Array
    remedy: str
    time: float = float("nan")
    spread: Array | None = None
    frequency: float = float("nan")


def row_times(rows: WhiteRows, r: int) -> Array:
    """The time [s] of every row; NaN of other recordings."""
    times = np.full(len(rows.residual), np.nan)
    for row in rows.channels:
        if row.recording == r:
            times[row.rows] = row.times
    return times


def reading_steps(
    rows: WhiteRows, taken: AssumptionColumns, r: int, instants: Array
) -> Iterator[Effect]:
    """Readings or their delays that jump."""
    times, blocks = row_times(rows, r), _biases(rows, "step.bias")
    for k, assumption in enumerate(taken.assumptions):
        if assumption.name.startswith(("delay.", "sensors.delay")):
            part = (f"step.{assumption.name}", assumption.unit)
            blocks.append((part[0], [part], taken.columns[:, [k]] / assumption.std))
    for t in instants.tolist():
        after = (times >= t)[:, None]
        for name, parts, columns in blocks:
            yield Effect(
                name, tuple(parts), after * columns,
                f"the recording jumps at {t:.3g} s: correct it, or use the parts by themselves", t,
            )  # fmt: skip


def _biases(rows: WhiteRows, word: str) -> list[tuple[str, list[tuple[str, str]], Array]]:
    """Of every sensor its group and channels with units, behind a word, and columns of biases."""
    found, turns = [], _sensors(rows, ["attitude"])
    for group, channels in _sensors(rows).items():
        units = ["rad" if group in turns else channel_unit(name)[0] for name in channels]
        parts = [(f"{word}.{name}", unit) for name, unit in zip(channels, units, strict=True)]
        columns = [_column_of(rows, name, lambda r, k, c: 1.0) for name in channels]
        found.append((f"{word}.{group}", parts, np.column_stack(columns)))
    return found


def _sensors(rows: WhiteRows, kinds: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The channels of every sensor, or of those of some kinds, by its group."""
    measured = [m for recording in rows.problem.recordings for m in recording.measurements]
    return {m.group: m.rows for m in measured if not kinds or m.sensor.kind in kinds}


def _column_of(
    rows: WhiteRows, channel: str, amounts: Callable[[int, int, int], Array | float]
) -> Array:
    """The whitened column (rows,) of something added to one channel.

    amounts: of a recording, a measurement of it and a row of that.
    """
    problem, parts = rows.problem, []
    for r, recording in enumerate(problem.recordings):
        added = [np.zeros((len(m.times), len(m.rows))) for m in recording.measurements]
        for k, m in enumerate(recording.measurements):
            if channel in m.rows:
                c = m.rows.index(channel)
                added[k][:, c] = amounts(r, k, c)
        parts.append(problem.whiten(r, added))
    return np.concatenate(parts)


def clock_drift(rows: WhiteRows, taken: AssumptionColumns) -> Iterator[Effect]:
    """The clock of the sensors against that of the inputs."""
    names = [assumption.name for assumption in taken.assumptions]
    own = [names.index("sensors.delay")] if "sensors.delay" in names else []
    own = own or [k for k, name in enumerate(names) if name.startswith("delay.")]
    if len(own) != 1:
        return
    elapsed = np.zeros(len(rows.residual))
    for row in rows.channels:
        elapsed[row.rows] = row.times - rows.span(row.recording)[0]
    column = elapsed[:, None] * taken.columns[:, own] / taken.assumptions[own[0]].std
    yield Effect(
        "clock.drift", (("clock.drift", "1"),), column,
        "sensors and inputs are stamped by clocks that run apart: correct the stamps",
    )  # fmt: skip


def bias_walks(rows: WhiteRows) -> Iterator[Effect]:
    """Biases that wander: a line from knot to knot, which step as a random walk does."""
    n = len(rows.problem.recordings)
    hats = np.hstack([_hats(row_times(rows, r)) for r in range(n)])
    knots = np.arange(1.0, KNOTS + 1.0)
    walk = np.kron(np.eye(n), np.minimum.outer(knots, knots) / KNOTS)
    for name, parts, columns in _biases(rows, "walk"):
        yield Effect(
            name, tuple(part for part, _ in product(parts, hats.T)),
            np.hstack([column[:, None] * hats for column in columns.T]),
            "the bias of this sensor wanders: state it as slow noise of the sensor, or use shorter"
            " parts of the flight", spread=np.kron(np.eye(len(parts)), walk),
        )  # fmt: skip


def _hats(times: Array) -> Array:
    """Lines that rise to a knot and fall to the next (rows, KNOTS), none at the beginning."""
    begin, end = np.nanmin(times), np.nanmax(times)
    at = (times - begin) / (end - begin) * KNOTS
    shapes = np.maximum(1.0 - np.abs(at[:, None] - np.arange(1.0, KNOTS + 1.0)), 0.0)
    return np.nan_to_num(shapes)


def bent_scales(rows: WhiteRows, flown: Sequence[Prediction]) -> Iterator[Effect]:
    """Scale factors that differ by sign, or grow with what is read: as a part of the largest."""
    for group, channels in _sensors(rows, ZEROED).items():
        columns = []
        for name in channels:
            largest = _largest(rows, flown, name) or 1.0

            def differ(r: int, k: int, c: int) -> Array:
                return np.abs(flown[r].values[k][:, c])

            def grow(r: int, k: int, c: int, largest: float = largest) -> Array:
                return flown[r].values[k][:, c] * np.abs(flown[r].values[k][:, c]) / largest

            columns += [_column_of(rows, name, differ), _column_of(rows, name, grow)]
        yield Effect(
            f"bend.{group}", tuple((f"bend.{name}", "1") for name in channels for _ in range(2)),
            np.column_stack(columns),
            "the scale factor of this sensor depends on what it reads: calibrate it over its range,"
            " or correct the readings",
        )  # fmt: skip


def _largest(rows: WhiteRows, flown: Sequence[Prediction], channel: str) -> float:
    """The largest reading of a channel, as predicted."""
    largest = 0.0
    for recording, one in zip(rows.problem.recordings, flown, strict=True):
        for m, values in zip(recording.measurements, one.values, strict=True):
            if channel in m.rows:
                own = values[:, m.rows.index(channel)]
                largest = max(largest, float(np.max(np.abs(own), initial=0.0)))
    return largest
