"""The closed loop of paper 001: eqs 39-41 in closed form, the smallest joint accelerations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import Start, System, balance, flatten, inverse_dynamics, mass_matrix
from freefloat.dynamics.closed_loop import ClosedLoop, integrate_closed_loop
from freefloat.dynamics.frames import rotations
from freefloat.errors import FreefloatError
from freefloat.excitation import CaptureControl, Plan
from freefloat.model import Model, Orbit, Wheel, load_model
from freefloat.prediction.simulate import simulate

LAW = (np.sqrt(0.5), 0.25, 1.0, 10.0, 1.0, 10.0)  # K_D, K_P, gains and limits of the paper
PLANAR = Start(velocity=(1.0, 2.0, 0.0), rate=(0.0, 0.0, 0.1))
SPATIAL = Start(velocity=(10.0, 20.0, 30.0), rate=(0.1, 0.2, 0.3))


def fly(model: Model, start: Start, *, law=LAW, seconds: float = 10.0, every: int = 10):
    system = flatten(model)
    x = start.vector(system)
    return system, integrate_closed_loop(system, x, law, duration=seconds, every=every)


def eq_39(t, angle, rate, *, damping=LAW[0], stiffness=LAW[1]):
    """The angle that obeys dde + damping de + stiffness e = 0 (underdamped)."""
    decay = damping / 2.0
    w = np.sqrt(stiffness - decay**2)
    swing = angle * np.cos(w * t) + (rate + decay * angle) / w * np.sin(w * t)
    return np.exp(-decay * t) * swing


def yaw_pitch_roll(states: np.ndarray) -> np.ndarray:
    R = rotations(states)
    yaw, roll = np.arctan2(R[:, 1, 0], R[:, 0, 0]), np.arctan2(R[:, 2, 1], R[:, 2, 2])
    return np.column_stack([yaw, -np.arcsin(R[:, 2, 0]), roll])


@pytest.mark.parametrize("name", ["planar-capture-small", "planar-capture", "planar-capture-large"])
def test_the_planar_attitude_peaks_as_in_the_paper(name):
    _, run = fly(load_model(name), PLANAR, every=1)
    angle = 2.0 * np.arctan2(run.states[:, 5], run.states[:, 6])
    # RK4 with 1 ms on a motion of a few seconds
    np.testing.assert_allclose(angle, eq_39(run.times, 0.0, 0.1), atol=1e-12)
    assert angle.max() == pytest.approx(0.0911876, abs=5e-8)  # the digits known
    assert run.times[np.argmax(angle)] == pytest.approx(2.22144, abs=6e-4)  # to the step


def test_thrust_takes_away_momentum():
    system, run = fly(load_model("planar-capture"), PLANAR)
    at = balance(system, run.states)
    lost = at.linear_momentum[-1] - at.linear_momentum[0]
    np.testing.assert_allclose(lost, [-100.0, -100.0, 0.0], atol=1e-9)  # 10 N for 10 s
    np.testing.assert_array_equal(run.wrench[:, 3:5], -10.0)
    assert np.all(run.wrench[:, [0, 1, 5]] == 0.0)  # a planar root
    assert np.all(run.states[:, [2, 3, 4, 9, 10, 11]] == 0.0)


def test_torque_takes_away_angular_momentum():
    system, run = fly(load_model("planar-capture"), PLANAR)
    at = balance(system, run.states)
    spin = at.angular_momentum_about_com[:, 2]
    np.testing.assert_allclose(run.wrench[:, 2], np.clip(-spin, -10.0, 10.0), atol=1e-9)
    # The force acts at the sensor, away from the centre of mass, so it turns the whole too.
    arm = run.states[:, :3] - at.com
    turned = np.cross(arm, run.wrench[:, 3:])[:, 2] + run.wrench[:, 2]
    slope = np.gradient(spin, run.times, edge_order=2)
    np.testing.assert_allclose(slope[2:-2], turned[2:-2], atol=1e-2)  # differences over 10 ms


def test_the_spatial_attitude_obeys_eq_39_in_every_angle():
    turn = np.array([0.2, -0.1, 0.15])  # a start away from zero in all three
    half = np.sin(np.linalg.norm(turn) / 2.0) * turn / np.linalg.norm(turn)
    start = replace(SPATIAL, attitude=(*half.tolist(), float(np.cos(np.linalg.norm(turn) / 2.0))))
    _, run = fly(load_model("spatial-capture"), start)
    angles = yaw_pitch_roll(run.states)
    _, pitch, roll = angles[0]
    wx, wy, wz = start.rate
    dyaw = (wy * np.sin(roll) + wz * np.cos(roll)) / np.cos(pitch)
    dpitch = wy * np.cos(roll) - wz * np.sin(roll)
    droll = wx + dyaw * np.sin(pitch)
    for k, rate in enumerate((dyaw, dpitch, droll)):
        # RK4 with 1 ms; the law is met at every stage
        np.testing.assert_allclose(angles[:, k], eq_39(run.times, angles[0, k], rate), atol=1e-10)


def smallest(system: System, run: ClosedLoop, row: int) -> np.ndarray:
    """The smallest joint accelerations that give the root its angular acceleration, by NumPy."""
    every = tuple(replace(joint, role="torque") for joint in system.model.joints)
    free = flatten(replace(system.model, joints=every))
    state, n = run.states[row], system.n_coordinates
    R = rotations(state[None])[0]
    H = np.zeros((6 + n, 6 + n))
    H[np.ix_(free.tree.free, free.tree.free)] = mass_matrix(free, state[13 : 13 + n])
    still = np.zeros((1, 6))
    q = np.stack([state[13 : 13 + n], state[13 + n :], np.zeros(n)], axis=-1)[None]
    bias = inverse_dynamics(free, state[None, 10:13], still, q)[0, :6]
    push = np.concatenate([R.T @ run.wrench[row, :3], R.T @ run.wrench[row, 3:]]) - bias
    turning = [g for g in range(3) if g in free.tree.free]
    sliding = [g for g in range(3, 6) if g in free.tree.free]
    # Eliminate the linear acceleration from the turning rows.
    carry = H[np.ix_(turning, sliding)] @ np.linalg.inv(H[np.ix_(sliding, sliding)])
    rows = H[turning] - carry @ H[sliding]
    wanted = push[turning] - carry @ push[sliding] - rows[:, turning] @ alpha(run, row)[turning]
    return np.linalg.pinv(rows[:, 6:]) @ wanted


def alpha(run: ClosedLoop, row: int) -> np.ndarray:
    """The root's angular acceleration: eq. 39 through the derivative of R(yaw, pitch, roll)."""

    def rate_of(angles, rates):
        (_, pitch, roll), (dyaw, dpitch, droll) = angles, rates
        return np.array(
            [
                droll - dyaw * np.sin(pitch),
                dpitch * np.cos(roll) + dyaw * np.cos(pitch) * np.sin(roll),
                -dpitch * np.sin(roll) + dyaw * np.cos(pitch) * np.cos(roll),
            ]
        )

    angles = yaw_pitch_roll(run.states[row : row + 1])[0]
    E = np.column_stack([rate_of(angles, unit) for unit in np.eye(3)])
    rates = np.linalg.solve(E, run.states[row, 10:13])
    second = -LAW[0] * rates - LAW[1] * angles
    h = 1e-6
    a, b = (rate_of(angles + s * rates, rates + s * second) for s in (-h, h))
    return (b - a) / (2.0 * h)


