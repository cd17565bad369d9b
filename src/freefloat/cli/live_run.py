"""One live run of `freefloat track`: samples in, estimates out, and a good end whatever happens.

No line, sample or output ends it: what fails is counted and told once. State and estimates are
put on disk every few seconds, after events and at the end, also by SIGTERM and SIGHUP; whoever
kills it outright loses what came since.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from freefloat.cli import screen
from freefloat.cli.estimate_files import EstimateFile, LineFile, TableFile
from freefloat.cli.latency import Latencies
from freefloat.errors import Fault, FreefloatError, shorten
from freefloat.online.sample_loop import follow_samples
from freefloat.telemetry.sources import SampleSource
from freefloat.text import count_noun

if TYPE_CHECKING:
    from freefloat import OnlineEstimator
    from freefloat.cli.track_request import LiveFiles
    from freefloat.online.health import SampleOutcome
    from freefloat.online.live_estimate import LiveEstimate
    from freefloat.parameters.parameters import Parameter
    from freefloat.telemetry.sample_rows import Sample

REFRESH = 0.25  # format: [s] between pictures on a terminal
AFTER_EVENT = 1.0  # format: [s] since the last checkpoint, for one that an event asks for
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
# What a run goes on without, and the words for it.
WORDS = {
    "sample": "a sample could not be taken", "estimate": "an estimate could not be worked out",
    "screen": "an estimate could not be printed", "out": "an estimate could not be written",
    "parquet": "the table of estimates could not be written",
    "mcap": "the MCAP file of estimates could not be written",
    "state": "the state could not be saved",
    "source": "the source broke off",
}  # fmt: skip
OUTPUTS = ("screen", "out", "parquet", "mcap", "state", "source")  # exit code 2


class EndingSignals:
    """SIGINT, SIGTERM and SIGHUP end the run between two samples, never in the middle of one.

    While it waits for samples, `is_waiting`, they interrupt that.
    """

    def __init__(self) -> None:
        self.received = ""
        self.is_waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> EndingSignals:
        if threading.current_thread() is threading.main_thread():
            for name in ENDING:
                if (number := getattr(signal, name, None)) is not None:
                    self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _receive(self, number: int, _: FrameType | None) -> None:
        is_again, self.received = bool(self.received), signal.Signals(number).name
        # a second Ctrl-C is meant: files are as they were, or complete
        if self.is_waiting or (is_again and number == signal.SIGINT):
            self.is_waiting = False
            raise KeyboardInterrupt


class LiveRun:
    """Follows samples with a tracker, and keeps what comes of them safe.

    latencies: of updates; failures: what could not be done, as (times, the last reason) by kind.
    """

    def __init__(
        self, tracker: OnlineEstimator, files: LiveFiles, *, every: float, is_quiet: bool,
        is_resumed: bool,
    ) -> None:  # fmt: skip
        self.tracker, self.files, self.every, self.is_quiet = tracker, files, every, is_quiet
        self.latencies = Latencies()
        self.failures: dict[str, tuple[int, str]] = {}
        self.ended_by = "end of data"
        self._source: SampleSource | None = None
        self._pipe_error: BrokenPipeError | None = None
        self._due: float | None = None  # [s] of data, of the next estimate
        self._n_events = self._n_seen = tracker.intake.n_events
        self._last = -AFTER_EVENT  # [s] by the clock, the last checkpoint
        self._next = 0.0  # and the next one: after the first sample, so that there is a state
        self._show: Callable[[OnlineEstimator], None] | None = None
        self._lines = LineFile(files.out, is_resumed=is_resumed) if files.out else None
        self._tables = _open_tables(files, tracker.parameters.free_ones, is_resumed=is_resumed)
        # [s] since when there may be estimates in the files that samples of a killed run gave
        # (all of them, where the state has samples that are held back and none that was used)
        used = tracker.intake.time
        self._resumed_at = None if not is_resumed else -math.inf if used is None else used
        self._last_line = self._lines.last_time() if self._lines else None
        self._written: float | None = None  # [s] the time of the last line of this run

    @property
    def is_incomplete(self) -> bool:
        """Whether something that was asked for is not there."""
        return any(kind in self.failures for kind in OUTPUTS)

    def follow(self, samples: Iterable[Sample | None]) -> None:
        """Every sample into the tracker, an estimate out every so often, until the end."""
        if isinstance(samples, SampleSource):
            self._source, samples.on_wait = samples, self._look
        with EndingSignals() as signals, _picture(self.is_quiet) as self._show:
            try:
                follow_samples(
                    self.tracker, self._arriving(samples, signals), look=self._look,
                    failed=partial(self._note, "sample"), took=self._took,
                )  # fmt: skip
            except FreefloatError as error:
                if not self.latencies.n:  # it never began
                    self._discard()
                    raise
                self._note("source", error)
            except (OSError, ValueError, RuntimeError) as error:  # of a reader or a connection
                self._note("source", error)
            finally:
                signals.is_waiting = False
            self.ended_by = signals.received or ("error" if "source" in self.failures else "end")
            self._finish()
        if self._pipe_error is not None:
            raise self._pipe_error

    def _arriving(
        self, samples: Iterable[Sample | None], signals: EndingSignals
    ) -> Iterator[Sample | None]:
        """Samples until they end, a signal comes, or nobody is left to read what is printed."""
        each = iter(samples)
        while self._pipe_error is None:
            try:
                signals.is_waiting = True
                if signals.received:
                    return
                sample = next(each)
                signals.is_waiting = False
            except (StopIteration, KeyboardInterrupt):
                return
            yield sample

    def _took(self, outcome: SampleOutcome, seconds: float) -> None:
        self.latencies.add(seconds)
        self._write_if_due(outcome)

    # -- estimates and checkpoints -----------------------------------------------------------------

    def _write_if_due(self, outcome: SampleOutcome) -> None:
        now, due = self.tracker.intake.time, self._due
        if now is not None and (due is None or now >= due or now < due - 2.0 * self.every):
            self._due = now + self.every
            events = self.tracker.intake.events_since(self._n_events)
            self._n_events = self.tracker.intake.n_events
            self._write(lambda: self.tracker.estimate_after(outcome, events))

    def _write(self, make: Callable[[], LiveEstimate]) -> None:
        """One estimate to wherever estimates are wanted."""
        if not (self.is_quiet or self._lines or self._tables):
            return
        try:
            estimate = make()
            line = screen.json_text(estimate.as_dict()) + "\n"
        except Exception as error:
            self._note("estimate", error)
            return
        if self.is_quiet:
            self._print(line)
        lines = self._lines
        if lines is not None and not self._is_there(estimate.time, self._last_line):
            is_again = estimate.time is not None and estimate.time == self._written
            if self._attempt("out", lambda: lines.write(line, is_again=is_again)):
                self._written = estimate.time
        for kind, table in [*self._tables.items()]:
            if self._is_there(estimate.time, table.last):
                continue
            if not self._attempt(kind, table.write, estimate):
                table.discard()  # a table with holes is none
                del self._tables[kind]

    def _is_there(self, time: float | None, last: float | None) -> bool:
        """Whether a file that is gone on with has the estimate of a time [s] already."""
        since = self._resumed_at
        return None not in (time, last, since) and since <= time <= last  # type: ignore[operator]

    def _print(self, line: str) -> None:
        if sys.stdout is None:  # closed by whoever started us
            return
        try:
            sys.stdout.write(line)
            sys.stdout.flush()
        except BrokenPipeError as error:  # whoever read it went away: that ends the run
            self._pipe_error = error
        except OSError as error:
            self._note("screen", error)

    def _look(self) -> None:
        """Called between samples, and while none come: pictures and checkpoints that are due."""
        now = time.monotonic()
        if self._show is not None:
            self._show(self.tracker)
        n = self.tracker.intake.n_events
        if n != self._n_seen:
            self._n_seen, self._next = n, min(self._next, self._last + AFTER_EVENT)
        if now >= self._next and self.latencies.n:
            self._checkpoint()

    def _checkpoint(self) -> None:
        """State and estimates, on disk."""
        if self.files.state is not None:
            self._attempt("state", self.tracker.save, self.files.state)
        if self._lines is not None:
            self._attempt("out", self._lines.sync)
        self._last = time.monotonic()
        self._next = self._last + self.files.checkpoint

    def _finish(self) -> None:
        """The state with what is held back, from where it goes on; then the last estimate."""
        self._checkpoint()
        last: list[LiveEstimate] = []
        if self._attempt("estimate", lambda: last.append(self.tracker.finish())):
            self._write(lambda: last[0])
        if self._lines is not None:
            self._attempt("out", self._lines.close)
        for kind, table in self._tables.items():
            if not self._attempt(kind, table.close):
                table.discard()

    def _discard(self) -> None:
        for table in self._tables.values():
            table.discard()

    # -- what failed -------------------------------------------------------------------------------

    def _attempt(self, kind: str, do: Callable[..., object], *arguments: object) -> bool:
        try:
            do(*arguments)
        except Exception as error:  # a full disk, a folder that went: the run goes on without
            self._note(kind, error)
            return False
        return True

    def _note(self, kind: str, error: Exception) -> None:
        """Count a failure; the first of its kind is told."""
        n, _ = self.failures.get(kind, (0, ""))
        reason = shorten(str(error).partition("\n")[0] or type(error).__name__)
        if not isinstance(error, FreefloatError | OSError):
            reason = f"{type(error).__name__}: {reason}"
        self.failures[kind] = (n + 1, reason)
        if not n and kind != "source":
            screen.note(f"{WORDS[kind]} ({reason}); the run goes on")

    def tell_failures(self) -> None:
        """What is missing in the end, on standard error."""
        faults = [
            Fault(WORDS[kind], f"{reason} ({count_noun(n, 'time')})", "none", "", f"run.{kind}")
            for kind, (n, reason) in self.failures.items()
            if kind in OUTPUTS
        ]
        if faults:
            screen.tell_error(FreefloatError("not all of the run is kept", faults))

    def remarks(self) -> list[tuple[str, object]]:
        """For the summary: lost connections, dropped lines, failures."""
        found: list[tuple[str, object]] = []
        if self._source is not None and self._source.n_lost:
            found.append(("connections lost", self._source.n_lost))
        if self._source is not None and self._source.n_too_long:
            found.append(("lines too long", self._source.n_too_long))
        for kind, (n, reason) in self.failures.items():
            found.append(("failed", f"{WORDS[kind]}, {count_noun(n, 'time')}: {reason}"))
        return found

    def as_dict(self) -> dict[str, object]:
        """The same for JSON, and what ended the run."""
        source = self._source
        return {
            "connections_lost": 0 if source is None else source.n_lost,
            "lines_too_long": 0 if source is None else source.n_too_long,
            "failures": {
                kind: {"count": n, "last": reason} for kind, (n, reason) in self.failures.items()
            },
            "ended_by": self.ended_by,
        }


def _open_tables(
    files: LiveFiles, free: Sequence[Parameter], *, is_resumed: bool
) -> dict[str, EstimateFile]:
    """The files of estimates that take their names at the end, by the word for their failure."""
    found: dict[str, EstimateFile] = {}
    if files.mcap is not None:
        from freefloat.cli.estimate_messages import MessageFile

        found["mcap"] = MessageFile(files.mcap, free, is_resumed=is_resumed)
    if files.parquet is not None:
        names = [parameter.name for parameter in free]
        found["parquet"] = TableFile(files.parquet, names, is_resumed=is_resumed)
    return found


@contextmanager
def _picture(quiet: bool) -> Iterator[Callable[[OnlineEstimator], None] | None]:
    """A live table on a terminal, drawn a few times a second; nothing elsewhere."""
    if quiet or sys.stdout is None or not sys.stdout.isatty():
        yield None
        return
    from rich.live import Live

    from freefloat.cli.track_view import estimate_view

    last = -REFRESH
    with Live(console=screen.results(), auto_refresh=False, transient=True) as live:

        def show(tracker: OnlineEstimator) -> None:
            nonlocal last
            if time.monotonic() - last > REFRESH:
                last = time.monotonic()
                live.update(estimate_view(tracker.estimate), refresh=True)

        yield show
