"""Samples from pipes and sockets: lines that are none are handed on as None, and nothing hangs."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading

import pytest

from freefloat.errors import TelemetryError
from freefloat.telemetry.sources import SampleSource, sample_of_line
from freefloat.telemetry.websocket import GUID

LINES = [json.dumps({"time": 0.1 * k, "base.angle": 0.0}) for k in range(3)]


def test_garbage_is_none():
    for line in ("", "garbage", "[1]", "3", '{"time": "x"}', '{"base.angle": 1}', b"\xff\xfe"):
        assert sample_of_line(line) is None
    assert sample_of_line('{"time": 1, "values": {"a.angle": 2}}').values == {"a.angle": 2}  # type: ignore[union-attr]


def test_other_machines_are_refused():
    for address in ("tcp://10.0.0.1:5", "udp://0.0.0.0:5", "ws://example.org:80/x"):
        with pytest.raises(TelemetryError):
            SampleSource(address)
    with pytest.raises(TelemetryError):
        SampleSource("tcp://127.0.0.1")


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


def test_websocket():
    def answer(caller: socket.socket) -> None:
        request = caller.recv(4096)
        key = request.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
        caller.sendall(b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " + accept
                       + b"\r\n\r\n")  # fmt: skip
        for line in LINES:
            caller.sendall(bytes([0x81, len(line)]) + line.encode())
        caller.sendall(bytes([0x88, 0]))

    port = serve(answer)
    found = list(SampleSource(f"ws://127.0.0.1:{port}/x", retry=0.3))
    assert [s.time for s in found if s] == [0.0, 0.1, 0.2]