@pytest.mark.parametrize(
    ("name", "start"), [("planar-capture", PLANAR), ("spatial-capture", SPATIAL)]
)
def test_joint_accelerations_are_the_smallest(name, start):
    system, run = fly(load_model(name), start, every=1000)
    for row in range(len(run.times)):
        # alpha comes from differences with 1e-6, good to about 1e-9
        expected = smallest(system, run, row)
        np.testing.assert_allclose(run.accelerations[row], expected, atol=1e-8, rtol=1e-7)


def test_force_and_torque_saturate_per_axis():
    start = Start(velocity=(0.01, -0.004, 0.03), rate=(0.01, 0.002, -0.3))
    model = load_model("spatial-capture")
    law = (*LAW[:2], 0.8, 6.0, 0.5, 4.0)
    system, run = fly(model, start, law=law)
    at = balance(system, run.states)
    force = np.clip(-0.8 * at.linear_momentum, -6.0, 6.0)
    torque = np.clip(-0.5 * at.angular_momentum_about_com, -4.0, 4.0)
    np.testing.assert_allclose(run.wrench[:, 3:], force, atol=1e-9)  # rounding of the sums
    np.testing.assert_allclose(run.wrench[:, :3], torque, atol=1e-9)
    is_full = np.isclose(np.abs(run.wrench), [4.0] * 3 + [6.0] * 3)
    assert is_full.any(axis=1).any() and not is_full.all(axis=1).any()  # each by itself


