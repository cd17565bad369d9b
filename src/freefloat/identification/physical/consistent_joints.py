"""Estimates of bodies and of what is inside of joints made physical together.

Bodies are moved to the closest that can exist (`closest_physical`), and with them springs, dampers,
friction and rotors, which are positive numbers: an armature and the inertia it turns with often
show in their sum only, and each sets a bound to the other. A number that is zero in the model gives
that search nothing to start from. Such numbers follow the others instead, none below zero:

    min |J (x - target)|   over realisable x, and x_j >= 0 for those that follow.

What follows is eliminated first, x_j = target_j - J_j^+ J_b (x_b - target_b), so that the others
are moved where it cannot make up for it; numbers that come out below zero are held there, one by
one, and the rest found anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.physical.consistent_fit import (
    DEFAULTS,
    ConsistencyOptions,
    Physical,
    closest_physical,
)
from freefloat.parameters.parameters import Parameters

# theory: what is left of a column less its projection onto others that span it: rounding (1e-16) by
# the condition number of those, and far less than any noise would show
ROUNDING = 1e-9


def closest_physical_joints(
    parameters: Parameters,
    names: Sequence[str],
    target: Array,
    J: Array,
    in_joint: Array,
    *,
    options: ConsistencyOptions = DEFAULTS,
) -> tuple[Array, Physical | None]:
    """The realisable parameters closest to a target, joints included, and what became of bodies.

    Args:
        parameters: the model's values, which settle what the data do not see.
        names: the parameters.
        target: (n,) what the data alone say.
        J: (rows, n) root of the information on them.
        in_joint: (n,) which are stiffness, damping, friction or armature.
        options: of the search for bodies.
    """
    is_zero = np.array([parameters[name].value <= 0.0 for name in names])
    is_following = np.logical_and(in_joint, is_zero)
    body = np.flatnonzero(np.logical_not(is_following)).tolist()
    joint = np.flatnonzero(is_following).tolist()
    held: list[int] = []
    while True:
        free = [k for k in joint if k not in held]
        rows = J - _onto(J[:, free]) @ J
        # only rounding is left of what shows together with what follows: the model's value counts
        rows[:, np.linalg.norm(rows, axis=0) < ROUNDING * np.linalg.norm(J, axis=0)] = 0.0
        gap = rows[:, held] @ -target[held]  # held at zero
        values, found = target.copy(), None
        if len(body):
            seen = rows[:, body]
            wanted = target[body] - np.linalg.lstsq(seen, gap, rcond=None)[0]
            chosen, information = [names[k] for k in body], seen.T @ seen
            found = closest_physical(parameters, chosen, wanted, information, options=options)
            values[body] = found.values if found.is_moved or held else target[body]
        values[held] = 0.0
        left = J @ (values - target)
        values[free] -= np.linalg.lstsq(J[:, free], left, rcond=None)[0]
        low = [k for k in free if values[k] < 0.0]
        if not low:
            return values, found
        # the one that is farthest below zero, in units of what the data would feel of it
        held.append(min(low, key=lambda k: float(values[k] * np.linalg.norm(J[:, k]))))


def _onto(columns: Array) -> Array:
    """The projection onto what columns span."""
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    U = U[:, s > len(s) * np.finfo(float).eps * np.max(s, initial=0.0)]
    return U @ U.T
