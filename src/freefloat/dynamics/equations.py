"""The equations of motion as plain functions of a System and arrays of samples.

Rows are samples. Generalised forces and accelerations are ordered: root angular (3), root linear
(3), both in root axes, then every coordinate. The linear acceleration of the root is the classical
one (what an accelerometer at the root's origin feels, in the absence of gravity).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.state import as_states, positions, rates
from freefloat.dynamics.tree import System, without_environment


@dataclass(frozen=True)
class SystemMotion:
    """What a system does at its states.

    accelerations (N, 6 + c); forces (N, c): generalised force of every coordinate, which is what a
    torque sensor behind the gear reads; links (N, links, 46): the kernels' link table.
    """

    accelerations: Array
    forces: Array
    links: Array


def no_inputs(system: System, *, n_rows: int = 1) -> Inputs:
    """Input tables with every prescribed coordinate at home and nothing pushing."""
    homes = np.array([c.home for c in system.model.assembly.coordinates])
    given = np.zeros((n_rows, 3, len(system.tree.given), 3))
    given[..., 0] = homes[system.tree.given]
    gains = np.zeros((system.n_coordinates, 3))
    gains[:, 2] = np.inf
    return Inputs(
        given,
        np.zeros((n_rows, 3, system.n_coordinates, 3)),
        np.zeros((n_rows, 3, len(system.tree.thruster_link) + 6)),
        gains,
    )


def observe(
    system: System, states: ArrayLike, *, inputs: Inputs | None = None, times: ArrayLike = 0.0
) -> SystemMotion:
    """Accelerations and joint forces at given states.

    Args:
        system: The mechanism, from `flatten`; it has c coordinates.
        states: Rows (N, 13 + 2 c): position [m], quaternion, velocity [m/s] and rate [rad/s] of
            the root, then q and dq.
        inputs: Row i (stage 0) belongs to state i; without them nothing pushes.
        times: Of the states [s], which count on an orbit.

    Returns:
        Accelerations (N, 6 + c), forces of the coordinates (N, c), and the table of links.
    """
    from freefloat.dynamics.kernels.observe import observe as kernel

    table = as_states(states, system)
    n, c = len(table), system.n_coordinates
    if inputs is None:
        inputs = no_inputs(system, n_rows=n)
        inputs.given[..., 0] = positions(table)[:, None, system.tree.given]
        inputs.given[..., 1] = rates(table)[:, None, system.tree.given]
    motion = np.empty((n, 6 + 2 * c))
    work = new_work(system.tree)
    links = np.empty((n, *work.L.shape))
    at = np.ascontiguousarray(np.broadcast_to(np.asarray(times, dtype=float), (n,)))
    kernel(system.tree, system.parameters, work, inputs, at, table, motion, links)
    return SystemMotion(motion[:, : 6 + c], motion[:, 6 + c :], links)


def observe_sets(
    system: System, sets: ParameterArrays, states: Array, *, inputs: Inputs, times: Array
) -> SystemMotion:
    """`observe` with a parameter set of its own for every state: arrays with it as first axis."""
    from freefloat.dynamics.kernels.observe import observe_sets as kernel

    n, c = len(states), system.n_coordinates
    motion, work = np.empty((n, 6 + 2 * c)), new_work(system.tree)
    links = np.empty((n, *work.L.shape))
    kernel(system.tree, sets, work, inputs, times, states, motion, links)
    return SystemMotion(motion[:, : 6 + c], motion[:, 6 + c :], links)


def inverse_dynamics(
    system: System, rate: ArrayLike, acceleration: ArrayLike, coordinates: ArrayLike
) -> Array:
    """The generalised forces that a motion needs, without springs, fields and thrust.

    Args:
        system: The mechanism, from `flatten`; it has c coordinates.
        rate: Of the root (N, 3), in root axes [rad/s].
        acceleration: Of the root (N, 6), in root axes: linear [m/s^2], angular [rad/s^2].
        coordinates: q, dq, ddq of every coordinate (N, c, 3).

    Returns:
        Forces (N, 6 + c): on the root [N, N m], then of the coordinates [N m or N].
    """
    from freefloat.dynamics.kernels.observe import inverse_dynamics as kernel

    rate, acceleration, coordinates = _samples(rate, acceleration, coordinates)
    forces = np.empty((len(rate), 6 + system.n_coordinates))
    tree, work = without_environment(system).tree, new_work(system.tree)
    kernel(tree, system.parameters, work, rate, acceleration, coordinates, forces)
    return forces


def mass_matrix(system: System, q: ArrayLike) -> Array:
    """The mass matrix of the free accelerations (see `System.tree.free`) at coordinates q."""
    from freefloat.dynamics.kernels.observe import free_mass_matrix

    n = len(system.tree.free)
    H = np.empty((n, n))
    at = np.ascontiguousarray(q, dtype=float)
    free_mass_matrix(system.tree, system.parameters, new_work(system.tree), at, H)
    return H


@dataclass(frozen=True)
class Balance:
    """Conserved quantities of states, in world axes about the world's origin."""

    linear_momentum: Array  # (N, 3) [N s]
    angular_momentum: Array  # (N, 3) [N m s]
    com: Array  # (N, 3) [m]
    kinetic_energy: Array  # (N,) [J]
    spring_energy: Array  # (N,) [J]
    mass: float  # [kg]

    @property
    def energy(self) -> Array:
        """Kinetic plus spring energy [J]."""
        return self.kinetic_energy + self.spring_energy

    @property
    def angular_momentum_about_com(self) -> Array:
        """Angular momentum about the system's centre of mass (N, 3) [N m s]."""
        return self.angular_momentum - np.cross(self.com, self.linear_momentum)


