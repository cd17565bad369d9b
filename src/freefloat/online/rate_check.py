"""How fast samples must come for momentum to be followed from one to the next."""

from __future__ import annotations

SLOWEST = 5.0  # [Hz] at which deviations are tested to be honest; slower, arms move unseen
DROPPED = 0.95  # of a rate: dropped samples are no rate


def too_slow(what: str, step: float) -> tuple[str, ...]:
    """What is to be said of so many seconds between readings; nothing if they are close enough.

    >>> too_slow("samples come", 0.5)[0][:53]
    'samples come 2 times a second; momentum is not follow'
    >>> too_slow("samples come", 0.2)
    ()
    """
    if step * SLOWEST * DROPPED <= 1.0:
        return ()
    rate = f"{1.0 / step:.2g}"
    times = "1 time" if rate == "1" else f"{rate} times"
    return (
        f"{what} {times} a second; momentum is not followed from one to the next"
        f" below {SLOWEST:g} Hz: sample faster, or identify from the recording",
    )
