"""Linear and angular momentum of the whole system and the impulse of known forces (paper 001).

With phi about the sensor point one plain least squares does what the paper's modified RLS does.
Four rules decide the accuracy: work in the frame that moves with the first velocity sample
(Galilean shift); take angular rows about the sensor, not about a fixed origin; let the initial
momentum be unknown instead of trusting one noisy sample; integrate velocity rather than measure
position. Then

    P(t) - P0 = int F,     dL + dr x P = int M + (r' - r) x F

with L about the root's origin, dL and dr the changes from one sample to the next: so the noise of
the velocity enters each angular row once, instead of walking along with its integral. All in world
axes. Neighbouring angular rows share a sample; the whitening knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance, momentum_regressor
from freefloat.dynamics.state import POSITION, RATE, VELOCITY
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import BASE, EquationInputs, Equations, Family, floor_of
from freefloat.identification.linear.linear_options import DEFAULTS, LinearOptions
from freefloat.identification.linear.parameter_columns import parameter_columns, require_linear
from freefloat.identification.linear.sample_reader import thrust_between
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import fit_windows, wrench_jumps
from freefloat.notes import Note
from freefloat.telemetry.thrust_levels import insert_switches

NUISANCE = tuple(f"momentum0.{axis}" for axis in "xyz")
LABELS = tuple(f"{kind}.{axis}" for kind in ("linear", "angular") for axis in "xyz")
UNITS = ("N s",) * 3 + ("N m s",) * 3


class Momentum(Family):
    """Linear momentum at, and change of angular momentum over, every interval between samples."""

    name = "momentum"
    fields = needs = BASE
    has_clock = True
    needs_free_root = True

    def prepare(
        self, system: System, samples: Samples, *, options: LinearOptions = DEFAULTS
    ) -> Samples:
        """Seen from the frame that moves with the first velocity sample (Galilean shift)."""
        samples = super().prepare(system, samples)
        if system.environment.gravity.any() or system.environment.has_drag:
            raise IdentificationError(
                "the momentum method leaves gravity and drag out; use weak", code="method.gravity"
            )
        if len(wrench_jumps(samples)):
            raise IdentificationError(
                "the commanded wrench jumps between samples, which the momentum method integrates"
                " smoothly; use weak",
                code="method.wrench_jumps",
            )
        if samples.derived:
            every = fit_windows(samples, system, misfit=options.window_misfit)
            samples = replace(every, thrust=thrust_between(samples, every.time))
        assert samples.velocity is not None
        notes = samples.notes
        if system.environment.gradient:
            text = "the gravity gradient of the orbit is left out; the weak form takes it in"
            notes = (*notes, Note("momentum.gradient_left_out", text))
        return replace(samples, velocity=samples.velocity - samples.velocity[0], notes=notes)

    def rows(self, given: EquationInputs) -> Equations:
        """P and dL + dr x P of every interval, with the initial momentum as nuisance."""
        system, samples, names = given.system, given.samples, given.names
        require_linear(system, names)
        push, turn, step = _impulses(system, samples)
        columns, known = parameter_columns(system, names, _regressor(system, samples), given.theta)
        nuisance = np.zeros((len(step), 6, 3))
        nuisance[:, :3] = -np.eye(3)
        nuisance[:, 3:] = np.cross(step[:, None, :], np.eye(3)).swapaxes(1, 2)  # [dr]x
        Y = np.concatenate([columns, nuisance], axis=2)
        y = np.hstack([push[1:], turn]) - known
        none = np.zeros((2, 0, 6, 6))
        blocks, neighbours = _noise(system, samples, given.options.gap) if given.noise else none
        rows, kept = _root_rows(system), _root_nuisance(system)
        chosen = [*range(len(names)), *(len(names) + k for k in kept)]
        return Equations(
            self.name, (*names, *(NUISANCE[k] for k in kept)), len(names),
            Y[:, rows][:, :, chosen], y[:, rows], tuple(LABELS[k] for k in rows),
            tuple(UNITS[k] for k in rows), blocks[:, rows][:, :, rows],
            neighbours[:, rows][:, :, rows],
        )  # fmt: skip


MOMENTUM = Momentum()


def _root_rows(system: System) -> list[int]:
    """Rows that a planar root can have: x and y of P, z of L."""
    return [0, 1, 5] if system.model.root.type == "planar" else [0, 1, 2, 3, 4, 5]


def _root_nuisance(system: System) -> list[int]:
    return [0, 1] if system.model.root.type == "planar" else [0, 1, 2]


def _regressor(system: System, samples: Samples) -> Array:
    """P at the end of every interval and the change of L over it (N - 1, 6, columns), world."""
    R, velocity = samples.rotation, samples.velocity
    assert samples.rate is not None and velocity is not None
    body_velocity = np.einsum("nji,nj->ni", R, velocity)
    local, _ = momentum_regressor(system, samples.rate, body_velocity, samples.coordinates)
    P, L = R @ local[:, 3:], R @ local[:, :3]
    return np.concatenate([P[1:], np.diff(L, axis=0)], axis=1)


def _impulses(system: System, samples: Samples) -> tuple[Array, Array, Array]:
    """Impulse int F (N, 3), angular right side of every interval (N - 1, 3), and its dr.

    Over an interval, dL + dr x P0 = int (M + (r - r_end) x F) - dr x (impulse so far).
    """
    time, wrench = samples.time, samples.wrench
    assert samples.velocity is not None
    r = root_displacement(system, samples)
    step = np.diff(r, axis=0)
    push, turn = np.zeros_like(r), np.zeros_like(step)
    if wrench.any():
        push += running_integral(time, wrench[:, 3:])
        turn += np.diff(running_integral(time, wrench[:, :3] + np.cross(r, wrench[:, 3:])), axis=0)
    for k in np.flatnonzero(samples.thrust.any(axis=0)):
        # the level is held while its direction turns smoothly with the root
        along = samples.rotation @ system.tree.thrusters[k, 3:]
        about = samples.rotation @ system.tree.thrusters[k, :3] + np.cross(r, along)
        level = samples.thrust[:, k]
        push += held_integral(time, along, level)
        turn += np.diff(held_integral(time, about, level), axis=0)
    # int r x F - (r_end x J_end - r_start x J_start) is the torque about the moving origin
    swept = np.diff(np.cross(r, push), axis=0)
    return push, turn - swept, step


def _noise(system: System, samples: Samples, gap: float) -> tuple[Array, Array]:
    """Covariance of each interval's rows and with the next one's.

    A sample's error (in P and L) enters the rows of the interval it ends as (P, +L) and of the
    interval it starts as (0, -L); the velocity also through dr x P, half to each side.
    """
    n = len(samples.time)
    ends, starts, shared = np.zeros((3, n, 6, 6))
    momentum = _momenta(system, samples)[:, :3]
    half = 0.5 * np.gradient(samples.time)[:, None]
    for slope, moved in _slopes(system, samples, momentum, half):
        end = np.hstack([slope[:, :3], slope[:, 3:] + moved])
        start = np.hstack([np.zeros_like(moved), -slope[:, 3:] + moved])
        ends += end[:, :, None] * end[:, None, :]
        starts += start[:, :, None] * start[:, None, :]
        shared += end[:, :, None] * start[:, None, :]
    blocks = ends[1:] + starts[:-1]
    blocks = blocks + np.diag(floor_of(blocks))
    # a variance so large that such a row has no weight
    blocks[_gaps(samples, gap)] += 1e12 * np.diag([0.0, 0.0, 0.0, *np.max(blocks, axis=(0, 1))[3:]])
    return blocks, shared[1:-1]


def _gaps(samples: Samples, gap: float) -> NDArray[np.intp]:
    """Intervals too long to know how far the root went: they say nothing of angular momentum."""
    step = np.diff(samples.time)
    return np.flatnonzero(step > gap * np.median(step))


def _slopes(
    system: System, samples: Samples, momentum: Array, half: Array
) -> Iterator[tuple[Array, Array]]:
    """How P and L, and dr x P, move with every error."""
    for up, down in samples.disturb("attitude", "rate", "velocity", "q", "dq"):
        assert up.velocity is not None and down.velocity is not None
        slope = 0.5 * (_momenta(system, up) - _momenta(system, down))
        yield slope, np.cross(half * 0.5 * (up.velocity - down.velocity), momentum)


def _momenta(system: System, samples: Samples) -> Array:
    found = balance(system, samples.states)
    return np.hstack([found.linear_momentum, found.angular_momentum])


def running_integral(time: Array, values: Array) -> Array:
    """Running integral from the first instant: the cubic spline through the samples, integrated."""
    from scipy.interpolate import CubicSpline

    whole = CubicSpline(time, values, axis=0).antiderivative()
    return whole(time) - whole(time[0])


def held_integral(time: Array, values: Array, level: Array) -> Array:
    """Running integral of values times a level that is held, and switches when its means say."""
    from scipy.interpolate import CubicSpline

    at, held = insert_switches(time, level)
    whole = CubicSpline(time, values, axis=0).antiderivative()(at)
    gained = np.cumsum(held[:-1, None] * np.diff(whole, axis=0), axis=0)
    return np.vstack([np.zeros((1, values.shape[1])), gained])[np.searchsorted(at, time)]


def root_displacement(system: System, samples: Samples) -> Array:
    """How far (N, 3) the root's origin went since the first sample [m], world axes.

    A spline through a velocity that thrust has bent at an instant overshoots on both sides. How
    much it bends is known from the system as it is thought to be: the part of the velocity that
    thrust makes is integrated by itself, piece by piece, and only the smooth rest by a spline.
    """
    from scipy.interpolate import CubicSpline

    time, velocity, thrust = samples.time, samples.velocity, samples.thrust
    assert velocity is not None
    switching = np.flatnonzero(np.any(np.diff(thrust, axis=0) != 0.0, axis=0))
    if not len(switching):
        return running_integral(time, velocity)
    inertia = _inertia(system, samples)
    pushed, way = np.zeros_like(velocity), np.zeros_like(velocity)
    for k in switching:
        wrench = system.tree.thrusters[k]
        unit = np.hstack([samples.rotation @ wrench[3:], samples.rotation @ wrench[:3]])
        bent = CubicSpline(time, _root_acceleration(system, inertia, unit), axis=0)
        at, held = insert_switches(time, thrust[:, k])
        once, twice = bent.antiderivative(1)(at), bent.antiderivative(2)(at)
        level, h = held[:-1, None], np.diff(at)[:, None]
        gained = np.vstack([np.zeros(3), np.cumsum(level * np.diff(once, axis=0), axis=0)])
        steps = gained[:-1] * h + level * (np.diff(twice, axis=0) - once[:-1] * h)
        sampled = np.searchsorted(at, time)
        pushed += gained[sampled]
        way += np.vstack([np.zeros(3), np.cumsum(steps, axis=0)])[sampled]
    return way + running_integral(time, velocity - pushed)


def _inertia(system: System, samples: Samples) -> Array:
    """Of everything with joints held (N, 6, 6): momenta of unit velocities, then unit rates."""
    found = np.zeros((len(samples.time), 6, 6))
    still = samples.states.copy()
    still[:, POSITION] = still[:, VELOCITY] = still[:, RATE] = 0.0
    still[:, system.layout.dq] = 0.0
    for axis in range(3):
        for first, direction in ((7, np.eye(3)[axis]), (10, samples.rotation[:, axis, :])):
            moving = still.copy()
            moving[:, first : first + 3] = direction
            at = balance(system, moving)
            column = axis if first == 7 else 3 + axis
            found[:, :, column] = np.hstack([at.linear_momentum, at.angular_momentum])
    return found


def _root_acceleration(system: System, inertia: Array, wrench: Array) -> Array:
    """The root's linear acceleration (N, 3) under force and torque (N, 6), world axes."""
    kept = [0, 1, 5] if system.model.root.type == "planar" else list(range(6))
    found = np.zeros((len(wrench), 6))
    found[:, kept] = np.linalg.solve(inertia[:, kept][:, :, kept], wrench[:, kept, None])[..., 0]
    return found[:, :3]
