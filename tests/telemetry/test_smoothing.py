"""Smooth signals: exact without noise, near the best possible with it, honest about the rest."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused
from scipy.interpolate import BSpline

from freefloat.errors import TelemetryError
from freefloat.telemetry import smooth, smooth_attitude
from freefloat.telemetry.attitude import rate_and_acceleration
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.penalised_spline import SplineProblem, curve_at
from freefloat.telemetry.rate_samples import rates_in_gaps
from freefloat.telemetry.spline_basis import SplineBasis, gram, product, transposed_product


def band_limited(t: np.ndarray, seed: int, highest: float) -> list[np.ndarray]:
    """A signal with components up to `highest` [Hz], its first and its second derivative."""
    rng = np.random.default_rng(seed)
    w = 2 * np.pi * np.append(rng.uniform(0.05 * highest, highest, 7), highest)
    amplitude, phase = rng.normal(size=8) / 3, rng.uniform(0, 2 * np.pi, 8)
    turns = np.outer(t, w) + phase
    return [
        np.sin(turns) @ amplitude,
        np.cos(turns) @ (amplitude * w),
        -np.sin(turns) @ (amplitude * w**2),
    ]


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def inner(values: np.ndarray) -> np.ndarray:
    """All but an eighth at either end, where every smoother is worse."""
    n = len(values) // 8
    return values[n:-n]


T = np.arange(2000) * 0.01


class TestWithoutNoise:
    @pytest.mark.parametrize("highest", [0.1, 1.0, 5.0])
    def test_samples_are_reproduced(self, highest):
        value, rate, acceleration = band_limited(T, 1, highest)
        signal = smooth(T, value)
        # 1e-8 is what is promised; rounding alone would allow 1e-14.
        assert np.abs(signal.value(T) - value).max() < 1e-8
        # Interpolation by quintic splines is of order 6, so 20 samples a period give 1e-6.
        assert rms(inner(signal.rate(T) - rate)) < 1e-6 * rms(rate)
        assert rms(inner(signal.acceleration(T) - acceleration)) < 1e-4 * rms(acceleration)
        assert signal.noise[0] < 1e-6

    def test_uneven_instants_and_invalid_samples(self):
        rng = np.random.default_rng(0)
        t = np.sort(rng.uniform(0.0, 20.0, 1500))
        values = np.sin(2 * t)
        values[rng.random(1500) < 0.1] = np.nan
        signal = smooth(t, values)
        good = np.isfinite(values)
        assert np.abs(signal.value(t)[good] - values[good]).max() < 1e-8
        assert rms(inner(signal.rate(t) - 2 * np.cos(2 * t))) < 1e-6

    @pytest.mark.parametrize("values", [np.zeros(50), np.full(50, 1e6), np.arange(50.0)])
    def test_constants_and_lines(self, values):
        signal = smooth(np.arange(50) * 0.1, values)
        assert signal.value(2.5) == pytest.approx(np.interp(25, np.arange(50), values), rel=1e-12)
        assert signal.rate(2.5) == pytest.approx(10 * (values[1] - values[0]), abs=1e-6)

    def test_large_times_lose_nothing(self):
        late = smooth(1e6 + T, np.sin(T))
        # Instants around 1e6 s are rounded to 1e-10 s.
        assert np.abs(late.value(1e6 + T) - np.sin(T)).max() < 1e-8


class TestWithNoise:
    N_SEEDS = 6

    def errors(self, highest: float, sigma: float, **options) -> tuple[np.ndarray, np.ndarray]:
        """RMS errors of value, rate and acceleration, and what the signal says they are."""
        squares, claims = [], []
        for seed in range(self.N_SEEDS):
            truth = band_limited(T, seed, highest)
            noise = sigma * np.random.default_rng(100 + seed).normal(size=T.size)
            signal = smooth(T, truth[0] + noise, **options)
            squares.append(
                [rms(inner(a - b)) ** 2 for a, b in zip(signal.all(T), truth, strict=True)]
            )
            names = ("value_noise", "rate_noise", "acceleration_noise")
            claims.append([getattr(signal, name)[0] ** 2 for name in names])
        return np.sqrt(np.mean(squares, axis=0)), np.sqrt(np.mean(claims, axis=0))

    @pytest.mark.parametrize("knows_noise", [False, True])
    @pytest.mark.parametrize(("highest", "sigma"), [(1.0, 1e-2), (5.0, 1e-2)])
    def test_errors_are_near_the_least_possible(self, highest, sigma, knows_noise):
        noise = sigma if knows_noise else None
        errors, claims = self.errors(highest, sigma, noise=noise)
        # Whoever knew the band, and used all of the samples, would be left with the noise in the
        # band: sigma sqrt(2 f dt), and its derivatives.
        w = 2 * np.pi * highest
        least = sigma * np.sqrt(2 * highest * 0.01) * np.array([1, w / 3**0.5, w**2 / 5**0.5])
        # We do not know the band. Measured: 1.35, 2.6, 5.1 times for 1 Hz; 1.3, 2.3, 4.4 for 5 Hz.
        assert np.all(errors < [1.5 * least[0], 3.0 * least[1], 6.0 * least[2]])
        assert np.all(claims > 0.8 * errors) and np.all(claims < 2.0 * errors)

    def test_the_chosen_cut_off_is_near_the_best_one(self):
        sigma, ratios = 1e-2, []
        for seed in range(3):
            truth = band_limited(T, seed, 1.0)
            values = truth[0] + sigma * np.random.default_rng(seed).normal(size=T.size)
            basis = SplineBasis(5, 0.04, T[:1], T[-1:])
            problem = SplineProblem(basis, T, values[:, None], 5, np.zeros(1))
            best = np.inf
            for cutoff in np.geomspace(0.15, 2.0, 30):
                curve = curve_at(problem, cutoff, judged_at=cutoff, score=0.0)
                rates = basis.rows(T).curve(curve.coefficients, derivative=1)[:, 0]
                best = min(best, rms(inner(rates - truth[1])))
            ratios.append(rms(inner(smooth(T, values).rate(T) - truth[1])) / best)
        # Nobody can choose better than one who sees the truth. Measured: 1.08 to 1.19.
        assert max(ratios) < 1.3

    def test_it_beats_differences_by_far(self):
        truth = band_limited(T, 0, 1.0)
        values = truth[0] + 1e-2 * np.random.default_rng(0).normal(size=T.size)
        differenced = np.gradient(np.gradient(values, 0.01), 0.01)
        smoothed = smooth(T, values).acceleration(T)
        # Measured: 450 times.
        assert rms(inner(smoothed - truth[2])) < 0.01 * rms(inner(differenced - truth[2]))

    @pytest.mark.parametrize("sigma", [1e-4, 1e-2, 0.3])
    def test_the_noise_is_found(self, sigma):
        value = band_limited(T, 3, 1.0)[0]
        signal = smooth(T, value + sigma * np.random.default_rng(3).normal(size=T.size))
        # The estimate from 2000 samples has a standard deviation of 1.6 %.
        assert signal.noise[0] == pytest.approx(sigma, rel=0.06)
        assert signal.cutoff[0] < 5.0

    def test_it_does_not_follow_the_noise_now_and_then(self):
        t = np.arange(60) * 0.05
        for seed in range(60):
            values = np.sin(t) + 0.05 * np.random.default_rng(seed).normal(size=60)
            # With parameters counted 1.2 times instead of 1.4, one of 200 interpolates the noise.
            assert smooth(t, values).curves[0].n_parameters < 15

    def test_kinks_are_kept(self):
        value = np.where(T < 10, 0.0, (T - 10) ** 2)
        noisy = value + 1e-3 * np.random.default_rng(0).normal(size=T.size)
        error = smooth(T, noisy).rate(T) - np.where(T < 10, 0.0, 2 * (T - 10))
        assert rms(inner(error)) < 0.01 and np.abs(inner(error)).max() < 0.1


class TestChannels:
    def test_each_channel_has_its_own_smoothing_and_its_own_gaps(self):
        rng = np.random.default_rng(0)
        values = np.column_stack([np.sin(T), np.sin(20 * T), np.cos(T)])
        noisy = values + [1e-2, 1e-3, 1e-4] * rng.normal(size=values.shape)
        noisy[500:505, 0] = np.nan
        signal = smooth(T, noisy)
        assert signal.value(T).shape == (2000, 3) and signal.value(5.0).shape == (3,)
        assert signal.noise == pytest.approx([1e-2, 1e-3, 1e-4], rel=0.1)
        assert signal.cutoff[1] > 3 * signal.cutoff[0]
        alone = smooth(T, noisy[:, 1])
        assert alone.value(T).shape == (2000,) and alone.value(5.0).shape == ()
        assert alone.value(T) == pytest.approx(signal.value(T)[:, 1], abs=1e-12)

    def test_nothing_outside_the_samples_or_in_long_gaps(self):
        valid = (T < 5.0) | (T > 8.0)
        signal = smooth(T, np.where(valid, np.sin(T), 1e9), valid=valid)
        assert np.isnan(signal.value([-0.01, 6.0, 20.0])).all()
        assert signal.value(9.0) == pytest.approx(np.sin(9.0), abs=1e-8)

    @pytest.mark.parametrize(("n", "error"), [(15, 1e-8), (60, 1e-4), (300, 0.05)])
    def test_gaps_are_bridged_when_asked_to(self, n, error):
        valid = np.ones(T.size, dtype=bool)
        valid[1000 : 1000 + n] = False
        signal = smooth(T, np.sin(T), valid=valid, max_gap=4.0)
        assert np.abs(signal.value(T) - np.sin(T)).max() < error
        noisy = np.sin(T) + 1e-4 * np.random.default_rng(0).normal(size=T.size)
        signal = smooth(T, noisy, valid=valid, max_gap=4.0)
        assert np.abs(signal.value(T) - np.sin(T)).max() < error + 1e-3

    def test_order_three_is_there_for_the_asking(self):
        signal = smooth(T, np.sin(T), order=3)
        assert signal.value(5.005) == pytest.approx(np.sin(5.005), abs=1e-9)

    def test_samples_may_come_in_any_order(self):
        shuffled = np.random.default_rng(0).permutation(T.size)
        signal = smooth(T[shuffled], np.sin(T)[shuffled])
        assert signal.rate(5.0) == pytest.approx(np.cos(5.0), abs=1e-8)

    @pytest.mark.parametrize(
        ("time", "values", "code"),
        [
            ([0, 1, 2], [0, 1, 2], "samples.few"),
            (np.zeros(50), np.zeros(50), "samples.few"),
            (np.arange(50), np.full(50, np.nan), "samples.few"),
            (np.arange(50), np.zeros(49), "samples.shape"),
            (np.full(50, np.nan), np.zeros(50), "time.invalid"),
        ],
    )
    def test_misuse(self, time, values, code):
        with refused(TelemetryError, code):
            smooth(time, values)
        with refused(TelemetryError, "option.choice"):
            smooth(T, np.sin(T), order=4)
        with refused(TelemetryError, "samples.shape"):
            smooth_attitude(T, np.zeros((2000, 3)))


def coning(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attitude, body rate and acceleration of a turn by a(t) about z after one by b(t) about x."""
    a, da, dda = 0.8 * t, np.full_like(t, 0.8), np.zeros_like(t)
    b, db, ddb = 0.5 * np.sin(1.1 * t), 0.55 * np.cos(1.1 * t), -0.605 * np.sin(1.1 * t)
    ca, sa, cb, sb = np.cos(a / 2), np.sin(a / 2), np.cos(b / 2), np.sin(b / 2)
    q = np.column_stack([ca * sb, sa * sb, sa * cb, ca * cb])
    rate = np.column_stack([db, da * np.sin(b), da * np.cos(b)])
    acceleration = np.column_stack(
        [ddb, dda * np.sin(b) + da * db * np.cos(b), dda * np.cos(b) - da * db * np.sin(b)]
    )
    return q, rate, acceleration


