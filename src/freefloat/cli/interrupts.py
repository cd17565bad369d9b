"""Ctrl-C that cannot be swallowed.

An interrupt that falls into a callback from C (LLVM calls Python while it compiles) is printed and
forgotten, and the flight goes on. So it is raised again every second until somebody hears it.
"""

from __future__ import annotations

import signal

AGAIN = 1.0  # [s]


def insist_on_interrupts() -> None:
    """Make SIGINT raise KeyboardInterrupt until `heard` is called; as ever without such timers."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.signal(signal.SIGINT, _interrupt)


def heard() -> None:
    """The interrupt has been dealt with."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _interrupt(number: int, frame: object) -> None:
    signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
    raise KeyboardInterrupt
