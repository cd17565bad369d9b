"""Torque-free bodies in closed form: symmetric and asymmetric tops, and a body with a wheel."""

from __future__ import annotations

import numpy as np
import pytest
from motions import integrate
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

from freefloat.dynamics import Start, flatten
from freefloat.dynamics.equations import no_inputs
from freefloat.model.inertia import six
from freefloat.model.model import Model
from freefloat.model.parts import Body, Root, Wheel

TILT = Rotation.from_rotvec([0.4, -0.9, 0.3])  # principal axes in the body frame, not convenient
COM = np.array([0.3, -0.2, 0.5])  # nor is the body's origin its centre of mass
VELOCITY = np.array([0.05, -0.02, 0.03])  # of the centre of mass


def top(moments: tuple[float, float, float], *, wheel: tuple[float, float] | None = None) -> Model:
    """A body of 40 kg with these principal inertias; a wheel (inertia, speed) on the third axis."""
    R = TILT.as_matrix()
    inertia = tuple(six(R @ np.diag(moments) @ R.T).tolist())
    wheels = ()
    if wheel is not None:
        wheels = (Wheel("rw", "bus", tuple(R[:, 2].tolist()), wheel[0], speed=wheel[1]),)
    body = Body("bus", 40.0, tuple(COM.tolist()), inertia)
    return Model("top", Root("bus"), (body,), wheels=wheels)


def spun(model: Model, attitude: Rotation, rate: np.ndarray, *, seconds: float):
    """Times and states from principal-axes attitude and rate, the CoM passing the origin."""
    body = attitude * TILT.inv()
    w = TILT.apply(rate)
    start = Start(
        position=tuple(-body.apply(COM)),
        attitude=tuple(body.as_quat()),
        velocity=tuple(VELOCITY - body.apply(np.cross(w, COM))),
        rate=tuple(w),
    )
    system = flatten(model)
    speeds = [wheel.speed for wheel in model.wheels]

    def inputs(time):
        table = no_inputs(system, n_rows=len(time))
        table.given[..., 0] = time[..., None] * speeds
        table.given[..., 1] = speeds
        return table

    return integrate(system, start, seconds=seconds, inputs=inputs if model.wheels else None)


def errors(times, states, attitudes: Rotation, rates: np.ndarray) -> float:
    """The worst of attitude [rad], rate relative to its norm, and root position [m]."""
    body = attitudes * TILT.inv()
    turned = (body.inv() * Rotation.from_quat(states[:, 3:7])).magnitude()
    w = TILT.apply(rates)
    rate = np.linalg.norm(states[:, 10:13] - w, axis=1) / np.linalg.norm(w[0])
    place = np.outer(times, VELOCITY) - body.apply(COM)
    away = np.linalg.norm(states[:, :3] - place, axis=1)
    return float(max(turned.max(), rate.max(), away.max()))


def symmetric_motion(times, *, A: float, axial: float, rate: np.ndarray, start: Rotation):
    """R(t) = exp(t L / A) R(0) exp(t (w3 - L3 / A) e3), for any symmetric top or gyrostat.

    `axial` is the angular momentum L3 along the axis of symmetry.
    """
    momentum = start.apply([A * rate[0], A * rate[1], axial])
    slip = rate[2] - axial / A
    precession = Rotation.from_rotvec(np.outer(times, momentum / A))
    spin = Rotation.from_rotvec(np.outer(times, [0.0, 0.0, slip]))
    attitudes = precession * start * spin
    rates = attitudes.inv().apply(momentum / A) + [0.0, 0.0, slip]
    return attitudes, rates


@pytest.mark.promise("P4")
@pytest.mark.parametrize("moments", [(12.0, 12.0, 5.0), (12.0, 12.0, 20.0)], ids=["rod", "plate"])
def test_symmetric_top(moments, figure):
    rate, attitude = np.array([0.2, -0.1, 0.4]), Rotation.from_rotvec([0.5, 1.0, -0.7])
    times, states = spun(top(moments), attitude, rate, seconds=100.0)
    A, _, C = moments
    exact = symmetric_motion(times, A=A, axial=C * rate[2], rate=rate, start=attitude)
    worst = errors(times, states, *exact)
    figure("P4", f"symmetric top, 100 s: {worst:.1e}")
    assert worst <= 1e-8


@pytest.mark.promise("P4")
def test_symmetric_body_with_a_spinning_wheel(figure):
    rate, attitude = np.array([0.1, -0.05, 0.2]), Rotation.from_rotvec([0.5, 1.0, -0.7])
    A, C, J, speed = 12.0, 9.0, 0.05, 120.0
    times, states = spun(top((A, A, C), wheel=(J, speed)), attitude, rate, seconds=100.0)
    axial = C * rate[2] + J * speed  # C is the inertia with the wheel locked
    exact = symmetric_motion(times, A=A, axial=axial, rate=rate, start=attitude)
    worst = errors(times, states, *exact)
    figure("P4", f"gyrostat (body with a spinning wheel), 100 s: {worst:.1e}")
    assert worst <= 1e-8


def jacobi_motion(times, moments, rate):
    """Rates by Jacobi's elliptic functions, attitude by one quadrature (Landau & Lifshitz §37).

    I1 < I2 < I3 and L^2 > 2 T I2, starting with w2 = 0; L along the world's z axis.
    """
    A, B, C = moments
    energy, momentum = np.dot(moments, rate**2), np.linalg.norm(moments * rate)  # energy: 2 T
    low, high = energy * C - momentum**2, momentum**2 - energy * A
    amplitude = np.sqrt([low / (A * (C - A)), low / (B * (C - B)), high / (C * (C - A))])
    pace = np.sqrt((C - B) * high / (A * B * C))
    parameter = (B - A) * low / ((C - B) * high)

    def rates(t):
        sn, cn, dn, _ = ellipj(pace * t, parameter)
        return np.stack([cn, sn, dn], axis=-1) * amplitude

    def precession_rate(t):
        squares = rates(t)[..., :2] ** 2
        return momentum * (squares @ [A, B]) / (squares @ [A * A, B * B])

    nodes, weights = np.polynomial.legendre.leggauss(20)
    panels = 0.5 * np.diff(times)[:, None]  # 0.1 s each: 20 points leave nothing to see
    middle = 0.5 * (times[1:] + times[:-1])[:, None]
    steps = (precession_rate(middle + panels * nodes) * weights * panels).sum(axis=1)
    precession = np.concatenate([[0.0], np.cumsum(steps)])
    w = rates(times)
    nutation = np.arccos(C * w[:, 2] / momentum)
    spin = np.arctan2(A * w[:, 0], B * w[:, 1])
    return Rotation.from_euler("ZXZ", np.column_stack([precession, nutation, spin])), w


@pytest.mark.promise("P4")
def test_asymmetric_top(figure):
    moments, rate = (6.0, 9.0, 13.0), np.array([0.35, 0.0, 0.4])
    duration = np.linspace(0.0, 100.0, 1001)
    attitudes, rates = jacobi_motion(duration, moments, rate)
    assert rates[0] == pytest.approx(rate)
    times, states = spun(top(moments), attitudes[0], rate, seconds=100.0)
    worst = errors(times, states, attitudes, rates)
    assert np.ptp(rates[:, 1]) > 0.1  # it does wobble
    figure("P4", f"asymmetric top (Jacobi), 100 s: {worst:.1e}")
    assert worst <= 1e-8
