"""What became of the samples, counted; and what happened to the robot, noted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from freefloat.identification.assessment import Evidence
from freefloat.notes import Note, codes_of, split_remedy
from freefloat.online.filter_options import FilterOptions
from freefloat.online.innovations import InnovationSums, innovation_evidence
from freefloat.text import count_noun, listing

SampleOutcome = Literal[
    "begun", "taken", "gated", "broken", "unusable", "spike", "incomplete", "late", "duplicate",
    "clock jump", "unreadable", "waiting", "gathered", "told", "fill value",
    "already in the state",
]  # fmt: skip
OUTCOMES: tuple[SampleOutcome, ...] = get_args(SampleOutcome)
REPEATED: SampleOutcome = "already in the state"
USED = ("taken", "begun", "waiting", "gathered", "told")
# what becomes of a frame; with "gathered" there, the rest are samples that are part of none
FRAMES = ("begun", "taken", "gated", "broken", "unusable", "spike")
EventKind = Literal["change", "stuck", "frozen", "clock jump", "gap", "restart", "fill value"]
# events after which an estimate is not what it would be without, and what to do about each
DOUBTFUL: dict[EventKind, str] = {
    "change": "if nothing was captured or released then, the model is wrong: `freefloat diagnose`"
    " names causes from the recording",
    "frozen": "check that sensor, or track without it",
    "clock jump": "check the clock of the samples",
}
# theory: without the largest tenth of them, squares of normal numbers have a mean of 0.62: what
# passes the gate then looks like noise whatever it is
MANY_GATED = 0.1
LOOK_CLOSER = "look at the samples with `freefloat telemetry`, and at the model's noise"


@dataclass(frozen=True)
class Event:
    """Something that happened: when [s], what kind (a stable code), and a sentence about it.

    about: the bodies, joints or channels that it concerns.
    """

    time: float
    kind: EventKind
    message: str
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Health:
    """Counts of samples by outcome, and whether all is well.

    begun: the first of a segment; taken: used; gated: innovation beyond the chi-square gate;
    broken: no usable equations; unusable: not finite or not an attitude; spike: a reading far off
    its own run; incomplete: channels missing; late: older than what was used; duplicate: its time
    was used; clock jump: its time fits to nothing yet; unreadable: not a sample; waiting: held back
    for the right order; gathered: used together with others; told: thrust or wrench alone; fill
    value: a channel had one, such as -9999; already in the state: it was used before that was
    saved.
    chi2, n_rows: of the residuals. concerns: what is wrong with the channels themselves, or that no
    parameter is observable; with any of these all is not well. missing: the channels that
    incomplete samples lack, the most frequent first. innovations: their sums, where the filter
    keeps them and noise is stated as white. fill_values: by channel and number, how many readings
    were masked as such.

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
    innovations: InnovationSums | None = field(default=None, repr=False, compare=False)
    fill_values: Mapping[str, Mapping[float, int]] = field(default_factory=dict)

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
        codes = [e.code for e in self._innovation_evidence]
        return max(self.misfit, 1.0) if "innovations.too_large" in codes else 1.0

    @cached_property
    def _innovation_evidence(self) -> tuple[Evidence, ...]:
        sums = self.innovations
        return () if sums is None else innovation_evidence(sums, 1.0, self.options.trust)

    def evidence(self, ratio: float = 1.0) -> Iterator[Evidence]:
        """All that speaks against an estimate; ratio: of its statistical to total deviations."""
        trouble = self._trouble()
        for note in self.concerns if trouble is None else (*self.concerns, trouble):
            text, remedy = split_remedy(note)
            yield Evidence(
                codes_of([note])[0] or "health", text, "not trusted", remedy=remedy or LOOK_CLOSER
            )
        yield from self._events()
        if self.innovations is not None:
            yield from innovation_evidence(self.innovations, ratio, self.options.trust)

    def _events(self) -> Iterator[Evidence]:
        """Events, and samples that were gated, after which an estimate is to be doubted."""
        for kind, remedy in DOUBTFUL.items():
            found = [event for event in self.events if event.kind == kind]
            if found:
                more = f" ({count_noun(len(found), 'time')} so far)" if found[1:] else ""
                text = f"{kind} at {found[-1].time:.6g} s{more}: {found[-1].message}"
                code = f"event.{kind.replace(' ', '_')}"
                yield Evidence(code, text, "with reservations", float(len(found)), remedy=remedy)
        gated, taken = (self.counts.get(k, 0) for k in ("gated", "taken"))
        if MANY_GATED * (gated + taken) < gated <= taken:
            share = gated / (gated + taken)
            text = f"{share:.0%} of the samples do not fit and were left out"
            yield Evidence(
                "samples.many_gated", text, "with reservations", share, MANY_GATED,
                remedy="so many are no outliers: the model or the noise is wrong",
            )  # fmt: skip

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say."""
        return not self.notes

    @property
    def notes(self) -> tuple[str, ...]:
        """All that is wrong, as sentences with codes; empty when all is well."""
        found = [e for e in self.evidence() if e.grade != "trusted"]
        return tuple(Note(e.code, f"{e.text}; {e.remedy}" if e.remedy else e.text) for e in found)

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
            text = f"no sample could be used yet{self._lack()}; send what is missing, or wait"
            return Note("samples.none_used", text)
        is_gathered = bool(self.counts.get("gathered"))
        if unused := _mostly_unused(self.counts, "samples"):
            if unused.code == "samples.mostly_incomplete" and not is_gathered:
                hint = "channels of different rates? give each sensor of the model its rate, and"
                hint += " they are brought to common instants"
                text, _ = split_remedy(unused)
                return Note(unused.code, f"{text}{self._lack()}; {hint}")
            return unused
        # gathered samples are many and always used: among them rejected frames would not show
        frames = {k: self.counts.get(k, 0) for k in FRAMES}
        if is_gathered and (unused := _mostly_unused(frames, "frames")):
            return unused
        return None

    def _lack(self) -> str:
        """What incomplete samples lack."""
        return f": they lack {listing(self.missing, most=4)}" if self.missing else ""


def _mostly_unused(counts: Mapping[str, int], what: str) -> Note | None:
    """How many are not used, and what became of most of those; None if most are used."""
    counts = {k: n for k, n in counts.items() if k != REPEATED}  # which were used before
    unused = {k: n for k, n in counts.items() if k not in USED}
    share = sum(unused.values()) / max(sum(counts.values()), 1)
    if share <= 0.5:
        return None
    worst = max(unused, key=lambda k: unused[k])
    return Note(
        f"{what}.mostly_{worst.replace(' ', '_')}",
        f"{share:.0%} of the {what} are not used, most of them {worst}; {LOOK_CLOSER}",
    )
