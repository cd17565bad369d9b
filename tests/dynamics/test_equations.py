"""Inverse dynamics, regressors, momentum and energy: each formed in two ways that must agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engines import Pinocchio
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from systems import direction, random_model, random_states

from freefloat.dynamics import (
    System,
    balance,
    flatten,
    force_regressor,
    inverse_dynamics,
    mass_matrix,
    momentum_regressor,
    observe,
    system_vector,
)
from freefloat.dynamics.equations import coordinates_of, no_inputs
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Drive, Orbit, Wheel

N_STATES = 40


def rotored(seed: int, root: str = "floating") -> Model:
    """A random tree with a massless link, wheels on bus and link, a geared and a disc drive."""
    model = random_model(seed, n_joints=6, root=root, prismatic=0.2)
    heavy = [body.name for body in model.bodies[1:] if body.mass > 0.0]
    wheels = (
        Wheel("rw_bus", "bus", (0.0, 0.6, 0.8), 0.2, role="torque"),
        Wheel("rw_link", heavy[0], (0.0, 0.0, 1.0), 0.03, role="torque"),
    )
    model = replace(model, wheels=wheels)
    turning = [joint.name for joint in model.joints if joint.type == "revolute"]
    for name, form in zip(turning, ("geared", "disc"), strict=False):
        drive = Drive(0.02, 20.0, 0.1, ratio=9.0, form=form, role="torque")
        model = model.with_joint(name, role="passive", drive=drive)
    return model


MODELS = [("floating", seed) for seed in range(6)] + [("planar", 6), ("fixed", 7)]


def sampled(system: System, seed: int):
    """Random states and random accelerations (N, 6 + c) that the root can have."""
    states = random_states(system, seed, N_STATES)
    a = np.random.default_rng([seed, 9]).normal(size=(N_STATES, 6 + system.n_coordinates))
    root = {"floating": [], "planar": [0, 1, 5], "fixed": [0, 1, 2, 3, 4, 5]}
    a[:, root[system.model.root.type]] = 0.0
    return states, a


def relative(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest error of a sample, relative to the sample's largest entry."""
    axes = tuple(range(1, exact.ndim))
    return float((np.abs(found - exact).max(axis=axes) / np.abs(exact).max(axis=axes)).max())


def root_velocity(states: np.ndarray) -> np.ndarray:
    """The root's velocity in root axes."""
    return Rotation.from_quat(states[:, 3:7]).inv().apply(states[:, 7:10])


