"""Late channels: how late is found together with the parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from fault_codes import refused

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.identification.linear.delay_columns import channels_of
from freefloat.model import Sensor

MODEL = ff.load_model("planar-capture")
PUSHED = replace(ff.default_plan(MODEL, duration=30.0), thrusts={"thr_1": Pulses(((1, 5, 5),))})
WANTED = ff.Parameters(MODEL).free("bus.mass", "target.mass")


def delay_of(fit: ff.Fit) -> tuple[float, float]:
    """The delay and its standard deviation [s] as the fit's note tells them."""
    (note,) = [n for n in fit.notes if n.code == "delay.estimated"]
    value, std = note.rpartition(": ")[2].partition(" ms")[0].split(" ± ")
    return float(value) * (1e-3 if "later" in note else -1e-3), float(std) * 1e-3


@pytest.mark.parametrize("late", [0.0, 0.03, -0.12])
@pytest.mark.parametrize("clock", ["base", "joints"])
def test_a_late_clock_is_found_with_the_parameters(clock: str, late: float) -> None:
    flight = ff.simulate(MODEL, PUSHED, seed=1)
    # thrust follows the base's clock, which counts as right when the joints are late
    flight = flight.shift([name for name in channels_of(clock, flight)], late)
    fit = identify(MODEL, WANTED, flight, clock=clock)
    assert fit.is_trustworthy
    seconds, std = delay_of(fit)
    assert abs(seconds - late) < 4.0 * std + 1e-6  # the note is rounded
    assert std < 5e-4  # a sampling step is 100 ms
    for estimate in fit.estimates:
        assert abs(estimate.value - WANTED[estimate.name].value) < 4.0 * estimate.std


def test_unnoticed_it_costs_trust() -> None:
    flight = ff.simulate(MODEL, PUSHED, seed=1).shift("base.*", 0.03)
    assert not identify(MODEL, WANTED, flight).is_trustworthy


def test_the_weak_form_finds_late_torques() -> None:
    torques = Sensor("joint_torque", "*", 10.0, noise=1e-2)
    model = replace(MODEL, sensors=(*MODEL.sensors, torques))
    flight = ff.simulate(model, PUSHED, seed=3).shift("arm_*.torque", 0.02)
    wanted = ff.Parameters(model).free("bus.mass")
    fit = identify(model, wanted, flight, method="weak", clock="torques")
    seconds, std = delay_of(fit)
    assert abs(seconds - 0.02) < 4.0 * std + 1e-6
    assert std < 5e-3


def test_every_recording_has_its_own_clock() -> None:
    flights = [
        ff.simulate(MODEL, PUSHED, seed=seed).shift("base.*", late)
        for seed, late in ((1, 0.02), (2, -0.03))
    ]
    fit = identify(MODEL, WANTED, flights, clock="base")
    told = [note for note in fit.notes if note.code == "delay.estimated"]
    assert [note.split(":")[0] for note in told] == ["recording 1", "recording 2"]
    assert "later" in told[0] and "earlier" in told[1]


def test_intervals_hold_with_an_unknown_clock() -> None:
    inside = []
    for seed in range(10):
        flight = ff.simulate(MODEL, PUSHED, seed=seed).shift("base.*", 0.004)
        fit = identify(MODEL, WANTED, flight, clock="base")
        seconds, std = delay_of(fit)
        inside.append([abs(seconds - 0.004) < 1.96 * std] + [
            abs(e.value - WANTED[e.name].value) < 1.96 * e.std for e in fit.estimates
        ])  # fmt: skip
    # of 10 at 95 % the deviation is 6.9 %: three of those below
    assert np.all(np.mean(inside, axis=0) >= 0.74)


@pytest.mark.parametrize(
    ("clock", "method", "code"),
    [
        ("wheels", "auto", "value.choice"),
        ("base", "force", "method.delay"),
        ("torques", "momentum", "channel.missing"),
    ],
)
def test_what_cannot_be_set_is_said(clock: str, method: str, code: str) -> None:
    flight = ff.simulate(MODEL, PUSHED, seed=1)
    with refused(ff.FreefloatError, code):
        identify(MODEL, WANTED, flight, method=method, clock=clock)
