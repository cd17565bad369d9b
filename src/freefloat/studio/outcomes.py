"""What the worker says, and what that makes of the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from freefloat.progress import DataStep, SearchStep
from freefloat.studio.flight_tasks import (
    IdentifiedModel,
    JudgedFlight,
    OpenedFlight,
    SavedFile,
)
from freefloat.studio.studio_state import NoticeKind, StudioState, rewind, tell
from freefloat.studio.tasks import (
    DesignedPlan,
    OpenedModel,
    SeenParameters,
    Wanted,
)
from freefloat.studio.worker import Report

if TYPE_CHECKING:
    from freefloat.design.excitation import Design

NEXT = "choose what to estimate in the tab Plan, or open a recording in the tab Flight."
MOST_FLIGHTS = 12  # format: recordings kept open; the oldest is closed for another
MOST_HISTORY = 4000  # format: points of the curve of a design


def receive(state: StudioState, report: Report) -> StudioState:
    """The state after a word of the worker."""
    if state.job is None or report.task != state.job.task:
        return state  # of a task that is over
    if report.kind == "progress":
        return _progress(state, report)
    title = state.job.title
    state = replace(state, job=None)
    if report.kind == "result":
        return _RESULTS[type(report.value)](state, report.value)
    if report.kind == "stopped":
        return tell(state, "info", f"Stopped: {title}")
    if report.kind == "error":
        return tell(state, "error", f"{title.capitalize()} failed", str(report.value))
    text = f"{report.value}. This is a fault of the studio; everything else still works."
    return tell(state, "error", f"{title.capitalize()} broke off", text)


def _progress(state: StudioState, report: Report) -> StudioState:
    assert state.job is not None
    job = replace(state.job, stage=report.stage, fraction=report.fraction)
    state = replace(state, job=job)
    if isinstance(report.value, float):
        state = replace(state, history=(*state.history, report.value)[-MOST_HISTORY:])
    if isinstance(report.value, SearchStep | DataStep):
        steps = _of_one_run(state.convergence, report.value)
        state = replace(state, convergence=(*steps, report.value)[-MOST_HISTORY:])
    return state


def _of_one_run(
    steps: tuple[SearchStep | DataStep, ...], step: SearchStep | DataStep
) -> tuple[SearchStep | DataStep, ...]:
    """Those that belong on one curve with another one: equations are solved more than once."""
    if not steps or type(steps[-1]) is not type(step):
        return ()
    is_anew = isinstance(step, DataStep) and step.share <= steps[-1].share  # type: ignore[union-attr]
    return () if is_anew else steps


def _got_model(state: StudioState, robot: OpenedModel) -> StudioState:
    fresh = StudioState(
        folder=state.folder, robot=robot, wanted=Wanted(robot.globs), notice=state.notice,
        saved=state.saved, tour=state.tour, layers=state.layers,
    )  # fmt: skip
    if robot.checked.faults:
        text = "\n".join(robot.checked.faults)
        return tell(fresh, "error", f"{robot.model.name} cannot fly", text)
    return tell(fresh, "good", f"{robot.model.name} is open", f"{robot.source}: {NEXT}")


def _got_seen(state: StudioState, seen: SeenParameters) -> StudioState:
    found = seen.visibility
    n_seen, n = len(found.names("seen")), len(found.parameters)
    kind = "good" if n_seen == n else "warning"
    return tell(replace(state, seen=seen), kind, f"{n_seen} of {n} parameters would be seen")


def _got_plan(state: StudioState, designed: DesignedPlan) -> StudioState:
    play = replace(state.play, shown="plan", time=0.0, is_playing=False)
    state = replace(state, designed=designed, play=play)
    found = designed.design
    text = "" if found is None else design_words(found)
    title = f"Plan: {designed.plan.name}, {designed.plan.duration:g} s"
    if found is not None and found.is_interrupted:
        title += " (stopped: the best so far)"
    return tell(state, "good", title, text)


def design_words(found: Design) -> str:
    """What the criterion came to, and in which unit."""
    measure, _, unit = found.measure.partition(" [")
    return f"{measure}: {found.value:.3g} {unit.rstrip(']')}".rstrip()


def _got_flight(state: StudioState, flight: OpenedFlight) -> StudioState:
    others = [one for one in state.flights if one.name != flight.name][-(MOST_FLIGHTS - 1) :]
    play = replace(state.play, shown="flight", time=flight.motion.start, is_playing=False)
    flights = (*others, flight)
    state = replace(state, flights=flights, current=len(flights) - 1, play=play)
    kind = "good" if flight.diagnosis.ok else "warning"
    title = f"{flight.name}: {flight.telemetry.duration:.4g} s of telemetry"
    return tell(state, kind, title, flight.diagnosis.summary)


def _got_fit(state: StudioState, identified: IdentifiedModel) -> StudioState:
    fit = identified.fit
    kinds: dict[str, NoticeKind] = {"trusted": "good", "not trusted": "error"}
    kind = kinds.get(fit.grade, "warning")
    state = replace(state, identified=identified, judged=None)
    return tell(state, kind, f"The fit is {fit.grade}", fit.status)


def _got_verdict(state: StudioState, judged: JudgedFlight) -> StudioState:
    names = [flight.name for flight in state.flights]
    current = names.index(judged.flight) if judged.flight in names else state.current
    state = replace(state, judged=judged, current=current, is_compared=False)
    play = replace(state.play, shown="verdict", is_playing=False)
    state = rewind(replace(state, play=play))
    kind = "good" if judged.verdict.is_positive else "error"
    return tell(state, kind, judged.verdict.status)


def _got_file(state: StudioState, saved: SavedFile) -> StudioState:
    state = replace(state, saved=(*state.saved, saved.path))
    return tell(state, "good", f"Saved {saved.path.name}", str(saved.path))


_RESULTS: dict[type, Callable[[StudioState, Any], StudioState]] = {
    OpenedModel: _got_model, SeenParameters: _got_seen, DesignedPlan: _got_plan,
    OpenedFlight: _got_flight, IdentifiedModel: _got_fit, JudgedFlight: _got_verdict,
    SavedFile: _got_file,
}  # fmt: skip
