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
from contextlib import contextmanager

from freefloat.numba_.compilation import cache_trouble, is_compiled

AGAIN = 1.0  # format: [s] between repetitions of an interrupt
LINES = 10.0  # format: [s] between lines where there is no terminal to draw a bar on


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


@contextmanager
def progress(what: str, *, has_lines: bool = True) -> Iterator[Callable[..., None]]:
    """A bar on the terminal, a line at intervals elsewhere; called with the fraction done.

    It takes a number too, which is shown beside what is done, or other words for that.

    Args:
        what: What is being done, in a word or two.
        has_lines: False where the caller writes lines of its own.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from freefloat.cli import screen

    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=screen.notes(),
        transient=True,
        disable=not has_terminal(),
    )
    due = time.monotonic() + LINES
    with bar:
        task = bar.add_task(what, total=1.0)

        def update(fraction: float, value: float | None = None, what: str = what) -> None:
            nonlocal due
            shown = what if value is None else f"{what}, {value:.4g}"
            bar.update(task, completed=fraction, description=shown)
            if bar.disable and has_lines and time.monotonic() > due:
                due = time.monotonic() + LINES
                screen.note(f"{shown}: {100.0 * fraction:.0f} %")

        yield update


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner with the time on a terminal, a line at intervals elsewhere.

    For work that cannot say how far it is. Kernels release Python's lock, so a thread can write.
    """
    from freefloat.cli import screen

    if has_terminal():
        with screen.notes().status(what):
            yield
        return
    began, is_over = time.monotonic(), threading.Event()

    def write_lines() -> None:
        while not is_over.wait(LINES):
            screen.note(f"{what}: {time.monotonic() - began:.0f} s")

    thread = threading.Thread(target=write_lines, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
