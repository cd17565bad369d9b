"""Frames: velocities, accelerations and Jacobians against differences of where frames are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from scipy.interpolate import CubicSpline
from systems import random_model, random_states

from freefloat.dynamics import System, flatten, observe
from freefloat.dynamics.frames import frame_jacobian, frame_motion, rotations
from freefloat.dynamics.integrate import integrate
from freefloat.errors import ModelError
from freefloat.excitation import default_plan
from freefloat.model import Frame, Placement, load_model
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product

SEEDS = range(4)


def with_frames(seed: int) -> System:
    """A random tree with an oddly placed frame on its root and on its last link."""
    model = random_model(seed, n_joints=5)
    places = [Placement((0.3, -0.2, 0.5), (0.4, -0.7, 1.1)), Placement((-0.1, 0.6, 0.2), (1, 0, 2))]
    bodies = (model.bodies[0].name, model.bodies[-1].name)
    frames = tuple(Frame(f"on_{b}", b, p) for b, p in zip(bodies, places, strict=True))
    return flatten(replace(model, frames=frames))


def moved(system: System, state: np.ndarray, dt: float) -> np.ndarray:
    """The state a little later, everything going on at its present rate."""
    n, later = system.n_coordinates, state.copy()
    later[:3] += dt * state[7:10]
    turn = quaternion_from_rotation_vector(dt * state[10:13])
    later[3:7] = quaternion_product(state[3:7], turn)
    later[13 : 13 + n] += dt * state[13 + n :]
    return later


@pytest.mark.parametrize("seed", SEEDS)
def test_velocity_and_rate_are_differences(seed):
    system, h = with_frames(seed), 1e-6
    for state in random_states(system, seed, 5):
        for name in ("on_bus", "on_link_5", "link_2"):
            here = frame_motion(system, name, state)
            before, after = (frame_motion(system, name, moved(system, state, t)) for t in (-h, h))
            velocity = (after.position - before.position) / (2.0 * h)
            # differences: h^2 of the third derivative, and rounding / h
            np.testing.assert_allclose(here.velocity, velocity, atol=1e-8)
            spin = here.rotation[0].T @ (after.rotation[0] - before.rotation[0]) / (2.0 * h)
            rate = [spin[2, 1], spin[0, 2], spin[1, 0]]
            np.testing.assert_allclose(here.rate[0], rate, atol=1e-8)


@pytest.mark.promise("P7")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_jacobian_is_the_differences_of_the_motion(seed, figure):
    system, worst, h = with_frames(seed), 0.0, 1e-6
    n = system.n_coordinates
    for state in random_states(system, seed, 5):
        for name in ("on_bus", "on_link_5", "link_2"):
            (J,) = frame_jacobian(system, name, state)
            R = rotations(state[None])[0]
            for k in range(6 + n):
                pushed = np.zeros_like(state)
                pushed[:7] = state[:7]
                pushed[13 : 13 + n] = state[13 : 13 + n]
                if k < 3:
                    pushed[10 + k] = 1.0
                elif k < 6:
                    pushed[7:10] = R[:, k - 3]
                else:
                    pushed[13 + n + k - 6] = 1.0
                a, b = (frame_motion(system, name, moved(system, pushed, t)) for t in (-h, h))
                turn = R.T @ (b.rotation[0] - a.rotation[0]) / (2.0 * h)
                turn = turn @ (0.5 * (a.rotation[0] + b.rotation[0])).T @ R
                column = [turn[2, 1], turn[0, 2], turn[1, 0]]
                column = np.append(column, R.T @ (b.position[0] - a.position[0]) / (2.0 * h))
                worst = max(worst, float(np.abs(J[:, k] - column).max()))
    figure("P7", f"frame Jacobians: {worst:.0e} off central differences")
    assert worst <= 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_the_jacobian_times_the_rates_is_the_motion(seed):
    system = with_frames(seed)
    states = random_states(system, seed, 20)
    n, R = system.n_coordinates, rotations(states)
    velocity = np.einsum("nji,nj->ni", R, states[:, 7:10])
    rates = np.hstack([states[:, 10:13], velocity, states[:, 13 + n :]])
    for name in ("on_bus", "on_link_5", "link_3"):
        motion = frame_motion(system, name, states)
        found = np.einsum("nij,nj->ni", frame_jacobian(system, name, states), rates)
        wanted = np.einsum("nji,njk,nk->ni", R, motion.rotation, motion.rate)
        np.testing.assert_allclose(found[:, :3], wanted, atol=1e-12)  # rounding
        wanted = np.einsum("nji,nj->ni", R, motion.velocity)
        np.testing.assert_allclose(found[:, 3:], wanted, atol=1e-12)


@pytest.mark.parametrize("name", ["servicer", "cbk-arm-geared", "dual-arm"])
def test_acceleration_is_the_derivative_of_velocity(name):
    model = load_model(name)
    frame = "camera" if name == "servicer" else model.frames[-1].name
    system, plan = flatten(model), default_plan(model, duration=4.0, seed=2)
    tabulate = plan.inputs(system)
    run = integrate(system, plan.start_state(system), tabulate, duration=4.0, every=2)
    inputs = tabulate(np.repeat(run.times[:, None], 3, axis=1))
    motion = observe(system, run.states, inputs=inputs, times=run.times)
    found = frame_motion(system, frame, run.states, motion=motion)
    assert found.acceleration is not None
    slope = CubicSpline(run.times, found.velocity).derivative()(run.times)
    wanted = np.einsum("nji,nj->ni", found.rotation, slope)
    inner = slice(5, -5)  # a spline is less sure of its ends
    np.testing.assert_allclose(found.acceleration[inner], wanted[inner], atol=2e-9)
    slope = CubicSpline(run.times, found.position).derivative()(run.times)
    np.testing.assert_allclose(found.velocity[inner], slope[inner], atol=2e-9)


def test_a_fixed_frame_is_a_constant_away():
    system = with_frames(1)
    states = random_states(system, 1, 10)
    body, frame = (frame_motion(system, name, states) for name in ("bus", "on_bus"))
    place = system.model.frames[0].placement
    expected = body.position + body.rotation @ np.array(place.xyz)
    np.testing.assert_allclose(frame.position, expected, atol=1e-14)
    np.testing.assert_allclose(frame.rotation, body.rotation @ place.rotation, atol=1e-14)
    assert frame.acceleration is None
    np.testing.assert_allclose(body.position, states[:, :3], atol=0.0)


def test_a_grasped_target_is_a_frame_too():
    system = flatten(load_model("servicer"))
    states = random_states(system, 0, 3)
    hand, target = (frame_motion(system, name, states) for name in ("hand", "target"))
    np.testing.assert_allclose(target.position, hand.position, atol=1e-13)
    np.testing.assert_allclose(target.rate, hand.rate, atol=1e-13)


def test_unknown_frames_are_told():
    system = with_frames(0)
    with refused(ModelError, "name.unknown", naming="hand"):
        frame_motion(system, "hand", random_states(system, 0, 1))
    with refused(ModelError, "value.count", naming="23"):
        frame_motion(system, "bus", np.zeros(22))
