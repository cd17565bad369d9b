"""A system with other numbers: named parameters changed without building a model.

Searches do this thousands of times. Nothing is checked: a body may come out that no robot has.
`system.model` stays the one the system was made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.directions import SPRING_FIELDS
from freefloat.dynamics.tree import ParameterArrays, System, rotor_phi, with_friction
from freefloat.model import inertia as inertial


def with_numbers(system: System, values: Mapping[str, float]) -> System:
    """The system with named parameters at `values`; initial states are passed over.

    `system` is as `flatten` made it: changes are counted from the numbers of its model.

    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> with_numbers(flatten(load_model("ets7")), {"bus.mass": 2600.0}).parameters.phi[0, 0]
    np.float64(2600.0)
    """
    phi = system.parameters.phi.copy()
    rotors, springs = system.parameters.rotor.copy(), system.parameters.spring.copy()
    assembly = system.model.assembly
    owned = {name.rpartition(".")[0] for name in values}
    tanks = {tank.name: tank for tank in system.model.tanks if tank.name in owned}
    bodies = {body.name: body.phi for body in assembly.bodies if body.name in owned}
    owners = [spring.owner for spring in assembly.springs]
    spinners = [rotor.owner for rotor in assembly.rotors]
    for name, value in values.items():
        owner, _, field = name.rpartition(".")
        if name.startswith("start.") or owner in tanks:
            continue
        if field in inertial.NAMES and owner in bodies:
            change = np.zeros(10)
            place = inertial.NAMES.index(field)
            change[place] = value - bodies[owner][place]
            phi[system.body_link[owner]] += system.phi_map[owner] @ change
        elif field in SPRING_FIELDS:
            springs[owners.index(owner), SPRING_FIELDS.index(field)] = value
        else:
            r = spinners.index(owner.removesuffix(".drive"))
            rotor = assembly.rotors[r]
            rotors[r] = value
            if not rotor.is_included:
                share = system.phi_map[rotor.body] @ rotor_phi(rotor.axis)
                phi[system.body_link[rotor.body]] += (value - rotor.inertia) * share
    for name, tank in tanks.items():
        mass = values.get(f"{name}.mass", tank.mass)
        length = values.get(f"{name}.length", tank.length)
        change = _pendulum(bodies[name], mass / tank.mass, length / tank.length)
        phi[system.body_link[name]] += system.phi_map[name] @ (change - bodies[name])
    if any(name.endswith(".friction") for name in values):
        system = with_friction(system)
    return replace(system, parameters=ParameterArrays(phi, rotors, springs))


def _pendulum(phi: Array, heavier: float, longer: float) -> Array:
    """phi of a point mass about its pivot, so many times heavier and farther away."""
    powers = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    return heavier * phi * longer**powers
