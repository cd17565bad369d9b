"""Dynamics: pure functions of a Model flattened to arrays."""

from freefloat.dynamics.batch import integrate_batch, stack_parameters
from freefloat.dynamics.equations import (
    Balance,
    SystemMotion,
    balance,
    force_regressor,
    inverse_dynamics,
    mass_matrix,
    momentum_regressor,
    observe,
    system_vector,
)
from freefloat.dynamics.frames import frame_jacobian, frame_motion
from freefloat.dynamics.integrate import Trajectory, integrate
from freefloat.dynamics.modes import Mode, modes
from freefloat.dynamics.sensitivity import Sensitivity, integrate_with_sensitivity
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System, flatten

__all__ = [
    "Balance",
    "Mode",
    "SystemMotion",
    "Sensitivity",
    "Start",
    "System",
    "Trajectory",
    "balance",
    "flatten",
    "force_regressor",
    "frame_jacobian",
    "frame_motion",
    "integrate",
    "integrate_batch",
    "integrate_with_sensitivity",
    "inverse_dynamics",
    "mass_matrix",
    "modes",
    "momentum_regressor",
    "observe",
    "stack_parameters",
    "system_vector",
]
