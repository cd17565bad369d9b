"""What names of fields suggest: every entry that is made of them is a guess."""

from __future__ import annotations

import re
from collections.abc import Iterator

from freefloat.telemetry.names import unit_of
from freefloat.telemetry.recordings.map_fields import FieldIndex
from freefloat.telemetry.recordings.source_recording import RecordedField, RecordedStream
from freefloat.telemetry.recordings.suggestion_types import Draft, number_fields
from freefloat.telemetry.units import si_unit

# format: what people call quantities, and the channel that is meant; the last bit is an axis
_QUANTITIES: tuple[tuple[str, str], ...] = (
    (r"gyro?|omega|rates?|ang(?:ular)?_?(?:vel(?:ocity)?|rates?)|body_?rates?|w", "rate"),
    (r"acc|accel|acceleration|linear_acceleration|specific_force", "acceleration"),
    (r"vel|velocity|lin(?:ear)?_?vel(?:ocity)?|v", "velocity"),
    (r"pos|position|translation|p|r", "position"),
    (r"quat|quaternion|attitude|att|orientation|rotation|str|star_?tracker|star|q", "attitude"),
)
# format: what the unit alone says of a vector of which the words say nothing, as in imu_x_dps
_QUANTITY_OF_UNIT = {
    "rad/s": "rate", "m/s^2": "acceleration", "m/s": "velocity", "m": "position",
}  # fmt: skip
# format: words for a joint's quantities, as in J1_ang_deg
_JOINT = re.compile(
    r"(?:j|jnt|joint)[_. ]?(\d+)[_. ](?:(ang|angle|pos|position|enc|encoder)"
    r"|(rate|vel|velocity|speed|qd|omega)|(trq|tau|torque|effort))",
    re.IGNORECASE,
)
_JOINT_QUANTITIES = ("position", "velocity", "torque")
_QUATERNION = re.compile(r"(.*?)(?:q|quat|quaternion|att|attitude)[_. ]?([0-4wxyz])", re.IGNORECASE)
_SCALARS: tuple[tuple[str, str], ...] = (
    (r"(?:.*[_. ])?(?:yaw|heading)", "base.angle"),
    (r"(?:.*[_. ])?(?:wheel|rw)[_. ]?(\d*)[_. ]?(?:speed|rpm|omega)?", "wheel_{0}.speed"),
    (r"(?:q|joint|jnt|theta)[_. ]?(\d+)", "joint_{0}.position"),
    (r"(?:qd|dq|joint_vel|qdot)[_. ]?(\d+)", "joint_{0}.velocity"),
    (r"(?:tau|torque|joint_torque)[_. ]?(\d+)", "joint_{0}.torque"),
)
# format: ends of names that are units, longest first, with the unit where it is not spelled so
_UNIT_WORDS = {
    "deg_s2": "deg/s^2", "rad_s2": "rad/s^2", "m_s2": "m/s^2", "mps2": "m/s^2", "degps": "deg/s",
    "deg_s": "deg/s", "dps": "deg/s", "radps": "rad/s", "rad_s": "rad/s", "mmps": "mm/s",
    "mm_s": "mm/s", "mps": "m/s", "m_s": "m/s", "mNm": "mN m", "Nm": "N m", "N_m": "N m",
    "rpm": "rpm", "mrad": "mrad", "deg": "deg", "rad": "rad", "mm": "mm", "cm": "cm", "ms": "ms",
    "us": "us", "ns": "ns", "mg": "mg", "m": "m", "s": "s", "N": "N", "g": "g",
}  # fmt: skip
_UNIT_END = re.compile(rf"(.+?)[_ ]({'|'.join(_UNIT_WORDS)})")
_UNIT_NORM = 0.05  # theory: attitudes have norm one; written digits and a norm a bit off
_PLAIN = ("xyz", "data", "value", "vector")  # format: words that say nothing; their topic does
_VALVE = re.compile(r"thrust|valve|jet|solenoid|command_vector|nozzle", re.IGNORECASE)


