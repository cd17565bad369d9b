"""The live run as part of the state: pictures of the estimate, thinned so that they stay few."""

from __future__ import annotations

from dataclasses import dataclass, replace

from freefloat.studio.flight_motion import Moment
from freefloat.studio.live_task import LiveOutcome, LivePicture
from freefloat.studio.worker import Report

MOST_PICTURES = 600  # format: points of a band; then every second one is left out


@dataclass(frozen=True, eq=False)
class LiveState:
    """What is followed, and what came of it; `task` is 0 once it is over.

    moment: where the robot is by the last samples.
    """

    source: str
    task: int = 0
    stage: str = ""
    is_running: bool = True
    is_stopping: bool = False
    pictures: tuple[LivePicture, ...] = ()
    last: LivePicture | None = None
    moment: Moment | None = None
    skip: int = 1
    n: int = 0
    ended: str = ""
    error: str = ""


def follow_live(live: LiveState, report: Report) -> LiveState:
    """The live run after a word of its worker."""
    if report.task != live.task:
        return live
    if report.kind == "progress":
        live = replace(live, stage=report.stage)
        if isinstance(report.value, Moment):
            return replace(live, moment=report.value)
        return _add_picture(live, report.value) if isinstance(report.value, LivePicture) else live
    live = replace(live, is_running=False, is_stopping=False, task=0)
    if report.kind == "result" and isinstance(report.value, LiveOutcome):
        live = _add_picture(live, report.value.picture, is_last=True)
        return replace(live, ended=report.value.ended_by)
    if report.kind == "stopped":
        return replace(live, ended="stopped")
    return replace(live, ended="an error", error=str(report.value))


def _add_picture(live: LiveState, picture: LivePicture, *, is_last: bool = False) -> LiveState:
    """One more; of a long run only so many are kept, evenly."""
    n = live.n + 1
    pictures = live.pictures
    if is_last or n % live.skip == 0:
        pictures = (*pictures, picture)
    skip = live.skip
    if len(pictures) > MOST_PICTURES:
        pictures, skip = pictures[::2], 2 * skip
    return replace(live, pictures=pictures, last=picture, n=n, skip=skip)
