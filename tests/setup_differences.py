"""Columns of parameters of a setup by differences of whole flights, to hold the tangent against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.model.parameter_name import field_of
from freefloat.prediction.flight_setup import is_jump_delay, nominal_value, setup_size
from freefloat.prediction.predictor import Prediction, Predictor
from freefloat.prediction.sensor_errors import reading_change

# of a natural size. One-sided differences err by about as much, 1e-6, and by the rounding of a
# flight over it, 1e-13 / 1e-6
DIFFERENCE = 1e-6
ROUNDING = 1e3  # of noise: 1e-6 of it is what rounding leaves of a column that is nothing


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
    found = predictor.predict_with(values, (), setup)
    assert found is not None
    return list(found.values)


def noises_of(predictor: Predictor) -> list[Array]:
    """Of every measurement; one where a sensor has none."""
    return [np.where(m.noise > 0.0, m.noise, 1.0) for m in predictor.measurements]


def column_errors(
    predictor: Predictor, values: Mapping[str, float], names: Sequence[str]
) -> dict[str, float]:
    """Of the tangent's columns, in units of noise, relative to a column's norm.

    A column so small that the rounding of flights shows is held against one by which a natural
    size of its parameter changes the readings by ROUNDING times their noise.
    """
    middle, noises, errors = predictor.at(values, names), noises_of(predictor), {}
    assert middle is not None
    for p, name in enumerate(names):
        # accelerations of splines are rounded more than flights are; friction bends most
        factor = 100.0 if field_of(name) == "delay" else 10.0
        expected = difference_columns(predictor, values, name, middle, factor=factor,
                                      both_sides=True)  # fmt: skip
        both = [
            (float(np.sum(((J[:, :, p] - e) / s) ** 2)), float(np.sum((e / s) ** 2)))
            for J, e, s in zip(middle.jacobian, expected, noises, strict=True)
        ]
        error, norm = np.sqrt(np.sum(both, axis=0))
        errors[name] = float(error / max(norm, ROUNDING / setup_size(predictor.model, name)))
    return errors
