"""A live run for the worker: the streams of `freefloat track`, and what comes of them.

Pictures of the estimate and of the robot are reported a few times a second. What the page asks
meanwhile (pause, go on, save the state) comes over the worker's line.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.errors import shorten
from freefloat.studio.tasks import Wanted
from freefloat.studio.worker import GRACE, Watch

if TYPE_CHECKING:
    from freefloat.model.model import Model
    from freefloat.online.estimator import OnlineEstimator
    from freefloat.online.health import Event
    from freefloat.online.live_estimate import LiveEstimate
    from freefloat.studio.flight_motion import Moment
    from freefloat.telemetry.sample_rows import Sample
    from freefloat.telemetry.telemetry import Telemetry

EVERY = 0.25  # format: [s] by the clock between two pictures of the estimate
LOOK = 0.05  # format: [s] between two pictures of the robot, and looks at what the page asks
MOST_LINES = 2**30  # format: [B] of a file of lines
MOST_EVENTS = 8  # format: events that a picture has, the last ones


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
    events: tuple[Event, ...]
    is_paused: bool = False


@dataclass(frozen=True, eq=False)
class LiveOutcome:
    """How a live run ended, with its last picture."""

    picture: LivePicture
    ended_by: str


@dataclass(frozen=True)
class LiveNews:
    """Something to be said at the top of the page: a state was saved, or could not be."""

    is_good: bool
    title: str
    text: str


@dataclass(frozen=True)
class LiveWords:
    """What the page asks of a live run: "pause", "go on", or "save" to a file."""

    what: str
    path: str = ""


@dataclass(frozen=True, eq=False)
class FollowSource:
    """Estimate while samples arrive: `freefloat track`.

    speed: of the replay of a recording, 1 as it was; 0 as fast as it can be. state: a file that is
    gone on from; keep: where the state is kept when the run ends. remote: whether the address of
    another machine may be listened to. flight: a recording that is open, in place of a source.
    """

    model: Model
    wanted: Wanted
    source: str = ""
    flight: Telemetry | None = None
    speed: float = 0.0
    state: str = ""
    keep: str = ""
    remote: bool = False
    title = "following live"
    grace = GRACE

    def run(self, watch: Watch) -> LiveOutcome:
        """The last estimate."""
        from freefloat.online.estimator import OnlineEstimator
        from freefloat.online.state_file import restore_state
        from freefloat.telemetry.readers import read_telemetry
        from freefloat.telemetry.sources import SampleSource, has_lines, require_file_of_lines

        watch.progress("opening the source")
        flight, is_stream = self.flight, False
        if flight is None:
            is_stream = has_lines(self.source)
            if is_stream:
                require_file_of_lines(self.source, MOST_LINES)
            else:
                flight = read_telemetry(Path(self.source))
        tracker = OnlineEstimator(self.model, self.wanted.parameters(self.model), like=flight)
        if self.state:
            restore_state(tracker, Path(self.state))
        watch.progress("loading the kernels; the first time that takes half a minute")
        tracker.warm_up()
        run = _LiveLoop(tracker, watch, speed=0.0 if is_stream else self.speed, keep=self.keep)
        if flight is not None:
            return run.follow(tracker.samples_of(flight))
        return run.follow(SampleSource(self.source, remote=self.remote, tell=watch.progress))


class _LiveLoop:
    """The samples of one run, with pauses and pictures between them."""

    def __init__(self, tracker: OnlineEstimator, watch: Watch, *, speed: float, keep: str) -> None:
        from freefloat.studio.live_motion import LiveMotion

        self.tracker, self.watch, self.speed, self.keep = tracker, watch, speed, keep
        self.motion = LiveMotion(tracker.model)
        self.is_paused = False
        self._resumed_at = tracker.intake.time
        self._due = self._seen = 0.0
        self._begun: tuple[float, float] | None = None  # by the clock and by the data [s]
        self._failures: dict[str, int] = {}

    def follow(self, samples: Iterable[Sample | None]) -> LiveOutcome:
        """Every sample into the tracker, until they end or somebody stops it."""
        from freefloat.online.sample_loop import follow_samples
        from freefloat.progress import CancelledError
        from freefloat.telemetry.sources import SampleSource

        if isinstance(samples, SampleSource):
            samples.on_wait = self._look
        ended = "end of data"
        try:
            follow_samples(self.tracker, self._pace(samples), look=self._look, failed=self._fail)
        except CancelledError:
            ended = "stopped"
        if self.keep:
            self._save(Path(self.keep))
        return LiveOutcome(self._picture(self.tracker.finish()), ended)

    def _look(self) -> None:
        """What the page asks, and pictures that are due; raises where it asks to stop."""
        now = time.monotonic()
        if now < self._seen:
            return
        self._seen = now + LOOK
        self.watch.require_go()
        self._listen()
        at = self.tracker.intake.time
        if at is None or (self.is_paused and now < self._due):
            return
        if now >= self._due:
            self._due = now + (EVERY if not self.is_paused else float("inf"))
            picture = self._picture(self.tracker.estimate)
            self.watch.progress(f"following, t = {at:.1f} s", None, value=picture)
        moment: Moment = self.motion.moment(at)
        self.watch.progress(f"following, t = {at:.1f} s", None, value=moment)

    def _listen(self) -> None:
        while self.watch.line.poll():
            asked = self.watch.line.recv()
            if not isinstance(asked, LiveWords):
                continue
            if asked.what == "save":
                self._save(Path(asked.path))
            else:
                self.is_paused = asked.what == "pause"
                self._begun = None
                self._due = 0.0

    def _save(self, path: Path) -> None:
        """The whole state into a file; that it cannot be written does not end the run."""
        try:
            self.tracker.save(path)
        except Exception as error:  # a full disk, a folder that went
            news = LiveNews(False, "The state could not be saved", str(error))
        else:
            news = LiveNews(True, f"Saved {path.name}", str(path))
        self.watch.progress("saving the state", None, value=news)

    def _fail(self, error: Exception) -> None:
        """A sample that could not be taken: counted, by its reason."""
        reason = shorten(str(error).partition("\n")[0] or type(error).__name__)
        if reason in self._failures or len(self._failures) < MOST_EVENTS:
            self._failures[reason] = self._failures.get(reason, 0) + 1

    def _pace(self, samples: Iterable[Sample | None]) -> Iterator[Sample | None]:
        """The samples when they are due: while it is paused none, of a replay as time goes on."""
        for sample in samples:
            while self.is_paused:
                time.sleep(LOOK)
                self._look()
            at: Any = getattr(sample, "time", None)
            if sample is not None and at is not None:
                self._wait_for(at)
                self.motion.take(sample)
            yield sample

    def _wait_for(self, at: float) -> None:
        """Until a sample of a time [s] is due; what the restored state has is due at once."""
        if self.speed <= 0.0 or (self._resumed_at is not None and at <= self._resumed_at):
            return
        if self._begun is None:
            self._begun = (time.monotonic(), at)
        due = self._begun[0] + (at - self._begun[1]) / self.speed
        while (left := due - time.monotonic()) > 0.0:
            time.sleep(min(left, LOOK))
            self._look()
            if self._begun is None:  # paused meanwhile
                return

    def _picture(self, estimate: LiveEstimate) -> LivePicture:
        free, health = estimate.unknowns.free, estimate.health
        failed = tuple(self._failures.items())
        return LivePicture(
            estimate.time, estimate.names, tuple(p.unit for p in free),
            tuple(map(float, estimate.values)), tuple(map(float, estimate.std)),
            tuple(map(float, estimate.total_std)), estimate.statuses, estimate.grade,
            tuple(reason.text for reason in estimate.assessment.reasons), health.sentence,
            str(estimate.status),
            (*((word, n) for word, n in health.counts.items() if n), *failed),
            health.events[-MOST_EVENTS:], self.is_paused,
        )  # fmt: skip
