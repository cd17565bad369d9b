"""What a data sheet has of a body instead of phi: quantities about its centre of mass.

Mass, centre of mass, inertia about it, principal moments and axes, with their derivatives. A
principal axis is named by the body axis that it is closest to, and is a line: it points to the side
of that axis. `tilt.x.y` is the component about y [rad] of the shortest rotation that takes the
body's x axis onto the principal axis x; about x itself that rotation has none. Unlike a component
of a unit vector, it changes in proportion to a small error wherever the axis points.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.model import inertia as inertial
from freefloat.model.rotations import skew

AXES = "xyz"
PAIRS = ("xx", "xy", "xz", "yy", "yz", "zz")
TILTS = tuple((axis, about) for axis in range(3) for about in range(3) if axis != about)
QUANTITIES = (
    "mass",
    *(f"com.{axis}" for axis in AXES),
    *(f"inertia.{pair}" for pair in PAIRS),
    *(f"moment.{axis}" for axis in AXES),
    *(f"tilt.{AXES[axis]}.{AXES[about]}" for axis, about in TILTS),
)
UNITS = {"mass": "kg", "com": "m", "inertia": "kg m^2", "moment": "kg m^2", "tilt": "rad"}
MOMENTS = slice(10, 13)


@dataclass(frozen=True)
class CentralQuantities:
    """The quantities of a body by `QUANTITIES`, and how they change with phi.

    values (19,); jacobian (19, 10): of the tilts NaN where moments are equal. spread (10, 3, 3):
    the change of the inertia about the centre of mass, in principal axes.
    """

    values: Array
    jacobian: Array
    spread: Array


def central_quantities(phi: ArrayLike) -> CentralQuantities:
    """The quantities of a body of positive mass.

    >>> phi = inertial.phi_from_com(2.0, [0.5, 0.0, 0.0], [3.0, 0.0, 0.0, 1.0, 0.0, 2.0])
    >>> dict(zip(QUANTITIES, central_quantities(phi).values.tolist()))["moment.x"]
    3.0
    """
    phi = np.asarray(phi, dtype=float)
    mass, com, six = inertial.com_from_phi(phi)
    change = _inertia_change(mass, com)
    moments, axes = _principal(inertial.tensor(six))
    spread = np.einsum("ji,kjl,lm->kim", axes, change, axes)
    com_change = np.zeros((3, 10))
    com_change[:, 0], com_change[:, 1:4] = -com / mass, np.eye(3) / mass
    tilts, tilt_changes = [], []
    for axis, about in TILTS:
        value, slope = _tilt(axes[:, axis], axis)
        gaps = np.where(moments == moments[axis], np.nan, moments[axis] - moments)
        gaps[axis] = np.inf
        turned = spread[:, :, axis] / gaps
        tilts.append(value[about])
        tilt_changes.append((slope @ axes @ turned.T)[about])
    jacobian = np.vstack(
        [
            np.eye(1, 10),
            com_change,
            np.array([inertial.six(each) for each in change]).T,
            np.diagonal(spread, axis1=1, axis2=2).T,
            tilt_changes,
        ]
    )
    return CentralQuantities(np.hstack([mass, com, six, moments, tilts]), jacobian, spread)


def inputs_of(quantity: str) -> frozenset[str]:
    """The inertial parameters that a quantity depends on, whatever their values are."""
    kind, _, at = quantity.partition(".")
    if kind == "mass":
        return frozenset({"mass"})
    if kind == "com":
        return frozenset({"mass", f"m{at}"})
    if kind == "inertia":
        away = AXES.replace(at[0], "") if at[0] == at[1] else at
        return frozenset({"mass", f"i{at}", *(f"m{axis}" for axis in away)})
    return frozenset(inertial.NAMES)


def _inertia_change(mass: float, com: Array) -> Array:
    """The change (10, 3, 3) of the inertia about the centre of mass with phi."""
    change = np.zeros((10, 3, 3))
    change[0] = com @ com * np.eye(3) - np.outer(com, com)
    for k, e in enumerate(np.eye(3)):
        change[1 + k] = np.outer(e, com) + np.outer(com, e) - 2.0 * com[k] * np.eye(3)
    change[4:] = [inertial.tensor(unit) for unit in np.eye(6)]
    return change


def _principal(inertia: Array) -> tuple[Array, Array]:
    """Principal moments (3,) and axes (3, 3), as columns, each by the closest body axis."""
    moments, axes = np.linalg.eigh(inertia)
    order = max(permutations(range(3)), key=lambda p: np.sum(axes[range(3), p] ** 2))
    moments, axes = moments[list(order)], axes[:, list(order)]
    return moments, axes * np.where(np.diag(axes) < 0.0, -1.0, 1.0)


def _tilt(direction: Array, axis: int) -> tuple[Array, Array]:
    """The shortest rotation [rad] (3,) from a body axis onto a direction, and its slope (3, 3)."""
    e = np.eye(3)[axis]
    cosine, cross = float(e @ direction), np.cross(e, direction)
    sine = float(np.linalg.norm(cross))
    if sine < 1e-6:  # theory: the series of angle over sine; the next terms are below rounding
        return cross, skew(e) - np.outer(cross, e) / 3.0
    ratio = float(np.arctan2(sine, cosine)) / sine
    # theory: d(ratio) / d(cosine) at unit length, and along the direction nothing counts
    slope = (cosine * ratio - 1.0) / sine**2
    return ratio * cross, ratio * skew(e) + slope * np.outer(cross, e)
