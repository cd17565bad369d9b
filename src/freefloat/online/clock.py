"""Whether a sample's time can be: in order, once, and on the clock of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SET_BACK = 30  # late samples in order, and none in time between them

Reading = Literal["next", "late", "duplicate", "suspect", "jumped"]


@dataclass
class Clock:
    """Judges the times of samples.

    A sample slightly older than the last is late. One far from it, either way, is suspect; when the
    next one follows on it, the clock has jumped, and time goes on from there. When only late ones
    come, one after the other, it has been set back.

    >>> clock = Clock()
    >>> [clock.judge(t) for t in (0.0, 0.1, 0.1, 0.05, 1e6, 0.2, 500.0, 500.1)]
    ['next', 'next', 'duplicate', 'late', 'suspect', 'next', 'suspect', 'jumped']
    """

    jump: float = 30.0  # [s]
    last: float | None = None
    suspect: float | None = None
    late: tuple[float, int] = (0.0, 0)  # the last late one [s], and how many came in order

    def judge(self, time: float) -> Reading:
        """What to make of a sample at this time [s]; the clock goes on unless it is in doubt."""
        if self.last is None:
            self.last = time
            return "next"
        ahead = time - self.last
        if abs(ahead) > self.jump:
            follows = self.suspect is not None and 0.0 < time - self.suspect <= self.jump
            self.suspect = None if follows else time
            if not follows:
                return "suspect"
            self.last = time
            return "jumped"
        self.suspect = None
        if ahead == 0.0:
            return "duplicate"
        if ahead < 0.0:
            before, n = self.late
            self.late = (time, n + 1 if n and time > before else 1)
            if self.late[1] < SET_BACK:
                return "late"
            self.last, self.late = time, (0.0, 0)
            return "jumped"
        self.last, self.late = time, (0.0, 0)
        return "next"
