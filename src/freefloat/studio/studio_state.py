"""The state of the studio as one frozen record: whatever the pages show is worked out from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from freefloat.studio.tasks import Wanted

if TYPE_CHECKING:
    from freefloat.model.model import Model
    from freefloat.progress import DataStep, SearchStep
    from freefloat.studio.flight_motion import FlightMotion
    from freefloat.studio.flight_tasks import (
        IdentifiedModel,
        JudgedFlight,
        OpenedFlight,
    )
    from freefloat.studio.live_session import LiveState
    from freefloat.studio.tasks import (
        DesignedPlan,
        OpenedModel,
        SeenParameters,
    )

NoticeKind = Literal["info", "good", "warning", "error"]
Shown = Literal["posture", "plan", "flight", "mode", "verdict", "live"]


# format: layers of the scene that are drawn until somebody says otherwise
SHOWN_FIRST = frozenset({"bodies", "joints", "wheels", "thrusters", "fuel", "com", "grid"})


@dataclass(frozen=True)
class Job:
    """What the worker is doing: task number, title, stage, fraction done (None: not known)."""

    task: int
    title: str
    stage: str = ""
    fraction: float | None = None
    is_stopping: bool = False


@dataclass(frozen=True)
class Notice:
    """What is said at the top of the page; number grows, so that the same words count anew."""

    kind: NoticeKind
    title: str
    text: str = ""
    number: int = 0


@dataclass(frozen=True)
class Playback:
    """What moves in the scene: time [s] in the motion shown, and how fast it goes."""

    shown: Shown = "posture"
    time: float = 0.0
    speed: float = 1.0
    is_playing: bool = False
    mode: int = 0


@dataclass(frozen=True, eq=False)
class StudioState:
    """Everything that the pages show.

    `seen` is the last answer of Check, and counts for a design or a fit only while the choice that
    it is for is still the choice; `history` is the criterion of the design, round by round.
    """

    folder: Path = Path()
    robot: OpenedModel | None = None
    posture: dict[str, float] = field(default_factory=dict)
    wanted: Wanted = field(default_factory=lambda: Wanted(()))
    sensors: str = ""
    seen: SeenParameters | None = None
    designed: DesignedPlan | None = None
    history: tuple[float, ...] = ()
    flights: tuple[OpenedFlight, ...] = ()
    current: int = -1
    identified: IdentifiedModel | None = None
    convergence: tuple[SearchStep | DataStep, ...] = ()
    is_compared: bool = False
    judged: JudgedFlight | None = None
    live: LiveState | None = None
    job: Job | None = None
    notice: Notice = field(default_factory=lambda: Notice("info", ""))
    play: Playback = field(default_factory=Playback)
    layers: frozenset[str] = SHOWN_FIRST
    saved: tuple[Path, ...] = ()
    tour: int | None = None

    @property
    def model(self) -> Model:
        """The model that is open; there must be one."""
        assert self.robot is not None
        return self.robot.model

    @property
    def flight(self) -> OpenedFlight | None:
        """The flight that is looked at."""
        return self.flights[self.current] if 0 <= self.current < len(self.flights) else None

    @property
    def is_checked(self) -> bool:
        """Whether Check was asked for just what is chosen now, and anything would be seen."""
        if self.seen is None:
            return False
        asked = (self.seen.wanted, self.seen.sensors)
        is_same = asked == (self.wanted, self.sensors)
        return is_same and any(self.seen.visibility.names(s) for s in ("seen", "weak"))

    @property
    def motion(self) -> FlightMotion | None:
        """The motion that is shown, None where it is a posture or a mode."""
        if self.play.shown == "plan" and self.designed is not None:
            return self.designed.motion
        if self.play.shown in ("flight", "verdict") and self.flight is not None:
            return self.flight.motion
        return None


def tell(state: StudioState, kind: NoticeKind, title: str, text: str = "") -> StudioState:
    """The state with a notice."""
    return replace(state, notice=Notice(kind, title, text, state.notice.number + 1))


def rewind(state: StudioState) -> StudioState:
    """The time brought into the motion that is shown."""
    motion = state.motion
    if motion is None:
        return state
    time = min(max(state.play.time, motion.start), motion.end)
    return replace(state, play=replace(state.play, time=time))
