"""The states of a simulated flight, put together from the truth beside its telemetry."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import TelemetryError
from freefloat.model.rotations import quaternion_from_rotation_vector
from freefloat.telemetry.telemetry import Telemetry


def true_states(system: System, flight: Telemetry) -> tuple[Array, Array]:
    """Times (N,) [s] and state vectors (N, 13 + 2 c) of a simulated flight.

    The angle of a wheel, which nothing depends on, is zero. Raises TelemetryError for a flight
    without truth.

    >>> import freefloat as ff
    >>> from freefloat.dynamics import flatten
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=1.0))
    >>> true_states(flatten(model), flight)[1].shape
    (101, 19)
    """
    truth = flight.truth
    if truth is None:
        raise TelemetryError(
            "the telemetry holds no truth, which only simulated flights have; read the file with"
            " truth=True, or simulate again"
        )
    times = truth["base.rate.x"].time
    q = [_column(truth, name, "position", len(times)) for name in system.coordinates]
    dq = [_column(truth, name, "velocity", len(times)) for name in system.coordinates]
    parts = [
        truth.matrix([f"base.position.{axis}" for axis in "xyz"])[1],
        attitudes(truth),
        truth.matrix([f"base.velocity.{axis}" for axis in "xyz"])[1],
        truth.matrix([f"base.rate.{axis}" for axis in "xyz"])[1],
        np.reshape(q, (-1, len(times))).T,
        np.reshape(dq, (-1, len(times))).T,
    ]
    return np.array(times), np.ascontiguousarray(np.hstack(parts))


def attitudes(truth: Telemetry) -> Array:
    """The base's unit quaternions (N, 4; x, y, z, w); those of a planar base from its angle."""
    if "base.attitude.w" in truth:
        return truth.matrix([f"base.attitude.{axis}" for axis in "xyzw"])[1]
    angle = truth["base.angle"].values
    return quaternion_from_rotation_vector(np.outer(angle, [0.0, 0.0, 1.0]))


def _column(truth: Telemetry, name: str, quantity: str, n_rows: int) -> Array:
    joint, _, motor = name.partition(".")
    channel = f"{joint}.motor_{quantity}" if motor else f"{joint}.{quantity}"
    if quantity == "velocity" and channel not in truth:
        channel = f"{joint}.speed"  # a wheel
    return truth[channel].values if channel in truth else np.zeros(n_rows)
