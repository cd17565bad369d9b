"""Work in a process of its own, one task at a time: the page never waits for it.

A task is a picklable object with `run(watch)`. What it says, its result or its failure come back
as reports. It is stopped at its next word of progress, or by ending the process where none comes in
time; a new process is started then, so that the next task finds one.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol

from freefloat.errors import FreefloatError
from freefloat.progress import CancelledError, DataStep, SearchStep

GRACE = 0.6  # format: [s] from Stop until the process is ended, so that Stop takes no second
INTERVAL = 0.05  # format: [s] between two reports of progress


@dataclass(frozen=True)
class Report:
    """What a worker says of a task: kind is "progress", "result", "error", "stopped" or "bug".

    stage and fraction are those of progress, fraction None where it cannot be told; value is the
    result, the text of an error, or data that came with progress.
    """

    task: int
    kind: str
    stage: str = ""
    fraction: float | None = None
    value: Any = None


class Task(Protocol):
    """Something to be done in a worker; `grace` [s] is how long it may take to stop.

    A task that keeps what it has when it is stopped says so by a longer grace.
    """

    grace: float

    def run(self, watch: Watch) -> Any:
        """The result, which can be pickled."""
        ...


@dataclass
class Watch:
    """What a running task sees of whoever started it: it reports, and is told to stop."""

    task: int
    line: Connection
    stop: Any  # multiprocessing.Event
    is_told: bool = False
    _last: float = field(default=-1.0)

    def progress(self, stage: str, fraction: float | None = None, value: Any = None) -> None:
        """Say what is being done; raises CancelledError, once, where the task is to stop.

        Data that comes along is always sent, words alone only so many times a second.
        """
        self.require_go()
        now = time.monotonic()
        if value is not None or now - self._last > INTERVAL:
            self._last = now
            share = None if fraction is None else min(max(float(fraction), 0.0), 1.0)
            self.line.send(Report(self.task, "progress", stage, share, value))

    def __call__(self, stage: str, fraction: float | None = None) -> None:
        """As `progress`, which freefloat calls so."""
        self.progress(stage, fraction)

    def step(self, step: SearchStep) -> None:
        """A better point of a search."""
        self.progress("fitting", None, value=step)

    def data_step(self, step: DataStep) -> None:
        """What ever more of the data say."""
        self.progress("solving", None, value=step)

    @property
    def is_stopped(self) -> bool:
        """Whether the task is to stop; for loops that say nothing."""
        return self.stop.is_set()

    def require_go(self) -> None:
        """Raise CancelledError where the task is to stop; once, so that it can tidy up."""
        if not self.is_told and self.stop.is_set():
            self.is_told = True
            raise CancelledError


class Worker:
    """A process that runs tasks; `tell` gets its reports, in a thread of its own.

    Only one thread may call its methods.
    """

    def __init__(self, tell: Callable[[Report], None], *, name: str = "worker") -> None:
        self.tell, self.name = tell, name
        self.task: int | None = None
        self._n = 0
        self._end = float("inf")
        self._grace = GRACE
        self._process: Any = None
        self._line: Connection
        self._stop: Any = None
        self._is_wanted = False  # a new process is to be started when there is time
        self._is_cut = False  # the line to the process is dead, and soon the process

    @property
    def is_busy(self) -> bool:
        """Whether a task is running."""
        return self.task is not None

    def start(self) -> None:
        """Start the process, if it does not run; it loads what it needs meanwhile."""
        if self._process is not None and self._process.is_alive() and not self._is_cut:
            return
        self.kill()
        self._is_cut = self._is_wanted = False
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._stop = context.Event()
        self._process = context.Process(
            target=_serve, args=(theirs, self._stop), name=self.name, daemon=True
        )
        self._process.start()
        theirs.close()
        listener = threading.Thread(target=self._listen, args=(self._line,), daemon=True)
        listener.start()

    def submit(self, task: Task) -> int:
        """Run a task; its number, which its reports bear."""
        if self.is_busy:
            raise RuntimeError("one task at a time")
        self.start()
        self._n += 1
        self.task, self._end, self._grace = self._n, float("inf"), task.grace
        self._stop.clear()
        self._line.send((self._n, task))
        return self._n

    def send(self, words: object) -> None:
        """Something for the task that runs, which reads it from `watch.line`."""
        if self.is_busy:
            with suppress(OSError):
                self._line.send(words)

    def ask_to_stop(self) -> None:
        """Ask the task to stop; a second time, or after its grace, the process is ended."""
        if not self.is_busy:
            return
        self._end = -1.0 if self._stop.is_set() else time.monotonic() + self._grace
        self._stop.set()

    def look(self) -> None:
        """End a process whose task did not stop in time; to be called ten times a second."""
        if self.is_busy and time.monotonic() > self._end:
            task = self.task or 0
            self.kill()
            self._is_wanted = True
            self.tell(Report(task, "stopped"))
        elif self._is_wanted and not self.is_busy:
            self.start()  # for the next task, once it is said that this one is over

    def finish(self, task: int) -> bool:
        """Whether the report that ends a task was of the one that runs, which is over now."""
        if task != self.task:
            return False
        self.task = None
        return True

    def kill(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join(0.2)
            with suppress(OSError):
                self._line.close()

    def _listen(self, line: Connection) -> None:
        """Hand on what comes, until the process is gone; then the task is over, too."""
        try:
            while True:
                self.tell(line.recv())
        except (EOFError, OSError, TypeError):  # ended, or closed while waiting
            pass
        if line is not self._line or self._process is None:
            return  # it was ended on purpose
        self._is_cut = True
        if self.task is not None:
            text = "the process that worked on it ended: it may have run out of memory"
            self.tell(Report(self.task, "bug", value=text))


def _serve(line: Connection, stop: Any) -> None:
    """What the process does: tasks, one after the other, until nobody sends any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us
    while True:
        try:
            given = line.recv()
        except (EOFError, OSError):
            return
        if not isinstance(given, tuple):
            continue  # words for a task that is over
        number, task = given
        report = _run(number, task, Watch(number, line, stop))
        try:
            line.send(report)
        except OSError:
            return
        except Exception as error:  # a result that cannot be sent
            text = f"{type(error).__name__}: {error} (sending {type(report.value).__name__})"
            line.send(Report(number, "bug", value=text))


def _run(number: int, task: Task, watch: Watch) -> Report:
    try:
        return Report(number, "result", value=task.run(watch))
    except CancelledError:
        return Report(number, "stopped")
    except FreefloatError as error:
        return Report(number, "error", value=str(error))
    except MemoryError:
        return Report(number, "error", value="there is not enough memory for that")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
        return Report(number, "bug", value=f"{type(error).__name__}: {error} ({place})")
