"""Forces on the root: the derivative of the momentum family (paper 001, eqs 19-33).

The whole system's acceleration against the known thrust. Blind to a constant velocity, and the
first to suffer from noise, since it needs accelerations; the momentum family does not.
"""

from __future__ import annotations

from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.newton import need_motion, newton_equations, standing
from freefloat.identification.linear.parameter_columns import require_linear
from freefloat.identification.linear.rows import Equations
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import windowed


def force_equations(
    system: System, samples: Samples, values: dict[str, float], *, noise: bool = True
) -> Equations:
    """Six rows a window: torque and force on the root, known to be thrust and wrench alone.

    `noise`: False spares the covariance.
    """
    require_linear(system, tuple(values))
    if system.model.root.type == "fixed":
        raise IdentificationError("nobody knows the forces on a fixed root; use the torque method")
    at = standing(system, samples if samples.is_windowed else windowed(samples, system))
    need_motion("force", at)
    return newton_equations("force", system, at, values, joints=False, noise=noise)
