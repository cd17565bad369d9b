"""What drives a simulation that follows a recording, and what had to be assumed."""

from __future__ import annotations

from dataclasses import replace

import freefloat as ff
from freefloat.model import Sensor
from freefloat.notes import codes_of
from freefloat.prediction.inputs import inputs_from_telemetry


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
