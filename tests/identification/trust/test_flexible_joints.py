"""Joints that yield and swing: the filter of their torque, and the joint that is named."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from worlds.kinds import all_kinds
from worlds.recorder import record

import freefloat as ff
from freefloat.identification.trust.flexible_joints import DAMPING, swing

KINDS = {kind.name: kind for kind in all_kinds()}


def torque(t: np.ndarray) -> np.ndarray:
    return 1.5 + np.sin(2.0 * t) - 0.4 * np.cos(5.0 * t)


def test_what_swings_with_a_torque_obeys_its_equation():
    times, frequency = np.linspace(0.0, 20.0, 4001), 0.8
    w = 2.0 * np.pi * frequency

    def change(t, state):
        pull = w**2 * (torque(np.array([t]))[0] - state[0]) - 2.0 * DAMPING * w * state[1]
        return [state[1], pull]

    start = [float(torque(times[:1])[0]), 0.0]
    found = solve_ivp(change, (0.0, 20.0), start, t_eval=times, rtol=1e-9, atol=1e-10)
    # the torque is a line between samples 5 ms apart
    assert swing(torque(times), 5e-3, frequency) == pytest.approx(found.y[0], abs=2e-3)


def test_its_derivative_is_by_the_logarithm_of_the_frequency():
    times = np.linspace(0.0, 20.0, 2001)
    ends = [swing(torque(times), 1e-2, 0.8 * np.exp(h)) for h in (1e-4, -1e-4)]
    slope = swing(torque(times), 1e-2, 0.8, is_slope=True)
    # the line between samples is another one for it: a hundredth of the largest
    error = np.abs(slope - (ends[0] - ends[1]) / 2e-4)
    assert np.max(error) < 0.01 * np.max(np.abs(slope))


@pytest.mark.full
@pytest.mark.promise("T2")
@pytest.mark.parametrize(("name", "size", "seed"), [("flexible joint", 1.5, 41)])
def test_the_joint_that_rings_is_named_first(name, size, seed, figure):
    world, _ = KINDS[name].world("puck", seed, size, suite="velocity")
    wanted = ff.Parameters(world.believed).free(*world.free)
    fit = ff.identify(world.believed, wanted, record(world))
    assert fit.assessment is not None and fit.assessment.grade == "not trusted"
    first = fit.assessment.causes[0]
    figure("T2", f"{name}: {first.names[0]}")
    assert first.names[0] == f"{world.part}.compliance"
