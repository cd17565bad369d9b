"""An arm on the ground is graded as a free-floating robot is: payload, friction, scale, report."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("mujoco")

import ground_arm

import freefloat as ff

SEED, DURATION = 2, 5.0
FREE = ("link_7.*", "*.friction", "*.damping")
MOST = 4.0  # theory: total standard deviations, of 24 numbers; by chance once in 600 tests


@pytest.fixture(scope="module")
def true(tmp_path_factory):
    return ground_arm.arm(tmp_path_factory.mktemp("arm"))


@pytest.fixture(scope="module")
def flight():
    return ground_arm.flown(SEED, DURATION)


@pytest.fixture(scope="module")
def fit(true, flight):
    """Payload, friction and damping a third off, the other links as they are."""
    wrong = ground_arm.wrong(true, 1)
    calibrated = tuple(
        replace(s, gain_uncertainty=0.002) if s.kind == "motor_torque" else s for s in true.sensors
    )
    bodies = tuple(wrong.body(b.name) if b.name == "link_7" else b for b in true.bodies)
    joints = tuple(
        replace(own, friction=off.friction, damping=off.damping)
        for own, off in zip(true.joints, wrong.joints, strict=True)
    )
    model = replace(true, sensors=calibrated, bodies=bodies, joints=joints)
    return ff.identify(model, ff.Parameters(model).free(*FREE), flight)


def test_a_right_arm_is_believed(fit):
    codes = [e.code for e in fit.assessment.evidence]
    assert fit.assessment.grade == "trusted", codes
    assert "assessment.not_converged" not in codes


def test_total_deviations_hold_the_truth(true, fit):
    joints = {joint.name: joint for joint in true.joints}
    checked = 0
    for estimate in fit.estimates:
        owner, field = estimate.name.rsplit(".", 1)
        if estimate.total_std is None or owner not in joints:
            continue
        assert abs(estimate.value - getattr(joints[owner], field)) < MOST * estimate.total_std
        checked += 1
    assert checked == 14
    mass = fit["link_7.mass"]
    assert abs(mass.value - true.body("link_7").mass) < MOST * mass.total_std < 0.2


def test_nothing_of_thrust_is_advised(fit):
    said = [str(fit.scale), *(str(note) for note in fit.notes)]
    said += [f"{e.text} {e.remedy}" for e in fit.assessment.evidence]
    assert not any("thrust" in text for text in said)


def test_it_has_a_report(fit, flight, tmp_path):
    page = tmp_path / "fit.html"
    fit.save_report(page, flight)
    text = page.read_text(encoding="utf-8")
    assert "joint_1.friction" in text and "joint_7.motor_torque" in text
