"""A few steps of state and tangent at a time, thousands of times, in memory that is there already.

`integrate_with_sensitivity` makes its tables anew, which takes longer than a step of a live filter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.named_parameters import (
    parameter_directions,
    renew_directions,
    varying_directions,
)
from freefloat.dynamics.sensitivity import Sensitivity, linearised_tree, tangent_table
from freefloat.dynamics.setup_change import no_directions
from freefloat.dynamics.tree import System


class TangentSteps:
    """Steps of a system with its derivative by the named parameters; see `fly`.

    system: with friction looked at everywhere (`with_friction`), if it is among the names.
    """

    def __init__(self, system: System, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._entries, self._first = parameter_directions(system, names)
        self._varying = varying_directions(system, names)
        c, tree = system.n_coordinates, system.tree
        self._slopes = linearised_tree(system, len(self._first))
        self._tangent = tangent_table(self._first, len(self._slopes.rows))
        self._forcing, self._changes = no_directions()
        self._work = new_work(tree)
        width = system.layout.width
        self._stages = Stages(*(np.zeros(width) for _ in range(3)))
        self._states = np.zeros((2, width))
        self._tangents = np.zeros((2, *self._first.shape))
        self._efforts = np.zeros((2, 6 + 2 * c, len(names)))
        self._free = tuple(system.coordinates[i] for i in tree.free[tree.free >= 6] - 6)

    def fly(
        self,
        system: System,
        start: Array,
        *,
        inputs: Inputs,
        step: float,
        n_steps: int,
        time: float,
        with_efforts: bool,
    ) -> Sensitivity:
        """The start and, after any steps, the end; valid until the next call.

        system: the same mechanism with any numbers.
        """
        from freefloat.dynamics.kernels.tangent import rk4_tangent

        renew_directions(system, self.names, self._entries, self._varying)
        tangent, n_columns = self._tangent, len(self.names)
        tangent.T_flat[:] = 0.0
        tangent.T_flat[:, :n_columns] = self._first
        n_rows = 2 if n_steps else 1
        states, tangents = self._states[:n_rows], self._tangents[:n_rows]
        efforts = self._efforts[: n_rows if with_efforts else 0]
        rk4_tangent(
            system.tree, system.parameters, self._work, inputs, self._changes, self._slopes,
            self._entries, self._forcing, inputs, self._changes, float(time), float(step), n_steps,
            max(n_steps, 1), np.array(start, dtype=float), self._stages, tangent, states, tangents,
            efforts,
        )  # fmt: skip
        return Sensitivity(self.names, states, tangents, efforts, self._free)
