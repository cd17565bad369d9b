"""Joints that give way to their torque, which their encoders do not see: JOINT.compliance.

What hangs on a joint of stiffness k and is turned by the torque tau that a stiff joint would need
swings as h(s) tau / k, with h = w^2 / (s^2 + 2 z w s + w^2) and w its natural frequency, as long as
the inertia behind the joint stays about the same. Slow motion alone shows 1/k. Thrust that jumps
makes it ring: then columns at natural frequencies along a grid are tried, each with its derivative
by the logarithm of w, along which the best one is improved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import cont2discrete, lfilter

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.identification.trust.effect_flights import FlownRecording, setup_column
from freefloat.identification.trust.sensor_effects import Effect
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.model.parts import Joint, Sensor
from freefloat.prediction.flight_setup import FlightSetup
from freefloat.prediction.sensor_models import sensor_reading

# theory: differences of what is linear err by rounding alone; this is far below what can be seen
SOFTNESS = 1e-6  # [rad/(N m)]
# theory: of its critical damping; a convention, usual for metal structures, not derived
DAMPING = 0.02
# theory: with its derivative a column serves for a ring of a turn if its frequency is a tenth off;
# a grid of 1.3 lost a joint of 1.5 Hz on one flight, so this is chosen rather than derived
APART = 1.2
# theory: turns in a recording, below which a swing is little more than a drift; a convention
SLOWEST = 5.0
# theory: of the rate at which torque is known; what swings faster follows at once; a convention
FASTEST = 0.1


def joint_compliances(rows: WhiteRows, flown: Sequence[FlownRecording]) -> Iterator[Effect]:
    """Every driven joint that may yield, without a swing and at every natural frequency."""
    for m, joint in _driven_joints(flown):
        slow = _effect(rows, flown, m, joint)
        if slow is not None:
            yield slow
        for frequency in _frequencies(flown):
            found = joint_swing(rows, flown, joint.name, frequency)
            if found is not None:
                yield found


def joint_swing(
    rows: WhiteRows, flown: Sequence[FlownRecording], name: str, frequency: float
) -> Effect | None:
    """A joint that swings at about a natural frequency [Hz]; None where it cannot be simulated."""
    for m, joint in _driven_joints(flown):
        if joint.name == name:
            return _effect(rows, flown, m, joint, frequency)
    return None


def _driven_joints(flown: Sequence[FlownRecording]) -> Iterator[tuple[int, Joint]]:
    """The place among prescribed motions of every revolute joint, and the joint."""
    system = flown[0].setup.system
    joints = {joint.name: joint for joint in system.model.joints if joint.type == "revolute"}
    for m, i in enumerate(system.tree.given):
        if system.coordinates[i] in joints:
            yield m, joints[system.coordinates[i]]


def _frequencies(flown: Sequence[FlownRecording]) -> Array:
    grids = [one.recording.grid for one in flown]
    low = max(SLOWEST / float(grid.times[-1] - grid.times[0]) for grid in grids)
    high = min(FASTEST / grid.interval for grid in grids)
    n = int(np.floor(np.log(high / low) / np.log(APART)))
    return low * APART ** np.arange(n + 1)


def _effect(
    rows: WhiteRows, flown: Sequence[FlownRecording], m: int, joint: Joint,
    frequency: float = float("nan"),
) -> Effect | None:  # fmt: skip
    """A joint that yields at once, or swings; a column of its compliance, one of its frequency."""
    name, parts = f"{joint.name}.compliance", 1 if np.isnan(frequency) else 2

    def bend(one: FlownRecording, k: int) -> FlightSetup:
        return _bend(one, m, frequency, is_slope=k == 1)

    columns = [
        setup_column(rows, flown, lambda one, k=k: bend(one, k), SOFTNESS) for k in range(parts)
    ]
    known = [column for column in columns if column is not None]
    if len(known) < parts:
        return None
    at = "" if np.isnan(frequency) else f" that swings at about {frequency:.2g} Hz"
    return Effect(
        name, ((name, "rad/(N m)"), (f"{name}.frequency", "rad/(N m)"))[:parts],
        np.column_stack(known),
        f"give {joint.name} a flexible drive{at}; `freefloat structure` says if it is there",
        frequency=frequency,
    )  # fmt: skip


def _bend(flown: FlownRecording, m: int, frequency: float, *, is_slope: bool) -> FlightSetup:
    """The setup with the joint behind prescribed motion m turned back by its torque."""
    base, grid, i = flown.setup, flown.recording.grid, flown.setup.system.tree.given[m]
    joint = base.system.coordinates[i]
    sensor = Sensor("joint_torque", joint, rate=1.0)
    assert flown.prediction.segment is not None  # it was simulated
    torque = sensor_reading(base.system, sensor, joint, flown.prediction.segment)
    if np.isfinite(frequency):
        torque = swing(torque, grid.interval, frequency, is_slope=is_slope)
    curve = make_interp_spline(grid.times, torque, k=min(5, len(torque) - 1))

    def turn_back(inputs: Inputs, times: Array) -> Inputs:
        given = inputs.given.copy()
        for k in range(3):
            given[:, :, m, k] -= SOFTNESS * (curve.derivative(k) if k else curve)(times)
        return inputs._replace(given=given)

    records = turn_back(base.record_inputs, grid.instants)
    start, layout = base.start.copy(), base.system.layout
    start[layout.position_of(i)], start[layout.rate_of(i)] = records.given[0, 0, m, :2]
    return replace(
        base, inputs=turn_back(base.inputs, grid.stages), record_inputs=records, start=start
    )


def swing(torque: Array, interval: float, frequency: float, *, is_slope: bool = False) -> Array:
    """What swings with the torque, begun at rest, or its derivative by the log of the frequency.

    theory: h = w^2 / D with D = s^2 + 2 z w s + w^2, and dh/d(log w) = 2 w^2 s (s + z w) / D^2.
    """
    w = 2.0 * np.pi * frequency
    below = np.array([1.0, 2.0 * DAMPING * w, w**2])
    above = np.array([w**2])
    if is_slope:
        above, below = 2.0 * w**2 * np.array([1.0, DAMPING * w, 0.0]), np.convolve(below, below)
    found = cast("tuple[Array, ...]", cont2discrete((above, below), interval, method="foh"))
    moved = np.asarray(lfilter(np.ravel(found[0]), found[1], torque - torque[0]))
    return moved if is_slope else moved + torque[0]
