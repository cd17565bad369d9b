"""Targets: grasped, released and swapped, always as a new model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_samples import TOML

from freefloat.errors import ModelError
from freefloat.model import Body, Capsule, Frame, Placement, Sensor, Wheel
from freefloat.model.checks import structure_faults
from freefloat.model.toml import read_toml_text

HELD = read_toml_text(TOML)
EMPTY = HELD.release("debris")
ROCK = Body("rock", 40.0, (0.0, 0.0, 0.2), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))


def test_release_takes_the_target_and_its_mass():
    assert EMPTY.targets == ()
    assert pytest.approx(HELD.mass - 80.0) == EMPTY.mass
    assert HELD.targets  # the model it was called on is as it was
    assert structure_faults(EMPTY) == []


def test_grasp_on_a_body_and_on_a_frame():
    place = Placement((0.0, 0.0, 0.1))
    assert EMPTY.grasp(ROCK, on="gripper") == EMPTY.grasp(ROCK, on="link_2", placement=place)
    held = EMPTY.grasp(ROCK, on="gripper")
    assert held.body("rock") == ROCK
    assert held.assembly.bodies[-3].name == "rock"
    assert structure_faults(held) == []


def test_grasping_and_releasing_gives_the_model_back():
    assert EMPTY.grasp(ROCK, on="gripper").release("rock") == EMPTY


def test_swap_keeps_place_and_order():
    two = HELD.grasp(ROCK, on="bus")
    swapped = two.swap("debris", replace(ROCK, name="boulder"))
    assert [target.name for target in swapped.targets] == ["boulder", "rock"]
    assert swapped.targets[0].placement == HELD.targets[0].placement
    heavier = two.swap("rock", replace(ROCK, mass=50.0))
    assert heavier.body("rock").mass == 50.0


def test_what_sits_on_a_target_leaves_with_it():
    on_target = replace(
        HELD,
        frames=(*HELD.frames, Frame("grapple", "debris")),
        sensors=(*HELD.sensors, Sensor("gyro", "grapple", 1.0), Sensor("position", "debris", 1.0)),
        capsules=(*HELD.capsules, Capsule("debris", (0, 0, 0), (0, 0, 1), 0.2)),
        wheels=(*HELD.wheels, Wheel("their_wheel", "debris", (0, 0, 1), 0.1)),
    )
    assert structure_faults(on_target) == []
    assert on_target.release("debris") == EMPTY
    same_name = on_target.swap("debris", replace(ROCK, name="debris"))
    assert len(same_name.sensors) == len(on_target.sensors)
    assert structure_faults(same_name) == []
    assert structure_faults(on_target.swap("debris", ROCK)) == []


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: HELD.grasp(replace(ROCK, name="debris"), on="bus"), "already has a part"),
        (lambda: HELD.grasp(replace(ROCK, name="wheel_x"), on="bus"), "already has a part"),
        (lambda: HELD.grasp(ROCK, on="hand"), "no body or frame called 'hand'; known: bus"),
        (lambda: HELD.grasp(ROCK, on="gripper", placement=Placement((1, 0, 0))), "name the body"),
        (lambda: HELD.release("rock"), "no target called 'rock'; known: debris"),
        (lambda: EMPTY.release("debris"), "known: none"),
        (lambda: HELD.swap("rock", ROCK), "no target called 'rock'"),
        (lambda: HELD.swap("debris", replace(ROCK, name="bus")), "already has a part"),
        (lambda: HELD.body("nobody"), "no body called 'nobody'"),
        (lambda: HELD.joint("arm_7"), "no joint called 'arm_7'; known: arm_1, slide"),
        (lambda: HELD.with_body(ROCK), "no body called 'rock'"),
    ],
)
def test_mistakes_are_told_with_what_is_known(act, message):
    with pytest.raises(ModelError, match=message):
        act()


def test_with_body_and_with_joint():
    changed = HELD.with_body(replace(HELD.body("debris"), mass=81.0))
    assert changed.body("debris").mass == 81.0
    assert changed.with_joint("slide", role="torque").joint("slide").role == "torque"
    assert HELD.joint("slide").role == "locked"
