"""The weak form: conjugate momenta, test functions, exact without noise and honest with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from systems import random_model, random_states
from torque_flights import MODELS, flown, plan_of

import freefloat as ff
from freefloat.dynamics import System, balance, flatten, inverse_dynamics, system_vector
from freefloat.dynamics.equations import conjugate_momenta, conjugate_regressor, coordinates_of
from freefloat.dynamics.frames import rotations
from freefloat.errors import IdentificationError
from freefloat.excitation import Pulses, Wave, default_plan
from freefloat.identification.linear.torque import TORQUE
from freefloat.identification.linear.weak import WEAK_FORM
from freefloat.identification.linear.weighting_functions import bump_functions, cut_grid
from freefloat.model import Model, Wheel
from freefloat.model.parts import Drive
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product

EXACT = 1e-8  # relative to natural size; measured: 3e-11 or better everywhere
TREES = [(0, "floating"), (1, "floating"), (2, "floating"), (6, "planar"), (7, "fixed")]
N = 10


def rotored(seed: int, root: str) -> System:
    """A random branched tree with prismatic joints, wheels on bus and link, and a geared drive."""
    model: Model = random_model(seed, n_joints=6, root=root, prismatic=0.3)
    heavy = [body.name for body in model.bodies[1:] if body.mass > 0.0]
    wheels = (
        Wheel("rw_bus", "bus", (0.0, 0.6, 0.8), 0.2, role="torque"),
        Wheel("rw_link", heavy[0], (0.0, 0.0, 1.0), 0.03, role="torque"),
    )
    turning = next(joint.name for joint in model.joints if joint.type == "revolute")
    drive = Drive(0.02, 20.0, 0.1, ratio=9.0, form="geared", role="torque")
    return flatten(replace(model, wheels=wheels).with_joint(turning, role="passive", drive=drive))


def motion(system: System, states: np.ndarray, a: np.ndarray | None = None):
    """Rate, velocity in root axes and coordinates of states."""
    if a is None:
        a = np.zeros((len(states), 6 + system.n_coordinates))
    velocity = np.einsum("nji,nj->ni", rotations(states), states[:, 7:10])
    return states[:, 10:13], velocity, coordinates_of(states, a)


@pytest.mark.parametrize(("seed", "root"), TREES)
def test_momenta_and_slopes_are_derivatives_of_the_energy(seed: int, root: str) -> None:
    system = rotored(seed, root)
    states, c = random_states(system, seed, N), system.n_coordinates
    parts = conjugate_regressor(system, *motion(system, states))
    momenta, slopes = (part @ system_vector(system) for part in parts)
    size = np.abs(momenta).max()
    for j in range(c):
        by_rate, by_angle = (_slope(system, states, first + j) for first in (13 + c, 13))
        # fourth-order differences with 1e-3: rounding of the energy over 1e-3
        np.testing.assert_allclose(momenta[:, 6 + j], by_rate, atol=1e-10 * size)
        np.testing.assert_allclose(slopes[:, j], by_angle, atol=1e-9 * size)


def _slope(system: System, states: np.ndarray, column: int) -> np.ndarray:
    """d kinetic energy / d a column of the states."""
    h = 1e-3
    e = h * np.eye(states.shape[1])[column]
    T = {k: balance(system, states + k * e).kinetic_energy for k in (-2, -1, 1, 2)}
    return (8.0 * (T[1] - T[-1]) - (T[2] - T[-2])) / (12.0 * h)


@pytest.mark.parametrize(("seed", "root"), TREES)
def test_root_rows_are_the_momentum_and_plain_momenta_agree(seed: int, root: str) -> None:
    system = rotored(seed, root)
    states = random_states(system, seed, N)
    states[:, :3] = 0.0  # momentum about the world's origin is then about the root's
    parts = conjugate_regressor(system, *motion(system, states))
    whole = [part @ system_vector(system) for part in parts]
    plain = conjugate_momenta(system, *motion(system, states))
    size = np.abs(whole[0]).max()
    for a, b in zip(whole, plain, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-13 * size)
    at, R = balance(system, states), rotations(states)
    world = [np.einsum("nij,nj->ni", R, plain[0][:, k : k + 3]) for k in (0, 3)]
    np.testing.assert_allclose(world[0], at.angular_momentum, atol=1e-12 * size)
    np.testing.assert_allclose(world[1], at.linear_momentum, atol=1e-12 * size)


@pytest.mark.parametrize(("seed", "root"), TREES[:4])
def test_lagrange_gives_the_forces_of_newton_and_euler(seed: int, root: str) -> None:
    """d/dt dT/d(dq) - dT/dq along any motion is the generalised force of inverse dynamics."""
    system, h = rotored(seed, root), 1e-4
    states, c = random_states(system, seed, N), system.n_coordinates
    a = np.random.default_rng(seed).normal(size=(N, 6 + c))
    if root == "planar":
        a[:, [0, 1, 5]] = 0.0
    before, after = (
        conjugate_momenta(system, *motion(system, moved(states, a, t)))[0] for t in (-h, h)
    )
    _, slopes = conjugate_momenta(system, *motion(system, states))
    forces = inverse_dynamics(system, states[:, 10:13], a[:, :6], coordinates_of(states, a))
    found = (after - before)[:, 6:] / (2.0 * h) - slopes
    np.testing.assert_allclose(found, forces[:, 6:], atol=1e-6 * np.abs(forces).max())


def moved(states: np.ndarray, a: np.ndarray, t: float) -> np.ndarray:
    """States a time t later, to second order; accelerations of the root in root axes."""
    c, later = a.shape[1] - 6, states.copy()
    turn = t * states[:, 10:13] + 0.5 * t**2 * a[:, :3]
    later[:, 3:7] = quaternion_product(states[:, 3:7], quaternion_from_rotation_vector(turn))
    later[:, 7:10] += t * np.einsum("nij,nj->ni", rotations(states), a[:, 3:6])
    later[:, 10:13] += t * a[:, :3]
    later[:, 13 : 13 + c] += t * states[:, 13 + c :] + 0.5 * t**2 * a[:, 6:]
    later[:, 13 + c :] += t * a[:, 6:]
    return later


# ---- Test functions ------------------------------------------------------------------------------


@pytest.mark.parametrize("half", [5, 8, 20, 60])
def test_integration_by_parts_is_exact_whatever_the_width(half: int) -> None:
    t = np.arange(601) / 100.0
    f, df = np.sin(3.0 * t), 3.0 * np.cos(3.0 * t)
    kink = np.where(t < 2.0, 0.0, 1.0)
    functions = bump_functions(cut_grid(t, np.array([200])), half)
    left = functions.integral(f + 5.0 * kink * (t - 2.0), -df - 5.0 * kink)
    assert np.max(np.abs(left)) < 1e-11  # the eighth difference of sin(0.03 k) is 1e-12


def test_bumps_add_up_to_one_and_only_neighbours_share_noise() -> None:
    t = np.arange(401) / 50.0
    functions = bump_functions(cut_grid(t, np.array([], dtype=int)))
    slopes, values = (m.toarray() for m in functions.matrices)
    sums = values.sum(axis=0)[30:-30]
    np.testing.assert_allclose(sums, sums[0], rtol=1e-2)
    one = np.ones((401, 1))
    blocks, neighbours = functions.covariance([{0: (one, 0.0 * one)}, {0: (0.0 * one, one)}], 1)
    whole = slopes @ slopes.T + values @ values.T
    np.testing.assert_allclose(blocks[:, 0, 0], np.diag(whole), rtol=1e-6)
    np.testing.assert_allclose(neighbours[:, 0, 0], np.diag(whole, 1), rtol=1e-9)
    assert np.max(np.abs(np.triu(whole, 2))) < 1e-3 * np.max(whole)


def test_test_functions_need_room() -> None:
    t = np.arange(16) / 10.0
    with refused(IdentificationError, "samples.gaps", naming="17"):
        bump_functions(cut_grid(t, np.array([], dtype=int)))
    with refused(IdentificationError, "option.range"):
        bump_functions(cut_grid(np.arange(100.0), np.array([], dtype=int)), 4)


# ---- Identification ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_noise_free_flights_give_back_the_truth(name: str) -> None:
    flight = flown(name, duration=7.0)
    assert flight.error(flight.solved(WEAK_FORM.equations)) < EXACT


def test_unmeasured_rates_are_differences_of_the_encoders() -> None:
    flight = flown("spatial-capture", without=("joint_rate",))
    assert flight.samples.derived
    assert flight.error(flight.solved(WEAK_FORM.equations)) < EXACT
    noisy = flown("planar-capture", quiet=False, rate=20.0, duration=60.0, without=("joint_rate",))
    found = noisy.solved(WEAK_FORM.equations)
    assert 0.9 < found.chi2 / (found.n_rows - found.rank) < 1.1  # 800 rows: 5 % scatter


def test_gravity_drag_wrench_and_gaps_are_accounted_for() -> None:
    model = ff.load_model("dual-arm")
    root = replace(model.root, linear_drag=2.0, angular_drag=0.7)
    model = replace(model, root=root, gravity=(0.01, -0.02, 0.005))
    push = {"force.x": Wave(4.0, period=5.0), "torque.y": Pulses(((3.0, 2.5, 1.5),))}
    flight = flown(model, plan=replace(plan_of(model, 10.0), wrench=push))
    samples = flight.samples.select(np.r_[0:610, 660:1001])
    assert replace(flight, samples=samples).error(flight.solved(WEAK_FORM.equations)) < EXACT


def test_springs_of_passive_joints_are_found() -> None:
    model = ff.load_model("servicer-wings")
    hinges = [j.name for j in model.joints if j.role == "passive"]
    start = ff.Start(rate=(0.02, 0.01, 0.03), speeds={name: 0.05 for name in hinges})
    plan = replace(default_plan(model, duration=10.0), start=start)
    free = ("bus.*", "hinge_*.stiffness", "hinge_*.damping")
    flight = flown(model, free=free, plan=plan, without=("joint_torque",))
    assert flight.samples.torque is None or flight.samples.torque.shape[1] > len(hinges)
    assert flight.error(flight.solved(WEAK_FORM.equations)) < 1e-6


@pytest.mark.parametrize("name", ["planar-capture", "spatial-capture"])
def test_deviations_are_honest_and_smaller_than_those_of_torque_rows(name: str) -> None:
    flights = [flown(name, duration=15.0, rate=20.0, quiet=False, seed=k) for k in range(12)]
    stds = {}
    for make in (WEAK_FORM.equations, TORQUE.equations):
        found = [flight.solved(make) for flight in flights]
        chi2 = [f.chi2 / (f.n_rows - f.rank) for f in found]
        z = np.array([f.values / f.std for f in found])
        assert 0.9 < np.mean(chi2) < 1.1
        assert 0.8 < np.sqrt(np.mean(z**2)) < 1.25
        stds[make] = np.mean([f.std for f in found], axis=0)
    gain = stds[TORQUE.equations] / stds[WEAK_FORM.equations]
    assert np.exp(np.mean(np.log(gain))) > 1.5  # measured: 2 to 5


def test_without_the_covariance_the_rows_are_the_same() -> None:
    flight = flown("planar-capture", duration=4.0)
    a, b = (
        WEAK_FORM.equations(flight.system, flight.samples, flight.values, noise=noise)
        for noise in (True, False)
    )
    np.testing.assert_array_equal(a.Y, b.Y)
    np.testing.assert_array_equal(a.y, b.y)
    assert a.blocks.shape == b.blocks.shape


def test_missing_channels_are_named() -> None:
    flight = flown("planar-capture", duration=3.0, without=("velocity", "attitude"))
    with refused(IdentificationError, "channel.missing", naming="base.velocity"):
        WEAK_FORM.equations(flight.system, flight.samples, flight.values)
