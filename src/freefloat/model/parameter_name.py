"""The name of a parameter, taken apart: whose it is and which of its quantities.

`bus.mass` is a quantity of a part of the model (body, joint, drive, wheel, tank),
`start.hinge_l1.rate` an initial state, `bias.base.rate.x` a sensor's (bias, gain or delay of a
channel). What a model takes as exact has a name too: `thr_1.gain` is what acts over what was
recorded, `arm_1.offset.x` where a joint sits, `link_2.com.x` how far the mass of a known body is
from where it is drawn, `gravity.x` and `drag.linear` the surroundings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from freefloat.model import inertia

Kind = Literal[
    "model", "start", "bias", "gain", "delay", "drift", "tilt", "skew", "offset", "friction",
    "gravity", "drag", "input", "geometry",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
SENSOR_KINDS: tuple[Kind, ...] = (
    "bias", "gain", "delay", "drift", "tilt", "skew", "offset", "friction",
)  # fmt: skip
VECTOR_KINDS = frozenset({"tilt", "skew", "offset"})  # of a sensor, by axes
SURROUNDINGS: tuple[Kind, ...] = ("gravity", "drag")
SURROUNDING_FIELDS = frozenset({"x", "y", "z", "linear", "angular"})
# what is told of an input by fields of its owner, and of a place by fields with an axis
INPUT_FIELDS = frozenset({"gain", "fade", "bias", "delay", "zero", "gear"})
GEOMETRY_FIELDS = frozenset({"tilt", "offset"})
SPRING_FIELDS = frozenset({"stiffness", "damping", "rest", "friction", "armature"})
SCALE = "scale"  # of a body: a common factor of its ten inertial parameters
COM = "com"  # of a body, by axes: how far all its mass is from where it is drawn
KNOWN_BODY_FIELDS = (SCALE, f"{COM}.x", f"{COM}.y", f"{COM}.z")


@dataclass(frozen=True, slots=True)
class ParameterName:
    """A parsed name; `str` gives the text back.

    kind: "model" for the quantities of a model, "input" for those of what drives it, "geometry"
    for where a joint, wheel or thruster sits, else the first word; owner: a part of the model, or
    the channels of a sensor's parameter; field: the quantity or axis, empty where there is none.

    >>> ParameterName.parse("start.hinge_l1.rate")
    ParameterName(kind='start', owner='hinge_l1', field='rate')
    >>> ParameterName.parse("bias.base.rate.x").owner, ParameterName.parse("bus.ixx").is_inertial
    ('base.rate.x', True)
    >>> ParameterName.parse("arm_1.tilt.x"), ParameterName.parse("tilt.base.rate.x").owner
    (ParameterName(kind='geometry', owner='arm_1', field='tilt.x'), 'base.rate')
    """

    kind: Kind
    owner: str
    field: str

    @classmethod
    def parse(cls, text: str) -> ParameterName:
        """The parts of a name; any text without a dot is a field without an owner."""
        return _parse(text)

    def __str__(self) -> str:
        prefix = "" if self.kind in ("model", "input", "geometry") else self.kind
        return ".".join(part for part in (prefix, self.owner, self.field) if part)

    @property
    def is_start(self) -> bool:
        """Whether it is an initial state."""
        return self.kind == "start"

    @property
    def is_of_sensor(self) -> bool:
        """Whether it is the bias, gain, delay, ... of a sensor."""
        return self.kind in SENSOR_KINDS

    @property
    def is_of_setup(self) -> bool:
        """Whether it belongs to what drives a flight, where its parts sit, or its surroundings."""
        return self.kind in ("input", "geometry", *SURROUNDINGS)

    @property
    def is_of_known_body(self) -> bool:
        """Whether it is the scale or a displacement of a body that is else taken as it is."""
        return self.kind == "model" and self.field in KNOWN_BODY_FIELDS

    @property
    def is_inertial(self) -> bool:
        """Whether it is one of the ten inertial parameters of a body."""
        return self.kind == "model" and self.field in inertia.NAMES

    @property
    def is_spring(self) -> bool:
        """Whether it is the stiffness, damping, rest, friction or armature of a coordinate."""
        return self.kind == "model" and self.field in SPRING_FIELDS


@lru_cache(maxsize=10_000)  # searches ask for the same names again and again
def _parse(text: str) -> ParameterName:
    first, dot, rest = text.partition(".")
    if dot and first in SURROUNDINGS and (rest in SURROUNDING_FIELDS or "*" in rest):
        return ParameterName(_kind(first), "", rest)
    if dot and first in SENSOR_KINDS:
        has_axis = first in VECTOR_KINDS
        owner, _, axis = rest.rpartition(".") if has_axis else (rest, "", "")
        return ParameterName(_kind(first), owner, axis)
    owner, _, field = text.rpartition(".")
    if dot and first == "start":
        return ParameterName("start", owner.partition(".")[2], field)
    if dot and field in INPUT_FIELDS:
        return ParameterName("input", owner, field)
    part, _, what = owner.rpartition(".")
    if part and what in GEOMETRY_FIELDS:
        return ParameterName("geometry", part, f"{what}.{field}")
    if part and what == COM:
        return ParameterName("model", part, f"{COM}.{field}")
    return ParameterName("model", owner, field)


def _kind(word: str) -> Kind:
    return KINDS[KINDS.index(word)]  # type: ignore[arg-type]


def owner_of(name: str) -> str:
    """The part of the model, or the channel, that a parameter belongs to."""
    return ParameterName.parse(name).owner


def field_of(name: str) -> str:
    """The quantity that a parameter is, such as "mass"; empty for a sensor's parameter."""
    return ParameterName.parse(name).field


def is_start(name: str) -> bool:
    """Whether a parameter is an initial state, such as `start.rate.x`."""
    return name.startswith("start.")


def is_of_sensor(name: str) -> bool:
    """Whether a parameter is the bias, gain, delay, ... of a sensor, not of the dynamics."""
    return name.startswith(_SENSOR_PREFIXES)


def is_of_setup(name: str) -> bool:
    """Whether a parameter belongs to inputs, geometry or surroundings; see `ParameterName`."""
    return ParameterName.parse(name).is_of_setup


_SENSOR_PREFIXES = tuple(f"{kind}." for kind in SENSOR_KINDS)
