"""What drove a recorded flight: joint and wheel motion from encoders, thrust and wrench.

A prediction takes these from the recording and integrates everything else, so that friction and
control of the joints play no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import TelemetryError
from freefloat.excitation.commands import WRENCH
from freefloat.identification.reading import mean_levels
from freefloat.model.model import Model
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.smoothing import SmoothSignal, smooth

LEAST_SAMPLES = 8  # below, a quintic spline through an encoder is a guess
Curves = dict[str, SmoothSignal]


@dataclass(frozen=True)
class Drive:
    """A flight's inputs on a grid of `n_steps` steps of `step` [s] from `start` [s] on.

    system has every recorded actuator driven by motion; inputs are tabulated at the start, middle
    and end of every step.
    """

    system: System
    start: float
    step: float
    n_steps: int
    inputs: Inputs
    notes: tuple[str, ...]

    @property
    def times(self) -> Array:
        """The instants of the grid [s], on the clock of the recording."""
        return self.start + self.step * np.arange(self.n_steps + 1)


def drive_of(
    model: Model, telemetry: Telemetry, *, step: float, curves: Curves | None = None
) -> Drive:
    """The inputs of a recorded flight, over the longest stretch in which all of them are known.

    `curves` keeps the smooth curves through the channels, for another model to follow.
    """
    notes: list[str] = []
    system = flatten(_followed(model, telemetry, notes))
    known = {} if curves is None else curves
    followed = [_curve(system, telemetry, int(i), known, notes) for i in system.tree.given]
    start, end = _stretch(telemetry, [c for c in followed if isinstance(c, _Recorded)])
    n_steps = int(np.floor((end - start) / step * (1.0 + 1e-12)))
    if n_steps < 2:
        raise TelemetryError(
            f"the recording has {end - start:.3g} s in which every driven joint is known; record"
            " more, or look at its gaps with `freefloat telemetry`"
        )
    if end - start < 0.99 * telemetry.duration:
        notes.append(
            f"predicted from {start:.4g} s to {end:.4g} s, where every driven joint is recorded"
        )
    half = start + 0.5 * step * np.arange(2 * n_steps + 1)
    stages = 2 * np.arange(n_steps)[:, None] + np.arange(3)
    given = np.empty((n_steps, 3, len(followed), 3))
    for k, curve in enumerate(followed):
        for order, values in enumerate(curve.at(half)):
            given[:, :, k, order] = values[stages]
    gains = np.zeros((system.n_coordinates, 3))
    gains[:, 2] = np.inf
    effort = np.zeros((1, 3, system.n_coordinates, 3))
    push = _pushes(system, telemetry, half, stages)
    return Drive(system, start, step, n_steps, Inputs(given, effort, push, gains), tuple(notes))


def _followed(model: Model, telemetry: Telemetry, notes: list[str]) -> Model:
    """The model with every recorded actuator driven by motion; FreefloatError names those missing.

    A flexible drive whose motor is not recorded counts as stiff.
    """
    missing = []
    for joint in model.joints:
        if joint.type == "fixed" or (joint.drive is None and joint.role in ("passive", "locked")):
            continue
        if joint.drive is not None and f"{joint.name}.motor_position" in telemetry:
            model = model.with_joint(joint.name, drive=replace(joint.drive, role="motion"))
        elif f"{joint.name}.position" in telemetry:
            if joint.drive is not None:
                notes.append(f"{joint.name}.motor_position is not recorded: the drive is stiff")
            model = model.with_joint(joint.name, drive=None, role="motion")
        else:
            missing.append(f"{joint.name}.position")
    wheels = []
    for wheel in model.wheels:
        if wheel.role == "torque" and f"{wheel.name}.speed" not in telemetry:
            missing.append(f"{wheel.name}.speed")
        wheels.append(replace(wheel, role="motion") if wheel.role == "torque" else wheel)
    if missing:
        raise TelemetryError(
            f"the recording has no channel {', '.join(missing)}; a prediction needs the motion of"
            " every actuator"
        )
    return replace(model, wheels=tuple(wheels))


@dataclass(frozen=True)
class _Recorded:
    """A smooth curve through a channel: of an angle, or of a wheel's speed."""

    channel: Channel
    curve: SmoothSignal
    is_speed: bool

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Position, rate and acceleration at times t [s]; a wheel's angle counts for nothing."""
        value, rate, acceleration = self.curve.all(t)
        return (np.zeros_like(value), value, rate) if self.is_speed else (value, rate, acceleration)


