"""Forces on the root and torques in the joints: the full equations of motion.

The one family in which measured torques fix the scale without any external force. Stiffness,
damping and friction of passive joints are linear here, too.
"""

from __future__ import annotations

from dataclasses import replace

from freefloat.identification.linear.family import BASE, EquationInputs, Equations
from freefloat.identification.linear.newton_euler_rows import (
    WindowedFamily,
    joint_rows,
    need_motion,
    newton_equations,
    with_fixed_root,
)
from freefloat.identification.linear.parameter_columns import require_linear
from freefloat.identification.linear.windows import fit_windows


class Torque(WindowedFamily):
    """Root rows, a row for every measured joint torque and for every passive joint, a window."""

    name = "torque"
    fields = (*BASE, "acceleration", "torque")
    needs = ("rate",)
    scale_inputs = ("thrust", "wrench", "torque")

    def rows(self, given: EquationInputs) -> Equations:
        """Newton and Euler for the root and for every joint that can be balanced."""
        system = given.system
        require_linear(system, given.names, springs=True)
        at = fit_windows(given.samples, system, misfit=given.options.window_misfit)
        at = with_fixed_root(system, at)
        need_motion(self.name, at)
        if not joint_rows(system, at):
            at.need(self.name, "torque")
        return newton_equations(self.name, replace(given, samples=at), joints=True)


TORQUE = Torque()
