"""What became of the samples, counted; and what happened to the robot, noted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from freefloat.online.status_text import listed

SampleOutcome = Literal[
    "begun", "taken", "gated", "broken", "unusable", "spike", "incomplete", "late", "duplicate",
    "clock jump", "unreadable", "waiting", "gathered", "told",
]  # fmt: skip
OUTCOMES: tuple[SampleOutcome, ...] = (
    "begun", "taken", "gated", "broken", "unusable", "spike", "incomplete", "late", "duplicate",
    "clock jump", "unreadable", "waiting", "gathered", "told",
)  # fmt: skip
# said when most samples lack channels: only instants that have all of them give equations
DIFFERENT_RATES = "channels of different rates? gather=True brings them together"
# chi-square per row from which residuals are wider than chance, as in batch identification
NOISY = 1.3
MANY = 100  # rows that make a chi-square worth judging
USED = ("taken", "begun", "waiting", "gathered", "told")
# what becomes of a frame; with "gathered" there, the rest are samples that are part of none
FRAMES = ("begun", "taken", "gated", "broken", "unusable", "spike")
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
    gathered: used together with others; told: thrust or wrench alone. concerns: what the estimator
    has to say against the channels themselves, or that nothing is seen; with any of these all is
    not well. lacking: the channels that incomplete samples lack, the most missed first.

    >>> Health({"taken": 98, "gated": 2}, events=()).n_rejected
    2
    """

    counts: dict[str, int]
    events: tuple[Event, ...] = field(default=())
    chi2: float = 0.0
    n_rows: int = 0
    concerns: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

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
    def widening(self) -> float:
        """How much larger variances are than the stated noise makes them: residuals say so."""
        return self.misfit if self.n_rows > MANY and self.misfit > NOISY else 1.0

    @property
    def sentence(self) -> str:
        """How things are, for a person."""
        found = [*self.concerns, *filter(None, [self._trouble()])]
        return "; ".join(found) or "fine"

    def _trouble(self) -> str:
        """What the counts and the residuals show; empty if nothing."""
        if not self.counts.get("taken"):
            return f"no sample could be used yet{self._lack()}"
        is_gathered = bool(self.counts.get("gathered"))
        if told := _mostly_unused(self.counts, "samples"):
            hint = told.endswith("incomplete") and not is_gathered
            return f"{told}{self._lack()}; {DIFFERENT_RATES}" if hint else told
        # gathered samples are many and always used: among them rejected frames would not show
        frames = {k: self.counts.get(k, 0) for k in FRAMES}
        if is_gathered and (told := _mostly_unused(frames, "frames")):
            return told
        # 3: chi-square per row of a hundred rows stays within 1 +- 0.4; three is not chance
        if self.n_rows > MANY and self.misfit > 3.0:
            return (
                f"residuals are {self.misfit**0.5:.1f} times as large as the noise: model or noise"
                " are wrong, and intervals are widened by as much"
            )
        return ""

    def _lack(self) -> str:
        """What incomplete samples lack."""
        return f": they lack {listed(self.lacking)}" if self.lacking else ""


def _mostly_unused(counts: dict[str, int], what: str) -> str:
    """How many are not used, and what became of most of those; empty if most are used."""
    unused = {k: n for k, n in counts.items() if k not in USED}
    share = sum(unused.values()) / max(sum(counts.values()), 1)
    if share <= 0.5:
        return ""
    worst = max(unused, key=lambda k: unused[k])
    return f"{share:.0%} of the {what} are not used, most of them {worst}"
