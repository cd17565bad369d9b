"""Which channels a sample must have, where each goes, and how noisy it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import Fault, IdentificationError
from freefloat.model.checks import sensor_targets
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.notes import Note
from freefloat.telemetry.names import XYZ, ChannelName, channel_names
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import closest, listing

# Kinds of sensors and what they call their channels, of those that momentum is made of.
BODY_KINDS = {"gyro": "rate", "attitude": "attitude", "velocity": "velocity"}
JOINT_KINDS = {
    "encoder": "position", "joint_rate": "velocity", "wheel_speed": "speed",
    "motor_encoder": "motor_position", "motor_rate": "motor_velocity",
}  # fmt: skip
# theory: half the digits of a double, per unit of a reading (rad, rad/s, m, m/s). Rows are
# differences of momenta, which lose the other half; finer readings could not be told apart.
FINEST = float(np.sqrt(np.finfo(float).eps))


@dataclass(frozen=True)
class Channels:
    """The channels of a sample vector (see kernels/momentum_columns.py).

    names: what must be there; places: where each goes in the vector; home: the vector otherwise;
    sigma: standard deviations by source of error; thrusters, wrench: channel -> column, told when
    they change; thrust_noise: deviations of the former; is_planar: the attitude is
    one angle; notes: what was assumed.
    """

    names: tuple[str, ...]
    places: NDArray[np.intp]
    home: Array
    sigma: Array
    thrusters: dict[str, int]
    wrench: dict[str, int]
    thrust_noise: Array
    is_planar: bool
    notes: tuple[Note, ...]
    take: Callable[[Mapping[str, Any]], Any]

    @property
    def sources(self) -> list[slice | int]:
        """For every channel, the sources of error in sigma that are its own."""
        return [_source(n, int(p)) for n, p in zip(self.names, self.places, strict=True)]

    @classmethod
    def of(cls, system: System, known: Sequence[str], noise: Mapping[str, float]) -> Channels:
        """The channels needed, of those `known`; IdentificationError naming all that lack."""
        needed, optional = _channel_places(system)
        present = set(known)
        missing = [name for name, _ in needed if name not in present]
        if missing:
            faults = [
                Fault(
                    name,
                    "nothing",
                    "a channel of the samples",
                    _remedy(name, present),
                    code="channel.missing",
                )
                for name in missing
            ]
            doubt = "; is it the robot that flew?" if 2 * len(missing) > len(needed) else ""
            raise IdentificationError(
                f"live identification of {system.model.name!r} needs channels that are not there"
                f"{doubt or ':'}",
                faults,
            )
        wanted = [*needed, *((n, place) for n, place in optional if n in present)]
        notes = tuple(
            Note("channel.assumed_home", f"no channel of {name}: its value at home is used")
            for name, _ in optional
            if name not in present
        )
        sigma, exact = _sigma(system, wanted, noise)
        if exact:
            notes = (*notes, _exact_note(exact))
        names = tuple(name for name, _ in wanted)
        thrusters = {f"{t.name}.force": k for k, t in enumerate(system.model.thrusters)}
        parts = [f"base.{kind}.{axis}" for kind in ("torque", "force") for axis in XYZ]
        return cls(
            names, np.array([place for _, place in wanted], dtype=np.intp), _home(system), sigma,
            thrusters, {name: k for k, name in enumerate(parts)}, thrust_noise(system.model, noise),
            system.model.root.type == "planar", notes, itemgetter(*names),
        )  # fmt: skip


def thrust_noise(model: Model, noise: Mapping[str, float]) -> Array:
    """Deviations of the thrusters' levels [N]; zero where nobody states them."""
    return np.array([max(noise.get(f"{t.name}.force", 0.0), 0.0) for t in model.thrusters])


