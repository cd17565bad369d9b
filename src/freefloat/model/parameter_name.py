"""The name of a parameter, taken apart: whose it is and which of its quantities.

`bus.mass` is a quantity of a part of the model (body, joint, drive, wheel, tank),
`start.hinge_l1.rate` an initial state, `bias.base.rate.x` a sensor's (bias, gain or delay of a
channel).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from freefloat.model import inertia

Kind = Literal["model", "start", "bias", "gain", "delay"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SENSOR_KINDS: tuple[Kind, ...] = ("bias", "gain", "delay")
SPRING_FIELDS = frozenset({"stiffness", "damping", "rest", "friction"})


@dataclass(frozen=True, slots=True)
class ParameterName:
    """A parsed name; `str` gives the text back.

    kind: "model" for the quantities of a model, else the first word; owner: a part of the model, or
    the channel of a sensor's parameter; field: the quantity, empty for a sensor's parameter.

    >>> ParameterName.parse("start.hinge_l1.rate")
    ParameterName(kind='start', owner='hinge_l1', field='rate')
    >>> ParameterName.parse("bias.base.rate.x").owner, ParameterName.parse("bus.ixx").is_inertial
    ('base.rate.x', True)
    """

    kind: Kind
    owner: str
    field: str

    @classmethod
    def parse(cls, text: str) -> ParameterName:
        """The parts of a name; any text without a dot is a field without an owner."""
        first, dot, rest = text.partition(".")
        for kind in KINDS[1:]:
            if dot and first == kind:
                if kind in SENSOR_KINDS:
                    return cls(kind, rest, "")
                owner, _, field = rest.rpartition(".")
                return cls(kind, owner, field)
        owner, _, field = text.rpartition(".")
        return cls("model", owner, field)

    def __str__(self) -> str:
        prefix = "" if self.kind == "model" else self.kind
        return ".".join(part for part in (prefix, self.owner, self.field) if part)

    @property
    def is_start(self) -> bool:
        """Whether it is an initial state."""
        return self.kind == "start"

    @property
    def is_of_sensor(self) -> bool:
        """Whether it is the bias, gain or delay of a channel."""
        return self.kind in SENSOR_KINDS

    @property
    def is_inertial(self) -> bool:
        """Whether it is one of the ten inertial parameters of a body."""
        return self.kind == "model" and self.field in inertia.NAMES

    @property
    def is_spring(self) -> bool:
        """Whether it is the stiffness, damping, rest position or friction of a coordinate."""
        return self.kind == "model" and self.field in SPRING_FIELDS


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
    """Whether a parameter is the bias, gain or delay of a channel, not of the dynamics."""
    return name.startswith(_SENSOR_PREFIXES)


_SENSOR_PREFIXES = tuple(f"{kind}." for kind in SENSOR_KINDS)
