"""Where a simulation begins: the first readings or the plan, changed by `start.*` parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import ATTITUDE, POSITION, RATE, VELOCITY, Start
from freefloat.dynamics.tree import System
from freefloat.model.parameter_name import ParameterName, is_start
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.prediction.inputs import InputSource
from freefloat.prediction.measurements import Measurement

# where the root's states are in a state vector; an attitude has its own arithmetic
ROOT_STATES = {"position": POSITION, "velocity": VELOCITY, "rate": RATE}
# which of them a sensor on the root body reads
READ_STATES = {"position": POSITION, "velocity": VELOCITY, "gyro": RATE}


def with_start(system: System, state: Array, values: Mapping[str, float]) -> Array:
    """A state vector changed by `start.*` values; other names are passed over.

    `start.attitude.*` is a rotation vector [rad] in root axes, all else is added.

    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("cepheus"))
    >>> with_start(system, Start().vector(system), {"start.rate.z": 0.1})[12]
    np.float64(0.1)
    """
    x = state.copy()
    turn = np.zeros(3)
    layout = system.layout
    for text, value in values.items():
        if not is_start(text) or value == 0.0:
            continue
        name = ParameterName.parse(text)
        if name.owner == "attitude":
            turn["xyz".index(name.field)] = value
        elif name.owner in ROOT_STATES:
            x[ROOT_STATES[name.owner].start + "xyz".index(name.field)] += value
        else:
            place_of = layout.rate_of if name.field == "velocity" else layout.position_of
            x[place_of(system.coordinates.index(name.owner))] += value
    if turn.any():
        x[ATTITUDE] = quaternion_product(x[ATTITUDE], quaternion_from_rotation_vector(turn))
    return x


def first_state(system: System, source: InputSource, measurements: Sequence[Measurement]) -> Array:
    """The state as the first readings have it; what is not measured is at home, springs at rest."""
    x = Start().vector(system)
    layout = system.layout
    given = source.tabulate(np.full((1, 3), source.first)).given[0, 0]
    for m, i in enumerate(system.tree.given):
        x[layout.position_of(i)], x[layout.rate_of(i)] = given[m, 0], given[m, 1]
    for (a, b), spring in zip(system.tree.spring_ends, system.model.assembly.springs, strict=True):
        if b >= 0 and a not in system.tree.given:
            x[layout.position_of(a)] = x[layout.position_of(b)] + spring.rest
            x[layout.rate_of(a)] = x[layout.rate_of(b)]
        elif b < 0 and a not in system.tree.given and spring.stiffness > 0.0:
            x[layout.position_of(a)] = spring.rest
    root = system.model.root.body
    for measurement in measurements:
        kind = measurement.sensor.kind
        if measurement.target == root and kind in READ_STATES:
            for k, column in enumerate(measurement.columns):
                x[READ_STATES[kind].start + column] = measurement.values[0, k]
        elif measurement.target == root and kind == "attitude":
            x[ATTITUDE] = _first_attitude(measurement)
        elif kind in ("encoder", "joint_rate"):
            i = system.coordinates.index(measurement.target)
            place_of = layout.rate_of if kind == "joint_rate" else layout.position_of
            x[place_of(i)] = measurement.values[0, 0]
    return x


def _first_attitude(measurement: Measurement) -> Array:
    first = measurement.values[0]
    if measurement.is_attitude:
        return first / np.linalg.norm(first)
    return np.array([0.0, 0.0, np.sin(first[0] / 2.0), np.cos(first[0] / 2.0)])
