"""A made-up kind of sensor: the distance from the origin of the world."""

from __future__ import annotations

import numpy as np

from freefloat.prediction.sensor_models import SENSOR_MODELS, SensorModel

POSITION = SENSOR_MODELS["position"]


def read_range(system, target, at):
    """The distance of the sensor from the origin of the world [m]."""
    return np.linalg.norm(POSITION.read(system, target, at), axis=1)


def range_jacobian(system, target, at):
    """By the chain rule: the direction to the sensor times how the sensor moves."""
    position = POSITION.read(system, target, at)
    direction = position / np.linalg.norm(position, axis=1, keepdims=True)
    return np.einsum("ni,nip->np", direction, POSITION.jacobian(system, target, at))[:, None]


RANGE = SensorModel("range", 1, read_range, range_jacobian, unit="m")
