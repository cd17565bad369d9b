"""Steps of the search that keep masses and inertias physical: no set it visits is impossible.

A step goes straight on in the parameters themselves, in which the equations are linear, as long as
that keeps well inside what is real. Where it would not, it is bent: a body of which all ten
parameters are free moves in the log-Cholesky factor of its pseudo-inertia, one that moves in a
plane (mass, mx, my, izz) in log mass, centre of mass and log inertia about it, positive scalars in
their logarithm. So no step can leave. Damping and friction have zero as a bound: they may well be
zero, which no logarithm reaches. Steps of single entries of a body that leave what is real are
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.options import SearchOptions
from freefloat.model import inertia as inertial
from freefloat.model.parameter_name import is_of_sensor, is_start

FOUR = ("mass", "mx", "my", "izz")
POSITIVE = ("stiffness", "inertia", "length", "mass")
# theory: the Cholesky factor of a matrix of condition 1e9 is good to 1e9 * 1e-16 of itself
THINNEST = 1e-9  # of the largest second moment of a body, or of its inertia about the origin


@dataclass(frozen=True)
class Group:
    """Parameters that move together; `places` in the vector.

    room(before, after): what is left of `before`, 1 for all and 0 for the edge of what is real;
    is_sound: whether there is room enough for further steps.
    """

    places: tuple[int, ...]
    room: Callable[[Array, Array], float]
    values: Callable[[Array], Array]
    coordinates: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    is_sound: Callable[[Array], bool]

    def move(self, theta: Array, step: Array, options: SearchOptions) -> Array:
        """The parameters after a step: straight on if there is room, else bent, or not at all."""
        new = theta + step
        if self.room(theta, new) <= options.least_room:
            x = self.coordinates(theta)
            bent = np.linalg.solve(self.slope(x), step)
            longest = float(np.max(np.abs(bent)))
            new = self.values(x + bent * min(1.0, options.log_step / longest))
        return new if self.is_sound(new) else theta


def groups_of(
    names: Sequence[str], start: Array, bounded: Sequence[bool], upright: frozenset[str]
) -> list[Group]:
    """The groups of named parameters at their starting values; every place is in one of them."""
    bodies: dict[str, dict[str, int]] = {}
    for k, name in enumerate(names):
        owner, _, field = name.rpartition(".")
        if field in inertial.NAMES:
            bodies.setdefault(owner, {})[field] = k
    found: list[Group] = []
    for owner, fields in bodies.items():
        is_flat = owner in upright and fields.keys() >= set(FOUR)  # the other six do nothing
        places = tuple(fields[f] for f in (FOUR if is_flat else inertial.NAMES) if f in fields)
        phi = start[list(places)]
        if any(bounded[k] for k in places):
            continue
        if is_flat and _spread(phi) > 0.0:
            found.append(_flat(places))
        elif len(places) == 10 and _is_solid(phi):
            found.append(_body(places))
    taken = {k for group in found for k in group.places}
    for k, name in enumerate(names):
        if k not in taken:
            owner, _, field = name.rpartition(".")
            is_state = is_start(name) or is_of_sensor(name)
            is_alone = field != "mass" or len(bodies.get(owner, {})) <= 1
            is_log = field in POSITIVE and not is_state and is_alone and start[k] > 0.0
            found.append(_scalar(k) if is_log else _plain(k))
    return found


def _is_solid(phi: Array) -> bool:
    """Whether the body has spread in every direction, so that a factor exists."""
    if not np.all(np.isfinite(phi)):
        return False
    values = np.linalg.eigvalsh(inertial.pseudo_inertia(phi))
    return bool(values[0] > THINNEST * values[-1])


def _spread(four: Array) -> float:
    """Inertia about the centre of mass of mass, mx, my, izz."""
    mass, mx, my, izz = four
    return float(izz - (mx**2 + my**2) / mass) if mass > 0.0 else -1.0


def _body(places: tuple[int, ...]) -> Group:
    def room(before: Array, after: Array) -> float:
        factor = np.linalg.inv(np.linalg.cholesky(inertial.pseudo_inertia(before)))
        return float(np.linalg.eigvalsh(factor @ inertial.pseudo_inertia(after) @ factor.T)[0])

    return Group(
        places, room, inertial.phi_from_log_cholesky, inertial.log_cholesky_from_phi,
        inertial.log_cholesky_jacobian, _is_solid,
    )  # fmt: skip


def _flat(places: tuple[int, ...]) -> Group:
    def room(before: Array, after: Array) -> float:
        return min(float(after[0] / before[0]), _spread(after) / _spread(before))

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

    def is_sound(four: Array) -> bool:
        return bool(four[0] > 0.0) and _spread(four) > THINNEST * float(four[3])

    return Group(places, room, values, coordinates, slope, is_sound)


def _scalar(k: int) -> Group:
    def room(before: Array, after: Array) -> float:
        return float(after[0] / before[0])

    def is_sound(value: Array) -> bool:
        return bool(value[0] > np.finfo(float).tiny)

    return Group((k,), room, np.exp, np.log, lambda x: np.exp(x)[:, None], is_sound)


def _plain(k: int) -> Group:
    return Group(
        (k,), lambda before, after: 1.0, np.array, np.array, lambda x: np.ones((1, 1)),
        lambda value: True,
    )  # fmt: skip
