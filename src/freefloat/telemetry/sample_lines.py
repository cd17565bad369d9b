"""Lines of newline JSON: cut from what arrives, bounded in length, read as samples.

A line is one JSON object: `{"time": 12.3, "base.rate.x": 1e-3, ...}`, values in SI units.
"""

from __future__ import annotations

from pydantic_core import from_json

from freefloat.telemetry.sample_rows import Sample

LONGEST_LINE = 1_000_000  # format: [B]; a longer line or message is not a sample
TOO_LONG = b"(too long)"  # what is handed on in place of such a line: no sample either


def sample_of_line(line: str | bytes) -> Sample | None:
    """The sample that a line of JSON holds, or None where it holds none.

    >>> sample_of_line('{"time": 0.5, "base.rate.x": 1e-3}')
    Sample(time=0.5, values={'base.rate.x': 0.001})
    >>> sample_of_line("garbage") is None
    True
    """
    try:
        content = from_json(line)  # five times as fast as the json module, to the same last bit
        instant = content.pop("time")
        values = content.get("values", content)
        if type(values) is not dict or type(instant) not in (float, int):
            return None
        return Sample(float(instant), values)
    # the last: an integer may have more digits than any floating-point number
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None


class LineSplitter:
    r"""Cuts what arrives into lines; one that is too long is dropped to its end, and counted.

    >>> lines = LineSplitter(longest=8)
    >>> lines.push(b"one\ntw"), lines.push(b"o\nfar too l"), lines.push(b"ong, to"), lines.rest
    ([b'one'], [b'two', b'(too long)'], [], b'')
    >>> lines.push(b" its end\nfour\n"), lines.n_too_long
    ([b'four'], 1)
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self.longest = longest
        self.rest = b""  # of a line whose end has not come
        self.is_dropping = False
        self.n_too_long = 0

    def push(self, data: bytes) -> list[bytes]:
        """Take what came; the lines that are complete now."""
        if self.is_dropping:
            _, end, data = data.partition(b"\n")
            if not end:
                return []
            self.is_dropping = False
        data = self.rest + data if self.rest else data
        lines = data.split(b"\n")
        self.rest = lines.pop()
        if len(data) > self.longest:  # then one of them may be
            lines = [line if len(line) <= self.longest else self._drop() for line in lines]
            if len(self.rest) > self.longest:
                lines.append(self._drop())
                self.rest, self.is_dropping = b"", True
        return lines

    def finish(self) -> list[bytes]:
        """What is left when nothing more comes: a line without its end."""
        rest, self.rest, self.is_dropping = self.rest, b"", False
        return [rest] if rest else []

    def _drop(self) -> bytes:
        self.n_too_long += 1
        return TOO_LONG
