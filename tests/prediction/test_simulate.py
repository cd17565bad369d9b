"""Simulated flights: every model flies, sensors see the physics, the truth stays apart."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fault_codes import refused
from scipy.interpolate import CubicSpline

from freefloat.dynamics import Start, balance, flatten, inverse_dynamics, mass_matrix
from freefloat.errors import ExcitationError, FreefloatError, ModelError, TelemetryError
from freefloat.excitation import (
    Feedback,
    Hold,
    Moves,
    Plan,
    Pulses,
    Sinusoid,
    Speeds,
    Steps,
    Wave,
    default_plan,
)
from freefloat.model import (
    Body,
    Joint,
    Model,
    Root,
    Sensor,
    Thruster,
    builtin_models,
    load_model,
)
from freefloat.model.rotations import matrix_from_quaternion
from freefloat.prediction.flight_summary import attitudes, true_states
from freefloat.prediction.simulate import simulate
from freefloat.telemetry import Telemetry

NAMES = [model.name for model in builtin_models()]
ONE = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)


@cache
def flown(name: str, *, duration: float = 2.0, seed: int = 1) -> Telemetry:
    model = load_model(name)
    return simulate(model, default_plan(model, duration=duration), seed=seed)


def truth_of(flight: Telemetry) -> Telemetry:
    assert flight.truth is not None
    return flight.truth


def vectors(flight: Telemetry, name: str, axes: str = "xyz") -> np.ndarray:
    return flight.matrix([f"{name}.{axis}" for axis in axes])[1]


def slopes(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    return CubicSpline(times, values).derivative()(times)


# ---- Every model ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_built_in_model_flies(name):
    model, flight = load_model(name), flown(name)
    truth = truth_of(flight)
    assert flight.names and set(flight.names) < set(truth.names)
    for channel in flight.channels.values():
        assert np.all(channel.valid) and channel.n_samples > 1
        same = truth.matrix(channel.name, channel.time)[1][:, 0]
        level = channel.noise or 0.0
        # white noise and rounding only, in the built-in models (quaternions: half of it)
        assert np.abs(channel.values - same).max() <= 6.0 * level + 1e-15
        assert truth[channel.name].unit == channel.unit
        assert truth[channel.name].noise is None
    for coordinate in model.assembly.coordinates:
        if "." not in coordinate.name:
            field = "speed" if coordinate.type == "rotor" else "velocity"
            assert f"{coordinate.name}.{field}" in truth
    assert flight.metadata["model"] == name and flight.metadata["seed"] == "1"


@pytest.mark.parametrize("name", ["servicer", "cepheus"])
def test_truth_is_never_among_the_channels(name):
    flight = flown(name)
    truth, measured = truth_of(flight), set(load_model(name).sensors)
    assert truth.truth is None
    for channel in flight.channels.values():
        if channel.noise:
            same = truth.matrix(channel.name, channel.time)[1][:, 0]
            assert np.mean(channel.values == same) < 0.01
    hidden = {"servicer": "hinge_l1.position", "cepheus": "base.velocity.x"}[name]
    assert measured and hidden in truth and hidden not in flight
    assert all(hidden not in sample.values for sample in flight)


def test_the_same_seed_gives_the_same_bits():
    model = load_model("servicer")
    plan = default_plan(model, duration=2.0)
    again = simulate(model, plan, seed=1)
    assert dict(again.channels) == dict(flown("servicer").channels)
    assert dict(truth_of(again).channels) == dict(truth_of(flown("servicer")).channels)
    other = simulate(model, plan, seed=2)
    assert dict(truth_of(other).channels) == dict(truth_of(again).channels)
    for name, channel in again.channels.items():
        if channel.noise:
            n = min(channel.n_samples, other[name].n_samples)
            # encoders round to steps of half their noise: now and then they read the same
            assert np.mean(channel.values[:n] == other[name].values[:n]) < 0.4


def test_adding_a_sensor_does_not_change_the_others():
    model = load_model("servicer")
    plan = default_plan(model, duration=2.0)
    extra = Sensor("gyro", "camera", 25.0, noise=1e-3, dropout=0.3)
    more = simulate(model, plan, seed=1, sensors=(extra, *model.sensors))
    for name, channel in flown("servicer").channels.items():
        assert more[name] == channel
    fewer = simulate(model, plan, seed=1, sensors=model.sensors[1:3])
    for name, channel in fewer.channels.items():
        assert flown("servicer")[name] == channel


def test_a_sensor_that_makes_the_grid_finer_keeps_the_noise_of_others():
    model = load_model("cepheus")
    plan = default_plan(model, duration=2.0)
    plain = flown("cepheus")
    finer = simulate(
        model, plan, seed=1, sensors=(*model.sensors, Sensor("gyro", "hand", 30.0, noise=1e-3))
    )
    assert truth_of(finer)["base.rate.z"].rate == pytest.approx(300.0)
    for name, channel in plain.channels.items():
        np.testing.assert_allclose(finer[name].values, channel.values, atol=1e-11)  # RK4's steps


def test_rates_that_do_not_divide():
    model = load_model("cepheus")
    suite = (
        Sensor("gyro", "bus", 30.0),
        Sensor("encoder", "arm_1", 100.0),
        Sensor("attitude", "bus", 10.0 / 3.0),
    )
    flight = simulate(model, default_plan(model, duration=3.0), sensors=suite)
    for name, rate in (("base.rate.z", 30.0), ("arm_1.position", 100.0), ("base.angle", 10 / 3)):
        channel = flight[name]
        np.testing.assert_array_equal(channel.time, np.arange(len(channel.time)) / rate)
        assert channel.time[-1] == pytest.approx(3.0, abs=1e-12)
        same = truth_of(flight).matrix(name, channel.time)[1][:, 0]
        np.testing.assert_array_equal(channel.values, same)
    plan = default_plan(model, duration=3.0)
    exact = plan.motions["arm_1"].at(flight["arm_1.position"].time)[0]
    np.testing.assert_allclose(flight["arm_1.position"].values, exact, atol=1e-15)


def test_times_are_the_nearest_numbers_to_the_true_ones():
    flight = flown("servicer")
    truth = truth_of(flight)["base.rate.x"]
    np.testing.assert_array_equal(truth.time, np.arange(101) / 50.0)
    for channel in flight.channels.values():
        assert np.isin(channel.time, truth.time).all()


# ---- What the sensors see ------------------------------------------------------------------------


def test_an_accelerometer_feels_all_but_gravity():
    model = load_model("servicer")
    suite = tuple(
        Sensor(kind, "camera", 250.0)
        for kind in ("accelerometer", "velocity", "position", "attitude", "gyro")
    )
    # A kilometre from the orbit's centre the gradient is worth 4 mm/s^2.
    plan = replace(default_plan(model, duration=4.0), start=Start(position=(1000.0, 500.0, -300.0)))
    flight = simulate(model, plan, sensors=suite)
    t = flight["camera.rate.x"].time
    R = matrix_from_quaternion(vectors(flight, "camera.attitude", "xyzw"))
    velocity, position = vectors(flight, "camera.velocity"), vectors(flight, "camera.position")
    assert model.orbit is not None
    n = model.orbit.rate
    up = np.column_stack([np.cos(n * t), np.sin(n * t), np.zeros_like(t)])
    gradient = n**2 * (3.0 * np.sum(up * position, axis=1, keepdims=True) * up - position)
    assert np.abs(gradient).max() > 2e-3
    felt = np.einsum("nji,nj->ni", R, slopes(t, velocity) - gradient)
    inner = slice(5, -5)  # a spline is less sure of its ends
    found = vectors(flight, "camera.acceleration")
    np.testing.assert_allclose(found[inner], felt[inner], atol=1e-8)
    np.testing.assert_allclose(slopes(t, position)[inner], velocity[inner], atol=1e-8)
    # The gyro reads the turning of the same axes.
    spin = np.einsum("nji,njk->nik", R, slopes(t, R.reshape(-1, 9)).reshape(-1, 3, 3))
    rate = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    np.testing.assert_allclose(vectors(flight, "camera.rate")[inner], rate[inner], atol=1e-8)


def test_joint_torques_are_the_inverse_dynamics_of_the_motion():
    model = load_model("servicer-wings")
    system, suite = flatten(model), (Sensor("gyro", "bus", 500.0),)
    truth = truth_of(simulate(model, default_plan(model, duration=4.0), sensors=suite))
    t, states = true_states(system, truth_source(truth))
    acceleration = np.hstack([slopes(t, states[:, 10:13]), vectors(truth, "base.acceleration")])
    q, dq = np.split(states[:, 13:], 2, axis=1)
    coordinates = np.stack([q, dq, slopes(t, dq)], axis=-1)
    forces = inverse_dynamics(system, states[:, 10:13], acceleration, coordinates)
    inner = slice(5, -5)
    # accelerations from splines at 500 Hz, times inertias of a thousand kg m^2
    np.testing.assert_allclose(forces[inner, :6], 0.0, atol=2e-5)  # nothing pushes the root
    for k, name in enumerate(system.coordinates):
        found = truth[f"{name}.torque"].values
        np.testing.assert_allclose(found[inner], forces[inner, 6 + k], atol=2e-5)
        joint = model.joint(name)
        if joint.role == "passive":  # what the spring and the damper do
            spring = -joint.stiffness * q[:, k] - joint.damping * dq[:, k]
            np.testing.assert_allclose(found, spring, atol=1e-11)


def truth_source(truth: Telemetry) -> Telemetry:
    """A flight that has this truth."""
    return Telemetry.of([truth["base.rate.x"]]).with_truth(truth)


def test_a_motor_turns_its_rotor_and_winds_its_spring():
    model = load_model("cbk-arm-geared")
    drive = model.joint("arm_1").drive
    assert drive is not None
    suite = tuple(Sensor(kind, "arm_1", 500.0) for kind in ("motor_torque", "motor_encoder"))
    plan = default_plan(model, duration=4.0)
    flight = simulate(model, plan, sensors=suite)
    truth, t = truth_of(flight), flight["arm_1.motor_torque"].time
    angle, speed, acceleration = plan.motions["arm_1.motor"].at(t)
    np.testing.assert_allclose(flight["arm_1.motor_position"].values, angle, atol=1e-15)
    base = slopes(t, truth["base.rate.z"].values)
    N, J = drive.ratio, drive.inertia
    rotor = N * J * (N * acceleration + base)
    wound = drive.stiffness * (angle - truth["arm_1.position"].values)
    wound += drive.damping * (speed - truth["arm_1.velocity"].values)
    found = flight["arm_1.motor_torque"].values
    inner = slice(5, -5)
    np.testing.assert_allclose(found[inner], (rotor + wound)[inner], atol=1e-9)
    # On the link's side of the gear only the spring pulls.
    np.testing.assert_allclose(truth["arm_1.torque"].values, wound, atol=1e-12)


def test_a_motor_driven_by_torque_reads_that_torque():
    model = load_model("cbk-arm")
    suite = (Sensor("motor_torque", "arm_1", 100.0),)
    command = Wave(0.3, 2.0, 0.2)
    flight = simulate(model, Plan(3.0, torques={"arm_1.motor": command}), sensors=suite)
    channel = flight["arm_1.motor_torque"]
    expected = command.over(channel.time, channel.time)
    np.testing.assert_allclose(channel.values, expected, atol=1e-12)  # rounding


def test_a_planar_root_has_an_angle_that_never_wraps():
    model = load_model("cepheus")
    start = Start(rate=(0.0, 0.0, 3.0), attitude=(0.0, 0.0, np.sin(0.5), np.cos(0.5)))
    suite = (Sensor("attitude", "bus", 50.0), Sensor("attitude", "hand", 50.0))
    flight = simulate(model, Plan(5.0, start), sensors=suite)
    assert "base.attitude.w" not in flight and "base.attitude.w" not in truth_of(flight)
    angle, t = flight["base.angle"].values, flight["base.angle"].time
    assert flight["base.angle"].unit == "rad"
    np.testing.assert_allclose(angle, 1.0 + 3.0 * t, atol=1e-11)  # nothing moves inside
    assert vectors(flight, "hand.attitude", "xyzw").shape == (251, 4)


def test_attitudes_do_not_flip_in_a_long_tumble():
    model = load_model("servicer-wings")
    suite = (Sensor("attitude", "bus", 10.0, noise=1e-4),)
    flight = simulate(model, Plan(20.0, Start(rate=(0.5, -0.8, 0.3))), sensors=suite, step=5e-3)
    q = vectors(flight, "base.attitude", "xyzw")
    assert np.sum(q[1:] * q[:-1], axis=1).min() > 0.99
    assert q[:, 3].min() < -0.5  # it does go round


def test_a_sliding_joint_is_told_in_metres_whatever_it_is_called():
    model = load_model("cepheus").with_joint("arm_1", type="prismatic")
    suite = (
        Sensor("encoder", "arm_1", 10.0, channel="rail"),
        Sensor("joint_rate", "arm_1", 10.0),
        Sensor("joint_torque", "arm_*", 10.0),
    )
    flight = simulate(model, Plan(1.0), sensors=suite)
    units = {name: flight[name].unit for name in flight.names}
    assert units == {
        "rail.position": "m",
        "arm_1.velocity": "m/s",
        "arm_1.torque": "N",
        "arm_2.torque": "N m",
    }
    truth = truth_of(flight)
    assert truth["rail.position"].unit == truth["arm_1.position"].unit == "m"
    assert truth["arm_2.position"].unit == "rad"


@pytest.mark.parametrize("delay", [0.1, 0.0237])
def test_a_delay_makes_readings_old(delay):
    model = load_model("cepheus")
    plan = default_plan(model, duration=3.0)
    suite = (
        Sensor("encoder", "arm_1", 50.0, delay=delay),
        Sensor("attitude", "hand", 50.0, delay=delay),
    )
    flight = simulate(model, plan, sensors=suite)
    channel = flight["arm_1.position"]
    old = plan.motions["arm_1"].at(np.maximum(channel.time - delay, 0.0))[0]
    # between samples of 20 ms by a cubic spline
    np.testing.assert_allclose(channel.values, old, atol=1e-15 if delay == 0.1 else 1e-6)
    q = vectors(flight, "hand.attitude", "xyzw")
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=1e-12)


def test_an_old_thrust_is_one_that_was():
    model = load_model("cepheus")
    plan = Plan(2.0, thrusts={"thr_1": Pulses(((0.5, 0.5, 0.4),))})
    suite = (Sensor("thruster", "thr_1", 50.0, delay=0.0237),)
    channel = simulate(model, plan, sensors=suite)["thr_1.force"]
    on = channel.time[channel.values > 0.0]
    assert on[0] == pytest.approx(0.52) and on[-1] == pytest.approx(1.02)
    # means until the next sample: the impulse is exact although the edges lie between samples
    assert channel.values.sum() / 50.0 == pytest.approx(0.5 * 0.4, rel=1e-12)


# ---- Physics, end to end -------------------------------------------------------------------------


def box(*thrusters: Thruster, sensors: tuple[Sensor, ...] = ()) -> Model:
    body = Body("box", 8.0, inertia=(2.0, 0.0, 0.0, 3.0, 0.0, 4.0))
    seen = sensors or (Sensor("gyro", "box", 10.0),)
    return Model("box", Root("box"), (body,), thrusters=thrusters, sensors=seen)


def momentum(model: Model, flight: Telemetry):
    system = flatten(model)
    return balance(system, true_states(system, flight)[1])


@pytest.mark.parametrize("begin", [0.5, 0.12345])
def test_thrust_changes_momentum_by_its_impulse(begin):
    push = Thruster("push", "box", (0.6, 0.0, 0.8))
    turn = Thruster("turn", "box", (0.0, 1.0, 0.0), (0.7, 0.0, 0.0))
    model = box(push, turn)
    pulse = Pulses(((begin, 0.777, 3.0),))
    at = momentum(model, simulate(model, Plan(2.0, thrusts={"push": pulse})))
    impulse = 3.0 * 0.777 * np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(at.linear_momentum[-1], impulse, atol=1e-12)  # no turning: exact
    np.testing.assert_allclose(at.angular_momentum, 0.0, atol=1e-13)
    flight = simulate(model, Plan(2.0, thrusts={"turn": pulse}))
    at = momentum(model, flight)
    spin = 0.7 * 3.0 * 0.777
    about = at.angular_momentum_about_com[-1]
    np.testing.assert_allclose(about, [0.0, 0.0, spin], atol=1e-12)
    assert truth_of(flight)["base.rate.z"].values[-1] == pytest.approx(spin / 4.0, abs=1e-13)


def test_thrust_is_felt_and_reported():
    push = Thruster("push", "box", (1.0, 0.0, 0.0))
    suite = (Sensor("accelerometer", "box", 100.0), Sensor("thruster", "push", 100.0))
    steps = Steps((0.14, 1.16), (4.0, 0.0))  # 0.14 + 1.02 is a little more than 1.16
    flight = simulate(box(push, sensors=suite), Plan(2.0, thrusts={"push": steps}))
    t = flight["push.force"].time
    force = np.where((t >= 0.14) & (t < 1.16), 4.0, 0.0)
    # a mean over a step that ends at a switch, but for the rounding of its end
    np.testing.assert_allclose(flight["push.force"].values, force, atol=1e-12)
    np.testing.assert_allclose(flight["base.acceleration.x"].values, force / 8.0, atol=1e-15)


def test_a_wheel_leaves_its_momentum_with_the_body():
    model = load_model("cepheus")
    plan = Plan(4.0, motions={"rw_z": Speeds((0.5, 3.5), (0.0, 250.0))})
    system = flatten(model)
    flight = simulate(model, plan, seed=1)
    _, states = true_states(system, flight)
    c = system.coordinates.index("rw_z")
    whole = balance(system, states).angular_momentum_about_com[:, 2]
    np.testing.assert_allclose(whole, 0.0, atol=1e-12)  # from rest, and nobody pushed
    locked = states.copy()
    locked[:, 13 + system.n_coordinates + c] = 0.0
    body = balance(system, locked).angular_momentum_about_com[:, 2]
    speed = truth_of(flight)["rw_z.speed"].values
    np.testing.assert_allclose(body, -model.wheels[0].inertia * speed, atol=1e-12)
    assert body[-1] == pytest.approx(-0.4934, abs=5e-5)  # paper 003 (which drops the sign)
    # The torque on the wheel spins it up, in inertial space.
    spin = slopes(truth_of(flight)["rw_z.speed"].time, speed + states[:, 12])
    torque = truth_of(flight)["rw_z.torque"].values
    np.testing.assert_allclose(torque, model.wheels[0].inertia * spin, atol=1e-5)


def test_wheels_of_a_model_keep_their_speed():
    truth = truth_of(flown("servicer"))
    np.testing.assert_array_equal(truth["rw_2.speed"].values, -100.0)


def test_a_commanded_wrench_is_reported_as_commanded():
    wave, pulse = Wave(2.0, 1.7, 0.3), Pulses(((0.5, 0.25, 1.5),))
    model, plan = box(), Plan(3.0, wrench={"force.y": wave, "torque.z": pulse})
    flight = simulate(model, plan)
    t = flight["base.force.y"].time
    np.testing.assert_array_equal(flight["base.force.y"].values, wave.over(t, t))
    np.testing.assert_array_equal(flight["base.torque.z"].values, pulse.over(t, t))
    for name in ("force.x", "force.z", "torque.x", "torque.y"):
        assert not flight[f"base.{name}"].values.any()
    units = {flight[f"base.{name}.x"].unit for name in ("force", "torque")}
    assert units == {"N", "N m"}
    at = momentum(model, flight)
    w = 2.0 * np.pi / 1.7
    impulse = 2.0 / w * (np.cos(0.3) - np.cos(w * t + 0.3))
    np.testing.assert_allclose(at.linear_momentum[:, 1], impulse, atol=1e-12)  # world axes
    about = at.angular_momentum_about_com[:, 2]
    np.testing.assert_allclose(about, 1.5 * np.clip(t - 0.5, 0.0, 0.25), atol=1e-12)
    assert "base.force.x" not in simulate(model, Plan(1.0))


def test_both_methods_give_the_same_flight():
    model = load_model("servicer")
    plan = replace(
        default_plan(model, duration=2.0),
        thrusts={"thr_3": Pulses(((0.3, 0.4, 5.0),))},
        wrench={"torque.y": Wave(2.0, 1.0)},
    )
    fixed, adaptive = (simulate(model, plan, method=m) for m in ("rk4", "dop853"))
    worst = 0.0
    for name, channel in truth_of(fixed).channels.items():
        if name.endswith(("position.x", "rate.y", "attitude.z", "hinge_l1.position")):
            other = truth_of(adaptive)[name].values
            worst = max(worst, float(np.abs(channel.values - other).max()))
    assert worst <= 1e-9


# ---- Feedback ------------------------------------------------------------------------------------


def pendulum() -> Model:
    """A joint of 2 kg m^2 on a root that is fixed."""
    bodies = (Body("wall", 1.0, inertia=ONE), Body("arm", 1.0, inertia=(2.0, 0, 0, 2.0, 0, 2.0)))
    joint = Joint("hinge", "revolute", "wall", "arm", role="torque")
    suite = (Sensor("encoder", "hinge", 100.0), Sensor("joint_torque", "hinge", 100.0))
    return Model("pendulum", Root("wall", "fixed"), bodies, (joint,), sensors=suite)


def test_feedback_is_a_spring_and_a_damper():
    kp, kd = 18.0, 4.0
    start = Start(coordinates={"hinge": 0.2})
    plan = Plan(4.0, start, motions={"hinge": Hold(-0.1)}, feedback={"hinge": Feedback(kp, kd)})
    flight = simulate(pendulum(), plan)
    t = flight["hinge.position"].time
    decay, stiffness = kd / 4.0, kp / 2.0
    w = np.sqrt(stiffness - decay**2)
    wave = np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    np.testing.assert_allclose(flight["hinge.position"].values, -0.1 + 0.3 * wave, atol=1e-11)


def test_feedback_tracks_and_adds_to_the_torque():
    motion = Sinusoid(6.0, 0.0, 0.4, 3.0, 1.0)
    loose = Plan(6.0, motions={"hinge": motion}, feedback={"hinge": Feedback(200.0, 40.0)})
    flight = simulate(pendulum(), loose)
    t = flight["hinge.position"].time
    wanted = motion.at(t)
    late = np.abs(flight["hinge.position"].values - wanted[0]).max()
    assert 1e-2 < late < 3e-2  # about I ddq / kp: what a PD without feedforward is off by
    # With the right torque ahead of it the feedback has nothing to do.
    samples = Steps(tuple(t.tolist()), tuple((2.0 * wanted[2]).tolist()))
    helped = simulate(pendulum(), replace(loose, torques={"hinge": samples}))
    assert np.abs(helped["hinge.position"].values - wanted[0]).max() < 0.05 * late


def test_feedback_saturates():
    motion = Moves((0.0, 0.5), (0.0, 1.0))
    plan = Plan(4.0, motions={"hinge": motion}, feedback={"hinge": Feedback(50.0, 10.0, 1.5)})
    torque = simulate(pendulum(), plan)["hinge.torque"].values
    assert np.abs(torque).max() == pytest.approx(1.5, abs=1e-12)
    assert np.mean(np.isclose(np.abs(torque), 1.5)) > 0.2
    free = replace(plan, feedback={"hinge": Feedback(50.0, 10.0)})
    assert np.abs(simulate(pendulum(), free)["hinge.torque"].values).max() > 5.0


def test_a_floating_robot_under_feedback_follows_its_reference():
    model = load_model("dual-arm")
    joints = tuple(replace(j, role="torque") if j.role == "motion" else j for j in model.joints)
    loose = replace(model, joints=joints)
    plan = default_plan(model, duration=4.0)
    system = flatten(loose)
    homes = [c.home for c in loose.assembly.coordinates]
    inertia = np.diag(mass_matrix(system, homes))[6:]
    gains = {
        system.coordinates[g - 6]: Feedback(400.0 * i, 40.0 * i)  # 20 rad/s, critically damped
        for g, i in zip(system.tree.free[6:], inertia, strict=True)
    }
    driven = simulate(loose, replace(plan, feedback=gains))
    exact = simulate(model, plan)
    for name in plan.motions:
        a, b = (truth_of(f)[f"{name}.position"].values for f in (driven, exact))
        assert np.abs(a - b).max() < 5e-3
    at = momentum(loose, driven)  # torques inside move nothing outside
    np.testing.assert_allclose(at.linear_momentum, 0.0, atol=1e-8)  # RK4 on 20 rad/s loops


# ---- Misuse --------------------------------------------------------------------------------------


def test_what_cannot_be_flown_is_told():
    model = load_model("cepheus")
    plan = default_plan(model, duration=1.0)
    gyro = Sensor("gyro", "bus", 1.0)
    unequal = (replace(gyro, rate=997.0), Sensor("encoder", "arm_1", 991.0))
    cases = [
        (TelemetryError, "sensors.none", plan, {"sensors": ()}),
        (ExcitationError, "name.unknown", Plan(1.0, motions={"arm1": Hold(0.0)}), {}),
        (ExcitationError, "value.range", Plan(-1.0), {}),
        (TelemetryError, "rates.grid", plan, {"sensors": unequal}),
        (ModelError, "value.range", plan, {"sensors": (replace(gyro, rate=0.0),)}),
        (ModelError, "name.unknown", plan, {"sensors": (replace(gyro, on="buss"),)}),
        (ModelError, "name.duplicate", plan, {"sensors": (gyro, gyro)}),
        (TelemetryError, "plan.short", Plan(0.5), {"sensors": (gyro,)}),
        (TelemetryError, "option.range", plan, {"step": 0.0}),
        (TelemetryError, "option.range", plan, {"step": float("nan")}),
        (TelemetryError, "option.range", plan, {"seed": -1}),
        (TelemetryError, "option.range", plan, {"seed": 1.5}),
        (FreefloatError, "option.choice", plan, {"method": "euler"}),
    ]
    for kind, code, flown, options in cases:
        with refused(kind, code):
            simulate(model, flown, **options)


def test_progress_reaches_the_end():
    told: list[float] = []
    model = load_model("cepheus")
    simulate(model, default_plan(model, duration=1.0), progress=lambda _, share: told.append(share))
    assert told[-1] == 1.0


def test_the_true_states_are_those_of_the_flight():
    model = load_model("cepheus")
    flight = flown("cepheus")
    _, states = true_states(flatten(model), flight)
    angle = truth_of(flight)["base.angle"].values
    np.testing.assert_allclose(attitudes(truth_of(flight))[:, 2], np.sin(angle / 2), atol=1e-15)
    np.testing.assert_array_equal(states[:, 12], truth_of(flight)["base.rate.z"].values)
