"""What the sensors would read, and how every reading changes with every parameter.

The derivative is analytic all the way: the tangent of the trajectory, then of the sensor. A
parameter may be anything `dynamics.directions` knows, or `bias.<channel>` of a sensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import observe
from freefloat.dynamics.integrate import STEP
from freefloat.dynamics.sensitivity import Sensitivity, integrate_with_sensitivity
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.model.checks import sensor_targets
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.prediction.sensor_errors import SUFFIXES, sample_times
from freefloat.prediction.sensor_jacobians import reading_slopes
from freefloat.prediction.sensor_models import FlightSegment, prefix_of, readings
from freefloat.prediction.time_grid import common_grid


@dataclass(frozen=True)
class PredictedReading:
    """One sensor's predicted channels: values (N, k) at times (N,) [s], slopes (N, r, parameters).

    `channels` names the k columns; slopes have the same columns, except that an attitude (four
    numbers) has three: the small rotation in sensor axes.
    """

    channels: tuple[str, ...]
    times: Array
    values: Array
    slopes: Array


@dataclass(frozen=True)
class Prediction:
    """Predicted readings of a sensor suite and their derivative by `names`."""

    names: tuple[str, ...]
    readings: tuple[PredictedReading, ...]


def predict(
    model: Model,
    plan: Plan,
    names: Sequence[str],
    *,
    step: float = 10 * STEP,
    sensors: tuple[Sensor, ...] | None = None,
) -> Prediction:
    """Noise-free readings of a flight and their derivative with respect to the named parameters.

    >>> import freefloat as ff
    >>> flight = predict(ff.load_model("cepheus"), ff.default_plan("cepheus"), ["bus.izz"])
    >>> flight.readings[0].slopes.shape[-1]
    1
    """
    if plan.control is not None:
        raise IdentificationError("a closed-loop plan cannot be predicted; fly it and use its log")
    plan.check(model)
    suite = model.sensors if sensors is None else sensors
    system = flatten(model)
    grid_rate, step, every = common_grid(suite, step)
    n_grid = int(np.floor(plan.duration * grid_rate * (1 + 1e-12)))
    inner = [name for name in names if not name.startswith("bias.")]
    at, slopes = _flown(system, plan, inner, step, n_grid * every, every)
    found = [r for s in suite for r in _sensor(system, s, at, slopes, names, inner, grid_rate)]
    _require_channels(names, found)
    return Prediction(tuple(names), tuple(found))


def _flown(
    system: System, plan: Plan, names: list[str], step: float, n_steps: int, every: int
) -> tuple[FlightSegment, Sensitivity]:
    tabulate = plan.inputs(system)
    steps = (np.arange(n_steps)[:, None] + np.array([0.0, 0.5, 1.0])) * step
    slopes = integrate_with_sensitivity(
        system, plan.start_state(system), names, inputs=tabulate(steps), step=step,
        n_steps=n_steps, every=every,
    )  # fmt: skip
    times = np.arange(len(slopes.states)) * every * step
    inputs = tabulate(np.repeat(times[:, None], 3, axis=1))
    motion = observe(system, slopes.states, inputs=inputs, times=times)
    return FlightSegment(times, slopes.states, motion, inputs), slopes


def _sensor(
    system: System,
    sensor: Sensor,
    at: FlightSegment,
    slopes: Sensitivity,
    names: Sequence[str],
    inner: list[str],
    grid_rate: float,
) -> list[PredictedReading]:
    """The readings of a sensor; a delay shifts where it looks (the grid holds those instants)."""
    times = sample_times(sensor, float(at.times[-1]))
    rows = np.clip(np.round((times - sensor.delay) * grid_rate).astype(int), 0, None)
    columns = [list(names).index(name) for name in inner]
    found = []
    truths = readings(system, sensor, at)
    targets = sensor_targets(system.model, sensor)
    for (name, truth), target in zip(truths.items(), targets, strict=True):
        values = (truth[:, None] if truth.ndim == 1 else truth)[rows]
        channels = tuple(name + suffix for suffix in SUFFIXES[values.shape[1]])
        own = reading_slopes(system, sensor, target, at, slopes)[rows]
        whole = np.zeros((*own.shape[:2], len(names)))
        whole[:, :, columns] = own
        _add_bias(whole, names, prefix_of(system, sensor, target), channels)
        found.append(PredictedReading(channels, times, values, whole))
    return found


def _add_bias(slopes: Array, names: Sequence[str], prefix: str, channels: tuple[str, ...]) -> None:
    """A bias on a channel moves its reading one to one (attitude: the rotation about that axis)."""
    for p, name in enumerate(names):
        for k, channel in enumerate(channels[: slopes.shape[1]]):
            if name == f"bias.{channel}":
                slopes[:, k, p] = 1.0


def _require_channels(names: Sequence[str], found: list[PredictedReading]) -> None:
    known = {f"bias.{channel}" for reading in found for channel in reading.channels}
    missing = [name for name in names if name.startswith("bias.") and name not in known]
    if missing:
        raise IdentificationError(
            f"no sensor writes the channel of {', '.join(missing)}; known: "
            + ", ".join(sorted(known)[:6])
        )
