"""Reduced dynamics: exactly affine in ten numbers, without the root's linear acceleration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from systems import random_model, random_states
from torque_flights import MODELS, flown

from freefloat.dynamics import System, flatten, observe
from freefloat.dynamics.equations import no_inputs
from freefloat.errors import IdentificationError
from freefloat.identification.corrected_least_squares import least_squares
from freefloat.identification.linear.family import whiten
from freefloat.identification.linear.parameter_columns import update_system
from freefloat.identification.linear.reduced import (
    REDUCED,
    reduced_names,
    standard_to_reduced,
)
from freefloat.identification.linear.samples import NoiseSource, Samples
from freefloat.model import Orbit, Wheel, load_model

SEEDS = [(0, "floating"), (1, "floating"), (3, "floating"), (4, "floating"), (6, "planar")]
FIELDS = ("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def tree(seed: int, root: str) -> System:
    """A random tree with wheels, in an orbit if it floats."""
    model = random_model(seed, n_joints=5, root=root, prismatic=0.3)
    wheels = (Wheel("rw", "bus", (0.0, 0.0, 1.0), 0.2, role="torque"),)
    orbit = Orbit(radius=4e5, radial=(0.0, 0.6, 0.8), normal=(1.0, 0.0, 0.0))
    return flatten(replace(model, wheels=wheels, orbit=orbit if root == "floating" else None))


def instants(system: System, seed: int, n: int = 40) -> Samples:
    """Random motions under random torques, as if windowed; no root velocity, no accelerometer."""
    states, c = random_states(system, seed, n), system.n_coordinates
    times = np.zeros(n)
    inputs = no_inputs(system, n_rows=n)
    inputs.effort[..., 0] = np.random.default_rng(seed).normal(size=(n, 1, c))
    at = observe(system, states, inputs=inputs, times=times)
    sources = [NoiseSource((("rate", 2, 1e-6),))]
    sources += [NoiseSource(((field, j, 1e-6),)) for j in range(c) for field in ("ddq", "torque")]
    return Samples(
        times, states[:, 3:7], states[:, 10:13], None, states[:, 13 : 13 + c], states[:, 13 + c :],
        np.hstack([at.forces, np.full((n, c), np.nan)]), np.zeros((n, 6)), np.zeros((n, 0)),
        tuple(sources), is_windowed=True,
        alpha=at.accelerations[:, :3], ddq=at.accelerations[:, 6:],
    )  # fmt: skip


def root_values(system: System) -> dict[str, float]:
    phi = next(b.phi for b in system.model.assembly.bodies if b.name == "bus")
    which = (0, 1, 2, 9) if system.model.root.type == "planar" else range(10)
    return {f"bus.{FIELDS[k]}": float(phi[k]) for k in which}


@pytest.mark.parametrize(("seed", "root"), SEEDS)
def test_the_equations_are_affine_in_the_reduced_parameters(seed: int, root: str) -> None:
    system = tree(seed, root)
    rows = REDUCED.equations(system, instants(system, seed), root_values(system))
    left = rows.Y @ standard_to_reduced(system) - rows.y
    assert np.max(np.abs(left)) < 1e-12 * np.max(np.abs(rows.Y * standard_to_reduced(system)))
    assert rows.names == reduced_names(system)


@pytest.mark.parametrize(("seed", "root"), SEEDS)
def test_the_rows_do_not_depend_on_the_root_body(seed: int, root: str) -> None:
    """Another guess of the root body changes the weights, never Y or y."""
    system = tree(seed, root)
    values, samples = root_values(system), instants(system, seed)
    before = np.array(list(values.values()))
    guess = update_system(system, tuple(values), before, 1.3 * before)
    a, b = (REDUCED.equations(s, samples, values) for s in (system, guess))
    np.testing.assert_allclose(a.Y, b.Y, atol=1e-12 * np.max(np.abs(a.Y)))
    np.testing.assert_allclose(a.y, b.y, atol=1e-12 * np.max(np.abs(a.y)))


@pytest.mark.parametrize("name", MODELS)
def test_noise_free_flights_give_back_the_root_body(name: str) -> None:
    """Gyro, attitude (for orbit and thrust), encoders and torques; no velocity anywhere."""
    flight = flown(name, free=("bus.*",), without=("velocity",))
    assert flight.samples.velocity is None
    rows = whiten(REDUCED.equations(flight.system, flight.samples, flight.values))
    found = least_squares(rows.Y, rows.y)
    truth = standard_to_reduced(flight.system)
    kinds = [name.partition(".")[0] for name in rows.names]  # 1/M, s/M [m] and I' [kg m^2]
    sizes = [(kind, abs(x)) for kind, x in zip(kinds, truth, strict=True)]
    size = {kind: max(x for own, x in sizes if own == kind) or 1.0 for kind in kinds}
    error = np.abs(found.values - truth) / [size[kind] for kind in kinds]
    assert found.rank == len(truth) and np.max(error) < 1e-8


def test_deviations_are_honest_when_the_gyro_is_good() -> None:
    z, chi2 = [], []
    for seed in range(8):
        flight = flown(
            "spatial-capture", free=("bus.*",), duration=30.0, rate=20.0, quiet=False, seed=seed,
            without=("velocity",),
        )  # fmt: skip
        rows = whiten(REDUCED.equations(flight.system, flight.samples, flight.values))
        found = least_squares(rows.Y, rows.y)
        chi2.append(found.chi2 / (found.n_rows - found.rank))
        z.append((found.values - standard_to_reduced(flight.system)) / found.std)
    assert 0.9 < np.mean(chi2) < 1.1  # 1600 rows: 3.5 % scatter
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.25


def test_only_the_root_body_may_be_free() -> None:
    flight = flown("planar-capture", duration=3.0)
    with refused(IdentificationError, "method.root_only", naming="target.mass"):
        REDUCED.equations(flight.system, flight.samples, {"target.mass": 1.0})


def test_a_fixed_root_has_nothing_to_reduce() -> None:
    system = flatten(random_model(7, root="fixed"))
    with refused(IdentificationError, "method.fixed_root"):
        REDUCED.equations(system, instants(system, 7), {})


def test_missing_channels_are_named() -> None:
    for without, named in (("gyro", "base.rate"), ("joint_torque", "torque")):
        flight = flown("spatial-capture", free=("bus.*",), duration=3.0, without=(without,))
        with refused(IdentificationError, "channel.missing", naming=named):
            REDUCED.equations(flight.system, flight.samples, flight.values)
    assert load_model("spatial-capture").root.body == "bus"
