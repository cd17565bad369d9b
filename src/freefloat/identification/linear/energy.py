"""The power balance in weak form: kinetic energy against the work of torques and forces.

One row a test function psi (see `test_functions`),

    -int psi' T = int psi (tau . dq + M . w + F . v),

seen from the frame that moves with the first velocity sample; gravity included, and springs,
friction and rotors where tau is what the motor applies. The cheapest family, and the one that
observes least; every torque that does work must be known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance, momentum_regressor
from freefloat.dynamics.joint_efforts import rotor_momenta
from freefloat.dynamics.state import VELOCITY
from freefloat.dynamics.tree import ARMATURE, System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import BASE, EquationInputs, Equations, Family
from freefloat.identification.linear.newton_euler_rows import (
    applied_forces,
    joint_rows,
    motor_side,
    with_motors,
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
    known = {place % system.n_coordinates for place in joint_rows(system, samples)}
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
    spin, spun = _rotor_energy(system, samples, names)
    energy, kept = energy + spin, kept + spun - spin @ theta
    work = np.sum(applied_forces(system, samples) * rates, axis=1)
    own, whole = motor_side(system, samples, names)
    power = np.einsum("nr,nrp->np", rates, own)
    work -= np.sum(rates * (whole - own @ theta), axis=1)
    pull = setting.pull(samples)
    if pull is not None:
        speeds = _speeds(setting, samples)
        lift, rest = parameter_columns(system, names, -np.einsum("nr,nrk->nk", speeds, pull), theta)
        power, work = power + lift, work - rest
    return energy[:, None], power[:, None], (-kept[:, None], work[:, None])


def _speeds(setting: Setting, samples: Samples) -> Array:
    """Generalised velocities (N, 6 + c): the root's in root axes, then every coordinate's."""
    rate, velocity, _ = setting.motion(samples)
    return np.hstack([rate, velocity, samples.dq])


def _rates(setting: Setting, samples: Samples) -> Array:
    """The same for every row of `applied_forces`, zero but for one torque of each coordinate."""
    rates = with_motors(_speeds(setting, samples))
    counted = [6 + place for place in _work_places(setting.system, samples)]
    left_out = np.setdiff1d(np.arange(6, rates.shape[1]), counted)
    rates[:, left_out] = 0.0
    return rates


def _work_places(system: System, samples: Samples) -> list[int]:
    """One place of `Samples.torque` for every coordinate: behind the gear if it is known there."""
    found: dict[int, int] = {}
    for place in joint_rows(system, samples):
        found.setdefault(place % system.n_coordinates, place)
    return list(found.values())


def _rotor_energy(
    system: System, samples: Samples, names: tuple[str, ...] = ()
) -> tuple[Array, Array]:
    """Energy of the rotors behind stiff gears whose motors' work is counted.

    Per unit parameter (N, names) and in all (N,).
    """
    columns, whole = rotor_momenta(system, names, samples.dq)
    counted = [k for k in _work_places(system, samples) if k >= system.n_coordinates]
    motors = [k - system.n_coordinates for k in counted]
    half = 0.5 * samples.dq[:, motors]
    return np.einsum("nj,njp->np", half, columns[:, motors]), np.sum(
        half * whole[:, motors], axis=1
    )


def _quantities(setting: Setting, samples: Samples) -> tuple[Array, Array]:
    """Kinetic energy and less the power (N, 1) of the system itself, for their errors.

    Gravity is taken as uniform: its gradient hardly moves with any error.
    """
    system, states = _without_rotors(setting.system), samples.states
    states[:, VELOCITY] -= setting.drift
    at = balance(system, states)
    rates = _rates(setting, samples)
    power = np.sum(applied_forces(system, samples) * rates, axis=1)
    power -= np.sum(rates * motor_side(system, samples, ())[1], axis=1)
    power += at.linear_momentum @ system.environment.gravity
    energy = at.kinetic_energy + _rotor_energy(setting.system, samples)[1]
    return energy[:, None], -power[:, None]


def _without_rotors(system: System) -> System:
    """The system without what rotors behind stiff gears add to its joints."""
    spring = system.parameters.spring.copy()
    spring[:, ARMATURE] = 0.0
    return replace(system, parameters=system.parameters._replace(spring=spring))
