"""Every motion is what its derivatives say, smooth, and at rest where it promises to be."""

from __future__ import annotations

import numpy as np
import pytest
from plan_samples import MOTIONS

from freefloat.excitation import Fourier, Hold, Moves, Sinusoid, Speeds, Spline, Table

every_motion = pytest.mark.parametrize("kind", MOTIONS)
END = 6.0  # [s] of every sample

# Where the pieces of each sample meet: times the derivatives might jump at.
SEAMS = {
    "hold": (0.0, END),
    "fourier": (0.0, END),
    "sinusoid": (0.0, 1.5, 4.5, END),
    "multisine": (0.0, 1.5, 4.5, END),
    "moves": (0.5, 2.0, 3.0, 5.5),
    "bangs": (0.0, 0.5, 1.375, 1.875, 2.75, 3.25, 4.125, 4.625, 5.5, END),
    "speeds": (0.5, 2.0, 4.5),
    "accelerate": (),
    "spline": (0.0, 1.5, 3.0, 4.5, END),
    "table": (1.0, 2.0, 3.5, 4.0, 5.0),
}


@every_motion
def test_rates_and_accelerations_are_differences(kind):
    motion, h = MOTIONS[kind], 1e-4
    t = np.random.default_rng(1).uniform(h, END - h, 400)
    t = t[[np.abs(np.array(SEAMS[kind] or [-1.0]) - one).min() > 2 * h for one in t]]
    before, here, after = (motion.at(t + shift) for shift in (-h, 0.0, h))
    scale = 1.0 + max(np.abs(part).max() for part in here)
    for k in (0, 1):
        difference = (after[k] - before[k]) / (2.0 * h)
        # h^2 / 6 of a third derivative of a few hundred, and rounding / h
        np.testing.assert_allclose(here[k + 1], difference, atol=1e-6 * scale)


@every_motion
def test_the_rate_integrates_to_the_position(kind):
    from scipy.integrate import simpson

    t = np.linspace(0.0, END, 60_001)
    q, dq, ddq = MOTIONS[kind].at(t)
    # Simpson's rule with 0.1 ms, across seams where only the third derivative jumps
    assert simpson(dq, x=t) == pytest.approx(q[-1] - q[0], abs=1e-9)
    assert simpson(ddq, x=t) == pytest.approx(dq[-1] - dq[0], abs=1e-7)


@every_motion
def test_nothing_jumps_at_the_seams(kind):
    for seam in SEAMS[kind]:
        parts = MOTIONS[kind].at(np.array([seam - 1e-9, seam + 1e-9]))
        scale = 1.0 + max(np.abs(part).max() for part in parts)
        for before, after in parts:
            # 2e-9 s of a derivative of at most a few hundred
            assert abs(after - before) < 1e-6 * scale, seam


@pytest.mark.parametrize("kind", ["fourier", "sinusoid", "multisine", "moves", "bangs", "spline"])
def test_ends_at_rest_and_stays_there(kind):
    motion = MOTIONS[kind]
    first, last = {
        "fourier": (0.1, -0.2), "sinusoid": (-0.1, -0.1), "multisine": (-0.1, -0.1),
        "moves": (0.1, 0.2), "bangs": (0.1, 0.478125), "spline": (0.0, 0.1),
    }[kind]  # fmt: skip
    q, dq, ddq = motion.at(np.array([-1.0, 0.0, END, END + 3.0]))
    np.testing.assert_allclose(q, [first, first, last, last], atol=1e-14)  # rounding
    np.testing.assert_allclose(dq, 0.0, atol=1e-14)
    np.testing.assert_allclose(ddq, 0.0, atol=1e-13)


@every_motion
def test_tables_of_times_keep_their_shape(kind):
    t = np.linspace(0.0, END, 12).reshape(4, 3)
    for table, row in zip(MOTIONS[kind].at(t), MOTIONS[kind].at(t.ravel()), strict=True):
        assert table.shape == (4, 3)
        np.testing.assert_array_equal(table.ravel(), row)


@pytest.mark.parametrize(
    ("a", "b", "largest"),
    [
        ((-0.1642, 0.2786, 0.3582), (0.0010, 0.2090, -0.1000), (37.9, 58.0, 158.9)),
        ((0.0846, -0.1692, 0.0498), (0.3682, 0.0597, -0.32835), (61.4, 66.4, 131.9)),
    ],
)
def test_fourier_is_the_motion_of_table_2_of_paper_003(a, b, largest):
    parts = Fourier(5.0, a, b).at(np.linspace(0.0, 5.0, 5001))
    found = [np.degrees(np.abs(part).max()) for part in parts]
    assert found == pytest.approx(largest, abs=0.05)  # half a printed digit


