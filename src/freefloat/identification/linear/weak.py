"""The equations of motion in weak form: multiplied by test functions and integrated by parts.

So torques are compared without any acceleration. With test functions psi, in world axes and with L
about the root's moving origin, v its velocity in the frame that moves with the first sample,

    - int psi' P                        = int psi F
    - int psi' L + int psi v x P        = int psi M
    - int psi' p_j - int psi dT/dq_j    = int psi tau_j,     p_j = dT/d(dq_j),

gravity and springs of passive joints included, all linear in the parameters. Functions end where a
thruster or the commanded wrench switches: there torques jump, and their values on both sides are
not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import (
    conjugate_momenta,
    conjugate_regressor,
    force_regressor,
    inverse_dynamics,
    system_vector,
)
from freefloat.dynamics.joint_efforts import rotor_momenta
from freefloat.dynamics.tree import System
from freefloat.identification.linear.family import BASE, EquationInputs, Equations, Family
from freefloat.identification.linear.newton_euler_rows import (
    applied_forces,
    joint_rows,
    motor_side,
    root_rows,
    row_names,
    with_fixed_root,
    with_motors,
)
from freefloat.identification.linear.parameter_columns import change_matrix, require_linear
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.weighting_functions import (
    REACH,
    Errors,
    Grid,
    bump_functions,
    cut_grid,
)
from freefloat.identification.linear.windows import gravity, input_jumps


class Weak(Family):
    """Root rows and a row for every measured or passive joint, a test function."""

    name = "weak"
    fields = (*BASE, "torque")
    needs = BASE
    scale_inputs = ("thrust", "wrench", "torque")
    has_clock = True

    def rows(self, given: EquationInputs) -> Equations:
        """The weak form of the equations of motion."""
        system, names = given.system, given.names
        require_linear(system, names, springs=True)
        setting = weak_setting(self.name, system, given.samples)
        samples = setting.derive_rates(given.samples)
        rows = [*root_rows(system), *(6 + j for j in joint_rows(system, samples))]
        if not rows:
            samples.need(self.name, "torque")
        functions = bump_functions(setting.grid, given.options.half_width)
        momenta, forces, known = _linear(setting, samples, names, given.theta, rows)
        errors = setting.errors(samples, lambda at: _quantities(setting, at, rows))
        return Equations(
            self.name, names, len(names), functions.integral(momenta, forces),
            functions.integral(*known), *row_names(system, rows),
            *functions.covariance(errors if given.noise else (), len(rows)),
        )  # fmt: skip


WEAK_FORM = Weak()


@dataclass(frozen=True)
class Setting:
    """What stays the same when samples are disturbed.

    field (N, 6): gravity and orbit direction in world axes; drift (3,): velocity [m/s] of the frame
    everything is seen from.
    """

    system: System
    grid: Grid
    field: Array
    drift: Array

    def derive_rates(self, samples: Samples) -> Samples:
        """With rates that are not measured from differences of what is (see `test_functions`)."""
        samples = with_fixed_root(self.system, samples)
        if not samples.derived:
            return samples
        dq = samples.dq.copy()
        for k in samples.derived:
            dq[:, k] = self.grid.rate(samples.q[:, k], dq[:, k])
        return replace(samples, dq=dq)

    def motion(self, samples: Samples) -> tuple[Array, Array, Array]:
        """The root's rate and velocity (root axes, seen from the moving frame), coordinates."""
        assert samples.velocity is not None and samples.rate is not None
        u = np.einsum("nji,nj->ni", samples.rotation, samples.velocity - self.drift)
        return samples.rate, u, samples.coordinates

    def pull(self, samples: Samples) -> Array | None:
        """Generalised forces (N, 6 + c, columns) of gravity per unit parameter, root axes."""
        if not self.system.environment.has_gravity:
            return None
        zero, still = np.zeros((len(samples.time), 6)), samples.coordinates
        still[:, :, 1:] = 0.0
        back = np.swapaxes(samples.rotation, 1, 2)
        turned = [np.einsum("nij,nj->ni", back, self.field[:, k : k + 3]) for k in (0, 3)]
        return -force_regressor(self.system, zero[:, :3], zero, still, field=np.hstack(turned))

    def errors(self, samples: Samples, quantities) -> Iterator[Errors]:
        """How instantaneous momenta and forces (both N, k) move with every error of the samples.

        An angle whose rate is a difference moves that rate at the instants around it, too.
        """
        for source, (up, down) in zip(samples.sources, samples.disturb(), strict=True):
            slope = _half_difference(quantities(up), quantities(down))
            moved = {0: slope}
            field, column, size = source.parts[0]
            if field == "q" and column in samples.derived:
                by_rate = _by_rate(samples, column, quantities)
                for d in range(-REACH, REACH + 1):
                    gain = size * self.grid.differences[:, d + REACH, None]
                    part = by_rate[0] * gain, by_rate[1] * gain
                    moved[d] = (part[0] + slope[0], part[1] + slope[1]) if d == 0 else part
            yield moved


def weak_setting(family: str, system: System, samples: Samples) -> Setting:
    """The setting of a recording; the family needs attitude, rate and velocity of the root."""
    samples = with_fixed_root(system, samples)
    samples.need(family, "attitude", "rate", "velocity")
    assert samples.velocity is not None
    grid = cut_grid(samples.time, input_jumps(samples))
    return Setting(system, grid, gravity(system, samples), samples.velocity[0])


