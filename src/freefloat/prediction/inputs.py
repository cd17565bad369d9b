"""What drives the simulation of a recording: joints from their encoders, wheels, thrust, wrench.

Torque-driven coordinates whose position is recorded are driven by that motion instead, which makes
the prediction independent of friction and of the controller; their torque is then predicted. With
a plan, everything comes from the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.commands import WRENCH
from freefloat.excitation.plan import Plan
from freefloat.model.assembly import Coordinate
from freefloat.model.model import Model
from freefloat.model.parts import Joint
from freefloat.notes import Note
from freefloat.prediction.joint_motion import LEAST_SAMPLES, smooth_motion, smooth_together
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import is_held, mean_levels, open_levels
from freefloat.text import listing

Motion = Callable[[Array], tuple[Array, Array, Array]]


class Tabulate(Protocol):
    """Input tables at times [s] (rows, 3); nothing but those of one owner where one is named."""

    def __call__(self, times: Array, owner: str = "", /) -> Inputs:
        """The tables."""
        ...


@dataclass(frozen=True)
class InputSource:
    """Where the inputs of a simulation come from: a plan, or what was recorded.

    model: with the coordinates prescribed whose motion is an input. tabulate: the input tables
    at any times. first and last [s]: where they are known. margins [s]: at
    either end, where smoothed motion is worse than in between. notes: what was assumed. held: the
    torques that jump from sample to sample, as thrust does.
    """

    model: Model
    tabulate: Tabulate
    first: float
    last: float
    notes: tuple[str, ...] = ()
    margins: tuple[float, float] = (0.0, 0.0)
    held: frozenset[str] = frozenset()

    @cached_property
    def system(self) -> System:
        """The model's arrays, at its own numbers."""
        return flatten(self.model)


def inputs_from_plan(model: Model, plan: Plan) -> InputSource:
    """Everything as the plan says."""
    if plan.control is not None:
        raise IdentificationError(
            "a closed-loop plan cannot be flown again open loop; leave plan= out, so that the"
            " recorded joint motion drives the prediction",
            code="plan.closed_loop",
        )
    plan.check(model)
    tables = plan.inputs(flatten(model))
    return InputSource(model, lambda times, _owner="": tables(times), 0.0, plan.duration)


def with_prescribed(model: Model, names: Sequence[str]) -> Model:
    """The model with the named coordinates prescribed."""
    wanted = set(names)
    joints = []
    for joint in model.joints:
        if joint.name in wanted:
            joint = replace(joint, role="motion")
        if joint.drive is not None and f"{joint.name}.motor" in wanted:
            joint = replace(joint, drive=replace(joint.drive, role="motion"))
        joints.append(joint)
    wheels = (replace(w, role="motion") if w.name in wanted else w for w in model.wheels)
    return replace(model, joints=tuple(joints), wheels=tuple(wheels))


def lock_unrecorded(
    model: Model, recordings: Sequence[Telemetry]
) -> tuple[Model, tuple[Note, ...]]:
    """The model with joints locked at home of which no recording has a channel, and a note.

    Where no driven joint is recorded at all, the recording is of something else: nothing is locked.
    """
    known = {name for recording in recordings for name in recording.names}
    driven = [joint for joint in model.joints if joint.type != "fixed" and joint.drive is None
              and joint.role == "motion"]  # fmt: skip
    silent = [joint.name for joint in driven
              if not any(name.startswith(f"{joint.name}.") for name in known)]  # fmt: skip
    if not silent or len(silent) == len(driven):
        return model, ()
    joints = (replace(j, role="locked") if j.name in silent else j for j in model.joints)
    text = f"not recorded, so locked at home: {listing(silent)}"
    return replace(model, joints=tuple(joints)), (Note("inputs.joints_locked", text),)


def drive_by_recording(model: Model, telemetry: Telemetry) -> Model:
    """The model as a recording drives it: torque-driven coordinates follow their encoders.

    Of those without one, what was recorded acts behind springs, friction and rotor of the joint,
    which are in it already.
    """
    model, _ = lock_unrecorded(model, [telemetry])
    driven = [c for c in model.assembly.coordinates if c.role == "torque"]
    recorded = [c.name for c in driven if any(name in telemetry for name in channel_names(c))]
    blind = {c.name for c in driven if torque_channel(c.name) in telemetry} - {*recorded}
    joints = tuple(_without_inside(j) if j.name in blind else j for j in model.joints)
    return with_prescribed(replace(model, joints=joints), recorded)


