"""What readings say of the error state: whitened slopes and innovations, all streams in one table.

What never changes is written once: the rows of encoders, which tell a driven joint's motion and no
more, and those of sensor biases. Torques of joints are read all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion, observe, observe_sets
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.tangent_steps import TangentSteps
from freefloat.dynamics.tree import System
from freefloat.model.parameter_name import ParameterName
from freefloat.model.rotations import conjugate, quaternion_product, rotation_vector_from_quaternion
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.propagation import Layout, inputs_now
from freefloat.online.sensing import coordinate_of, innovation, nudge_sizes, perturbed_joints
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.sensor_models import sensor_jacobian, sensor_reading

# The order of a joint's motion that a kind of sensor tells.
ORDER = {"encoder": 0, "motor_encoder": 0, "joint_rate": 1, "motor_rate": 1, "wheel_speed": 1}
JOINT_FORCES = ("joint_torque", "wheel_torque")


class KalmanRows:
    """The rows of a filter's streams.

    home: the mechanism; any numbers of it may be given later.
    """

    def __init__(
        self, home: System, streams: Sequence[Measurement], unknowns: FilterUnknowns, layout: Layout
    ) -> None:
        self.home, self.streams, self.layout = home, tuple(streams), layout
        sizes = [len(stream.noise) for stream in streams]
        ends = np.cumsum(sizes)
        self.rows = np.split(np.arange(ends[-1]), ends[:-1])  # of every stream among all
        self.noise = np.concatenate([stream.noise for stream in streams])
        self._bias = np.concatenate([np.resize(s.bias, len(s.noise)) for s in streams])
        self._bias_place = np.full(ends[-1], -1, dtype=np.intp)
        self._table = np.zeros((ends[-1], layout.n_all))
        given = [home.coordinates[c] for c in home.tree.given]
        biases = {
            p.name: k
            for k, p in enumerate(unknowns.free)
            if ParameterName.parse(p.name).kind == "bias"
        }
        self.joint_of: list[int] = []  # place in the joints' motion, order by order, or -1
        self._force_of: list[int] = []  # coordinate whose force is read, or -1
        for stream, rows in zip(streams, self.rows, strict=True):
            kind, name = stream.sensor.kind, coordinate_of(stream)
            is_driven = kind in ORDER and name in given
            place = ORDER[kind] * len(given) + given.index(name) if is_driven else -1
            self.joint_of.append(place)
            self._force_of.append(
                home.coordinates.index(stream.target) if kind in JOINT_FORCES else -1
            )
            if is_driven:
                self._table[rows[0], layout.joints.start + place] = 1.0
            for row, channel in zip(rows, stream.rows, strict=True):
                if f"bias.{channel}" in biases:
                    self._bias_place[row] = k = biases[f"bias.{channel}"]
                    self._table[row, layout.n_states + k] = unknowns.sizes[k]
        self._table /= self.noise[:, None]

    def linearise(
        self, system: System, steps: TangentSteps, time: float, *, x: Array, joints: Array,
        push: Array, values: Array, places: Sequence[int], measured: Sequence[Array],
    ) -> tuple[Array, Array]:  # fmt: skip
        """Whitened slopes (rows, error state) and innovations (rows,) of the streams at `places`.

        values: of the parameters.
        """
        rows = np.concatenate([self.rows[k] for k in places])
        C, left = self._table[rows], np.empty(len(rows))
        bias, own = self._bias[rows].copy(), self._bias_place[rows]
        bias[own >= 0] = values[own[own >= 0]]
        told, first, at = [], 0, []
        plain, where, read = [], [], []
        for k, reading in zip(places, measured, strict=True):
            part = slice(first, first + len(self.rows[k]))
            first = part.stop
            if self.joint_of[k] >= 0:
                plain.append(part.start)
                where.append(self.joint_of[k])
                read.append(reading[0])
            else:
                told.append((k, reading))
                at.append(part)
        if plain:
            left[plain] = np.array(read) - joints.ravel()[where] - bias[plain]
        if told:
            seen = self._see(system, steps, time, x, joints, push, [k for k, _ in told])
            both, g = self.layout.n_states + self.layout.n_parameters, self.layout.n_joints
            for (k, reading), part, (value, by_names, by_joints) in zip(
                told, at, seen, strict=True
            ):
                left[part] = innovation(self.streams[k], reading, value, bias[part])
                size = self.noise[self.rows[k]][:, None]
                C[part, :both] += by_names @ self.layout.mix / size
                C[part, both : both + 3 * g] = by_joints / size
        left /= self.noise[rows]
        return C, left

    def _see(
        self, system: System, steps: TangentSteps, time: float, x: Array, joints: Array,
        push: Array, places: Sequence[int],
    ) -> list[tuple[Array, Array, Array]]:  # fmt: skip
        """Of streams their reading, and its slopes by names and by the joints' motion."""
        states, given = perturbed_joints(system, x, joints[:3].T)
        held = inputs_now(joints, push, system.n_coordinates)
        inputs = held._replace(given=given)
        times = np.full(len(states), time)
        motion = observe(system, states, inputs=inputs, times=times)
        whole = FlightSegment(times, states, motion, inputs)
        slopes = steps.fly(
            system, x, inputs=held, step=1.0, n_steps=0, time=time, with_efforts=True
        )
        first = SystemMotion(motion.accelerations[:1], motion.forces[:1], motion.links[:1])
        now = FlightSegment(times[:1], states[:1], first, held, slopes)
        nudges, c, seen = nudge_sizes(self.layout.n_joints), system.n_coordinates, []
        for k in places:
            stream, force = self.streams[k], self._force_of[k]
            # only the spring of a drive counts with its numbers of now; frames are found by `home`
            its = system if stream.sensor.kind == "motor_torque" else self.home
            if force >= 0:
                truth, own = motion.forces[:, force, None], slopes.efforts[0, 6 + c + force, None]
                change = truth[1:] - truth[0]
            else:
                truth = sensor_reading(its, stream.sensor, stream.target, whole)
                truth = truth[:, None] if truth.ndim == 1 else truth
                own = sensor_jacobian(its, stream.sensor, stream.target, now)[0]
                if stream.is_attitude:
                    turned = quaternion_product(conjugate(truth[:1]), truth[1:])
                    change = rotation_vector_from_quaternion(turned)
                else:
                    truth, own = truth[:, stream.columns], own[list(stream.columns)]
                    change = truth[1:] - truth[0]
            seen.append((truth[0], own, (change / nudges[:, None]).T))
        return seen

    def read_sets(
        self, sets: ParameterArrays, time: float, *, states: Array, joints: Array, push: Array,
        places: Sequence[int],
    ) -> list[Array]:  # fmt: skip
        """What streams at `places` should read (sets, rows) with other numbers and states each."""
        inputs = inputs_now(joints[0], push, self.home.n_coordinates)
        given = np.repeat(joints[:, None, :3].swapaxes(2, 3), 3, axis=1)
        inputs = inputs._replace(given=np.ascontiguousarray(given))
        times = np.full(len(states), time)
        motion = observe_sets(self.home, sets, states, inputs=inputs, times=times)
        whole, found = FlightSegment(times, states, motion, inputs), []
        for k in places:
            stream, force = self.streams[k], self._force_of[k]
            if force >= 0:
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


def beyond_gate(B: Array, left: Array, sizes: NDArray[np.intp], gates: Array) -> NDArray[np.bool_]:
    """Which of the streams, of so many rows each, are beyond the gate; B = C S."""
    ends = np.cumsum(sizes)
    first = ends - sizes
    nis = np.empty(len(ends))
    single = sizes == 1
    rows = first[single]
    nis[single] = left[rows] ** 2 / (1.0 + np.sum(B[rows] ** 2, axis=1))
    for n in np.flatnonzero(~single):
        part = slice(int(first[n]), int(ends[n]))
        own = np.eye(sizes[n]) + B[part] @ B[part].T
        nis[n] = left[part] @ np.linalg.solve(own, left[part])
    return nis > gates[sizes]
