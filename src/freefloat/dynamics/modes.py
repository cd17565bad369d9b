"""Linearised free-floating modes: frequency, damping and shape of what swings.

About a state of rest the springs see the mass matrix with the root's motion eliminated,
M = H_ee - H_eb H_bb^-1 H_be, so rigid motion never appears as a mode. Prescribed and locked
joints are held; torque-driven joints too unless asked otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.tree import flatten
from freefloat.errors import ModelError
from freefloat.model.model import Model


@dataclass(frozen=True)
class Mode:
    """One oscillation: frequency [Hz], damping ratio [1], shape by coordinate (largest is one).

    `root` is the root's share of the shape: small rotation (3) and displacement (3) in root axes.
    """

    frequency: float
    damping: float
    shape: dict[str, float]
    root: Array

    def __str__(self) -> str:
        """One line: frequency, damping and who moves."""
        moving = [f"{name} {value:+.2f}" for name, value in self.shape.items() if abs(value) > 0.05]
        return f"{self.frequency:.4f} Hz, zeta {self.damping:.4f}: {', '.join(moving)}"


def modes(
    model: Model, *, posture: Mapping[str, float] | None = None, hold_torque: bool = True
) -> list[Mode]:
    """The modes at a posture (home by default), slowest first.

    Args:
        model: What swings: wings, fuel, flexible drives and joints on springs.
        posture: Positions by coordinate [rad or m]; the others stay at home.
        hold_torque: Whether torque-driven joints are held still; else they move freely.

    Returns:
        Frequency [Hz], damping ratio and shape of each.

    Raises:
        ModelError: A combination of free coordinates moves no mass.

    >>> from freefloat.model import load_model
    >>> [round(mode.frequency, 3) for mode in modes(load_model("servicer-wings"))]
    [0.14, 0.23, 0.664, 0.68]
    """
    if hold_torque:
        model = _with_torque_held(model)
    system = flatten(model)
    q = np.array([c.home for c in model.assembly.coordinates])
    for name, value in (posture or {}).items():
        q[model.assembly.index(name)] = value
    free = system.tree.free
    is_root = free < 6
    if np.all(is_root):
        return []
    H = mass_matrix(system, q)
    K, D = _stiffness(model, [int(g) - 6 for g in free[~is_root]])
    to_root = np.zeros((int(is_root.sum()), int((~is_root).sum())))
    M = H[np.ix_(~is_root, ~is_root)]
    if is_root.any():
        to_root = -np.linalg.solve(H[np.ix_(is_root, is_root)], H[np.ix_(is_root, ~is_root)])
        M = M + H[np.ix_(~is_root, is_root)] @ to_root
    names = [system.coordinates[int(g) - 6] for g in free[~is_root]]
    size = np.sqrt(np.abs(np.diag(M)))  # coordinates may differ in unit and size
    if np.any(size == 0.0) or np.linalg.eigvalsh(M / np.outer(size, size))[0] <= 1e-12:
        raise ModelError(
            f"{model.name!r}: a combination of the free coordinates {', '.join(names)} moves no"
            " mass; give the bodies beyond those joints mass or lock a joint",
            code="model.massless",
        )
    return _oscillations(M, K, D, names, to_root, free[is_root])


def _with_torque_held(model: Model) -> Model:
    joints = tuple(replace(j, role="locked") if j.role == "torque" else j for j in model.joints)
    joints = tuple(
        replace(j, drive=replace(j.drive, role="locked"))
        if j.drive is not None and j.drive.role == "torque"
        else j
        for j in joints
    )
    wheels = tuple(replace(wheel, role="motion") for wheel in model.wheels)
    return replace(model, joints=joints, wheels=wheels)


def _stiffness(model: Model, free: list[int]) -> tuple[Array, Array]:
    """Stiffness and damping matrices of the free coordinates; a held end pulls on one only."""
    K, D = np.zeros((len(free), len(free))), np.zeros((len(free), len(free)))
    place = {c: i for i, c in enumerate(free)}
    for spring in model.assembly.springs:
        ends = np.zeros(len(free))
        a = model.assembly.index(spring.coordinate)
        if a in place:
            ends[place[a]] = 1.0
        if spring.other is not None and (b := model.assembly.index(spring.other)) in place:
            ends[place[b]] = -1.0
        K += spring.stiffness * np.outer(ends, ends)
        D += spring.damping * np.outer(ends, ends)
    return K, D


def _oscillations(
    M: Array, K: Array, D: Array, names: list[str], to_root: Array, root_rows: NDArray[np.int64]
) -> list[Mode]:
    n = len(M)
    companion = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, np.hstack([K, D]))]])
    values, vectors = np.linalg.eig(companion)
    values = np.asarray(values, dtype=complex)
    # Rigid and overdamped motions have real eigenvalues; a mode has a pair, take the upper one.
    # Rigid motions are double zeros, which rounding splits by 1e-8 of the largest eigenvalue.
    swings = np.imag(values) > 1e-6 * float(np.max(np.abs(values)))
    found = []
    for value, vector in zip(values[swings], vectors[:n, swings].T, strict=True):
        shape = (vector / vector[np.argmax(np.abs(vector))]).real
        root = np.zeros(6)
        root[root_rows] = to_root @ shape
        found.append(
            Mode(
                float(np.abs(value) / (2.0 * np.pi)),
                float(-value.real / np.abs(value)),
                dict(zip(names, shape.tolist(), strict=True)),
                root,
            )
        )
    return sorted(found, key=lambda mode: mode.frequency)
