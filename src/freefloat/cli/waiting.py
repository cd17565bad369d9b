"""What a person sees while the command is busy; a machine sees nothing of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from freefloat.cli import screen
from freefloat.numba_.compilation import is_compiled


def tell_first_run(*kernels: str, takes: str) -> bool:
    """Whether kernels are compiled; if not, say that they will be and how long that takes."""
    is_ready = is_compiled(*kernels)
    if not is_ready:
        screen.note(f"first run: compiling kernels, {takes}, once")
    return is_ready


def is_watched() -> bool:
    """Whether somebody sees a bar; rich would take FORCE_COLOR for a terminal."""
    return sys.stderr.isatty()


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """A bar on the terminal that is told the fraction done; gone when the work is.

    It may be told a number too, which is shown beside what is done, or other words for that.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = screen.notes()
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not is_watched(),
    )
    with bar:
        task = bar.add_task(what, total=1.0)

        def tell(fraction: float, value: float | None = None, what: str = what) -> None:
            shown = what if value is None else f"{what}, {value:.4g}"
            bar.update(task, completed=fraction, description=shown)

        yield tell
