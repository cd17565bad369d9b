"""Targets: grasped, released and swapped, always as a new model."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest
from fault_codes import refused
from model_samples import TOML

from freefloat.errors import ModelError
from freefloat.model import Body, Capsule, Frame, Placement, Sensor, Wheel
from freefloat.model.checks import sensor_targets, structure_faults
from freefloat.model.model_file import read_model_text

HELD = read_model_text(TOML)
EMPTY = HELD.release("debris")
ROCK = Body("rock", 40.0, (0.0, 0.0, 0.2), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))

ON_TARGET = replace(
    HELD,
    frames=(*HELD.frames, Frame("grapple", "debris")),
    sensors=(
        *HELD.sensors,
        Sensor("gyro", "grapple", 1.0),
        Sensor("velocity", "debris", 1.0),
        Sensor("position", "deb*", 1.0),
        Sensor("wheel_speed", "their_wheel", 1.0),
    ),
    capsules=(*HELD.capsules, Capsule("debris", (0, 0, 0), (0, 0, 1), 0.2)),
    wheels=(*HELD.wheels, Wheel("their_wheel", "debris", (0, 0, 1), 0.1)),
)


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
    assert structure_faults(ON_TARGET) == []
    left = ON_TARGET.release("debris")
    assert left == EMPTY
    (note,) = left.notes
    for part in ("wheel their_wheel", "frame grapple", "a capsule", "gyro on grapple"):
        assert part in note
    assert "wheel_speed on their_wheel" in note and "position on deb*" in note


@pytest.mark.parametrize("name", ["debris", "rock"])
def test_what_sits_on_a_target_moves_to_the_one_it_is_swapped_for(name):
    swapped = ON_TARGET.swap("debris", replace(ROCK, name=name))
    assert structure_faults(swapped) == []
    assert len(swapped.sensors) == len(ON_TARGET.sensors)
    old, new = ([sensor_targets(m, s) for s in m.sensors] for m in (ON_TARGET, swapped))
    assert new == [[name if one == "debris" else one for one in read] for read in old]
    for kind in ("frames", "capsules", "wheels"):
        assert [part.body for part in getattr(swapped, kind)][-1] == name


@pytest.mark.parametrize(
    ("act", "code", "part"),
    [
        (lambda: HELD.grasp(replace(ROCK, name="debris"), on="bus"), "name.duplicate", "debris"),
        (lambda: HELD.grasp(replace(ROCK, name="wheel_x"), on="bus"), "name.duplicate", "wheel_x"),
        (lambda: EMPTY.grasp(replace(ROCK, mass=-4.0), on="bus"), "model.inertia", "-4 kg"),
        (lambda: EMPTY.grasp(replace(ROCK, mass=nan), on="bus"), "value.range", "nan"),
        (lambda: HELD.swap("debris", replace(ROCK, mass=-4.0)), "model.inertia", "-4 kg"),
        (lambda: HELD.grasp(ROCK, on="hand"), "name.unknown", "bus, link_1"),
        (
            lambda: HELD.grasp(ROCK, on="gripper", placement=Placement((1, 0, 0))),
            *("value.conflict", "'link_2'"),
        ),
        (lambda: HELD.release("rock"), "name.unknown", "debris"),
        (lambda: EMPTY.release("debris"), "name.unknown", "'debris'"),
        (lambda: HELD.swap("rock", ROCK), "name.unknown", "debris"),
        (lambda: HELD.swap("debris", replace(ROCK, name="bus")), "name.duplicate", "bus"),
        (lambda: HELD.body("nobody"), "name.unknown", "bus, link_1"),
        (lambda: HELD.joint("arm_7"), "name.unknown", "arm_1, slide"),
        (lambda: HELD.with_body(ROCK), "name.unknown", "bus, link_1"),
    ],
)
def test_mistakes_are_told_with_what_is_known(act, code, part):
    with refused(ModelError, code, naming=part):
        act()


def test_with_body_and_with_joint():
    changed = HELD.with_body(replace(HELD.body("debris"), mass=81.0))
    assert changed.body("debris").mass == 81.0
    assert changed.with_joint("slide", role="torque").joint("slide").role == "torque"
    assert HELD.joint("slide").role == "locked"
