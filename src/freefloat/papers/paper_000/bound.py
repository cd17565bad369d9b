"""How much energy the wings of paper 000 can hold while no hinge bends beyond a limit.

After a motion the arm rests and the wings swing freely: deflections e and their rates follow
M e'' + D e' + K e = 0, with M the hinges' inertia on a floating base. Let z be the state at the end
of the free swing. The deflection of hinge j a time t earlier is a row g of numbers times z, and the
energy is z' Q z. For any weights p >= 0 that add up to one, over hinges and instants,

    sum p (g z)^2 <= limit^2   and   sum p (g z)^2 >= s z' Q z

where s is the least eigenvalue of sum p g'g measured by Q. So the energy is at most limit^2 / s,
whatever modes swing and in whatever phases. Every choice of weights proves a bound; we look for one
that proves a low one. Instants between the samples could only lower it further.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from freefloat.arrays import Array
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.tree import flatten
from freefloat.model.model import Model

SPACING = 0.1  # [s] between the instants that are looked at, a fourteenth of the fastest period
# Weights that minimise the sum of s^-ORDER over all eigenvalues come near those with the largest
# least eigenvalue, and unlike those are found by simple repetition.
ORDER, REPETITIONS = 10, 300


def most_energy(model: Model, limit: float, *, duration: float) -> float:
    """An upper bound [J] of what swings at the end of a free swing of the hinges.

    limit: no hinge bends more [rad]; duration: of the free swing [s]. The arm is at home.
    """
    A, Q = _swing(model)
    rows = _deflections(A, Q, duration=duration)
    return limit**2 / _least_information(rows)


def _swing(model: Model) -> tuple[Array, Array]:
    """A of dz/dt = A z, z being deflections and rates, and Q of the energy z' Q z [J]."""
    system = flatten(model)
    home = np.array([c.home for c in model.assembly.coordinates])
    H, free = mass_matrix(system, home), system.tree.free
    root, own = np.flatnonzero(free < 6), np.flatnonzero(free >= 6)
    floating = np.linalg.solve(H[np.ix_(root, root)], H[np.ix_(root, own)])
    M = H[np.ix_(own, own)] - H[np.ix_(own, root)] @ floating
    springs = {spring.coordinate: spring for spring in model.assembly.springs}
    hinges = [springs[system.coordinates[int(place) - 6]] for place in free[own]]
    K, D = (np.diag([getattr(s, field) for s in hinges]) for field in ("stiffness", "damping"))
    nothing, one = np.zeros_like(M), np.eye(len(M))
    A = np.block([[nothing, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    return A, 0.5 * np.block([[K, nothing], [nothing, M]])


def _deflections(A: Array, Q: Array, *, duration: float) -> Array:
    """Rows that give every deflection [rad] at every instant from the state at the end.

    The state is in units in which the energy is the sum of its squares.
    """
    n = len(A)
    units = np.linalg.inv(np.linalg.cholesky(Q).T)
    back, step = np.eye(n), expm(-SPACING * A)
    rows = []
    for _ in range(round(duration / SPACING) + 1):
        rows.append(back[: n // 2] @ units)
        back = back @ step
    return np.concatenate(rows)


def _least_information(rows: Array) -> float:
    """The largest least eigenvalue of sum p g'g that was found over weights p of the rows.

    Known from optimal experiments (Kiefer): p is multiplied by a power of its own sensitivity.
    """
    p, best = np.full(len(rows), 1.0 / len(rows)), 0.0
    for _ in range(REPETITIONS):
        values, V = np.linalg.eigh((rows.T * p) @ rows)
        best = max(best, float(values[0]))
        felt = np.sum((rows @ V) ** 2 * (values[0] / values) ** (ORDER + 1), axis=1)
        p = p * felt ** (1.0 / (ORDER + 1))
        p = p / p.sum()
    return best