@pytest.mark.promise("P7")
@pytest.mark.parametrize(("root", "seed"), MODELS)
def test_regressor_times_parameters_is_inverse_dynamics(root, seed, figure):
    system = flatten(rotored(seed, root))
    states, a = sampled(system, seed)
    samples = states[:, 10:13], a[:, :6], coordinates_of(states, a)
    forces = inverse_dynamics(system, *samples)
    worst = relative(force_regressor(system, *samples) @ system_vector(system), forces)
    figure("P7", f"force regressor x phi, {root} tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-11


@pytest.mark.promise("P7")
@pytest.mark.parametrize(("root", "seed"), MODELS)
def test_inverse_dynamics_is_pinocchios(root, seed, figure):
    model = rotored(seed, root)
    system, engine = flatten(model), Pinocchio(model)
    states, a = sampled(system, seed)
    found = inverse_dynamics(system, states[:, 10:13], a[:, :6], coordinates_of(states, a))
    exact = np.array([engine.forces(x, b) for x, b in zip(states, a, strict=True)])
    if root == "planar":
        found[:, [0, 1, 5]] = 0.0  # what the air bearing carries is not Pinocchio's business
    if root == "fixed":
        found[:, :6] = 0.0
    worst = relative(found, exact)
    figure("P7", f"inverse dynamics against Pinocchio, {root} tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-11


@pytest.mark.promise("P7")
@pytest.mark.parametrize("seed", range(4))
def test_regressor_with_a_field_gives_what_is_applied(seed, figure):
    """In an orbit and uniform gravity: no force on the root, the efforts on the joints."""
    orbit = Orbit(radius=4e5, radial=(0.0, 0.6, 0.8), normal=(1.0, 0.0, 0.0))
    model = replace(rotored(seed), orbit=orbit, gravity=(0.1, -0.3, 0.2))
    system, rng = flatten(model), np.random.default_rng(seed)
    states = random_states(system, seed, N_STATES)
    times = rng.uniform(0.0, 100.0, N_STATES)
    inputs = no_inputs(system, n_rows=N_STATES)
    inputs.effort[..., 0] = rng.normal(size=(N_STATES, 1, system.n_coordinates))
    motion = observe(system, states, inputs=inputs, times=times)
    # the field, written here once more
    phase = orbit.rate * times[:, None]
    out = np.cos(phase) * orbit.radial + np.sin(phase) * np.cross(orbit.normal, orbit.radial)
    along = (out * states[:, :3]).sum(axis=1, keepdims=True)
    pull = orbit.rate**2 * (3.0 * along * out - states[:, :3]) + np.array(model.gravity)
    axes = Rotation.from_quat(states[:, 3:7]).inv()
    field = np.hstack([axes.apply(pull), axes.apply(out)])
    a = motion.accelerations
    Y = force_regressor(
        system, states[:, 10:13], a[:, :6], coordinates_of(states, a), field=field
    )
    found = Y @ system_vector(system)
    exact = np.hstack([np.zeros((N_STATES, 6)), motion.forces])
    worst = relative(found, exact)
    figure("P7", f"force regressor x phi in an orbit, tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-11


def test_inverse_dynamics_leaves_the_orbit_out():
    model = rotored(1)
    here, there = flatten(model), flatten(replace(model, orbit=Orbit(radius=4e5)))
    states, a = sampled(here, 1)
    samples = states[:, 10:13], a[:, :6], coordinates_of(states, a)
    forces = inverse_dynamics(here, *samples)
    assert relative(inverse_dynamics(there, *samples), forces) == 0.0
    found = force_regressor(there, *samples) @ system_vector(there)
    assert relative(found, forces) <= 1e-11


@pytest.mark.promise("P7")
@pytest.mark.parametrize(("root", "seed"), MODELS)
def test_momentum_and_energy_regressors(root, seed, figure):
    """Momentum about the root's origin in root axes, moved to the world and the CoM; energy."""
    model = rotored(seed, root)
    system, engine = flatten(model), Pinocchio(model)
    states, _ = sampled(system, seed)
    still = np.zeros((N_STATES, 6 + system.n_coordinates))
    momenta, energies = momentum_regressor(
        system, states[:, 10:13], root_velocity(states), coordinates_of(states, still)
    )
    phi = system_vector(system)
    world = Rotation.from_quat(states[:, 3:7])
    angular = world.apply((momenta @ phi)[:, :3])
    linear = world.apply((momenta @ phi)[:, 3:])
    kept = balance(system, states)
    about_com = angular - np.cross(kept.com - states[:, :3], linear)
    theirs = [engine.balance(x) for x in states]
    worst = max(
        relative(linear, kept.linear_momentum),
        relative(about_com, kept.angular_momentum_about_com),
        float(np.abs(energies @ phi / kept.kinetic_energy - 1.0).max()),
        relative(kept.linear_momentum, np.array([row[0] for row in theirs])),
        relative(kept.angular_momentum_about_com, np.array([row[1] for row in theirs])),
        relative(kept.com, np.array([row[2] for row in theirs])),
        relative(kept.kinetic_energy[:, None], np.array([[row[3]] for row in theirs])),
    )
    figure("P7", f"momentum and energy, regressors and Pinocchio, {root} {seed}: {worst:.1e}")
    assert worst <= 1e-11


@pytest.mark.parametrize(("root", "seed"), MODELS)
def test_mass_matrix_is_symmetric_positive_and_what_inverse_dynamics_says(root, seed):
    system = flatten(rotored(seed, root))
    x = random_states(system, seed, 1)[0]
    n, free = system.n_coordinates, system.tree.free
    H = mass_matrix(system, x[13 : 13 + n])
    unit = np.eye(6 + n)[free]
    q = np.zeros((len(free), n, 3))
    q[:, :, 0], q[:, :, 2] = x[13 : 13 + n], unit[:, 6:]
    forces = inverse_dynamics(system, np.zeros((len(free), 3)), unit[:, :6], q)
    assert np.array_equal(H, H.T)
    assert np.linalg.eigvalsh(H)[0] > 0.0
    assert H == pytest.approx(forces[:, free], rel=1e-12, abs=1e-13 * H.max())


def test_forward_dynamics_undoes_inverse_dynamics():
    for seed in range(4):
        system = flatten(rotored(seed))
        states, a = sampled(system, seed)
        forces = inverse_dynamics(system, states[:, 10:13], a[:, :6], coordinates_of(states, a))
        model = replace(system.model, joints=tuple(_loose(j) for j in system.model.joints))
        loose = flatten(model)  # the springs of the drives would add to the efforts
        inputs = no_inputs(loose, n_rows=N_STATES)
        inputs.effort[..., 0] = forces[:, None, 6:]
        world = Rotation.from_quat(states[:, 3:7])
        inputs.push[:, :, :3] = world.apply(forces[:, :3])[:, None]
        inputs.push[:, :, 3:] = world.apply(forces[:, 3:6])[:, None]
        for spring in loose.parameters.spring:
            spring[:] = 0.0
        found = observe(loose, states, inputs=inputs)
        assert relative(found.accelerations, a) <= 1e-10
        assert relative(found.forces, forces[:, 6:]) <= 1e-10


def _loose(joint):
    return replace(joint, stiffness=0.0, damping=0.0, friction=0.0)


def test_observe_takes_prescribed_motion_from_the_states_when_told_nothing():
    """Row by row: each state is looked at as it is, prescribed coordinates not accelerating."""
    system = flatten(random_model(2, roles=("motion", "torque")))
    states = random_states(system, 2, 5)
    together = observe(system, states).accelerations
    given, c = system.tree.given, system.n_coordinates
    inputs = no_inputs(system, n_rows=5)
    inputs.given[..., 0] = states[:, None, 13 + given]
    inputs.given[..., 1] = states[:, None, 13 + c + given]
    assert relative(together, observe(system, states, inputs=inputs).accelerations) == 0.0


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    shift=st.tuples(*[st.floats(-100.0, 100.0)] * 6),
    turn=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
)
def test_physics_is_the_same_for_every_observer(seed, shift, turn):
    """Moved, set in steady motion or turned round, a system does the same in its own axes."""
    system = flatten(random_model(seed % 20, roles=("torque", "passive"), springs=True))
    x = random_states(system, seed, 1)
    y, world = x.copy(), Rotation.from_rotvec(turn)
    y[:, :3] = world.apply(x[:, :3]) + shift[:3]
    y[:, 3:7] = (world * Rotation.from_quat(x[:, 3:7])).as_quat()
    y[:, 7:10] = world.apply(x[:, 7:10]) + shift[3:]
    a, b = observe(system, x), observe(system, y)
    assert relative(b.accelerations, a.accelerations) <= 1e-12
    here, there = balance(system, x), balance(system, y)
    turned = world.apply(here.angular_momentum_about_com)
    size = np.abs(there.angular_momentum).max() + np.abs(turned).max()
    assert np.abs(there.angular_momentum_about_com - turned).max() <= 1e-12 * size


def test_frames_bodies_and_their_poses():
    system = flatten(load_model("cbk-arm"))
    link, R, p = system.frame_pose("hand")
    assert link == system.body_link["link_3"]
    assert R == pytest.approx(np.eye(3))
    assert p == pytest.approx([0.310, 0.0, 0.0])


def test_uniform_motion_costs_nothing():
    system = flatten(random_model(3))
    x = random_states(system, 3, 1)
    x[:, 10:13] = 0.0
    x[:, 13 + system.n_coordinates :] = 0.0
    assert np.abs(observe(system, x).accelerations).max() == 0.0
    assert direction(np.random.default_rng(0)) is not None
