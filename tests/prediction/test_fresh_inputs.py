"""Fresh noise in recorded inputs: as much as their sensors state, in motion and forces alike."""

from __future__ import annotations

import numpy as np
import pytest
from doubtful_flights import QUIET, chaser, flight

from freefloat.prediction.fresh_inputs import fresh_inputs
from freefloat.prediction.inputs import inputs_from_telemetry

TIMES = np.linspace(2.0, 10.0, 161)[:, None] + np.array([0.0, 0.02, 0.04])


def changes(n: int, *, is_alike: bool, seed: int = 0):
    """What fresh noise changes in motion and efforts, a draw each."""
    source = inputs_from_telemetry(chaser(), flight())
    exact = source.tabulate(TIMES)
    drawn = [
        s.tabulate(TIMES) for s in fresh_inputs(source, flight(), n, seed=seed, is_alike=is_alike)
    ]
    return source, [(d.given - exact.given, d.effort - exact.effort) for d in drawn]


def test_driving_torques_have_the_noise_of_their_sensors():
    source, drawn = changes(8, is_alike=True)
    mast = source.system.coordinates.index("mast")
    efforts = np.array([effort[..., mast, 0] for _, effort in drawn])
    # noise interpolated between samples is two thirds of its variance, at 20 Hz on this grid more
    assert np.std(efforts) == pytest.approx(QUIET["joint_torque"], rel=0.25)
    others = [c for c in range(source.system.n_coordinates) if c != mast]
    assert not any(np.any(effort[:, :, others]) for _, effort in drawn)


@pytest.mark.parametrize("joint", ["shoulder", "elbow"])
def test_smoothing_decided_anew_scatters_about_as_much(joint):
    sizes = []
    for is_alike in (True, False):
        source, drawn = changes(6, is_alike=is_alike)
        place = [source.system.coordinates[i] for i in source.system.tree.given].index(joint)
        sizes.append(np.std([motion[:, :, place, 0] for motion, _ in drawn]))
    assert 0.0 < sizes[0] < QUIET["encoder"]  # smoothing takes noise off
    assert sizes[1] == pytest.approx(sizes[0], rel=0.3)  # six draws of some hundred samples


def test_draws_are_those_of_the_seed():
    first, again = (changes(1, is_alike=False, seed=3)[1][0][0] for _ in range(2))
    other = changes(1, is_alike=False, seed=4)[1][0][0]
    assert np.array_equal(first, again) and not np.array_equal(first, other)
