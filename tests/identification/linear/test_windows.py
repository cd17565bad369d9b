"""Windows: derivatives from polynomials, their honest errors, and where windows must not look."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from torque_flights import flown

from freefloat.dynamics import flatten
from freefloat.dynamics.frames import rotations
from freefloat.errors import IdentificationError
from freefloat.identification.linear.samples import NoiseSource, Samples
from freefloat.identification.linear.windows import fit_windows, input_jumps
from freefloat.model import load_model
from freefloat.model.rotations import quaternion_from_rotation_vector

RATE = 50.0


def turning(n: int = 1001, *, noise: float = 1e-9, derived: bool = False, seed: int = 0) -> Samples:
    """A root that turns about z and one joint, all smooth, with noise on everything."""
    t = np.arange(n) / RATE
    zero = np.zeros(n)
    angle, q = 0.3 * np.sin(t), np.cos(0.7 * t)
    tables = {
        "rate": np.column_stack([zero, zero, 0.3 * np.cos(t)]),
        "velocity": np.column_stack([np.sin(t), np.cos(t), zero]),
        "q": q[:, None],
        "dq": -0.7 * np.sin(0.7 * t)[:, None],
        "torque": np.sin(t)[:, None],
    }
    rng = np.random.default_rng(seed)
    columns = {"rate": (2,), "velocity": (0, 1), "q": (0,), "dq": (0,), "torque": (0,)}
    if derived:
        columns.pop("dq")
    for name, which in columns.items():
        for k in which:
            tables[name][:, k] += noise * rng.normal(size=n)
    sources = [NoiseSource(((f, k, noise),)) for f, which in columns.items() for k in which]
    turn = np.column_stack([zero, zero, angle + noise * rng.normal(size=n)])
    return Samples(
        t, quaternion_from_rotation_vector(turn), **tables, wrench=np.zeros((n, 6)),
        thrust=np.zeros((n, 1)), sources=(*sources, NoiseSource((("attitude", 2, noise),))),
        derived=(0,) if derived else (),
    )  # fmt: skip


@pytest.mark.parametrize("derived", [False, True])
def test_values_and_derivatives_are_those_of_the_motion(derived: bool) -> None:
    at = fit_windows(turning(derived=derived))
    t = at.time
    assert at.alpha is not None and at.ddq is not None and at.acceleration is not None
    # six deviations: noise of 1e-9 times the 50 Hz for each derivative, and a factor of order one
    np.testing.assert_allclose(at.alpha[:, 2], -0.3 * np.sin(t), atol=2e-7)
    np.testing.assert_allclose(at.dq[:, 0], -0.7 * np.sin(0.7 * t), atol=2e-7)
    np.testing.assert_allclose(at.ddq[:, 0], -0.49 * np.cos(0.7 * t), atol=5e-5)
    world = np.einsum("nij,nj->ni", at.rotation, at.acceleration)
    np.testing.assert_allclose(world[:, :2], np.column_stack([np.cos(t), -np.sin(t)]), atol=2e-7)
    angle = 2.0 * np.arctan2(at.attitude[:, 2], at.attitude[:, 3])
    np.testing.assert_allclose(angle, 0.3 * np.sin(t), atol=1e-8)


@pytest.mark.parametrize("derived", [False, True])
def test_errors_are_as_large_as_the_sources_say(derived: bool) -> None:
    """Over many windows, the scatter about the truth is the stated one, joint by joint."""
    at = fit_windows(turning(6001, noise=1e-3, derived=derived))
    t = at.time
    assert at.alpha is not None and at.ddq is not None
    errors = {
        ("alpha", 2): at.alpha[:, 2] + 0.3 * np.sin(t),
        ("dq", 0): at.dq[:, 0] + 0.7 * np.sin(0.7 * t),
        ("ddq", 0): at.ddq[:, 0] + 0.49 * np.cos(0.7 * t),
        ("torque", 0): at.torque[:, 0] - np.sin(t),
    }
    for (field, column), error in errors.items():
        parts = [p for s in at.sources for p in s.parts if p[:2] == (field, column)]
        stated = np.sqrt(sum(size**2 for _, _, size in parts))
        # some 200 windows: 5 % scatter; and a tenth of the noise may be misfit of the polynomial
        assert 0.85 < np.sqrt(np.mean(error**2)) / stated < 1.2


def test_a_quieter_recording_gets_narrower_windows() -> None:
    widths = [6001 // len(fit_windows(turning(6001, noise=x)).time) for x in (1e-9, 1e-6, 1e-3)]
    assert widths[0] < widths[1] < widths[2]


def test_no_window_looks_across_a_gap_or_a_switch() -> None:
    samples = turning()
    samples.thrust[300:450] = 2.0
    kept = np.r_[0:700, 730:1001]
    samples = samples.select(kept)
    at = fit_windows(samples)
    half = 0.5 * np.min(np.diff(at.time)) + 1e-9  # windows do not overlap
    for moment in (300 / RATE, 450 / RATE, 715 / RATE):
        assert np.min(np.abs(at.time - moment)) >= half - 1.5 / RATE
    inside = (at.time > 300 / RATE) & (at.time < 450 / RATE)
    assert np.all(at.thrust[inside] == 2.0) and np.all(at.thrust[~inside] == 0.0)
    assert not np.any((at.time > 700 / RATE) & (at.time < 730 / RATE))


def test_only_a_leap_of_the_wrench_is_a_jump() -> None:
    samples = turning()
    samples.wrench[:, 3] = 5.0 * np.sin(samples.time)
    samples.wrench[200:, 4] = np.linspace(0.0, 1.0, 801)  # sets off without a leap
    assert input_jumps(samples).tolist() == []
    samples.wrench[400:401, 2] = 1.0  # for one sample only
    samples.wrench[600:, 3] += 3.0
    assert input_jumps(samples).tolist() == [400, 401, 600]


def test_gravity_is_not_felt() -> None:
    """In free fall the velocity changes, yet an accelerometer at the origin reads nothing."""
    model = replace(load_model("dual-arm"), gravity=(0.01, -0.02, 0.03))
    flight = flown(model, duration=4.0)
    without = fit_windows(flight.samples, flight.system)
    blind = fit_windows(flight.samples)
    assert without.acceleration is not None and blind.acceleration is not None
    turned = np.einsum("nji,j->ni", without.rotation, np.array(model.gravity))
    np.testing.assert_allclose(blind.acceleration - without.acceleration, turned, atol=1e-15)


def test_too_few_samples_are_told() -> None:
    with refused(IdentificationError, "samples.few"):
        fit_windows(turning(20))


def test_attitudes_across_the_sign_of_a_quaternion() -> None:
    samples = turning()
    assert samples.attitude is not None
    flipped = samples.attitude * np.where(np.arange(1001) % 5, 1.0, -1.0)[:, None]
    ours, theirs = fit_windows(samples), fit_windows(replace(samples, attitude=flipped))
    zero = np.zeros((len(ours.time), 3))
    assert ours.attitude is not None and theirs.attitude is not None
    R, S = (rotations(np.hstack([zero, x.attitude])) for x in (ours, theirs))
    np.testing.assert_allclose(R, S, atol=1e-12)


def test_unmeasured_rates_of_a_real_arm() -> None:
    """Encoders alone: rates and accelerations of the planar arm from its angles."""
    with_rates, alone = (
        fit_windows(flown("planar-capture", duration=6.0, without=w).samples)
        for w in ((), ("joint_rate",))
    )
    assert not flatten(load_model("planar-capture")).model.wheels
    assert alone.derived == () and alone.is_windowed
    both = np.intersect1d(np.round(with_rates.time, 6), np.round(alone.time, 6))
    a, b = (s.select(np.isin(np.round(s.time, 6), both)) for s in (with_rates, alone))
    assert a.ddq is not None and b.ddq is not None
    np.testing.assert_allclose(a.dq, b.dq, atol=1e-7)
    np.testing.assert_allclose(a.ddq, b.ddq, atol=1e-4)
