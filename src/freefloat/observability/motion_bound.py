"""The Cramér-Rao bound of all sensors with the motion of driven joints and wheels unknown.

`cramer_rao` takes prescribed motion as known. A recording knows it by encoders, rates and wheel
speeds only, and by what it does to every other sensor. Here the motion of each driven coordinate is
a spline with unknown coefficients, and all sensors together tell them and the parameters.

The knots are the widest whose spline follows the true motion as closely as its own coefficients can
be told (bias no larger than deviation): wider ones could not fly this flight, and nobody who looks
at the samples can know that narrower ones are not needed. So the bound is that of an estimator that
was told how smooth the motion is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.tree import flatten
from freefloat.excitation.commands import Pulses
from freefloat.excitation.plan import Plan
from freefloat.model.checks import sensor_targets
from freefloat.model.model import Model
from freefloat.observability.cramer_rao import CramerRaoBound
from freefloat.observability.information import unknown_initial_states
from freefloat.observability.visibility import spectrum
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.inputs import InputSource
from freefloat.prediction.predictor import Predictor, plan_predictor
from freefloat.prediction.sensor_errors import reading_change
from freefloat.prediction.sensor_noise import counted_noise
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.spline_basis import SplineBasis

DEGREE = 5  # theory: four continuous derivatives, as smooth as a motion of a rigid joint is
STEP = 1e-5  # theory: [rad] of a coefficient; motion is linear in it, readings very nearly


@dataclass(frozen=True)
class Freedom:
    """The motion of one driven coordinate: its place among them, and its splines."""

    place: int
    basis: SplineBasis


def motion_bound(model: Model, parameters: Parameters, plan: Plan) -> CramerRaoBound:
    """As `cramer_rao(model, parameters, plan)`, with unknown motion of what is driven."""
    system = flatten(model)
    wanted = [p for p in parameters.free_ones]
    states = unknown_initial_states(system, parameters, True)
    suite = tuple(s for s in model.sensors if s.kind != "thruster")
    predictor = plan_predictor(model, plan, sensors=suite)
    names = [p.name for p in wanted]
    pushes = dict(noisy_pushes(model, plan))
    middle = predictor.at(names=[*names, *states, *pushes])
    assert middle is not None
    weights = [
        1.0 / counted_noise(m.sensor, read)
        for m, read in zip(predictor.measurements, middle.values, strict=True)
    ]
    columns = [_stack(middle.jacobian, weights)]
    for freedom in freedoms(predictor, middle.values):
        columns.append(_motion_columns(predictor, freedom, middle.values, weights))
    tall = np.hstack(columns)
    readings = np.zeros((len(pushes), tall.shape[1]))
    for k, std in enumerate(pushes.values()):
        readings[k, len(names) + len(states) + k] = 1.0 / std
    tall = np.vstack([tall, readings])
    short = np.asarray(np.linalg.qr(tall[np.any(tall != 0.0, axis=1)], mode="r"))
    sizes, n = natural_sizes(system, names), len(names)
    found = spectrum(short[:, :n] * sizes, short[:, n:], np.zeros(n))
    seen = found.values > found.floor
    spread = found.directions[:, seen] / found.values[seen] * sizes[:, None]
    covariance = spread @ spread.T
    lost = np.linalg.norm(found.directions[:, ~seen], axis=1) > 1e-6
    covariance[lost] = np.nan
    covariance[:, lost] = np.nan
    units = tuple(p.unit for p in wanted)
    return CramerRaoBound(tuple(names), units, np.sqrt(np.diag(covariance)), covariance)


def noisy_pushes(model: Model, plan: Plan) -> Iterator[tuple[str, float]]:
    """Gains of thrusters whose readings have noise, with the deviation these readings leave."""
    for sensor in model.sensors:
        if sensor.kind != "thruster" or not sensor.noise:
            continue
        for name in sensor_targets(model, sensor):
            command = plan.thrusts.get(name)
            if isinstance(command, Pulses):
                pulses = np.array(command.pulses)
                squares = sensor.rate * float(np.sum(pulses[:, 1] * pulses[:, 2] ** 2))
                yield f"{name}.gain", sensor.noise / np.sqrt(squares)


def _stack(tables: tuple[Array, ...], weights: list[float]) -> Array:
    return np.vstack(
        [w * t.reshape(t.shape[0] * t.shape[1], -1) for t, w in zip(tables, weights, strict=True)]
    )


def freedoms(predictor: Predictor, values: tuple[Array, ...]) -> Iterator[Freedom]:
    """The unknown motions: of coordinates that are driven and whose sensor has noise."""
    system = predictor.system
    read = {
        name: (m, values[k][:, r])
        for k, m in enumerate(predictor.measurements)
        for r, name in enumerate(m.rows)
    }
    for place, i in enumerate(system.tree.given):
        position, velocity = channel_names(system.model.assembly.coordinates[i])
        for name, derivative in ((position, 0), (velocity, 1)):
            if name in read and read[name][0].sensor.noise > 0.0:
                m, course = read[name]
                yield Freedom(place, widest(m.times, course, m.sensor.noise, derivative))
                break


def widest(times: Array, course: Array, noise: float, derivative: int) -> SplineBasis:
    """The widest knots whose spline's bias is no larger than the deviation of the fit."""
    ends = np.array([times[0]]), np.array([times[-1]])
    spacing, least = float(times[-1] - times[0]), float(np.median(np.diff(times)))
    while True:
        basis = SplineBasis(DEGREE, spacing, *ends)
        rows = basis.rows(times)
        design = np.zeros((len(times), basis.size))
        splines = rows.splines(derivative)
        for p in range(DEGREE + 1):
            design[np.arange(len(times)), rows.first + p] = splines[:, p]
        left = course - design @ np.linalg.lstsq(design, course, rcond=None)[0]
        if np.mean(left**2) <= noise**2 * basis.size / len(times) or spacing / 1.25 < least:
            return basis
        spacing /= 1.25


def _motion_columns(
    predictor: Predictor, freedom: Freedom, values: tuple[Array, ...], weights: list[float]
) -> Array:
    columns = []
    for j in range(freedom.basis.size):
        moved = replace(predictor, source=_move(predictor, freedom, j)).at()
        assert moved is not None
        change = tuple(
            reading_change(m, values[k], moved.values[k], np.zeros((0, len(m.rows))))[..., None]
            / STEP
            for k, m in enumerate(predictor.measurements)
        )
        columns.append(_stack(change, weights))
    return np.hstack(columns)


def _move(predictor: Predictor, freedom: Freedom, j: int) -> InputSource:
    source, basis = predictor.source, freedom.basis
    unit = np.zeros((basis.size, 1))
    unit[j] = STEP

    def tabulate(times: Array, owner: str = "") -> Inputs:
        inputs = source.tabulate(times, owner)
        motion = np.broadcast_to(inputs.given, (len(times), *inputs.given.shape[1:])).copy()
        rows = basis.rows(np.clip(times.ravel(), basis.starts[0], basis.ends[-1]))
        for derivative in range(3):
            curve = rows.curve(unit, derivative=derivative)[:, 0]
            motion[:, :, freedom.place, derivative] += curve.reshape(times.shape)
        return inputs._replace(given=motion)

    return replace(source, tabulate=tabulate)
