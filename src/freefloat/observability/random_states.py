"""Generic motion of a mechanism: random states that excite everything it can do."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System


def generic_states(system: System, n: int, *, seed: int = 0) -> Array:
    """n random state vectors within what the root allows; for ranks, not for simulation."""
    rng = np.random.default_rng(seed)
    c = system.n_coordinates
    position, velocity, rate = rng.normal(size=(3, n, 3))
    attitude = rng.normal(size=(n, 4))
    kind = system.model.root.type
    if kind != "floating":
        position[:, 2] = velocity[:, 2] = 0.0
        rate[:, :2] = attitude[:, :2] = 0.0
    if kind == "fixed":
        position[:], velocity[:], rate[:], attitude[:, 2] = 0.0, 0.0, 0.0, 0.0
    attitude /= np.linalg.norm(attitude, axis=1, keepdims=True)
    q, dq = rng.uniform(-3.0, 3.0, (n, c)), rng.normal(size=(n, c))
    return np.hstack([position, attitude, velocity, rate, q, dq])


def generic_accelerations(system: System, n: int, *, seed: int = 1) -> Array:
    """n random accelerations (n, 6 + c) within what the root allows."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, 6 + system.n_coordinates))
    if system.model.root.type != "floating":
        a[:, [0, 1, 5]] = 0.0
    if system.model.root.type == "fixed":
        a[:, :6] = 0.0
    return a
