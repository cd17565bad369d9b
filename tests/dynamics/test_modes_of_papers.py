"""Modes: the figures of papers 000 and 004, closed forms, and what a simulation rings with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import Start, flatten, mass_matrix
from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.modes import modes
from freefloat.errors import ModelError
from freefloat.excitation import Plan
from freefloat.model import Body, Joint, Model, Root, load_model

ONE = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)


def test_wings_of_paper_000():
    found = modes(load_model("servicer-wings"))
    # The digits known; the paper's spectrum shows 0.23 and 0.68 Hz.
    assert [m.frequency for m in found] == pytest.approx([0.140, 0.230, 0.664, 0.680], abs=5e-4)
    assert [m.damping for m in found] == pytest.approx([0.0044, 0.0072, 0.0209, 0.0214], abs=6e-5)
    assert all(name.startswith("hinge") for mode in found for name in mode.shape)


def test_slosh_of_paper_000():
    found = modes(load_model("servicer-slosh"))
    assert [m.frequency for m in found] == pytest.approx([0.0985, 0.0989], abs=6e-5)


def test_posture_moves_the_modes():
    model = load_model("servicer-wings")
    stretched = {f"arm_{i}": 0.0 for i in range(1, 8)}
    home, other = modes(model), modes(model, posture=stretched)
    assert abs(other[1].frequency - home[1].frequency) > 1e-3
    again = modes(model, posture={j.name: j.home for j in model.joints})
    assert [m.frequency for m in again] == [m.frequency for m in home]


def test_the_geared_joint_of_paper_004():
    model = load_model("cbk-arm-geared")
    system = flatten(model)
    q = np.array([c.home for c in model.assembly.coordinates])
    H = mass_matrix(system, q)  # root (3) and the link of joint 1; the motor is held
    effective = H[3, 3] - H[3, :3] @ np.linalg.solve(H[:3, :3], H[:3, 3])
    assert effective == pytest.approx(1.1544, rel=3e-4)  # the rotor's own J adds 0.02 %
    (mode,) = modes(model)
    assert 2.0 * np.pi * mode.frequency == pytest.approx(2.177, rel=3e-4)
    assert 2.0 * np.pi * mode.frequency == pytest.approx(np.sqrt(5.47 / effective), rel=1e-12)
    assert mode.damping == pytest.approx(0.1 / (2.0 * np.sqrt(5.47 * effective)), rel=1e-12)


def test_a_motor_driven_by_torque_is_held_unless_asked_otherwise():
    model = load_model("cbk-arm")
    (held,), (free,) = modes(model), modes(model, hold_torque=False)
    assert held.shape == {"arm_1": 1.0}
    assert set(free.shape) == {"arm_1", "arm_1.motor"}
    assert 2.0 * np.pi * free.frequency == pytest.approx(1.501, abs=5e-4)  # as its file states


def slider(m_1: float, m_2: float, k: float, d: float) -> Model:
    bodies = (Body("a", m_1, inertia=ONE), Body("b", m_2, (0.0, 0.0, 0.0), ONE))
    joint = Joint("slide", "prismatic", "a", "b", role="passive", stiffness=k, damping=d)
    return Model("slider", Root("a"), bodies, (joint,))


def test_two_bodies_on_a_spring():
    m_1, m_2, k, d = 3.0, 2.0, 12.0, 0.6
    (mode,) = modes(slider(m_1, m_2, k, d))
    reduced = m_1 * m_2 / (m_1 + m_2)
    omega = np.sqrt(k / reduced)
    assert mode.frequency == pytest.approx(omega / (2.0 * np.pi), rel=1e-12)
    assert mode.damping == pytest.approx(d / (2.0 * np.sqrt(k * reduced)), rel=1e-12)
    # the centre of mass stays: body a moves by -m_2 / (m_1 + m_2) for one metre of slide
    np.testing.assert_allclose(mode.root, [0, 0, 0, 0, 0, -0.4], atol=1e-12)
    assert str(mode) == "0.5033 Hz, zeta 0.0791: slide +1.00"


def test_what_does_not_swing_is_no_mode():
    assert modes(slider(3.0, 2.0, 0.0, 0.0)) == []  # no spring
    assert modes(slider(3.0, 2.0, 12.0, 100.0)) == []  # overdamped
    assert modes(load_model("cepheus")) == []  # nothing loose
    wings = load_model("servicer-wings")
    joints = tuple(replace(j, role="torque") if j.role == "motion" else j for j in wings.joints)
    loose = replace(wings, joints=joints)
    # With seven joints free to turn there are still four springs, hence four modes.
    assert len(modes(loose, hold_torque=False)) == 4
    assert len(modes(loose)) == 4


@pytest.mark.parametrize("name", ["servicer-wings", "servicer-slosh"])
def test_a_free_vibration_rings_with_the_mode(name):
    model = load_model(name)
    model = replace(
        model,
        joints=tuple(replace(j, damping=0.0) for j in model.joints),
        tanks=tuple(replace(t, damping=(0.0, 0.0)) for t in model.tanks),
    )
    system, small = flatten(model), 1e-5
    for mode in modes(model):
        plan = Plan(1.0, Start(coordinates={k: small * v for k, v in mode.shape.items()}))
        run = integrate(
            system, plan.start_state(system), plan.inputs(system), duration=10.0, step=5e-3
        )
        wave = small * np.cos(2.0 * np.pi * mode.frequency * run.times)
        for coordinate, share in mode.shape.items():
            q = run.states[:, 13 + system.coordinates.index(coordinate)]
            # Nonlinear terms are of the order of the amplitude.
            np.testing.assert_allclose(q, share * wave, atol=20.0 * small**2)


def test_damping_is_what_a_simulation_loses():
    model = slider(3.0, 2.0, 12.0, 0.6)
    (mode,) = modes(model)
    system = flatten(model)
    plan = Plan(1.0, Start(coordinates={"slide": 0.1}))
    run = integrate(system, plan.start_state(system), plan.inputs(system), duration=8.0)
    w = 2.0 * np.pi * mode.frequency
    decay, ringing = mode.damping * w, w * np.sqrt(1.0 - mode.damping**2)
    t = run.times
    wave = np.exp(-decay * t) * (np.cos(ringing * t) + decay / ringing * np.sin(ringing * t))
    np.testing.assert_allclose(run.states[:, 13], 0.1 * wave, atol=1e-11)  # RK4 with 1 ms


def test_what_moves_no_mass_is_told():
    bodies = (Body("a", 3.0, inertia=ONE), Body("b"))
    with refused(ModelError, "model.massless"):
        modes(replace(slider(3.0, 2.0, 12.0, 0.0), bodies=bodies))
    with refused(ModelError, "name.unknown", naming="arm_9"):
        modes(load_model("cepheus"), posture={"arm_9": 0.0})
