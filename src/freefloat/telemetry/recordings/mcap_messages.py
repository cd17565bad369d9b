"""MCAP with messages of ROS 1, ROS 2, JSON or protobuf, read from the beginning to the end.

A chunk is unpacked to the size it declares and not beyond, one at a time.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from freefloat.errors import shorten
from freefloat.notes import Note
from freefloat.telemetry.readers.tables import require_file, too_large
from freefloat.telemetry.recordings.message_recording import (
    Decoder,
    RawMessage,
    Topic,
    message_recording,
)
from freefloat.telemetry.recordings.ros_types import ros_topic
from freefloat.telemetry.recordings.source_recording import (
    SourceFormat,
    SourceOptions,
    SourceRecording,
    WithinFile,
    require_library,
)

MAGIC = b"\x89MCAP0\r\n"  # format: how an MCAP file begins and ends
_ROS = {"ros1msg": True, "ros2msg": False, "ros2idl": False}  # format: encodings of schemas


class McapFile:
    """The messages of a file in the order in which they were written down."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self.topics: dict[str, Topic] = {}
        self.notes: list[Note] = []
        self._library = require_library("mcap.stream_reader", extra="bags", path=path)

    def messages(self, wanted: frozenset[str] | None) -> Iterator[RawMessage]:
        """The messages of some topics, or of all."""
        schemas: dict[int, Any] = {}
        channels: dict[int, str] = {}
        with self.path.open("rb") as file:
            for record in self._records(file):
                kind = type(record).__name__
                if kind == "Schema":
                    schemas[record.id] = record
                elif kind == "Channel":
                    channels[record.id] = record.topic
                    if record.topic not in self.topics:
                        schema = schemas.get(record.schema_id)
                        self.topics[record.topic] = self._topic(record, schema)
                elif kind == "Message":
                    topic = channels[record.channel_id]
                    if wanted is None or topic in wanted:
                        times = record.log_time, record.publish_time
                        yield RawMessage(topic, *times, record.data)

    def _records(self, file: Any) -> Iterator[Any]:
        reader = self._library.StreamReader(
            WithinFile(file), emit_chunks=True, record_size_limit=self.max_bytes
        )
        try:
            for record in reader.records:
                if type(record).__name__ == "Chunk":
                    yield from self._inner(record)
                else:
                    yield record
        except import_error("RecordLengthLimitExceeded") as error:
            raise too_large(self.path, vars(error)["length"], max_bytes=self.max_bytes) from None
        except import_error("EndOfFile"):
            text = "the file ends within a record; what is whole before it was read"
            if not self.notes:
                self.notes.append(Note("recording.cut", text))

    def _inner(self, chunk: Any) -> Iterator[Any]:
        data = self._unpack(chunk)
        if chunk.uncompressed_crc and zlib.crc32(data) != chunk.uncompressed_crc:
            raise ValueError("a chunk whose checksum does not agree")
        made = self._library.StreamReader(io.BytesIO(data), skip_magic=True, emit_chunks=True)
        size = len(data)
        records = iter(made.records)
        while made._stream.count < size:
            yield next(records)

    def _unpack(self, chunk: Any) -> bytes:
        size, packing = chunk.uncompressed_size, chunk.compression
        if size > self.max_bytes:
            raise too_large(self.path, size, max_bytes=self.max_bytes)
        if packing == "zstd":
            zstandard = require_library("zstandard", extra="bags", path=self.path)
            reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(chunk.data))
            data = reader.read(size + 1)
        elif packing == "lz4":
            frame = require_library("lz4.frame", extra="bags", path=self.path)
            data = frame.LZ4FrameDecompressor().decompress(chunk.data, max_length=size + 1)
        elif not packing:
            data = chunk.data
        else:
            raise ValueError(f"a chunk packed as {packing!r}")
        if len(data) != size:
            raise ValueError(f"a chunk that does not unpack to the {size} bytes it declares")
        return data

    def _topic(self, channel: Any, schema: Any) -> Topic:
        """How the messages of a channel are decoded."""
        name, encoding = channel.topic, channel.message_encoding
        kind = schema.name if schema is not None else encoding
        if encoding == "json":
            return Topic(name, kind, _json)
        if schema is not None and schema.encoding in _ROS:
            text = schema.data.decode("utf-8", errors="replace")
            is_ros1, is_idl = _ROS[schema.encoding], schema.encoding == "ros2idl"
            return ros_topic(name, kind, text, path=self.path, is_ros1=is_ros1, is_idl=is_idl)
        if encoding == "protobuf" and schema is not None:
            return _protobuf_topic(name, schema, self.path)
        return Topic(name, kind, None, f"messages in the encoding {encoding!r}")


def import_error(name: str) -> type[Exception]:
    """An exception of mcap by name."""
    import mcap.exceptions

    return getattr(mcap.exceptions, name)


def _json(data: bytes) -> Any:
    return json.loads(data)


def _protobuf_topic(name: str, schema: Any, path: Path) -> Topic:
    library = require_library("mcap_protobuf.decoder", extra="bags", path=path)
    try:
        decode: Decoder | None = library.DecoderFactory().decoder_for("protobuf", schema)
    except Exception as error:  # protobuf raises many kinds where descriptors are damaged
        reason = shorten(f"{type(error).__name__}: {error}", 120)
        return Topic(name, schema.name, None, f"schema not understood ({reason})")
    return Topic(name, schema.name, decode, "" if decode else "schema not understood")


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The topics of an MCAP file."""
    require_file(path, max_bytes=2**63)  # read chunk by chunk, however large
    file = McapFile(path, options.max_bytes)
    made = message_recording(path, "MCAP", topics=file.topics, messages=file.messages)
    made.notes += file.notes
    return made


SOURCE = SourceFormat("MCAP", (".mcap",), open_recording, begins=(MAGIC,))
