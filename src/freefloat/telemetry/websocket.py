"""As much of a WebSocket client (RFC 6455) as receiving text takes."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of the standard
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
LONGEST = 1_000_000  # bytes of a frame


def shake_hands(connection: socket.socket, address: str) -> None:
    """Turn a fresh connection into a WebSocket; OSError when the other side will not."""
    parts = urlsplit(address)
    key = base64.b64encode(os.urandom(16))
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key.decode()}\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    )
    connection.sendall(request.encode())
    answer = b""
    connection.settimeout(5.0)
    while b"\r\n\r\n" not in answer:
        got = connection.recv(1)  # no byte of the first frame is taken
        if not got or len(answer) > 20_000:
            raise ConnectionError("no WebSocket answered")
        answer += got
    wanted = base64.b64encode(hashlib.sha1(key + GUID).digest())
    if not answer.startswith(b"HTTP/1.1 101") or wanted not in answer:
        raise ConnectionError("what answered is not a WebSocket")


def receive_text(connection: socket.socket, is_over: Callable[[float], bool]) -> Iterator[bytes]:
    """The messages that arrive, until the other side closes or it is over."""
    connection.settimeout(0.2)
    reader = _FrameReader(connection, is_over)
    message = b""
    while (head := reader.take(2)) is not None:
        opcode, is_last, size = head[0] & 0x0F, bool(head[0] & 0x80), head[1] & 0x7F
        if size >= 126:
            longer = reader.take(2 if size == 126 else 8)
            if longer is None:
                return
            size = int.from_bytes(longer, "big")
        if head[1] & 0x80 or size > LONGEST:  # servers do not mask
            raise ConnectionError("a frame that no server sends")
        payload = reader.take(size)
        if payload is None or opcode == CLOSE:
            return
        if opcode == PING:
            _pong(connection, payload)
        elif opcode in (TEXT, BINARY, CONTINUED):
            message += payload
            if is_last:
                yield message
                message = b""


def _pong(connection: socket.socket, payload: bytes) -> None:
    mask = os.urandom(4)
    masked = bytes(b ^ mask[k % 4] for k, b in enumerate(payload[:125]))
    connection.sendall(bytes([0x80 | PONG, 0x80 | len(masked)]) + mask + masked)


class _FrameReader:
    """Takes exactly as many bytes as asked for, however they arrive."""

    def __init__(self, connection: socket.socket, is_over: Callable[[float], bool]) -> None:
        self.connection, self.is_over, self.rest = connection, is_over, b""
        self.quiet_since = time.monotonic()

    def take(self, n: int) -> bytes | None:
        """n bytes, or None when the connection ends before."""
        while len(self.rest) < n:
            try:
                got = self.connection.recv(65536)
            except TimeoutError:
                if self.is_over(self.quiet_since):
                    return None
                continue
            if not got:
                return None
            self.quiet_since = time.monotonic()
            self.rest += got
        taken, self.rest = self.rest[:n], self.rest[n:]
        return taken
