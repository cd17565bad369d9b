"""The state of the studio, and how messages change it: no viewer, no process, no clock.

`change_state(state, message)` gives the next state and what is to be done for it: tasks for the
worker, a task to be stopped. Whatever a page shows is worked out from a state, so that two pages,
and one that was loaded again, show the same.
"""

from __future__ import annotations

from dataclasses import replace

import freefloat.studio.live_requests  # noqa: F401  (what it handles is handled from now on)
from freefloat.studio import messages as said
from freefloat.studio.effects import HANDLERS, Change, Effect, StopTask, need, on, start
from freefloat.studio.flight_tasks import (
    IdentifyModel,
    OpenFlight,
    SaveFile,
    SimulateFlight,
    ValidateModel,
)
from freefloat.studio.outcomes import receive
from freefloat.studio.studio_state import StudioState, rewind, tell
from freefloat.studio.tasks import (
    CheckParameters,
    DesignPlan,
    OpenModel,
    OpenPlan,
    Wanted,
)
from freefloat.studio.tour import OpenGuess, next_step, step_to_do
from freefloat.studio.worker import Report


def change_state(state: StudioState, message: object) -> Change:
    """The state after a message, and what is to be done."""
    return HANDLERS[type(message)](state, message)


# -- what a person asks for ------------------------------------------------------------------------


@on(said.OpenModelFile)
def _open_model(state: StudioState, message: said.OpenModelFile) -> Change:
    return start(state, OpenModel(message.source))


@on(said.MoveJoint)
def _move_joint(state: StudioState, message: said.MoveJoint) -> Change:
    posture = {**state.posture, message.name: message.value}
    play = replace(state.play, shown="posture", is_playing=False)
    return replace(state, posture=posture, play=play), ()


@on(said.ShowMotion)
def _show_motion(state: StudioState, message: said.ShowMotion) -> Change:
    play = replace(
        state.play, shown=message.shown, mode=message.mode, time=message.time,
        is_playing=message.is_playing,
    )  # fmt: skip
    is_compared = state.is_compared and message.shown != "verdict"
    return rewind(replace(state, play=play, is_compared=is_compared)), ()


@on(said.ShowLayer)
def _show_layer(state: StudioState, message: said.ShowLayer) -> Change:
    layers = state.layers - {message.layer}
    return replace(state, layers=layers | {message.layer} if message.is_shown else layers), ()


@on(said.Play)
def _play(state: StudioState, message: said.Play) -> Change:
    play = replace(state.play, is_playing=message.is_playing)
    motion = state.motion
    if motion is not None and message.is_playing and play.time >= motion.end - 1e-6:
        play = replace(play, time=motion.start)
    return replace(state, play=play), ()


@on(said.Seek)
def _seek(state: StudioState, message: said.Seek) -> Change:
    return rewind(replace(state, play=replace(state.play, time=message.time))), ()


@on(said.SetSpeed)
def _set_speed(state: StudioState, message: said.SetSpeed) -> Change:
    return replace(state, play=replace(state.play, speed=message.speed)), ()


@on(said.Tick)
def _tick(state: StudioState, message: said.Tick) -> Change:
    """Time goes on for what plays; at its end it stops."""
    play = state.play
    if not play.is_playing:
        return state, ()
    time = play.time + play.speed * message.seconds
    motion = state.motion
    if motion is not None and time >= motion.end:
        return replace(state, play=replace(play, time=motion.end, is_playing=False)), ()
    return replace(state, play=replace(play, time=time)), ()


@on(said.ChooseParameters)
def _choose(state: StudioState, message: said.ChooseParameters) -> Change:
    wanted = Wanted(message.free, message.fix, dict(message.priors))
    return replace(state, wanted=wanted), ()


@on(said.ChooseSensors)
def _choose_sensors(state: StudioState, message: said.ChooseSensors) -> Change:
    return replace(state, sensors=message.words), ()


@on(said.Check)
def _check(state: StudioState, message: said.Check) -> Change:
    if state.robot is None:
        return need(state, "Open a model first.")
    plan = None
    if message.of == "plan" and state.designed is not None:
        plan = state.designed.plan
    if message.of == "flight" and state.flight is not None:
        plan = state.flight.plan
    return start(state, CheckParameters(state.model, state.wanted, state.sensors, plan))


@on(said.DesignMotion)
def _design(state: StudioState, message: said.DesignMotion) -> Change:
    if state.robot is None:
        return need(state, "Open a model first.")
    if not state.is_checked:
        return need(state, "Check first: a motion is designed for what can be seen at all.")
    task = DesignPlan(
        state.model, state.wanted, state.sensors, message.duration, message.criterion,
        dict(message.limits), message.seconds, message.seed,
    )  # fmt: skip
    started, effects = start(state, task)
    return (replace(started, history=()) if effects else started), effects


@on(said.OpenPlanFile)
def _open_plan(state: StudioState, message: said.OpenPlanFile) -> Change:
    if state.robot is None:
        return need(state, "Open a model first.")
    return start(state, OpenPlan(state.model, message.path, message.duration, message.seed))


@on(said.Simulate)
def _simulate(state: StudioState, message: said.Simulate) -> Change:
    if state.robot is None or state.designed is None:
        return need(state, "There is no plan to fly: design one, or take the default motion.")
    taken = {flight.name for flight in state.flights}
    base = message.name or f"flight of {state.designed.plan.name}"
    name, n = base, 2
    while name in taken:
        name, n = f"{base} ({n})", n + 1
    task = SimulateFlight(state.model, state.designed.plan, name, message.truth, message.seed)
    return start(state, task)


