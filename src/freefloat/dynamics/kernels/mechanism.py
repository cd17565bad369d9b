"""A mechanism as the kernels read it: arrays for its shape, and for the numbers in it.

They stand here, beside the kernels, since these make such tuples themselves (for LANES
simulations at once); `dynamics.tree` fills them from a Model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array

Index = NDArray[np.int64]


class Tree(NamedTuple):
    """The shape of the mechanism: nothing in here is ever identified.

    `free` lists the unknown accelerations: 0-2 angular and 3-5 linear of the root (body axes),
    6 + c for coordinate c. `given` lists the coordinates whose motion is prescribed.
    """

    links: Index  # (links, 2) parent link (-1 for the root), kind: 0 root, 1 revolute, 2 prismatic
    place: Array  # (links, 12) joint frame in the parent link: rotation row by row, origin [m]
    rotor_link: Index  # (rotors,) carrier link
    rotors: Array  # (rotors, 4) spin axis in the carrier link, gear ratio N
    spring_ends: Index  # (springs, 2) coordinate it acts on, coordinate it is anchored to or -1
    friction_speed: Array  # (springs,) speed over which friction is smoothed [rad/s]; 0: none
    thruster_link: Index  # (thrusters,)
    thrusters: Array  # (thrusters, 6) torque, force in the link frame for 1 N
    field: Array  # (14,) gravity, its gradient and drag: `System.environment` has them by name
    free: Index
    above: Index  # (free,) the place in `free` of the next one inboard, -1 for none: only those
    #               reached by going on from there share an entry of the mass matrix with it
    given: Index


class ParameterArrays(NamedTuple):
    """The numbers that identification may change."""

    phi: Array  # (links, 10) inertial parameters in the link frames
    rotor: Array  # (rotors,) spin inertia J [kg m^2]
    spring: Array  # (springs, 5) stiffness, damping, rest, friction, armature; joints' come first
