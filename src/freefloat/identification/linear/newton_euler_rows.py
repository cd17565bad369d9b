"""Newton and Euler at an instant: what force and torque families have in common.

H(q) a + c = applied forces, with Y phi for the left side. Accelerations come from windows (see
`windows.py`), so every row knows how uncertain they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import force_regressor, inverse_dynamics
from freefloat.dynamics.joint_efforts import joint_columns, joint_efforts
from freefloat.dynamics.tree import PRISMATIC, System
from freefloat.identification.linear.family import EquationInputs, Equations, Family, covariance
from freefloat.identification.linear.linear_options import DEFAULTS, LinearOptions
from freefloat.identification.linear.parameter_columns import parameter_columns
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import fit_windows, gravity
from freefloat.telemetry.names import motor_channel

ROOT_LABELS = tuple(f"{kind}.{axis}" for kind in ("torque", "force") for axis in "xyz")
ROOT_UNITS = ("N m",) * 3 + ("N",) * 3
PLANAR_ROWS = (2, 3, 4)  # theory: torque about z and force along x and y


class WindowedFamily(Family):
    """A family that needs accelerations: its instants are the centres of windows."""

    def prepare(
        self, system: System, samples: Samples, *, options: LinearOptions = DEFAULTS
    ) -> Samples:
        """Values and accelerations at the centres of windows."""
        return fit_windows(super().prepare(system, samples), system, misfit=options.window_misfit)


def newton_equations(family: str, given: EquationInputs, *, joints: bool) -> Equations:
    """Root rows (only known forces act there), and with `joints` the joint rows."""
    system, samples, names, theta = given.system, given.samples, given.names, given.theta
    chosen = [*root_rows(system), *(6 + j for j in (joint_rows(system, samples) if joints else []))]
    Y = force_regressor(system, *motion_of(samples), field=orbit_field(system, samples))
    columns, rest = parameter_columns(system, names, with_motors(Y)[:, chosen], theta)
    own, whole = motor_side(system, samples, names)
    columns += own[:, chosen]
    y = applied_forces(system, samples)[:, chosen] - rest - (whole - own @ theta)[:, chosen]
    k = len(chosen)
    blocks = covariance(_slopes(system, samples, chosen)) if given.noise else np.zeros((0, k, k))
    return Equations(family, names, len(names), columns, y, *row_names(system, chosen), blocks)


def row_names(system: System, chosen: list[int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and units of rows: the root's six, then every coordinate's behind and before it."""
    roles = {c.name: c.role for c in system.model.assembly.coordinates}
    behind = [f"{name}.torque" for name in system.coordinates]
    before = [
        behind[c] if roles[name] == "passive" else motor_channel(name)
        for c, name in enumerate(system.coordinates)
    ]
    labels = [*ROOT_LABELS, *behind, *before]
    is_sliding = [kind == PRISMATIC for kind in system.tree.links[1:, 1]]
    own = ["N" if slides else "N m" for slides in is_sliding]
    own += ["N m"] * (len(behind) - len(own))  # rotors turn
    units = [*ROOT_UNITS, *own, *own]
    return tuple(labels[k] for k in chosen), tuple(units[k] for k in chosen)


def with_fixed_root(system: System, samples: Samples) -> Samples:
    """The samples, with zeros for the motion of a root that is fixed to the world."""
    if system.model.root.type != "fixed":
        return samples
    still, upright = np.zeros((len(samples.time), 3)), np.zeros((len(samples.time), 4))
    upright[:, 3] = 1.0
    felt = still - system.environment.gravity
    return replace(
        samples, attitude=upright, rate=still, velocity=still, alpha=still, acceleration=felt
    )


def need_motion(family: str, samples: Samples) -> None:
    """Raise IdentificationError unless the root's rate and acceleration are known."""
    if samples.acceleration is None and samples.velocity is not None:
        samples.need(family, "attitude")  # the velocity is in world axes
    samples.need(family, "rate", "acceleration")


def root_rows(system: System) -> tuple[int, ...]:
    """The rows the root can have: all six, or z torque and x, y force in the plane."""
    kind = system.model.root.type
    return () if kind == "fixed" else PLANAR_ROWS if kind == "planar" else tuple(range(6))