def test_a_simulated_capture_is_this_loop():
    model = load_model("planar-capture")
    flight = simulate(model, Plan(10.0, PLANAR, control=CaptureControl()), seed=1)
    assert flight.truth is not None
    system, run = fly(model, PLANAR, every=100)
    np.testing.assert_array_equal(flight.truth["base.rate.z"].values, run.states[:, 12])
    np.testing.assert_array_equal(flight["base.force.x"].values, run.wrench[:, 3])
    np.testing.assert_array_equal(flight["base.torque.z"].values, run.wrench[:, 2])
    q = run.states[:, 13 + system.coordinates.index("arm_2")]
    np.testing.assert_array_equal(flight.truth["arm_2.position"].values, q)
    # The joint torques that do it, by inverse dynamics of the whole motion.
    c, acceleration = system.n_coordinates, np.zeros((len(q), 6))
    for k, axis in enumerate("xy"):
        acceleration[:, 3 + k] = flight.truth[f"base.acceleration.{axis}"].values
    angle = 2.0 * np.arctan2(run.states[:, 5], run.states[:, 6])
    acceleration[:, 2] = -LAW[0] * run.states[:, 12] - LAW[1] * angle
    joints = [run.states[:, 13 : 13 + c], run.states[:, 13 + c :], run.accelerations]
    forces = inverse_dynamics(system, run.states[:, 10:13], acceleration, np.stack(joints, axis=-1))
    torques = [flight.truth[f"arm_{i}.torque"].values for i in (1, 2, 3)]
    np.testing.assert_allclose(np.transpose(torques), forces[:, 6:], atol=1e-9)


def test_what_the_loop_cannot_do_is_told():
    model = load_model("spatial-capture")
    bare = dict.fromkeys(("targets", "frames", "sensors", "capsules"), ())
    cases = {
        "fixed root": ("loop.model", replace(model, root=replace(model.root, type="fixed"))),
        "1 rotors": ("loop.model", replace(model, wheels=(Wheel("rw", "bus", (0, 0, 1), 0.1),))),
        "0 coordinates": ("loop.model", replace(model, bodies=model.bodies[:1], joints=(), **bare)),
        "orbit": ("loop.gravity", replace(model, orbit=Orbit(7e6))),
    }
    for what, (code, changed) in cases.items():
        with refused(FreefloatError, code, naming=what):
            fly(changed, Start())
    with refused(FreefloatError, "duration.records"):
        fly(model, Start(), seconds=1.0005)
    with refused(FreefloatError, "loop.singular"):
        upright = {joint.name: 0.0 for joint in model.joints}
        gimbal = (0.0, float(np.sin(np.pi / 4)), 0.0, float(np.cos(np.pi / 4)))
        fly(model, Start(attitude=gimbal, rate=(0.1, 0.2, 0.3), coordinates=upright))
