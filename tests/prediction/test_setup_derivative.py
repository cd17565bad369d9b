"""Columns of inputs, geometry and surroundings are those of differences of whole flights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from doubtful_flights import chaser, flight, shake
from setup_differences import column_errors

import freefloat as ff
from freefloat.excitation import Plan, Pulses, Sinusoid, Wave
from freefloat.model import Model, Sensor
from freefloat.model.parts import Body, Drive, Frame, Joint, Placement, Root, Thruster, Wheel
from freefloat.prediction.flight_setup import nominal_value, setup_names, setup_size
from freefloat.prediction.predictor import Predictor, plan_predictor, predictor_of

LATE = 3.3e-3  # [s] edges inside steps


def carrier() -> Model:
    """What the chaser lacks: a fixed joint, a slide, motors, and parts that sit on links."""
    bodies = (
        Body("bus", 60.0, (0.02, -0.01, 0.03), (6.0, 0.2, -0.1, 7.0, 0.3, 5.0)),
        Body("mount", 5.0, (0.1, 0.05, 0.0), (0.1, 0.0, 0.01, 0.2, 0.0, 0.2)),
        Body("box", 3.0, (0.0, 0.1, 0.1), (0.05, 0.0, 0.0, 0.06, 0.0, 0.04)),
        Body("slide", 4.0, (0.2, 0.0, 0.1), (0.1, 0.0, 0.0, 0.3, 0.0, 0.3)),
        Body("arm", 6.0, (0.25, 0.03, 0.0), (0.05, 0.0, 0.0, 0.3, 0.0, 0.3)),
        Body("hand", 2.0, (0.1, 0.0, 0.05), (0.02, 0.0, 0.0, 0.03, 0.0, 0.03)),
        Body("tool", 1.0, (0.1, 0.02, 0.05), (0.02, 0.0, 0.0, 0.03, 0.0, 0.03)),
    )
    geared = Drive(0.02, 40.0, 0.8, friction=0.05, ratio=5.0, form="geared", role="motion")
    direct = Drive(0.03, 30.0, 0.5, role="torque")
    joints = (
        Joint("bolt", "fixed", "bus", "mount", Placement((0.3, 0.1, 0.0), (0.1, 0.2, 0.3))),
        Joint("glue", "fixed", "mount", "box", Placement((0.1, 0.0, 0.2), (0.0, 0.2, 0.0))),
        Joint("rail", "prismatic", "mount", "slide", Placement((0.2, 0.0, 0.1), (0.3, 0.0, 0.1)),
              (0.0, 0.6, 0.8)),
        Joint("elbow", "revolute", "slide", "arm", Placement((0.3, 0.1, 0.0), (0.0, 0.5, 0.0)),
              (0.0, 1.0, 0.0), role="passive", drive=geared),
        Joint("wrist", "revolute", "arm", "hand", Placement((0.4, 0.0, 0.1)), (1.0, 0.0, 0.0),
              role="passive", drive=direct),
        Joint("grip", "fixed", "hand", "tool", Placement((0.1, 0.1, 0.0), (0.0, 0.0, 0.4))),
    )  # fmt: skip
    read = (
        ("gyro", "bus"), ("attitude", "tip"), ("accelerometer", "tip"), ("accelerometer", "lid"),
        ("position", "lid"), ("velocity", "tip"), ("position", "mount"), ("joint_torque", "rail"),
        ("motor_torque", "elbow"), ("motor_encoder", "elbow"), ("motor_encoder", "wrist"),
        ("motor_rate", "wrist"), ("encoder", "elbow"), ("joint_rate", "rail"), ("encoder", "rail"),
        ("wheel_torque", "rw"), ("wheel_speed", "rw"), ("thruster", "jet"),
    )  # fmt: skip
    return Model(
        "carrier", Root("bus"), bodies, joints,
        wheels=(Wheel("rw", "slide", (0.0, 0.6, 0.8), 0.05),),
        thrusters=(Thruster("jet", "box", (0.6, 0.0, 0.8), (0.1, 0.2, 0.1)),),
        frames=(Frame("tip", "tool", Placement((0.1, 0.0, 0.1), (0.4, 0.0, 0.0))),
                Frame("lid", "box", Placement((0.0, 0.1, 0.1), (0.0, 0.3, 0.0)))),
        sensors=tuple(Sensor(kind, on, 50.0, noise=1e-4) for kind, on in read),
        gravity=(0.01, -0.02, 0.03),
    )  # fmt: skip


def carried() -> Predictor:
    plan = Plan(
        4.0,
        start=ff.Start(rate=(0.1, -0.05, 0.08), velocity=(0.01, 0.02, -0.01)),
        motions={"rail": Sinusoid(4.0, 0.05, 0.1, 2.0, 1.0),
                 "rw": Sinusoid(4.0, 0.0, 60.0, 3.0, 1.0),
                 "elbow.motor": Sinusoid(4.0, 0.2, 0.4, 3.0, 1.0)},
        torques={"wrist.motor": Wave(0.2, 2.0)},
        thrusts={"jet": Pulses(((1.0, 0.5, 4.0),))},
        wrench={"torque.z": Pulses(((0.5, 1.0, 0.5),)), "force.y": Pulses(((2.0, 1.0, 2.0),))},
    )  # fmt: skip
    return plan_predictor(carrier(), plan, step=5e-3)


def library(name: str) -> Predictor:
    model = ff.load_model(name)
    return plan_predictor(model, ff.default_plan(model, duration=4.0), step=1e-2)


CASES: dict[str, Callable[[], Predictor]] = {
    "planar": lambda: library("planar-capture"),
    "recorded": lambda: predictor_of(chaser(), flight(duration=6.0), step=1e-2, has_delays=True),
    "in orbit": lambda: plan_predictor(chaser(orbit=True), shake(6.0)),
    "everything else": carried,
}


def a_little_off(predictor: Predictor) -> dict[str, float]:
    """Everything that can be off by a few hundredths of its size, and jumps inside steps."""
    rng, model = np.random.default_rng(3), predictor.model
    return {
        name: LATE if name.endswith(".delay")
        else nominal_value(model, name) + 0.03 * setup_size(model, name) * rng.uniform(0.5, 1.5)
        for name in setup_names(model)
    }  # fmt: skip


@pytest.mark.parametrize("is_off", [False, True], ids=["as it is", "a little off"])
@pytest.mark.parametrize("case", CASES)
def test_every_column_is_that_of_differences(case, is_off):
    predictor = CASES[case]()
    values = a_little_off(predictor) if is_off else {}
    names = setup_names(predictor.model)
    errors = column_errors(predictor, values, names)
    # the rounding of flights over a step of 1e-5 of a natural size, and how far friction bends it
    assert {name: error for name, error in errors.items() if error > 1e-6} == {}


def test_columns_beside_others_are_the_same():
    predictor = CASES["recorded"]()
    setup, others = ["elbow.tilt.x", "jet_1.gain"], ["bus.mass", "start.rate.x", "bias.base.rate.x"]
    mixed = [others[0], setup[0], others[1], others[2], setup[1]]
    together, alone = predictor.at({}, mixed), predictor.at({}, setup)
    assert together is not None and alone is not None
    for k in range(len(predictor.measurements)):
        for p, name in enumerate(setup):
            a, b = together.jacobian[k][:, :, mixed.index(name)], alone.jacobian[k][:, :, p]
            # columns are worked on four at a time: only the rounding of fused sums may differ
            assert np.allclose(a, b, rtol=1e-12, atol=1e-12 * np.max(np.abs(b), initial=0.0))


def test_what_does_not_act_has_no_column():
    predictor = CASES["recorded"]()
    found = predictor.at({}, ["rw.zero", "mast.zero", "shoulder.tilt.z"])
    assert found is not None
    sizes = [max(np.max(np.abs(J[:, :, p])) for J in found.jacobian) for p in range(3)]
    assert sizes[:2] == [0.0, 0.0], "a rotor looks the same at any angle; the mast is driven"
    assert sizes[2] < 1e-12, "a turn about the axis itself, there and back: rounding"


def test_a_thinner_flight_keeps_its_columns():
    predictor = CASES["everything else"]()
    names = ["elbow.motor.gear", "jet.gain", "bolt.offset.x"]
    segment = predictor.fly({}, names)
    thin, whole = segment.thin(2).tangent, segment.tangent
    assert np.array_equal(thin.of_position("elbow.motor"), whole.of_position("elbow.motor")[::2])
    assert np.array_equal(thin.pushes[0], whole.pushes[0][::2])
    assert whole.of_rate("elbow.motor").any() and whole.pushes[0].any()
