"""The power balance in weak form: kinetic energy against the work of torques and forces.

One row a test function psi (see `test_functions`),

    -int psi' T = int psi (tau . dq + M . w + F . v),

seen from the frame that moves with the first velocity sample; gravity and the springs of passive
joints included. The cheapest family, and the one that observes least; every torque that does work
must be known.
"""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance, momentum_regressor
from freefloat.dynamics.state import VELOCITY
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import BASE, EquationInputs, Equations, Family
from freefloat.identification.linear.newton_euler_rows import (
    applied_forces,
    joint_rows,
    passive_springs,
)
from freefloat.identification.linear.parameter_columns import parameter_columns, require_linear
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.weak import Setting, weak_setting
from freefloat.identification.linear.weighting_functions import bump_functions


class Energy(Family):
    """One row a test function: mean power [W] into the kinetic energy."""

    name = "energy"
    fields = needs = (*BASE, "torque")
    scale_inputs = ("thrust", "wrench", "torque")
    has_clock = True

    def rows(self, given: EquationInputs) -> Equations:
        """The power balance in weak form."""
        system, names = given.system, given.names
        require_linear(system, names, springs=True)
        setting = weak_setting(self.name, system, given.samples)
        samples = setting.derive_rates(given.samples)
        _need_torques(system, samples)
        functions = bump_functions(setting.grid, given.options.half_width)
        energy, power, known = _linear(setting, samples, names, given.theta)
        errors = setting.errors(samples, lambda at: _quantities(setting, at))
        return Equations(
            self.name, names, len(names), functions.integral(energy, power),
            functions.integral(*known), ("power",), ("W",),
            *functions.covariance(errors if given.noise else (), 1),
        )  # fmt: skip


ENERGY = Energy()


def _need_torques(system: System, samples: Samples) -> None:
    """Raise IdentificationError naming the coordinates that move by an unknown torque."""
    known = joint_rows(system, samples)
    missing = [
        f"{name}.torque"
        for j, name in enumerate(system.coordinates)
        if j not in known and samples.dq[:, j].any()
    ]
    if missing:
        raise IdentificationError(
            "the energy family needs the torque of everything that moves; the recording lacks "
            + ", ".join(missing),
            code="channel.missing",
        )


def _linear(
    setting: Setting, samples: Samples, names: tuple[str, ...], theta: Array
) -> tuple[Array, Array, tuple[Array, Array]]:
    """Columns of energy and power (N, 1, names), and the known part of both (N, 1)."""
    system, rates = setting.system, _rates(setting, samples)
    _, energy = momentum_regressor(system, *setting.motion(samples))
    energy, kept = parameter_columns(system, names, energy, theta)
    work = np.sum(applied_forces(system, samples) * rates, axis=1)
    own, whole = passive_springs(system, samples, names)
    power = np.einsum("nc,ncp->np", samples.dq, own)
    work -= np.sum(samples.dq * (whole - own @ theta), axis=1)
    pull = setting.pull(samples)
    if pull is not None:
        lift, rest = parameter_columns(system, names, -np.einsum("nr,nrk->nk", rates, pull), theta)
        power, work = power + lift, work - rest
    return energy[:, None], power[:, None], (-kept[:, None], work[:, None])


def _rates(setting: Setting, samples: Samples) -> Array:
    """Generalised velocities (N, 6 + c): the root's in root axes, then every coordinate's."""
    rate, velocity, _ = setting.motion(samples)
    return np.hstack([rate, velocity, samples.dq])


def _quantities(setting: Setting, samples: Samples) -> tuple[Array, Array]:
    """Kinetic energy and less the power (N, 1) of the system itself, for their errors.

    Gravity is taken as uniform: its gradient hardly moves with any error.
    """
    system, states = setting.system, samples.states
    states[:, VELOCITY] -= setting.drift
    at = balance(system, states)
    power = np.sum(applied_forces(system, samples) * _rates(setting, samples), axis=1)
    power -= np.sum(samples.dq * passive_springs(system, samples, ())[1], axis=1)
    power += at.linear_momentum @ system.environment.gravity
    return at.kinetic_energy[:, None], -power[:, None]
