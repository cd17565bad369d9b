"""What happens inside a joint: springs, dampers, friction and the rotor behind a stiff gear.

They stand between what a motor applies and what its link feels, on the left side of the equations:

    motor torque = inverse dynamics + k (q - rest) + d dq + f tanh(dq / v) + armature ddq.

The kernels have the same formula where they integrate; here it is for whole recordings, with its
columns by parameters and its slopes by the motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import ARMATURE, System


class JointTerms(NamedTuple):
    """One spring of a system at samples.

    owner: whose parameters these are; ends: the coordinates that feel it with their signs;
    effort (N,): on the left side of the first one's equation; columns: its derivative (N,) by
    stiffness, damping, rest, friction and armature; slopes: by position, rate and acceleration of
    the first less the other.
    """

    owner: str
    ends: tuple[tuple[int, float], ...]
    effort: Array
    columns: dict[str, Array]
    slopes: tuple[Array, Array, Array]


def joint_terms(
    system: System, coordinates: Array, *, of: int | None = None
) -> Iterator[JointTerms]:
    """Every spring of a system at coordinates (N, c, 3): q, dq, ddq.

    of: a coordinate; only what acts on it.
    """
    springs, numbers = system.model.assembly.springs, system.parameters.spring
    for spring, (a, b), own in zip(springs, system.tree.spring_ends, numbers, strict=True):
        ends = ((int(a), 1.0),) if b < 0 else ((int(a), 1.0), (int(b), -1.0))
        if of not in (None, *dict(ends)):
            continue
        x, u, ddq = np.sum([sign * coordinates[:, c] for c, sign in ends], axis=0).T
        stiffness, damping, rest, friction, armature = own.tolist()
        t = np.tanh(u / spring.friction_speed)
        held = np.full_like(x, -stiffness)
        columns = {"stiffness": x - rest, "damping": u, "rest": held, "friction": t,
                   "armature": ddq}  # fmt: skip
        effort = stiffness * (x - rest) + damping * u + friction * t + armature * ddq
        braking = damping + friction * (1.0 - t**2) / spring.friction_speed
        slopes = np.full_like(x, stiffness), braking, np.full_like(x, armature)
        yield JointTerms(spring.owner, ends, effort, columns, slopes)


def joint_efforts(system: System, coordinates: Array) -> Array:
    """What all of them take (N, c), on the left side of the equations.

    >>> import freefloat as ff
    >>> from freefloat.dynamics.tree import flatten
    >>> hinge = ff.load_model("servicer-wings").joint("hinge_l1")
    >>> system = flatten(ff.load_model("servicer-wings"))
    >>> at = np.zeros((1, system.n_coordinates, 3))
    >>> at[0, system.coordinates.index("hinge_l1"), 0] = hinge.rest + 0.1
    >>> found = joint_efforts(system, at)[0, system.coordinates.index("hinge_l1")]
    >>> bool(np.isclose(found, 0.1 * hinge.stiffness))
    True
    """
    out = np.zeros(coordinates.shape[:2])
    for term in joint_terms(system, coordinates):
        for c, sign in term.ends:
            out[:, c] += sign * term.effort
    return out


def joint_columns(system: System, names: Sequence[str], coordinates: Array) -> Array:
    """Their derivative (N, c, names) by named parameters, zero for those of other parts."""
    place = {name: p for p, name in enumerate(names)}
    out = np.zeros((*coordinates.shape[:2], len(place)))
    for term in joint_terms(system, coordinates):
        for field, column in term.columns.items():
            if (p := place.get(f"{term.owner}.{field}")) is not None:
                for c, sign in term.ends:
                    out[:, c, p] += sign * column
    return out


def rotor_momenta(system: System, names: Sequence[str], dq: Array) -> tuple[Array, Array]:
    """Momenta of the rotors behind stiff gears at rates dq (N, c).

    Per unit of named parameters (N, c, names), and in all (N, c).
    """
    columns, whole = np.zeros((*dq.shape, len(names))), np.zeros(dq.shape)
    for j in range(system.n_links - 1):  # the springs of joints come first, in their order
        whole[:, j] = system.parameters.spring[j, ARMATURE] * dq[:, j]
        if (name := f"{system.coordinates[j]}.armature") in names:
            columns[:, j, list(names).index(name)] = dq[:, j]
    return columns, whole