def _channel_places(system: System) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Channels with their places: those that must be there, and those that may stay at home."""
    is_planar = system.model.root.type == "planar"
    needed = [(f"base.rate.{XYZ[k]}", k) for k in ([2] if is_planar else [0, 1, 2])]
    if is_planar:
        needed.append(("base.angle", 3))
    else:
        needed += [(f"base.attitude.{axis}", 3 + k) for k, axis in enumerate("xyzw")]
    needed += [(f"base.velocity.{XYZ[k]}", 7 + k) for k in ([0, 1] if is_planar else [0, 1, 2])]
    optional = []
    c = system.n_coordinates
    for k, coordinate in enumerate(system.model.assembly.coordinates):
        position, rate = channel_names(coordinate)
        if coordinate.type == "rotor":
            if not coordinate.name.endswith(".motor"):
                optional.append((rate, 10 + c + k))
        elif coordinate.role in ("motion", "torque"):
            needed += [(position, 10 + k), (rate, 10 + c + k)]
        elif coordinate.role == "passive":
            optional += [(position, 10 + k), (rate, 10 + c + k)]
        elif coordinate.role != "locked":  # which stays where it is
            raise IdentificationError(
                f"{coordinate.name} has the role {coordinate.role!r}; expected motion, torque,"
                " passive or locked",
                code="option.choice",
            )
    return needed, optional


def needed_names(model: Model) -> list[str]:
    """The channels that every sample must have."""
    return [name for name, _ in _channel_places(flatten(model))[0]]


def _remedy(name: str, present: Iterable[str]) -> str:
    close = likeliest(name, present)
    if close:
        return f"there is {close!r}: rename it if that is what it is"
    if name.endswith(".velocity"):
        return "add the joint's rate; live, an encoder alone is not differentiated"
    return "add it, or identify afterwards from a recording"


def likeliest(name: str, known: Iterable[str]) -> str:
    """The known name that was meant, or nothing.

    >>> likeliest("base.rates.x", ["base.rate.x", "base.rate.y"])
    'base.rate.x'
    >>> likeliest("arm_7.position", ["arm_1.position"])
    ''
    """
    digits = [c for c in name if c.isdigit()]  # another number is another part, not a slip
    alike = [other for other in known if [c for c in other if c.isdigit()] == digits]
    return next(iter(closest(name, alike, likeness=0.8)), "")


def _home(system: System) -> Array:
    coordinates = system.model.assembly.coordinates
    home = np.zeros(10 + 2 * len(coordinates))
    home[6] = 1.0
    for k, coordinate in enumerate(coordinates):
        home[10 + k], home[10 + len(coordinates) + k] = coordinate.home, coordinate.speed
    return home


def _source(name: str, place: int) -> slice | int:
    """The sources of error that a channel has, of those in sigma."""
    if name.startswith("base.attitude."):
        return slice(3, 6)
    if name == "base.angle":
        return 5
    return place if place < 3 else place - 1


def _sigma(
    system: System, wanted: Sequence[tuple[str, int]], noise: Mapping[str, float]
) -> tuple[Array, list[str]]:
    """Deviations by source of error, and the channels that are said to be (almost) exact."""
    sigma = np.zeros(9 + 2 * system.n_coordinates)
    unknown, exact = [], []
    for name, place in wanted:
        source = _source(name, place)
        size = noise.get(name, noise.get("base.attitude", -1.0) if 3 <= place < 7 else -1.0)
        if not 0.0 <= size < np.inf:
            unknown.append(name)
        if size < FINEST:
            exact.append(name)
        sigma[source] = max(size, FINEST)
    if unknown:
        raise IdentificationError(
            f"the noise of {listing(unknown, most=4)} is not known; give noise={{channel:"
            " deviation}, or a [[sensor]] with its noise in the model file; on the command line,"
            f" each STD a number in SI units: {_noise_options(unknown)}",
            code="noise.missing",
        )
    return sigma, exact


def _noise_options(unknown: Sequence[str]) -> str:
    """The options that state deviations, one for the axes of a vector, ready to be copied."""
    groups = {name: ChannelName.parse(name) for name in unknown}
    globs = [f"{one.group}.*" if one.axis else name for name, one in groups.items()]
    return " ".join(f"--noise '{glob}=STD'" for glob in dict.fromkeys(globs))


def _exact_note(names: Sequence[str]) -> Note:
    """What is said of channels without noise."""
    shown = listing(names, most=3)
    text = (
        f"noise of {shown} stated as (almost) none: standard deviations are those of rounding and"
        " of integrating between samples"
    )
    return Note("channel.noise_free", text)


def slow_rate_notes(what: str, step: float, slowest: float) -> tuple[Note, ...]:
    """What is to be said of so many seconds between readings; nothing if they are close enough.

    slowest [Hz]: below, arms move too far from one sample to the next for momentum to be followed.

    >>> slow_rate_notes("samples come", 0.5, 5.0)[0].code
    'rate.too_slow'
    >>> slow_rate_notes("samples come", 0.2, 5.0)
    ()
    """
    if step * slowest * 0.95 <= 1.0:  # 5 %: dropped samples are no rate
        return ()
    rate = f"{1.0 / step:.2g}"
    times = "1 time" if rate == "1" else f"{rate} times"
    text = (
        f"{what} {times} a second: momentum is not followed from one to the next"
        f" below {slowest:g} Hz; sample faster, or identify from the recording"
    )
    return (Note("rate.too_slow", text),)


def noise_of_sensors(model: Model) -> dict[str, float]:
    """Channels that the model's sensors report, with their noise."""
    told: dict[str, float] = {}
    for sensor, names in _momentum_sensors(model):
        coloured = sensor.coloured.sigma if sensor.coloured is not None else 0.0
        size = hypot(sensor.noise, coloured, sensor.quantisation / sqrt(12.0))
        told.update(dict.fromkeys(names, size))
    return told