@dataclass(frozen=True)
class _Constant:
    """What nobody recorded: where it is, or how fast it turns."""

    home: float
    speed: float

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Position, rate and acceleration at times t [s]."""
        zero = np.zeros_like(t)
        return zero + self.home, zero + self.speed, zero


def _curve(
    system: System, telemetry: Telemetry, index: int, known: Curves, notes: list[str]
) -> _Recorded | _Constant:
    coordinate = system.model.assembly.coordinates[index]
    is_motor = coordinate.name.endswith(".motor")
    is_wheel = coordinate.type == "rotor" and not is_motor
    name = coordinate.name.removesuffix(".motor")
    quantity = "speed" if is_wheel else "motor_position" if is_motor else "position"
    channel = f"{name}.{quantity}"
    if channel not in telemetry:
        if is_wheel:
            notes.append(f"{channel} is not recorded: taken as {coordinate.speed:g} rad/s")
        return _Constant(coordinate.home, coordinate.speed)
    found = telemetry[channel]
    if found.valid.sum() < LEAST_SAMPLES:
        raise TelemetryError(
            f"channel {channel!r} has {int(found.valid.sum())} usable samples; at least"
            f" {LEAST_SAMPLES} are needed to follow it"
        )
    if channel not in known:
        known[channel] = smooth(*found.usable(), noise=found.noise)
    return _Recorded(found, known[channel], is_wheel)


def _stretch(telemetry: Telemetry, curves: list[_Recorded]) -> tuple[float, float]:
    """The longest time in which every recorded actuator has samples without long gaps."""
    start, end = telemetry.start, telemetry.end
    breaks: list[tuple[float, float]] = []
    for curve in curves:
        time = curve.channel.usable()[0]
        start, end = max(start, float(time[0])), min(end, float(time[-1]))
        steps = np.diff(time)
        long = steps > 20.0 * np.median(steps)  # what `smooth` does not bridge
        breaks += [
            (float(a), float(a + d)) for a, d in zip(time[:-1][long], steps[long], strict=True)
        ]
    pieces, begin = [], start
    for gap_start, gap_end in sorted(breaks):
        if gap_start > begin:
            pieces.append((begin, min(gap_start, end)))
        begin = max(begin, gap_end)
    pieces.append((begin, end))
    return max(pieces, key=lambda piece: piece[1] - piece[0])


def _pushes(system: System, telemetry: Telemetry, half: Array, stages: NDArray[np.intp]) -> Array:
    """Thrust, averaged over every step so that its impulse is exact, and the commanded wrench."""
    thrusters = [thruster.name for thruster in system.model.thrusters]
    channels = [f"{name}.force" for name in thrusters] + [f"base.{part}" for part in WRENCH]
    if not any(name in telemetry for name in channels):
        return np.zeros((1, 3, len(channels)))
    push = np.zeros((len(stages), 3, len(channels)))
    for k, name in enumerate(channels):
        if name not in telemetry:
            continue
        time, level = telemetry[name].usable()
        if k < len(thrusters):
            level = np.where(np.abs(level) > 5.0 * (telemetry[name].noise or 0.0), level, 0.0)
            push[:, :, k] = mean_levels(time, level, half[::2])[:-1, None]
        else:
            push[:, :, k] = np.interp(half, time, level)[stages]
    return push
