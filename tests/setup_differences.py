"""Columns of parameters of a setup by differences of whole flights, to hold the tangent against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.model.parameter_name import field_of
from freefloat.prediction.flight import fly
from freefloat.prediction.flight_setup import is_jump_delay, nominal_value, setup_size
from freefloat.prediction.initial_state import with_start
from freefloat.prediction.predictor import Prediction, Predictor
from freefloat.prediction.sensor_errors import SensorContext, predict_measurement, reading_change

# of a natural size. One-sided differences err by about as much, 1e-6, and by the rounding of a
# flight over it, 1e-13 / 1e-6
DIFFERENCE = 1e-6


def difference_columns(
    predictor: Predictor, values: Mapping[str, float], name: str, middle: Prediction,
    *, factor: float = 1.0, both_sides: bool = False,
) -> list[Array]:  # fmt: skip
    """The column of every measurement (N, r) by a name; steps are `factor` times the usual."""
    value = values.get(name, nominal_value(predictor.model, name))
    step = factor * DIFFERENCE * setup_size(predictor.model, name, predictor.inputs)
    # inputs have kinks between samples, whose two sides count alike
    both_sides = both_sides or field_of(name) == "delay"
    sides = [middle.values]
    for change in (-step, step) if both_sides else (step,):
        sides.append(_readings(predictor, values, name, value + change))
    (one, other), apart = sides[-2:], 2.0 * step if both_sides else step
    return [
        reading_change(m, one[k], other[k], middle.residuals[k]) / apart
        for k, m in enumerate(predictor.measurements)
    ]


def _readings(
    predictor: Predictor, values: Mapping[str, float], name: str, value: float
) -> list[Array]:
    setup = predictor.setup_at({**values, name: value})
    if is_jump_delay(predictor.source, name):
        # a delay moves impulses; that it also flips a reading at an edge has no derivative
        setup = replace(setup, record_inputs=predictor.setup_at(values).record_inputs)
    segment = fly(
        setup.system, with_start(setup.system, setup.start, values), predictor.grid,
        inputs=setup.inputs, record_inputs=setup.record_inputs,
        with_forces=predictor.needs_forces,
    )  # fmt: skip
    return [
        predict_measurement(
            m, setup.system, segment,
            SensorContext(values, (), predictor.weights(k, values), predictor.grid.first),
        )[0]
        for k, m in enumerate(predictor.measurements)
    ]  # fmt: skip


def column_error(found: list[Array], expected: list[Array], noises: list[Array]) -> float:
    """Of a column, in units of the measurements' noise, relative to its norm; nought for nought."""
    error = sum(float(np.sum(((a - b) / s) ** 2)) for a, b, s in zip(found, expected, noises, strict=True))
    size = sum(float(np.sum((b / s) ** 2)) for b, s in zip(expected, noises, strict=True))
    return float(np.sqrt(error / size)) if size else float(np.sqrt(error))
