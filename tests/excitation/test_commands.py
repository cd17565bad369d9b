"""Commands give exact impulses, wherever their edges fall between the steps."""

from __future__ import annotations

import numpy as np
import pytest
from plan_samples import COMMANDS
from scipy.integrate import quad

from freefloat.excitation import Plan, Pulses, Steps, Wave


def impulse(command, step: float, end: float) -> float:
    times = np.arange(0.0, end + step / 2, step)
    return float(np.sum(command.over(times[:-1], times[1:]) * np.diff(times)))


@pytest.mark.parametrize("step", [1e-3, 0.01, 0.1, 0.37, 1.0])
def test_impulse_is_exact_on_and_off_step_edges(step):
    pulses = Pulses(((0.1234567, 0.3, 2.0), (0.5, 1e-4, 50.0), (1.0, 1.5, -1.0)))
    end = np.ceil(5.0 / step) * step
    total = 2.0 * 0.3 + 50.0 * 1e-4 - 1.5
    assert impulse(pulses, step, end) == pytest.approx(total, abs=1e-12)  # rounding of the sum


def test_overlapping_pulses_add_up():
    pulses = Pulses(((0.0, 2.0, 1.0), (1.0, 2.0, 10.0)))
    at = np.array([0.5, 1.5, 2.5, 3.5])
    assert pulses.over(at, at).tolist() == [1.0, 11.0, 10.0, 0.0]


def test_a_pulse_holds_from_its_start_until_before_its_end():
    at = np.array([0.999, 1.0, 2.999, 3.0])
    assert Pulses(((1.0, 2.0, 5.0),)).over(at, at).tolist() == [0.0, 5.0, 5.0, 0.0]
    end = np.array([0.3])  # 0.1 + 0.2 is a little more
    assert Pulses(((0.1, 0.2, 5.0),)).over(end, end).tolist() == [0.0]
    assert Steps((0.14, 1.16), (4.0, 0.0)).over(*[np.array([1.16])] * 2).tolist() == [0.0]


def test_steps_hold_their_levels():
    steps = Steps((0.5, 1.0, 4.0), (1.0, -2.0, 0.5))
    at = np.array([0.0, 0.5, 0.99, 1.0, 3.0, 4.0, 1e6])
    assert steps.over(at, at).tolist() == [0.0, 1.0, 1.0, -2.0, -2.0, 0.5, 0.5]
    assert impulse(steps, 0.3, 6.0) == pytest.approx(0.5 - 6.0 + 1.0, abs=1e-12)


def test_a_wave_is_a_sine():
    wave, t = Wave(2.0, 1.5, 0.3, 0.5), np.linspace(0.0, 3.0, 20)
    np.testing.assert_array_equal(wave.over(t, t), 0.5 + 2.0 * np.sin(2.0 * np.pi * t / 1.5 + 0.3))
    exact = quad(lambda s: 0.5 + 2.0 * np.sin(2.0 * np.pi * s / 1.5 + 0.3), 0.0, 3.0)[0]
    assert impulse(wave, 1e-3, 3.0) == pytest.approx(exact, abs=1e-6)  # the midpoint rule


def test_edges_are_where_commands_jump():
    assert COMMANDS["pulses"].edges() == (0.5, 0.75, 2.0, 3.0)
    assert COMMANDS["steps"].edges() == (0.5, 1.0, 4.0)
    assert COMMANDS["wave"].edges() == ()
    plan = Plan(5.0, torques={"a": COMMANDS["pulses"]}, thrusts={"b": COMMANDS["steps"]})
    assert plan.edges() == (0.5, 0.75, 1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize("kind", COMMANDS)
def test_an_empty_stretch_gives_the_level_itself(kind):
    at = np.array([[0.6], [2.5]])
    command = COMMANDS[kind]
    np.testing.assert_allclose(command.over(at, at), command.over(at, at + 1e-9), atol=1e-7)
