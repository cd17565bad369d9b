"""Gravity's gradient: the torque, the force, libration and relative motion in closed form.

A small, slow Earth (n = 0.1 rad/s) makes a test of a minute see several orbits; only n enters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engines import Pinocchio
from motions import integrate
from scipy.spatial.transform import Rotation
from scipy.special import ellipj
from systems import random_model, random_states

from freefloat.dynamics import Start, flatten, observe
from freefloat.model import load_model
from freefloat.model.inertia import tensor
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Orbit, Root

ORBIT = Orbit(radius=1e5, mu=1e13)
N = ORBIT.rate
ETS_VII = Orbit(radius=6916e3)
BALL = (2.0, 0.0, 0.0, 2.0, 0.0, 2.0)


def test_the_rate_of_ets_vii():
    assert ETS_VII.rate == pytest.approx(1.09771e-3, rel=1e-5)
    assert pytest.approx(0.1, rel=1e-15) == N


@pytest.mark.promise("P4")
def test_gradient_torque_on_a_rigid_body(figure):
    """3 mu / R^3 r x I r about the CoM, and no force there, in any attitude at any time."""
    rng, worst = np.random.default_rng(2), 0.0
    body = Body("bus", 300.0, (0.4, -0.2, 0.3), (90.0, 4.0, -7.0, 120.0, 5.0, 150.0))
    inertia, com = tensor(body.inertia), np.array(body.com)
    radial, normal = np.array([0.6, 0.0, 0.8]), np.array([0.8, 0.0, -0.6])
    orbit = replace(ETS_VII, radial=tuple(radial), normal=tuple(normal))
    system = flatten(Model("rigid", Root("bus"), (body,), orbit=orbit))
    for _ in range(50):
        attitude, time = Rotation.random(rng=rng), float(rng.uniform(0.0, 6000.0))
        start = Start(tuple(-attitude.apply(com)), tuple(attitude.as_quat()))
        found = observe(system, start.vector(system), times=time).accelerations[0]
        turn = orbit.rate * time
        out = np.cos(turn) * radial + np.sin(turn) * np.cross(normal, radial)
        r = attitude.inv().apply(out)
        torque = 3.0 * orbit.mu / orbit.radius**3 * np.cross(r, inertia @ r)
        exact = np.linalg.solve(inertia, torque)
        at_com = found[3:6] + np.cross(found[:3], com)
        size = np.abs(exact).max()
        worst = max(worst, np.abs(found[:3] - exact).max() / size, np.abs(at_com).max() / size)
    figure("P4", f"gravity-gradient torque: {worst:.1e} relative, 50 attitudes")
    assert worst <= 1e-8


def dumbbell(orbit: Orbit) -> Model:
    """Two balls, 40 and 8 kg, free to slide along x."""
    bodies = (Body("a", 40.0, (0.0, 0.0, 0.0), BALL), Body("b", 8.0, (0.0, 0.0, 0.0), BALL))
    slider = Joint("slider", "prismatic", "a", "b", axis=(1.0, 0.0, 0.0), role="passive")
    return Model("dumbbell", Root("a"), bodies, (slider,), orbit=orbit)


@pytest.mark.promise("P4")
def test_gradient_force_is_the_inverse_square_law_to_first_order(figure):
    """Along the radius, the track and the normal: the error falls with the distance squared."""
    lengths = ETS_VII.radius * np.array([1e-3, 5e-4, 2.5e-4])
    attitudes = {
        "radial": (Rotation.identity(), 2.0),
        "track": (Rotation.from_rotvec([0.0, 0.0, np.pi / 2.0]), -1.0),
        "normal": (Rotation.from_rotvec([0.0, -np.pi / 2.0, 0.0]), -1.0),
    }
    system, worst, orders = flatten(dumbbell(ETS_VII)), 0.0, []
    centre = np.array([ETS_VII.radius, 0.0, 0.0])
    for attitude, factor in attitudes.values():
        errors = []
        for d in lengths:
            along = attitude.apply([1.0, 0.0, 0.0])
            places = [centre - along * d * 8.0 / 48.0, centre + along * d * 40.0 / 48.0]
            pulls = [-ETS_VII.mu * p / np.linalg.norm(p) ** 3 for p in places]
            start = Start(
                tuple(places[0] - centre), tuple(attitude.as_quat()), coordinates={"slider": d}
            )
            found = observe(system, start.vector(system)).accelerations[0, 6]
            linear = factor * ETS_VII.rate**2 * d
            worst = max(worst, abs(found / linear - 1.0))
            errors.append(abs(found - along @ (pulls[1] - pulls[0])))
        orders.append(np.log2(np.array(errors[:-1]) / errors[1:]))
    figure("P4", f"gradient force on a dumbbell: {worst:.1e} of its first-order value")
    assert worst <= 1e-8
    assert np.min(orders) > 1.9  # what is left out is of second order (or higher, by symmetry)


@pytest.mark.promise("P4")
def test_gradient_acts_on_every_body_of_a_tree(figure):
    """Each body taken apart into six point masses, each pulled by G p on its own."""
    worst = 0.0
    for seed in range(4):
        model = random_model(seed, massless=False)
        with_orbit = flatten(replace(model, orbit=ORBIT))
        without = flatten(model)
        states = random_states(without, seed, 5)
        radial = np.array([1.0, 0.0, 0.0])
        G = N**2 * (3.0 * np.outer(radial, radial) - np.eye(3))
        for x in states:
            pull = observe(with_orbit, x).accelerations[0] - observe(without, x).accelerations[0]
            worst = max(worst, _relative(pull, _pull_by_elements(without, model, x, G)))
    figure("P4", f"gradient on random trees, element by element: {worst:.1e} relative, 20 states")
    assert worst <= 1e-8


def _pull_by_elements(system, model: Model, x: np.ndarray, G: np.ndarray) -> np.ndarray:
    """H^-1 sum J^T G p over mass elements, J by central differences of their positions."""
    engine, n = Pinocchio(model), system.n_coordinates
    H = np.zeros((6 + n, 6 + n))
    still = x.copy()
    still[7:13], still[13 + n :] = 0.0, 0.0
    for k in range(6 + n):
        H[:, k] = engine.forces(still, np.eye(6 + n)[k])

    def elements(turn, shift, q):
        R = Rotation.from_quat(x[3:7]) * Rotation.from_rotvec(turn)
        origin = x[:3] + Rotation.from_quat(x[3:7]).apply(shift)
        poses = {model.root.body: (R.as_matrix(), origin)}
        for joint, value in zip(model.assembly.joints, q, strict=True):
            A, p = poses[joint.parent]
            R0, p0 = A @ joint.placement.rotation, A @ joint.placement.position + p
            axis = np.array(joint.axis)
            if joint.type == "revolute":
                R0 = R0 @ Rotation.from_rotvec(axis * value).as_matrix()
            else:
                p0 = p0 + R0 @ axis * value
            poses[joint.child] = (R0, p0)
        points = [_points(body) @ poses[body.name][0].T + poses[body.name][1] for body in bodies]
        return np.concatenate(points)

    bodies = model.assembly.bodies
    weights = np.concatenate([np.full(6, body.mass / 6.0) for body in bodies])
    q, h = x[13 : 13 + n], 1e-5
    force = (weights[:, None] * (elements(np.zeros(3), np.zeros(3), q) @ G)).ravel()
    power = np.zeros(6 + n)
    for k in range(6 + n):
        e = h * np.eye(6 + n)[k]
        ahead = elements(e[:3], e[3:6], q + e[6:])
        behind = elements(-e[:3], -e[3:6], q - e[6:])
        power[k] = ((ahead - behind).ravel() / (2.0 * h)) @ force
    return np.linalg.solve(H, power)


def _points(body: Body) -> np.ndarray:
    """Six equal masses on the principal axes with the body's CoM and inertia."""
    moments, axes = np.linalg.eigh(tensor(body.inertia))
    second = 0.5 * moments.sum() - moments  # integral of x^2, y^2, z^2 along the principal axes
    reach = np.sqrt(3.0 * second / body.mass)
    arms = np.concatenate([np.diag(reach), -np.diag(reach)])
    return arms @ axes.T + np.array(body.com)


