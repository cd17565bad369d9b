"""What every linear family returns: rows, right side and noise, for named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.directions import directions
from freefloat.dynamics.equations import system_vector
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError


@dataclass(frozen=True)
class Rows:
    """Y theta = y + noise, already whitened: every row has noise of standard deviation one.

    names: columns, first the parameters, then nuisance unknowns such as the initial momentum;
    labels: what each row speaks of.
    """

    family: str
    names: tuple[str, ...]
    n_parameters: int
    Y: Array
    y: Array
    labels: tuple[str, ...]
    is_noise_known: bool


def parameter_columns(
    system: System, names: Sequence[str], regressor: Array
) -> tuple[Array, Array]:
    """Columns of named inertial parameters, and what the rest of the model contributes.

    regressor (..., 10 links + rotors); returns (..., names) and (...): regressor @ phi = columns @
    values + rest for the model's own values.
    """
    bad = [name for name in names if not _is_linear(system, name)]
    if bad:
        raise IdentificationError(
            f"{', '.join(bad[:4])}: not linear in the equations of motion; the linear families"
            " find masses, first moments, inertias and spin inertias (use output error)"
        )
    entries, _ = directions(system, names)
    change = np.zeros((regressor.shape[-1], len(names)))
    for (p, link), row in zip(entries.body, entries.body_change, strict=True):
        change[10 * link : 10 * link + 10, p] += row
    for (p, rotor), size in zip(entries.rotor, entries.rotor_change, strict=True):
        change[10 * system.n_links + rotor, p] += size
    columns = regressor @ change
    return columns, regressor @ system_vector(system)


def _is_linear(system: System, name: str) -> bool:
    owner, _, field = name.rpartition(".")
    is_pendulum = any(tank.name == owner for tank in system.model.tanks)
    springs = ("stiffness", "damping", "rest", "friction", "length")
    return not name.startswith("start.") and field not in springs and not is_pendulum


def whitened(Y: Array, y: Array, blocks: Array, neighbours: Array) -> tuple[Array, Array]:
    """Rows (N, k, columns) and right sides (N, k) divided by their noise.

    The noise covariance is block tridiagonal: blocks (N, k, k) on the diagonal, neighbours
    (N - 1, k, k) above it (instant i with instant i + 1). A banded Cholesky factor divides in time
    proportional to N.
    """
    from scipy.linalg import cholesky_banded, solve_banded

    n, k = y.shape
    band = 2 * k - 1
    upper = np.zeros((band + 1, n * k))
    for i in range(k):
        for j in range(k):
            if j >= i:
                upper[band - (j - i), j::k] = blocks[:, i, j]
            upper[band - (k + j - i), k + j :: k] = neighbours[:, i, j]
    factor = cholesky_banded(upper)  # C = U^T U, U upper
    lower = np.zeros_like(factor)
    for d in range(band + 1):  # U^T by diagonals
        lower[d, : n * k - d] = factor[band - d, d:]
    both = np.concatenate([Y, y[:, :, None]], axis=2).reshape(n * k, -1)
    solved = solve_banded((band, 0), lower, both)
    return solved[:, :-1], solved[:, -1]
