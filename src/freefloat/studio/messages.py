"""What can be asked of the studio: one frozen record for each thing that a page can do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from freefloat.studio.worker import Report


@dataclass(frozen=True)
class OpenModelFile:
    """Open a built-in model or a model file."""

    source: str


@dataclass(frozen=True)
class MoveJoint:
    """Put a coordinate [rad or m] somewhere."""

    name: str
    value: float


@dataclass(frozen=True)
class ShowMotion:
    """Show a posture, a mode (by number), the plan, the flight or the verdict's flight."""

    shown: Literal["posture", "plan", "flight", "mode", "verdict"]
    mode: int = 0
    time: float = 0.0
    is_playing: bool = False


@dataclass(frozen=True)
class ShowLayer:
    """Draw a layer of the scene, or leave it out."""

    layer: str
    is_shown: bool


@dataclass(frozen=True)
class Play:
    """Let what is shown go on, or halt it."""

    is_playing: bool


@dataclass(frozen=True)
class Seek:
    """Go to a time [s] of what is shown."""

    time: float


@dataclass(frozen=True)
class SetSpeed:
    """How fast it plays, 1 being as fast as it was."""

    speed: float


@dataclass(frozen=True)
class Tick:
    """Time went by [s]."""

    seconds: float


@dataclass(frozen=True, eq=False)
class ChooseParameters:
    """What is to be found: names or globs, and relative deviations of what is known of them."""

    free: tuple[str, ...]
    fix: tuple[str, ...] = ()
    priors: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ChooseSensors:
    """Which sensors are read, in words; all of them if empty."""

    words: str


@dataclass(frozen=True)
class Check:
    """What would be seen of the parameters: with the default motion, the plan or a flight's."""

    of: Literal["default", "plan", "flight"] = "default"


@dataclass(frozen=True, eq=False)
class DesignMotion:
    """Find the motion that shows them best."""

    duration: float = 60.0
    criterion: str = "a_optimal"
    limits: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class OpenPlanFile:
    """Open a plan, or take the default motion where no file is named."""

    path: str = ""
    duration: float = 60.0
    seed: int = 0


@dataclass(frozen=True)
class Simulate:
    """Fly the plan; truth: the model file or name of what really flies."""

    seed: int = 1
    truth: str = ""
    name: str = ""


@dataclass(frozen=True)
class OpenRecording:
    """Open a recording, by a map of its fields if it is of others."""

    path: str
    map: str = ""


@dataclass(frozen=True)
class ChooseFlight:
    """Look at another flight."""

    name: str


@dataclass(frozen=True)
class Identify:
    """Find the parameters from flights."""

    flights: tuple[str, ...]
    method: str = "auto"
    assess: bool = True


@dataclass(frozen=True)
class FreeCause:
    """Free a named cause as well, and identify again."""

    name: str


@dataclass(frozen=True)
class CompareModels:
    """Show the model before and the identified one side by side."""

    is_on: bool


@dataclass(frozen=True)
class UseFittedModel:
    """Go on with the identified model."""


@dataclass(frozen=True)
class Validate:
    """Predict a flight."""

    flight: str


@dataclass(frozen=True)
class Save:
    """Write something to a file of the working folder."""

    noun: str
    path: Path


@dataclass(frozen=True)
class Stop:
    """Stop what the worker does."""


@dataclass(frozen=True)
class FollowLive:
    """Estimate while samples arrive, from a source or an open flight by its name.

    speed: of a replay, 0 as fast as it can be; state: a file to go on from; keep: where the state
    is kept in the end; remote: whether another machine may be listened to.
    """

    source: str = ""
    flight: str = ""
    speed: float = 1.0
    state: str = ""
    keep: str = ""
    remote: bool = False


@dataclass(frozen=True)
class PauseLive:
    """Let the live run wait, or go on."""

    is_on: bool


@dataclass(frozen=True)
class SaveLive:
    """Save the state of the live run."""

    path: Path


@dataclass(frozen=True)
class StopLive:
    """End the live run."""


@dataclass(frozen=True, eq=False)
class LiveReport:
    """A word of the worker that follows a source."""

    report: Report


@dataclass(frozen=True)
class LiveStarted:
    """The worker has begun to follow a source."""

    task: int


@dataclass(frozen=True)
class Started:
    """The worker has begun with a task."""

    task: int


@dataclass(frozen=True)
class Tell:
    """Say something at the top of the page."""

    kind: Literal["info", "good", "warning", "error"]
    title: str
    text: str = ""


@dataclass(frozen=True)
class OpenDemo:
    """Open the model that the tour begins with."""


@dataclass(frozen=True)
class BeginTour:
    """Begin the tour."""


@dataclass(frozen=True)
class LeaveTour:
    """End the tour where it is."""


@dataclass(frozen=True)
class NextStep:
    """Do the step of the tour that is shown."""
