"""What drives a simulation that follows a recording, and what had to be assumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import freefloat as ff
from freefloat.excitation import Wave
from freefloat.model import Sensor
from freefloat.model.urdf import read_urdf
from freefloat.notes import codes_of
from freefloat.prediction.inputs import inputs_from_telemetry
from freefloat.prediction.predictor import predictor_of

TURNTABLE = """<robot name="turntable"><link name="world"/><link name="table"><inertial>
<mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial>
</link><joint name="axle" type="continuous"><parent link="world"/><child link="table"/>
<axis xyz="0 0 1"/><dynamics friction="0.3" damping="0.2"/></joint></robot>"""


def test_a_torque_behind_a_joint_has_its_friction_in_it_already():
    sensors = Sensor("joint_torque", "*", 100.0, noise=1e-4), Sensor("gyro", "table", 100.0)
    model = replace(read_urdf(TURNTABLE), sensors=sensors).with_joint(
        "axle", role="torque", friction_speed=0.01
    )
    flight = ff.simulate(model, ff.Plan(5.0, torques={"axle": Wave(0.9, 3.0)}), seed=1)
    assert "axle.position" not in flight
    predictor = predictor_of(model, flight, step=1e-2)
    (k,) = (k for k, m in enumerate(predictor.measurements) if m.sensor.kind == "gyro")
    prediction = predictor.at({})
    off = np.sqrt(np.mean(prediction.residuals[k][:, 2] ** 2))
    # the torque is known at the samples only, and jumps where friction turns round
    assert off < 0.02 * np.std(prediction.values[k][:, 2])


def test_what_is_assumed_of_the_inputs_is_noted():
    model = ff.load_model("cepheus").with_joint("arm_2", role="torque")
    spun = replace(model, wheels=tuple(replace(wheel, speed=50.0) for wheel in model.wheels))
    sensors = (*spun.sensors, Sensor("joint_torque", "arm_2", 100.0))
    flight = ff.simulate(spun, ff.Plan(1.0), sensors=sensors, step=1e-2)
    assert not inputs_from_telemetry(spun, flight).notes
    source = inputs_from_telemetry(
        spun, flight.without(["rw_z.*", "arm_2.position", "arm_2.velocity"])
    )
    assert set(codes_of(source.notes)) == {"inputs.speed_assumed", "inputs.recorded_torque"}
