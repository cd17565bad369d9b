"""Seven joints with gravity, friction and rotors, simulated by MuJoCo: all from motor torques."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

import ground_arm
from fault_codes import refused
from ground_arm_bound import over_bound, rms

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import WhitenedRows, whiten
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.torque import TORQUE
from freefloat.parameters.parameters import Parameters, parameter_values

FLIGHT, OTHER = 1, 2  # seeds
# theory: of a normal number; 62 of them exceed it once in 2000 tests
MOST_DEVIATIONS = 4.5


@pytest.fixture(scope="module")
def true(tmp_path_factory):
    return ground_arm.arm(tmp_path_factory.mktemp("arm"))


@pytest.fixture(scope="module")
def flight():
    return ground_arm.flown(FLIGHT)


@pytest.fixture(scope="module")
def fits(true, flight):
    """By whether estimates are made physical."""
    model = ground_arm.wrong(true, FLIGHT)
    free = Parameters(model).free(*ground_arm.FREE)
    return {
        physical: ff.identify(
            model, free, flight, method="torque", physical=physical, assess=False
        )
        for physical in (True, False)
    }  # fmt: skip


def rows_of(model, recording, names) -> WhitenedRows:
    """The rows of a recording, weighted by the true noise."""
    system = flatten(model)
    values = parameter_values(system)
    samples = samples_of(system, recording)
    return whiten(TORQUE.equations(system, samples, {name: values[name] for name in names}))


def values_of(model, names) -> np.ndarray:
    values = parameter_values(flatten(model))
    return np.array([values[name] for name in names])


@pytest.mark.parametrize("physical", [True, False])
def test_all_that_shows_in_torques_is_found(true, flight, fits, physical):
    """Every base parameter, and friction and damping by themselves; made physical or not."""
    fit = fits[physical]
    names = [e.name for e in fit.estimates]
    truth = values_of(true, names)
    # what is called invisible is given as it was, and belongs to sums nevertheless
    found = values_of(fit.model, names) if physical else np.array([e.value for e in fit.estimates])
    _, s, V = np.linalg.svd(rows_of(true, flight, names).Y, full_matrices=False)
    is_seen = s > 1e-9 * s[0]
    deviations = (s[:, None] * V @ (found - truth))[is_seen]
    assert is_seen.sum() > 50
    assert np.max(np.abs(deviations)) < MOST_DEVIATIONS
    in_joints = [n for n in names if n.endswith((".friction", ".damping"))]
    assert len(in_joints) == 14
    for name in in_joints:
        estimate = fit[name]
        error = estimate.value - truth[names.index(name)]
        assert abs(error) < MOST_DEVIATIONS * estimate.std, name
        assert estimate.std < 0.1, name


def test_torques_fix_the_scale(fits):
    for fit in fits.values():
        assert {e.status for e in fit.estimates if e.name.endswith(".friction")} == {"seen"}


def test_torques_of_another_motion_are_predicted_to_their_noise(true, fits):
    names = [e.name for e in fits[True].estimates]
    rows = rows_of(true, ground_arm.flown(OTHER), names)
    left = rows.y - rows.Y @ values_of(fits[True].model, names)
    exact = rows.y - rows.Y @ values_of(true, names)
    # the estimate's own errors add the square root of parameters over rows, a few percent
    assert np.std(left) < 1.1 * np.std(exact)
    assert np.std(exact) == pytest.approx(1.0, abs=0.1)


def test_auto_takes_the_weak_form_which_uses_every_sample(true, flight):
    model = ground_arm.wrong(true, FLIGHT)
    free = Parameters(model).free("*.friction")
    fit = ff.identify(model, free, flight, assess=False)
    assert fit.method == "weak"


@pytest.mark.parametrize("method", ["auto", "weak", "torque"])
def test_without_torques_they_are_asked_for(true, flight, method):
    model = ground_arm.wrong(true, FLIGHT)
    free = Parameters(model).free("link_7.*")
    with refused(IdentificationError, "channel.missing", naming="<joint>.motor_torque"):
        ff.identify(model, free, flight.without("*.motor_torque"), method=method, assess=False)


@pytest.mark.full
def test_errors_are_at_the_bound(true, figure):
    """The smallest errors that any unbiased method could have; see `tests/ground_arm_bound.py`."""
    found = [over_bound(true, seed, method="output_error") for seed in range(301, 313)]
    base, in_joints = rms([one.base for one in found]), rms([one.in_joints for one in found])
    figure("I7", f"arm on the ground: base {base:.2f}, friction and damping {in_joints:.2f}")
    assert base < 1.2
    assert in_joints < 1.2
