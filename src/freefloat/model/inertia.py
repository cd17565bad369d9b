"""Ten inertial parameters of a rigid body, and the three ways to write them.

The vector phi = [m, m c (3), I (xx, xy, xz, yy, yz, zz)] holds the mass [kg], the first moment
[kg m] and the inertia **about the body-frame origin** [kg m^2], in body axes: in these the
dynamics are linear. The same ten numbers as the 4x4 pseudo-inertia J = [[S, m c], [m c^T, m]] with
S = integral of r r^T dm make physical consistency one condition (J positive definite), and its
log-Cholesky factor makes every point of R^10 a physical body (Rucker & Wensing 2022).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.model.rotations import skew

NAMES = ("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def tensor(six: ArrayLike) -> Array:
    """The 3x3 matrix of xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = np.asarray(six, dtype=float)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six(matrix: ArrayLike) -> Array:
    """xx, xy, xz, yy, yz, zz of a symmetric 3x3 matrix."""
    m = np.asarray(matrix, dtype=float)
    return np.array([m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2]])


def phi_from_com(mass: float, com: ArrayLike, inertia: ArrayLike) -> Array:
    """phi from mass [kg], centre of mass [m] and the six inertias about it [kg m^2].

    >>> phi_from_com(2.0, [0.0, 0.0, 1.0], [1, 0, 0, 1, 0, 1])[4]
    np.float64(3.0)
    """
    c = np.asarray(com, dtype=float)
    about_origin = tensor(inertia) + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, six(about_origin)])


def com_from_phi(phi: ArrayLike) -> tuple[float, Array, Array]:
    """Mass [kg], centre of mass [m] (0 if massless) and the six inertias about it [kg m^2]."""
    phi = np.asarray(phi, dtype=float)
    mass = float(phi[0])
    c = phi[1:4] / mass if mass != 0.0 else np.zeros(3)
    return mass, c, six(tensor(phi[4:]) - mass * (c @ c * np.eye(3) - np.outer(c, c)))


