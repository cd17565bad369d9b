"""Estimates of bodies and of what is inside of joints made physical together.

Bodies are moved to the closest that can exist (`closest_physical`), springs, dampers, friction and
rotors follow them, none below zero:

    min |J (x - target)|   over realisable bodies and joints x_j >= 0.

What follows is eliminated first, x_j = target_j - J_j^+ J_b (x_b - target_b), so that bodies are
moved where joints cannot make up for it; numbers that come out below zero are held there, one by
one, and the others found anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.physical.consistent_fit import Physical, closest_physical
from freefloat.parameters.parameters import Parameters


def closest_physical_joints(
    parameters: Parameters, names: Sequence[str], target: Array, J: Array, in_joint: Array
) -> tuple[Array, Physical | None]:
    """The realisable parameters closest to a target, joints included, and what became of bodies.

    Args:
        parameters: the model's values, which settle what the data do not see.
        names: the parameters.
        target: (n,) what the data alone say.
        J: (rows, n) root of the information on them.
        in_joint: (n,) which are stiffness, damping, friction or armature.
    """
    body, joint = (
        np.flatnonzero(np.logical_not(in_joint)).tolist(),
        np.flatnonzero(in_joint).tolist(),
    )
    held: list[int] = []
    while True:
        free = [k for k in joint if k not in held]
        rows = J - _onto(J[:, free]) @ J
        gap = rows[:, held] @ -target[held]  # held at zero
        values, found = target.copy(), None
        if len(body):
            seen = rows[:, body]
            wanted = target[body] - np.linalg.lstsq(seen, gap, rcond=None)[0]
            found = closest_physical(parameters, [names[k] for k in body], wanted, seen.T @ seen)
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
