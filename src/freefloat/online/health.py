"""What became of the samples, counted; and what happened to the robot, noted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from freefloat.notes import Note, codes_of
from freefloat.online.filter_options import FilterOptions
from freefloat.text import listing

SampleOutcome = Literal[
    "begun", "taken", "gated", "broken", "unusable", "spike", "incomplete", "late", "duplicate",
    "clock jump", "unreadable", "waiting", "gathered", "told",
]  # fmt: skip
OUTCOMES: tuple[SampleOutcome, ...] = get_args(SampleOutcome)
USED = ("taken", "begun", "waiting", "gathered", "told")
# what becomes of a frame; with "gathered" there, the rest are samples that are part of none
FRAMES = ("begun", "taken", "gated", "broken", "unusable", "spike")
EventKind = Literal["change", "stuck", "frozen", "clock jump", "gap", "restart"]


@dataclass(frozen=True)
class Event:
    """Something that happened: when [s], what kind (a stable code), and a sentence about it."""

    time: float
    kind: EventKind
    message: str


@dataclass(frozen=True)
class Health:
    """Counts of samples by outcome, and whether all is well.

    begun: the first of a segment; taken: used; gated: innovation beyond the chi-square gate;
    broken: no usable equations; unusable: not finite or not an attitude; spike: a reading far off
    its own run; incomplete: channels missing; late: older than what was used; duplicate: its time
    was used; clock jump: its time fits to nothing yet; unreadable: not a sample; waiting: held back
    for the right order; gathered: used together with others; told: thrust or wrench alone.
    chi2, n_rows: of the residuals. concerns: what is wrong with the channels themselves, or that no
    parameter is observable; with any of these all is not well. missing: the channels that
    incomplete samples lack, the most frequent first. options: has the limits of the misfit.

    >>> Health({"taken": 98, "gated": 2}, events=()).n_rejected
    2
    """

    counts: dict[str, int]
    events: tuple[Event, ...] = field(default=())
    chi2: float = 0.0
    n_rows: int = 0
    concerns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    options: FilterOptions = field(default=FilterOptions(), repr=False, compare=False)

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
        """Factor on the variances: residuals are so much larger than the stated noise."""
        return self.misfit if self._is_misfit(self.options.misfit_noisy) else 1.0

    def _is_misfit(self, limit: float) -> bool:
        return self.n_rows > self.options.misfit_rows and self.misfit > limit

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say."""
        return not self.notes

    @property
    def notes(self) -> tuple[str, ...]:
        """All that is wrong, as sentences with codes; empty when all is well."""
        trouble = self._trouble()
        return self.concerns if trouble is None else (*self.concerns, trouble)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of `notes`."""
        return codes_of(self.notes)

    @property
    def sentence(self) -> str:
        """How things are, for a person: "fine", or all that is wrong."""
        return "; ".join(self.notes) or "fine"

    def _trouble(self) -> Note | None:
        """What the counts and the residuals show."""
        if not self.counts.get("taken"):
            return Note("samples.none_used", f"no sample could be used yet{self._lack()}")
        is_gathered = bool(self.counts.get("gathered"))
        if unused := _mostly_unused(self.counts, "samples"):
            if unused.code == "samples.mostly_incomplete" and not is_gathered:
                hint = "channels of different rates? gather=True brings them together"
                return Note(unused.code, f"{unused}{self._lack()}; {hint}")
            return unused
        # gathered samples are many and always used: among them rejected frames would not show
        frames = {k: self.counts.get(k, 0) for k in FRAMES}
        if is_gathered and (unused := _mostly_unused(frames, "frames")):
            return unused
        if self._is_misfit(self.options.misfit_wrong):
            return Note(
                "residuals.too_large",
                f"residuals are {self.misfit**0.5:.1f} times as large as the noise: model or noise"
                " are wrong, and the intervals are widened by as much",
            )
        return None

    def _lack(self) -> str:
        """What incomplete samples lack."""
        return f": they lack {listing(self.missing, most=4)}" if self.missing else ""


def _mostly_unused(counts: Mapping[str, int], what: str) -> Note | None:
    """How many are not used, and what became of most of those; None if most are used."""
    unused = {k: n for k, n in counts.items() if k not in USED}
    share = sum(unused.values()) / max(sum(counts.values()), 1)
    if share <= 0.5:
        return None
    worst = max(unused, key=lambda k: unused[k])
    return Note(
        f"{what}.mostly_{worst.replace(' ', '_')}",
        f"{share:.0%} of the {what} are not used, most of them {worst}",
    )
