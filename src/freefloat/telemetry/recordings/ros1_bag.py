"""ROS 1 bags (format 2.0), read from the beginning to the end: an index is not needed.

Records follow one another, each a header of `name=value` entries and data; chunks hold records
again, packed. A chunk is unpacked to the size it declares and not beyond, one at a time. A bag that
was cut off gives what is whole.
"""

from __future__ import annotations

import bz2
import io
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from freefloat.notes import Note
from freefloat.telemetry.readers.tables import require_file, too_large
from freefloat.telemetry.recordings.message_recording import (
    RawMessage,
    Topic,
    message_recording,
)
from freefloat.telemetry.recordings.ros_types import definition_differs, ros_topic
from freefloat.telemetry.recordings.source_recording import (
    SourceFormat,
    SourceOptions,
    SourceRecording,
    WithinFile,
    require_library,
)

MAGIC = b"#ROSBAG V2.0\n"  # format: how a bag begins
_MESSAGE, _CHUNK, _CONNECTION = 2, 5, 7  # format: what a record is
_SECOND = 1_000_000_000  # theory: [ns]
_LARGEST_HEADER = 2**24  # format: [B]; definitions of messages have some thousand

Header = dict[str, bytes]


class _Ros1Bag:
    """A bag that is read record by record."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self.topics: dict[str, Topic] = {}
        self.notes: list[Note] = []
        self._names: dict[int, str] = {}
        self._doubted: set[str] = set()

    def messages(self, wanted: frozenset[str] | None) -> Iterator[RawMessage]:
        with self.path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError("it does not begin as a ROS 1 bag")
            for header, data in self._records(file):
                if header["op"][0] == _CHUNK:
                    inner = io.BytesIO(self._unpack(header, data))
                    for own, content in self._records(inner):
                        yield from self._message(own, content, wanted)
                else:
                    yield from self._message(header, data, wanted)

    def _message(
        self, header: Header, data: bytes, wanted: frozenset[str] | None
    ) -> Iterable[RawMessage]:
        kind = header["op"][0]
        if kind == _CONNECTION:
            self._connect(header, data)
        elif kind == _MESSAGE:
            name = self._names[_number(header["conn"])]
            if wanted is None or name in wanted:
                seconds, rest = struct.unpack("<II", header["time"])
                yield RawMessage(name, seconds * _SECOND + rest, None, data)

    def _connect(self, header: Header, data: bytes) -> None:
        number = _number(header["conn"])
        if number in self._names:
            return
        about = _entries(data)
        topic, kind = header["topic"].decode(), about["type"].decode()
        definition = about["message_definition"].decode("utf-8", errors="replace")
        stated = about.get("md5sum", b"").decode()
        self._names[number] = topic
        if topic not in self.topics:
            self.topics[topic] = ros_topic(topic, kind, definition, path=self.path, is_ros1=True)
        if kind not in self._doubted and definition_differs(definition, stated, kind, {}):
            self._doubted.add(kind)
            text = f"the definition of {kind} does not match its hash; {topic} is read by its text"
            self.notes.append(Note("recording.definition", text))

    def _records(self, opened: BinaryIO) -> Iterator[tuple[Header, bytes]]:
        file = WithinFile(opened)
        while len(size := file.read(4)) == 4:
            length = _number(size)
            if length > _LARGEST_HEADER:
                raise ValueError(f"a header of {length} bytes")
            header = _entries(file.read(length))
            size = file.read(4)
            length = _number(size) if len(size) == 4 else -1
            if length > self.max_bytes:
                raise too_large(self.path, length, max_bytes=self.max_bytes)
            data = file.read(max(length, 0))
            if "op" not in header or len(data) != length:
                self._say_cut()
                return
            yield header, data

    def _say_cut(self) -> None:
        text = "the file ends within a record; what is whole before it was read"
        if not any(note.code == "recording.cut" for note in self.notes):
            self.notes.append(Note("recording.cut", text))

    def _unpack(self, header: Header, data: bytes) -> bytes:
        size, packing = _number(header["size"]), header["compression"].decode()
        if size > self.max_bytes:
            raise too_large(self.path, size, max_bytes=self.max_bytes)
        if packing == "none":
            return data
        if packing == "bz2":
            made = bz2.BZ2Decompressor().decompress(data, max_length=size + 1)
        elif packing == "lz4":
            frame = require_library("lz4.frame", extra="bags", path=self.path)
            made = frame.LZ4FrameDecompressor().decompress(data, max_length=size + 1)
        else:
            raise ValueError(f"a chunk packed as {packing!r}")
        if len(made) != size:
            raise ValueError(f"a chunk that does not unpack to the {size} bytes it declares")
        return made


def _number(data: bytes) -> int:
    return struct.unpack("<I", data)[0]


def _entries(data: bytes) -> Header:
    """The entries `name=value` of a header, each behind its length."""
    found, at = {}, 0
    while at < len(data):
        length = _number(data[at : at + 4])
        name, mark, value = data[at + 4 : at + 4 + length].partition(b"=")
        if not mark or at + 4 + length > len(data):
            raise ValueError("a header that is cut off")
        found[name.decode("ascii", errors="replace")] = value
        at += 4 + length
    return found


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The topics of a bag."""
    require_file(path, max_bytes=2**63)  # read chunk by chunk, however large
    bag = _Ros1Bag(path, options.max_bytes)
    made = message_recording(path, "ROS 1 bag", topics=bag.topics, messages=bag.messages)
    made.notes += bag.notes
    return made


SOURCE = SourceFormat("ROS 1 bag", (".bag",), open_recording, begins=(MAGIC,))
