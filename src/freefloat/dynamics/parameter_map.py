"""The arrays of a system for values of some parameters, as often as they change.

Everything that kernels read is linear in the parameters but for the fuel of a tank whose pendulum
has an unknown length: its moments are m, m l and m l^2. So new arrays are one product of a matrix
and the values; `with_parameter_values` takes every name apart anew, a hundred times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.named_parameters import with_parameter_values
from freefloat.dynamics.tree import System
from freefloat.model.parameter_name import ParameterName

# theory: of a point mass m at the distance l from its pivot, by the entries of phi
POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])


class ParameterMap:
    """Makes the arrays of a system from values of the named parameters, one row a set.

    names: of bodies, springs, rotors and tanks; neither of a whole known body nor initial states.
    start: values near which they will be.

    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("ets7"))
    >>> bus = ParameterMap(system, ["bus.mass"], np.array([2500.0]))
    >>> bus.arrays(np.array([[2600.0], [2700.0]])).phi[:, 0, 0].tolist()
    [2600.0, 2700.0]
    """

    def __init__(self, system: System, names: Sequence[str], start: Array) -> None:
        self.home, self.start = system, np.array(start, dtype=float)
        parsed = [ParameterName.parse(name) for name in names]
        tanks = {tank.name: tank for tank in system.model.tanks}
        long = {p.owner for p in parsed if p.owner in tanks and p.field == "length"}
        self._linear = [k for k, p in enumerate(parsed) if p.owner not in long]
        values = {names[k]: float(self.start[k]) for k in self._linear}
        base = _flat(with_parameter_values(system, values).parameters)
        columns = []
        for k in self._linear:
            step = max(abs(float(self.start[k])), 1.0)
            moved = with_parameter_values(system, {**values, names[k]: values[names[k]] + step})
            columns.append((_flat(moved.parameters) - base) / step)
        # of every tank of unknown length m, m l and m l^2, in place of what it had
        self._tanks = []
        for owner in sorted(long):
            at = [
                next((k for k, p in enumerate(parsed) if (p.owner, p.field) == (owner, f)), None)
                for f in ("mass", "length")
            ]
            tank, link = tanks[owner], system.body_link[owner]
            self._tanks.append((at, (tank.mass, tank.length)))
            body = next(b.phi for b in system.model.assembly.bodies if b.name == owner)
            place = slice(10 * link, 10 * link + 10)
            base[place] -= system.phi_map[owner] @ body
            for power in range(3):
                column = np.zeros_like(base)
                share = np.where(power == POWERS, body, 0.0) / (tank.mass * tank.length**power)
                column[place] = system.phi_map[owner] @ share
                columns.append(column)
        self._base = base
        self._columns = np.array(columns).reshape(-1, len(base))
        shapes = [array.shape for array in system.parameters]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        self._parts = [
            (slice(end - int(np.prod(shape)), end), shape)
            for shape, end in zip(shapes, ends, strict=True)
        ]

    def arrays(self, values: Array) -> ParameterArrays:
        """Arrays with the set as first axis, for values (sets, names)."""
        moved = values - self.start
        features = [moved[:, self._linear]]
        for (m, n), (mass, length) in self._tanks:
            heavy = values[:, m] if m is not None else np.full(len(values), mass)
            long = values[:, n] if n is not None else np.full(len(values), length)
            features.append(np.column_stack([heavy, heavy * long, heavy * long**2]))
        flat = self._base + np.hstack(features) @ self._columns
        n = len(flat)
        return ParameterArrays(
            *(np.ascontiguousarray(flat[:, p]).reshape(n, *shape) for p, shape in self._parts)
        )

    def tables(self) -> tuple[Array, Array, list[int], list[tuple[list[int | None], tuple]]]:
        """What `arrays` is made of, for kernels.

        Base (numbers,), columns (features, numbers), places of the names that are linear, and of
        every tank of unknown length the places of mass and length with what they were.
        """
        return self._base, self._columns, self._linear, self._tanks

    def system(self, values: Array) -> System:
        """The system with one set of values; its bodies by themselves stay as they were."""
        one = ParameterArrays(*(array[0] for array in self.arrays(values[None])))
        return replace(self.home, parameters=one)


def _flat(parameters: ParameterArrays) -> Array:
    return np.concatenate([array.ravel() for array in parameters])
