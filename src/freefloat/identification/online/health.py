"""What became of the samples, counted; and what happened to the robot, noted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal[
    "begun", "taken", "gated", "broken", "unusable", "spike", "incomplete", "late", "duplicate",
    "clock jump", "unreadable", "waiting", "gathered",
]  # fmt: skip
VERDICTS: tuple[Verdict, ...] = (
    "begun", "taken", "gated", "broken", "unusable", "spike", "incomplete", "late", "duplicate",
    "clock jump", "unreadable", "waiting", "gathered",
)  # fmt: skip
# said when most samples lack channels: only instants that have all of them give equations
DIFFERENT_RATES = "channels of different rates? gather=True brings them together"
USED = ("taken", "begun", "waiting", "gathered")
EventKind = Literal["change", "stuck", "frozen", "clock jump", "gap", "restart"]


@dataclass(frozen=True)
class Event:
    """Something that happened: when [s], what kind, and a sentence about it."""

    time: float
    kind: EventKind
    message: str


@dataclass(frozen=True)
class Health:
    """Counts of samples by what became of them, and whether all is well.

    begun: the first of a segment; taken: used; gated: too surprising; broken: no usable equations;
    unusable: not finite or not an attitude; spike: a reading far off its own run; incomplete:
    channels missing; late: older than what was used; duplicate: its instant was used; clock jump:
    its time fits to nothing yet; unreadable: not a sample; waiting: kept for the right order;
    gathered: used together with others.

    >>> Health({"taken": 98, "gated": 2}, events=()).n_rejected
    2
    """

    counts: dict[str, int]
    events: tuple[Event, ...] = field(default=())
    chi2: float = 0.0
    n_rows: int = 0

    @property
    def n_samples(self) -> int:
        """All samples that came."""
        return sum(self.counts.values())

    @property
    def n_rejected(self) -> int:
        """Samples that were not used and will not be."""
        return self.n_samples - sum(self.counts.get(k, 0) for k in USED)

    @property
    def misfit(self) -> float:
        """Chi-square of the residuals per row: one when model and noise are right."""
        return self.chi2 / self.n_rows if self.n_rows else 1.0

    @property
    def sentence(self) -> str:
        """How things are, for a person."""
        if not self.counts.get("taken"):
            return "no sample could be used yet"
        share = self.n_rejected / max(self.n_samples, 1)
        if share > 0.5:
            worst = max(
                (k for k in self.counts if k not in USED),
                key=lambda k: self.counts[k],
            )
            told = f"{share:.0%} of the samples are not used, most of them {worst}"
            return f"{told}; {DIFFERENT_RATES}" if worst == "incomplete" else told
        # 3: chi-square per row of a hundred rows stays within 1 +- 0.4; three is not chance
        if self.n_rows > 100 and self.misfit > 3.0:
            return f"residuals are {self.misfit:.1f} times too large: model or noise are wrong"
        return "fine"