class TestAttitude:
    def test_exact_without_noise_whatever_the_signs_and_norms(self):
        q, rate, acceleration = coning(T)
        rng = np.random.default_rng(0)
        given = q * rng.choice([-1.0, 1.0], 2000)[:, None] * rng.uniform(0.9, 1.1, (2000, 1))
        history = smooth_attitude(T, given)
        found = history.attitude(T)
        assert np.abs(np.abs(np.sum(found * q, axis=1)) - 1.0).max() < 1e-8
        # 570 samples a period; measured 2e-9 and 1.4e-10.
        assert np.abs(history.rate(T) - rate).max() < 1e-6
        assert np.abs(inner(history.acceleration(T) - acceleration)).max() < 1e-6

    @pytest.mark.parametrize("known", [None, 1e-3])
    def test_with_noise(self, known):
        q, rate, _ = coning(T)
        rng = np.random.default_rng(1)
        half = 0.5e-3 * rng.normal(size=(2000, 3))  # small turns about the body axes
        x, y, z, w = q.T
        turn = np.stack([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])  # q * (half, 0)
        noisy = q + np.einsum("ijn,nj->ni", turn, half)
        history = smooth_attitude(T, noisy, noise=known)
        assert history.noise == pytest.approx(1e-3, rel=0.06)
        error = rms(inner(history.rate(T) - rate))
        assert 0.7 * error < history.rate_noise < 2.0 * error
        assert error < 1.5e-3  # differences of neighbouring samples give 0.14 rad/s

    def test_rate_and_acceleration_by_differences(self):
        t = np.array([0.3, 1.7])
        h = 1e-3
        scale = np.exp(0.1 * t)[:, None]  # a norm that changes must not matter
        s = coning(t)[0] * scale
        later, earlier = (coning(t + d)[0] * np.exp(0.1 * (t + d))[:, None] for d in (h, -h))
        rate, acceleration = rate_and_acceleration(
            s, (later - earlier) / (2 * h), (later - 2 * s + earlier) / h**2
        )
        # Second-order differences with h = 1e-3.
        assert rate == pytest.approx(coning(t)[1], abs=1e-5)
        assert acceleration == pytest.approx(coning(t)[2], abs=1e-5)