def _half_difference(up: tuple[Array, Array], down: tuple[Array, Array]) -> tuple[Array, Array]:
    return 0.5 * (up[0] - down[0]), 0.5 * (up[1] - down[1])


def _by_rate(samples: Samples, column: int, quantities) -> tuple[Array, Array]:
    """d quantities / d dq of a coordinate."""
    step = 1e-3 * max(float(np.max(np.abs(samples.dq[:, column]))), 1e-3)
    both = []
    for sign in (1.0, -1.0):
        dq = samples.dq.copy()
        dq[:, column] += sign * step
        both.append(quantities(replace(samples, dq=dq)))
    momenta, forces = _half_difference(*both)
    return momenta / step, forces / step


def _regressors(
    setting: Setting, samples: Samples, rows: list[int], columns: Array
) -> tuple[Array, Array]:
    """Momenta and what stands beside their change on the left side (N, k, columns), world axes.

    columns (all, wanted): sums of the regressor's own columns, taken before anything is turned.
    """
    momenta, slopes = conjugate_regressor(setting.system, *setting.motion(samples))
    pull = setting.pull(samples)
    momenta = momenta @ columns
    forces = np.zeros_like(momenta) if pull is None else -(pull @ columns)
    forces[:, 6:] -= slopes @ columns
    return _in_world(setting, samples, with_motors(momenta), with_motors(forces), rows)


def _quantities(setting: Setting, samples: Samples, rows: list[int]) -> tuple[Array, Array]:
    """The same of the system itself (N, k), less known forces; the two together come to zero.

    The gradient of gravity is left out: this is for errors, and it hardly moves with any.
    """
    system = setting.system
    momenta, slopes = conjugate_momenta(system, *setting.motion(samples))
    forces = np.zeros_like(momenta)
    forces[:, 6:] -= slopes
    gravity = system.environment.gravity
    if gravity.any():
        still, lift = samples.coordinates, np.zeros((len(samples.time), 6))
        still[:, :, 1:] = 0.0
        lift[:, 3:] = -np.einsum("nji,j->ni", samples.rotation, gravity)
        forces += inverse_dynamics(system, lift[:, :3], lift, still)
    momenta, forces = with_motors(momenta), with_motors(forces)
    forces += motor_side(system, samples, ())[1] - applied_forces(system, samples)
    momenta += _rotors(system, samples)[1]
    return _in_world(setting, samples, momenta, forces, rows)


def _rotors(system: System, samples: Samples, names: tuple[str, ...] = ()) -> tuple[Array, Array]:
    """What the rotors behind stiff gears add to the momenta, in the rows of motors.

    Per unit parameter (N, 6 + 2 c, names) and in all (N, 6 + 2 c).
    """
    columns, whole = rotor_momenta(system, names, samples.dq)
    first = 6 + system.n_coordinates
    return (
        np.pad(columns, ((0, 0), (first, 0), (0, 0))),
        np.pad(whole, ((0, 0), (first, 0))),
    )


def _in_world(
    setting: Setting, samples: Samples, momenta: Array, forces: Array, rows: list[int]
) -> tuple[Array, Array]:
    """The chosen rows, the root's turned to world axes and about its moving origin."""
    for table in (momenta, forces):
        _to_world(samples, table)
    assert samples.velocity is not None
    v = samples.velocity - setting.drift
    turning = np.swapaxes(np.cross(v[:, None, :], np.eye(3)), 1, 2)  # [v]x
    forces[:, :3] += _rotate(turning, momenta[:, 3:6])
    return momenta[:, rows], forces[:, rows]


def _to_world(samples: Samples, table: Array) -> None:
    """Turn the root's rows of (N, 6 + c, ...) from root to world axes."""
    R = samples.rotation
    for k in (0, 3):
        table[:, k : k + 3] = _rotate(R, table[:, k : k + 3])


def _rotate(R: Array, table: Array) -> Array:
    """R (N, 3, 3) times (N, 3) or (N, 3, columns)."""
    if table.ndim == 3:
        return R @ table
    # a product of many small matrices costs four times as much
    return sum((R[:, :, k] * table[:, k, None] for k in range(3)), np.zeros(()))


def _pushes(setting: Setting, samples: Samples, rows: list[int]) -> Array:
    """Known forces (N, k): on the root, in world axes, and joint torques."""
    known = applied_forces(setting.system, samples)
    _to_world(samples, known)
    return known[:, rows]


def _linear(
    setting: Setting, samples: Samples, names: tuple[str, ...], theta: Array, rows: list[int]
) -> tuple[Array, Array, tuple[Array, Array]]:
    """Columns of momenta and forces (N, k, names), and the known part of both (N, k)."""
    system = setting.system
    change = change_matrix(system, names)
    known = system_vector(system) - change @ theta
    both = _regressors(setting, samples, rows, np.column_stack([change, known]))
    momenta, forces = (table[:, :, :-1] for table in both)
    kept, rest = (table[:, :, -1] for table in both)
    own, whole = motor_side(system, samples, names)
    forces += own[:, rows]
    push = _pushes(setting, samples, rows) - rest - (whole - own @ theta)[:, rows]
    spin, spun = _rotors(system, samples, names)
    momenta += spin[:, rows]
    kept = kept + (spun - spin @ theta)[:, rows]
    return momenta, forces, (-kept, push)
