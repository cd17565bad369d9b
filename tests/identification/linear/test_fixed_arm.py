"""A fixed arm with gravity, friction and rotors, whose motors' torques are measured."""

from __future__ import annotations

import numpy as np
import pytest
from torque_flights import flown

from freefloat.excitation import default_plan
from freefloat.identification.linear.energy import ENERGY
from freefloat.identification.linear.parameter_columns import update_system
from freefloat.identification.linear.torque import TORQUE
from freefloat.identification.linear.weak import WEAK_FORM
from freefloat.model import Body, Joint, Model, Root
from freefloat.model.parts import JointLimits, Placement, Sensor

FAMILIES = {"torque": TORQUE.equations, "weak": WEAK_FORM.equations, "energy": ENERGY.equations}
LIMITS = JointLimits(-2.0, 2.0, velocity=2.0, acceleration=8.0)


def arm() -> Model:
    """Two links that swing and turn, on a stand."""
    ball = (0.1, 0.0, 0.0, 0.12, 0.0, 0.1)
    inside = {"damping": 0.6, "friction": 0.8, "friction_speed": 0.2, "armature": 0.3}
    sensors = tuple(Sensor(kind, "*", 100.0) for kind in ("encoder", "joint_rate", "motor_torque"))
    bodies = (
        Body("stand", 1.0),
        Body("upper", 2.0, (0.2, 0.0, 0.1), ball),
        Body("lower", 1.0, (0.1, 0.05, 0.1), ball),
    )
    joints = (
        Joint("shoulder", "revolute", "stand", "upper", Placement(), (0.0, 1.0, 0.0),
              limits=LIMITS, **inside),
        Joint("elbow", "revolute", "upper", "lower", Placement((0.4, 0.0, 0.0)), (0.0, 0.6, 0.8),
              limits=LIMITS, **inside),
    )  # fmt: skip
    return Model(
        "ground", Root("stand", "fixed"), bodies, joints, sensors=sensors,
        gravity=(0.0, 0.0, -9.81),
    )  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_the_truth_leaves_nothing_and_what_is_in_the_joints_is_found(family: str) -> None:
    """Without noise: friction, damping and rotors of driven joints, from what motors apply."""
    free = ("*.friction", "*.damping", "elbow.armature", "lower.mass")
    model = arm()
    plan = default_plan(model, duration=10.0)
    flight = flown(model, free=free, plan=plan, without=("joint_torque",), motors=True)
    rows = FAMILIES[family](flight.system, flight.samples, flight.values)
    left = rows.Y @ flight.truth - rows.y
    # windows and integrals over samples of smooth friction: its third derivative is cut off
    assert np.max(np.abs(left)) < 1e-3 * np.max(np.abs(rows.y))
    if family != "energy":
        names = ("shoulder.motor_torque", "elbow.motor_torque")
        assert rows.labels == names
    assert flight.error(flight.solved(FAMILIES[family])) < 0.05


def test_both_torques_of_a_joint_make_two_rows() -> None:
    model = arm()
    flight = flown(model, free=("*.friction",), plan=default_plan(model, duration=5.0), motors=True)
    rows = TORQUE.equations(flight.system, flight.samples, flight.values)
    assert rows.labels == (
        "shoulder.torque", "shoulder.motor_torque", "elbow.torque", "elbow.motor_torque",
    )  # fmt: skip
    behind = [k for k, label in enumerate(rows.labels) if not label.endswith("motor_torque")]
    assert not rows.Y[:, behind].any()  # behind the gear nothing shows of friction


def test_weights_follow_what_is_in_the_joints() -> None:
    """Rows made anew at other values of friction say the same of the truth."""
    flight = flown(
        arm(), free=("*.friction", "*.armature"), plan=default_plan(arm(), duration=5.0),
        without=("joint_torque",), motors=True,
    )  # fmt: skip
    other = update_system(flight.system, tuple(flight.values), flight.truth, 1.5 * flight.truth)
    values = dict(zip(flight.values, 1.5 * flight.truth, strict=True))
    a = TORQUE.equations(flight.system, flight.samples, flight.values)
    b = TORQUE.equations(other, flight.samples, values)
    np.testing.assert_allclose(a.y, b.y, atol=1e-12)  # rounding
