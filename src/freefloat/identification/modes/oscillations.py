"""Sums of decaying oscillations fitted to many channels at once.

All channels share the poles s = -decay + i w; each has its own amplitudes, an offset and a drift.
Starting poles come from the eigensystem realisation (ERA) of the data's Hankel matrix and from
peaks of what is left over; the answer is the maximum-likelihood one (variable projection:
amplitudes are solved for, poles by Levenberg-Marquardt). How many poles there are is decided by
the Bayesian information criterion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array

Complex: TypeAlias = NDArray[np.complexfloating[Any, Any]]


@dataclass(frozen=True)
class Oscillations:
    """Poles (m,) [1/s] in the upper half plane, complex amplitudes (m, channels) at time zero.

    covariance (2 m, 2 m) of [w..., decay...] [1/s]; misfit: root mean square residual in units of
    the noise; criterion: Bayesian information.
    """

    poles: Complex
    amplitudes: Complex
    covariance: Array
    misfit: float
    criterion: float


def find_oscillations(
    time: Array, values: Array, *, most: int = 12, patience: int = 2
) -> Oscillations:
    """The decaying oscillations in values (N, channels), which are in units of their noise.

    At most `most`; `patience`: further ones tried after the criterion has ceased to fall.
    """
    best = current = fit_poles(time, values, np.zeros(0, dtype=complex))
    since = 0
    realised = era_poles(time, values, most)
    for n in range(1, most + 1):
        starts = [np.append(current.poles, _next_pole(time, values, current))]
        starts += [poles for poles in realised if len(poles) == n]
        tried = [fit_poles(time, values, poles) for poles in starts]
        tried = [found for found in tried if len(found.poles) == n]
        if not tried:
            break
        current = min(tried, key=lambda found: found.criterion)
        since = 0 if current.criterion < best.criterion else since + 1
        best = min(best, current, key=lambda found: found.criterion)
        if since > patience:
            break
    return best


def fit_poles(time: Array, values: Array, poles: Complex) -> Oscillations:
    """Poles refined from a start, with their amplitudes and covariance."""
    at, m = np.concatenate([poles.imag, -poles.real]), len(poles)
    cost, damping = _cost(time, values, at), 1e-3
    for _ in range(60 if m else 0):
        residual, J = _linearise(time, values, at)
        A, g = J.T @ J, J.T @ residual
        while damping < 1e8:
            step = np.linalg.solve(A + damping * np.diag(np.diag(A) + 1e-12), -g)
            new = at + step
            new_cost = _cost(time, values, new) if _is_sound(time, new) else np.inf
            if new_cost < cost:
                break
            damping *= 4.0
        else:
            break
        gain = cost - new_cost
        at, cost, damping = new, new_cost, max(damping / 10.0, 1e-9)
        if gain < 1e-9 * cost:
            break
    return _with_covariance(time, values, at, cost)


def _with_covariance(time: Array, values: Array, at: Array, cost: float) -> Oscillations:
    m, (n, c) = len(at) // 2, values.shape
    covariance, n_unknowns = np.zeros((2 * m, 2 * m)), 2 * m + (2 * m + 2) * c
    spread = cost / max(n * c - n_unknowns, 1)
    if m:
        _, J = _linearise(time, values, at)
        covariance = np.linalg.pinv(J.T @ J) * max(spread, 1.0)
    C = np.linalg.lstsq(_basis(time, at), values, rcond=None)[0]
    order = np.argsort(at[:m])
    rows = np.concatenate([order, m + order]).astype(int)
    poles = (-at[m:] + 1j * at[:m])[order]
    amplitudes = (C[:m] - 1j * C[m : 2 * m])[order]
    # Noise may be smaller than stated or the model coarser than the data: its size is free.
    criterion = n * c * np.log(max(cost, 1e-300) / (n * c)) + n_unknowns * np.log(n * c)
    return Oscillations(
        poles, amplitudes, covariance[np.ix_(rows, rows)], float(np.sqrt(max(spread, 0.0))),
        float(criterion),
    )  # fmt: skip


def _is_sound(time: Array, at: Array) -> bool:
    """Frequencies inside the band, decays that neither explode nor vanish within a few samples."""
    m, step, span = len(at) // 2, time[1] - time[0], time[-1]
    w, decay = at[:m], at[m:]
    return bool(
        np.all(w > 0.3 / span) and np.all(w < 0.95 * np.pi / step)
        and np.all(decay > -3.0 / span) and np.all(decay < 0.5 / step)
    )  # fmt: skip


def _basis(time: Array, at: Array) -> Array:
    """cos and sin of every oscillation, one, and a line through the middle."""
    m = len(at) // 2
    envelope = np.exp(-np.outer(time, at[m:]))
    angle = np.outer(time, at[:m])
    middle = time - 0.5 * time[-1]
    line = np.column_stack([np.ones_like(time), middle / max(float(time[-1]), 1e-300)])
    return np.hstack([envelope * np.cos(angle), envelope * np.sin(angle), line])


def _cost(time: Array, values: Array, at: Array) -> float:
    Q = np.linalg.qr(_basis(time, at))[0]
    return float(np.sum((values - Q @ (Q.T @ values)) ** 2))


def _linearise(time: Array, values: Array, at: Array) -> tuple[Array, Array]:
    """Residual and its slope by the poles, amplitudes solved for (Kaufman's approximation)."""
    m, basis = len(at) // 2, _basis(time, at)
    Q, R = np.linalg.qr(basis)
    C = np.linalg.lstsq(R, Q.T @ values, rcond=None)[0]
    residual = values - basis @ C
    cosine, sine, slopes = basis[:, :m], basis[:, m : 2 * m], []
    t = time[:, None]
    for k in range(2 * m):
        j = k % m
        a, b, c, s = C[j], C[m + j], cosine[:, j : j + 1], sine[:, j : j + 1]
        change = t * (c * b - s * a) if k < m else -t * (c * a + s * b)
        slopes.append(-(change - Q @ (Q.T @ change)).ravel())
    return residual.ravel(), np.column_stack(slopes)


def _next_pole(time: Array, values: Array, found: Oscillations) -> complex:
    """The strongest frequency in what is left over."""
    at = np.concatenate([found.poles.imag, -found.poles.real])
    Q = np.linalg.qr(_basis(time, at))[0]
    left = (values - Q @ (Q.T @ values)) * np.hanning(len(time))[:, None]
    n = 4 * len(time)
    power = np.sum(np.abs(np.fft.rfft(left, n, axis=0)) ** 2, axis=1)
    power[:4] = 0.0  # slower than once: no oscillation
    w = 2.0 * np.pi * np.fft.rfftfreq(n, float(time[1] - time[0]))[int(np.argmax(power))]
    return complex(-0.01 * w, w)


def era_poles(time: Array, values: Array, most: int) -> list[Complex]:
    """Poles of the eigensystem realisation of orders 2, 4, ..., 2 most, upper half plane.

    The Hankel matrix holds half the stretch, thinned to a size that is solved at once.
    """
    n, c = values.shape
    offset = values - np.mean(values, axis=0)
    rows = max(2, min(n // 2, max(2 * most + 4, 240 // c)))
    columns = n - rows
    if columns < 2 * most + 2:
        return []
    H = np.stack([offset[k : k + columns] for k in range(rows)])  # (rows, columns, c)
    H = H.transpose(0, 2, 1).reshape(rows * c, columns)
    U, s, _ = np.linalg.svd(H, full_matrices=False)
    step, found = float(time[1] - time[0]), []
    for order in range(2, 2 * most + 1, 2):
        observability = U[:, :order] * np.sqrt(s[:order])
        A = np.linalg.lstsq(observability[:-c], observability[c:], rcond=None)[0]
        roots = np.linalg.eigvals(A)
        roots = roots[np.abs(roots) > 1e-6]
        poles = np.log(roots.astype(complex)) / step
        upper = poles[poles.imag > 0.5 / time[-1]]
        at = np.concatenate([upper.imag, -upper.real])
        if len(upper) and _is_sound(time, at):
            found.append(upper)
    return found
