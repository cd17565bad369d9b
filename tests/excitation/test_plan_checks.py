"""A plan that cannot be flown is refused with every fault at once."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from plan_samples import COMMANDS, MOTIONS

from freefloat.dynamics import Start, flatten
from freefloat.errors import ExcitationError, Fault
from freefloat.excitation import (
    Bangs,
    CaptureControl,
    Feedback,
    Fourier,
    Hold,
    Moves,
    Plan,
    Pulses,
    Sinusoid,
    Speeds,
    Spline,
    Steps,
    Table,
    Wave,
)
from freefloat.model import Model, load_model


@pytest.fixture(scope="module")
def model() -> Model:
    """The servicer with its last joint driven by torque and its sixth locked."""
    servicer = load_model("servicer")
    return servicer.with_joint("arm_7", role="torque").with_joint("arm_6", role="locked")


def faults_of(plan: Plan, model: Model):
    with pytest.raises(ExcitationError) as caught:
        plan.check(model)
    return caught.value.faults


def the_fault(plan: Plan, model: Model) -> Fault:
    (fault,) = faults_of(plan, model)
    return fault


NAN = float("nan")
BAD_PARTS = {
    "unequal lengths": (Moves((0.0, 1.0, 2.0), (0.0, 1.0)), "times", "value.count"),
    "no times": (Moves((), ()), "times", "value.count"),
    "times going back": (Moves((0.0, 2.0, 1.0), (0, 1, 2)), "times[2]", "value.order"),
    "times twice": (Speeds((1.0, 1.0), (0.0, 1.0)), "times[1]", "value.order"),
    "not a number": (Moves((0.0, NAN), (0.0, 1.0)), "times[1]", "value.range"),
    "infinite": (Hold(float("inf")), "value", "value.range"),
    "text": (Hold("up"), "value", "value.type"),  # type: ignore[arg-type]
    "true": (Hold(True), "value", "value.type"),
    "a number for a list": (Spline(1.0, 5.0), "control", "value.type"),  # type: ignore[arg-type]
    "negative duration": (Fourier(-1.0, (0.1,), (0.1,)), "duration", "value.range"),
    "no period": (Sinusoid(5.0, 0.0, 0.1, 0.0, 1.0), "period", "value.range"),
    "no ramp": (Sinusoid(5.0, 0.0, 0.1, 1.0, 0.0), "ramp", "value.range"),
    "a without b": (Fourier(5.0, (0.1, 0.2), (0.1,)), "a", "value.count"),
    "no levels": (Bangs(5.0, (), 0.1), "levels", "value.count"),
    "no rest": (Bangs(5.0, (0.2, -0.1), 0.1), "levels", "value.conflict"),
    "a long ramp": (Bangs(3.0, (0.1, -0.1), 1.1), "ramp", "value.range"),
    "one control point": (Spline(5.0, (0.1,)), "control", "value.count"),
    "one row": (Table((0.0,), (0.1,)), "times", "value.count"),
    "table too short": (Table((0.0, 1.0), (0.1, 0.2)), "times", "value.range"),
    "table too late": (Table((1.0, 9.0), (0.1, 0.2)), "times", "value.range"),
    "no motion": (0.3, "", "value.type"),
}


@pytest.mark.parametrize("case", BAD_PARTS)
def test_motions_that_cannot_be(case, model):
    motion, place, code = BAD_PARTS[case]
    fault = the_fault(Plan(5.0, motions={"arm_1": motion}), model)
    assert fault.place == f"motion 'arm_1'{'.' * bool(place)}{place}"
    assert fault.code == code


@pytest.mark.parametrize(
    ("command", "place", "code"),
    [
        (Pulses(((0.0, -1.0, 2.0),)), ".pulses[0]", "value.range"),
        (Pulses(((0.0, 1.0),)), ".pulses[0]", "value.count"),  # type: ignore[arg-type]
        (Pulses(((0.0, 1.0, NAN),)), ".pulses[0]", "value.range"),
        (Wave(1.0, -2.0), ".period", "value.range"),
        (Steps((0.0, 1.0), (5.0,)), ".times", "value.count"),
        (MOTIONS["hold"], "", "value.type"),
    ],
)
def test_commands_that_cannot_be(command, place, code, model):
    fault = the_fault(Plan(5.0, thrusts={"thr_1": command}), model)
    assert fault.place == f"thrust 'thr_1'{place}"
    assert fault.code == code


@pytest.mark.parametrize("duration", [0.0, -1.0, NAN, float("inf"), "long", None, True])
def test_a_duration_is_needed(duration, model):
    assert the_fault(Plan(duration), model).place == "duration"


@pytest.mark.parametrize(
    ("start", "place"),
    [
        (Start(position=(0.0, 0.0)), "start.position"),
        (Start(attitude=(0.0, 0.0, 0.0, 2.0)), "start.attitude"),
        (Start(rate=(0.0, NAN, 0.0)), "start.rate[1]"),
        (Start(coordinates={"arm_1": NAN}), "start.coordinates.arm_1"),
        (Start(coordinates={"arm_9": 0.1}), "start.coordinates 'arm_9'"),
        (Start(speeds={"rw": 0.1}), "start.speeds 'rw'"),
    ],
)
def test_starts_that_cannot_be(start, place, model):
    assert the_fault(Plan(5.0, start), model).place == place


def test_a_planar_root_starts_in_its_plane():
    model, tilt = load_model("cepheus"), (np.sin(0.1), 0.0, 0.0, np.cos(0.1))
    plan = Plan(5.0, Start((0, 0, 0), tilt, (0.0, 0.0, 0.1), (0.1, 0.0, 0.0)))
    assert [f.place for f in faults_of(plan, model)] == [
        "start.rate",
        "start.velocity",
        "start.attitude",
    ]
    Plan(5.0, Start((1, 2, 0), (0, 0, 0.6, 0.8), (1, 2, 0), (0, 0, 0.1))).check(model)


def test_a_fixed_root_does_not_move():
    model = load_model("cepheus")
    model = replace(model, root=replace(model.root, type="fixed"))
    assert the_fault(Plan(5.0, Start(rate=(0.0, 0.0, 0.1))), model).code == "plan.held"
    pushed = Plan(5.0, wrench={"force.x": Wave(1.0, 1.0)})
    assert the_fault(pushed, model).code == "plan.held"


@pytest.mark.parametrize("name", ["force.z", "torque.x"])
def test_a_planar_root_is_pushed_in_its_plane(name):
    plan = Plan(5.0, wrench={name: Wave(1.0, 1.0)})
    fault = the_fault(plan, load_model("cepheus"))
    assert fault.code == "plan.held" and "torque.z, force.x, force.y" in fault.expected


def test_unknown_names_get_a_guess(model):
    plan = Plan(
        5.0,
        motions={"arm1": Hold(0.0)},
        torques={"nobody": COMMANDS["wave"]},
        feedback={"arm_77": Feedback(1.0, 1.0)},
        thrusts={"thr1": COMMANDS["pulses"]},
        wrench={"force.X": COMMANDS["wave"]},
    )
    guesses = {f.place: re.findall("'(.*)'", f.remedy) for f in faults_of(plan, model)}
    assert guesses == {
        "motion 'arm1'": ["arm_1"],
        "torque 'nobody'": [],
        "feedback 'arm_77'": ["arm_7"],
        "thrust 'thr1'": ["thr_1"],
        "wrench 'force.X'": ["force.x"],
    }


def test_roles_decide_what_may_be_asked(model):
    plan = Plan(
        5.0,
        motions={"arm_7": Hold(0.1), "hinge_l1": Hold(0.0), "arm_6": Hold(0.8)},
        torques={"arm_1": COMMANDS["wave"], "hinge_r1": COMMANDS["wave"]},
        feedback={"arm_2": Feedback(1.0, 1.0)},
    )
    told = {fault.place: fault.value for fault in faults_of(plan, model)}
    assert told == {
        "motion 'arm_7'": "role 'torque'",
        "motion 'hinge_l1'": "role 'passive'",
        "motion 'arm_6'": "role 'locked'",
        "torque 'arm_1'": "role 'motion'",
        "torque 'hinge_r1'": "role 'passive'",
        "feedback 'arm_2'": "role 'motion'",
    }
    Plan(5.0, motions={"arm_7": Hold(0.1)}, feedback={"arm_7": Feedback(1.0, 0.1)}).check(model)
    Plan(5.0, torques={"arm_7": COMMANDS["wave"]}).check(model)


@pytest.mark.parametrize(
    ("part", "place"),
    [
        (Feedback(-1.0, 0.1), ".kp"),
        (Feedback(1.0, 0.1, -2.0), ".limit"),
        (Feedback(NAN, 0.1), ".kp"),
        ((1.0, 2.0), ""),
    ],
)
def test_feedback_that_cannot_be(part, place, model):
    fault = the_fault(Plan(5.0, feedback={"arm_7": part}), model)
    assert fault.place == f"feedback 'arm_7'{place}"


def test_a_closed_loop_leaves_nothing_to_others():
    model, control = load_model("planar-capture"), CaptureControl()
    Plan(5.0, control=control).check(model)
    plan = Plan(5.0, control=control, motions={"arm_1": Hold(1.0)}, thrusts={"thr_1": Wave(1, 1)})
    assert [fault.code for fault in faults_of(plan, model)] == ["value.conflict"] * 2
    fault = the_fault(Plan(5.0, control=CaptureControl(max_force=-1.0)), model)
    assert fault.place == "control.max_force"


def test_a_start_must_agree_with_the_motion(model):
    start = Start(coordinates={"arm_1": 0.3})
    fault = the_fault(Plan(5.0, start, motions={"arm_1": Hold(0.2)}), model)
    assert (fault.code, fault.value) == ("value.conflict", "0.3")
    Plan(5.0, start, motions={"arm_1": Hold(0.3)}).check(model)
    Plan(5.0, start).check(model)  # nothing moves it: it is held there


def test_all_faults_come_at_once(model):
    plan = Plan(
        -1.0,
        Start(attitude=(0, 0, 0, 3)),
        motions={"arm_1": Moves((0, 1), (0,)), "arm_x": Hold(NAN)},
        thrusts={"thr_99": Wave(1.0, 0.0)},
        name="",
    )
    places = [fault.place for fault in faults_of(plan, model)]
    assert places == [
        "name",
        "duration",
        "start.attitude",
        "motion 'arm_1'.times",
        "motion 'arm_x'.value",
        "thrust 'thr_99'.period",
        "motion 'arm_x'",
        "thrust 'thr_99'",
    ]


def test_what_a_plan_does_not_mention_stays(model):
    system = flatten(model)
    plan = Plan(5.0, Start(coordinates={"arm_3": 0.7}))
    t = np.array([0.0, 5.0])
    assert plan.motion_of("arm_1", model) == Hold(0.2)
    assert plan.motion_of("arm_3", model) == Hold(0.7)
    np.testing.assert_array_equal(plan.motion_of("rw_2", model).at(t)[1], [-100.0, -100.0])
    state = plan.start_state(system)
    assert state[13 + system.coordinates.index("arm_3")] == 0.7
    assert state[13 + system.n_coordinates + system.coordinates.index("rw_1")] == 100.0
