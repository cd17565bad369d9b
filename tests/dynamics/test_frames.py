"""Poses, velocities and accelerations of named frames, beside Pinocchio's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from engines import Pinocchio
from systems import random_model, random_states

from freefloat.dynamics import flatten, observe
from freefloat.dynamics.equations import no_inputs
from freefloat.dynamics.frames import frame_jacobian, frame_motion
from freefloat.model.parts import Frame, Placement

N = 20
PLACE = Placement((0.3, -0.2, 0.5), (0.4, 0.8, -0.3))


@pytest.mark.parametrize("root", ["floating", "planar", "fixed"])
@pytest.mark.parametrize("seed", [1, 4])
def test_frame_motion_is_pinocchios(root, seed):
    model = random_model(seed, root=root, roles=("torque",))
    last = model.bodies[-1].name
    model = replace(model, frames=(Frame("camera", last, PLACE),))
    system, engine = flatten(model), Pinocchio(model)
    states = random_states(system, seed, N)
    effort = np.random.default_rng(seed).normal(size=(N, system.n_coordinates))
    inputs = no_inputs(system, n_rows=N)
    inputs.effort[..., 0] = effort[:, None]
    found = frame_motion(system, "camera", states, motion=observe(system, states, inputs=inputs))
    joint, here = engine.where[last]
    place = here * pin.SE3(PLACE.rotation, PLACE.position)
    index = engine.robot.addFrame(pin.Frame("camera", joint, 0, place, pin.FrameType.OP_FRAME))
    data = engine.robot.createData()
    for i, x in enumerate(states):
        q, v = engine.configuration(x)
        tau = np.zeros(engine.robot.nv)
        tau[engine.iv] = effort[i]
        a = pin.aba(engine.robot, data, q, v, tau).copy()
        pin.forwardKinematics(engine.robot, data, q, v, a)
        pin.updateFramePlacements(engine.robot, data)
        local = pin.ReferenceFrame.LOCAL
        velocity = pin.getFrameVelocity(engine.robot, data, index, local)
        acceleration = pin.getFrameClassicalAcceleration(engine.robot, data, index, local)
        pose = data.oMf[index]
        assert found.position[i] == pytest.approx(pose.translation, abs=1e-13)
        assert found.rotation[i] == pytest.approx(pose.rotation, abs=1e-13)
        assert found.rate[i] == pytest.approx(velocity.angular, abs=1e-12)
        assert found.velocity[i] == pytest.approx(pose.rotation @ velocity.linear, abs=1e-12)
        size = 1.0 + np.abs(acceleration.linear).max()
        assert found.acceleration[i] == pytest.approx(acceleration.linear, abs=1e-11 * size)


def test_frame_jacobian_maps_rates_to_frame_motion():
    model = random_model(5, roles=("torque",))
    last = model.bodies[-1].name
    system = flatten(replace(model, frames=(Frame("camera", last, PLACE),)))
    states = random_states(system, 5, N)
    c = system.n_coordinates
    J = frame_jacobian(system, "camera", states)
    motion = frame_motion(system, "camera", states)
    R = frame_motion(system, "bus", states).rotation
    velocity = np.einsum("nji,nj->ni", R, states[:, 7:10])
    rates = np.hstack([states[:, 10:13], velocity, states[:, 13 + c :]])
    turned = np.einsum("nij,nj->ni", J[:, :3], rates)
    moved = np.einsum("nij,nj->ni", J[:, 3:], rates)
    world_rate = np.einsum("nij,nj->ni", motion.rotation, motion.rate)
    assert np.einsum("nij,nj->ni", R, turned) == pytest.approx(world_rate, abs=1e-12)
    assert np.einsum("nij,nj->ni", R, moved) == pytest.approx(motion.velocity, abs=1e-12)
