"""Messages about the live run, and what they make of the state."""

from __future__ import annotations

from dataclasses import replace

from freefloat.parameters.default_choice import default_globs, live_globs
from freefloat.studio import messages as said
from freefloat.studio.effects import AskLive, Change, StartLive, need, on
from freefloat.studio.live_session import LiveState, follow_live
from freefloat.studio.live_task import FollowSource, LiveNews, LiveWords
from freefloat.studio.studio_state import StudioState, tell
from freefloat.studio.tasks import Wanted


@on(said.FollowLive)
def _follow_live(state: StudioState, message: said.FollowLive) -> Change:
    if state.robot is None:
        return need(state, "Open a model first.")
    if state.live is not None and state.live.is_running:
        return need(state, "A source is followed already: end that first.")
    if message.source == "-":
        return need(state, "Give a file or an address: the studio has no standard input.")
    wanted = state.wanted
    if wanted == Wanted(default_globs(state.model)):
        wanted = Wanted(live_globs(state.model))  # without what no motion could show
    flight = next((f for f in state.flights if f.name == message.flight), None)
    if flight is None and not message.source:
        return need(state, "Choose a flight to replay, or name a source.")
    task = FollowSource(
        state.model, wanted, message.source, None if flight is None else flight.telemetry,
        message.speed, message.state, message.keep, message.remote,
    )  # fmt: skip
    live = LiveState(message.source if flight is None else flight.name)
    play = replace(state.play, shown="live", is_playing=False)
    return replace(state, live=live, play=play), (StartLive(task),)


@on(said.LiveStarted)
def _begin_live(state: StudioState, message: said.LiveStarted) -> Change:
    if state.live is None:
        return state, ()
    return replace(state, live=replace(state.live, task=message.task)), ()


@on(said.LiveReport)
def _hear_live(state: StudioState, message: said.LiveReport) -> Change:
    if state.live is None:
        return state, ()
    news = message.report.value
    if isinstance(news, LiveNews):
        return tell(state, "good" if news.is_good else "error", news.title, news.text), ()
    return replace(state, live=follow_live(state.live, message.report)), ()


@on(said.PauseLive)
def _pause_live(state: StudioState, message: said.PauseLive) -> Change:
    return state, (AskLive(LiveWords("pause" if message.is_on else "go on")),)


@on(said.SaveLive)
def _save_live(state: StudioState, message: said.SaveLive) -> Change:
    if state.live is None or not state.live.is_running:
        return need(state, "Nothing is followed: there is no state to save.")
    return state, (AskLive(LiveWords("save", str(message.path))),)


@on(said.StopLive)
def _stop_live(state: StudioState, message: said.StopLive) -> Change:
    if state.live is None or not state.live.is_running:
        return state, ()
    return replace(state, live=replace(state.live, is_stopping=True)), (AskLive(),)
