"""What makes named parameters physically realisable: linear matrix inequalities around a prior.

Every condition says that a matrix, linear in the parameters, is positive definite: the 4x4
pseudo-inertia of a body; in the plane [[izz, mx, my], [mx, m, 0], [my, 0, m]]; the 6x6 spatial
inertia of a body less the wheels it includes; the number itself for rotors, springs and tanks. Each
matrix is divided by its value P at the prior, X = L^-1 F L^-T with P = L L^T, so that every
condition reads alike: X = 1 at the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.errors import Fault, IdentificationError
from freefloat.model import inertia as inertial
from freefloat.model.parameter_name import ParameterName, field_of
from freefloat.model.parts import Wheel
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import PLANAR, upright_bodies

# theory: what is asked is X > MARGIN tr(X) / n, and X > MARGIN for single numbers: a body that is
# nowhere squeezed by more than that survives the rounding of numbers written to a model
MARGIN = 1e-7
# theory: second moments go with the square, so a prior thinner than 1e-3 of its size (point masses,
# rods, plates) is made that thick
THICKNESS = 1e-6


@dataclass(frozen=True)
class Conditions:
    """Y_b(u) = 1 + sum_k u_k slopes_bk > 0 for the scaled parameters u = (theta - prior) / scale.

    blocks are padded to one size with the identity; places (blocks, k) says which u a slope
    belongs to; looseness (p,) weighs u^2/2 for parameters without a condition; values holds the
    prior of everything the conditions touch, and `follow` those tied to one of u by a factor.
    """

    names: tuple[str, ...]
    prior: Array
    scale: Array
    slopes: Array
    places: NDArray[np.intp]
    is_padding: NDArray[np.bool_]
    looseness: Array
    values: dict[str, float]
    follow: dict[str, tuple[int, float]]
    notes: tuple[str, ...]

    def values_at(self, u: Array) -> dict[str, float]:
        """The value of every parameter the conditions touch, at u."""
        theta = self.prior + self.scale * u
        return self.values | {name: f * float(theta[i]) for name, (i, f) in self.follow.items()}


@dataclass(frozen=True)
class Condition:
    """sum_i value_i basis_i is positive definite, for the parameters called `names`."""

    names: tuple[str, ...]
    basis: Array

    def at(self, values: dict[str, float]) -> Array:
        """The matrix for these values."""
        return np.tensordot([values[name] for name in self.names], self.basis, axes=1)


def conditions_of(parameters: Parameters, names: Sequence[str]) -> Conditions:
    """The conditions on the named parameters, around their values in `parameters`."""
    values = {p.name: p.value for p in parameters}
    follow = {parameters[name].name: (i, 1.0) for i, name in enumerate(names)}
    for p in parameters:
        if p.tied_to is not None and p.tied_to[0] in follow and p.name not in follow:
            follow[p.name] = (follow[p.tied_to[0]][0], p.tied_to[1])
    notes = _thicken(parameters, follow, values)
    found = [c for c in _conditions(parameters) if any(n in follow for n in c.names)]
    _refuse_unphysical(parameters, found, values)
    touched = {name: values[name] for c in found for name in c.names} | {
        name: values[name] for name in follow
    }
    prior = np.array([values[name] for name in names])
    slopes, places, is_padding = _stack(found, values, follow)
    size = np.zeros(len(names))
    np.add.at(size, places, np.sum(slopes**2, axis=(2, 3)))
    is_loose = size == 0.0
    scale = 1.0 / np.sqrt(np.where(is_loose, 1.0, size))
    scale[is_loose] = np.maximum(1.0, np.abs(prior[is_loose]))
    slopes = slopes * scale[places][:, :, None, None]
    looseness = is_loose.astype(float)
    return Conditions(
        tuple(names), prior, scale, slopes, places, is_padding, looseness, touched, follow, notes
    )


def invisible(parameters: Parameters, names: Sequence[str]) -> frozenset[str]:
    """Those of the names that mean nothing because their body never leaves the plane."""
    unseen = {name for owner in upright_bodies(parameters.model) for name in _ten(owner)}
    unseen -= {_ten(owner)[i] for owner in upright_bodies(parameters.model) for i in PLANAR}
    return frozenset(names) & unseen


def _conditions(parameters: Parameters) -> list[Condition]:
    """All conditions of a model: bodies, bodies less their wheels, and plain numbers."""
    upright = upright_bodies(parameters.model)
    found = []
    for owner in _bodies(parameters):
        wheels = [wheel for wheel in parameters.model.wheels if wheel.body == owner]
        if owner in upright:
            found.append(_in_the_plane(owner, wheels))
        else:
            found.append(Condition(_ten(owner), PSEUDO_INERTIA))
            found += [_without_wheels(owner, wheels)] if wheels else []
    of_bodies = {name for owner in _bodies(parameters) for name in _ten(owner)}
    numbers = [
        p.name
        for p in parameters
        if p.name not in of_bodies and ParameterName.parse(p.name).kind == "model"
        if field_of(p.name) != "rest"  # any number will do
    ]
    return found + [Condition((name,), np.ones((1, 1, 1))) for name in numbers]


PSEUDO_INERTIA = np.array([inertial.pseudo_inertia(unit) for unit in np.eye(10)])


def _in_the_plane(owner: str, wheels: list[Wheel]) -> Condition:
    basis = np.zeros((4 + len(wheels), 3, 3))
    basis[0, 1, 1] = basis[0, 2, 2] = 1.0
    basis[1, 0, 1] = basis[1, 1, 0] = basis[2, 0, 2] = basis[2, 2, 0] = basis[3, 0, 0] = 1.0
    for i, wheel in enumerate(wheels):
        basis[4 + i, 0, 0] = -(wheel.axis[2] ** 2)
    four = [_ten(owner)[i] for i in PLANAR]
    return Condition((*four, *(f"{wheel.name}.inertia" for wheel in wheels)), basis)


def _without_wheels(owner: str, wheels: list[Wheel]) -> Condition:
    basis = np.zeros((10 + len(wheels), 6, 6))
    basis[:10] = [inertial.spatial_inertia(unit) for unit in np.eye(10)]
    for i, wheel in enumerate(wheels):
        basis[10 + i, :3, :3] = -np.outer(wheel.axis, wheel.axis)
    return Condition((*_ten(owner), *(f"{wheel.name}.inertia" for wheel in wheels)), basis)


def _ten(owner: str) -> tuple[str, ...]:
    return tuple(f"{owner}.{field}" for field in inertial.NAMES)


def _bodies(parameters: Parameters) -> list[str]:
    return [p.name.removesuffix(".ixx") for p in parameters if p.name.endswith(".ixx")]


def _thicken(
    parameters: Parameters, follow: dict[str, tuple[int, float]], values: dict[str, float]
) -> tuple[str, ...]:
    """Make bodies with free parameters that are on the brink a little thicker, in `values`."""
    notes = []
    upright = upright_bodies(parameters.model)
    for owner in _bodies(parameters):
        ten = _ten(owner)
        wheels = [wheel for wheel in parameters.model.wheels if wheel.body == owner]
        touched = (*ten, *(f"{wheel.name}.inertia" for wheel in wheels))
        phi = np.array([values[name] for name in ten])
        if not any(name in follow for name in touched) or phi[0] <= 0.0:
            continue
        mass, _, about_com = inertial.com_from_phi(phi)
        need = THICKNESS * (phi[[4, 7, 9]].sum() / 6.0 or mass)  # a point: as if 1 m large
        spun = [values[f"{w.name}.inertia"] * np.outer(w.axis, w.axis) for w in wheels]
        if _thinness(inertial.tensor(about_com), sum(spun), owner in upright) < need:
            phi[[4, 7, 9]] += 2.0 * need
            values.update(zip(ten, phi.tolist(), strict=True))
            text = f"{owner}: thin as a rod, plate or point, made {2 * need:.2g} kg m^2 thick"
            notes.append(Note("physical.thickened", text))
    return tuple(notes)


def _thinness(inertia: Array, spun: Array | float, is_upright: bool) -> float:
    """The smallest second moment of a body's mass about its centre [kg m^2], wheels taken out."""
    rest = inertia - spun
    if is_upright:
        return float(rest[2, 2] / 2.0)
    least = float(np.linalg.eigvalsh(0.5 * np.trace(inertia) * np.eye(3) - inertia)[0])
    return min(least, float(np.linalg.eigvalsh(rest)[0]) / 2.0)


