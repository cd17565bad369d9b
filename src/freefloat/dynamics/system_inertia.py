"""The system as a whole at many states: mass, centre of mass, momentum, inertia, in world axes.

Plain NumPy, sample by sample side by side, and a formulation of its own: nothing has to be compiled
for it, and it checks what the kernels say of the same quantities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import ATTITUDE, POSITION, RATE, VELOCITY, positions, rates
from freefloat.dynamics.tree import REVOLUTE, ROOT_FREE, System
from freefloat.model import inertia as inertial
from freefloat.model.rotations import matrix_from_quaternion


@dataclass(frozen=True)
class SystemInertia:
    """All bodies together at N states.

    mass [kg], com (N, 3) [m], momentum (N, 3) [N s], spin (N, 3) [N m s]: the angular momentum
    about the centre of mass; inertia (N, 3, 3) [kg m^2] about it, everything locked.
    """

    mass: float
    com: Array
    momentum: Array
    spin: Array
    inertia: Array


@dataclass(frozen=True)
class _Moving:
    """A link at N states: rotation to world, origin, rate and velocity of the origin."""

    R: Array
    p: Array
    w: Array
    v: Array


def system_inertia(system: System, states: Array) -> SystemInertia:
    """The system as a whole at states (N, 13 + 2 c).

    >>> from freefloat.dynamics import Start, flatten
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("cepheus"))
    >>> x = Start(velocity=(2.0, 0.0, 0.0)).vector(system)
    >>> system_inertia(system, x[None]).momentum[0].round(3).tolist()
    [20.442, 0.0, 0.0]
    """
    links = _links(system, states)
    n = len(states)
    mass, first, second = 0.0, np.zeros((n, 3)), np.zeros((n, 3, 3))
    momentum, angular = np.zeros((n, 3)), np.zeros((n, 3))
    for link, phi in zip(links, system.parameters.phi, strict=True):
        J = inertial.pseudo_inertia(phi)
        m, mc, S = J[3, 3], link.R @ J[:3, 3], link.R @ J[:3, :3] @ np.swapaxes(link.R, 1, 2)
        own = m * link.v + np.cross(link.w, mc)
        about_origin = _inertia_times(S, link.w) + np.cross(mc, link.v)
        momentum += own
        angular += np.cross(link.p, own) + about_origin
        mass += m
        first += m * link.p + mc
        mixed = mc[:, :, None] * link.p[:, None, :]
        second += S + mixed + np.swapaxes(mixed, 1, 2)
        second += m * link.p[:, :, None] * link.p[:, None, :]
    angular += _rotor_spin(system, states, links)
    com = first / mass
    S_com = second - mass * com[:, :, None] * com[:, None, :]
    inertia = np.trace(S_com, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S_com
    return SystemInertia(mass, com, momentum, angular - np.cross(com, momentum), inertia)


def _inertia_times(S: Array, w: Array) -> Array:
    """I w with I = tr(S) 1 - S, S being the integral of r r^T dm."""
    return np.trace(S, axis1=1, axis2=2)[:, None] * w - np.einsum("nij,nj->ni", S, w)


def _links(system: System, states: Array) -> list[_Moving]:
    R = matrix_from_quaternion(states[:, ATTITUDE])
    rate = np.einsum("nij,nj->ni", R, states[:, RATE])
    links = [_Moving(R, states[:, POSITION], rate, states[:, VELOCITY])]
    q, dq = positions(states), rates(states)
    for i in range(1, system.n_links):
        index, kind = system.tree.links[i]
        place = system.tree.place[i]
        parent = links[index]
        R_joint = parent.R @ place[:9].reshape(3, 3)
        z = R_joint[:, :, 2]  # the joint axis
        arm = parent.R @ place[9:]
        at, speed = q[:, i - 1, None], dq[:, i - 1, None]
        if kind == REVOLUTE:
            R, w, slide = R_joint @ _about_z(q[:, i - 1]), parent.w + z * speed, np.zeros_like(z)
        else:
            R, w, slide = R_joint, parent.w, z * speed
            arm = arm + z * at
        v = parent.v + np.cross(parent.w, arm) + slide
        links.append(_Moving(R, parent.p + arm, w, v))
    return links


def _about_z(angle: Array) -> Array:
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    rows = [c, -s, zero, s, c, zero, zero, zero, zero + 1.0]
    return np.stack(rows, axis=-1).reshape(-1, 3, 3)


def _rotor_spin(system: System, states: Array, links: list[_Moving]) -> Array:
    """What wheels and motors carry by turning faster than the links that carry them."""
    spin = np.zeros((len(states), 3))
    dq = rates(states)
    for r, link in enumerate(system.tree.rotor_link):
        axis, ratio = system.tree.rotors[r, :3], system.tree.rotors[r, 3]
        speed = ratio * dq[:, system.n_links - 1 + r]
        spin += system.parameters.rotor[r] * speed[:, None] * (links[link].R @ axis)
    return spin


@dataclass(frozen=True)
class MomentumChange:
    """How far momentum went from its start, and how much of that nothing explains.

    `linear` [N s] and `angular` [N m s] (about the system's centre of mass) are the largest
    changes; `linear_drift` and `angular_drift` what is left of them once the surroundings are
    accounted for, hence the integrator's error.
    """

    linear: float
    angular: float
    linear_drift: float
    angular_drift: float


def momentum_change(system: System, times: Array, states: Array) -> MomentumChange:
    """How momentum changed along a trajectory on which nobody pushed from outside.

    A planar root counts in its plane only; a fixed root holds, so its momentum means nothing.
    """
    from scipy.interpolate import CubicSpline

    at = system_inertia(system, states)
    force, torque = environment_wrench(system, times, states, at)
    axes = np.isin(np.arange(6), ROOT_FREE[system.model.root.type])
    largest = []
    for momentum, wrench, counted in (
        (at.momentum, force, axes[3:]),
        (at.spin, torque, axes[:3]),
    ):
        change = (momentum - momentum[0]) * counted
        given = CubicSpline(times, wrench * counted).antiderivative()(times)
        largest += [_largest(change), _largest(change - given)]
    return MomentumChange(largest[0], largest[2], largest[1], largest[3])


def environment_wrench(
    system: System, times: Array, states: Array, at: SystemInertia | None = None
) -> tuple[Array, Array]:
    """Force (N, 3) [N] and torque about the centre of mass (N, 3) [N m], in world axes."""
    at = system_inertia(system, states) if at is None else at
    environment = system.environment
    force = np.tile(at.mass * environment.gravity, (len(states), 1))
    torque = np.zeros_like(force)
    if environment.gradient > 0.0:
        n2, r = environment.gradient, environment.radial_at(times)
        along = np.sum(r * at.com, axis=1, keepdims=True)
        force += at.mass * n2 * (3.0 * along * r - at.com)
        # The textbook torque 3 n^2 r x I r, about the centre of mass.
        torque += 3.0 * n2 * np.cross(r, np.einsum("nij,nj->ni", at.inertia, r))
    drag = -environment.linear_drag * states[:, VELOCITY]
    rate = np.einsum("nij,nj->ni", matrix_from_quaternion(states[:, ATTITUDE]), states[:, RATE])
    torque += np.cross(states[:, POSITION] - at.com, drag) - environment.angular_drag * rate
    return force + drag, torque


def _largest(rows: Array) -> float:
    return float(np.max(np.linalg.norm(rows, axis=1)))
