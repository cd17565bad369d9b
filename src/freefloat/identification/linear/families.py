"""The linear methods by name: one object each, from one file each.

To add one, write a file with a `Family` (see `family`) and add its object here; a family from
outside the package is added by `register`.
"""

from __future__ import annotations

from freefloat.errors import IdentificationError
from freefloat.identification.linear.angular import ANGULAR
from freefloat.identification.linear.energy import ENERGY
from freefloat.identification.linear.family import Family
from freefloat.identification.linear.force import FORCE
from freefloat.identification.linear.momentum import MOMENTUM
from freefloat.identification.linear.reduced import REDUCED
from freefloat.identification.linear.torque import TORQUE
from freefloat.identification.linear.weak import WEAK_FORM
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import did_you_mean

FAMILIES: dict[str, Family] = {
    family.name: family for family in (MOMENTUM, ANGULAR, FORCE, TORQUE, WEAK_FORM, ENERGY, REDUCED)
}


def register(family: Family) -> None:
    """Make a family known by its name: `identify(..., method=family.name)` then uses it."""
    if family.name in FAMILIES or family.name in ("auto", "output_error"):
        raise IdentificationError(
            f"there is a method called {family.name!r} already; give it another name",
            code="name.duplicate",
        )
    FAMILIES[family.name] = family


def family_named(name: str) -> Family:
    """The family of that name; raises IdentificationError listing those there are."""
    if name not in FAMILIES:
        guess = did_you_mean(name, FAMILIES, otherwise=f"choose one of {', '.join(FAMILIES)}")
        raise IdentificationError(
            f"there is no method called {name!r}; {guess}", code="name.unknown"
        )
    return FAMILIES[name]


def fields_of(family: Family, telemetry: Telemetry) -> tuple[str, ...]:
    """The measurements of base and joints that a family takes from a recording.

    An accelerometer makes the velocity useless for accelerations, and a slow one would thin out
    the instants of everything else.
    """
    if "acceleration" in family.fields and "base.acceleration.x" in telemetry:
        return tuple(field for field in family.fields if field != "velocity")
    return family.fields
