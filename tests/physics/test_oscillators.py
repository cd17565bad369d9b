"""Fuel, springs, drag, thrust and weight in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from motions import integrate
from scipy.special import ellipj, ellipk

from freefloat.dynamics import Start, balance, flatten
from freefloat.dynamics.equations import no_inputs
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Placement, Root, Tank, Thruster

SECONDS = 60.0
BALL = (2.0, 0.0, 0.0, 2.0, 0.0, 2.0)
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def deviation(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest error relative to the largest exact value."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def tanked(root: str, *, inertia=(150.0, 0.0, 0.0, 110.0, 0.0, 90.0)) -> Model:
    """A bus with 60 kg of fuel whose pendulum hangs at the bus's centre of mass."""
    com = (0.2, -0.1, 0.4)
    tank = Tank("fuel", "bus", 60.0, 0.4, com, stiffness=(25.0, 16.0))
    return Model("tanked", Root("bus", root), (Body("bus", 300.0, com, inertia),), tanks=(tank,))


@pytest.mark.promise("P4")
@pytest.mark.parametrize("axis", [0, 1])
def test_slosh_on_a_fixed_base(axis, figure):
    """One joint at a time, m l^2 ddq = -k q: a sine however large, at sqrt(k / m l^2)."""
    model = tanked("fixed")
    tank, system = model.tanks[0], flatten(model)
    frequency = np.sqrt(tank.stiffness[axis] / (tank.mass * tank.length**2))
    start = Start(coordinates={f"fuel_{axis + 1}": 0.5})
    times, states = integrate(system, start, seconds=SECONDS)
    worst = deviation(states[:, 13 + axis], 0.5 * np.cos(frequency * times))
    figure("P4", f"slosh about axis {axis + 1}, fixed base, 60 s: {worst:.1e}")
    assert worst <= 1e-8
    assert np.abs(states[:, 13 + 1 - axis]).max() <= 1e-15


@pytest.mark.promise("P4")
@pytest.mark.parametrize("axis", [0, 1])
def test_slosh_on_a_free_base(axis, figure):
    """With the pivot at the bus's CoM, w^2 = k (1 / I + 1 / mu l^2), mu = m M / (m + M)."""
    model = tanked("floating")
    tank, bus, system = model.tanks[0], model.bodies[0], flatten(model)
    reduced = tank.mass * bus.mass / (tank.mass + bus.mass) * tank.length**2
    turning = bus.inertia[0] if axis == 0 else bus.inertia[3]
    frequency = np.sqrt(tank.stiffness[axis] * (1.0 / turning + 1.0 / reduced))
    start = Start(coordinates={f"fuel_{axis + 1}": 0.5})
    times, states = integrate(system, start, seconds=SECONDS)
    swing = 0.5 * np.cos(frequency * times)
    turn = -reduced / (reduced + turning) * (swing - swing[0])  # no angular momentum in total
    angle = 2.0 * np.arctan2(states[:, 3 + axis], states[:, 6])
    worst = max(deviation(states[:, 13 + axis], swing), deviation(angle, turn))
    com = balance(system, states).com
    assert np.abs(com - com[0]).max() <= 1e-13
    figure("P4", f"slosh about axis {axis + 1}, free base, 60 s: {worst:.1e}")
    assert worst <= 1e-8


def slider(*, damping: float = 0.0, root: str = "floating") -> Model:
    """Two balls, 40 kg and 8 kg, joined by a slider with a spring, askew to everything."""
    a, b = Body("a", 40.0, (0.0, 0.0, 0.0), BALL), Body("b", 8.0, (0.0, 0.0, 0.0), BALL)
    joint = Joint(
        "slider", "prismatic", "a", "b", Placement((0.0, 0.0, 0.0), (0.3, -0.5, 0.8)),
        (0.0, 0.6, 0.8), role="passive", stiffness=30.0, damping=damping, rest=1.0,
    )  # fmt: skip
    return Model("slider", Root("a", root), (a, b), (joint,))