def test_fourier_is_equation_12_of_paper_003():
    motion = Fourier(5.0, (0.3,), (-0.2,))
    w, t = 2.0 * np.pi / 5.0, np.linspace(0.0, 5.0, 50)
    series = 0.3 / w * np.sin(w * t) + 0.2 / w * np.cos(w * t)
    rest = motion.at(t)[0] - series
    quintic = np.polynomial.Polynomial.fit(t, rest, 5)
    np.testing.assert_allclose(quintic(t), rest, atol=1e-14)  # what is left is one quintic


@pytest.mark.parametrize("duration", [5.0, 600.0, 86400.0])
def test_fourier_keeps_its_ends_over_long_times(duration):
    q, dq, ddq = Fourier(duration, (0.2, -0.1), (0.3, 0.1), 0.4, -0.5).at(np.array([0.0, duration]))
    # rounding of sums of terms as large as b * duration
    np.testing.assert_allclose(q, [0.4, -0.5], atol=1e-15 * max(10.0, duration))
    np.testing.assert_allclose([dq, ddq], 0.0, atol=1e-13)


def test_a_sinusoid_is_a_cosine_between_its_ramps():
    motion = Sinusoid(30.0, 0.2, 0.4, 5.0, 3.0, -0.1, 0.7)
    t = np.linspace(3.0, 27.0, 100)
    wave = 0.2 + 0.4 * np.cos(2.0 * np.pi * t / 5.0 + 0.7)
    np.testing.assert_allclose(motion.at(t)[0], wave, atol=1e-14)


def test_moves_are_at_rest_at_each_of_their_times():
    motion = Moves((1.0, 2.0, 4.0), (0.1, 0.5, -0.2))
    q, dq, ddq = motion.at(np.array([0.0, 1.0, 2.0, 4.0, 9.0]))
    np.testing.assert_allclose(q, [0.1, 0.1, 0.5, -0.2, -0.2], atol=1e-15)
    np.testing.assert_allclose([dq, ddq], 0.0, atol=1e-15)


def test_speeds_are_reached_and_kept():
    t = np.array([0.0, 0.5, 2.0, 4.5, 10.0])
    q, dq, ddq = MOTIONS["speeds"].at(t)
    np.testing.assert_allclose(dq, [100.0, 100.0, 130.0, 90.0, 90.0], atol=1e-12)
    np.testing.assert_allclose(ddq, 0.0, atol=1e-12)
    # halfway through a smooth change the mean of both speeds has been flown
    assert q[2] - q[1] == pytest.approx(1.5 * 115.0, abs=1e-11)
    assert q[4] - q[3] == pytest.approx(5.5 * 90.0, abs=1e-11)


def test_a_spline_stays_within_its_control_points():
    control = (0.0, 0.3, -0.2, 0.5, 0.1)
    q = Spline(6.0, control).at(np.linspace(0.0, 6.0, 999))[0]
    assert min(control) <= q.min() and q.max() <= max(control)


def test_a_spline_of_two_points_is_a_rest_to_rest_move():
    q, dq, ddq = Spline(2.0, (0.1, 0.5)).at(np.array([0.0, 1.0, 2.0]))
    np.testing.assert_allclose(q, [0.1, 0.3, 0.5], atol=1e-15)
    np.testing.assert_allclose([dq[::2], ddq[::2]], 0.0, atol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9])
def test_a_table_goes_through_its_points_and_is_exact_for_polynomials(n):
    t = np.linspace(0.0, 2.0, n)
    true = np.polynomial.Polynomial(np.array([0.1, -0.3, 0.2, 0.15, -0.1, 0.02])[: min(n, 6)])
    motion = Table(tuple(t.tolist()), tuple(true(t).tolist()))
    fine = np.linspace(0.0, 2.0, 77)
    for k, part in enumerate(motion.at(fine)):
        np.testing.assert_allclose(part, true.deriv(k)(fine) if k else true(fine), atol=1e-11)


def test_a_table_stays_where_it_ended():
    q, dq, ddq = Table((1.0, 2.0), (0.0, 0.5)).at(np.array([0.0, 3.0]))
    assert (q.tolist(), dq.tolist(), ddq.tolist()) == ([0.0, 0.5], [0.0, 0.0], [0.0, 0.0])


def test_hold_holds():
    assert [part.tolist() for part in Hold(0.3).at(np.zeros(2))] == [[0.3, 0.3], [0, 0], [0, 0]]
    assert Speeds((0.0,), (5.0,), 1.0).at(np.array([2.0]))[0].tolist() == [11.0]


def test_bangs_hold_their_levels_and_jerk_as_told():
    motion = MOTIONS["bangs"]
    held = np.array([0.5, 1.375, 1.875, 2.75, 3.25, 4.125, 4.625, 5.5])  # ends of every level
    levels = np.repeat(motion.levels, 2)
    np.testing.assert_allclose(motion.at(held)[2], levels, atol=1e-14)
    t = np.linspace(0.0, END, 600_001)
    jerk = np.abs(np.diff(motion.at(t)[2])) / t[1]
    assert jerk.max() == pytest.approx(1.875 * 0.8 / motion.ramp, rel=1e-6)
