"""The power balance: one row a test function, exact without noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from torque_flights import MODELS, flown, plan_of

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Wave, default_plan
from freefloat.identification.linear.energy import ENERGY

EXACT = 1e-8  # relative to natural size; measured: 1e-10 or better everywhere


@pytest.mark.parametrize("name", MODELS)
def test_noise_free_flights_give_back_the_truth(name: str) -> None:
    flight = flown(name, duration=15.0)  # 20 unknowns, one row a function
    assert flight.error(flight.solved(ENERGY.equations)) < EXACT


def test_gravity_drag_and_wrench_do_work() -> None:
    model = ff.load_model("dual-arm")
    root = replace(model.root, linear_drag=2.0, angular_drag=0.7)
    model = replace(model, root=root, gravity=(0.01, -0.02, 0.005))
    wave = {"force.x": Wave(4.0, period=5.0), "torque.y": Wave(1.0, period=7.0)}
    flight = flown(model, free=("bus.*",), plan=replace(plan_of(model, 10.0), wrench=wave))
    assert flight.error(flight.solved(ENERGY.equations)) < EXACT


def test_springs_take_and_give_energy() -> None:
    model = ff.load_model("servicer-wings")
    hinges = [j.name for j in model.joints if j.role == "passive"]
    start = ff.Start(rate=(0.02, 0.01, 0.03), speeds={name: 0.05 for name in hinges})
    plan = replace(default_plan(model, duration=10.0), start=start)
    free = ("bus.mass", "hinge_*.stiffness", "hinge_*.damping")
    flight = flown(model, free=free, plan=plan)
    torque = flight.samples.torque
    assert torque is not None
    columns = [flight.system.coordinates.index(name) for name in hinges]
    torque = torque.copy()
    torque[:, columns] = np.nan
    sources = tuple(
        s for s in flight.samples.sources if s.parts[0][0] != "torque" or
        s.parts[0][1] not in columns
    )  # fmt: skip
    loose = replace(flight, samples=replace(flight.samples, torque=torque, sources=sources))
    assert loose.error(loose.solved(ENERGY.equations)) < 1e-6


def test_deviations_are_honest() -> None:
    """In the plane, where the balance sees its eight unknowns well above the noise."""
    z, chi2 = [], []
    for seed in range(12):
        flight = flown("planar-capture", duration=20.0, rate=20.0, quiet=False, seed=seed)
        found = flight.solved(ENERGY.equations)
        z.append(found.values / found.std)
        chi2.append(found.chi2 / (found.n_rows - found.rank))
    assert 0.9 < np.mean(chi2) < 1.1
    assert np.sqrt(np.mean(np.square(z))) < 1.5  # plain least squares: noise in the columns shows


def test_every_torque_that_works_is_asked_for() -> None:
    flight = flown("spatial-capture", duration=3.0, without=("joint_torque",))
    with refused(IdentificationError, "channel.missing", naming="arm_1.torque, arm_2.torque"):
        ENERGY.equations(flight.system, flight.samples, flight.values)


def test_missing_channels_are_named() -> None:
    flight = flown("spatial-capture", duration=3.0, without=("velocity",))
    with refused(IdentificationError, "channel.missing", naming="base.velocity"):
        ENERGY.equations(flight.system, flight.samples, flight.values)


def test_without_the_covariance_the_rows_are_the_same() -> None:
    flight = flown("planar-capture", duration=4.0)
    a, b = (
        ENERGY.equations(flight.system, flight.samples, flight.values, noise=noise)
        for noise in (True, False)
    )
    np.testing.assert_array_equal(a.Y, b.Y)
    assert a.labels == ("power",) and a.units == ("W",)
