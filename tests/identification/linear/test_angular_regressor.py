"""Torques from the pair form: equal to the equations of motion, for chains and branched trees."""

from dataclasses import replace

import numpy as np
import pytest
from systems import random_model

from freefloat.dynamics import flatten, observe
from freefloat.dynamics.equations import balance, no_inputs
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.tree import System
from freefloat.identification.corrected_least_squares import Bias, least_squares
from freefloat.identification.linear.angular import AngularForm
from freefloat.identification.linear.angular_regressor import pair_motion, pair_parameters
from freefloat.model import load_model
from freefloat.observability.minimal_set import generic_states


def robot(name: str | int) -> System:
    """A built-in model, or a random tree with that many joints, nothing pushing it."""
    if isinstance(name, str):
        return flatten(load_model(name))
    model = random_model(name, n_joints=name, prismatic=0.0, massless=False)
    joints = tuple(replace(joint, role="motion") for joint in model.joints)
    return flatten(replace(model, orbit=None, gravity=(0.0, 0.0, 0.0), joints=joints))


@pytest.mark.parametrize("name", ["cepheus", "dual-arm", 1, 3, 4])
@pytest.mark.parametrize("is_minimal", [False, True])
def test_the_pair_form_gives_the_free_motion(name, is_minimal):
    system = robot(name)
    n, c, given = 8, system.n_coordinates, system.tree.given
    states = generic_states(system, n)
    ddq = np.random.default_rng(3).normal(size=(n, c))
    inputs = no_inputs(system, n_rows=n)
    inputs.given[..., 0] = states[:, None, 13 + given]
    inputs.given[..., 1] = states[:, None, 13 + c + given]
    inputs.given[..., 2] = ddq[:, None, given]
    truth = observe(system, states, inputs=inputs)
    pi, kept = pair_parameters(system), None
    if is_minimal:  # a set that momentum alone can tell is enough for torques, too
        form = AngularForm.of(system)
        pi, kept = form.parameters(system), form.minimal.kept
    found = pair_motion(system, states, ddq, pi, kept)
    alpha = np.einsum("nij,nj->ni", rotations(states), truth.accelerations[:, :3])
    torque = truth.forces[:, : system.n_links - 1]
    # rounding of a few hundred products
    np.testing.assert_allclose(found.alpha, alpha, atol=1e-12 * np.max(np.abs(alpha)))
    np.testing.assert_allclose(found.torque, torque, atol=1e-12 * np.max(np.abs(torque)))


def test_the_torques_do_the_work_that_the_energy_gains():
    """d(energy)/dt = torque . dq along the predicted motion: a second formulation."""
    system = robot(3)
    states, c = generic_states(system, 6), system.n_coordinates
    ddq = np.random.default_rng(5).normal(size=(6, c))
    found = pair_motion(system, states, ddq, pair_parameters(system))
    alpha = np.einsum("nji,nj->ni", rotations(states), found.alpha)  # in root axes

    def about_com(h: float) -> np.ndarray:
        """Kinetic energy about the centre of mass a moment later; attitude does not matter."""
        x = states.copy()
        x[:, 10:13] += h * alpha
        x[:, 13 : 13 + c] += h * states[:, 13 + c :]
        x[:, 13 + c :] += h * ddq
        at = balance(system, x)
        speed2 = np.sum(at.linear_momentum**2, axis=1) / at.mass**2
        return at.kinetic_energy - 0.5 * at.mass * speed2

    h = 1e-5
    gain = (about_com(h) - about_com(-h)) / (2.0 * h)
    work = np.sum(found.torque * states[:, 13 + c : 13 + c + found.torque.shape[1]], axis=1)
    np.testing.assert_allclose(work, gain, rtol=1e-6, atol=1e-6 * np.max(np.abs(gain)))


def test_what_noise_buries_has_no_information():
    """The root of the information is blind to buried directions, not to those beside them."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(400, 3)) @ np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [5.0, 2.0, 0.05]]).T
    bias = Bias(0.9 * 400 * np.diag([0.0, 0.0, 0.0025]), np.zeros(3))
    found = least_squares(Y, Y @ np.ones(3), bias=bias)
    assert found.rank == 2
    assert np.max(np.abs(found.root @ found.buried)) < 1e-9 * np.max(np.abs(found.root))
