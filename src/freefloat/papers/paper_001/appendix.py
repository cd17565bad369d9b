"""Paper 001's appendix, entry by entry as printed, against the compact forms.

For one body with axes A, rate w, angular acceleration beta, and the position r, velocity v and
acceleration a of its reference point: H J(b) = (r + A b) x (v + w x A b), S J(b) = (r + A b) x (a +
beta x A b + w x (w x A b)), and Q [I#] = A I A^T beta + w x A I A^T w, with J(b) = [1, b, b b] and
[I#] the six inertias. The printed Q is not in the copy at hand; its compact form is checked against
a derivative of the angular momentum.
"""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array

PRODUCTS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def appendix_errors(seed: int = 0) -> dict[str, float]:
    """The largest relative difference of H, S and Q from their compact forms, at random motions."""
    rng = np.random.default_rng(seed)
    worst = {"H": 0.0, "S": 0.0, "Q": 0.0}
    for _ in range(20):
        A = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        A *= np.linalg.det(A)
        w, beta, r, v, a, b = rng.normal(size=(6, 3))
        J = np.concatenate([[1.0], b, [b[i] * b[j] for i, j in PRODUCTS]])
        p = A @ b
        H = np.cross(r + p, v + np.cross(w, p))
        S = np.cross(r + p, a + np.cross(beta, p) + np.cross(w, np.cross(w, p)))
        worst["H"] = max(worst["H"], _off(printed_rows(A, r, v, _turn(A, w)) @ J, H))
        worst["S"] = max(worst["S"], _off(printed_rows(A, r, a, _sweep(A, w, beta)) @ J, S))
        worst["Q"] = max(worst["Q"], _q_error(A, w, beta, rng))
    return worst


def printed_rows(A: Array, r: Array, v: Array, moved: Array) -> Array:
    """(3, 10): the entries h (with v and w x A e) or s (with a and the acceleration of A e).

    moved (3, 3): column k is how the axis e_k moves. The printed entries are, row by row, the cross
    products written out: (r x v); (A e_k) x v + r x moved_k; (A e_i) x moved_j + (A e_j) x moved_i.
    """
    out = np.zeros((3, 10))
    for row in range(3):
        y, z = (row + 1) % 3, (row + 2) % 3
        out[row, 0] = r[y] * v[z] - r[z] * v[y]
        for k in range(3):
            out[row, 1 + k] = (
                A[y, k] * v[z] - A[z, k] * v[y] + r[y] * moved[z, k] - r[z] * moved[y, k]
            )
        for n, (i, j) in enumerate(PRODUCTS):
            total = A[y, i] * moved[z, j] - A[z, i] * moved[y, j]
            if i != j:
                total += A[y, j] * moved[z, i] - A[z, j] * moved[y, i]
            out[row, 4 + n] = total
    return out


def _turn(A: Array, w: Array) -> Array:
    """w x A, as the appendix writes it: a_31 w_y - a_21 w_z and so on."""
    return np.stack([
        A[2] * w[1] - A[1] * w[2], A[0] * w[2] - A[2] * w[0], A[1] * w[0] - A[0] * w[1]
    ])  # fmt: skip


def _sweep(A: Array, w: Array, beta: Array) -> Array:
    """beta x A + w x (w x A), with the outer brackets."""
    return _turn(A, beta) + _turn(_turn(A, w), w)


def _q_error(A: Array, w: Array, beta: Array, rng: np.random.Generator) -> float:
    """Q by eqs 20-22, A [#(A^T beta)] + w x A [#(A^T w)], against I beta + w x I w."""
    six = rng.normal(size=6)
    inertia = np.zeros((3, 3))
    for value, (i, j) in zip(six, PRODUCTS, strict=True):
        inertia[i, j] = inertia[j, i] = value
    world = A @ inertia @ A.T
    direct = world @ beta + np.cross(w, world @ w)
    Q = A @ _hash(A.T @ beta) + np.cross(w, (A @ _hash(A.T @ w)).T).T
    return _off(Q @ six, direct)


def _hash(v: Array) -> Array:
    """[#v] of eq. 20."""
    x, y, z = v
    return np.array([[x, y, z, 0, 0, 0], [0, x, 0, y, z, 0], [0, 0, x, 0, y, z]])


def _off(one: Array, two: Array) -> float:
    return float(np.max(np.abs(one - two)) / np.max(np.abs(two)))
