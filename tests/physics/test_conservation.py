"""What nature conserves, over long runs at the default step: momentum, energy, the CoM's motion."""

from __future__ import annotations

import numpy as np
import pytest
from motions import STEP, integrate, on_the_swing, random_swing
from systems import damped, servicer, spacecraft, tumbling

from freefloat.dynamics import Balance, Start, balance, flatten
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Root

KINDS = ("rigid", "flexible", "slosh")


def drift(values: np.ndarray) -> float:
    """The largest departure from the first row, relative to its norm."""
    away = np.linalg.norm((values - values[0]).reshape(len(values), -1), axis=1)
    return float(away.max() / np.linalg.norm(values[0]))


def tumble(model: Model, seed: int, seconds: float) -> Balance:
    system = flatten(model)
    _, states = integrate(system, tumbling(system, seed), seconds=seconds, every=100)
    return balance(system, states)


def momentum_drift(kind: str, seed: int, seconds: float) -> float:
    """The worse of linear momentum and angular momentum about the CoM; modes up to 2 Hz."""
    flight = tumble(spacecraft(kind, seed, fastest=2.0), seed, seconds)
    linear, angular = flight.linear_momentum, flight.angular_momentum_about_com
    assert np.linalg.norm(linear[0]) > 10.0 and np.linalg.norm(angular[0]) > 10.0  # not about zero
    return max(drift(linear), drift(angular))


@pytest.mark.promise("P1")
@pytest.mark.parametrize("kind", KINDS)
def test_momentum_stays_for_60_s(kind, figure):
    worst = max(momentum_drift(kind, seed, 60.0) for seed in range(3))
    figure("P1", f"{kind}: {worst:.1e} relative, 3 models, 60 s")
    assert worst <= 1e-11  # a tenth of the time may take a tenth of the promise


@pytest.mark.full
@pytest.mark.promise("P1")
@pytest.mark.parametrize("kind", KINDS)
def test_momentum_stays_for_600_s(kind, figure):
    worst = max(momentum_drift(kind, seed, 600.0) for seed in range(20))
    figure("P1", f"{kind}: {worst:.1e} relative, 20 models, 600 s")
    assert worst <= 1e-10


def energy_drift(kind: str, seed: int, seconds: float) -> float:
    """Relative change of kinetic plus spring energy; modes up to 1 Hz."""
    return drift(tumble(spacecraft(kind, seed, fastest=1.0), seed, seconds).energy)


@pytest.mark.promise("P2")
@pytest.mark.parametrize("kind", KINDS)
def test_energy_stays_for_60_s(kind, figure):
    worst = max(energy_drift(kind, seed, 60.0) for seed in range(3))
    figure("P2", f"{kind}, modes up to 1 Hz: {worst:.1e} relative, 3 models, 60 s")
    assert worst <= 1e-11  # a tenth of the time may take a tenth of the promise


@pytest.mark.full
@pytest.mark.promise("P2")
@pytest.mark.parametrize("kind", KINDS)
def test_energy_stays_for_600_s(kind, figure):
    worst = max(energy_drift(kind, seed, 600.0) for seed in range(20))
    figure("P2", f"{kind}, modes up to 1 Hz: {worst:.1e} relative, 20 models, 600 s")
    assert worst <= 1e-10


@pytest.mark.promise("P2")
@pytest.mark.parametrize("hertz", [1.0, 2.0, 5.0])
def test_a_fast_mode_loses_what_runge_kutta_takes(hertz, figure):
    """RK4 damps an oscillator by (w h)^6 / 72 of its energy a step, whatever we do.

    At 1 ms a mode keeps its energy to 1e-10 for 600 s up to 0.77 Hz, for 60 s up to 1.12 Hz.
    """
    w = 2.0 * np.pi * hertz
    slider = Joint("slider", "prismatic", "ground", "mass", role="passive", stiffness=3.0 * w * w)
    model = Model(
        "oscillator",
        Root("ground", "fixed"),
        (Body("ground", 1.0), Body("mass", 3.0, (0.0, 0.0, 0.0), (1.0, 0, 0, 1.0, 0, 1.0))),
        (slider,),
    )
    system = flatten(model)
    start = Start(coordinates={"slider": 0.1})
    _, states = integrate(system, start, seconds=60.0, every=60_000)
    energy = balance(system, states).energy
    lost = 1.0 - energy[-1] / energy[0]
    expected = 60.0 / STEP * (w * STEP) ** 6 / 72.0
    figure("P2", f"a {hertz:g} Hz mode alone loses {lost:.1e} in 60 s, RK4 theory {expected:.1e}")
    # the next term of the theory is (w h)^2 smaller; rounding adds 1e-16 times sqrt(60 000)
    assert lost == pytest.approx(expected, rel=1e-2, abs=5e-13)


