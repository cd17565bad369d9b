"""Forces on the root and torques in the joints: the full equations of motion.

The one family in which measured torques fix the scale without any external force. Stiffness,
damping and friction of passive joints are linear here, too.
"""

from __future__ import annotations

from freefloat.dynamics.tree import System
from freefloat.identification.linear.newton import (
    joint_rows,
    need_motion,
    newton_equations,
    standing,
)
from freefloat.identification.linear.parameter_columns import require_linear
from freefloat.identification.linear.rows import Equations
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import windowed


def torque_equations(
    system: System, samples: Samples, values: dict[str, float], *, noise: bool = True
) -> Equations:
    """Root rows, a row for every measured joint torque and for every passive joint, a window.

    `noise`: False spares the covariance.
    """
    require_linear(system, tuple(values), springs=True)
    at = standing(system, samples if samples.is_windowed else windowed(samples, system))
    need_motion("torque", at)
    if not joint_rows(system, at):
        at.need("torque", "torque")
    return newton_equations("torque", system, at, values, joints=True, noise=noise)
