"""How the robot moves by the samples of a live run, as far as they tell."""

from __future__ import annotations

from math import isfinite

import numpy as np

from freefloat.arrays import Array
from freefloat.model.model import Model
from freefloat.model.rotations import matrix_from_rotation_vector, quaternion_from_matrix
from freefloat.studio.flight_motion import Moment
from freefloat.telemetry.sample_rows import Sample


class LiveMotion:
    """The last place of everything that samples tell of; the rest stays where it was.

    Where no attitude is measured, the gyro's turns are added up.
    """

    def __init__(self, model: Model) -> None:
        roots = dict.fromkeys(("base", model.root.body, model.bus))
        self._position = [[f"{name}.position.{axis}" for axis in "xyz"] for name in roots]
        self._attitude = [[f"{name}.attitude.{axis}" for axis in "xyzw"] for name in roots]
        self._angle = [[f"{name}.angle"] for name in roots]
        self._rate = [[f"{name}.rate.{axis}" for axis in "xyz"] for name in roots]
        self._joints = [c.name for c in model.assembly.coordinates]
        self._wheels = [wheel.name for wheel in model.wheels]
        self._thrusters = [thruster.name for thruster in model.thrusters]
        groups = (*self._position, *self._attitude, *self._angle, *self._rate)
        self._known = {name for names in groups for name in names}
        self._known |= {f"{name}.position" for name in self._joints}
        self._known |= {f"{name}.speed" for name in self._wheels}
        self._known |= {f"{name}.force" for name in self._thrusters}
        self._values: dict[str, float] = {}
        self._turned = np.eye(3)
        self._wheel_angles = dict.fromkeys(self._wheels, 0.0)
        self._time: float | None = None

    def take(self, sample: Sample) -> None:
        """What one sample tells; as little work as can be, for it comes very often."""
        for name in self._known & sample.values.keys():
            value = sample.values[name]
            if isinstance(value, int | float) and isfinite(value):  # anything may come
                self._values[name] = float(value)
        if self._time is None:
            self._time = sample.time

    def moment(self, time: float) -> Moment:
        """Where everything is at the time [s] of the last sample."""
        last, self._time = time if self._time is None else self._time, time
        step = min(max(time - last, 0.0), 1.0)  # no turns are made up for a gap
        for name in self._wheels:
            self._wheel_angles[name] += step * self._values.get(f"{name}.speed", 0.0)
        posture = {name: self._values.get(f"{name}.position", 0.0) for name in self._joints}
        position = self._first(self._position)
        zero = np.zeros(3)
        return Moment(
            time, zero if position is None else position, self._attitude_after(step),
            posture | self._wheel_angles,
            {name: self._values.get(f"{name}.force", 0.0) for name in self._thrusters}, zero, zero,
        )  # fmt: skip

    def _attitude_after(self, step: float) -> Array:
        measured = self._first(self._attitude)
        if measured is not None and (length := float(np.linalg.norm(measured))) > 0.1:
            return measured / length
        if (angle := self._first(self._angle)) is not None:  # of a planar base
            return np.array([0.0, 0.0, np.sin(0.5 * angle[0]), np.cos(0.5 * angle[0])])
        rate = self._first(self._rate)
        if rate is not None:
            self._turned = self._turned @ matrix_from_rotation_vector(step * rate)
        return quaternion_from_matrix(self._turned)

    def _first(self, choices: list[list[str]]) -> Array | None:
        """The numbers of the first channels that all came."""
        for names in choices:
            if all(name in self._values for name in names):
                return np.array([self._values[name] for name in names])
        return None
