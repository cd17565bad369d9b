# pyright: reportCallIssue=false
# (Numba hands an intrinsic its typing context itself)
"""Many simulations of one mechanism at once, LANES to a register."""

from __future__ import annotations

from freefloat.dynamics.kernels.integrate import Stages, rk4_loop
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.kernels.newton_euler import Work
from freefloat.numba_.compilation import kernel
from freefloat.numba_.lanes import as_lanes


@kernel
def rk4_lanes(tree, par, w, inputs, time, h, n_steps, every, x, stages, out):
    """Like `rk4`, for LANES simulations: every table has a last axis of that length.

    The inputs are common to all.
    """
    lanes_par = ParameterArrays(as_lanes(par.phi), as_lanes(par.rotor), as_lanes(par.spring))
    lanes_work = Work(
        as_lanes(w.L), as_lanes(w.U), as_lanes(w.root), as_lanes(w.H), as_lanes(w.rhs)
    )
    lanes_stages = Stages(as_lanes(stages.x), as_lanes(stages.k), as_lanes(stages.total))
    rk4_loop(
        tree, lanes_par, lanes_work, inputs, time, h, n_steps, every, as_lanes(x), lanes_stages,
        as_lanes(out),
    )  # fmt: skip