def pseudo_inertia(phi: ArrayLike) -> Array:
    """The 4x4 pseudo-inertia matrix of phi."""
    phi = np.asarray(phi, dtype=float)
    inertia = tensor(phi[4:])
    J = np.empty((4, 4))
    J[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    J[:3, 3] = J[3, :3] = phi[1:4]
    J[3, 3] = phi[0]
    return J


def phi_from_pseudo_inertia(J: ArrayLike) -> Array:
    """phi of a 4x4 pseudo-inertia matrix."""
    J = np.asarray(J, dtype=float)
    inertia = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.concatenate([[J[3, 3]], J[:3, 3], six(inertia)])


def phi_from_log_cholesky(theta: ArrayLike) -> Array:
    """phi of the log-Cholesky vector [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3].

    J = U U^T with U upper triangular, exp(alpha) [[e^d1, s12, s13, t1], [0, e^d2, s23, t2],
    [0, 0, e^d3, t3], [0, 0, 0, 1]]: any real vector gives a physical body.
    """
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = np.asarray(theta, dtype=float)
    U = np.array(
        [
            [np.exp(d1), s12, s13, t1],
            [0.0, np.exp(d2), s23, t2],
            [0.0, 0.0, np.exp(d3), t3],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    return phi_from_pseudo_inertia(np.exp(2.0 * alpha) * U @ U.T)


def log_cholesky_from_phi(phi: ArrayLike) -> Array:
    """The log-Cholesky vector of a physical phi; raises ValueError when phi is not physical."""
    J = pseudo_inertia(phi)
    flip = np.eye(4)[::-1]
    try:
        lower = np.linalg.cholesky(flip @ J @ flip)
    except np.linalg.LinAlgError:
        raise ValueError("the pseudo-inertia is not positive definite") from None
    U = flip @ lower @ flip  # reversing rows and columns turns lower into upper triangular
    scale = U[3, 3]
    U = U / scale
    logs = np.log(np.diag(U)[:3])
    return np.concatenate(
        [[np.log(scale)], logs, [U[0, 1], U[1, 2], U[0, 2], U[0, 3], U[1, 3], U[2, 3]]]
    )


def log_cholesky_jacobian(theta: ArrayLike) -> Array:
    """d phi / d theta (10x10) at the log-Cholesky vector theta."""
    theta = np.asarray(theta, dtype=float)
    alpha, d, (s12, s23, s13, t1, t2, t3) = theta[0], theta[1:4], theta[4:]
    U = np.array([[0, s12, s13, t1], [0, 0, s23, t2], [0, 0, 0, t3], [0, 0, 0, 1.0]])
    U[:3, :3] += np.diag(np.exp(d))
    scale = np.exp(2.0 * alpha)
    places = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
    columns = [phi_from_pseudo_inertia(2.0 * scale * U @ U.T)]
    for row, column in places:
        dU = np.zeros((4, 4))
        dU[row, column] = U[row, row] if row == column else 1.0
        columns.append(phi_from_pseudo_inertia(scale * (dU @ U.T + U @ dU.T)))
    return np.column_stack(columns)


def phi_transform(R_AB: ArrayLike, p_AB: ArrayLike) -> Array:
    """The 10x10 matrix that takes phi in frame B to phi in frame A, placed at p_AB [m], R_AB."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R_AB, p_AB
    # A rigid move acts on the pseudo-inertia as J -> T J T^T, which is linear in phi.
    units, back = _pseudo_inertia_maps()
    return back @ (T @ units @ T.T).reshape(10, 16).T


def displacement_change(phi: ArrayLike, displacement: ArrayLike, axis: int) -> Array:
    """d phi of a body, all of whose mass is displaced [m], per metre farther along an axis.

    The pseudo-inertia becomes T J T' with T = [[1, d], [0, 1]].

    >>> displacement_change(phi_from_com(2.0, [0.0, 0.0, 1.0], [1, 0, 0, 1, 0, 1]), [0, 0, 0], 2)
    array([0., 0., 0., 2., 4., 0., 0., 4., 0., 0.])
    """
    T, slope = np.eye(4), np.zeros((4, 4))
    T[:3, 3], slope[axis, 3] = displacement, 1.0
    half = slope @ pseudo_inertia(phi) @ T.T
    return phi_from_pseudo_inertia(half + half.T)


@cache
def _pseudo_inertia_maps() -> tuple[Array, Array]:
    """Pseudo-inertias of the ten unit parameters (10, 4, 4), and the way back (10, 16)."""
    units = np.stack([pseudo_inertia(unit) for unit in np.eye(10)])
    entries = np.eye(16).reshape(16, 4, 4)
    return units, np.column_stack([phi_from_pseudo_inertia(entry) for entry in entries])


def inconsistency(phi: ArrayLike, *, tolerance: float = 1e-9) -> str | None:
    """What phi has that no real body has, or None; point masses, rods, massless bodies are real.

    A body is real when its mass is not negative and its mass distribution could exist: the
    pseudo-inertia has no negative eigenvalue (which contains the triangle inequalities).
    """
    phi = np.asarray(phi, dtype=float)
    if not np.all(np.isfinite(phi)):
        return "a parameter that is not finite"
    mass, _, about_com = com_from_phi(phi)
    if mass < 0.0:
        return f"a negative mass, {mass:g} kg"
    if mass == 0.0 and np.any(phi[1:4] != 0.0):
        return "a first moment but no mass"
    if mass == 0.0 and np.any(phi[4:] != 0.0):
        return "a moment of inertia but no mass"
    principal = np.linalg.eigvalsh(tensor(about_com))
    slack = tolerance * max(abs(principal[2]), 1e-300)
    if principal[0] < -slack:
        return f"a negative principal inertia, {principal[0]:.6g} kg m^2 about the CoM"
    if principal[0] + principal[1] < principal[2] - slack:
        moments = ", ".join(f"{value:.4g}" for value in principal)
        return f"principal inertias {moments} kg m^2, which break the triangle inequality"
    return None


def closest_inertia(inertia: ArrayLike) -> tuple[Array, float]:
    """The closest inertia about the CoM that a real body can have, and how far off it is.

    Closest in the Frobenius norm, whose principal axes stay what they are: the principal moments
    are projected on the cone of the triangle inequalities. Its edges are thin rods, so moments are
    sums of rods of no negative share. The distance is relative to the inertia given, 0 to 1.

    >>> closest_inertia([1.0, 0.0, 0.0, 1.0, 0.0, 2.3])[0]
    array([1.1, 0. , 0. , 1.1, 0. , 2.2])
    """
    from scipy.optimize import nnls

    given = tensor(inertia)
    moments, axes = np.linalg.eigh(given)
    size = float(np.linalg.norm(moments))
    rods = 1.0 - np.eye(3)  # a rod along one axis has its moment about the other two
    shares, distance = nnls(rods, moments / (size or 1.0))
    return six(axes @ np.diag(rods @ shares * size) @ axes.T), float(distance)


def divergence(phi: ArrayLike, prior: ArrayLike) -> float:
    """The log-det (Bregman) divergence of phi from a physical prior; zero only when equal.

    Infinite when phi is not physical.
    """
    A = np.linalg.cholesky(pseudo_inertia(prior))
    try:
        B = np.linalg.cholesky(pseudo_inertia(phi))
    except np.linalg.LinAlgError:
        return np.inf
    ratio = np.linalg.solve(A, B)  # ratio ratio^T has the eigenvalues of prior^-1 phi
    return float(np.sum(ratio**2) - 2.0 * np.sum(np.log(np.diag(ratio))) - 4.0)


def spatial_inertia(phi: ArrayLike) -> Array:
    """The 6x6 spatial inertia about the frame origin, ordered angular then linear."""
    phi = np.asarray(phi, dtype=float)
    first = skew(phi[1:4])
    return np.block([[tensor(phi[4:]), first], [first.T, phi[0] * np.eye(3)]])
