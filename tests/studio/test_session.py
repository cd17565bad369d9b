"""The state of the studio follows messages, without a viewer and without a process."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from freefloat.progress import DataStep, SearchStep
from freefloat.studio import markup, messages
from freefloat.studio.effects import AskLive, StartLive, StartTask, StopTask
from freefloat.studio.live_motion import LiveMotion
from freefloat.studio.live_session import MOST_PICTURES, LiveState, follow_live
from freefloat.studio.live_task import LiveNews, LivePicture
from freefloat.studio.panel_charts import MOST_POINTS, thin_curves
from freefloat.studio.session import change_state
from freefloat.studio.studio_state import StudioState
from freefloat.studio.tasks import OpenModel
from freefloat.studio.tour import STEPS, next_step
from freefloat.studio.worker import Report
from freefloat.telemetry.sample_rows import Sample


class NoWatch:
    """Nobody watches."""

    is_stopped = False

    def __call__(self, *_: object) -> None:
        pass

    def progress(self, *_: object, **__: object) -> None:
        pass


def follow(state: StudioState, *given: object) -> StudioState:
    """The state after messages, every task done at once in this process."""
    number = 0
    for message in given:
        state, effects = change_state(state, message)
        for effect in effects:
            if isinstance(effect, StartTask):
                number += 1
                state, _ = change_state(state, messages.Started(number))
                value = effect.task.run(NoWatch())  # type: ignore[arg-type]
                state, _ = change_state(state, Report(number, "result", value=value))
    return state


@pytest.fixture(scope="module")
def planar() -> StudioState:
    return follow(StudioState(folder=Path("work")), messages.OpenModelFile("planar-capture"))


def test_a_model_opens_with_its_usual_choice(planar):
    assert planar.model.name == "planar-capture"
    assert planar.wanted.free == ("bus.*", "target.*")
    assert planar.notice.kind == "good" and planar.job is None
    assert any(part.body == "target" for part in planar.robot.craft.parts)


@pytest.mark.parametrize(
    "message",
    [messages.Check(), messages.OpenPlanFile(), messages.Simulate(), messages.DesignMotion(),
     messages.OpenRecording("a.csv"), messages.Identify(("a",)), messages.Validate("a"),
     messages.FreeCause("bus.mass"), messages.Save("fit", Path("fit.json"))],
)  # fmt: skip
def test_what_needs_something_first_says_so(message):
    state, effects = change_state(StudioState(), message)
    assert not effects and state.notice.kind == "warning" and state.notice.title


def test_check_gates_design_and_run(planar):
    state, effects = change_state(planar, messages.DesignMotion())
    assert not effects and "Check" in state.notice.title
    checked = follow(planar, messages.Check())
    assert checked.is_checked
    assert [type(e) for e in change_state(checked, messages.DesignMotion())[1]] == [StartTask]
    other = follow(checked, messages.ChooseParameters(("bus.mass",)))
    assert not other.is_checked  # the answer was about another choice
    assert not follow(checked, messages.ChooseSensors("encoder")).is_checked


def test_one_thing_at_a_time(planar):
    state, effects = change_state(planar, messages.Check())
    assert len(effects) == 1 and state.job is not None
    state, effects = change_state(state, messages.Check())
    assert not effects and state.notice.title == "One thing at a time"
    state, effects = change_state(state, messages.Stop())
    assert effects == (StopTask(),) and state.job.is_stopping


def test_words_of_a_task_that_is_over_change_nothing(planar):
    state, _ = change_state(planar, messages.Check())
    state, _ = change_state(state, messages.Started(7))
    assert change_state(state, Report(6, "error", value="late"))[0] is state
    state, _ = change_state(state, Report(7, "stopped"))
    assert state.job is None and state.notice.title.startswith("Stopped")


@pytest.mark.parametrize("kind", ["error", "bug"])
def test_a_failure_is_said_and_nothing_is_lost(planar, kind):
    state, _ = change_state(planar, messages.Check())
    state, _ = change_state(state, messages.Started(1))
    state, _ = change_state(state, Report(1, kind, value="no such thing"))
    assert state.notice.kind == "error" and "no such thing" in state.notice.text
    assert state.robot is planar.robot and state.job is None


def test_a_joint_moves_and_time_goes_on(planar):
    state = follow(planar, messages.MoveJoint("arm_1", 0.5))
    assert state.posture == {"arm_1": 0.5} and state.play.shown == "posture"
    state = follow(state, messages.OpenPlanFile(duration=4.0), messages.Play(True))
    assert state.motion.end == 4.0
    state = follow(state, messages.SetSpeed(2.0), messages.Tick(1.0))
    assert state.play.time == 2.0 and state.play.is_playing
    state = follow(state, messages.Tick(10.0))
    assert state.play.time == 4.0 and not state.play.is_playing
    assert follow(state, messages.Play(True)).play.time == 0.0  # from the start again
    assert follow(state, messages.Seek(-1e300)).play.time == 0.0
    assert follow(state, messages.Seek(1e300)).play.time == 4.0


def test_another_model_begins_anew(planar):
    state = follow(planar, messages.OpenPlanFile(duration=2.0), messages.Simulate())
    assert state.flight is not None and state.designed is not None
    state = follow(state, messages.OpenModelFile("cepheus"))
    assert state.model.name == "cepheus" and not state.flights and state.designed is None


def test_a_task_reads_a_model():
    opened = OpenModel("servicer").run(NoWatch())  # type: ignore[arg-type]
    kinds = {part.layer for part in opened.craft.parts}
    assert kinds == {"bodies", "joints", "wheels", "thrusters", "fuel", "capsules"}
    assert opened.craft.size == pytest.approx(4.5, abs=0.5)


def test_the_tour_goes_on_when_a_step_is_done(planar):
    state = follow(StudioState(folder=Path("work")), messages.BeginTour())
    assert state.tour == 0
    state, effects = change_state(state, messages.NextStep())
    assert len(effects) == 1 and state.job is not None
    again, effects = change_state(state, messages.NextStep())
    assert again is state and not effects  # while it works there is nothing to press
    done = replace(planar, tour=0)
    assert next_step(done) == 1 and next_step(replace(done, tour=None)) is None
    for step in STEPS:
        assert step.title and step.text and not step.is_done(StudioState())


def test_the_checked_choice_survives_the_worker(planar):
    state = follow(planar, messages.Check())
    sent = pickle.loads(pickle.dumps(state.seen))
    assert replace(state, seen=sent).is_checked


def picture(time: float) -> LivePicture:
    one = (1.0,)
    return LivePicture(
        time, ("a.mass",), ("kg",), one, one, one, ("seen",), "trusted", (), "", "", (), ()
    )


def test_of_a_long_live_run_few_pictures_are_kept():
    live = LiveState("x", task=1)
    for k in range(20_000):
        live = follow_live(live, Report(1, "progress", value=picture(float(k))))
    times = [p.time for p in live.pictures]
    assert len(times) <= MOST_PICTURES and times == sorted(times)
    assert times[-1] > 19_000 and live.last.time == 19_999.0
    assert not follow_live(live, Report(1, "error", value="lost")).is_running
    assert follow_live(live, Report(2, "stopped")) is live


def test_a_live_run_is_asked_and_ended(planar):
    state, effects = change_state(planar, messages.FollowLive("flight.parquet"))
    assert [type(e) for e in effects] == [StartLive] and state.live.is_running
    assert state.play.shown == "live"
    assert effects[0].task.wanted.free[:2] == ("bus.mass", "bus.m[xy]")
    state, effects = change_state(state, messages.FollowLive("other.parquet"))
    assert not effects and state.notice.kind == "warning"
    assert change_state(state, messages.PauseLive(True))[1][0].words.what == "pause"
    state, effects = change_state(state, messages.StopLive())
    assert effects == (AskLive(),) and state.live.is_stopping
    assert not change_state(planar, messages.FollowLive("-"))[1]
    assert not change_state(planar, messages.FollowLive())[1]  # neither a source nor a flight


@pytest.mark.parametrize("is_good", [True, False])
def test_what_became_of_a_saved_state_is_said(planar, is_good):
    state, _ = change_state(planar, messages.FollowLive("flight.parquet"))
    state, _ = change_state(state, messages.LiveStarted(1))
    news = Report(1, "progress", value=LiveNews(is_good, "title", "text"))
    state, _ = change_state(state, messages.LiveReport(news))
    assert state.notice.kind == ("good" if is_good else "error") and state.live.is_running


def test_the_robot_moves_with_the_samples(planar):
    motion = LiveMotion(planar.model)
    values = {"arm_1.position": 0.4, "arm_2.position": "nonsense", "base.rate.z": 0.5}
    values |= {"base.rate.x": 0.0, "base.rate.y": 0.0}
    for time in (0.0, 0.1, 0.2):
        motion.take(Sample(time, values))
        moment = motion.moment(time)
    assert moment.posture["arm_1"] == 0.4 and moment.posture["arm_2"] == 0.0
    assert moment.attitude[2] == pytest.approx(np.sin(0.05))  # the gyro's turns are added up
    motion.take(Sample(0.3, {"base.attitude.z": 1.0, "base.attitude.w": 0.0}))
    assert motion.moment(0.3).attitude[2] == pytest.approx(np.sin(0.075))  # two numbers are none
    motion.take(Sample(0.3, {"base.angle": 1.0}))
    assert motion.moment(0.3).attitude[2] == pytest.approx(np.sin(0.5))
    motion.take(Sample(0.3, {"base.attitude.x": 0.0, "base.attitude.y": 0.0}))
    assert motion.moment(0.3).attitude.tolist() == [0.0, 0.0, 1.0, 0.0]


def test_curves_of_another_run_begin_anew(planar):
    def step(share: float) -> DataStep:
        return DataStep(share, 1.0, ("a",), ("kg",), (1.0,), (0.1,))

    state, _ = change_state(planar, messages.Check())
    state, _ = change_state(state, messages.Started(1))
    search = SearchStep(1.0, ("a",), ("kg",), (1.0,), (0.1,))
    for value, n in ((step(0.5), 1), (step(1.0), 2), (step(0.5), 1), (search, 1), (search, 2)):
        state, _ = change_state(state, Report(1, "progress", value=value))
        assert len(state.convergence) == n


def test_curves_are_thinned_but_spikes_stay():
    x = np.linspace(0.0, 1.0, 100_000)
    y = np.sin(x)
    y[54_321] = 9.0
    times, (thin,) = thin_curves(x, [y])
    assert len(times) <= MOST_POINTS + 2 and thin.max() == 9.0
    assert np.all(np.diff(times) >= 0.0)
    times, (few,) = thin_curves(x[:1], [y[:1]])
    assert len(times) == len(few) == 2


def test_whatever_is_written_is_escaped():
    said = markup.table(("<b>",), [("<script>alert(1)</script>",)])
    said += markup.notice("info", "<i>", "<img src=x>") + markup.bullets(["<u>"])
    assert "<script" not in said and "<img" not in said and "<u>" not in said
