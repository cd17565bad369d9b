"""A recording made of messages: what every topic holds, and the fields asked for as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from freefloat.errors import shorten
from freefloat.notes import Note
from freefloat.telemetry.recordings.message_fields import leaves, path_reader
from freefloat.telemetry.recordings.source_recording import (
    MISSING,
    PIECE,
    PUBLISHED,
    RECEIVED,
    STAMP,
    Piece,
    RecordedField,
    RecordedStream,
    SourceRecording,
    border,
    numbers,
)

# format: messages of a topic that are looked at to list its fields; publishers that share a topic
# take turns within far fewer
LOOKED_AT = 50


class RawMessage(NamedTuple):
    """A message as it lies in the file: its topic, both times [ns], its bytes or what they hold."""

    topic: str
    received: int
    published: int | None
    data: Any


Decoder = Callable[[Any], Any]


@dataclass
class Topic:
    """A topic: the type of its messages and how they are decoded, or why they cannot be."""

    name: str
    kind: str
    decode: Decoder | None
    problem: str = ""
    n_messages: int = 0
    has_publish: bool = False
    fields: dict[str, RecordedField] = field(default_factory=dict)

    def look(self, message: RawMessage) -> None:
        """Count a message; the first ones tell what fields there are."""
        self.n_messages += 1
        self.has_publish |= message.published is not None
        if self.decode is None or self.n_messages > LOOKED_AT:
            return
        try:
            found = list(leaves(self.decode(message.data)))
        except Exception as error:  # any decoder, any damage: this topic cannot be read
            self.decode, self.problem = None, shorten(f"{type(error).__name__}: {error}", 120)
            return
        for leaf in found:
            known = self.fields.get(leaf.path)
            if known is None or (known.example is None and leaf.value is not None):
                example = None if leaf.value is None else float(leaf.value)
                self.fields[leaf.path] = RecordedField(leaf.path, 0, None, leaf.what, example)

    def stream(self) -> RecordedStream:
        """What the topic holds."""
        times = (RECEIVED, PUBLISHED) if self.has_publish else (RECEIVED,)
        found = [RecordedField(name, self.n_messages, "ns") for name in times]
        if self.decode is None:
            found.append(RecordedField("*", self.n_messages, None, self.problem or "not decoded"))
        found += [
            # stamps are put together from seconds and nanoseconds
            replace(one, n_samples=self.n_messages, unit="ns" if one.name == STAMP else one.unit)
            for one in self.fields.values()
        ]
        return RecordedStream(self.name, tuple(found), self.kind)


def message_recording(
    path: Path, form: str, *, topics: Mapping[str, Topic],
    messages: Callable[[frozenset[str] | None], Iterable[RawMessage]],
) -> SourceRecording:  # fmt: skip
    """The recording of messages; `messages` gives those of some topics, or all, as often as asked.

    Topics may become known while the messages are read.
    """
    with border(path, form):
        for message in messages(None):
            topics[message.topic].look(message)
    notes = [
        Note("recording.topic", f"{topic.name} ({topic.kind}) cannot be decoded: {topic.problem}")
        for topic in topics.values()
        if topic.decode is None and topic.n_messages
    ]

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        columns = {name: _MessageColumns(topics[name], fields) for name, fields in wanted.items()}
        for message in messages(frozenset(wanted)):
            if message.topic in columns:
                own = columns[message.topic]
                own.add(message)
                if own.n_messages >= PIECE:
                    yield own.flush()
        yield from (own.flush() for own in columns.values())

    streams = tuple(topic.stream() for topic in topics.values() if topic.n_messages)
    return SourceRecording(path, form, streams, read, notes)


class _MessageColumns:
    """Fields of a topic, number by number."""

    def __init__(self, topic: Topic, names: Sequence[str]) -> None:
        self.topic = topic
        self.readers = {name: path_reader(name) for name in names if not name.startswith("@")}
        self.values: dict[str, list[Any]] = {name: [] for name in names}
        self.n_messages = 0

    def add(self, message: RawMessage) -> None:
        decode = self.topic.decode
        decoded = decode(message.data) if decode is not None and self.readers else None
        self.n_messages += 1
        for name, column in self.values.items():
            if name == RECEIVED:
                column.append(message.received)
            elif name == PUBLISHED:
                column.append(message.published)
            else:
                value = self.readers[name](decoded)
                column.append(MISSING if value is None else value)

    def flush(self) -> Piece:
        piece = Piece(self.topic.name, {name: numbers(v) for name, v in self.values.items()})
        self.values = {name: [] for name in self.values}
        self.n_messages = 0
        return piece