def joint_rows(system: System, samples: Samples) -> list[int]:
    """The places in `Samples.torque` of what is known.

    Torques that are measured, of the link or of the motor; of a passive coordinate without one the
    motor's, which is none, where its springs are known.
    """
    # -1 is the link before; a motor's own angle must be known, too
    has_angle = {-1, *(c for s in samples.sources for field, c, _ in s.parts if field == "q")}
    ends = [(int(a), int(b)) for a, b in system.tree.spring_ends]
    blind = [{a, b} - {-1} for a, b in ends if not {a, b} <= has_angle]
    is_sprung = {a for a, _ in ends} - {a for a, b in ends if not {a, b} <= has_angle}
    measured, c = is_measured(samples), system.n_coordinates
    found: list[int] = []
    for j, coordinate in enumerate(system.model.assembly.coordinates):
        own = [j] if measured[j] else []
        if measured[c + j] and not any(j in pair for pair in blind):
            own.append(c + j)
        if not own and coordinate.role == "passive" and j in is_sprung:
            own.append(c + j)
        found += own
    return found


def is_measured(samples: Samples) -> np.ndarray:
    """Which torques of `Samples.torque` are measured (2 c,)."""
    if samples.torque is None:
        return np.zeros(2 * samples.q.shape[1], dtype=bool)
    return np.asarray(~np.isnan(samples.torque).any(axis=0))


def with_motors(table: Array) -> Array:
    """Rows (N, 6 + c, ...) of root and coordinates, those of coordinates once more for motors."""
    return np.concatenate([table, table[:, 6:]], axis=1)


def motion_of(samples: Samples) -> tuple[Array, Array, Array]:
    """Root rate, root acceleration (angular, linear) and coordinates, as the kernels take them."""
    assert samples.rate is not None and samples.alpha is not None
    linear = np.zeros_like(samples.rate) if samples.acceleration is None else samples.acceleration
    return samples.rate, np.hstack([samples.alpha, linear]), samples.coordinates


def orbit_field(system: System, samples: Samples) -> Array | None:
    """Direction away from the planet in root axes; gravity itself is in what the root feels."""
    if system.environment.gradient == 0.0 or samples.attitude is None:
        return None
    field = np.zeros((len(samples.time), 6))
    field[:, 3:] = np.einsum("nji,nj->ni", samples.rotation, gravity(system, samples)[:, 3:])
    return field


def applied_forces(system: System, samples: Samples) -> Array:
    """Known generalised forces (N, 6 + 2 c).

    Wrench, thrust and drag on the root, torques behind the gears, torques of the motors.
    """
    out = np.zeros((len(samples.time), 6 + 2 * system.n_coordinates))
    if samples.wrench.any():
        samples.need("force", "attitude")
        back = np.swapaxes(samples.rotation, 1, 2)
        for k in (0, 3):
            out[:, k : k + 3] = np.einsum("nij,nj->ni", back, samples.wrench[:, k : k + 3])
    if samples.thrust.any():
        out[:, :6] += samples.thrust @ system.tree.thrusters
    _add_drag(system, samples, out)
    if samples.torque is not None:
        out[:, 6:] = np.nan_to_num(samples.torque)
    return out


def _add_drag(system: System, samples: Samples, out: Array) -> None:
    environment = system.environment
    linear, angular = environment.linear_drag, environment.angular_drag
    if angular:
        assert samples.rate is not None
        out[:, :3] -= angular * samples.rate
    if linear:
        samples.need("force", "attitude", "velocity")
        assert samples.velocity is not None
        out[:, 3:6] -= linear * np.einsum("nji,nj->ni", samples.rotation, samples.velocity)


def motor_side(system: System, samples: Samples, names: tuple[str, ...]) -> tuple[Array, Array]:
    """What is inside of joints, per unit parameter (N, 6 + 2 c, names) and in all (N, 6 + 2 c).

    On the left side of the motors' rows: a torque behind the gear has it in it already.
    """
    first = 6 + system.n_coordinates
    own = np.zeros((len(samples.time), first + system.n_coordinates, len(names)))
    whole = np.zeros(own.shape[:2])
    own[:, first:] = joint_columns(system, names, samples.coordinates)
    whole[:, first:] = joint_efforts(system, samples.coordinates)
    return own, whole


def residual(system: System, samples: Samples) -> Array:
    """Left minus right side at the system's own parameters (N, 6 + 2 c), without orbit terms."""
    left = with_motors(inverse_dynamics(system, *motion_of(samples)))
    left -= applied_forces(system, samples)
    return left + motor_side(system, samples, ())[1]


def _slopes(system: System, samples: Samples, chosen: list[int]) -> Iterator[Array]:
    for up, down in samples.disturb():
        yield 0.5 * (residual(system, up) - residual(system, down))[:, chosen]
