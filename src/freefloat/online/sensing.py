"""What every sensor should read now, and how that changes with states, parameters and joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import observe
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import StateLayout
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.model.checks import sensor_targets
from freefloat.model.parts import Sensor, SensorKind
from freefloat.online.kernels.kalman_tables import NUDGES
from freefloat.prediction.measurements import Measurement, channels_of, measurements_of
from freefloat.prediction.sensor_noise import sample_noise
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry


def live_streams(
    system: System, flight: Telemetry | None, noise: Mapping[str, float]
) -> tuple[Measurement, ...]:
    """The sensors that a stream of samples may hold, those of the driven joints included."""
    known = _suite(system) if flight is None else flight
    renamed = [
        Channel(c.name, c.unit, c.time, c.values, c.valid, noise.get(_whole(c.name, noise)))
        for c in known.channels.values()
        if _whole(c.name, noise) in noise
    ]
    known = known.with_channels(*renamed) if renamed else known
    found = [*measurements_of(system, known), *_drives(system, known)]
    if not found:
        raise IdentificationError(
            f"{system.model.name!r} predicts none of the channels; send its rates, attitude or"
            " velocity",
            code="channel.none",
        )
    empty = np.zeros(0)
    return tuple(replace(s, times=empty, values=np.zeros((0, s.values.shape[1]))) for s in found)


def _whole(name: str, noise: Mapping[str, float]) -> str:
    """An attitude's deviation may be given once for its four numbers."""
    return "base.attitude" if name.startswith("base.attitude.") and name not in noise else name


def _suite(system: System) -> Telemetry:
    """A recording with nothing in it of what the model's sensors report."""
    channels = {}
    for sensor in system.model.sensors:
        if sensor.kind != "thruster":
            for target in sensor_targets(system.model, sensor):
                for name in channels_of(system, sensor, target):
                    size = sample_noise(sensor)
                    channels[name] = Channel(name, "rad", [0.0, 1.0], [0.0, 0.0], noise=size)
    return Telemetry.of(channels.values())


def _drives(system: System, flight: Telemetry) -> list[Measurement]:
    """Encoders and rates of the coordinates whose motion is taken from them."""
    found = []
    for k in system.tree.given:
        coordinate = system.model.assembly.coordinates[k]
        name = coordinate.name
        kinds: tuple[SensorKind | None, SensorKind]
        if name.endswith(".motor"):
            name = name.removesuffix(".motor")
            kinds = ("motor_encoder", "motor_rate")
        elif coordinate.type == "rotor":
            kinds = (None, "wheel_speed")
        else:
            kinds = ("encoder", "joint_rate")
        for channel, kind in zip(channel_names(coordinate), kinds, strict=True):
            if channel in flight and kind is not None:
                size = flight[channel].noise
                if size is None:
                    raise IdentificationError(
                        f"the noise of {channel} is not known; give noise={{channel: deviation}}",
                        code="noise.missing",
                    )
                found.append(
                    Measurement(
                        Sensor(kind, name, 1.0), name, channel, (channel,), (0,), np.zeros(0),
                        np.zeros((0, 1)), np.array([max(size, 1e-9)]), True, np.zeros(1),
                    )
                )  # fmt: skip
        told = [s for s in found if s.channels[0] in channel_names(coordinate)]
        if not told and coordinate.role == "motion" and coordinate.type != "rotor":
            raise IdentificationError(
                f"the channel {channel_names(coordinate)[0]} does not come; live identification"
                " needs it",
                code="channel.missing",
            )
    return found


def joint_response(system: System, time: float, x: Array, *, inputs: Inputs) -> Array:
    """Accelerations per position, rate and acceleration of the joints: (6 + c, 3, joints)."""
    states, given = perturbed_joints(system, x, inputs.given[0, 2])
    rows, times = inputs._replace(given=given), np.full(len(states), time)
    accelerations = observe(system, states, inputs=rows, times=times).accelerations
    return by_joint(accelerations[1:] - accelerations[0], inputs.given.shape[2])


def perturbed_joints(system: System, x: Array, given: Array) -> tuple[Array, Array]:
    """The instant as it is, then with position, rate and acceleration of each joint nudged.

    given (joints, 3): the joints' motion. States (1 + 3 joints, width), and tables of the motion.
    """
    moved, table = _nudge_tables(tuple(system.tree.given.tolist()), system.n_coordinates)
    return x + moved, np.repeat((given + table)[:, None], 3, axis=1)


@lru_cache(maxsize=16)  # one a mechanism
def _nudge_tables(given: tuple[int, ...], n_coordinates: int) -> tuple[Array, Array]:
    """What the nudges do to states and to the joints' motion."""
    g, layout = len(given), StateLayout(n_coordinates, 0)
    moved, table = np.zeros((1 + 3 * g, layout.width)), np.zeros((1 + 3 * g, g, 3))
    for order in range(3):
        for m, coordinate in enumerate(given):
            row = 1 + order * g + m
            table[row, m, order] = NUDGES[order]
            if order < 2:
                place_of = layout.rate_of if order else layout.position_of
                moved[row, place_of(coordinate)] = NUDGES[order]
    return moved, table


def nudge_sizes(g: int) -> Array:
    """The nudges of so many joints, row by row."""
    return np.repeat(NUDGES, g)


def by_joint(change: Array, g: int) -> Array:
    """(3 g, r) changes by nudges as slopes (r, 3, g)."""
    return (change / nudge_sizes(g)[:, None]).T.reshape(-1, 3, g)


def coordinate_of(stream: Measurement) -> str:
    """The coordinate that an encoder or a rate belongs to."""
    return f"{stream.target}.motor" if "motor" in stream.sensor.kind else stream.target


def innovation(stream: Measurement, measured: Array, predicted: Array) -> Array:
    """Measured minus predicted, in the stream's unit, of what the kernels do not read."""
    error = measured - predicted
    if stream.sensor.kind == "attitude":  # a planar angle: the nearest turn
        error = (error + np.pi) % (2.0 * np.pi) - np.pi
    return error