def _without_inside(joint: Joint) -> Joint:
    """A joint whose torque is known behind all that is inside of it."""
    return replace(joint, stiffness=0.0, damping=0.0, friction=0.0, armature=0.0)


def inputs_from_telemetry(
    model: Model, telemetry: Telemetry, *, margin: float = 0.025
) -> InputSource:
    """Joints and wheels as recorded and smoothed, thrust and wrench as recorded.

    Smoothed accelerations are 4 to 16 times worse where samples lie on one side only: within half
    a period of what the smoothing lets pass. margin: at most this share of the recording may be
    left out for it, at each end.
    """
    notes: list[str] = [*lock_unrecorded(model, [telemetry])[1]]
    model = drive_by_recording(model, telemetry)
    system = flatten(model)
    given = [model.assembly.coordinates[i] for i in system.tree.given]
    smooth_together(telemetry, [channel_names(coordinate) for coordinate in given])
    parts = [_motion(coordinate, telemetry, notes) for coordinate in given]
    spans = [*(part.span for part in parts if part.span), (telemetry.start, telemetry.end)]
    efforts = recorded_efforts(system, telemetry, notes)
    push = thrust_and_wrench(model, telemetry)
    gains = np.zeros((system.n_coordinates, 3))
    gains[:, 2] = np.inf

    names = [system.coordinates[i] for i in system.tree.given]

    def tabulate(times: Array, owner: str = "") -> Inputs:
        motion = np.zeros((len(times), 3, len(parts), 3))
        for k, part in enumerate(parts):
            if owner in ("", names[k]):
                motion[:, :, k] = np.stack(part.at(times), axis=-1)
        return Inputs(motion, efforts(times, owner), push(times, owner), gains)

    first, last = max(a for a, _ in spans), min(b for _, b in spans)
    if not last > first:
        raise IdentificationError(
            "the channels that drive the simulation have no time in common; look at the recording"
            " with `freefloat telemetry`",
            code="telemetry.overlap",
        )
    most = margin * (last - first)
    margins = _margins([part for part in parts if part.span], first, last, most)
    held = frozenset(name for name in driving_torques(model) if is_held(telemetry, name))
    return InputSource(model, tabulate, first, last, tuple(dict.fromkeys(notes)), margins, held)


@dataclass(frozen=True)
class _JointMotion:
    """The motion of a coordinate, where it is known [s], and how long its ends are worse [s]."""

    at: Motion
    span: tuple[float, float] | None = None
    margin: float = 0.0


def _margins(
    courses: Sequence[_JointMotion], first: float, last: float, most: float
) -> tuple[float, float]:
    """What to leave out at either end [s]: as much as any motion asks for, but not too much."""
    before = [c.span[0] + min(c.margin, most) - first for c in courses if c.span]
    after = [last - c.span[1] + min(c.margin, most) for c in courses if c.span]
    return max([0.0, *before]), max([0.0, *after])


def _motion(coordinate: Coordinate, telemetry: Telemetry, notes: list[str]) -> _JointMotion:
    position, velocity = channel_names(coordinate)
    if coordinate.type == "rotor" and velocity in telemetry and position not in telemetry:
        return _recorded_motion(telemetry, velocity, is_speed=True)
    if position in telemetry:
        return _recorded_motion(telemetry, position, velocity, is_speed=False)
    if coordinate.role == "motion" and coordinate.type != "rotor":
        raise IdentificationError(
            f"the recording has no channel {position}; every driven joint needs one, or give plan=",
            code="channel.missing",
        )
    if coordinate.speed:
        text = f"{velocity} is not recorded: taken as {coordinate.speed:g} rad/s"
        notes.append(Note("inputs.speed_assumed", text))
    home, speed = coordinate.home, coordinate.speed
    return _JointMotion(lambda t: (home + speed * t, np.full_like(t, speed), np.zeros_like(t)))


def _recorded_motion(
    telemetry: Telemetry, name: str, velocity: str = "", *, is_speed: bool
) -> _JointMotion:
    """The motion behind an encoder's samples, or behind the speed of a wheel.

    Of a wheel only the speed counts: an axisymmetric rotor looks the same at any angle.
    """
    channel = telemetry[name]
    time, _ = channel.usable()
    if len(time) < LEAST_SAMPLES:
        raise IdentificationError(
            f"{channel.name} has {len(time)} usable samples; at least {LEAST_SAMPLES} are needed to"
            " drive the simulation",
            code="samples.few",
        )
    curve = smooth_motion(telemetry, name, velocity)
    middle = curve.value(0.5 * (time[:-1] + time[1:]))
    if not np.all(np.isfinite(middle)):
        gap = time[np.argmin(np.isfinite(middle))]
        raise IdentificationError(
            f"{channel.name} has a gap after t = {gap:g} s too long to bridge; cut the recording"
            f" there (`telemetry.split(at=[{gap:g}])`), or give plan=",
            code="samples.gaps",
        )
    span = float(time[0]), float(time[-1])

    def at(t: Array) -> tuple[Array, Array, Array]:
        inside = np.clip(t, *span)
        if is_speed:
            return np.zeros_like(t), curve.value(inside), curve.rate(inside)
        return curve.all(inside)

    return _JointMotion(at, span, 0.5 / float(curve.cutoff[0]))