def largest_growth(kind: str, seed: int, seconds: float) -> float:
    """The largest rise of the energy between two samples 0.1 s apart, relative to the start."""
    flight = tumble(damped(spacecraft(kind, seed)), seed, seconds)
    assert flight.energy[-1] < flight.energy[0]  # something was damped
    return float(np.diff(flight.energy).max() / flight.energy[0])


@pytest.mark.promise("P2")
@pytest.mark.parametrize("kind", ["flexible", "slosh"])
def test_damping_never_adds_energy_in_60_s(kind, figure):
    worst = max(largest_growth(kind, seed, 60.0) for seed in range(3))
    figure("P2", f"damped {kind}: largest rise {worst:.1e} of the energy, 3 models, 60 s")
    assert worst <= 1e-13  # rounding of 100 steps


@pytest.mark.full
@pytest.mark.promise("P2")
@pytest.mark.parametrize("kind", ["flexible", "slosh"])
def test_damping_never_adds_energy_in_600_s(kind, figure):
    worst = max(largest_growth(kind, seed, 600.0) for seed in range(20))
    figure("P2", f"damped {kind}: largest rise {worst:.1e} of the energy, 20 models, 600 s")
    assert worst <= 1e-13  # rounding of 100 steps


def com_motion(seed: int, seconds: float) -> float:
    """How far [m] the CoM goes while the arm works, the wheels spin, wing and fuel swing."""
    system = flatten(servicer(seed))
    swing = random_swing(system, seed, angle=0.4, torque=0.5, fastest=1.5)
    start = on_the_swing(system, swing, Start().vector(system))
    still = balance(system, start)
    start[7:10] = -still.linear_momentum[0] / still.mass
    _, states = integrate(system, start, seconds=seconds, every=100, swing=swing)
    com = balance(system, states).com
    root = np.ptp(states[:, :3], axis=0)
    assert root.max() > 1e-2  # the bus itself does move
    return float(np.linalg.norm(com - com[0], axis=1).max())


@pytest.mark.promise("P3")
def test_the_com_stays_where_it_is_for_60_s(figure):
    worst = max(com_motion(seed, 60.0) for seed in range(3))
    figure("P3", f"{worst:.1e} m, 3 servicers, 60 s")
    assert worst <= 1e-11  # a tenth of the time may take a tenth of the promise


@pytest.mark.full
@pytest.mark.promise("P3")
def test_the_com_stays_where_it_is_for_600_s(figure):
    worst = max(com_motion(seed, 600.0) for seed in range(20))
    figure("P3", f"{worst:.1e} m, 20 servicers, 600 s")
    assert worst <= 1e-10


@pytest.mark.promise("P1")
def test_a_working_servicer_keeps_its_momentum_for_60_s(figure):
    worst = 0.0
    for seed in range(3):
        system = flatten(servicer(seed))
        swing = random_swing(system, seed, fastest=1.5)
        _, states = integrate(system, tumbling(system, seed), seconds=60.0, swing=swing)
        flight = balance(system, states)
        assert np.ptp(flight.kinetic_energy) > 1e-3 * flight.kinetic_energy[0]  # work is done
        worst = max(worst, drift(flight.linear_momentum), drift(flight.angular_momentum_about_com))
    figure("P1", f"internal torques, wheels and driven joints: {worst:.1e} relative, 60 s")
    assert worst <= 1e-11
