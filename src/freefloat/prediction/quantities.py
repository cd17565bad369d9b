"""Parameters of sensors, inputs, geometry and surroundings: values in a model, and units."""

from __future__ import annotations

from typing import NamedTuple

from freefloat.dynamics.named_parameters import known_body_names
from freefloat.dynamics.tree import flatten
from freefloat.model.geometry import AXES
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.prediction.flight_setup import nominal_value, setup_names
from freefloat.prediction.measurements import sensor_channels
from freefloat.prediction.sensor_errors import PLACED, RUBBING, SKEWED, TILTED
from freefloat.telemetry.names import unit_of as channel_unit


class Quantity(NamedTuple):
    """A parameter by its name, with its value in the model and its unit."""

    name: str
    value: float
    unit: str


def sensor_quantities(model: Model) -> list[Quantity]:
    """Bias, gain, drift, delay, tilt, ... of everything that can be measured."""
    found: dict[str, Quantity] = {}
    for channel, part in sensor_channels(model).items():
        is_turn = part.sensor.kind == "attitude"
        unit = "rad" if is_turn else channel_unit(channel)[0]
        new = [Quantity(f"bias.{channel}", part.bias, unit)]
        if not is_turn:
            new.append(Quantity(f"gain.{channel}", 1.0, "1"))
        new.append(Quantity(f"drift.{channel}", 0.0, per_second(unit)))
        new.append(Quantity(f"delay.{part.group}", part.sensor.delay, "s"))
        if part.sensor.kind in RUBBING:
            new.append(Quantity(f"friction.{channel}", 0.0, unit))
        vectors = [("tilt", "rad")] * (part.sensor.kind in TILTED)
        vectors += [("skew", "rad")] * (part.sensor.kind in SKEWED)
        vectors += [("offset", "m")] * (part.sensor.kind in PLACED)
        new += [
            Quantity(f"{word}.{part.group}.{a}", 0.0, own) for word, own in vectors for a in AXES
        ]
        found |= {q.name: q for q in new}
    return list(found.values())


def setup_quantities(model: Model) -> list[Quantity]:
    """Inputs, geometry and surroundings of a model, scales and displacements of its bodies."""
    names = [*setup_names(model), *known_body_names(flatten(model))]
    return [Quantity(name, nominal_value(model, name), setup_unit(model, name)) for name in names]


def setup_unit(model: Model, name: str) -> str:
    """The unit of a parameter of the setup or of a body's scale."""
    parsed = ParameterName.parse(name)
    joint = parsed.owner.removesuffix(".torque")
    is_sliding = any(j.name == joint and j.type == "prismatic" for j in model.joints)
    if parsed.kind == "gravity":
        return "m/s^2"
    if parsed.kind == "drag":
        return "N s/m" if parsed.field == "linear" else "N m s/rad"
    units = {"gain": "1", "gear": "1", "scale": "1", "delay": "s", "tilt": "rad", "offset": "m"}
    is_force = is_sliding or any(t.name == parsed.owner for t in model.thrusters)
    units |= {"com": "m", "fade": "1/s"}
    units |= {"zero": "m", "bias": "N"} if is_force else {"zero": "rad", "bias": "N m"}
    return units[parsed.field.partition(".")[0]]


def per_second(unit: str) -> str:
    """The unit of the drift of a bias.

    >>> per_second("rad/s"), per_second("m/s^2"), per_second("N m")
    ('rad/s^2', 'm/s^3', 'N m/s')
    """
    above, slash, below = unit.partition("/s")
    power = int(below.removeprefix("^") or 1) if slash else 0
    return f"{above}/s^{power + 1}" if power else f"{above}/s"