def driving_torques(model: Model) -> set[str]:
    """The torque channels that drive a model in place of the motion of their coordinates."""
    coordinates = model.assembly.coordinates
    return {torque_channel(c.name) for c in coordinates if c.role == "torque"}


def torque_channel(coordinate: str) -> str:
    """The channel of the torque on a coordinate.

    >>> torque_channel("arm_1"), torque_channel("arm_1.motor")
    ('arm_1.torque', 'arm_1.motor_torque')
    """
    joint = coordinate.removesuffix(".motor")
    return f"{joint}.torque" if joint == coordinate else f"{joint}.motor_torque"


def recorded_efforts(
    system: System, telemetry: Telemetry, notes: list[str]
) -> Callable[[Array, str], Array]:
    """Recorded torques of the torque-driven coordinates whose motion is not recorded."""
    found: dict[int, Channel] = {}
    for c, coordinate in enumerate(system.model.assembly.coordinates):
        if coordinate.role != "torque":
            continue
        name = coordinate.name
        channel = torque_channel(name)
        if channel not in telemetry:
            raise IdentificationError(
                f"neither the motion nor the torque of {name} is recorded ({channel}); give plan=",
                code="channel.missing",
            )
        text = f"{name} is driven by the recorded {channel}"
        notes.append(Note("inputs.recorded_torque", text))
        found[c] = telemetry[channel]

    def tabulate(times: Array, owner: str) -> Array:
        table = np.zeros((len(times) if found else 1, 3, system.n_coordinates, 3))
        for c, channel in found.items():
            if owner not in ("", channel.name):
                continue
            time, level = channel.usable()
            if is_held(telemetry, channel.name):
                table[:, :, c, 0] = _held_levels(time, level, times)
            else:
                table[:, :, c, 0] = np.interp(times, time, level)
        return table

    return tabulate


def open_thrust(telemetry: Telemetry, thruster: str) -> tuple[Array, Array] | None:
    """Instants [s] and levels [N] of a thruster without the noise of a closed valve.

    None where nothing is recorded or the valve never opens.
    """
    if f"{thruster}.force" not in telemetry:
        return None
    channel = telemetry[f"{thruster}.force"]
    time, level = channel.usable()
    level = open_levels(level, channel.noise or 0.0)
    return (time, level) if level.any() else None


def thrust_and_wrench(model: Model, telemetry: Telemetry) -> Callable[[Array, str], Array]:
    """Thrust and wrench averaged over every step, so that impulses are exact."""
    n = len(model.thrusters)
    levels: dict[int, tuple[Array, Array]] = {}
    for k, thruster in enumerate(model.thrusters):
        thrust = open_thrust(telemetry, thruster.name)
        if thrust is not None:
            levels[k] = thrust
    for k, name in enumerate(WRENCH):
        if f"base.{name}" in telemetry and np.any(telemetry[f"base.{name}"].usable()[1]):
            levels[n + k] = telemetry[f"base.{name}"].usable()

    owners = [thruster.name for thruster in model.thrusters]
    owners += [f"base.{name.partition('.')[0]}" for name in WRENCH]

    def tabulate(times: Array, owner: str) -> Array:
        table = np.zeros((len(times) if levels else 1, 3, n + 6))
        for k, (time, level) in levels.items():
            if owner not in ("", owners[k]):
                continue
            table[:, :, k] = _held_levels(time, level, times)
        return table

    return tabulate


def _held_levels(time: Array, level: Array, times: Array) -> Array:
    """Levels held from sample to sample, averaged over every step (rows, 1) of `times`."""
    edges = np.append(times[:, 0], times[-1, 2])
    if np.all(np.diff(edges) > 0.0):
        return mean_levels(time, level, edges)[:-1, None]
    # instants rather than steps
    after = np.clip(np.searchsorted(time, times[:, 0] + 1e-9) - 1, 0, None)
    return level[after][:, None]
