"""Dynamics: pure functions of a Model flattened to arrays."""

from freefloat.dynamics.equations import (
    Balance,
    Motion,
    balance,
    force_regressor,
    inverse_dynamics,
    mass_matrix,
    momentum_regressor,
    observe,
    system_vector,
)
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System, flatten

__all__ = [
    "Balance",
    "Motion",
    "Start",
    "System",
    "balance",
    "flatten",
    "force_regressor",
    "inverse_dynamics",
    "mass_matrix",
    "momentum_regressor",
    "observe",
    "system_vector",
]
