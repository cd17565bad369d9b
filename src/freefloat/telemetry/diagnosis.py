"""What the doctor of a recording found: causes with place, size and confidence."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from freefloat.notes import Note
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import axes_name
from freefloat.text import count_noun, listing, paragraph

REPAIR = "repair"  # the key of the metadata that keeps what was done
# theory: the chance that anything at all is found in a sound recording, all tests together
FAMILY_CHANCE = 1e-3
# format: codes of what is one thing or another, and no error that an estimate could allow for
CONTRADICTIONS = ("recording.axes", "recording.frame", "recording.quaternion")


@dataclass(frozen=True)
class Finding:
    """One cause found in a recording.

    `code` stays when sentences change:

    - of samples: `recording.outliers`, `recording.burst`, `recording.fill_value`,
      `recording.stuck`, `recording.saturated`, `recording.quantised`, `recording.gap`,
      `recording.constant`;
    - of clocks: `recording.clock_step`, `recording.delay`;
    - of two streams that contradict each other: `recording.scale`, `recording.mounting`,
      `recording.axes`, `recording.frame`, `recording.quaternion`, `recording.bias`,
      `recording.thrust_delay`.

    Attributes:
        code: The cause.
        channels: Whose samples show it.
        start: Where in time it begins [s].
        end: Where it ends [s].
        size: How large it is [unit].
        unit: Of size and deviation.
        deviation: The standard deviation of the size [unit]; 0 where it is exact.
        chance: The probability that a sound recording shows as much (p-value), already times the
            number of such tests made.
        text: What was found, in words.
        done: What `repair` does about it; empty for nothing.
        advice: What to do; empty if nothing is left to do.
        is_fault: Whether it would do harm, as opposed to worth knowing.
        instants: Of lone samples, when each was taken [s].
    """

    code: str
    channels: tuple[str, ...]
    start: float
    end: float
    size: float
    unit: str
    deviation: float
    chance: float
    text: str
    done: str = ""
    advice: str = ""
    is_fault: bool = True
    instants: tuple[float, ...] = ()

    @property
    def is_contradiction(self) -> bool:
        """Whether two streams cannot both be what they are called, and that is left as it is."""
        return self.code in CONTRADICTIONS and not self.done

    @property
    def place(self) -> str:
        """The channels, the axes of one quantity together."""
        groups: dict[str, list[str]] = {}
        for name in self.channels:
            groups.setdefault(_group(name), []).append(name)
        return listing([axes_name(names) for names in groups.values()], most=4)

    @property
    def note(self) -> Note:
        """The finding as a note with its code."""
        parts = [f"{self.place}: {self.text}", self.done, self.advice]
        return Note(self.code, "; ".join(part for part in parts if part))

    def as_dict(self) -> dict[str, object]:
        """For JSON; None for numbers that are not finite."""
        plain = asdict(self)
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in plain.items()
        }

    def __str__(self) -> str:
        return str(self.note)


@dataclass(frozen=True)
class Diagnosis:
    """What was found in a recording, by cause, and the channels as they are once repaired.

    `channels` has only those that a repair changes. `print` it, or turn it into JSON by `as_dict`.
    """

    findings: tuple[Finding, ...]
    channels: Mapping[str, Channel] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that would do harm."""
        return not any(finding.is_fault for finding in self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings, in order."""
        return tuple(finding.code for finding in self.findings)

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """The findings that a repair does something about."""
        return tuple(finding for finding in self.findings if finding.done)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The faults, as notes with codes."""
        return tuple(finding.note for finding in self.findings if finding.is_fault)

    @property
    def summary(self) -> str:
        """One sentence."""
        faults = [finding for finding in self.findings if finding.is_fault]
        if not faults:
            return "Nothing was found in the recording that would do harm."
        left = [finding for finding in faults if not finding.done]
        done = f"{count_noun(len(faults) - len(left), 'cause')} can be repaired"
        return f"{count_noun(len(faults), 'cause')} found: {done}, {len(left)} cannot."

    def as_dict(self) -> dict[str, object]:
        """Return the findings as plain lists, dictionaries, text and numbers."""
        return {
            "ok": self.ok,
            "summary": self.summary,
            "findings": [finding.as_dict() for finding in self.findings],
            "repaired": sorted(self.channels),
        }

    def __str__(self) -> str:
        lines = [line for found in self.findings for line in paragraph(str(found), indent="  ")]
        return "\n".join([self.summary, *lines])


def repair_log(earlier: str | None, repairs: tuple[Finding, ...]) -> str:
    """The text for the metadata: what earlier repairs did and what these do, with codes."""
    known = json.loads(earlier) if earlier else []
    return json.dumps([*known, *(found.note.as_dict() for found in repairs)], ensure_ascii=False)


def _group(name: str) -> str:
    from freefloat.telemetry.names import ChannelName

    return ChannelName.parse(name).group
