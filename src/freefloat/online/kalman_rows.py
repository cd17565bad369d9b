"""Readings that the kernels of the Kalman filter do not know, by the models of sensors.

And readings of all kinds where the numbers of the mechanism differ from row to row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion, observe, observe_sets
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.sensitivity import Sensitivity
from freefloat.dynamics.tree import System
from freefloat.online.error_state import inputs_now
from freefloat.online.kernels.kalman_tables import FORCE, Readings, Streams
from freefloat.online.sensing import innovation, nudge_sizes, perturbed_joints
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.sensor_models import sensor_jacobian, sensor_reading


class KalmanRows:
    """Reads a filter's streams in Python.

    home: the mechanism; any numbers of it may be given later.
    """

    def __init__(self, home: System, streams: Sequence[Measurement], table: Streams) -> None:
        self.home, self.streams, self.table = home, tuple(streams), table
        self.rows = [slice(*ends) for ends in zip(table.first[:-1], table.first[1:], strict=True)]

    def read_into(
        self, readings: Readings, places: Sequence[int], system: System, tangent: Sensitivity,
        time: float, *, x: Array, joints: Array, push: Array,
    ) -> None:  # fmt: skip
        """Readings of streams at `places` with their slopes, where the kernels leave theirs."""
        states, given = perturbed_joints(system, x, joints[:3].T)
        held = inputs_now(joints, push, system.n_coordinates)
        inputs, times = held._replace(given=given), time + 0.0 * states[:, 0]
        motion = observe(system, states, inputs=inputs, times=times)
        whole = FlightSegment(times, states, motion, inputs)
        first = SystemMotion(motion.accelerations[:1], motion.forces[:1], motion.links[:1])
        now = FlightSegment(times[:1], states[:1], first, held, tangent)
        for k in places:
            stream, rows, columns = self.streams[k], self.rows[k], list(self.streams[k].columns)
            # only the spring of a drive counts with its numbers of now; frames are found by `home`
            its = system if stream.sensor.kind == "motor_torque" else self.home
            truth = sensor_reading(its, stream.sensor, stream.target, whole)
            truth = truth.reshape(len(truth), -1)[:, columns]
            own = sensor_jacobian(its, stream.sensor, stream.target, now)[0]
            at = self.table.value_at[k]
            measured = readings.measured[at : at + len(columns)]
            left = innovation(stream, measured, truth[0])
            readings.value[0, rows] = measured - left
            readings.own[rows] = own[columns]
            change = (truth[1:] - truth[0]) / nudge_sizes(joints.shape[1])[:, None]
            readings.by_joints[rows] = change.T

    def read_sets(
        self, sets: ParameterArrays, time: float, *, states: Array, joints: Array, push: Array,
        places: Sequence[int],
    ) -> list[Array]:  # fmt: skip
        """What streams at `places` should read (sets, rows) with other numbers and states each."""
        inputs = inputs_now(joints[0], push, self.home.n_coordinates)
        given = np.repeat(joints[:, None, :3].swapaxes(2, 3), 3, axis=1)
        inputs = inputs._replace(given=np.ascontiguousarray(given))
        times = time + 0.0 * states[:, 0]
        motion = observe_sets(self.home, sets, states, inputs=inputs, times=times)
        whole, found = FlightSegment(times, states, motion, inputs), []
        for k in places:
            stream = self.streams[k]
            if self.table.kind[k] == FORCE:
                force = self.table.where[k]
                found.append(motion.forces[:, force, None])
            elif stream.sensor.kind == "motor_torque":  # the drive's spring counts as it is
                found.append(self._motor_torques(sets, stream, whole))
            else:
                found.append(
                    sensor_reading(self.home, stream.sensor, stream.target, whole)[
                        :, list(stream.columns)
                    ]
                )
        return found

    def _motor_torques(
        self, sets: ParameterArrays, stream: Measurement, whole: FlightSegment
    ) -> Array:
        found = [
            sensor_reading(
                replace(self.home, parameters=ParameterArrays(*(array[s] for array in sets))),
                stream.sensor, stream.target, whole,
            )[s]
            for s in range(len(whole.times))
        ]  # fmt: skip
        return np.reshape(found, (-1, 1))
