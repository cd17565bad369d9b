"""Decoders of ROS messages, by rosbags, from the definitions that a file carries.

Every topic has a type store of its own: a definition that is wrong, or that two topics disagree
about, costs that topic and no other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from freefloat.errors import shorten
from freefloat.telemetry.recordings.message_recording import Topic
from freefloat.telemetry.recordings.source_recording import require_library


def ros_topic(
    name: str, kind: str, definition: str, *, path: Path, is_ros1: bool, is_idl: bool = False
) -> Topic:
    """A topic of ROS messages; without a definition, the usual one of its type is taken."""
    require_library("rosbags", extra="bags", path=path)
    try:
        store, typename = _store(kind, definition, is_ros1=is_ros1, is_idl=is_idl)
        store.get_msgdef(typename)
    except Exception as error:  # rosbags raises its own, and others where a definition is odd
        reason = shorten(f"{type(error).__name__}: {error}", 120)
        return Topic(name, kind, None, f"definition of {kind} not understood ({reason})")
    read = store.deserialize_ros1 if is_ros1 else store.deserialize_cdr
    return Topic(name, kind, lambda data: read(data, typename))


@lru_cache(maxsize=1024)  # topics of one type, and a file that is looked at again, share it
def _store(kind: str, definition: str, *, is_ros1: bool, is_idl: bool) -> tuple[Any, str]:
    from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

    typename = kind if "/msg/" in kind else "/msg/".join(kind.rsplit("/", 1))
    if not definition.strip() and not typename.endswith("/Empty"):
        usual = Stores.ROS1_NOETIC if is_ros1 else Stores.LATEST
        return get_typestore(usual), typename
    types = get_types_from_idl(definition) if is_idl else get_types_from_msg(definition, typename)
    store = get_typestore(Stores.EMPTY)
    # times are built in, and a definition of them that is not as usual would be refused
    types = {key: made for key, made in types.items() if not key.startswith("builtin_interfaces/")}
    if is_ros1:
        types.setdefault("std_msgs/msg/Header", _ros1_header(get_typestore, Stores))
    store.register(types)
    return store, typename


def _ros1_header(get_typestore: Any, stores: Any) -> Any:
    return get_typestore(stores.ROS1_NOETIC).fielddefs["std_msgs/msg/Header"]


def definition_differs(definition: str, stated: str, kind: str, texts: Mapping[str, str]) -> bool:
    """Whether the MD5 sum that a bag states of a ROS 1 definition is not that of its text."""
    try:
        return _md5(kind, {**_parts(kind, definition), **texts}) != stated
    except (KeyError, RecursionError):
        return True


# format: the types that a ROS 1 definition may use without defining them
_SIMPLE = frozenset(
    ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32")
    + ("float64", "string", "time", "duration", "char", "byte")
)
_CONSTANT = re.compile(r"^\s*([\w/]+)\s+(\w+)\s*=\s*(.*?)\s*$")
_FIELD = re.compile(r"^\s*([\w/]+)(\[\d*\])?\s+(\w+)\s*$")


def _parts(kind: str, definition: str) -> dict[str, str]:
    """The texts of a definition by type: its own, then those that follow a line of ===."""
    pieces = re.split(r"^={10,}\s*$", definition, flags=re.MULTILINE)
    found = {kind: pieces[0]}
    for piece in pieces[1:]:
        head, _, text = piece.strip("\n").partition("\n")
        found.setdefault(head.removeprefix("MSG:").strip(), text)
    return found


def _md5(kind: str, texts: Mapping[str, str]) -> str:
    """The sum as ROS 1 defines it: constants, then fields, messages in it by their own sums."""
    constants, fields = [], []
    for line in texts[kind].splitlines():
        is_text = re.match(r"^\s*string\s+\w+\s*=", line) is not None
        line = line if is_text else line.partition("#")[0]
        if found := _CONSTANT.match(line):
            constants.append(f"{found[1]} {found[2]}={found[3]}")
        elif found := _FIELD.match(line):
            base, array, name = found[1], found[2] or "", found[3]
            what = f"{base}{array}" if base in _SIMPLE else _inner(base, kind, texts)
            fields.append(f"{what} {name}")
    return hashlib.md5("\n".join([*constants, *fields]).encode(), usedforsecurity=False).hexdigest()


def _inner(base: str, kind: str, texts: Mapping[str, str]) -> str:
    package = kind.partition("/")[0]
    names = ["std_msgs/Header"] if base == "Header" else [base, f"{package}/{base}"]
    return _md5(next(name for name in [*names, base] if name in texts), texts)
