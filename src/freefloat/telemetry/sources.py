"""Samples as they arrive: newline JSON from standard input or from an address on this machine.

Lines that are no samples are handed on as None, for whoever counts them (`sample_lines`). Nothing
here listens to or calls another machine unless told to.
"""

from __future__ import annotations

import math
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from freefloat.errors import Fault, TelemetryError
from freefloat.telemetry.sample_lines import LONGEST_LINE, LineSplitter, sample_of_line
from freefloat.telemetry.sample_rows import Sample

SCHEMES = ("tcp", "udp", "ws")
LINES = (".ndjson", ".jsonl")
CHUNK = 65536  # format: [B] read at a time
WAIT = 0.2  # format: [s] between looks at the clock while nothing arrives
LONGEST_WAIT = 5.0  # format: [s] between attempts to connect, which double from WAIT on
HANDSHAKE = 5.0  # format: [s] that a WebSocket server has to answer
FAREWELL = 1.0  # format: [s] that it has to close


@dataclass
class SampleSource:
    """Where samples come from: a path of newline JSON, "-", or tcp://, udp://, ws:// addresses.

    A ws:// address needs the package websockets (the extra `live`).

    Args:
        address: A path, "-" for standard input, or an address with host and port.
        idle: End when nothing arrives for so long [s], connected or not; None: never.
        retry: How long to try to connect, and after a connection is lost to connect again [s]; one
            that breaks off before it brings a line is another failure, and no new beginning.
        remote: Whether other machines are allowed.
        tell: Called with a sentence when it waits for a connection.
        on_wait: Called about five times a second while nothing arrives.

    Raises:
        TelemetryError: The address cannot be used, or nobody answers there.

    `n_lost` counts lost connections, `n_too_long` lines that were dropped because of their length.
    """

    address: str
    idle: float | None = None
    retry: float = 10.0
    remote: bool = False
    tell: Callable[[str], None] | None = None
    on_wait: Callable[[], None] | None = None
    n_lost: int = field(default=0, init=False)
    n_too_long: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        for name, seconds in (("idle", self.idle), ("retry", self.retry)):
            if seconds is not None and not 0.0 <= seconds < math.inf:
                fault = Fault(name, f"{seconds}", "a finite number of seconds, 0 or more",
                              "choose another number", "option.range")  # fmt: skip
                raise TelemetryError(f"{name} cannot be {seconds}", [fault])
        if "://" in self.address and self.scheme not in SCHEMES:
            known = ", ".join(f"{scheme}://" for scheme in SCHEMES)
            raise _address_error(self.address, f"a file, - or an address with {known}", "change it")
        if self.scheme in SCHEMES:
            self.place = _place(self.address, self.remote)
        if self.scheme == "ws":
            _require_websockets()
        if self.scheme == "-" and sys.stdin is None:
            raise _address_error("-", "a standard input that is open", "pipe samples into it")

    @property
    def scheme(self) -> str:
        """tcp, udp or ws; empty for a file, "-" for standard input."""
        # Not by urlsplit: it raises on an address that _place then explains.
        if self.address == "-":
            return "-"
        scheme, mark, _ = self.address.partition("://")
        return scheme.lower() if mark else ""

    def __iter__(self) -> Iterator[Sample | None]:
        """Samples as they arrive; None for lines that are none."""
        self._heard = time.monotonic()
        for line in self._lines():
            if line and not line.isspace():
                yield sample_of_line(line)

    def _lines(self) -> Iterator[bytes]:
        if self.scheme == "udp":
            yield from self._datagrams()
        elif self.scheme in ("tcp", "ws"):
            yield from self._connections(
                self._tcp_lines if self.scheme == "tcp" else self._ws_lines
            )
        else:
            try:
                if self.scheme == "-":
                    yield from self._cut(self._pipe(sys.stdin.buffer))
                    return
                with Path(self.address).open("rb", buffering=0) as file:
                    yield from self._cut(iter(lambda: file.read(CHUNK), b""))
            except OSError as error:
                raise _reading_error(self.address, error) from error

    def _cut(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Lines of what comes, the last one too if it has no end."""
        splitter, before = LineSplitter(), self.n_too_long
        for chunk in chunks:
            yield from splitter.push(chunk)
            self.n_too_long = before + splitter.n_too_long
        yield from splitter.finish()

    def _pipe(self, file: BinaryIO) -> Iterator[bytes]:
        """What comes through standard input, until its end or nothing for `idle` seconds."""
        is_selectable = True
        while True:
            try:
                is_ready = not is_selectable or bool(select.select([file], [], [], WAIT)[0])
            except (OSError, ValueError):  # no pipe of this system's: it is read until its end
                is_selectable, is_ready = False, True
            if is_ready:
                chunk = file.read1(CHUNK)  # type: ignore[attr-defined]
                if not chunk:
                    return
                self._heard = time.monotonic()
                yield chunk
            elif self._is_over():
                return

    def _datagrams(self) -> Iterator[bytes]:
        host, port = self.place
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as receiver:
            _bind(receiver, host, port)
            receiver.settimeout(WAIT)
            while True:
                try:
                    got = receiver.recv(CHUNK)
                except TimeoutError:
                    if self._is_over():
                        return
                    continue
                self._heard = time.monotonic()
                yield from got.split(b"\n")

    def _connections(self, lines: Callable[[socket.socket], Iterator[bytes]]) -> Iterator[bytes]:
        """Lines of one connection after the other, until none brings any for `retry` seconds."""
        failing_since, pause, was_connected = time.monotonic(), WAIT, False
        while True:
            self._is_connected, begun, why = False, time.monotonic(), "it was closed"
            try:
                with socket.create_connection(self.place, timeout=WAIT) as connection:
                    for line in lines(connection):
                        failing_since, pause = math.inf, WAIT
                        yield line
            except OSError as error:
                why = str(error) or type(error).__name__
            except UnicodeError as error:  # a host that can be no name
                raise _address_error(self.address, "a host", "name another one") from error
            if self._is_over():
                return
            now, was_connected = time.monotonic(), was_connected or self._is_connected
            self.n_lost += self._is_connected
            if failing_since == math.inf or now - begun > LONGEST_WAIT:  # it worked so far
                failing_since = now
            left = failing_since + self.retry - now
            if left <= 0.0:
                if not was_connected:
                    raise _connection_error(self.address, why)
                return
            if self.tell and pause == WAIT:
                self.tell(f"no connection to {self.address} ({why}): trying for {left:.3g} s more")
            self._sleep(min(pause, left))
            pause = min(2.0 * pause, LONGEST_WAIT)

    def _sleep(self, seconds: float) -> None:
        """Wait, with looks at the clock."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0.0 and not self._is_over():
            time.sleep(min(left, WAIT))

    def _tcp_lines(self, connection: socket.socket) -> Iterator[bytes]:
        self._is_connected = True
        return self._cut(self._stream(connection))

    def _stream(self, connection: socket.socket) -> Iterator[bytes]:
        """What one connection brings, until it is closed or nothing comes for `idle` seconds."""
        connection.settimeout(WAIT)
        while True:
            try:
                got = connection.recv(CHUNK)
            except TimeoutError:
                if self._is_over():
                    return
                continue
            except OSError:  # broken off: what came of a last line is handed on all the same
                return
            if not got:
                return
            self._heard = time.monotonic()
            yield got

    def _ws_lines(self, connection: socket.socket) -> Iterator[bytes]:
        from websockets.exceptions import ConnectionClosed, WebSocketException
        from websockets.sync.client import connect

        connection.settimeout(None)  # from here on the library keeps the time
        try:
            # Over our own socket: neither a proxy nor a redirect can lead to another machine.
            # The library bounds a message by the sum of its frames.
            opened = connect(
                self.address, sock=connection, proxy=None, compression=None, max_size=LONGEST_LINE,
                open_timeout=HANDSHAKE, close_timeout=FAREWELL, ping_interval=None,
            )  # fmt: skip
        except (WebSocketException, ValueError, EOFError) as error:
            raise ConnectionError(f"what answered is not a WebSocket: {error}") from error
        self._is_connected = True
        with opened as server:
            while True:
                try:
                    message = server.recv(timeout=WAIT)
                except TimeoutError:
                    if self._is_over():
                        return
                    continue
                except ConnectionClosed:  # by either side, also for a message that is too long
                    return
                self._heard = time.monotonic()
                text = message.encode() if isinstance(message, str) else message
                yield from text.split(b"\n")

    def _is_over(self) -> bool:
        """Whether nothing came for too long; called while nothing comes."""
        if self.on_wait is not None:
            self.on_wait()
        return self.idle is not None and time.monotonic() - self._heard > self.idle


def is_address(source: str) -> bool:
    """Whether samples come from anything but a file."""
    return source == "-" or "://" in source


def has_lines(source: str) -> bool:
    """Whether samples come as lines of JSON, one after another, and not as a recording."""
    return is_address(source) or Path(source).suffix.lower() in LINES


def require_file_of_lines(source: str, max_bytes: int) -> None:
    """TelemetryError where samples are to come from a file that is not there, or too large."""
    path = Path(source)
    if is_address(source):
        return
    if not path.is_file():
        fault = Fault("SOURCE", source, "a file that exists", "check its name", "file.missing")
        raise TelemetryError("there is no such source", [fault])
    if (size := path.stat().st_size) > max_bytes:
        remedy = "allow more with --max-bytes, or pipe it in"
        fault = Fault("SOURCE", f"{size} bytes", f"at most {max_bytes} bytes", remedy, "file.size")
        raise TelemetryError(f"{source}: too large for a telemetry file", [fault])


def _place(address: str, remote: bool) -> tuple[str, int]:
    """Host and port of an address; TelemetryError for one that cannot be or is not allowed."""
    expected = "an address such as tcp://127.0.0.1:5000"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _address_error(address, expected, str(error)) from error
    if not host or not port:  # nobody can be at port 0
        raise _address_error(address, expected, "name host and port")
    is_here = host == "localhost"
    with suppress(ValueError):
        is_here = is_here or ip_address(host).is_loopback
    if not is_here and not remote:
        raise _address_error(address, "an address on this machine", "use --remote for another one")
    return host, port


def _bind(receiver: socket.socket, host: str, port: int) -> None:
    try:
        receiver.bind((host, port))
    except OSError as error:
        raise _connection_error(f"udp://{host}:{port}", str(error)) from error


def _address_error(address: str, expected: str, remedy: str) -> TelemetryError:
    fault = Fault("SOURCE", address, expected, remedy, "source.address")
    return TelemetryError("the source cannot be used", [fault])


def _connection_error(address: str, why: str) -> TelemetryError:
    expected, remedy = "a program that sends samples", "start it first"
    fault = Fault("SOURCE", f"{address}: {why}", expected, remedy, "source.refused")
    return TelemetryError("there is no connection", [fault])


def _reading_error(address: str, error: OSError) -> TelemetryError:
    name = "standard input" if address == "-" else address
    got = f"{name}: {error.strerror or error}"
    fault = Fault("SOURCE", got, "lines that can be read", "check the source", "file.unreadable")
    return TelemetryError("the source cannot be read", [fault])


def _require_websockets() -> None:
    if find_spec("websockets") is None:
        remedy = "pip install 'freefloat[live]'"
        expected = "the package websockets, for ws:// addresses"
        fault = Fault("SOURCE", "websockets is not installed", expected, remedy, "package.missing")
        raise TelemetryError("a WebSocket needs the package websockets", [fault])
