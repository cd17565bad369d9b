"""Telemetry in the form the linear families want: everything at the same instants, in arrays.

What was measured is taken as it is; joint rates that were not are taken from a smoothing spline
through the encoders. What is neither measured nor derivable stays None, and the family that needs
it says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.telemetry.align import resample
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.smoothing import smooth

XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class Samples:
    """A recording at N common instants.

    attitude (N, 4), rate (N, 3) in root axes, position and velocity (N, 3) in world axes, q and dq
    (N, c), torque (N, c), wrench (N, 6): known torque and force on the root's origin, world axes;
    thrust (N, thrusters) [N], each level counting until the next instant.
    noise: standard deviation of each of these by name, where known.
    """

    time: Array
    attitude: Array | None
    rate: Array | None
    position: Array | None
    velocity: Array | None
    q: Array
    dq: Array
    torque: Array | None
    wrench: Array
    thrust: Array
    noise: dict[str, float]
    notes: tuple[str, ...]

    @property
    def rotation(self) -> Array:
        """Root to world (N, 3, 3)."""
        assert self.attitude is not None
        return rotations(np.hstack([np.zeros((len(self.time), 3)), self.attitude]))

    def need(self, family: str, *fields: str) -> None:
        """Raise IdentificationError naming every measurement `family` lacks."""
        missing = [field for field in fields if getattr(self, field) is None]
        if missing:
            channels = {"attitude": "base.attitude.* or base.angle", "torque": "<joint>.torque"}
            wanted = ", ".join(channels.get(field, f"base.{field}.*") for field in missing)
            raise IdentificationError(
                f"the {family} family needs channels the recording does not have: {wanted}"
            )


def samples_of(system: System, telemetry: Telemetry) -> Samples:
    """The recording of `telemetry` at the instants of its gyro (or of its first joint)."""
    time = _instants(system, telemetry)
    table = resample(telemetry, times=time)
    is_good = np.ones(len(time), dtype=bool)
    notes: list[str] = []
    noise: dict[str, float] = {}
    found: dict[str, Array | None] = {}
    for field in ("rate", "position", "velocity"):
        found[field] = _vector(table, field, is_good, noise, is_planar=_is_planar(system))
    found["attitude"] = _attitude(table, is_good, noise)
    q, dq = _coordinates(system, telemetry, table, is_good, noise, notes)
    torque = _torques(system, table, is_good, noise)
    wrench = _wrench(table, is_good)
    thrust = _thrust(system, telemetry, time)
    if is_good.sum() < 3:
        raise IdentificationError(
            f"only {int(is_good.sum())} instants have every channel; at least 3 are needed: look"
            " at the recording with freefloat.quality"
        )
    if not is_good.all():
        notes.append(f"{int((~is_good).sum())} of {len(time)} instants left out: a channel is gone")
    cut = {name: None if part is None else part[is_good] for name, part in found.items()}
    return Samples(
        time[is_good],
        **cut,
        q=q[is_good],
        dq=dq[is_good],
        torque=None if torque is None else torque[is_good],
        wrench=wrench[is_good],
        thrust=thrust[is_good],
        noise=noise,
        notes=tuple(notes),
    )


def _is_planar(system: System) -> bool:
    return system.model.root.type == "planar"


def _instants(system: System, telemetry: Telemetry) -> Array:
    joints = [f"{name}.position" for name in system.coordinates]
    for name in ("base.rate.z", "base.rate.x", *joints):
        if name in telemetry:
            channel = telemetry[name]
            return channel.time[channel.valid]
    raise IdentificationError(
        "the recording has neither base.rate.* nor any joint position; channels: "
        + ", ".join(telemetry.names[:8])
    )


def _column(table: Telemetry, name: str, is_good: np.ndarray) -> Array:
    channel = table[name]
    is_good &= channel.valid
    return np.where(channel.valid, channel.values, 0.0)


def _vector(
    table: Telemetry, field: str, is_good: np.ndarray, noise: dict[str, float], *, is_planar: bool
) -> Array | None:
    """Three columns of the base; a planar root may leave out what it cannot do."""
    names = [f"base.{field}.{axis}" for axis in XYZ]
    wanted = ([2] if field == "rate" else [0, 1]) if is_planar else [0, 1, 2]
    if not all(names[k] in table for k in wanted):
        return None
    out = np.zeros((len(table.instants), 3))
    for k in range(3):
        if names[k] in table and k in wanted:
            out[:, k] = _column(table, names[k], is_good)
    if (level := table[names[wanted[0]]].noise) is not None:
        noise[field] = level
    return out


def _attitude(table: Telemetry, is_good: np.ndarray, noise: dict[str, float]) -> Array | None:
    if "base.angle" in table:
        angle = _column(table, "base.angle", is_good)
        if (level := table["base.angle"].noise) is not None:
            noise["attitude"] = level
        zero = np.zeros_like(angle)
        return np.column_stack([zero, zero, np.sin(angle / 2.0), np.cos(angle / 2.0)])
    names = [f"base.attitude.{axis}" for axis in "xyzw"]
    if not all(name in table for name in names):
        return None
    q = np.column_stack([_column(table, name, is_good) for name in names])
    if (level := table[names[0]].noise) is not None:
        noise["attitude"] = level
    size = np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(size > 0.0, q / np.where(size > 0, size, 1.0), [0.0, 0.0, 0.0, 1.0])


def _coordinates(
    system: System,
    telemetry: Telemetry,
    table: Telemetry,
    is_good: np.ndarray,
    noise: dict[str, float],
    notes: list[str],
) -> tuple[Array, Array]:
    n, c = len(table.instants), system.n_coordinates
    q, dq = np.zeros((n, c)), np.zeros((n, c))
    for k, coordinate in enumerate(system.model.assembly.coordinates):
        name = coordinate.name
        position, velocity = f"{name}.position", f"{name}.velocity"
        if name.endswith(".motor"):
            joint = name.removesuffix(".motor")
            position, velocity = f"{joint}.motor_position", f"{joint}.motor_velocity"
        if coordinate.type == "rotor" and f"{name}.speed" in table:
            dq[:, k] = _column(table, f"{name}.speed", is_good)
            continue
        q[:, k] = coordinate.home
        if position in table:
            q[:, k] = _column(table, position, is_good)
            noise.setdefault("q", table[position].noise or 0.0)
        elif coordinate.role in ("motion", "torque") and coordinate.type != "rotor":
            raise IdentificationError(f"the recording has no channel {position}")
        if velocity in table:
            dq[:, k] = _column(table, velocity, is_good)
            noise.setdefault("dq", table[velocity].noise or 0.0)
        elif position in table:
            encoder = telemetry[position]
            curve = smooth(*encoder.usable(), noise=encoder.noise)
            dq[:, k] = np.ravel(curve.rate(table.instants))
            notes.append(f"{name}: rate from a smoothing spline through the encoder")
    return q, dq


def _torques(
    system: System, table: Telemetry, is_good: np.ndarray, noise: dict[str, float]
) -> Array | None:
    names = [f"{name}.torque" for name in system.coordinates]
    if not any(name in table for name in names):
        return None
    out = np.full((len(table.instants), len(names)), np.nan)
    for k, name in enumerate(names):
        if name in table:
            out[:, k] = _column(table, name, is_good)
            noise.setdefault("torque", table[name].noise or 0.0)
    return out


def _wrench(table: Telemetry, is_good: np.ndarray) -> Array:
    """The commanded wrench on the root: torque about and force at its origin, world axes."""
    out = np.zeros((len(table.instants), 6))
    parts = [f"base.torque.{axis}" for axis in XYZ] + [f"base.force.{axis}" for axis in XYZ]
    for k, name in enumerate(parts):
        if name in table:
            out[:, k] += _column(table, name, is_good)
    return out


def _thrust(system: System, telemetry: Telemetry, time: Array) -> Array:
    """Thruster levels (N, thrusters) [N], each counting until the next sample: valves switch."""
    names = [f"{thruster.name}.force" for thruster in system.model.thrusters]
    present = [name for name in names if name in telemetry]
    out = np.zeros((len(time), len(names)))
    if present:
        held = resample(telemetry.select(present), times=time, method="hold")
        for k, name in enumerate(names):
            if name in held:
                out[:, k] = np.where(held[name].valid, held[name].values, 0.0)
    if any(out[:, k].any() and system.tree.thruster_link[k] != 0 for k in range(len(names))):
        raise IdentificationError("thrusters on moving links are not supported by this family yet")
    return out
