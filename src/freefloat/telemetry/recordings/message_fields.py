"""Fields of a message by path: `angular_velocity.x`, `position[arm_1]`, `covariance[0]`.

Messages are whatever their decoder gives: objects with attributes (ROS), dictionaries (JSON),
protobuf messages. Lists beside a list of names are addressed by name, since publishers are free to
change the order; all others by number. A time (seconds and nanoseconds) is one whole number [ns].
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.telemetry.recordings.source_recording import MOST_ELEMENTS

Number = float | int
# format: the lists that name their neighbours' elements, and the texts that name an item
_NAMES = ("name", "names", "joint_names", "interface_names", "link_names")
_OWN_NAMES = ("child_frame_id", "name", "rigid_body_name", "subject_name", "joint_name", "id")
# format: how decoders call the two parts of a time
_TIMES = (("sec", "nanosec"), ("secs", "nsecs"), ("sec", "nsec"), ("seconds", "nanos"))
_SECOND = 1_000_000_000  # theory: [ns]
_DEEPEST = 12  # format: messages in messages
_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")


@dataclass(frozen=True)
class MessageLeaf:
    """A number in a message, or what else stands there instead of one."""

    path: str
    value: Number | None
    what: str = ""


def members(message: Any) -> Sequence[tuple[str, Any]] | None:
    """Names and values of a message, or None for what is none."""
    if isinstance(message, dict):
        return [(str(key), value) for key, value in message.items()]
    if hasattr(message, "DESCRIPTOR"):
        return [(one.name, getattr(message, one.name)) for one in message.DESCRIPTOR.fields]
    names = getattr(message, "__dataclass_fields__", None)
    if names is None:
        return None
    return [(name, getattr(message, name)) for name in names if name != "__msgtype__"]


def nanoseconds(message: Any) -> int | None:
    """A time [ns] where a message is one.

    >>> nanoseconds({"sec": 2, "nanosec": 5})
    2000000005
    """
    found = members(message)
    if found is None or len(found) != 2:
        return None
    for seconds, rest in _TIMES:
        if (found[0][0], found[1][0]) == (seconds, rest):
            return int(found[0][1]) * _SECOND + int(found[1][1])
    return None


def leaves(message: Any, path: str = "", *, depth: int = 0) -> Iterator[MessageLeaf]:
    """Every number of a message by its path; what is no number, or far too many, is named."""
    time, found = nanoseconds(message), members(message)
    if time is not None:
        yield MessageLeaf(path, time)
    elif depth > _DEEPEST:
        yield MessageLeaf(path, None, "nested too deeply")
    elif found is not None:
        names = element_names(message)
        for name, value in found:
            here = f"{path}.{name}" if path else name
            if is_list(value):
                yield from _elements(value, here, names=names, depth=depth)
            else:
                yield from leaves(value, here, depth=depth + 1)
    elif isinstance(message, bool | int | float | np.number | np.bool_):
        yield MessageLeaf(path, message.item() if isinstance(message, np.generic) else message)
    elif is_list(message):
        yield from _elements(message, path, names=None, depth=depth)
    elif message is not None:
        yield MessageLeaf(path, None, "text" if isinstance(message, str) else "no number")
    else:
        yield MessageLeaf(path, None)


def _elements(
    values: Sequence[Any], path: str, *, names: Sequence[str] | None, depth: int
) -> Iterator[MessageLeaf]:
    if len(values) > MOST_ELEMENTS or isinstance(values, bytes):
        yield MessageLeaf(path, None, f"{len(values)} elements")
    elif len(values) and isinstance(values[0], str):
        yield MessageLeaf(path, None, "text")
    else:
        keys = keys_of(values, names)
        for key, value in zip(keys, values, strict=True):
            yield from leaves(value, f"{path}[{key}]", depth=depth + 1)


def is_list(value: Any) -> bool:
    """Whether a value of a message is a list of any kind."""
    if isinstance(value, str) or members(value) is not None:
        return False
    return isinstance(value, list | tuple | bytes | np.ndarray) or hasattr(value, "append")


def element_names(message: Any) -> list[str] | None:
    """The names that a message gives the elements of its lists, if it does.

    >>> element_names({"name": ["a", "b"], "position": [1.0, 2.0]})
    ['a', 'b']
    """
    found = members(message) or ()
    for name, value in found:
        if name in _NAMES and is_list(value) and len(value) and isinstance(value[0], str):
            return list(value)
    return None


def keys_of(values: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    """What the elements of a list are called: by their neighbour, by themselves, or by number."""
    given: list[str] = []
    if names is not None and len(names) == len(values):
        given = [str(name) for name in names]
    elif len(values) and members(values[0]) is not None:
        given = [_own_name(value) for value in values]
    is_usable = len(set(given)) == len(values) and all(given) and not any("]" in g for g in given)
    return given if is_usable else [str(n) for n in range(len(values))]


def _own_name(message: Any) -> str:
    for name, value in members(message) or ():
        if name in _OWN_NAMES and isinstance(value, str) and value:
            return value
    return ""


def path_reader(path: str) -> Callable[[Any], Number | None]:
    """A function that reads one number of a message; None where a message has no such field.

    >>> read = path_reader("position[elbow]")
    >>> read({"name": ["wrist", "elbow"], "position": [1.0, 2.0]}), read({"name": []})
    (2.0, None)
    """
    steps = [(name, key, bool(name)) for name, key in _STEP.findall(path)]

    def read(message: Any) -> Number | None:
        here, owner = message, None
        for name, key, is_member in steps:
            if is_member:
                owner = here
                here = _member(here, name)
            else:
                here = _element(here, key, owner)
            if here is None:
                return None
        if isinstance(here, bool | int | float):
            return here
        return here.item() if isinstance(here, np.generic) else nanoseconds(here)

    return read


def _member(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, dict) else getattr(message, name, None)


def _element(values: Any, key: str, owner: Any) -> Any:
    if values is None or not is_list(values):
        return None
    keys = keys_of(values, element_names(owner) if owner is not None else None)
    return values[keys.index(key)] if key in keys else None