def _relative(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def librating(amplitude: float, *, seconds: float):
    """Times, pitch angle and the libration rate of a long body let go in pitch."""
    Ir, It, In = 30.0, 110.0, 95.0  # along the radius, the track, the normal
    body = Body("bus", 100.0, (0.0, 0.0, 0.0), (Ir, 0.0, 0.0, It, 0.0, In))
    system = flatten(Model("rod", Root("bus"), (body,), orbit=ORBIT))
    attitude = (0.0, 0.0, np.sin(amplitude / 2.0), np.cos(amplitude / 2.0))
    start = Start(attitude=attitude, rate=(0.0, 0.0, N))
    times, states = integrate(system, start, seconds=seconds)
    turn = 2.0 * np.unwrap(np.arctan2(states[:, 5], states[:, 6]), period=np.pi)
    return times, turn - N * times, N * np.sqrt(3.0 * (It - Ir) / In)


@pytest.mark.promise("P4")
def test_small_pitch_libration(figure):
    """Let go by 1e-5 rad it swings at n sqrt(3 (I_track - I_radial) / I_normal)."""
    times, pitch, rate = librating(1e-5, seconds=120.0)
    worst = np.abs(pitch - 1e-5 * np.cos(rate * times)).max() / 1e-5
    figure("P4", f"small pitch libration, 120 s: {worst:.1e} of its amplitude")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_large_pitch_libration(figure):
    """Let go by 0.8 rad: sin(pitch) = k cd(w t, k) with k = sin(0.8)."""
    times, pitch, rate = librating(0.8, seconds=120.0)
    k = np.sin(0.8)
    _, cn, dn, _ = ellipj(rate * times, k * k)
    worst = np.abs(pitch - np.arcsin(k * cn / dn)).max() / 0.8
    figure("P4", f"pitch libration of 0.8 rad, 120 s: {worst:.1e} of its amplitude")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_a_free_ball_follows_hills_equations(figure):
    """Clohessy and Wiltshire's solution, turned back into inertial axes; two orbits."""
    ball = Body("ball", 20.0, (0.0, 0.0, 0.0), BALL)
    system = flatten(Model("ball", Root("ball"), (ball,), orbit=ORBIT))
    (x, y, z), (u, v, w) = (3.0, -2.0, 1.0), (0.2, 0.1, -0.3)
    start = Start((x, y, z), velocity=(u - N * y, v + N * x, w))
    times, states = integrate(system, start, seconds=126.0)
    t = N * times
    c, s = np.cos(t), np.sin(t)
    radial = (4.0 - 3.0 * c) * x + s * u / N + 2.0 * (1.0 - c) * v / N
    track = 6.0 * (s - t) * x + y - 2.0 * (1.0 - c) * u / N + (4.0 * s - 3.0 * t) * v / N
    exact = np.column_stack([c * radial - s * track, s * radial + c * track, z * c + w * s / N])
    worst = _relative(states[:, :3], exact)
    figure("P4", f"Clohessy-Wiltshire, two orbits: {worst:.1e} relative")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_one_kilometre_of_orbit_radius(figure):
    """It changes the torque on ETS-VII by the order of 1e-6 N m (paper 002), in the worst attitude.

    The worst is the radius half-way between the axes of largest and least inertia.
    """
    bus = load_model("ets7").body("bus")
    moments, axes = np.linalg.eigh(tensor(bus.inertia))
    body = replace(bus, com=(0.0, 0.0, 0.0))
    radial = (axes[:, 0] + axes[:, 2]) / np.sqrt(2.0)
    torques = []
    for radius in (ETS_VII.radius, ETS_VII.radius + 1e3):
        orbit = Orbit(radius, radial=tuple(radial.tolist()), normal=tuple(axes[:, 1].tolist()))
        system = flatten(Model("ets7", Root("bus"), (body,), orbit=orbit))
        found = observe(system, Start().vector(system)).accelerations[0]
        torques.append(tensor(bus.inertia) @ found[:3])
    change = np.linalg.norm(torques[1] - torques[0])
    exact = 4.5 * ETS_VII.rate**2 / ETS_VII.radius * 1e3 * (moments[2] - moments[0])
    figure("P4", f"1 km of orbit radius changes ETS-VII's torque by {change:.2e} N m")
    assert change == pytest.approx(exact, rel=1e-3)  # first order in 1 km / 6916 km
    assert 1e-6 < change < 1e-5
