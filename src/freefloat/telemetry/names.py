"""Channel names: `<place>.<quantity>` or `<place>.<quantity>.<axis>`, and the unit of each.

| channel                          | unit            | what it is                                 |
|----------------------------------|-----------------|---------------------------------------------|
| `base.attitude.x`, y, z, w       | 1               | unit quaternion, scalar last               |
| `base.angle`                     | rad             | heading of a planar base                   |
| `base.rate.x`, y, z              | rad/s           | angular rate in body axes                  |
| `base.position.x`, y, z          | m               | position of the base frame                 |
| `base.velocity.x`, y, z          | m/s             | its velocity                               |
| `base.acceleration.x`, y, z      | m/s^2           | specific force, what an accelerometer reads|
| `<joint>.position`               | rad or m        | joint encoder                              |
| `<joint>.velocity`               | rad/s or m/s    | joint rate                                 |
| `<joint>.torque`                 | N m or N        | joint torque, after the gear               |
| `<joint>.motor_position`         | rad or m        | the motor side of a flexible drive         |
| `<wheel>.speed`, `.torque`       | rad/s, N m      | relative to the body                       |
| `<thruster>.force`               | N               | mean until the next sample                 |
| `<frame>.position.x`, ...        | as for the base | any other frame or target (planar: `.angle`)|

A name this table does not know is welcome, provided its unit is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from freefloat.errors import Fault, TelemetryError
from freefloat.model.assembly import Coordinate
from freefloat.telemetry.units import accepted_units, si_unit
from freefloat.text import did_you_mean, listing

XYZ = ("x", "y", "z")
XYZW = (*XYZ, "w")
_XYZ = r"\.[xyz]"

# The first pattern that matches the end of a name wins; the first unit is the default.
_QUANTITIES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\.attitude\.[xyzw]", ("1",)),
    (r"\.angle", ("rad",)),
    (rf"\.rate(?:{_XYZ})?", ("rad/s",)),
    (rf"\.position{_XYZ}", ("m",)),
    (rf"\.velocity{_XYZ}", ("m/s",)),
    (rf"\.acceleration{_XYZ}", ("m/s^2",)),
    (rf"\.angular_acceleration(?:{_XYZ})?", ("rad/s^2",)),
    (rf"\.angular_momentum(?:{_XYZ})?", ("N m s",)),
    (rf"\.linear_momentum(?:{_XYZ})?", ("N s",)),
    (rf"\.torque{_XYZ}", ("N m",)),
    (rf"\.force(?:{_XYZ})?", ("N",)),
    (r"\.(?:motor_)?position", ("rad", "m")),
    (r"\.(?:motor_)?velocity", ("rad/s", "m/s")),
    (r"\.(?:motor_)?acceleration", ("rad/s^2", "m/s^2")),
    (r"\.(?:motor_)?torque", ("N m", "N")),
    (r"\.speed", ("rad/s",)),
    (r"\.on_time", ("s",)),
    (r"\.current", ("A",)),
    (r"\.voltage", ("V",)),
    (r"\.temperature", ("K",)),
)
_PATTERNS = tuple((re.compile(rf".+{end}"), units) for end, units in _QUANTITIES)

# Reserved by the file formats (delimiters, quotes, brackets of the unit) or by globs (* and ?).
_FORBIDDEN = re.compile(r"[\[\],;\"*?]|[^\S ]")

_RESERVED_KEYS = ("format", "noise", "truth")  # words of the file formats


def unit_of(name: str) -> tuple[str, ...]:
    """Return the SI units channel `name` may have, the default first; none for unknown names.

    >>> unit_of("base.rate.x"), unit_of("elbow.position"), unit_of("mystery")
    (('rad/s',), ('rad', 'm'), ())
    """
    return next((units for pattern, units in _PATTERNS if pattern.fullmatch(name)), ())


def resolved_unit(name: str, unit: str | None) -> tuple[str, float] | Fault:
    """Return the SI unit of channel `name` and the factor into it, or the fault of `unit`.

    `unit` is as written by whoever made the data; None means the default of the name.

    >>> resolved_unit("base.rate.x", "deg/s")
    ('rad/s', 0.017453292519943295)
    """
    candidates, place = unit_of(name), f"channel {name!r}"
    if unit is None:
        if candidates:
            return candidates[0], 1.0
        expected = "a unit, since the name is not a known quantity"
        return Fault(place, "no unit", expected, _unit_remedy(), "channel.unit")
    known = si_unit(unit)
    if known is None:
        remedy = _unit_remedy(candidates)
        return Fault(place, f"unit {unit!r}", "a unit freefloat knows", remedy, "channel.unit")
    if candidates and known[0] not in candidates:
        expected = " or ".join(candidates) + ", or a unit that converts to it"
        remedy = "correct the unit or rename the channel"
        return Fault(place, f"unit {unit!r}", expected, remedy, "channel.unit")
    return known


def _unit_remedy(candidates: tuple[str, ...] = ()) -> str:
    if candidates:
        return "use one of: " + ", ".join(u for si in candidates for u in accepted_units(si))
    # All of them would fill half a screen.
    si_units = [unit for unit in accepted_units() if si_unit(unit) == (unit, 1.0)]
    return f"use one of: {', '.join(si_units)}, or one of the others in docs/formats.md"


def name_fault(name: str) -> str | None:
    """Return what forbids `name` as a channel name, or None when nothing does.

    >>> name_fault("arm_1.position") is None, name_fault("a[0]")
    (True, "it holds '['")
    """
    if not name or name != name.strip():
        return "it is empty or begins or ends with a space"
    if name.lower() == "time":
        return "'time' is the name of the time column"
    if name.startswith("#"):
        return "it begins with '#', which marks a comment"
    if not name.isprintable():
        return "it holds an unprintable character"
    forbidden = _FORBIDDEN.search(name)
    return f"it holds {forbidden.group()!r}" if forbidden else None


def metadata_fault(key: object, value: object) -> str | None:
    """Return what forbids an entry of the metadata, or None when nothing does.

    >>> metadata_fault("seed", "7") is None, metadata_fault("noise", "7")
    (True, 'a reserved word for a key')
    """
    if not isinstance(key, str) or not isinstance(value, str):
        return f"{value!r}, which is not text"
    if key in _RESERVED_KEYS:
        return "a reserved word for a key"
    if not key or key != key.strip() or set(":,;") & set(key) or not key.isprintable():
        return "a key that is empty, not printable or holds : , or ;"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return "a text that UTF-8 cannot write"
    return None


@dataclass(frozen=True, slots=True)
class ChannelName:
    """A channel's name taken apart: whose it is, what quantity, along which axis ("" for none).

    >>> ChannelName.parse("base.rate.x")
    ChannelName(place='base', quantity='rate', axis='x')
    >>> ChannelName.parse("left.arm_1.position")
    ChannelName(place='left.arm_1', quantity='position', axis='')
    """

    place: str
    quantity: str
    axis: str = ""

    @staticmethod
    def parse(name: str) -> ChannelName:
        """Take a name apart; a name without a dot is a quantity of nothing in particular."""
        return _parse(name)

    @property
    def group(self) -> str:
        """The name without its axis: what the axes of one quantity share."""
        return f"{self.place}.{self.quantity}" if self.place else self.quantity

    def is_scalar(self, quantity: str) -> bool:
        """Whether this is `quantity` of some place, without an axis."""
        return self.quantity == quantity and bool(self.place) and not self.axis

    def along(self, axes: Sequence[str]) -> tuple[str, ...]:
        """The names of the same quantity along some axes.

        >>> ChannelName("base", "rate").along(XYZ)
        ('base.rate.x', 'base.rate.y', 'base.rate.z')
        """
        return tuple(f"{self.group}.{axis}" for axis in axes)

    def of(self, quantity: str) -> str:
        """The name of another quantity of the same place.

        >>> ChannelName.parse("elbow.position").of("velocity")
        'elbow.velocity'
        """
        return f"{self.place}.{quantity}" if self.place else quantity

    def __str__(self) -> str:
        return f"{self.group}.{self.axis}" if self.axis else self.group


@lru_cache(maxsize=4096)
def _parse(name: str) -> ChannelName:
    stem, _, axis = name.rpartition(".")
    if axis not in XYZW or not stem:
        stem, axis = name, ""
    place, _, quantity = stem.rpartition(".")
    return ChannelName(place, quantity, axis)


def axes_name(names: Sequence[str]) -> str:
    """One name for the axes of one quantity.

    >>> axes_name(["base.rate.x", "base.rate.y"]), axes_name(["elbow.torque"])
    ('base.rate.x|y', 'elbow.torque')
    """
    if len(names) == 1:
        return names[0]
    parsed = [ChannelName.parse(name) for name in names]
    return f"{parsed[0].group}.{'|'.join(name.axis for name in parsed)}"


def attitude_groups(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the prefixes whose four quaternion channels x, y, z, w are all among `names`.

    >>> attitude_groups(tuple(f"base.attitude.{axis}" for axis in "xyzw"))
    ('base.attitude',)
    """
    known = set(names)
    last = [ChannelName.parse(name) for name in names if name.endswith(".attitude.w")]
    return tuple(dict.fromkeys(n.group for n in last if known.issuperset(n.along(XYZW))))


