"""Forces on the root: the derivative of the momentum family (paper 001, eqs 19-33).

The whole system's acceleration against the known thrust. Blind to a constant velocity, and the
first to suffer from noise, since it needs accelerations; the momentum family does not.
"""

from __future__ import annotations

from dataclasses import replace

from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import BASE, EquationInputs, Equations
from freefloat.identification.linear.newton_euler_rows import (
    WindowedFamily,
    need_motion,
    newton_equations,
    with_fixed_root,
)
from freefloat.identification.linear.parameter_columns import require_linear
from freefloat.identification.linear.windows import fit_windows


class Force(WindowedFamily):
    """Six rows a window: torque and force on the root, known to be thrust and wrench alone."""

    name = "force"
    fields = (*BASE, "acceleration")
    needs = ("rate",)

    def rows(self, given: EquationInputs) -> Equations:
        """Newton and Euler for the root."""
        system = given.system
        require_linear(system, given.names)
        if system.model.root.type == "fixed":
            raise IdentificationError(
                "the forces on a fixed root are not known; use the torque method",
                code="method.fixed_root",
            )
        at = fit_windows(given.samples, system, misfit=given.options.window_misfit)
        at = with_fixed_root(system, at)
        need_motion(self.name, at)
        return newton_equations(self.name, replace(given, samples=at), joints=False)


FORCE = Force()
