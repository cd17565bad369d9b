"""From telemetry to samples: common instants, known inputs, and the noise of every channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.linear_options import DEFAULTS
from freefloat.identification.linear.samples import NoiseSource, Samples
from freefloat.notes import Note
from freefloat.telemetry.channel import MAD, estimate_noise, noise_floor
from freefloat.telemetry.names import XYZ, channel_names, motor_channel
from freefloat.telemetry.resample import resample
from freefloat.telemetry.smoothing import smooth
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import MEAN, THRUST, mean_levels, open_levels
from freefloat.text import listing

LEAST_INSTANTS = 4  # theory: what a cubic through the samples takes
BASE_FIELDS = ("rate", "velocity", "acceleration", "attitude")


def samples_of(
    system: System, telemetry: Telemetry, fields: Sequence[str] = (*BASE_FIELDS, "torque")
) -> Samples:
    """The recording at the instants of the slowest channel that is wanted.

    Between its samples a channel tells nothing new, and its errors would be counted many times
    over. `fields`: what is wanted of base rate, velocity, acceleration, attitude and joint torque.
    """
    return _SampleReader(system, telemetry, fields).read()


class _SampleReader:
    """Collects columns, their errors and which instants have everything."""

    def __init__(self, system: System, telemetry: Telemetry, fields: Sequence[str]) -> None:
        self.system, self.telemetry, self.fields = system, telemetry, fields
        self.notes: list[Note] = []
        self.time = self._instants()
        self.table = resample(telemetry, times=self.time)
        self.is_good = np.ones(len(self.time), dtype=bool)
        self.sources: list[NoiseSource] = []
        self.guessed: list[str] = []
        self.derived: list[int] = []
        self.doubt = 0.0  # [N^2 s^2]

    def read(self) -> Samples:
        """Everything the telemetry has for this system."""
        is_planar = self.system.model.root.type == "planar"
        found: dict[str, Any] = {
            "rate": self._vector("rate", [2] if is_planar else [0, 1, 2]),
            "velocity": self._vector("velocity", [0, 1] if is_planar else [0, 1, 2]),
            "acceleration": self._vector("acceleration", [0, 1] if is_planar else [0, 1, 2]),
            "attitude": self._attitude(),
        }
        q, dq = self._coordinates()
        samples = Samples(
            self.time, **found, q=q, dq=dq, torque=self._torques(), wrench=self._wrench(),
            thrust=self._thrust(), sources=tuple(self.sources), is_noise_known=not self.guessed,
            derived=tuple(self.derived), switching=float(np.sqrt(self.doubt)),
        )  # fmt: skip
        n_bad = int(np.sum(~self.is_good))
        if len(self.time) - n_bad < LEAST_INSTANTS:
            raise IdentificationError(
                f"only {len(self.time) - n_bad} instants have every channel; at least"
                f" {LEAST_INSTANTS} are needed: look at the recording with `freefloat telemetry`",
                code="samples.few",
            )
        if n_bad:
            text = f"{n_bad} of {len(self.time)} instants dropped: a channel has no valid sample"
            self.notes.append(Note("samples.dropped", text))
        if self.guessed:
            text = "noise estimated from the data, none was given"
            self.notes.append(Note("noise.estimated", f"{text}: {listing(self.guessed, most=3)}"))
        kept = replace(samples.select(self.is_good), notes=tuple(self.notes))
        return replace(kept, thrust=thrust_between(samples, kept.time))

    def _instants(self) -> Array:
        """The times of the slowest wanted channel, among those of the base and the joints."""
        wanted = [f"base.{field}." for field in self.fields]
        wanted += ["base.angle"] * ("attitude" in self.fields)
        wanted += self._torque_names() if "torque" in self.fields else []
        for coordinate in self.system.model.assembly.coordinates:
            wanted += channel_names(coordinate) if coordinate.type != "rotor" else ()
        found = [c for n, c in self.telemetry.channels.items() if n.startswith(tuple(wanted))]
        found = [channel for channel in found if channel.valid.sum() > 1]
        if not found:
            raise IdentificationError(
                "the recording has neither base.rate.* nor any joint position; channels: "
                + ", ".join(self.telemetry.names[:8]),
                code="channel.missing",
            )
        slowest = min(found, key=lambda channel: channel.rate)
        fastest = max(found, key=lambda channel: channel.rate)
        if fastest.rate > 1.5 * slowest.rate:
            text = f"sampled as {slowest.name} ({slowest.rate:.3g} Hz), the slowest channel"
            self.notes.append(Note("samples.slowest_channel", text))
        return slowest.time[slowest.valid]

    def _column(self, name: str, field: str = "", column: int = 0) -> Array:
        """A channel's values; with a field, its error is one of the samples' sources."""
        channel = self.table[name]
        self.is_good &= channel.valid
        if field:
            size = self._noise(name)
            self.sources.append(NoiseSource(((field, column, size),)))
        return np.where(channel.valid, channel.values, 0.0)

    def _noise(self, name: str) -> float:
        channel = self.table[name]
        if channel.noise is not None:
            return max(channel.noise, noise_floor(channel))
        self.guessed.append(name)
        return max(estimate_noise(self.telemetry[name]), noise_floor(channel))

    def _vector(self, field: str, wanted: list[int]) -> Array | None:
        """Three columns of the base; a planar root has no others than the wanted ones."""
        names = [f"base.{field}.{axis}" for axis in XYZ]
        if field not in self.fields or not all(names[k] in self.table for k in wanted):
            return None
        out = np.zeros((len(self.time), 3))
        for k in wanted:
            out[:, k] = self._column(names[k], field, k)
        return out

    def _attitude(self) -> Array | None:
        if "attitude" not in self.fields:
            return None
        if "base.angle" in self.table:
            angle = self._column("base.angle", "attitude", 2)
            zero = np.zeros_like(angle)
            return np.column_stack([zero, zero, np.sin(angle / 2.0), np.cos(angle / 2.0)])
        names = [f"base.attitude.{axis}" for axis in "xyzw"]
        if not all(name in self.table for name in names):
            return None
        quaternion = np.column_stack([self._column(name) for name in names])
        # the channel's noise is that of the rotation about an axis; a guess is of components
        factor = 1.0 if self.table[names[0]].noise is not None else 2.0
        size = factor * max(self._noise(name) for name in names[:3])
        self.sources += [NoiseSource((("attitude", k, size),)) for k in range(3)]
        length = np.linalg.norm(quaternion, axis=1, keepdims=True)
        is_turn = length > 0.0
        return np.where(is_turn, quaternion / np.where(is_turn, length, 1.0), [0.0, 0.0, 0.0, 1.0])

    def _coordinates(self) -> tuple[Array, Array]:
        n, c = len(self.time), self.system.n_coordinates
        q, dq = np.zeros((n, c)), np.zeros((n, c))
        for k, coordinate in enumerate(self.system.model.assembly.coordinates):
            position, velocity = channel_names(coordinate)
            q[:, k], dq[:, k] = coordinate.home, coordinate.speed
            if position in self.table:
                q[:, k] = self._column(position, "q", k)
            elif coordinate.role in ("motion", "torque") and coordinate.type != "rotor":
                raise IdentificationError(
                    f"the recording has no channel {position}; every driven joint needs one",
                    code="channel.missing",
                )
            elif coordinate.role == "passive":
                text = f"{position} is not recorded: taken as rigid at {q[0, k]:g}"
                self.notes.append(Note("samples.taken_as_rigid", text))
            if velocity in self.table:
                dq[:, k] = self._column(velocity, "dq", k)
            elif position in self.table:
                dq[:, k] = self._rate_from(position, k)
            elif coordinate.type == "rotor" and not coordinate.name.endswith(".motor"):
                text = f"{velocity} is not recorded: taken as {coordinate.speed:g} rad/s"
                self.notes.append(Note("samples.speed_assumed", text))
        return q, dq

    def _rate_from(self, name: str, k: int) -> Array:
        """The derivative of a smoothing spline through an encoder that has no rate beside it."""
        encoder = self.telemetry[name]
        curve = smooth(*encoder.usable(), noise=encoder.noise)
        self.derived.append(k)
        return np.ravel(curve.rate(self.time))

    def _torque_names(self) -> list[str]:
        """The channels of `Samples.torque`."""
        names = self.system.coordinates
        # behind a flexible drive the motor has a coordinate of its own
        motors = ("" if f"{name}.motor" in names else motor_channel(name) for name in names)
        return [*(f"{name}.torque" for name in names), *motors]

    def _torques(self) -> Array | None:
        names = self._torque_names()
        if "torque" not in self.fields or not any(name in self.table for name in names):
            return None
        out = np.full((len(self.time), len(names)), np.nan)
        for k, name in enumerate(names):
            if name in self.table:
                out[:, k] = self._column(name, "torque", k)
        return out

    def _wrench(self) -> Array:
        """The commanded wrench on the root: torque about and force at its origin, world axes."""
        out = np.zeros((len(self.time), 6))
        parts = [f"base.{kind}.{axis}" for kind in ("torque", "force") for axis in XYZ]
        for k, name in enumerate(parts):
            if name in self.table:
                out[:, k] += self._column(name)
        return out

    def _thrust(self) -> Array:
        """Thruster levels (N, thrusters) [N]: the mean from each instant to the next."""
        thrusters = self.system.model.thrusters
        out = np.zeros((len(self.time), len(thrusters)))
        for k, thruster in enumerate(thrusters):
            if f"{thruster.name}.force" in self.telemetry:
                channel = self.telemetry[f"{thruster.name}.force"]
                time, level = channel.usable()
                level = open_levels(level, channel.noise or 0.0)
                out[:, k] = mean_levels(time, level, self.time)
                # a level at an instant tells of a switch in the step before: dt / sqrt(12)
                step = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
                if self.telemetry.metadata.get(THRUST) != MEAN:
                    self.doubt += step**2 / 12.0 * float(np.sum(np.diff(level) ** 2))
        moving = self.system.tree.thruster_link[: len(thrusters)] != 0
        if out[:, moving].any():
            raise IdentificationError(
                "thrusters on moving links fired; the linear families take forces on the bus only",
                code="method.link_thrusters",
            )
        return out


def thrust_between(samples: Samples, instants: Array) -> Array:
    """The thrust of samples, averaged from each of fewer instants to the next."""
    columns = [mean_levels(samples.time, level, instants) for level in samples.thrust.T]
    return np.reshape(columns, (-1, len(instants))).T.copy()


def without_spikes(samples: Samples, sigmas: float) -> Samples:
    """The recording without instants at which a channel jumps away by `sigmas` and back again."""
    is_wild = np.zeros(len(samples.time), dtype=bool)
    for source in samples.sources:
        for field, column, size in source.parts:
            table = getattr(samples, field)
            is_wild |= spikes(table[:, column], size if field != "attitude" else 0.5 * size, sigmas)
    if not is_wild.any():
        return samples
    kept = samples.select(np.flatnonzero(~is_wild))
    note = Note("samples.spikes_dropped", f"{int(is_wild.sum())} instants dropped: lone outliers")
    thrust = thrust_between(samples, kept.time)
    return replace(kept, thrust=thrust, notes=(*samples.notes, note))


def spikes(values: Array, noise: float, sigmas: float = DEFAULTS.spike_sigmas) -> np.ndarray:
    """Where a value is far from the cubic through its four neighbours, and farther than those are.

    >>> x = np.sin(np.linspace(0.0, 3.0, 50))
    >>> x[20] += 0.5
    >>> np.flatnonzero(spikes(x, 0.01)).tolist()
    [20]
    """
    if len(values) < 7:
        return np.zeros(len(values), dtype=bool)
    weights = np.array([-1.0, 4.0, 0.0, 4.0, -1.0]) / 6.0
    away = np.zeros(len(values))
    away[2:-2] = np.abs(values[2:-2] - np.convolve(values, weights, mode="valid"))
    # the residual of white noise is 1.39 times as large; of a smooth curve, its fourth derivative
    usual = max(1.4 * noise, MAD * float(np.median(away)))
    peak = np.lib.stride_tricks.sliding_window_view(np.pad(away, 2), 5).max(axis=1)
    return (away > sigmas * usual) & (away >= peak)
