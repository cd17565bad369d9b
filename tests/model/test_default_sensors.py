"""A robot alone: the usual sensors where a file names none, and they are said."""

from __future__ import annotations

import pytest
from model_samples import URDF

import freefloat as ff
from freefloat.model.checks import structure_faults
from freefloat.model.default_sensors import USUAL, with_default_sensors
from freefloat.model.urdf import read_urdf
from freefloat.notes import codes_of


def test_a_bare_urdf_gets_the_usual_set_and_a_note():
    model = with_default_sensors(read_urdf(URDF))
    kinds = [sensor.kind for sensor in model.sensors]
    assert kinds == ["gyro", "attitude", "encoder", "joint_rate", "motor_torque"]
    assert structure_faults(model) == []
    assert codes_of(model.notes)[-1] == "substituted.sensors"
    for kind in kinds:  # every number that is taken stands in the note
        assert f"{kind} {USUAL[kind].noise:g} {USUAL[kind].unit}" in model.notes[-1]
        assert f"at {USUAL[kind].rate:g} Hz" in model.notes[-1]


def test_a_sliding_joint_has_noise_in_metres():
    model = with_default_sensors(read_urdf(URDF.replace('type="revolute"', 'type="prismatic"')))
    noise = {(s.kind, s.on): s.noise for s in model.sensors}
    sliding = USUAL["encoder"].sliding
    assert sliding is not None
    assert noise["encoder", "arm_1"] == sliding[0]
    assert noise["encoder", "arm_2"] == USUAL["encoder"].noise


def test_wheels_and_thrusters_are_read_too_and_a_fixed_root_has_no_gyro():
    servicer = ff.load_model("servicer")
    bare = ff.Model(servicer.name, servicer.root, servicer.bodies, servicer.joints,
                    wheels=servicer.wheels, thrusters=servicer.thrusters)  # fmt: skip
    model = with_default_sensors(bare)
    assert {"wheel_speed", "thruster"} <= {sensor.kind for sensor in model.sensors}
    fixed = ff.Model("f", ff.model.Root("bus", "fixed"), bare.bodies, bare.joints)
    assert "gyro" not in {sensor.kind for sensor in with_default_sensors(fixed).sensors}


def test_a_model_with_sensors_keeps_them():
    model = ff.load_model("cepheus")
    assert with_default_sensors(model) is model


def test_design_simulation_and_identifiability_need_no_sensors():
    model = read_urdf(URDF)
    wanted = ff.Parameters(model).free("bus.i*")
    seen = ff.identifiability(model, wanted, plan=ff.default_plan(model, duration=10.0))
    assert "substituted.sensors" in codes_of(seen.notes) and seen.rank == 6
    flight = ff.simulate(model, ff.default_plan(model, duration=2.0), seed=1)
    assert "base.rate.x" in flight and "gyro" in flight.metadata["sensors"]
    with pytest.raises(ff.FreefloatError):
        ff.simulate(model, ff.default_plan(model, duration=2.0), sensors=())