def _momentum_sensors(model: Model) -> Iterator[tuple[Sensor, list[str]]]:
    """Sensors of what momentum is made of, with their channels."""
    for sensor in model.sensors:
        targets = sensor_targets(model, sensor)
        if sensor.kind in BODY_KINDS and model.root.body in targets:
            field = BODY_KINDS[sensor.kind]
            base = sensor.channel or f"base.{field}"
            axes = (*XYZ, "w") if field == "attitude" else XYZ
            names = [f"{base}.{axis}" for axis in axes]
            yield sensor, [*names, "base.angle"] if field == "attitude" else names
        elif sensor.kind in JOINT_KINDS:
            yield sensor, [f"{name}.{JOINT_KINDS[sensor.kind]}" for name in targets]


def channel_rates(model: Model, like: Telemetry | None, names: Sequence[str]) -> dict[str, float]:
    """Readings per second of the channels: of a recording like it, or of the model's sensors."""
    if like is None:
        told = {name: sensor.rate for sensor, own in _momentum_sensors(model) for name in own}
        return {name: told[name] for name in names if told.get(name)}
    spans = {name: like[name].time for name in names if name in like}
    return {
        name: (len(time) - 1) / float(time[-1] - time[0])
        for name, time in spans.items()
        if len(time) > 1 and time[-1] > time[0]
    }


def noise_of_recording(flight: Telemetry) -> dict[str, float]:
    """The channels of a recording with their noise; -1 where it does not say."""
    return {
        name: -1.0 if channel.noise is None else channel.noise
        for name, channel in flight.channels.items()
    }


def known_channels(
    model: Model, like: Telemetry | None, noise: Mapping[str, float] | None
) -> tuple[list[str], dict[str, float]]:
    """Channels that samples have, and the deviations of those that are known.

    Those of `noise` count before those of `like`, and these before the model's sensors'.
    """
    told = noise_of_sensors(model)
    known = dict(told) if like is None else noise_of_recording(like)
    sizes = told | {n: s for n, s in known.items() if s >= 0.0} | dict(noise or {})
    return [*known, *(noise or {})], sizes
