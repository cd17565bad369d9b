"""The momentum family: base and target together from one plain least squares, with honest noise."""

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.errors import IdentificationError
from freefloat.excitation import Plan, Pulses, default_plan
from freefloat.identification.corrected_least_squares import least_squares
from freefloat.identification.linear.family import whiten
from freefloat.identification.linear.momentum import MOMENTUM
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.model import Model
from freefloat.parameters.parameters import Parameters

STARTS = {
    "planar-capture": ff.Start(velocity=(1.0, 2.0, 0.0), rate=(0.0, 0.0, 0.1)),
    "spatial-capture": ff.Start(velocity=(10.0, 20.0, 30.0), rate=(0.1, 0.2, 0.3)),
}


def flight_plan(model: Model, *, with_thrust: bool = True) -> Plan:
    """A multisine of the arm and two thruster pulses, which fix the scale."""
    plan = replace(default_plan(model, duration=60.0), start=STARTS[model.name])
    if not with_thrust:
        return plan
    first, third = model.thrusters[0].name, model.thrusters[2].name
    pulses = {first: Pulses(((5.0, 10.0, 5.0),)), third: Pulses(((20.0, 10.0, 5.0),))}
    return replace(plan, thrusts=pulses)


def wanted(model: Model) -> dict[str, float]:
    """Base and target: ten parameters each, four in the plane."""
    parameters = Parameters.of(model).free("bus.*", "target.*")
    if model.root.type == "planar":
        parameters = parameters.fix("*.mz", "*.ixx", "*.ix[yz]", "*.iy[yz]")
    return {p.name: p.value for p in parameters.free_ones}


def solved(model: Model, plan: Plan, *, seed: int = 0, quiet: bool = False, rate: float = 10.0):
    """Fly, take samples, solve: estimates, deviations, the solution and the true values."""
    system, values = flatten(model), wanted(model)
    sensors = tuple(replace(s, rate=rate) for s in model.sensors)
    if quiet:
        sensors = tuple(replace(s, noise=0.0, quantisation=0.0) for s in sensors)
    flight = ff.simulate(model, plan, seed=seed, sensors=sensors)
    rows = whiten(
        MOMENTUM.equations(system, MOMENTUM.prepare(system, samples_of(system, flight)), values)
    )
    return rows, least_squares(rows.Y, rows.y), np.array(list(values.values()))


@pytest.mark.parametrize("name", STARTS)
def test_noise_free_flights_give_back_the_truth(name: str) -> None:
    model = ff.load_model(name)
    rows, found, truth = solved(model, flight_plan(model), quiet=True, rate=100.0)
    assert found.rank == len(rows.names)
    error = np.abs(found.values[: len(truth)] - truth) / np.max(np.abs(truth))
    assert np.max(error) < 1e-6  # what is left is the quadrature of the impulses at 100 Hz


@pytest.mark.parametrize("name", STARTS)
def test_deviations_are_honest(name: str) -> None:
    model = ff.load_model(name)
    z, chi2 = [], []
    for seed in range(12):
        _, found, truth = solved(model, flight_plan(model), seed=seed)
        n = len(truth)
        z.append((found.values[:n] - truth) / found.std[:n])
        chi2.append(found.chi2 / found.n_rows)
    assert 0.95 < np.mean(chi2) < 1.05
    # 12 flights: the root mean square of each parameter's z scatters by 20 %
    size = np.sqrt(np.mean(np.square(z), axis=0))
    assert np.all(size < 1.9) and 0.8 < np.sqrt(np.mean(np.square(z))) < 1.3


def test_missing_channels_are_named() -> None:
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, flight_plan(model)).without("base.velocity.*")
    with refused(IdentificationError, "channel.missing", naming="base.velocity"):
        MOMENTUM.prepare(flatten(model), samples_of(flatten(model), flight))
