"""What arrives, before any filter sees it: clock, order, counts, events, unknown channels."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from freefloat.errors import Fault, IdentificationError
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.online.fill_watch import FillWatch
from freefloat.online.filter_options import FilterOptions
from freefloat.online.health import Event, Health, SampleOutcome
from freefloat.online.innovations import InnovationSums
from freefloat.online.live_channels import likeliest, noise_of_sensors
from freefloat.prediction.measurements import sensor_channels
from freefloat.telemetry.names import XYZ, XYZW, channel_names
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing

MOST_EVENTS = 1000  # format: events that are remembered; memory is bounded
MOST_UNKNOWN = 100  # format: names that are remembered; ever new ones must not fill the memory

TimeCheck = Literal["next", "late", "duplicate", "suspect", "jumped"]


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

    jump: float = 30.0  # [s] away from the last sample: another clock
    set_back: int = 30  # late samples in order, and none in time between them
    last: float | None = None
    suspect: float | None = None
    late: tuple[float, int] = (0.0, 0)  # the last late one [s], and how many came in order

    def judge(self, time: float) -> TimeCheck:
        """What to make of a sample at this time [s]; the clock goes on unless it is in doubt."""
        if self.last is None:
            self.last = time
            return "next"
        ahead = time - self.last
        if abs(ahead) > self.jump:
            return self._judge_far(time)
        self.suspect = None
        if ahead == 0.0:
            return "duplicate"
        if ahead < 0.0:
            before, n = self.late
            self.late = (time, n + 1 if n and time > before else 1)
            if self.late[1] < self.set_back:
                return "late"
            self.last, self.late = time, (0.0, 0)
            return "jumped"
        self.last, self.late = time, (0.0, 0)
        return "next"

    def follow(self, time: float) -> TimeCheck:
        """The same for samples whose order does not matter: next, suspect or jumped.

        >>> clock = Clock()
        >>> [clock.follow(t) for t in (1.0, 0.5, 0.5, 900.0, 900.1)]
        ['next', 'next', 'next', 'suspect', 'jumped']
        """
        judged: TimeCheck = "next"
        if self.last is not None and abs(time - self.last) > self.jump:
            judged = self._judge_far(time)
            if judged == "suspect":
                return judged
        self.last = time if self.last is None else max(self.last, time)
        self.suspect = None
        return judged

    def _judge_far(self, time: float) -> TimeCheck:
        """A time far from the last: the second in a row makes it a jump of the clock."""
        is_next = self.suspect is not None and 0.0 < time - self.suspect <= self.jump
        self.suspect = None if is_next else time
        if not is_next:
            return "suspect"
        self.last = time
        return "jumped"


class ReorderBuffer:
    """Holds the newest `size` samples back, so that one that comes late finds its place.

    >>> buffer = ReorderBuffer(1)
    >>> [s.time for t in (1.0, 3.0, 2.0, 4.0) for s in buffer.push(Sample(t, {}))]
    [1.0, 2.0, 3.0]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.held: list[Sample] = []

    def push(self, sample: Sample) -> list[Sample]:
        """Take one in; the samples whose turn it is, oldest first."""
        if not self.size:
            return [sample]
        if self.held and abs(sample.time - self.held[-1].time) > 60.0:
            # another clock: order means nothing across it
            ready, self.held = self.held, [sample]
            return ready
        insort(self.held, sample, key=lambda s: s.time)
        return [self.held.pop(0)] if len(self.held) > self.size else []

    def drain(self) -> list[Sample]:
        """All that are left, oldest first."""
        ready, self.held = self.held, []
        return ready


def usual_channels(model: Model) -> frozenset[str]:
    """The names of everything that the model could report or be told."""
    found = {"time", "values", *noise_of_sensors(model), *sensor_channels(model)}
    found |= {f"base.{kind}.{axis}" for kind in ("force", "torque") for axis in XYZ}
    found |= {f"base.attitude.{axis}" for axis in XYZW} | {"base.angle"}
    for coordinate in model.assembly.coordinates:
        name = coordinate.name.removesuffix(".motor")
        found |= {*channel_names(coordinate), f"{name}.torque", f"{name}.motor_torque"}
    for thruster in model.thrusters:
        found.add(f"{thruster.name}.force")
    groups = {name[:-1] for name in found if name.endswith(".attitude.x")}
    return frozenset(found | {f"{group}w" for group in groups})