@pytest.mark.promise("P4")
@pytest.mark.parametrize("damping", [0.0, 0.4])
def test_two_bodies_on_a_slider(damping, figure):
    """Relative motion at sqrt(k / mu) (damped: as one oscillator of mass mu), the CoM at rest."""
    model = slider(damping=damping)
    joint, system = model.joints[0], flatten(model)
    mu = 40.0 * 8.0 / 48.0
    decay = damping / (2.0 * mu)
    frequency = np.sqrt(joint.stiffness / mu - decay**2)
    times, states = integrate(system, Start(coordinates={"slider": 1.3}), seconds=SECONDS)
    wave = np.cos(frequency * times) + decay / frequency * np.sin(frequency * times)
    stretch = 0.3 * np.exp(-decay * times) * wave
    along = joint.placement.rotation @ np.array(joint.axis)
    place = -8.0 / 48.0 * np.outer(stretch - stretch[0], along)
    worst = max(deviation(states[:, 13] - joint.rest, stretch), deviation(states[:, :3], place))
    com = balance(system, states).com
    assert np.abs(com - com[0]).max() <= 1e-13
    figure("P4", f"two-body slider, damping {damping:g}, 60 s: {worst:.1e}")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_drag_slows_exponentially(figure):
    ball = Body("ball", 20.0, (0.0, 0.0, 0.0), BALL)
    model = Model("ball", Root("ball", "floating", 0.5, 0.08), (ball,))
    v, w = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.4])
    start = Start(velocity=tuple(v), rate=tuple(w))
    times, states = integrate(flatten(model), start, seconds=SECONDS)
    slow, turn = np.exp(-0.5 / 20.0 * times)[:, None], np.exp(-0.08 / 2.0 * times)[:, None]
    worst = max(
        deviation(states[:, 7:10], v * slow),
        deviation(states[:, :3], v * (1.0 - slow) * 20.0 / 0.5),
        deviation(states[:, 10:13], w * turn),
    )
    figure("P4", f"drag, 60 s: {worst:.1e}")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_thrusters_push_and_turn(figure):
    """A couple of thrusters off the CoM turns the body, one through it pushes along the turn."""
    com = np.array([0.3, 0.1, -0.2])
    body = Body("bus", 50.0, tuple(com), (8.0, 0.0, 0.0, 9.0, 0.0, 10.0))
    thrusters = (
        Thruster("a", "bus", (1.0, 0.0, 0.0), tuple(com + [0.0, -0.5, 0.0])),
        Thruster("b", "bus", (-1.0, 0.0, 0.0), tuple(com + [0.0, 0.5, 0.0])),
        Thruster("push", "bus", (0.0, 0.0, 1.0), tuple(com)),
    )
    model = Model("thrust", Root("bus"), (body,), thrusters=thrusters)
    system, forces = flatten(model), np.array([0.02, 0.02, 0.5])

    def inputs(time):
        table = no_inputs(system, n_rows=len(time))
        table.push[..., :3] = forces
        return table

    times, states = integrate(system, Start(), seconds=SECONDS, inputs=inputs)
    turn = 0.02 / 10.0 * times  # 2 x 0.02 N x 0.5 m on 10 kg m^2
    angle = 2.0 * np.unwrap(np.arctan2(states[:, 5], states[:, 6]))
    com_path = balance(system, states).com - com
    path = np.zeros_like(com_path)
    path[:, 2] = 0.5 * 0.5 / 50.0 * times**2
    worst = max(
        deviation(states[:, 12], turn),
        deviation(angle, 0.5 * turn * times),
        deviation(com_path, path),
    )
    figure("P4", f"thrusters, 60 s: {worst:.1e}")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_world_wrench_pushes_in_world_axes(figure):
    """A steady force fixed in the world on a turning ball: a parabola."""
    model = Model("ball", Root("ball"), (Body("ball", 20.0, (0.0, 0.0, 0.0), BALL),))
    system, force = flatten(model), np.array([0.3, -0.1, 0.2])

    def inputs(time):
        table = no_inputs(system, n_rows=len(time))
        table.push[..., 3:] = force
        return table

    start = Start(rate=(0.3, 0.2, -0.4), velocity=(0.1, 0.0, 0.0))
    times, states = integrate(system, start, seconds=SECONDS, inputs=inputs)
    path = 0.5 / 20.0 * np.outer(times**2, force) + np.outer(times, [0.1, 0.0, 0.0])
    worst = deviation(states[:, :3], path)
    figure("P4", f"force fixed in the world, 60 s: {worst:.1e}")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_pendulum_in_uniform_gravity(figure):
    """A heavy pendulum let go at 2 rad: sin(q / 2) = k cd(w t, k), Jacobi's elliptic functions."""
    mass, arm, inertia, g = 3.0, 0.8, 0.4, 1.6
    bodies = (Body("ground", 1.0), Body("bob", mass, (arm, 0.0, 0.0), (0.1, 0, 0, 0.4, 0, inertia)))
    hinge = Joint("hinge", "revolute", "ground", "bob", role="passive")
    root = Root("ground", "fixed")
    model = Model("pendulum", root, bodies, (hinge,), gravity=(g, 0.0, 0.0))
    pace = np.sqrt(mass * g * arm / (inertia + mass * arm**2))
    k = np.sin(1.0)
    times, states = integrate(flatten(model), Start(coordinates={"hinge": 2.0}), seconds=SECONDS)
    _, cn, dn, _ = ellipj(pace * times, k * k)
    worst = deviation(states[:, 13], 2.0 * np.arcsin(k * cn / dn))
    figure("P4", f"pendulum of 2 rad (period {4 * ellipk(k * k) / pace:.2f} s), 60 s: {worst:.1e}")
    assert worst <= 1e-8
