"""A Dask cluster of plain processes on loopback, each of which may be killed and begun again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest


class DaskHosts:
    """A scheduler and workers, one thread each."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.scheduler: subprocess.Popen | None = None
        self.workers: list[subprocess.Popen] = []

    @property
    def address(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def begin_scheduler(self) -> None:
        self.scheduler = self._begin("scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        until = time.monotonic() + 60.0
        while time.monotonic() < until:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError("the scheduler did not begin")

    def begin_worker(self) -> None:
        self.workers.append(
            self._begin("worker", self.address, "--host", "127.0.0.1", "--nthreads", "1",
                        "--no-nanny", "--death-timeout", "120")
        )  # fmt: skip

    def kill_worker(self, number: int) -> None:
        kill(self.workers.pop(number))

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        kill(self.scheduler)
        self.scheduler = None

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process is not None:
                kill(process)

    @staticmethod
    def _begin(what: str, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.dask_{what}"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(
            [*command, *arguments, "--no-dashboard"], env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip


def kill(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture
def hosts():
    """A cluster of nobody; what is begun in it is ended."""
    made = DaskHosts()
    try:
        yield made
    finally:
        made.close()
