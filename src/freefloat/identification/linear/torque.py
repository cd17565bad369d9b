"""Forces on the root and torques in the joints: the full equations of motion.

The one family in which measured torques fix the scale without any external force. Stiffness,
damping and friction of passive joints are linear here, too.
"""

from __future__ import annotations

from freefloat.dynamics.tree import System
from freefloat.identification.linear.family import BASE, Equations
from freefloat.identification.linear.linear_options import DEFAULTS, LinearOptions
from freefloat.identification.linear.newton_euler_rows import (
    WindowedFamily,
    joint_rows,
    need_motion,
    newton_equations,
    with_fixed_root,
)
from freefloat.identification.linear.parameter_columns import require_linear
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import fit_windows


class Torque(WindowedFamily):
    """Root rows, a row for every measured joint torque and for every passive joint, a window."""

    name = "torque"
    fields = (*BASE, "acceleration", "torque")
    needs = ("rate",)
    scale_inputs = ("thrust", "wrench", "torque")

    def equations(
        self,
        system: System,
        samples: Samples,
        values: dict[str, float],
        *,
        options: LinearOptions = DEFAULTS,
        noise: bool = True,
    ) -> Equations:
        """Newton and Euler for the root and for every joint that can be balanced."""
        require_linear(system, tuple(values), springs=True)
        at = fit_windows(samples, system, misfit=options.window_misfit)
        at = with_fixed_root(system, at)
        need_motion(self.name, at)
        if not joint_rows(system, at):
            at.need(self.name, "torque")
        return newton_equations(self.name, system, at, values, joints=True, noise=noise)


TORQUE = Torque()
