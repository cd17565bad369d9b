"""Unconstrained coordinates: any real vector is a set of parameters that could be real.

A body of which all ten parameters are free is written by the log-Cholesky factor of its
pseudo-inertia; one that moves in a plane (mass, mx, my, izz) by log mass, centre of mass and log
inertia about it; positive scalars by their logarithm. What is left (single entries of a body,
initial states, biases) stays as it is: trial steps out of what is real are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.model import inertia as inertial

FOUR = ("mass", "mx", "my", "izz")
POSITIVE = ("stiffness", "damping", "friction", "inertia", "length", "mass")
FAR_LOG = 3.0  # a factor of 20: how far a logarithm may sensibly go from its start
FAR = 10.0  # natural sizes


@dataclass(frozen=True)
class Group:
    """Parameters that change together: `places` in the vector, how to go to and fro, how far.

    slope(x): d parameters / d coordinates; far: how far the coordinates may sensibly go.
    """

    places: tuple[int, ...]
    values: Callable[[Array], Array]
    coordinates: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    far: Callable[[Array], Array]


def groups_of(
    names: Sequence[str], start: Array, sizes: Array, bounded: Sequence[bool],
    upright: frozenset[str],
) -> list[Group]:  # fmt: skip
    """The groups of named parameters at their starting values; every place is in one of them."""
    bodies: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        owner, _, field = name.rpartition(".")
        if field in inertial.NAMES:
            bodies.setdefault(owner, {})[field] = k
    found: list[Group] = []
    for owner, fields in bodies.items():
        places = [fields[f] for f in inertial.NAMES if f in fields]
        if any(bounded[k] for k in places):
            continue
        phi = start[places]
        if len(fields) == 10 and np.linalg.eigvalsh(inertial.pseudo_inertia(phi))[0] > 1e-9 * (
            phi[0] + phi[4] + phi[7] + phi[9]
        ):
            found.append(_body(tuple(places)))
        elif set(fields) == set(FOUR) and owner in upright and _spread(phi) > 0.0:
            found.append(_flat(tuple(places)))
    taken = {k for group in found for k in group.places}
    for k, name in enumerate(names):
        if k in taken:
            continue
        owner, _, field = name.rpartition(".")
        is_state = name.startswith(("start.", "bias.", "gain.", "delay."))
        alone = field != "mass" or len(bodies.get(owner, {})) <= 1
        is_log = field in POSITIVE and not is_state and alone and start[k] > 0.0
        found.append(_scalar(k) if is_log else _plain(k, FAR * sizes[k]))
    return found


def _spread(four: Array) -> float:
    """Inertia about the centre of mass of mass, mx, my, izz."""
    mass, mx, my, izz = four
    return float(izz - (mx**2 + my**2) / mass) if mass > 0.0 else -1.0


def _body(places: tuple[int, ...]) -> Group:
    def far(x: Array) -> Array:
        long = float(np.exp(np.max(x[1:4])))  # radius of gyration [m]
        return np.concatenate([np.full(4, FAR_LOG), np.full(6, FAR * long)])

    return Group(
        places, inertial.phi_from_log_cholesky, inertial.log_cholesky_from_phi,
        inertial.log_cholesky_jacobian, far,
    )  # fmt: skip


def _flat(places: tuple[int, ...]) -> Group:
    def values(x: Array) -> Array:
        mass, inner = np.exp(x[0]), np.exp(2.0 * x[3])
        return mass * np.array([1.0, x[1], x[2], x[1] ** 2 + x[2] ** 2 + inner])

    def coordinates(four: Array) -> Array:
        mass = four[0]
        wide = 0.5 * np.log(_spread(four) / mass)
        return np.array([np.log(mass), four[1] / mass, four[2] / mass, wide])

    def slope(x: Array) -> Array:
        mass, inner = np.exp(x[0]), np.exp(2.0 * x[3])
        J = np.zeros((4, 4))
        J[:, 0] = values(x)
        J[1, 1] = J[2, 2] = mass
        J[3, 1:] = mass * np.array([2.0 * x[1], 2.0 * x[2], 2.0 * inner])
        return J

    def far(x: Array) -> Array:
        return np.array([FAR_LOG, FAR * np.exp(x[3]), FAR * np.exp(x[3]), FAR_LOG])

    return Group(places, values, coordinates, slope, far)


def _scalar(k: int) -> Group:
    return Group(
        (k,), np.exp, np.log, lambda x: np.exp(x)[:, None], lambda x: np.array([FAR_LOG])
    )


def _plain(k: int, far: float) -> Group:
    return Group(
        (k,), np.array, np.array, lambda x: np.ones((1, 1)), lambda x: np.array([far])
    )