@on(said.OpenRecording)
def _open_recording(state: StudioState, message: said.OpenRecording) -> Change:
    if state.robot is None:
        return need(state, "Open a model first.")
    return start(state, OpenFlight(state.model, message.path, message.map))


@on(said.ChooseFlight)
def _choose_flight(state: StudioState, message: said.ChooseFlight) -> Change:
    names = [flight.name for flight in state.flights]
    if message.name not in names:
        return state, ()
    current = names.index(message.name)
    play = replace(state.play, shown="flight", time=state.flights[current].motion.start)
    return replace(state, current=current, play=replace(play, is_playing=False)), ()


@on(said.Identify)
def _identify(state: StudioState, message: said.Identify) -> Change:
    chosen = tuple(flight for flight in state.flights if flight.name in message.flights)
    if state.robot is None or not chosen:
        return need(state, "There is no flight to identify from: fly one, or open a recording.")
    if not state.is_checked:
        return need(state, "Check first: it says what can be seen of the parameters chosen.")
    task = IdentifyModel(
        state.robot.model, state.wanted, chosen, message.method, message.assess, state.robot.source
    )
    started, effects = start(state, task)
    return (replace(started, convergence=()) if effects else started), effects


@on(said.FreeCause)
def _free_cause(state: StudioState, message: said.FreeCause) -> Change:
    """Free what the diagnosis named, and run again with the same flights."""
    found = state.identified
    if found is None or state.robot is None:
        return need(state, "There is no fit yet.")
    wanted = replace(state.wanted, free=tuple(dict.fromkeys((*state.wanted.free, message.name))))
    state = replace(state, wanted=wanted, convergence=())
    chosen = tuple(flight for flight in state.flights if flight.name in found.flights)
    task = IdentifyModel(found.fit.prior_model, wanted, chosen, source=found.source)
    return start(state, task)


@on(said.CompareModels)
def _compare(state: StudioState, message: said.CompareModels) -> Change:
    if message.is_on and state.identified is None:
        return need(replace(state, is_compared=False), "There is no fit yet.")
    return replace(state, is_compared=message.is_on), ()


@on(said.Validate)
def _validate(state: StudioState, message: said.Validate) -> Change:
    flight = next((f for f in state.flights if f.name == message.flight), None)
    if state.robot is None or flight is None:
        return need(state, "There is no flight to validate on: fly one, or open a recording.")
    judged = state.identified.fit if state.identified is not None else state.model
    return start(state, ValidateModel(judged, flight))


@on(said.UseFittedModel)
def _use_fitted(state: StudioState, message: said.UseFittedModel) -> Change:
    """Go on with the identified model as the model."""
    if state.identified is None or state.robot is None:
        return need(state, "There is no fit yet.")
    checked = replace(state.robot.checked, model=state.identified.fit.model)
    robot = replace(state.robot, checked=checked, craft=state.identified.craft)
    state = replace(state, robot=robot, seen=None, identified=None, judged=None)
    return tell(state, "good", "The identified model is the model now"), ()


@on(said.Save)
def _save(state: StudioState, message: said.Save) -> Change:
    nouns = {
        "model": state.robot and state.model,
        "plan": state.designed and state.designed.plan,
        "flight": state.flight and state.flight.telemetry,
        "fit": state.identified and state.identified.fit,
        "identified model": state.identified and state.identified.fit.model,
        "verdict": state.judged and state.judged.verdict,
    }
    noun = nouns.get(message.noun)
    if noun is None:
        return need(state, f"There is no {message.noun} to save.")
    flights: tuple = ()
    if message.noun == "fit" and state.identified is not None:
        own = state.identified.flights
        flights = tuple(f.telemetry for f in state.flights if f.name in own)
    fit = state.identified.fit if state.identified is not None else None
    return start(state, SaveFile(noun, message.path, flights, fit))


@on(said.Stop)
def _stop(state: StudioState, message: said.Stop) -> Change:
    if state.job is None:
        return state, ()
    return replace(state, job=replace(state.job, is_stopping=True)), (StopTask(),)


@on(said.Tell)
def _tell(state: StudioState, message: said.Tell) -> Change:
    return tell(state, message.kind, message.title, message.text), ()


@on(said.OpenDemo)
def _open_demo(state: StudioState, message: said.OpenDemo) -> Change:
    return start(state, OpenGuess(state.folder))


@on(said.BeginTour)
def _begin_tour(state: StudioState, message: said.BeginTour) -> Change:
    return replace(state, tour=0), ()


@on(said.LeaveTour)
def _leave_tour(state: StudioState, message: said.LeaveTour) -> Change:
    return replace(state, tour=None), ()


@on(said.NextStep)
def _next_step(state: StudioState, message: said.NextStep) -> Change:
    """Ask for what the step says, one after the other."""
    effects: tuple[Effect, ...] = ()
    for asked in step_to_do(state):
        state, more = change_state(state, asked)
        effects += more
    return state, effects


@on(said.Started)
def _begin(state: StudioState, message: said.Started) -> Change:
    if state.job is None:
        return state, ()
    return replace(state, job=replace(state.job, task=message.task)), ()


@on(Report)
def _report(state: StudioState, message: Report) -> Change:
    state = receive(state, message)
    tour = next_step(state)
    return (state if tour == state.tour else replace(state, tour=tour)), ()