class TestMachinery:
    BASIS = SplineBasis(5, 0.5, np.array([0.0, 10.0]), np.array([4.2, 13.0]))
    TIME = np.sort(np.concatenate([np.linspace(0.0, 4.2, 40), np.linspace(10.0, 13.0, 30)]))

    def dense(self) -> np.ndarray:
        rows = self.BASIS.rows(self.TIME)
        matrix = np.zeros((self.TIME.size, self.BASIS.size))
        for n, (first, splines) in enumerate(zip(rows.first, rows.splines(), strict=True)):
            matrix[n, first : first + 6] = splines
        return matrix

    def test_splines_are_those_of_scipy(self):
        rng = np.random.default_rng(0)
        coefficients = rng.normal(size=(self.BASIS.size, 1))
        knots = 0.5 * np.arange(-5, 9 + 6)  # nine intervals cover 0 to 4.2
        reference = BSpline(knots, coefficients[:14, 0], 5)
        t = np.linspace(0.0, 4.2, 100)
        for derivative in range(3):
            found = self.BASIS.rows(t).curve(coefficients, derivative=derivative)[:, 0]
            assert found == pytest.approx(reference(t, derivative), abs=1e-9)
        assert np.isnan(self.BASIS.rows(np.array([4.3, 9.9, np.nan])).curve(coefficients)).all()

    def test_banded_products_are_those_of_dense_matrices(self):
        rows, dense = self.BASIS.rows(self.TIME), self.dense()
        rng = np.random.default_rng(0)
        a, y = rng.normal(size=(self.BASIS.size, 2)), rng.normal(size=(self.TIME.size, 2))
        assert product(rows.splines(), rows.first, a) == pytest.approx(dense @ a)
        turned = transposed_product(rows.splines(), rows.first, y, size=self.BASIS.size)
        assert turned == pytest.approx(dense.T @ y)
        banded = gram(rows.splines(), rows.first, shape=(6, self.BASIS.size))
        for d in range(6):
            expected = np.diagonal(dense.T @ dense, -d)
            assert banded[d, : expected.size] == pytest.approx(expected, abs=1e-14)
        square = np.zeros((self.BASIS.size, self.BASIS.size))
        for d, diagonal in enumerate(self.BASIS.penalty(3)):
            square += np.diag(diagonal[: self.BASIS.size - d], -d)
            square += np.diag(diagonal[: self.BASIS.size - d], d) if d else 0.0
        assert self.BASIS.penalty_product(a, 3) == pytest.approx(square @ a)

    def test_solution_and_trace_are_those_of_dense_matrices(self):
        rng = np.random.default_rng(0)
        values = rng.normal(size=(self.TIME.size, 2))
        problem = SplineProblem(self.BASIS, self.TIME, values, 3, np.zeros(2))
        dense, weight = self.dense(), 0.7
        penalty = self.BASIS.penalty_product(np.eye(self.BASIS.size), 3)
        hat = np.linalg.solve(dense.T @ dense + weight * penalty, dense.T)
        factor = problem.factor(weight)
        found = problem.coefficients(weight, factor, n_passes=2)
        assert found == pytest.approx(hat @ values, abs=1e-9)
        # The derivative of the log-determinant is taken by a difference: 1 % is plenty.
        trace = problem.n_parameters(weight, factor)
        assert trace == pytest.approx(np.trace(dense @ hat), rel=0.01)


