"""Inverse dynamics, regressors, momentum and energy: each formed in two ways that must agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engines import Pinocchio
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from systems import random_model, random_states

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


SEEDS = {"floating": range(6), "planar": (6,), "fixed": (7,)}


@pytest.fixture(params=SEEDS)
def models(request) -> list[Model]:
    return [rotored(seed, request.param) for seed in SEEDS[request.param]]


def root_of(models: list[Model]) -> str:
    return f"{models[0].root.type} roots"


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
def test_regressor_times_parameters_is_inverse_dynamics(models, figure):
    worst = 0.0
    for seed, model in enumerate(models):
        system = flatten(model)
        states, a = sampled(system, seed)
        samples = states[:, 10:13], a[:, :6], coordinates_of(states, a)
        forces = inverse_dynamics(system, *samples)
        Y = force_regressor(system, *samples)
        worst = max(worst, relative(Y @ system_vector(system), forces))
    figure("P7", f"force regressor x phi, {root_of(models)}: {worst:.1e} relative")
    assert worst <= 1e-11


@pytest.mark.promise("P7")
def test_inverse_dynamics_is_pinocchios(models, figure):
    worst = 0.0
    for seed, model in enumerate(models):
        system, engine = flatten(model), Pinocchio(model)
        states, a = sampled(system, seed)
        found = inverse_dynamics(system, states[:, 10:13], a[:, :6], coordinates_of(states, a))
        exact = np.array([engine.forces(x, b) for x, b in zip(states, a, strict=True)])
        # what an air bearing or a foundation carries is not Pinocchio's business
        carried = {"floating": [], "planar": [0, 1, 5], "fixed": range(6)}[model.root.type]
        found[:, list(carried)] = 0.0
        worst = max(worst, relative(found, exact))
    figure("P7", f"inverse dynamics against Pinocchio, {root_of(models)}: {worst:.1e} relative")
    assert worst <= 1e-11


@pytest.mark.promise("P7")
def test_regressor_with_a_field_gives_what_is_applied(figure):
    """In an orbit and uniform gravity: no force on the root, the efforts on the joints."""
    worst = max(unexplained_in_an_orbit(seed) for seed in range(4))
    figure("P7", f"force regressor x phi in an orbit: {worst:.1e} relative")
    assert worst <= 1e-11


def unexplained_in_an_orbit(seed: int) -> float:
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
    Y = force_regressor(system, states[:, 10:13], a[:, :6], coordinates_of(states, a), field=field)
    found = Y @ system_vector(system)
    exact = np.hstack([np.zeros((N_STATES, 6)), motion.forces])
    return relative(found, exact)


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
def test_momentum_and_energy_regressors(models, figure):
    """Regressors against `balance`, and `balance` against Pinocchio."""
    worst = max(momentum_error(model, seed) for seed, model in enumerate(models))
    figure("P7", f"momentum, energy and their regressors, {root_of(models)}: {worst:.1e} relative")
    assert worst <= 1e-11


def momentum_error(model: Model, seed: int) -> float:
    """Momentum about the root's origin in root axes, moved to the world and the CoM; energy."""
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
    theirs = [np.array(rows) for rows in zip(*map(engine.balance, states), strict=True)]
    pairs = [
        (linear, kept.linear_momentum),
        (about_com, kept.angular_momentum_about_com),
        ((energies @ phi)[:, None], kept.kinetic_energy[:, None]),
        (kept.linear_momentum, theirs[0]),
        (kept.kinetic_energy[:, None], theirs[3][:, None]),
    ]
    if model.root.type != "fixed":  # Pinocchio leaves what is fixed to the world out of the CoM
        pairs += [(kept.angular_momentum_about_com, theirs[1]), (kept.com, theirs[2])]
    return max(relative(*pair) for pair in pairs)


def test_mass_matrix_is_symmetric_positive_and_what_inverse_dynamics_says(models):
    for seed, model in enumerate(models):
        system = flatten(model)
        x = random_states(system, seed, 1)[0]
        n, free = system.n_coordinates, system.tree.free
        H = mass_matrix(system, x[13 : 13 + n])
        unit = np.eye(6 + n)[free]
        q = np.zeros((len(free), n, 3))
        q[:, :, 0], q[:, :, 2] = x[13 : 13 + n], unit[:, 6:]
        forces = inverse_dynamics(system, np.zeros((len(free), 3)), unit[:, :6], q)
        assert np.array_equal(H, H.T)
        assert np.linalg.eigvalsh(H)[0] > 0.0
        assert np.abs(H - forces[:, free]).max() <= 1e-13 * H.max()


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
    assert np.array_equal(R, np.eye(3))
    assert p == pytest.approx([0.310, 0.0, 0.0])


def test_uniform_motion_costs_nothing():
    system = flatten(random_model(3))
    x = random_states(system, 3, 1)
    x[:, 10:13] = 0.0
    x[:, 13 + system.n_coordinates :] = 0.0
    assert np.abs(observe(system, x).accelerations).max() == 0.0
