"""Estimates of a live run as MCAP: a topic a parameter (`/estimate/target/mass`), and one of words.

Messages are JSON with a schema, as telemetry is written (`telemetry/readers/mcap_`). MCAP ends with
an index, so that the file is written aside and is there at the end of the run, however that comes.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli.estimate_files import EstimateFile
from freefloat.telemetry.readers.channel_groups import json_number
from freefloat.telemetry.readers.mcap_ import log_time, mcap_library, register_topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from freefloat.online.live_estimate import LiveEstimate
    from freefloat.parameters.parameters import Parameter

KEY = "freefloat.estimates"  # format: the metadata by which a file of estimates is known
NUMBERS = ("value", "std", "total_std")  # format: fields of a parameter, in its unit
WORDS_TOPIC = "/estimate"  # format: grade, status and health, for those who look on


class MessageFile(EstimateFile):
    """An MCAP file of estimates, whose log begins at zero, or at the first time [s] before that."""

    def __init__(
        self, path: Path, parameters: Sequence[Parameter], *, is_resumed: bool = False
    ) -> None:
        library = mcap_library("mcap.writer", path)
        super().__init__(path)
        self._file = self._temporary.open("wb")
        self._writer = library.Writer(self._file)
        self._writer.start(profile="", library="freefloat")
        self._topics = {
            p.name: register_topic(
                self._writer, f"estimate.{p.name}", dict.fromkeys(NUMBERS, p.unit)
            )
            for p in parameters
        }
        self._words = self._register_words()
        self._start: float | None = None
        self._waiting: LiveEstimate | None = None  # until there is one of another time
        if is_resumed and path.is_file():
            self._keep_messages(path)

    def _register_words(self) -> int:
        texts = {name: {"type": "string"} for name in ("grade", "status", "health")}
        properties = {"t": {"type": "number", "description": "time [s]"}, **texts}
        schema = {"type": "object", "title": "estimate", "properties": properties}
        data = json.dumps(schema).encode()
        number = self._writer.register_schema("freefloat.estimate", "jsonschema", data)
        return self._writer.register_channel(WORDS_TOPIC, "json", number)

    def _keep_messages(self, path: Path) -> None:
        """Take over the messages of a file of the same parameters; another one is replaced."""
        reading = mcap_library("mcap.reader", path)
        topics = {"/" + f"estimate.{name}".replace(".", "/"): n for name, n in self._topics.items()}
        topics[WORDS_TOPIC] = self._words
        # mcap raises many kinds on damaged files, of which what can be read is kept
        with suppress(Exception), path.open("rb") as file:
            older = reading.SeekingReader(file, validate_crcs=True)
            summary = older.get_summary()
            about = [one.metadata for one in older.iter_metadata() if one.name == KEY]
            if not about or {c.topic for c in summary.channels.values()} != set(topics):
                return
            self._start = float(about[0]["start"])
            for _, channel, message in older.iter_messages():
                stamp = message.log_time
                self._writer.add_message(topics[channel.topic], stamp, message.data, stamp)
                self.last = float(json.loads(message.data)["t"])

    def write(self, estimate: LiveEstimate) -> None:
        """Add an estimate, once there is one."""
        if estimate.time is None:
            return
        if self._waiting is not None and self._waiting.time != estimate.time:
            self._flush()
        self._waiting = estimate

    def _flush(self) -> None:
        estimate, self._waiting = self._waiting, None
        if estimate is None or estimate.time is None:
            return
        time = float(estimate.time)
        self._start = min(0.0, time) if self._start is None else self._start
        stamp = log_time(time, self._start)
        rows = zip(estimate.values, estimate.std, estimate.total_std, strict=True)
        for topic, row in zip(self._topics.values(), rows, strict=True):
            numbers = (json_number(float(x)) for x in row)
            self._add(topic, stamp, {"t": time} | dict(zip(NUMBERS, numbers, strict=True)))
        words = {"grade": estimate.grade, "status": str(estimate.status)}
        self._add(self._words, stamp, {"t": time, **words, "health": estimate.health.sentence})

    def _add(self, topic: int, stamp: int, content: Mapping[str, object]) -> None:
        self._writer.add_message(topic, stamp, json.dumps(content).encode(), stamp)

    def _end(self) -> None:
        with self._file:
            self._flush()
            self._writer.add_metadata(KEY, {"start": repr(self._start or 0.0)})
            self._writer.finish()

    def _abandon(self) -> None:
        self._file.close()