def test_rates_tell_what_happened_while_positions_were_lost():
    rng = np.random.default_rng(5)
    t = np.arange(1500) * 0.02
    lost, noise, rate_noise = (t > 10.0) & (t < 11.5), 3e-5, 2e-4
    angles = np.sin(3.0 * t) + noise * rng.normal(size=t.size)
    rates = 3.0 * np.cos(3.0 * t) + rate_noise * rng.normal(size=t.size)
    angle = Channel("arm.position", "rad", t, angles, ~lost, noise)
    rate = Channel("arm.velocity", "rad/s", t, rates, noise=rate_noise)
    found = smooth(*angle.usable(), noise=noise, rates=rates_in_gaps(angle, rate))
    inside = t[lost]
    assert not np.all(np.isfinite(smooth(*angle.usable(), noise=noise).value(inside)))
    # noise of 75 rates, summed and held at both ends: half of 2e-4 * 0.02 * sqrt(75) at most
    assert np.max(np.abs(found.value(inside) - np.sin(3.0 * inside))) < 4 * 1.8e-5
    away = t[(t > 1.0) & (t < 9.0)]
    alone = smooth(t[t < 10.0], angles[t < 10.0], noise=noise)
    # elsewhere little changes: well below the noise of the rate by itself
    assert np.max(np.abs(found.rate(away) - alone.rate(away))) < rate_noise
