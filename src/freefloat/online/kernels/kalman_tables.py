"""What the Kalman filter's kernels read and write: flat arrays, made once by `kalman_arrays.py`.

Rows are those of all streams; a stream is one sensor on one target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.linearise import LinearisedTree
from freefloat.dynamics.kernels.mechanism import ParameterArrays, Tree
from freefloat.dynamics.kernels.newton_euler import Work
from freefloat.dynamics.kernels.setup_forces import InputChanges, SetupDirections
from freefloat.dynamics.kernels.tangent import Directions, Tangent

Index = NDArray[np.int64]

# What a stream reads: a driven joint, which the error state holds itself; a joint's force; a free
# coordinate's position or rate; the motion of a frame. OTHER: looked at in Python.
DRIVEN, FORCE, FREE, GYRO, ATTITUDE, POSITION, VELOCITY, ACCELEROMETER, OTHER = range(9)
ORDERS = 4  # format: position, rate, acceleration, jerk of a driven joint
# theory: steps [rad or m, rad/s, rad/s^2] of one-sided differences, whose error is half the step
# times the curvature and about 1e-16 over the step for rounding. Readings are linear in the
# acceleration (any step is exact), quadratic in the rate (5e-5 off at most) and smooth in the
# position (5e-7): slopes need three digits, since an innovation is a few deviations.
NUDGES = (1e-6, 1e-4, 1.0)
# What became of readings
BROKEN, ALL_ODD, AGAIN, DONE = range(4)
# Places in ErrorState.numbers: how much is forgotten; jerk of the joints [rad/s^3 per root second];
# steps of parameters [natural sizes] and accelerations [rad/s^2] that are large
FORGETTING, JERK, LARGE_PARAMETER, LARGE_ACCELERATION = range(4)
# Places in KalmanMemory.numbers and KalmanMemory.counts
TIME, CHI2, NIS = range(3)
IS_BEGUN, N_ROWS, DOF, N_BAD = range(4)


class ParameterTable(NamedTuple):
    """`dynamics.parameter_map.ParameterMap` for kernels."""

    shares: Array  # (inner, free) engine's parameters of the free ones
    start: Array  # (inner,)
    base: Array  # (numbers,)
    columns: Array  # (features, numbers)
    linear: Index  # (features less tanks',) which of the inner ones
    tanks: Index  # (tanks, 2) inner place of mass and length, or -1
    tank_values: Array  # (tanks, 2) mass and length where they are known
    flat: Array  # (numbers,) the memory of the mechanism's parameters
    inner: Array  # (inner,) scratch


class Mechanics(NamedTuple):
    """The mechanism with scratch space to move it and its tangent."""

    tree: Tree
    parameters: ParameterArrays
    work: Work
    inputs: Inputs  # of a step, or of an instant three times
    nudged: Inputs  # of an instant with one thing nudged
    stages: Stages
    x: Array
    slopes: LinearisedTree
    directions: Directions
    tangent: Tangent
    first: Array  # (tangent rows, names) the tangent at the start
    states: Array  # (2, width)
    tangents: Array  # (2, tangent rows, names)
    efforts: Array  # (2, accelerations and forces, names)
    no_efforts: Array
    setup: SetupDirections
    changes: InputChanges


class ErrorState(NamedTuple):
    """Where things are in the error state: free states, parameters, joints order by order."""

    rows: Index  # (states,) of the tangent
    motion: Index  # (states, 2) whether it is a rate (1) or a placement (0); of which motion
    mix: Index  # (entries, 2) name, place
    mix_size: Array  # (entries,)
    walk: Array  # (parameters,) variance per second, in natural sizes
    sizes: Array  # (parameters,) natural sizes
    least: Array  # (parameters,) share of its value that a step leaves at least; 0: any
    bounds: Array  # (2, parameters)
    thrust_noise: Array  # (thrusters,) deviations of their levels [N]
    gates: Array  # largest NIS by number of rows; none when empty
    numbers: Array  # see FORGETTING and the like
    free: Index  # (free coordinates,)
    given: Index  # (joints,)
    tangent: Array  # (tangent rows,) scratch


class Streams(NamedTuple):
    """What every stream reads."""

    kind: Index  # (streams,)
    first: Index  # (streams + 1,) row
    value_at: Index  # (streams + 1,) place among the measured numbers
    where: Index  # (streams,) link, coordinate, or place in the joints' motion
    order: Index  # (streams,) of a free coordinate: position or rate
    frame: Array  # (streams, 12) axes row by row and origin of the sensor in its link
    component: Index  # (rows,) of the sensor's own
    noise: Array  # (rows,)
    bias: Array  # (rows,) stated
    bias_place: Index  # (rows,) of a free bias among the parameters, or -1
    fixed: Array  # (rows, error state) slopes that never change, whitened


class Readings(NamedTuple):
    """What is measured, and what should be: scratch from sample to sample."""

    measured: Array  # (numbers,)
    present: Index  # (streams,) whether it is read; odd ones no more after the gate
    odd: Index  # (streams,) whether it was gated
    value: Array  # (nudges, rows) predicted
    turn: Array  # (nudges, streams, 9) axes of the sensors in the world
    own: Array  # (rows, names) slopes
    by_joints: Array  # (rows, 3 joints)
    motion: Array  # (nudges and thrusters, motions) accelerations of what is free
    blur: Array  # (rows,) by how much the noise of a row counts as larger


class Algebra(NamedTuple):
    """Scratch tables of the square roots."""

    transition: Array  # (states, error state)
    carried: Array  # (states, error state) times the root
    response: Array  # (2, 3, joints, motions)
    felt: Array  # (thrusters, motions)
    table: Array  # (error state and noise, error state)
    sums: Array  # (error state,)
    C: Array  # (rows, error state)
    B: Array  # (rows, error state), and spoilt by `take_rows`
    spoilt: Array
    left: Array  # (rows,) innovations
    pushed: Array  # (rows,) and what the step so far makes of them
    used: Index  # (rows,) which they are
    head: Array  # (rows, rows + error state)
    white: Array  # (rows,)
    step: Array  # (error state,)
    new: Array
    gate: Array  # (4, 5)
    before_x: Array
    before_joints: Array
    before_values: Array
