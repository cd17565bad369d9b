"""Trajectories: the same however they are cut, both methods alike, misuse told."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import Start, System, flatten
from freefloat.dynamics.equations import no_inputs
from freefloat.dynamics.integrate import integrate
from freefloat.errors import FreefloatError, ModelError
from freefloat.excitation import Plan, Pulses, Wave, default_plan
from freefloat.model import Body, Joint, Model, Root, load_model

MODULE = import_module("freefloat.dynamics.integrate")  # its name is also that of a function
ONE = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)


def pushed(name: str, duration: float = 2.0) -> tuple[System, Plan]:
    """A built-in model on its default plan, with its first thruster firing now and then."""
    model = load_model(name)
    plan = default_plan(model, duration=duration)
    jet = Pulses(((0.3, 0.5, 0.4), (1.1, 0.2, 0.5)))
    thrusts = {thruster.name: jet for thruster in model.thrusters[:1]}
    return flatten(model), Plan(duration, motions=plan.motions, thrusts=thrusts)


def run(system: System, plan: Plan, **options):
    options = {"duration": plan.duration, "breaks": plan.edges(), **options}
    return integrate(system, plan.start_state(system), plan.inputs(system), **options)


@pytest.mark.parametrize("chunk", [1, 30, 700, 2000])
def test_chunks_change_nothing(chunk, monkeypatch):
    system, plan = pushed("cepheus")
    whole = run(system, plan, every=10)
    monkeypatch.setattr(MODULE, "CHUNK", chunk)
    cut = run(system, plan, every=10)
    np.testing.assert_array_equal(cut.states, whole.states)
    np.testing.assert_array_equal(cut.times, whole.times)


def test_chunks_change_next_to_nothing_in_orbit(monkeypatch):
    system, plan = pushed("servicer")
    whole = run(system, plan, every=100)
    monkeypatch.setattr(MODULE, "CHUNK", 300)
    # The time in the field is summed up differently: rounding of gravity gradients.
    np.testing.assert_allclose(run(system, plan, every=100).states, whole.states, atol=1e-13)


def test_records_are_every_so_many_steps():
    system, plan = pushed("cepheus")
    fine, coarse = run(system, plan), run(system, plan, every=40)
    assert len(fine.times) == 2001 and len(coarse.times) == 51
    np.testing.assert_array_equal(coarse.states, fine.states[::40])
    np.testing.assert_allclose(coarse.times, np.arange(51) * 0.04, atol=1e-15)


@pytest.mark.parametrize("name", ["cepheus", "servicer", "cbk-arm-geared"])
def test_both_methods_agree(name):
    system, plan = pushed(name)
    fixed = run(system, plan, every=50)
    adaptive = run(system, plan, every=50, method="dop853")
    np.testing.assert_array_equal(fixed.times, adaptive.times)
    np.testing.assert_allclose(adaptive.states, fixed.states, atol=1e-9)


def test_the_adaptive_method_takes_jumps_between_records():
    body = Model("box", Root("box"), (Body("box", 4.0, inertia=ONE),))
    plan = Plan(2.0, wrench={"force.x": Pulses(((0.123, 0.456, 3.0), (1.0, 0.5, -2.0)))})
    system, counted = flatten(body), []
    tabulate = plan.inputs(system)

    def inputs(times):
        counted.append(times[0, 0])
        return tabulate(times)

    found = integrate(
        system, plan.start_state(system), inputs, duration=2.0, step=0.5, method="dop853",
        breaks=plan.edges(),
    )  # fmt: skip
    speed = np.array([0.0, 3.0 * 0.377, 3.0 * 0.456, 3.0 * 0.456 - 1.0, 3.0 * 0.456 - 1.0]) / 4.0
    np.testing.assert_allclose(found.states[:, 7], speed, atol=1e-12)
    # Constant force between jumps: a few long steps, not a search for where the jump is.
    assert len(counted) < 500


def test_progress_is_told():
    system, plan = pushed("cepheus")
    for method in ("rk4", "dop853"):
        told: list[float] = []
        run(system, plan, method=method, every=100, progress=lambda _, x, told=told: told.append(x))
        assert told == sorted(told) and told[-1] == 1.0


@pytest.mark.parametrize(
    "options",
    [
        {"duration": 2.0005},
        {"duration": 2.0, "every": 3},
        {"duration": 0.0},
        {"duration": -1.0},
        {"duration": float("nan")},
        {"duration": float("inf")},
        {"duration": 2.0, "step": 0.0},
        {"duration": 2.0, "step": -1e-3},
        {"duration": 2.0, "step": float("nan")},
        {"duration": 2.0, "every": 0},
    ],
)
def test_durations_that_do_not_fit_are_told(options):
    system, plan = pushed("cepheus")
    with refused(FreefloatError, "duration.records"):
        run(system, plan, **options)


def test_misuse_is_told():
    system, plan = pushed("cepheus")
    with refused(FreefloatError, "option.choice", naming="euler"):
        run(system, plan, method="euler")
    with refused(ModelError, "value.count", naming="19"):
        integrate(system, np.zeros(13), plan.inputs(system), duration=1.0)


def test_a_motion_that_blows_up_is_told():
    stiff = Joint("j", "revolute", "a", "b", role="passive", stiffness=1e9)
    bodies = (Body("a", 1.0, inertia=ONE), Body("b", 1.0, inertia=ONE))
    system = flatten(Model("stiff", Root("a"), bodies, (stiff,)))
    start = Start(coordinates={"j": 0.1}).vector(system)
    with refused(FreefloatError, "step.unstable", naming="0.01 s"):
        integrate(system, start, lambda _: no_inputs(system), duration=20.0, step=0.01)


def test_starts_that_do_not_fit_are_told():
    system = flatten(load_model("cepheus"))
    with refused(ModelError, "name.unknown", naming="arm_1, arm_2, rw_z"):
        Start(coordinates={"arm_9": 0.1}).vector(system)
    with refused(ModelError, "value.norm"):
        Start(attitude=(0.0, 0.0, 0.0, 0.0)).vector(system)
    x = Start((1, 2, 0), (0, 0, 0.6, 0.8), coordinates={"arm_1": 0.1}, speeds={"rw_z": 5.0})
    expected = [1, 2, 0, 0, 0, 0.6, 0.8, *[0.0] * 6, 0.1, 0.0, 0.0, 0.0, 0.0, 5.0]
    np.testing.assert_allclose(x.vector(system), expected, atol=1e-16)


def test_a_wave_is_followed_to_fourth_order():
    body = Model("box", Root("box"), (Body("box", 4.0, inertia=ONE),))
    plan = Plan(2.0, wrench={"force.y": Wave(3.0, 1.3, 0.4)})
    w = 2.0 * np.pi / 1.3
    exact = 3.0 / 4.0 / w * (np.cos(0.4) - np.cos(2.0 * w + 0.4))
    errors = [
        abs(run(flatten(body), plan, step=h).states[-1, 8] - exact) for h in (0.05, 0.025, 0.0125)
    ]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 4.0, atol=0.1)