class UnknownChannels:
    """Names that are no channels of the model, and what is to be said of each, once.

    >>> import freefloat as ff
    >>> unknown = UnknownChannels(ff.load_model("planar-capture"))
    >>> unknown.look(["base.rate.z", "battery.voltage", "thr_1.forse"])
    >>> [note.code for note in unknown.concerns]
    ['channel.misspelt']
    >>> unknown.names
    ('battery.voltage', 'thr_1.forse')
    """

    def __init__(self, model: Model) -> None:
        self.model = model.name
        self.usual = usual_channels(model)
        self.parts = {name.split(".")[0] for name in self.usual} | {f.name for f in model.frames}
        self.restore(())

    def restore(self, names: Iterable[str]) -> None:
        """Know these and no others."""
        self.familiar = set(self.usual)
        self.notes: dict[str, Note | None] = {}
        self.concerns: tuple[Note, ...] = ()
        self.look(names)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order they came."""
        return tuple(self.notes)

    def look(self, names: Iterable[str]) -> None:
        """Take note of those that are new."""
        present = dict.fromkeys(names)
        for name in present:
            if name not in self.familiar and len(self.notes) < MOST_UNKNOWN:
                self.familiar.add(name)
                self.notes[name] = self._note(name, present)
                self.concerns = tuple(note for note in self.notes.values() if note is not None)

    def _note(self, name: str, present: Collection[str]) -> Note | None:
        """It may be misspelt, or a force that the model knows nothing of; else it is let pass."""
        close = likeliest(name, self.usual)
        start = f"{name} is no channel of {self.model}"
        if close and close not in present:
            return Note("channel.misspelt", f"{start}; did you mean {close!r}?")
        if name.endswith(".on_time"):
            other = f"give {name.removesuffix('.on_time')}.force, the mean over the step"
            return Note("channel.on_time", f"{start}; {other}")
        if name.endswith(".force") and name.split(".")[0] not in self.parts:
            text = (
                f"{start}: it has no such thruster, and an unmodelled force biases the mass"
                " estimates; add the thruster, or leave the channel out if it did not fire"
            )
            return Note("channel.unknown_force", text)
        return None


def require_known(names: Sequence[str], present: Iterable[str], model: Model) -> None:
    """IdentificationError for names in `noise=` that are neither channels nor of the model."""
    known = usual_channels(model) | set(present) | {"base.attitude"}
    faults = []
    for name in names:
        if name not in known:
            close = likeliest(name, known)
            remedy = f"did you mean {close!r}?" if close else "leave it out"
            place, found = f"noise[{name!r}]", "no such channel"
            faults.append(Fault(place, found, "one of the model", remedy, code="channel.unknown"))
    if faults:
        raise IdentificationError("noise is given for unknown channels:", faults)


class Intake:
    """The accounts of a live estimator, the same whatever its filter.

    time [s]: of the last sample that was used; counts: samples by outcome; events: the last ones;
    missing: how often each channel was missing from an incomplete sample; unknown: channels that
    the model does not have; fills: fill values. resumed_at [s]: the last sample of the state that
    was restored, until a later one comes.
    """

    def __init__(
        self,
        model: Model,
        *,
        reorder: int = 0,
        like: Telemetry | None = None,
        noise: Mapping[str, float] | None = None,
        options: FilterOptions | None = None,
    ) -> None:
        self.options = options = options or FilterOptions()
        self.clock, self.buffer = Clock(jump=options.clock_jump), ReorderBuffer(reorder)
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.events: list[Event] = []
        self.n_events = 0
        self.time: float | None = None
        self.resumed_at: float | None = None
        self.missing: dict[str, int] = {}
        self.unknown = UnknownChannels(model)
        self.fills = FillWatch(model, self.unknown.usual)
        require_known([*(noise or {})], like.names if like is not None else (), model)
        if like is not None:
            self.unknown.look(like.names)

    def recount(self, was: SampleOutcome, now: SampleOutcome, n: int) -> None:
        """Samples that turned out to be something else than they were counted as."""
        self.counts[was] -= n
        self.counts[now] += n

    def is_in_state(self, time: float, *, is_ordered: bool) -> bool:
        """Whether the state that was restored has a sample of this time [s] already.

        Of one instant other channels may follow where their order does not matter.
        """
        last, now = self.resumed_at, self.clock.last
        if last is None or now is None or now > last:
            self.resumed_at = None
            return False
        is_past = time <= last if is_ordered else time < last
        return is_past or any(time == sample.time for sample in self.buffer.held)

    def note_missing(self, names: Iterable[str], values: Mapping[str, Any]) -> None:
        """Count the channels, of those needed, that a sample lacks."""
        for name in names:
            if values.get(name) is None:
                self.missing[name] = self.missing.get(name, 0) + 1

    def mask_fill_values(self, sample: Sample, names: Collection[str]) -> Sample:
        """The sample without these readings; each fill value is reported when it first comes."""
        new: dict[float, list[str]] = {}
        for name in names:
            value = float(sample.values[name])
            if self.fills.found[name].get(value) == 1:
                new.setdefault(value, []).append(name)
        for value, channels in new.items():
            text = f"{listing(channels, most=4)} had the fill value {value:.6g}: masked"
            self.report(Event(sample.time, "fill value", text, tuple(channels)))
        return Sample(sample.time, {n: v for n, v in sample.values.items() if n not in names})

    def report(self, event: Event) -> None:
        """Remember an event."""
        self.events.append(event)
        self.n_events += 1
        del self.events[:-MOST_EVENTS]

    def events_since(self, n_events: int) -> tuple[Event, ...]:
        """What happened since there were so many events."""
        new = self.n_events - n_events
        return tuple(self.events[-new:]) if new else ()

    def health(
        self,
        chi2: float,
        n_rows: int,
        concerns: Sequence[str],
        innovations: InnovationSums | None = None,
    ) -> Health:
        """What became of the samples so far: made for every sample, so as fast as can be."""
        counts = dict(self.counts)
        if self.buffer.held:
            counts["waiting"] = len(self.buffer.held)
        concerns = (*concerns, *self.unknown.concerns)
        return Health(
            counts, tuple(self.events), chi2, n_rows, concerns, self._most_missing(), self.options,
            innovations, {name: dict(known) for name, known in self.fills.found.items() if known},
        )  # fmt: skip

    def _most_missing(self) -> tuple[str, ...]:
        """The channels that samples lack, those that lack most often first."""
        if not self.missing:
            return ()
        often = 0.5 * max(self.missing.values())  # a lone empty sample lacks everything
        found = [name for name, n in self.missing.items() if n > often]
        return tuple(sorted(found, key=lambda name: -self.missing[name]))

    # -- for the state file ------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "clock": asdict(self.clock),
            "held": [[s.time, dict(s.values)] for s in self.buffer.held],
            "counts": self.counts,
            "events": [asdict(event) for event in self.events],
            "time": self.time,
            "missing": self.missing,
            "unknown_channels": self.unknown.names,
            "fill_values": self.fills.content(),
        }

    def restore(self, content: Mapping[str, Any]) -> None:
        """Go on from `content`."""
        self.clock.__dict__.update(content["clock"])
        self.clock.late = (float(self.clock.late[0]), int(self.clock.late[1]))
        self.buffer.held = [Sample(float(t), values) for t, values in content["held"]]
        self.counts.clear()
        self.counts.update(content["counts"])
        self.events[:] = [_event_of(event) for event in content["events"]]
        self.time, self.resumed_at = content["time"], self.clock.last
        self.missing = dict(content["missing"])
        self.unknown.restore(content["unknown_channels"])
        self.fills.restore(content["fill_values"])


def _event_of(content: Mapping[str, Any]) -> Event:
    """An event as JSON keeps it; older files do not say what it is about."""
    return Event(**{**content, "about": tuple(content.get("about", ()))})
