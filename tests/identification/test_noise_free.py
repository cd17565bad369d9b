"""Noise-free recordings give back the truth, on systems nobody chose (promise I1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator import identify
from systems import random_model

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.excitation import Wave, default_plan
from freefloat.identification.linear.angular import AngularForm
from freefloat.model import Model, Sensor
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.telemetry import Telemetry

METHODS = ("momentum", "weak", "torque", "force", "reduced", "angular", "energy")
EXACT = 1e-6  # relative to the natural size of a parameter
N_SYSTEMS, N_SYSTEMS_FULL = 28, 100
RATE = 200.0  # [Hz]
PUSHES = {"force.x": Wave(8.0, period=3.0), "force.y": Wave(5.0, period=4.1)}
SPATIAL = {"force.z": Wave(6.0, period=3.7), "torque.x": Wave(2.0, period=4.4),
           "torque.y": Wave(2.0, period=3.3)}  # fmt: skip


def system_of(seed: int, method: str) -> Model:
    """A random tree whose joints follow a plan; the angular family has no sliding joints."""
    root = "planar" if seed % 4 == 3 else "floating"
    slide = 0.0 if method == "angular" or root == "planar" else 0.3
    n = 2 + seed % 3
    return random_model(seed, n_joints=n, root=root, roles=("motion",), prismatic=slide)


def recorded(model: Model, method: str, seed: int) -> Telemetry:
    """A flight of 8 s with perfect sensors, pushed unless the method allows no pushing."""
    plan = default_plan(model, duration=8.0, seed=seed)
    if method not in ("angular", "reduced"):
        wave = PUSHES if model.root.type == "planar" else {**PUSHES, **SPATIAL}
        plan = replace(plan, wrench=wave)
    rate = (0.1, -0.2, 0.15) if model.root.type == "floating" else (0.0, 0.0, 0.15)
    plan = replace(plan, start=ff.Start(rate=rate))
    body = model.root.body
    kinds = [("gyro", body), ("attitude", body), ("velocity", body), ("encoder", "*"),
             ("joint_rate", "*"), ("joint_torque", "*")]  # fmt: skip
    suite = tuple(Sensor(kind, on, RATE) for kind, on in kinds)
    return ff.simulate(model, plan, seed=seed, sensors=suite, step=1.0 / RATE / 2)


def worst_error(seed: int) -> tuple[float, int]:
    """The largest error of anything called seen, and how many were."""
    method = METHODS[seed % len(METHODS)]
    model = system_of(seed, method)
    owners = [model.root.body] if method == "reduced" else [model.root.body, model.bodies[-1].name]
    wanted = ff.Parameters(model).free(*(f"{owner}.*" for owner in owners))
    flight = recorded(model, method, seed)
    known = None
    if method == "angular":
        from freefloat.dynamics import balance
        from freefloat.identification.linear.sample_reader import samples_of

        states = samples_of(flatten(model), flight).states[:1]
        known = balance(flatten(model), states).angular_momentum_about_com[0].tolist()
    fit = identify(model, wanted, flight, method=method, momentum=known)
    if method == "angular":
        return combination_error(model, fit), len(fit.combinations)
    seen = [e for e in fit.estimates if e.status == "seen"]
    sizes = natural_sizes(flatten(model), [e.name for e in seen])
    errors = [abs(e.value - e.prior) / size for e, size in zip(seen, sizes, strict=True)]
    return max(errors, default=0.0), len(seen)


def combination_error(model: Model, fit: ff.Fit) -> float:
    """Error of the minimal parameters the angular momentum shows, relative to the largest."""
    system = flatten(model)
    truth = AngularForm.of(system).parameters(system)
    known = np.array([c.std for c in fit.combinations])
    error = np.abs(np.array([c.value for c in fit.combinations]) - truth)
    return float(np.max(error[np.isfinite(known)], initial=0.0) / np.max(np.abs(truth)))


def found_again(n_systems: int, figure) -> None:
    found = {seed: worst_error(seed) for seed in range(n_systems)}
    worst = max(found, key=lambda seed: found[seed][0])
    n_seen = sum(n for _, n in found.values())
    figure(
        "I1",
        f"{n_systems} random systems, {n_seen} parameters seen, worst error"
        f" {found[worst][0]:.1e} of natural size ({METHODS[worst % len(METHODS)]})",
    )
    assert found[worst][0] < EXACT
    assert n_seen > 8 * n_systems  # a body and its neighbour are only seen in combination


@pytest.mark.promise("I1")
def test_random_systems_are_found_again(figure) -> None:
    found_again(N_SYSTEMS, figure)


@pytest.mark.full
@pytest.mark.promise("I1")
def test_a_hundred_random_systems_are_found_again(figure) -> None:
    found_again(N_SYSTEMS_FULL, figure)