def misuse(
    place: str, value: str, expected: str, remedy: str = "", *, code: str = "telemetry.misuse"
) -> TelemetryError:
    """Return the error for one thing asked of telemetry that it cannot do."""
    message = f"{place}: got {value}, expected {expected}"
    return TelemetryError(message, [Fault(place, value, expected, remedy, code)])


def require(names: Iterable[str], known: tuple[str, ...]) -> None:
    """Raise TelemetryError, naming every missing one, unless all `names` are among `known`."""
    missing = [name for name in names if name not in known]
    if missing:
        expected = "a channel of this telemetry"
        faults = [
            Fault(
                f"channel {name!r}", "no such channel", expected, suggest(str(name), known),
                "channel.unknown",
            )
            for name in missing
        ]  # fmt: skip
        raise TelemetryError("there is no channel " + ", ".join(map(repr, missing)), faults)


def match(patterns: str | Sequence[str], known: tuple[str, ...]) -> list[str]:
    """Return the known names that match names or globs, in the order of the patterns, each once.

    >>> match(["b.*", "a"], ("a", "b.x", "b.y"))
    ['b.x', 'b.y', 'a']
    """
    patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    found = {p: [name for name in known if fnmatchcase(name, p)] for p in patterns}
    require((pattern for pattern, names in found.items() if not names), known)
    if not found:
        expected = "at least one name or glob such as 'base.rate.*'"
        raise misuse("channels", "no names", expected, code="channel.none")
    return list(dict.fromkeys(name for names in found.values() for name in names))


def suggest(name: str, known: tuple[str, ...]) -> str:
    """Return "did you mean ..." with the known names close to `name`, or what there is instead.

    >>> suggest("base.rat.x", ("base.rate.x", "elbow.torque"))
    "did you mean 'base.rate.x'?"
    """
    otherwise = f"there are {listing(known, most=8)}" if known else "there are no channels"
    return did_you_mean(name, known, otherwise=otherwise, most=3)


def channel_names(coordinate: Coordinate) -> tuple[str, str]:
    """The channels of a coordinate's position and rate."""
    name = coordinate.name
    if name.endswith(".motor"):
        joint = name.removesuffix(".motor")
        return f"{joint}.motor_position", f"{joint}.motor_velocity"
    if coordinate.type == "rotor":
        return f"{name}.angle", f"{name}.speed"
    return f"{name}.position", f"{name}.velocity"


def motor_channel(coordinate: str) -> str:
    """The channel of the torque that the motor of a coordinate applies.

    >>> motor_channel("arm_1"), motor_channel("arm_1.motor")
    ('arm_1.motor_torque', 'arm_1.motor_torque')
    """
    return f"{coordinate.removesuffix('.motor')}.motor_torque"