def balance(system: System, states: ArrayLike) -> Balance:
    """Momentum, energy and centre of mass of states.

    >>> from freefloat.dynamics import Start, flatten
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("cepheus"))
    >>> float(balance(system, Start(velocity=(1.0, 0.0, 0.0)).vector(system)).kinetic_energy[0])
    5.1105
    """
    from freefloat.dynamics.kernels.observe import balance as kernel

    table = as_states(states, system)
    out = np.empty((len(table), 12))
    kernel(system.tree, system.parameters, new_work(system.tree), table, out)
    return Balance(out[:, :3], out[:, 3:6], out[:, 6:9], out[:, 9], out[:, 10], float(out[0, 11]))


def force_regressor(
    system: System,
    rate: ArrayLike,
    acceleration: ArrayLike,
    coordinates: ArrayLike,
    *,
    field: ArrayLike | None = None,
    out: Array | None = None,
) -> Array:
    """The matrix Y with `inverse_dynamics(...) == Y @ system_vector(system)`.

    Args:
        system: The mechanism, from `flatten`.
        rate, acceleration, coordinates: As for `inverse_dynamics`.
        field: Gravity [m/s^2] and direction of the orbit at the root (N, 6), in root axes.
        out: An earlier result for the same system and as many samples, to be overwritten in place
            of allocating anew.

    Returns:
        Y (N, 6 + c, 10 links + rotors).
    """
    from freefloat.dynamics.kernels.regressor import force_regressor as kernel

    rate, acceleration, coordinates = _samples(rate, acceleration, coordinates)
    n_columns = 10 * system.n_links + len(system.tree.rotor_link)
    shape = (len(rate), 6 + system.n_coordinates, n_columns)
    Y = out if out is not None and out.shape == shape else np.zeros(shape)
    tree = without_environment(system).tree if field is None else system.tree
    fields = np.zeros((len(rate), 6)) if field is None else np.ascontiguousarray(field, dtype=float)
    work, scratch = new_work(system.tree), np.zeros((6, 10))
    kernel(tree, work, scratch, rate, acceleration, coordinates, fields, Y)
    return Y


