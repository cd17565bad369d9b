"""Neighbouring tools in an interpreter of their own: `make bench-peers` installs them.

A peer is a script here that the other interpreter runs. It answers one line of JSON with another;
arrays travel in .npz files. It stays alive between questions, so that contenders can take turns.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / "build" / "peers-venv" / "bin" / "python"
# Threads of linear algebra that wait for a core burn time: one for everybody, ourselves included.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
os.environ.update(ONE_THREAD)  # only before NumPy is imported


class PeerError(Exception):
    """A peer that is not there, gave up or took too long."""


class Peer:
    """A running peer."""

    def __init__(self, script: str) -> None:
        if not PYTHON.exists():
            raise PeerError("not installed (make bench-peers installs it)")
        self._process = subprocess.Popen(
            [str(PYTHON), str(HERE / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, do: str, *, limit: float, **words: object) -> dict:
        """The peer's answer, within `limit` seconds."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write((json.dumps({"do": do, **words}) + "\n").encode())
            process.stdin.flush()
        except BrokenPipeError:
            raise PeerError("ended by itself") from None
        line, end = b"", time.monotonic() + limit
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self.close()
                raise PeerError(f"gave no answer within {limit:g} s")
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                raise PeerError("ended by itself")
            line += piece
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def close(self) -> None:
        """End this process, and no other."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
