"""While the command is busy: a note on the first run, a bar, and Ctrl-C that is never lost.

An interrupt that falls into a callback from C (LLVM calls Python while it compiles) is printed and
forgotten, and the work goes on. So it is raised again every second until somebody acknowledges it.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from freefloat.numba_.compilation import cache_trouble, is_compiled
from freefloat.progress import Progress

AGAIN = 1.0  # format: [s] between repetitions of an interrupt
FIRST_LINE = 2.0  # format: [s] until work is said to go on, where no terminal shows a bar
LINES = 10.0  # format: [s] between such lines
REDRAW = 0.2  # format: [s] between drawings of the bar
TELLING = 0.03  # format: of the work, done before the time left is told


def insist_on_interrupts() -> None:
    """Make SIGINT raise KeyboardInterrupt until it is acknowledged; once where timers are none."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.signal(signal.SIGINT, _interrupt)


def acknowledge_interrupt() -> None:
    """The interrupt has been dealt with."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _interrupt(number: int, frame: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
    raise KeyboardInterrupt


def tell_first_run(*kernels: str, takes: str) -> bool:
    """Whether kernels are compiled; if not, say that they will be and how long that takes."""
    from freefloat.cli import screen

    if trouble := cache_trouble():
        screen.note(trouble)
    is_ready = is_compiled(*kernels)
    if not is_ready:
        screen.note(f"first run: compiling kernels, {takes}, once")
    return is_ready


def has_terminal() -> bool:
    """Whether somebody sees a bar; rich would take FORCE_COLOR for a terminal."""
    return sys.stderr.isatty()


@dataclass
class _State:
    """What is shown: written by the work, read by whoever shows it."""

    stage: str
    fraction: float | None = None


@contextmanager
def progress(what: str, *, has_lines: bool = True) -> Iterator[Progress]:
    """A bar on the terminal, a line at intervals elsewhere, until the work is over.

    Kernels release Python's lock, so a thread shows what is being done even where the work says
    nothing for long.

    Args:
        what: What is being done, in a word or two, until the callback says more.
        has_lines: False where the caller writes lines of its own.
    """
    state = _State(what)

    def update(stage: str, fraction: float | None = None) -> None:
        state.stage, state.fraction = stage, fraction

    show = _show_bar if has_terminal() else _write_lines
    with show(state) if has_lines or has_terminal() else nullcontext():
        yield update


@contextmanager
def _show_bar(state: _State) -> Iterator[None]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    from freefloat.cli import screen

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20))
    rest = TextColumn("{task.fields[left]}")
    with Bar(*columns, TimeElapsedColumn(), rest, console=screen.notes(), transient=True) as bar:
        began, task = time.monotonic(), bar.add_task(state.stage, total=None, left="")

        def draw() -> None:
            share = state.fraction
            left = _remaining_time(share, time.monotonic() - began)
            total = None if share is None else 1.0
            bar.update(
                task, description=state.stage, total=total, completed=share or 0.0, left=left
            )

        with _repeat(draw, first=REDRAW, interval=REDRAW):
            yield


@contextmanager
def _write_lines(state: _State) -> Iterator[None]:
    from freefloat.cli import screen

    began = time.monotonic()

    def write() -> None:
        seconds = time.monotonic() - began
        share = "" if state.fraction is None else f" {100.0 * state.fraction:.0f} %,"
        rest = _remaining_time(state.fraction, seconds)
        screen.note(f"{state.stage}:{share} {seconds:.0f} s{rest and ', ' + rest}")

    with _repeat(write, first=FIRST_LINE, interval=LINES):
        yield


def _remaining_time(fraction: float | None, seconds: float) -> str:
    """The time that is left, once enough is done to tell."""
    if fraction is None or fraction < TELLING or seconds < FIRST_LINE:
        return ""
    return f"about {seconds * (1.0 - fraction) / fraction:.0f} s left"


@contextmanager
def _repeat(action: Callable[[], None], *, first: float, interval: float) -> Iterator[None]:
    """Do something in a thread at intervals [s]."""
    is_over = threading.Event()

    def run() -> None:
        wait = first
        while not is_over.wait(wait):
            action()
            wait = interval

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
