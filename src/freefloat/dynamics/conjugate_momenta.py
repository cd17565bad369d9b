"""Momenta that belong to rates, and how the kinetic energy changes with the coordinates.

Together they are Lagrange's equations, d/dt dT/d(dq) - dT/dq = force, before anybody has
differentiated by time: what is needed to integrate them instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.tree import System


def conjugate_regressor(
    system: System, rate: ArrayLike, velocity: ArrayLike, coordinates: ArrayLike
) -> tuple[Array, Array]:
    """Momenta (N, 6 + c, columns) and slopes dT/dq (N, c, columns) per unit parameter.

    Rows of the momenta: angular about the root's origin, linear, both in root axes, then the
    conjugate momentum dT/d(dq) of every coordinate. `velocity` (N, 3) of the root in root axes.
    Columns as in `momentum_regressor`; times `system_vector` they are the system's.

    >>> from freefloat.dynamics import flatten, system_vector
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("cepheus"))
    >>> still, moving = np.zeros((1, 3)), np.zeros((1, system.n_coordinates, 3))
    >>> moving[0, 2, 1] = 100.0  # the wheel turns [rad/s]
    >>> momenta, _ = conjugate_regressor(system, still, still, moving)
    >>> spin = (momenta @ system_vector(system))[0]
    >>> bool(spin[2] == spin[8] == 100.0 * system.parameters.rotor[0])
    True
    """
    from freefloat.dynamics.kernels.conjugate_momenta import conjugate_regressor as kernel

    rate, velocity, coordinates = _samples(rate, velocity, coordinates)
    n, c = len(rate), system.n_coordinates
    n_columns = 10 * system.n_links + len(system.tree.rotor_link)
    momenta, slopes = np.zeros((n, 6 + c, n_columns)), np.zeros((n, c, n_columns))
    energies = np.zeros((n, n_columns))
    work = new_work(system.tree)
    kernel(system.tree, work, rate, velocity, coordinates, momenta, slopes, energies)
    return momenta, slopes


def conjugate_momenta(
    system: System, rate: ArrayLike, velocity: ArrayLike, coordinates: ArrayLike
) -> tuple[Array, Array]:
    """Momenta (N, 6 + c) and slopes dT/dq (N, c) of the system; see `conjugate_regressor`."""
    from freefloat.dynamics.kernels.conjugate_momenta import conjugate_momenta as kernel

    rate, velocity, coordinates = _samples(rate, velocity, coordinates)
    n, c = len(rate), system.n_coordinates
    momenta, slopes = np.zeros((n, 6 + c)), np.zeros((n, c))
    work = new_work(system.tree)
    kernel(system.tree, system.parameters, work, rate, velocity, coordinates, momenta, slopes)
    return momenta, slopes


def _samples(*tables: ArrayLike) -> list[Array]:
    return [np.ascontiguousarray(table, dtype=float) for table in tables]
