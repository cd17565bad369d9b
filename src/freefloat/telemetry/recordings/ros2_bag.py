"""ROS 2 bags: a folder with sqlite3 or MCAP files, or one of those files by itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

from freefloat.telemetry.readers.tables import require_file, too_large, unreadable
from freefloat.telemetry.recordings.mcap_messages import McapFile
from freefloat.telemetry.recordings.message_recording import (
    RawMessage,
    Topic,
    message_recording,
)
from freefloat.telemetry.recordings.ros_types import ros_topic
from freefloat.telemetry.recordings.source_recording import (
    SourceFormat,
    SourceOptions,
    SourceRecording,
    border,
)

SIGNATURE = b"SQLite format 3\0"  # format: how an sqlite3 file begins

Messages = Callable[[frozenset[str] | None], Iterator[RawMessage]]


class _SqliteBag:
    """The messages of an sqlite3 file, in the order of their times."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self.topics: dict[str, Topic] = {}
        with closing(self._connect()) as base:
            texts = self._definitions(base)
            self._names = {
                number: (name, kind, form)
                for number, name, kind, form in base.execute(
                    "SELECT id, name, type, serialization_format FROM topics"
                )
            }
        for name, kind, form in self._names.values():
            if form == "cdr":
                text, is_idl = texts.get(kind, ("", False))
                made = ros_topic(name, kind, text, path=path, is_ros1=False, is_idl=is_idl)
            else:
                made = Topic(name, kind, None, f"messages in the format {form!r}, not cdr")
            self.topics[name] = made

    def _connect(self) -> sqlite3.Connection:
        # read-only and as it is: nothing may be written beside somebody's recording
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)

    @staticmethod
    def _definitions(base: sqlite3.Connection) -> dict[str, tuple[str, bool]]:
        """Definitions that newer bags carry, by type, and whether they are IDL."""
        try:
            rows = base.execute(
                "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
            )
            return {kind: (text, form == "ros2idl") for kind, form, text in rows}
        except sqlite3.OperationalError:  # bags up to Humble have no such table
            return {}

    def messages(self, wanted: frozenset[str] | None) -> Iterator[RawMessage]:
        names = {number: name for number, (name, _, _) in self._names.items()}
        chosen = [n for n, name in names.items() if wanted is None or name in wanted]
        marks = ",".join("?" * len(chosen))
        query = "SELECT topic_id, timestamp, length(data), data FROM messages"
        query += f" WHERE topic_id IN ({marks}) ORDER BY timestamp, id"
        with closing(self._connect()) as base:
            for number, time, size, data in base.execute(query, chosen):
                if size > self.max_bytes:
                    raise too_large(self.path, size, max_bytes=self.max_bytes)
                yield RawMessage(names[number], int(time), None, data)


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The topics of a bag, of all its files together."""
    files = _files(path)
    with border(path, "ROS 2 bag"):
        bags = [_open_file(file, options.max_bytes) for file in files]
    topics = {name: topic for bag in reversed(bags) for name, topic in bag.topics.items()}

    def messages(wanted: frozenset[str] | None) -> Iterator[RawMessage]:
        for message in chain.from_iterable(bag.messages(wanted) for bag in bags):
            if message.topic not in topics:  # an MCAP file tells of its topics while it is read
                for bag in bags:
                    topics.update({n: t for n, t in bag.topics.items() if n not in topics})
            yield message

    made = message_recording(path, "ROS 2 bag", topics=topics, messages=messages)
    for bag in bags:
        made.notes += getattr(bag, "notes", [])
    return replace(made)


def _open_file(file: Path, max_bytes: int) -> _SqliteBag | McapFile:
    require_file(file, max_bytes=2**63)
    return McapFile(file, max_bytes) if file.suffix == ".mcap" else _SqliteBag(file, max_bytes)


def _files(path: Path) -> list[Path]:
    """The files of a bag in the order in which they were written."""
    if not path.is_dir():
        return [path]
    found = [file for suffix in ("*.db3", "*.mcap") for file in path.glob(suffix)]
    if found:
        return sorted(found, key=_place)
    packed = [*path.glob("*.zstd")]
    value = "a folder of packed files" if packed else "a folder without .db3 or .mcap files"
    remedy = "unpack them first: zstd -d FILE" if packed else "name the folder of a ROS 2 bag"
    raise unreadable(path, value, "a ROS 2 bag", remedy, code="file.format")


def _place(file: Path) -> tuple[int, str]:
    """The number at the end of a file's name: flight_10 comes after flight_9."""
    last = file.stem.rpartition("_")[2]
    return (int(last) if last.isdecimal() else -1, file.name)


SOURCE = SourceFormat("ROS 2 bag", (".db3",), open_recording, begins=(SIGNATURE,))
