"""The linear families by name: what each needs, and how it makes rows of a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.energy import energy_equations
from freefloat.identification.linear.force import force_equations
from freefloat.identification.linear.momentum import (
    has_field,
    momentum_equations,
    prepared_for_momentum,
)
from freefloat.identification.linear.rows import Equations
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.torque import torque_equations
from freefloat.identification.linear.weak import weak_equations
from freefloat.identification.linear.windows import leaps, windowed


@dataclass(frozen=True)
class Family:
    """One kind of equations in the standard parameters; what it can use and what it must have."""

    name: str
    fields: tuple[str, ...]
    needs: tuple[str, ...]
    equations: Callable[..., Equations]
    prepare: Callable[[Samples, System], Samples] = lambda samples, system: samples

    def prepared(self, samples: Samples, system: System) -> Samples:
        """The recording as the equations want it; raises IdentificationError for what it lacks."""
        samples.need(self.name, *self.needs)
        return self.prepare(samples, system)


BASE = ("attitude", "rate", "velocity")
FAMILIES = {
    family.name: family
    for family in (
        Family("momentum", BASE, BASE, momentum_equations, prepared_for_momentum),
        Family("force", (*BASE, "acceleration"), ("rate",), force_equations, windowed),
        Family("torque", (*BASE, "acceleration", "torque"), ("rate",), torque_equations, windowed),
        Family("weak", (*BASE, "torque"), BASE, weak_equations),
        Family("energy", (*BASE, "torque"), (*BASE, "torque"), energy_equations),
    )
}


# An accelerometer makes the velocity useless for accelerations, and a slow one would thin the rest.
OTHER_FIELDS = {"angular": ("rate", "attitude"), "reduced": ("rate", "attitude", "torque")}


def fields_of(name: str, has_accelerometer: bool) -> tuple[str, ...]:
    """The measurements of base and joints that a method can use."""
    if name in OTHER_FIELDS:
        return OTHER_FIELDS[name]
    fields = family_named(name).fields
    if "acceleration" in fields and has_accelerometer:
        return tuple(field for field in fields if field != "velocity")
    return fields


def family_named(name: str) -> Family:
    """The family of that name; raises IdentificationError listing those there are."""
    if name not in FAMILIES:
        known = ", ".join((*FAMILIES, "angular", "reduced"))
        raise IdentificationError(f"there is no method called {name!r}; choose one of {known}")
    return FAMILIES[name]


def choose(system: System, samples: Samples, names: tuple[str, ...]) -> tuple[str, str]:
    """The method the measurements allow, and why this one."""
    has = {field: getattr(samples, field) is not None for field in Samples.__dataclass_fields__}
    if system.model.root.type == "fixed":
        return "torque", "the root is fixed, so joint torques are all there is"
    springs = [n for n in names if n.rpartition(".")[2] in ("stiffness", "damping", "friction")]
    is_pushed = bool(samples.thrust.any() or samples.wrench.any())
    can_momentum = has["attitude"] and has["rate"] and has["velocity"]
    if springs and can_momentum:
        return "weak", f"{springs[0]} acts in its joint, which momentum does not see"
    is_orbit_only = not np.any(system.tree.field[:3]) and not np.any(system.tree.field[12:14])
    if can_momentum and has_field(system) and not (is_orbit_only and samples.thrust.any()):
        return "weak", "gravity or drag acts, which the momentum family leaves out"
    if can_momentum and len(leaps(samples)):
        return "weak", "the commanded wrench jumps, which only the weak form takes as it is"
    if can_momentum and has["torque"] and not is_pushed:
        return "weak", "no force from outside acts, so measured joint torques must fix the scale"
    if can_momentum:
        return "momentum", "attitude, rate and velocity of the base are measured"
    is_planar = system.model.root.type == "planar"
    if has["rate"] and (has["attitude"] or is_planar) and not is_pushed:
        return "angular", "no base velocity; rates and attitudes give the angular momentum"
    if has["rate"] and has["acceleration"]:
        name = "torque" if has["torque"] else "force"
        return name, "no base velocity, but an accelerometer: forces on the base"
    if has["rate"] and has["torque"] and _only_root(system, names):
        return "reduced", "joint torques and a gyro are all there is"
    raise IdentificationError(
        "no linear method can use this recording: it needs base.rate.* and one of base.velocity.*,"
        " base.attitude.* or base.acceleration.*"
    )


def _only_root(system: System, names: tuple[str, ...]) -> bool:
    root = system.model.assembly.bodies[0].name
    return all(name.startswith(f"{root}.") for name in names)
