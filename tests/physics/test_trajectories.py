"""A minute of motion beside other integrators and other dynamics, and the order of our own."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from engines import MuJoCo, Pinocchio
from motions import Swing, integrate, on_the_swing, random_swing
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from systems import damped, random_model, servicer, spacecraft, tumbling

from freefloat.dynamics import System, flatten
from freefloat.model import load_model
from freefloat.model.model import Model


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two trajectories: [m], [rad], [m/s] or [rad/s]."""
    turn = (Rotation.from_quat(a[:, 3:7]).inv() * Rotation.from_quat(b[:, 3:7])).magnitude()
    rest = np.delete(a - b, [3, 4, 5, 6], axis=1)
    return float(max(turn.max(), np.abs(rest).max()))


def by_pinocchio(
    model: Model, start: np.ndarray, times: np.ndarray, swing: Swing | None, *, rtol: float = 1e-11
) -> np.ndarray:
    """The trajectory by DOP853 on Pinocchio's accelerations."""
    engine, n = Pinocchio(model), len(model.assembly.coordinates)
    roles = [c.role for c in model.assembly.coordinates]
    given = np.array([i for i, role in enumerate(roles) if role in ("motion", "locked")], dtype=int)
    zero = np.zeros(n)

    def rate(t, x):
        if swing is None:
            return engine.state_rate(x, zero, zero)
        motion = swing.motion(np.array(t))
        x = x.copy()
        x[13 + given], x[13 + n + given] = motion[given, 0], motion[given, 1]
        return engine.state_rate(x, swing.torque(np.array(t)), motion[:, 2])

    solution = solve_ivp(
        rate, (times[0], times[-1]), start, "DOP853", times, rtol=rtol, atol=rtol * 1e-2
    )
    states = solution.y.T.copy()
    states[:, 3:7] /= np.linalg.norm(states[:, 3:7], axis=1, keepdims=True)
    return states


def flight(kind: str) -> tuple[Model, System, np.ndarray, Swing | None]:
    """A model with its start and what drives it."""
    if kind == "servicer":
        model = servicer(1)
        system = flatten(model)
        swing = random_swing(system, 1, fastest=1.5)
    elif kind == "wings":
        model = load_model("servicer-wings")
        system = flatten(model)
        swing = random_swing(system, 2, angle=0.3, fastest=0.8)
    else:
        model = damped(spacecraft(kind, 1))
        system, swing = flatten(model), None
    start = on_the_swing(system, swing, tumbling(system, 1).vector(system))
    return model, system, start, swing


def difference(kind: str, seconds: float) -> float:
    model, system, start, swing = flight(kind)
    times, states = integrate(system, start, seconds=seconds, every=1000, swing=swing)
    return apart(states, by_pinocchio(model, start, times, swing))


@pytest.mark.promise("P6")
@pytest.mark.parametrize("kind", ["servicer", "slosh", "rigid"])
def test_trajectory_is_pinocchios_for_10_s(kind, figure):
    worst = difference(kind, 10.0)
    figure("P6", f"{kind} against Pinocchio with DOP853: {worst:.1e} (m, rad, m/s, rad/s), 10 s")
    assert worst <= 1e-8


@pytest.mark.full
@pytest.mark.promise("P6")
@pytest.mark.parametrize("kind", ["servicer", "wings", "slosh", "flexible", "rigid"])
def test_trajectory_is_pinocchios_for_60_s(kind, figure):
    worst = difference(kind, 60.0)
    figure("P6", f"{kind} against Pinocchio with DOP853: {worst:.1e} (m, rad, m/s, rad/s), 60 s")
    assert worst <= 1e-6


def by_mujoco(model: Model, start: np.ndarray, seconds: float) -> np.ndarray:
    """States every second by MuJoCo's RK4 at 1 ms."""
    engine = MuJoCo(model)
    engine.load(start)
    states = [engine.state()]
    for _ in range(round(seconds)):
        mujoco.mj_step(engine.robot, engine.data, 1000)
        states.append(engine.state())
    return np.array(states)


@pytest.mark.promise("P6")
@pytest.mark.parametrize("kind", ["flexible", "rigid", "random tree"])
def test_trajectory_is_mujocos_for_60_s(kind, figure):
    if kind == "random tree":  # slow enough for its prismatic joints to stay near
        model = random_model(3, massless=False, springs=True)
        model = replace(model, joints=tuple(replace(j, friction=0.0) for j in model.joints))
    else:
        model = spacecraft(kind, 1)
    system = flatten(model)
    start = tumbling(system, 1).vector(system)
    _, states = integrate(system, start, seconds=60.0, every=1000)
    worst = apart(states, by_mujoco(model, start, 60.0))
    figure("P6", f"{kind} against MuJoCo RK4 1 ms: {worst:.1e} (m, rad, m/s, rad/s), 60 s")
    assert worst <= 1e-6


# ---- The order of the integrator -----------------------------------------------------------------


@pytest.mark.promise("P8")
def test_the_integrator_is_of_order_four(figure):
    """A spinning servicer, wing and fuel swinging, arm driven: five halvings from 40 ms."""
    model, system, start, swing = flight("servicer")
    reference = by_pinocchio(model, start, np.array([0.0, 8.0]), swing, rtol=1e-13)[-1:]
    errors = []
    for halving in range(6):
        _, states = integrate(
            system, start, seconds=8.0, step=0.04 / 2**halving, every=200 * 2**halving, swing=swing
        )
        errors.append(apart(states[-1:], reference))
    slope = np.polyfit(np.arange(6), -np.log2(errors), 1)[0]
    each = ", ".join(f"{s:.2f}" for s in np.log2(np.array(errors[:-1]) / np.array(errors[1:])))
    figure("P8", f"slope {slope:.3f} over five halvings ({each}), last error {errors[-1]:.0e}")
    assert abs(slope - 4.0) <= 0.1
