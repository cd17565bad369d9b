"""Reduced dynamics: the root's linear acceleration eliminated; gyro, encoders and torques suffice.

With everything but the root body known, the equations are affine in what is left of it,

    1/M,   s/M,   I' = I - (s.s 1 - s s^T) / M,

M the mass of the whole system, s and I the root body's first moment and inertia about its origin.
The forces on the root say M a + W s + f = F (f: the rest with the root's origin not accelerating,
W = [alpha]x + [w]x [w]x less the gradient of gravity), so a = (F - f) / M - W s / M is put into
the torques on the root and in the joints. Gyro noise biases it: a starting point, not an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import force_regressor, system_vector
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import EquationInputs, Equations, LinearForm, covariance
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.identification.linear.newton_euler_rows import (
    WindowedFamily,
    applied_forces,
    joint_rows,
    motion_of,
    motor_side,
    orbit_field,
    root_rows,
    row_names,
    with_motors,
)
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import fit_windows
from freefloat.model import inertia as inertial
from freefloat.model.parameter_name import owner_of
from freefloat.parameters.parameters import Parameter, Parameters

SIX = ("xx", "xy", "xz", "yy", "yz", "zz")
NAMES = ("1/M", *(f"s/M.{axis}" for axis in "xyz"), *(f"I'.{pair}" for pair in SIX))
PLANAR = (0, 1, 2, 9)  # theory: what a motion in the plane shows of the ten: 1/M, x, y, zz


class Reduced(WindowedFamily):
    """Root torque and a row for every measured or passive joint, a window.

    The unknowns are `reduced_names`; of the standard parameters only the root body's may be free.
    """

    name = "reduced"
    fields = ("rate", "attitude", "torque")
    needs = ("rate", "torque")
    scale_inputs = ("torque",)
    is_start_only = True
    has_own_unknowns = True

    def rows(self, given: EquationInputs) -> Equations:
        """The rows in the reduced parameters; of the values only the names count."""
        system = given.system
        _require_root(system, given.names)
        at = fit_windows(given.samples, system, misfit=given.options.window_misfit)
        at.need(self.name, "rate")
        if not joint_rows(system, at):
            at.need(self.name, "torque")
        rows = [*(k for k in root_rows(system) if k < 3), *(6 + j for j in joint_rows(system, at))]
        kept = parameter_places(system)
        Y, y = _linear(system, at, rows)
        names = reduced_names(system)
        k = len(rows)
        blocks = covariance(_slopes(system, at, rows)) if given.noise else np.zeros((0, k, k))
        return Equations(
            self.name, names, len(names), Y[:, :, kept], y, *row_names(system, rows), blocks
        )

    def form(self, system: System, parameters: Parameters, options: LinearOptions) -> LinearForm:
        """The reduced parameters as unknowns; they are functions of the standard ones."""
        unknowns = tuple(
            Parameter(name, float(value), "", status="free")
            for name, value in zip(reduced_names(system), standard_to_reduced(system), strict=True)
        )
        asked = {name: 0.0 for name in parameters.names}

        def equations(
            system: System, samples: Samples, values: dict[str, float], noise: bool = True
        ) -> Equations:
            return self.equations(system, samples, asked, options=options, noise=noise)

        return LinearForm(unknowns, equations, unknowns_of=standard_to_reduced)


REDUCED = Reduced()


def _require_root(system: System, names: Sequence[str]) -> None:
    root = system.model.root
    if root.type == "fixed":
        raise IdentificationError(
            "the reduced family is for roots that float; this one is fixed",
            code="method.fixed_root",
        )
    bad = [name for name in names if owner_of(name) != root.body]
    if bad:
        raise IdentificationError(
            f"the reduced family finds {root.body}.* only, not {', '.join(bad[:4])}; fix the rest",
            code="method.root_only",
        )


def parameter_places(system: System) -> list[int]:
    """Which of the ten a root can show: all, or four in the plane."""
    return list(PLANAR) if system.model.root.type == "planar" else list(range(10))


def reduced_names(system: System) -> tuple[str, ...]:
    """The names of the reduced parameters of a system."""
    return tuple(NAMES[k] for k in parameter_places(system))


def _without_root(system: System) -> tuple[Array, Array]:
    """The system's vector without the root body, and the root body's ten parameters."""
    body = next(b for b in system.model.assembly.bodies if b.name == system.model.root.body)
    rest = system_vector(system)
    # whatever the system's numbers became, what is fixed to the root body is as in the model
    fixed = flatten(system.model).parameters.phi[0] - body.phi
    own = rest[:10] - fixed
    rest[:10] = fixed
    return rest, own


def _linear(system: System, samples: Samples, rows: list[int]) -> tuple[Array, Array]:
    """Y (N, k, 10) and y (N, k) of the reduced parameters."""
    field = orbit_field(system, samples)
    rate, acceleration, coordinates = motion_of(samples)
    acceleration[:, 3:] = 0.0
    regressor = force_regressor(system, rate, acceleration, coordinates, field=field)
    rest, _ = _without_root(system)
    left = with_motors(regressor @ rest)  # with the root's origin at rest
    left += motor_side(system, samples, ())[1] - applied_forces(system, samples)
    A = with_motors(_coupling(system, samples, rest))
    W, K = regressor[:, 3:6, 1:4], regressor[:, :3, 4:10]
    F = -left[:, 3:6]
    Y = np.zeros((*left.shape, 10))
    Y[:, :, 0] = np.einsum("nrk,nk->nr", A, F)
    Y[:, :, 1:4] = -A @ W
    Y[:, :3, 1:4] -= np.swapaxes(np.cross(F[:, None, :], np.eye(3)), 1, 2)  # s x F = -[F]x s
    Y[:, :3, 4:] = K
    return Y[:, rows], -left[:, rows]


def _coupling(system: System, samples: Samples, rest: Array) -> Array:
    """Forces (N, 6 + c, 3) of the rest for unit accelerations of the root's origin."""
    n = len(samples.time)
    still = samples.coordinates
    still[:, :, 1:] = 0.0
    parts = []
    for k in range(3):
        unit = np.zeros((n, 6))
        unit[:, 3 + k] = 1.0
        parts.append(force_regressor(system, np.zeros((n, 3)), unit, still) @ rest)
    return np.stack(parts, axis=2)


def _slopes(system: System, samples: Samples, rows: list[int]) -> Iterator[Array]:
    x = _all_reduced(system)
    for up, down in samples.disturb("rate", "alpha", "attitude", "q", "dq", "ddq", "torque"):
        (Y, y), (Z, z) = (_linear(system, moved, rows) for moved in (up, down))
        yield 0.5 * (Y @ x - y - Z @ x + z)


def _all_reduced(system: System) -> Array:
    _, own = _without_root(system)
    M, s = _mass(system), own[1:4]
    return np.concatenate([[1.0], s, M * own[4:] - _steiner(s)]) / M


def _mass(system: System) -> float:
    """The mass of the whole system [kg]."""
    return float(system.parameters.phi[:, 0].sum())


def _steiner(s: Array) -> Array:
    """The six numbers of s.s 1 - s s^T."""
    return inertial.six(s @ s * np.eye(3) - np.outer(s, s))


def standard_to_reduced(system: System) -> Array:
    """The reduced parameters of a system, in the order of `reduced_names`."""
    return _all_reduced(system)[parameter_places(system)]