def momentum_regressor(
    system: System, rate: ArrayLike, velocity: ArrayLike, coordinates: ArrayLike
) -> tuple[Array, Array]:
    """Momentum and kinetic energy per unit of each inertial parameter.

    Args:
        system: The mechanism, from `flatten`.
        rate, velocity: Of the root (N, 3), in root axes [rad/s, m/s].
        coordinates: q, dq, ddq of every coordinate (N, c, 3); ddq does not count.

    Returns:
        Momentum (N, 6, 10 links + rotors): angular about the root's origin, then linear, both in
        root axes; and kinetic energy (N, 10 links + rotors).
    """
    from freefloat.dynamics.kernels.regressor import momentum_regressor as kernel

    rate, velocity, coordinates = _samples(rate, velocity, coordinates)
    n_columns = 10 * system.n_links + len(system.tree.rotor_link)
    momenta = np.zeros((len(rate), 6, n_columns))
    energies = np.zeros((len(rate), n_columns))
    kernel(system.tree, new_work(system.tree), rate, velocity, coordinates, momenta, energies)
    return momenta, energies


def conjugate_regressor(
    system: System, rate: ArrayLike, velocity: ArrayLike, coordinates: ArrayLike
) -> tuple[Array, Array]:
    """Momenta (N, 6 + c, columns) and slopes dT/dq (N, c, columns) per unit parameter.

    Together they are Lagrange's equations, d/dt dT/d(dq) - dT/dq = force, before anybody has
    differentiated by time: what is needed to integrate them instead. Rows of the momenta: angular
    about the root's origin, linear, both in root axes, then the conjugate momentum dT/d(dq) of
    every coordinate. `velocity` (N, 3) of the root in root axes.
    Columns as in `momentum_regressor`; times `system_vector` they are the system's.

    >>> from freefloat.dynamics import flatten, system_vector
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("cepheus"))
    >>> still, moving = np.zeros((1, 3)), np.zeros((1, system.n_coordinates, 3))
    >>> moving[0, 2, 1] = 100.0  # the wheel turns [rad/s]
    >>> momenta, _ = conjugate_regressor(system, still, still, moving)
    >>> spin = (momenta @ system_vector(system))[0]
    >>> bool(spin[2] == spin[8] == 100.0 * system.parameters.rotor[0])
    True
    """
    from freefloat.dynamics.kernels.conjugate_momenta import conjugate_regressor as kernel

    rate, velocity, coordinates = _samples(rate, velocity, coordinates)
    n, c = len(rate), system.n_coordinates
    n_columns = 10 * system.n_links + len(system.tree.rotor_link)
    momenta, slopes = np.zeros((n, 6 + c, n_columns)), np.zeros((n, c, n_columns))
    energies = np.zeros((n, n_columns))
    work = new_work(system.tree)
    kernel(system.tree, work, rate, velocity, coordinates, momenta, slopes, energies)
    return momenta, slopes


def conjugate_momenta(
    system: System, rate: ArrayLike, velocity: ArrayLike, coordinates: ArrayLike
) -> tuple[Array, Array]:
    """Momenta (N, 6 + c) and slopes dT/dq (N, c) of the system; see `conjugate_regressor`."""
    from freefloat.dynamics.kernels.conjugate_momenta import conjugate_momenta as kernel

    rate, velocity, coordinates = _samples(rate, velocity, coordinates)
    n, c = len(rate), system.n_coordinates
    momenta, slopes = np.zeros((n, 6 + c)), np.zeros((n, c))
    work = new_work(system.tree)
    kernel(system.tree, system.parameters, work, rate, velocity, coordinates, momenta, slopes)
    return momenta, slopes


def system_vector(system: System) -> Array:
    """The parameters the regressors multiply: ten a link, then the rotors' spin inertias."""
    return np.concatenate([system.parameters.phi.ravel(), system.parameters.rotor])


def coordinates_of(states: Array, accelerations: Array) -> Array:
    """(N, c, 3) q, dq, ddq from state vectors and accelerations (N, 6 + c)."""
    return np.ascontiguousarray(
        np.stack([positions(states), rates(states), accelerations[:, 6:]], axis=-1)
    )


def _samples(*tables: ArrayLike) -> list[Array]:
    return [np.ascontiguousarray(table, dtype=float) for table in tables]
