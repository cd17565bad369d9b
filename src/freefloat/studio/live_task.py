"""A live run for the worker: the streams of `freefloat track`, and what comes of them.

Samples are taken one by one, and a picture of the estimate is reported a few times a second. What
the page asks meanwhile (pause, go on, save the state) comes over the worker's line.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.errors import Fault, FreefloatError
from freefloat.studio.tasks import Wanted
from freefloat.studio.worker import GRACE, Watch

if TYPE_CHECKING:
    from freefloat.model.model import Model
    from freefloat.online.estimator import OnlineEstimator
    from freefloat.online.live_estimate import LiveEstimate
    from freefloat.telemetry.sample_rows import Sample

EVERY = 0.25  # format: [s] by the clock between two pictures of the estimate
LOOK = 0.05  # format: [s] between looks at what the page asks, where no samples come


@dataclass(frozen=True, eq=False)
class LivePicture:
    """An estimate as it is shown: plain numbers and sentences."""

    time: float | None
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: tuple[float, ...]
    stds: tuple[float, ...]
    totals: tuple[float, ...]
    statuses: tuple[str, ...]
    grade: str
    reasons: tuple[str, ...]
    health: str
    status: str
    counts: tuple[tuple[str, int], ...]
    events: tuple[tuple[float, str, str], ...]
    is_paused: bool = False


@dataclass(frozen=True, eq=False)
class LiveOutcome:
    """How a live run ended, with its last picture."""

    picture: LivePicture
    ended_by: str


@dataclass(frozen=True)
class LiveWords:
    """What the page asks of a live run: "pause", "go on", or "save" to a file."""

    what: str
    path: str = ""


@dataclass(frozen=True, eq=False)
class FollowSource:
    """Estimate while samples arrive: `freefloat track`.

    speed: of the replay of a recording, 1 as it was; 0 as fast as it can be.
    """

    model: Model
    wanted: Wanted
    source: str
    speed: float = 0.0
    state: str = ""
    remote: bool = False
    title = "following live"
    grace = GRACE

    def run(self, watch: Watch) -> LiveOutcome:
        """The last estimate."""
        from freefloat.online.estimator import OnlineEstimator
        from freefloat.online.state_file import restore_state

        watch.progress("opening the source")
        flight, samples = _open_source(self.source, watch, remote=self.remote)
        parameters = self.wanted.parameters(self.model)
        tracker = OnlineEstimator(self.model, parameters, like=flight)
        if self.state:
            restore_state(tracker, Path(self.state), max_bytes=2**30)
        if flight is not None:
            samples = tracker.samples_of(flight)
        run = _LiveLoop(tracker, watch, self.speed if flight is not None else 0.0)
        return run.follow(samples)


class _LiveLoop:
    """The samples of one run, with pauses and pictures between them."""

    def __init__(self, tracker: OnlineEstimator, watch: Watch, speed: float) -> None:
        self.tracker, self.watch, self.speed = tracker, watch, speed
        self.is_paused = False
        self._due = 0.0
        self._begun: tuple[float, float] | None = None  # by the clock and by the data [s]
        self._n_failed = 0

    def follow(self, samples: Iterable[Sample | None]) -> LiveOutcome:
        """Every sample into the tracker, until they end or somebody stops it."""
        from freefloat.telemetry.sources import SampleSource

        if isinstance(samples, SampleSource):
            samples.on_wait = self._look
        ended = "end of data"
        for sample in samples:
            self._pace(sample)
            try:
                self.tracker.take({} if sample is None else sample)
            except FreefloatError:  # the next sample may be a good one
                self._n_failed += 1
            if time.monotonic() >= self._due:
                self._look()
        estimate = self.tracker.finish()
        return LiveOutcome(self._picture(estimate), ended)

    def _look(self) -> None:
        """What the page asks, and a picture where one is due; raises where it asks to stop."""
        self.watch.require_go()
        self._listen()
        now = time.monotonic()
        if now >= self._due and self.tracker.intake.time is not None:
            self._due = now + EVERY
            picture = self._picture(self.tracker.estimate)
            when = f"t = {picture.time:.1f} s" if picture.time is not None else "no sample yet"
            self.watch.progress(f"following live, {when}", None, value=picture)

    def _listen(self) -> None:
        while self.watch.line.poll():
            asked = self.watch.line.recv()
            if not isinstance(asked, LiveWords):
                continue
            if asked.what == "save":
                self.tracker.save(Path(asked.path))
            else:
                self.is_paused = asked.what == "pause"
                self._begun = None
                self._due = 0.0

    def _pace(self, sample: Sample | None) -> None:
        """Wait while it is paused, and until a sample of a replay is due."""
        while self.is_paused:
            self._look()
            time.sleep(LOOK)
        if self.speed <= 0.0 or sample is None:
            return
        at: Any = getattr(sample, "time", None)
        if at is None:
            return
        now = time.monotonic()
        if self._begun is None:
            self._begun = (now, at)
        due = self._begun[0] + (at - self._begun[1]) / self.speed
        while (left := due - time.monotonic()) > 0.0:
            self._look()
            time.sleep(min(left, LOOK))

    def _picture(self, estimate: LiveEstimate) -> LivePicture:
        free, health = estimate.unknowns.free, estimate.health
        return LivePicture(
            estimate.time, estimate.names, tuple(p.unit for p in free),
            tuple(map(float, estimate.values)), tuple(map(float, estimate.std)),
            tuple(map(float, estimate.total_std)), estimate.statuses, estimate.grade,
            tuple(reason.text for reason in estimate.assessment.reasons), health.sentence,
            str(estimate.status), tuple((word, n) for word, n in health.counts.items() if n),
            tuple((e.time, e.kind, e.message) for e in health.events[-8:]), self.is_paused,
        )  # fmt: skip


def _open_source(source: str, watch: Watch, *, remote: bool) -> tuple[Any, Iterable[Any]]:
    """A recording, or the lines of a file or an address; addresses as `track` takes them."""
    from freefloat.telemetry.readers import read_telemetry
    from freefloat.telemetry.sources import LINES, SampleSource

    path = Path(source)
    if "://" not in source and path.suffix.lower() not in LINES:
        return read_telemetry(path), ()
    if "://" not in source and not path.is_file():
        fault = Fault("source", source, "a file that exists", "check its name", "file.missing")
        raise FreefloatError("there is no such source", [fault])
    return None, SampleSource(source, remote=remote, tell=lambda text: watch.progress(text))