def _refuse_unphysical(
    parameters: Parameters, found: list[Condition], values: dict[str, float]
) -> None:
    faults = []
    for condition in found:
        matrix = condition.at(values)
        size = np.sqrt(np.abs(np.diag(matrix)))
        if np.all(size > 0.0) and np.linalg.eigvalsh(matrix / np.outer(size, size))[0] > 1e-14:
            continue
        owner = condition.names[0].removesuffix(".mass")
        is_body, value = len(condition.names) > 1, values[condition.names[0]]
        shown = f"mass {value:g} kg" if is_body else f"{value:g}"
        expected = "a body that can be real" if is_body else "> 0"
        remedy = "give the model a positive value to start from, or fix it"
        faults.append(Fault(owner, shown, expected, remedy, "prior.not_physical"))
    if faults:
        name = parameters.model.name
        raise IdentificationError(f"{name!r}: the prior of free parameters cannot be real", faults)


def _stack(
    found: list[Condition], values: dict[str, float], follow: dict[str, tuple[int, float]]
) -> tuple[Array, NDArray[np.intp], NDArray[np.bool_]]:
    """Slopes (blocks, k, n, n), the u they belong to, and which rows of a block are padding."""
    n = max((c.basis.shape[1] for c in found), default=1)
    k = max((sum(name in follow for name in c.names) for c in found), default=1)
    slopes = np.zeros((len(found), k, n, n))
    places = np.zeros((len(found), k), dtype=np.intp)
    is_padding = np.zeros((len(found), n), dtype=bool)
    for b, condition in enumerate(found):
        m = condition.basis.shape[1]
        divide = np.linalg.inv(np.linalg.cholesky(condition.at(values)))
        X = divide @ condition.basis @ divide.T
        mean = np.trace(X, axis1=1, axis2=2)[:, None, None] * np.eye(m) / m
        X = (X - MARGIN * mean * (m > 1)) / (1.0 - MARGIN)  # Y = (X - MARGIN mean) / (1 - MARGIN)
        free = [(i, *follow[name]) for i, name in enumerate(condition.names) if name in follow]
        for slot, (i, place, factor) in enumerate(free):
            slopes[b, slot, :m, :m] = factor * X[i]
            places[b, slot] = place
        is_padding[b, m:] = True
    return slopes, places, is_padding
