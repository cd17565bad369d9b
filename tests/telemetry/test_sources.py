"""Samples from pipes and sockets: lines that are none are handed on as None, and nothing hangs."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from fault_codes import refused
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve as serve_websocket

from freefloat.errors import TelemetryError
from freefloat.telemetry.sample_lines import LONGEST_LINE, sample_of_line
from freefloat.telemetry.sources import SampleSource

LINES = [json.dumps({"time": 0.1 * k, "base.angle": 0.0}) for k in range(3)]


def test_garbage_is_none():
    for line in ("", "garbage", "[1]", "3", '{"time": "x"}', '{"base.angle": 1}', b"\xff\xfe"):
        assert sample_of_line(line) is None
    assert sample_of_line('{"time": 1, "values": {"a.angle": 2}}').values == {"a.angle": 2}  # type: ignore[union-attr]


def test_other_machines_are_refused():
    others = ("tcp://10.0.0.1:5", "udp://0.0.0.0:5", "ws://example.org:80/x")
    for address in (*others, "tcp://127.0.0.1"):  # the last one has no port
        with refused(TelemetryError, "source.address"):
            SampleSource(address)


def serve(answer) -> int:
    """A server on this machine that talks to one caller; its port."""
    server = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with server, server.accept()[0] as caller:
            answer(caller)

    threading.Thread(target=run, daemon=True).start()
    return server.getsockname()[1]


def test_tcp():
    text = "\n".join([LINES[0], "garbage", *LINES[1:]]) + "\n"
    port = serve(lambda caller: caller.sendall(text.encode()))
    source = SampleSource(f"tcp://127.0.0.1:{port}", retry=0.3)
    found = list(source)
    assert [s.time if s else None for s in found] == [0.0, None, 0.1, 0.2]
    assert source.n_lost == 1


def test_udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = []
    source = SampleSource(f"udp://127.0.0.1:{port}", idle=1.0)
    reader = threading.Thread(target=lambda: found.extend(source))
    reader.start()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        while not found and reader.is_alive():
            sender.sendto(LINES[0].encode(), ("127.0.0.1", port))
            reader.join(0.05)
    reader.join(10.0)
    assert found and found[0].time == 0.0


@contextmanager
def websocket_server(handler, **options):
    """A server of the same library on this machine; its port."""
    with serve_websocket(handler, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.socket.getsockname()[1]
        server.shutdown()
        thread.join(10.0)


def test_websocket():
    def handler(connection) -> None:
        connection.send(LINES[0])
        connection.send(f"{LINES[1]}\n{LINES[2]}".encode())  # binary, two lines
        connection.send([LINES[0][:5], LINES[0][5:]])  # in two frames
        connection.ping()

    with websocket_server(handler) as port:
        source = SampleSource(f"ws://127.0.0.1:{port}/x", retry=0.0)
        found = [next(samples) for samples in [iter(source)] for _ in range(4)]
    assert [s.time for s in found if s] == [0.0, 0.1, 0.2, 0.0]


def test_a_lost_websocket_is_called_again():
    calls = []

    def handler(connection) -> None:
        calls.append(connection)
        connection.send(LINES[len(calls) - 1])

    with websocket_server(handler) as port:
        source = SampleSource(f"ws://127.0.0.1:{port}/x", retry=5.0)
        found = [next(samples) for samples in [iter(source)] for _ in range(3)]
    assert [s.time for s in found if s] == [0.0, 0.1, 0.2] and source.n_lost == 2


@pytest.mark.parametrize("n_frames", [1, 100])
def test_a_message_without_end_is_not_collected(n_frames):
    """However many frames it comes in: beyond the limit the connection is given up."""

    def handler(connection) -> None:
        connection.send(LINES[0])
        size = 2 * LONGEST_LINE // n_frames
        with suppress(ConnectionClosed):
            connection.send(["x" * size] * n_frames if n_frames > 1 else "x" * size)
            connection.recv()

    with websocket_server(handler) as port:
        source = SampleSource(f"ws://127.0.0.1:{port}/x", retry=0.0)
        assert [s.time if s else None for s in source] == [0.0] and source.n_lost == 1


def test_a_quiet_websocket_ends_when_idle():
    with websocket_server(lambda connection: connection.recv()) as port:
        assert list(SampleSource(f"ws://127.0.0.1:{port}/x", idle=0.3, retry=0.0)) == []


ANSWERS = {
    "another protocol": b"hello\r\n\r\n",
    "no upgrade": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "elsewhere": b"HTTP/1.1 302 Found\r\nLocation: ws://192.0.2.1:80/\r\nContent-Length: 0\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_what_is_no_websocket_is_refused(answer):
    """A redirect to another machine is not followed either."""

    def talk(caller: socket.socket) -> None:
        caller.recv(4096)
        caller.sendall(answer)

    source = SampleSource(f"ws://127.0.0.1:{serve(talk)}/x", retry=0.3)
    with refused(TelemetryError, "source.refused"):
        list(source)
    assert source.n_lost == 0


def test_nobody_there():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for scheme in ("tcp", "ws"):
        with refused(TelemetryError, "source.refused"):
            list(SampleSource(f"{scheme}://127.0.0.1:{port}", retry=0.0))


def test_without_the_package_a_websocket_says_what_to_install(monkeypatch):
    monkeypatch.setattr("freefloat.telemetry.sources.find_spec", lambda name: None)
    SampleSource("tcp://127.0.0.1:5")
    with pytest.raises(TelemetryError) as caught:
        SampleSource("ws://127.0.0.1:5/x")
    assert caught.value.codes == ("package.missing",)
    assert "freefloat[live]" in caught.value.faults[0].remedy


@pytest.mark.parametrize("address", ["http://127.0.0.1:80", "ws://[::1", "ftp://here"])
def test_an_address_that_cannot_be_is_refused_at_once(address):
    with refused(TelemetryError, "source.address"):
        SampleSource(address)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("name", ["idle", "retry"])
def test_times_that_cannot_be_are_refused(name, seconds):
    with refused(TelemetryError, "option.range"):
        SampleSource("tcp://127.0.0.1:5000", **{name: seconds})


@contextmanager
def talkative(answer):
    """A server that answers every caller in the same way; its port, and how many called."""
    calls: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def run() -> None:
            with suppress(OSError):
                while True:
                    with server.accept()[0] as caller:
                        calls.append(time.monotonic())
                        answer(caller)

        threading.Thread(target=run, daemon=True).start()
        yield server.getsockname()[1], calls


def test_a_quiet_connection_ends_when_idle_and_is_not_called_again():
    def speak_once(caller: socket.socket) -> None:
        caller.sendall(LINES[0].encode() + b"\n")
        caller.recv(1)  # until the other side goes

    with talkative(speak_once) as (port, calls):
        begun = time.monotonic()
        found = list(SampleSource(f"tcp://127.0.0.1:{port}", idle=0.5, retry=60.0))
    assert len(found) == len(calls) == 1
    assert time.monotonic() - begun < 10.0  # [s] far below retry, on a busy machine too


def test_idle_counts_while_it_waits_for_a_connection():
    port = serve(lambda caller: caller.sendall(LINES[0].encode() + b"\n"))
    begun = time.monotonic()
    assert len(list(SampleSource(f"tcp://127.0.0.1:{port}", idle=0.5, retry=60.0))) == 1
    assert time.monotonic() - begun < 10.0  # [s] as above


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_connections_that_bring_nothing_are_failures_with_growing_pauses(scheme):
    """Hung up on at once: by TCP after it was accepted, by a WebSocket before the handshake."""
    told: list[str] = []
    with talkative(lambda caller: None) as (port, calls):
        source = SampleSource(f"{scheme}://127.0.0.1:{port}", retry=2.0, tell=told.append)
        begun = time.monotonic()
        with (
            suppress(TelemetryError)
            if scheme == "tcp"
            else refused(TelemetryError, "source.refused")
        ):
            list(source)
        assert 1.5 < time.monotonic() - begun < 30.0  # [s] about retry; handshakes may take theirs
    # pauses of 0.2, 0.4, 0.8 ... s: five calls in two seconds, not ten
    assert 2 <= len(calls) <= 6
    assert (
        told and f":{port}" in told[0] and source.n_lost == (len(calls) if scheme == "tcp" else 0)
    )


def test_on_wait_is_called_while_nothing_comes():
    looks: list[float] = []
    with talkative(lambda caller: caller.recv(1)) as (port, _):
        source = SampleSource(f"tcp://127.0.0.1:{port}", idle=0.7, retry=0.0)
        source.on_wait = lambda: looks.append(time.monotonic())
        assert list(source) == []
    assert len(looks) >= 2
