"""A worker process and whoever watches over it: limits kept, deaths noticed, runs tried again.

A run whose process was killed from outside is simply carried out again: it gives the same row. One
whose process dies of itself, or is killed again and again, gets a row that says so.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from freefloat.campaign.campaign import RunLimits
from freefloat.campaign.run_row import RunCost, RunRequest, RunResult, RunRow, read_result
from freefloat.errors import CampaignError, shorten

# theory: a process that is given these has made a mistake of its own; others come from outside
OWN_SIGNALS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGSYS")


@dataclass(frozen=True)
class WorkerOptions:
    """How patient one is with worker processes."""

    start: float = 180.0
    """How long one may take to begin [s]."""

    compilation: float = 300.0
    """What the first run of one has beyond its limit where kernels are still to be compiled [s]."""

    crashes: int = 2
    """So many deaths of itself make a run a crashed one."""

    kills: int = 10
    """So many deaths from outside do as well."""

    starts: int = 3
    """So many workers in a row that cannot even begin end the campaign."""

    memory_check: float = 0.2
    """Between two looks at the memory of a busy worker [s]."""


PATIENCE = WorkerOptions()
READ_AT_ONCE = 2**16  # format: [B] from a pipe
TAIL = 2000  # format: [B] of what a process that died wrote last
MEMORY_MARGIN = 1.2  # format: over the limit, at which a worker is killed that did not obey it


class SupervisedWorker:
    """A worker process: give it a request, collect the result; it is started again as needed."""

    def __init__(self, text: str, limits: RunLimits, *, patience: WorkerOptions = PATIENCE) -> None:
        self.text = text
        self.limits = limits
        self.patience = patience
        self.request: RunRequest | None = None
        self.n_failed_starts = 0.0
        self._deaths = {"crashes": 0, "kills": 0}
        self._start()

    # -- what an executor uses ---------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether it has no request."""
        return self.request is None

    @property
    def pid(self) -> int:
        """Of the process that is there now."""
        return self._process.pid

    def fileno(self) -> int:
        """Of the pipe that results come from, to be waited for."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, request: RunRequest) -> None:
        """Have a run carried out."""
        assert self.request is None
        self.request = request
        self._deaths = {"crashes": 0, "kills": 0}
        if self._is_ready:
            self._send_request()

    def collect(self) -> RunResult | None:
        """The result of the run, once there is one; call it often."""
        is_over = self._read()
        while b"\n" in self._buffer:
            line, _, rest = self._buffer.partition(b"\n")
            self._buffer = bytearray(rest)
            if not self._is_ready:
                self._begin(bytes(line))
            elif self.request is not None:
                return self._result(bytes(line))
        if is_over:
            return self._after_death()
        return self._check_limits()

    def wait(self, seconds: float) -> None:
        """Wait until there may be something to collect, or for so long."""
        select.select([self], [], [], seconds)

    def close(self) -> None:
        """End the process at once; a run that it was at is lost."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._log.close()

    # -- its process -------------------------------------------------------------------------------

    def _start(self) -> None:
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        # one thread each: sums keep their order, hence results their last bit, on every machine
        environment = {**os.environ, **one, "NUMBA_NUM_THREADS": "1"}
        places = [place for place in sys.path if place]
        environment["PYTHONPATH"] = os.pathsep.join(places)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "freefloat.campaign.worker_process"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=environment,
            start_new_session=True,  # an interrupt on the terminal is the parent's business
        )  # fmt: skip
        os.set_blocking(self.fileno(), False)
        self._buffer = bytearray()
        self._is_ready, self._is_first, self._is_compiled = False, True, True
        self._is_too_slow = False
        self._since = time.monotonic()
        self._next_check = 0.0
        self._base = 0.0

    def _begin(self, line: bytes) -> None:
        told = json.loads(line)
        if "is_compiled" not in told:  # it is there, and knows nothing yet
            self._send({"campaign": self.text})
            return
        self._is_compiled = bool(told["is_compiled"])
        self._is_ready, self.n_failed_starts = True, 0.0
        if self.request is not None:
            self._send_request()

    def _send_request(self) -> None:
        assert self.request is not None
        self._since = time.monotonic()
        self._base = self._resident()
        self._send({"request": asdict(self.request)})

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it has died: collect() will say so
            self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
            self._process.stdin.flush()

    def _read(self) -> bool:
        """Take what has come; whether no more will."""
        while True:
            try:
                data = os.read(self.fileno(), READ_AT_ONCE)
            except BlockingIOError:
                return False
            if not data:
                return True
            self._buffer += data

    # -- what came of a run ------------------------------------------------------------------------

    def _result(self, line: bytes) -> RunResult:
        try:
            result = read_result(line.decode("ascii"))
        except ValueError as error:
            message = shorten(f"the answer of a worker cannot be read: {error}")
            return self._finish("crashed", "worker.answer", message)
        attempts = 1 + sum(self._deaths.values())
        self.request, self._is_first = None, False
        return replace(result, cost=replace(result.cost, attempts=attempts))

    def _finish(self, status: str, code: str, message: str) -> RunResult:
        assert self.request is not None
        row = RunRow.of_error(self.request, status, code, message)  # type: ignore[arg-type]
        cost = RunCost(wall=time.monotonic() - self._since, attempts=1 + sum(self._deaths.values()))
        self.request = None
        return RunResult(row, cost)

    def _after_death(self) -> RunResult | None:
        """The process has ended: begin anew, with the same run unless that is to blame."""
        code = self._process.wait()
        words = _exit_words(code)
        tail = self._last_words()
        was_ready = self._is_ready
        self.close()
        is_own = code >= 0 or _signal_name(-code) in OWN_SIGNALS or self._is_too_slow
        if not was_ready:
            # one that was killed by somebody else while it began counts less
            self.n_failed_starts += 1.0 if is_own else self.patience.starts / self.patience.kills
            if self.n_failed_starts >= self.patience.starts:
                message = f"worker processes cannot begin ({words}): {tail}"
                raise CampaignError(message, code="worker.start")
        self._start()
        if self.request is None or not was_ready:
            return None
        self._deaths["crashes" if is_own else "kills"] += 1
        if self._deaths["crashes"] >= self.patience.crashes:
            return self._finish("crashed", "worker.crashed", f"its process died: {words}")
        if self._deaths["kills"] >= self.patience.kills:
            return self._finish("crashed", "worker.killed", f"its process was killed: {words}")
        return None

    def _check_limits(self) -> RunResult | None:
        now = time.monotonic()
        if not self._is_ready:
            if now - self._since > self.patience.start:
                self._is_too_slow = True
                self._process.kill()  # the next collect() finds it dead
            return None
        if self.request is None:
            return None
        is_slow_start = self._is_first and not self._is_compiled
        allowed = self.limits.time + (self.patience.compilation if is_slow_start else 0.0)
        if now - self._since > allowed:
            message = f"it had not ended after {self.limits.time:g} s"
            return self._stop("limit.time", message)
        if now > self._next_check:
            self._next_check = now + self.patience.memory_check
            if self._resident() - self._base > MEMORY_MARGIN * self.limits.memory:
                message = f"it took more than {self.limits.memory / 1e6:.0f} MB"
                return self._stop("limit.memory", message)
        return None

    def _stop(self, code: str, message: str) -> RunResult:
        result = self._finish("stopped", code, message)
        self.close()
        self._start()
        return result

    def _resident(self) -> float:
        """The memory that the process has [B]; 0 where the system does not say."""
        with suppress(OSError, ValueError, LookupError):
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
            return float(pages * os.sysconf("SC_PAGE_SIZE"))
        return 0.0

    def _last_words(self) -> str:
        with suppress(OSError, ValueError):
            self._log.seek(0, os.SEEK_END)
            self._log.seek(max(self._log.tell() - TAIL, 0))
            lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
            return shorten(lines[-1]) if lines else "it said nothing"
        return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _exit_words(code: int) -> str:
    return f"exit code {code}" if code >= 0 else _signal_name(-code)
