"""Are masses and forces known, or only their ratios?

Motion is unchanged when every mass, inertia, stiffness, damping, friction and spin inertia grows by
the same factor together with every force. So a flight fixes the scale only through something with
known newtons or kilograms: a thrust, a measured torque, a wheel or a body that is known. With c the
change of the readings per unit growth of such a source,

    J theta_free + sum of c over the sources = 0

holds exactly, and says how much of the answer comes from which source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array

HOMOGENEOUS = 1e-8  # what is left of J theta, relative to its parts, when nothing fixes the scale
WORTH_NAMING = 0.1  # share of the answer
LEAST_SEEN = 0.05  # of the length of theta squared: less says nothing of the whole
REMEDY = "what would fix it: thrust, a wheel of known inertia, measured joint torques"
NOT_SCALED = ("rest", "length")


@dataclass(frozen=True)
class Scale:
    """Whether the scale is fixed, its relative standard deviation (NaN if not), and in words."""

    is_fixed: bool
    std: float
    words: str


def is_scaled(name: str) -> bool:
    """Whether a parameter grows with the scale.

    >>> is_scaled("bus.mass"), is_scaled("hinge.rest"), is_scaled("start.rate.x")
    (True, False, False)
    """
    is_state = name.startswith(("start.", "bias.", "momentum0."))
    return not is_state and name.rpartition(".")[2] not in NOT_SCALED


def scale_of(A: Array, theta: Array, sources: Mapping[str, Array]) -> Scale | None:
    """The verdict from scaled columns A (rows, unknowns) without nuisance; None: no theta at all.

    theta: values over natural sizes, zero for what does not grow with the scale. sources: for each
    thing with known newtons or kilograms the change of the rows per unit growth.
    """
    if not np.any(theta != 0.0):
        return None
    parts = np.linalg.norm(A * theta, axis=0).sum()
    whole = float(np.linalg.norm(A @ theta))
    if parts == 0.0:
        return _not_fixed("nothing that is free moves the readings")
    if whole <= HOMOGENEOUS * parts:
        return _not_fixed("")
    weight, std = _estimator(A, theta)
    if weight is None or not std < 1.0:
        told = ", ".join(sources)
        return _not_fixed(f"{told} too weak to tell it" if told else "")
    shares = {name: float(-weight @ rows) for name, rows in sources.items()}
    named = sorted((n for n in shares if shares[n] > WORTH_NAMING), key=lambda n: -shares[n])
    source = " and ".join(named) or "what is held fixed"
    return Scale(True, std, f"fixed by {source}, to about {100.0 * std:.2g} %")


def _estimator(A: Array, theta: Array) -> tuple[Array | None, float]:
    """Weights w on the rows that give the growth along theta, w.(A theta) = 1, and its deviation.

    All directions are free. Each counts by f = s^2 / (1 + s^2), how far it is known compared with
    its natural size: what nobody sees, such as masses that merge, must not blur the rest.
    """
    Q, triangle = np.linalg.qr(A)
    U, s, Vt = np.linalg.svd(triangle)
    kept = s > 1e-9 * s[0]
    s, along = s[kept], Vt[: len(s)][kept] @ theta
    f = s**2 / (1.0 + s**2)
    size = float(along**2 @ f)
    if size < LEAST_SEEN * float(theta @ theta):
        return None, np.inf
    weight = Q @ (U[:, : len(kept)][:, kept] @ (along * f / s)) / size
    return weight, float(np.linalg.norm(weight))


def _not_fixed(why: str) -> Scale:
    reason = f" ({why})" if why else ""
    return Scale(False, float("nan"), f"not fixed: only ratios{reason}; {REMEDY}")
