"""Samples as they arrive: newline JSON from standard input or from an address on this machine.

A line is one JSON object: `{"time": 12.3, "base.rate.x": 1e-3, ...}`, values in SI units. Lines
that are not are handed on as None, for whoever counts them. Nothing here listens to or calls
another machine unless told to.
"""

from __future__ import annotations

import json
import math
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from freefloat.errors import Fault, TelemetryError
from freefloat.telemetry.sample_rows import Sample

LONGEST_LINE = 1_000_000  # format: [B]; a longer line or message is not a sample
SCHEMES = ("tcp", "udp", "ws")
LINES = (".ndjson", ".jsonl")
WAIT = 0.2  # format: [s] between looks at the clock while nothing arrives
HANDSHAKE = 5.0  # format: [s] that a WebSocket server has to answer
FAREWELL = 1.0  # format: [s] that it has to close


def sample_of_line(line: str | bytes) -> Sample | None:
    """The sample that a line of JSON holds, or None where it holds none.

    >>> sample_of_line('{"time": 0.5, "base.rate.x": 1e-3}')
    Sample(time=0.5, values={'base.rate.x': 0.001})
    >>> sample_of_line("garbage") is None
    True
    """
    try:
        content = json.loads(line)
        instant = content.pop("time")
        values = content.get("values", content)
        return Sample(float(instant), {str(k): v for k, v in values.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


@dataclass
class SampleSource:
    """Where samples come from: a path of newline JSON, "-", or tcp://, udp://, ws:// addresses.

    A ws:// address needs the package websockets (the extra `live`).

    Args:
        address: A path, "-" for standard input, or an address with host and port.
        idle: End when nothing arrives for so long [s]; None: never.
        retry: How long to try to connect again after a connection is lost [s].
        remote: Whether other machines are allowed.

    Raises:
        TelemetryError: The address cannot be used, or nobody answers there.

    `n_lost` counts lost connections.
    """

    address: str
    idle: float | None = None
    retry: float = 10.0
    remote: bool = False
    n_lost: int = field(default=0, init=False)

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
        for line in self._lines():
            if line.strip():
                yield sample_of_line(line)

    def _lines(self) -> Iterator[bytes]:
        if self.scheme == "-":
            yield from sys.stdin.buffer
        elif self.scheme == "udp":
            yield from self._datagrams()
        elif self.scheme in ("tcp", "ws"):
            yield from self._connections(_tcp_lines if self.scheme == "tcp" else self._ws_lines)
        else:
            with Path(self.address).open("rb") as file:
                yield from file

    def _datagrams(self) -> Iterator[bytes]:
        host, port = self.place
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as receiver:
            _bind(receiver, host, port)
            receiver.settimeout(WAIT)
            quiet_since = time.monotonic()
            while not self._is_over(quiet_since):
                with suppress(TimeoutError):
                    yield from receiver.recv(65536).split(b"\n")
                    quiet_since = time.monotonic()

    def _connections(
        self, lines: Callable[[socket.socket, Callable[[float], bool]], Iterator[bytes]]
    ) -> Iterator[bytes]:
        """Lines of one connection after the other, until none can be made for `retry` seconds."""
        lost_since: float | None = None
        is_first = True
        while True:
            try:
                with socket.create_connection(self.place, timeout=WAIT) as connection:
                    is_first, lost_since = False, None
                    yield from lines(connection, self._is_over)
            except OSError as error:
                if is_first and self.retry == 0.0:
                    raise _connection_error(self.address, error) from error
            if not is_first and lost_since is None:
                self.n_lost += 1
            lost_since = time.monotonic() if lost_since is None else lost_since
            if time.monotonic() - lost_since > self.retry:
                if is_first:
                    raise _connection_error(self.address, OSError("nobody answered"))
                return
            time.sleep(min(WAIT, self.retry))

    def _ws_lines(
        self, connection: socket.socket, is_over: Callable[[float], bool]
    ) -> Iterator[bytes]:
        from websockets.exceptions import ConnectionClosed, WebSocketException
        from websockets.sync.client import connect

        connection.settimeout(None)  # from here on the library keeps the time
        try:
            # Over our own socket: neither a proxy nor a redirect can lead to another machine.
            opened = connect(
                self.address, sock=connection, proxy=None, compression=None, max_size=LONGEST_LINE,
                open_timeout=HANDSHAKE, close_timeout=FAREWELL, ping_interval=None,
            )  # fmt: skip
        except (WebSocketException, ValueError, EOFError) as error:
            raise ConnectionError(f"what answered is not a WebSocket: {error}") from error
        quiet_since = time.monotonic()
        with opened as server:
            while not is_over(quiet_since):
                try:
                    message = server.recv(timeout=WAIT)
                except TimeoutError:
                    continue
                except ConnectionClosed:  # by either side, also for a message that is too long
                    return
                quiet_since = time.monotonic()
                text = message.encode() if isinstance(message, str) else message
                yield from text.split(b"\n")

    def _is_over(self, quiet_since: float) -> bool:
        return self.idle is not None and time.monotonic() - quiet_since > self.idle


def _tcp_lines(connection: socket.socket, is_over: Callable[[float], bool]) -> Iterator[bytes]:
    rest, quiet_since = b"", time.monotonic()
    while not is_over(quiet_since):
        with suppress(TimeoutError):
            got = connection.recv(65536)
            if not got:
                break
            quiet_since = time.monotonic()
            *lines, rest = (rest + got).split(b"\n")
            yield from lines
            if len(rest) > LONGEST_LINE:
                yield b"too long"
                rest = b""
    if rest:
        yield rest


def _place(address: str, remote: bool) -> tuple[str, int]:
    """Host and port of an address; TelemetryError for one that cannot be or is not allowed."""
    expected = "an address such as tcp://127.0.0.1:5000"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _address_error(address, expected, str(error)) from error
    if not host or port is None:
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
        raise _connection_error(f"udp://{host}:{port}", error) from error


def _address_error(address: str, expected: str, remedy: str) -> TelemetryError:
    fault = Fault("SOURCE", address, expected, remedy, "source.address")
    return TelemetryError("the source cannot be used", [fault])


def _connection_error(address: str, error: OSError) -> TelemetryError:
    expected, remedy = "a program that sends samples", "start it first"
    fault = Fault("SOURCE", f"{address}: {error}", expected, remedy, "source.refused")
    return TelemetryError("there is no connection", [fault])


def _require_websockets() -> None:
    if find_spec("websockets") is None:
        remedy = "pip install 'freefloat[live]'"
        expected = "the package websockets, for ws:// addresses"
        fault = Fault("SOURCE", "websockets is not installed", expected, remedy, "package.missing")
        raise TelemetryError("a WebSocket needs the package websockets", [fault])