def drafts_by_names(stream: RecordedStream, index: FieldIndex) -> list[Draft]:
    """Entries for fields whose names say what they are; nearly every one of them is a guess."""
    names = number_fields(stream)
    found = {str(draft.to): draft for draft in _by_groups(stream, index)}
    taken = {part for draft in found.values() for part in index.find(str(draft.source))}
    for draft in _numbered_quaternions(stream):
        if str(draft.to) not in found:
            found[str(draft.to)] = draft
            taken.update(draft.source)
    axes: dict[tuple[str, str], dict[str, tuple[str, str | None]]] = {}
    # parts of messages are told as a whole or not at all
    grouped = {part for parts in index.groups.values() for part in parts} if stream.name else set()
    for name, reference in names.items():
        if reference in taken or reference in grouped:
            continue
        stem, unit = _split_unit(name)
        keys: dict[str, object] = {"unit": unit} if unit else {}
        if unit_of(stem):  # it has the name of a channel already
            found[stem] = Draft(stem, reference, "", keys)
            continue
        if word := re.fullmatch(r"(.*?)[_. ]?([xyz])", stem, re.IGNORECASE):
            quantity = _QUANTITY_OF_UNIT.get(_si(unit)) or _quantity(word[1])
            if quantity in ("rate", "acceleration", "velocity", "position"):
                axes.setdefault((quantity, word[1]), {})[word[2].lower()] = (reference, unit)
                continue
        if word := _JOINT.fullmatch(stem):
            told = zip(_JOINT_QUANTITIES, word.groups()[1:], strict=True)
            quantity = next(quantity for quantity, part in told if part)
            to = f"joint_{word[1]}.{quantity}"
            found.setdefault(to, Draft(to, reference, "by its name", keys))
            continue
        for pattern, channel in _SCALARS:
            if word := re.fullmatch(pattern, stem, re.IGNORECASE):
                to = channel.format(*(word.groups() or ("",))).replace("_.", ".")
                found.setdefault(to, Draft(to, reference, "by its name", keys))
                break
    for (quantity, _), parts in axes.items():
        to = f"base.{quantity}"
        if len(parts) >= 2 and to not in found:
            unit = next(iter(parts.values()))[1]
            sources = [parts[axis][0] for axis in sorted(parts)]
            found[to] = Draft(to, sources, "by the names", {"unit": unit} if unit else {})
    return list(found.values())


def _si(unit: str | None) -> str:
    known = si_unit(unit) if unit else None
    return known[0] if known else ""


def _numbered_quaternions(stream: RecordedStream) -> Iterator[Draft]:
    """Attitudes in four columns: q0 to q3 (scalar first), q1 to q4 (scalar last), or qw to qz."""
    sets: dict[str, dict[str, RecordedField]] = {}
    for one in stream.fields:
        if not one.what and (word := _QUATERNION.fullmatch(one.name)):
            sets.setdefault(word[1], {})[word[2].lower()] = one
    for parts in sets.values():
        orders = {"0123": "wxyz", "1234": "xyzw", "wxyz": "wxyz"}
        order = orders.get("".join(sorted(parts)))
        squares = sum((one.example or 0.0) ** 2 for one in parts.values())
        if order is None or abs(squares - 1.0) > _UNIT_NORM:  # else four joints
            continue
        sources = [stream.reference(parts[key].name) for key in sorted(parts)]
        side = "first" if order == "wxyz" else "last"
        guess = f"by the names; scalar {side}, is it?"
        yield Draft("base.attitude", sources, guess, {"order": order})


def _quantity(name: str) -> str | None:
    """What the last word of a name means."""
    for pattern, quantity in _QUANTITIES:
        if re.fullmatch(rf"(?:.*[_. /])?(?:{pattern})", name, re.IGNORECASE):
            return quantity
    return None


def _by_groups(stream: RecordedStream, index: FieldIndex) -> Iterator[Draft]:
    """Entries for fields with x, y, z, or with numbers, that belong together."""
    seen: set[str] = set()
    for name, children in index.groups.items():
        if index.places[children[0]].stream != stream.name:
            continue
        own = name.removeprefix(stream.name).lstrip(".")
        quantity = _quantity(stream.name if own in _PLAIN else own)
        is_vector = len(children) == (4 if quantity == "attitude" else 3)
        if quantity is not None and is_vector and quantity not in seen:
            seen.add(quantity)
            is_listed = quantity == "attitude" and children[0].endswith("]")
            keys: dict[str, object] = {"order": "xyzw"} if is_listed else {}
            guess = "by its name" + (", and the order too" if is_listed else "")
            yield Draft(f"base.{quantity}", name, guess, keys)
        elif _VALVE.search(name) and children[0].endswith("]"):
            to: list[str] = [f"jet_{n + 1}.force" for n in range(len(children))]
            guess = "valves, on or off; write the force of each [N] in place of 1"
            yield Draft(to, name, guess, {"force": [1.0] * len(children)})


def _split_unit(name: str) -> tuple[str, str | None]:
    """A name and the unit at its end, as in Telemetry_X_mm."""
    found = _UNIT_END.fullmatch(name)
    if not found:
        return name, None
    return found[1], _UNIT_WORDS[found[2]]
