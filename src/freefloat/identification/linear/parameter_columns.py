"""Which columns of a regressor a named parameter stands for, and what the rest contributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import system_vector
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.tree import SPRING_FIELDS, ParameterArrays, System
from freefloat.errors import IdentificationError
from freefloat.model.parameter_name import ParameterName, field_of
from freefloat.text import listing

SPRINGS = ("stiffness", "damping", "friction", "armature")


def require_linear(system: System, names: Sequence[str], *, springs: bool = False) -> None:
    """Raise IdentificationError for parameters that do not enter the equations linearly."""
    bad = [name for name in names if not is_linear(system, name, springs=springs)]
    if bad:
        what = "masses, first moments, inertias and spin inertias"
        what += ", stiffness, damping, friction and armature" if springs else ""
        raise IdentificationError(
            f"{listing(bad, most=4)}: not linear in these equations, whose unknowns are {what};"
            " fix them, or use method='output_error'",
            code="method.nonlinear",
        )


def is_linear(system: System, name: str, *, springs: bool = False) -> bool:
    """Whether a parameter enters the equations linearly; `springs`: whether they count as such."""
    parsed = ParameterName.parse(name)
    is_pendulum = any(tank.name == parsed.owner for tank in system.model.tanks)
    if parsed.field in SPRINGS:
        return springs
    if parsed.is_of_setup or parsed.is_of_sensor or parsed.is_of_known_body:
        return False
    return not parsed.is_start and parsed.field not in ("rest", "length") and not is_pendulum


def change_matrix(system: System, names: Sequence[str]) -> Array:
    """d system_vector / d named parameters (10 links + rotors, names); zero for springs."""
    inertial = [name for name in names if field_of(name) not in SPRINGS]
    places = [list(names).index(name) for name in inertial]
    entries, _ = parameter_directions(system, inertial)
    change = np.zeros((10 * system.n_links + len(system.tree.rotor_link), len(names)))
    for (p, link), row in zip(entries.body, entries.body_change, strict=True):
        change[10 * link : 10 * link + 10, places[p]] += row
    for (p, rotor), size in zip(entries.rotor, entries.rotor_change, strict=True):
        change[10 * system.n_links + rotor, places[p]] += size
    return change


def parameter_columns(
    system: System, names: Sequence[str], regressor: Array, values: Array
) -> tuple[Array, Array]:
    """Columns of the named parameters (..., names), and what everything else contributes (...).

    regressor @ system_vector = columns @ values + rest, at the model's values.
    """
    change = change_matrix(system, names)
    rest = system_vector(system) - change @ values
    return regressor @ change, regressor @ rest


def update_system(system: System, names: Sequence[str], before: Array, after: Array) -> System:
    """The system with linear parameters changed from `before` to `after`."""
    vector = system_vector(system) + change_matrix(system, names) @ (after - before)
    n = 10 * system.n_links
    spring = system.parameters.spring.copy()
    owners = [spring.owner for spring in system.model.assembly.springs]
    for name, old, new in zip(names, before, after, strict=True):
        parsed = ParameterName.parse(name)
        if parsed.field in SPRINGS:
            spring[owners.index(parsed.owner), SPRING_FIELDS.index(parsed.field)] += new - old
    numbers = ParameterArrays(vector[:n].reshape(-1, 10).copy(), vector[n:].copy(), spring)
    return replace(system, parameters=numbers)
