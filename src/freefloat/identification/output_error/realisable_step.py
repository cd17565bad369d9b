"""A Gauss-Newton step that ends where every body can exist: for minima at the edge of what is real.

Where many masses show in sums only, as in an arm on the ground, the data often want bodies that
cannot exist, and the minimum is on the edge. Damped steps that are bent back inside creep along
such an edge and never arrive. Here the linearised problem is solved with the edge as a constraint,

    min |J s + r|^2   over steps s to realisable bodies,

which is convex, and gives both the step and what is left to be gained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.physical.consistent_joints import closest_physical_joints
from freefloat.identification.physical.realisable import invisible
from freefloat.model import inertia as inertial
from freefloat.model.parameter_name import ParameterName
from freefloat.parameters.parameters import Parameters

IN_JOINT = ("stiffness", "damping", "friction", "armature")


class RealisableStep(NamedTuple):
    """A step of all unknowns, and by how much the linearised cost changes along it."""

    step: Array
    change: float


@dataclass(frozen=True)
class RealisableSet:
    """The unknowns that must make real bodies and joints, and their places among all."""

    parameters: Parameters
    names: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(
        cls, parameters: Parameters, names: Sequence[str], is_shared: Sequence[bool]
    ) -> RealisableSet | None:
        """The set for named unknowns; None where no body with more than its mass is among them."""
        bodies = {body.name for body in parameters.model.assembly.bodies}
        hidden = invisible(parameters, names)
        chosen = {}
        for k, name in enumerate(names):
            parsed = ParameterName.parse(name)
            is_of_body = parsed.owner in bodies and parsed.field in inertial.NAMES
            is_inside = parsed.kind == "model" and parsed.field in IN_JOINT
            if is_shared[k] and (is_of_body or is_inside) and name not in hidden:
                chosen[name] = k
        if not any(name.rpartition(".")[2] in inertial.NAMES[1:] for name in chosen):
            return None
        return cls(parameters, tuple(chosen), tuple(chosen.values()))

    def step(self, theta: Array, rows: Array) -> RealisableStep | None:
        """The best step from theta; None where the model itself is not real.

        rows (k, unknowns + 1): slopes and residuals there.
        """
        rest = [k for k in range(len(theta)) if k not in set(self.places)]
        first = len(rest)
        R = np.asarray(np.linalg.qr(rows[:, [*rest, *self.places, -1]], mode="r"))
        J, left = R[first:, first:-1], R[first:, -1]
        here = theta[list(self.places)]
        wanted = here - np.linalg.lstsq(J, left, rcond=None)[0]
        in_joint = np.array([name.rpartition(".")[2] in IN_JOINT for name in self.names])
        try:
            values, found = closest_physical_joints(
                self.parameters, self.names, wanted, J, in_joint
            )
        except (FreefloatError, np.linalg.LinAlgError):
            return None
        if found is not None:  # also where the data would not feel the difference
            order = {name: k for k, name in enumerate(self.names)}
            values[[order[name] for name in found.names]] = found.values
        step = np.zeros(len(theta))
        step[list(self.places)] = values - here
        right = -R[:first, -1] - R[:first, first:-1] @ (values - here)
        step[rest] = np.linalg.lstsq(R[:first, :first], right, rcond=None)[0]
        moved = rows[:, :-1] @ step
        return RealisableStep(step, 0.5 * float(moved @ moved) + float(moved @ rows[:, -1]))
