"""Resampling without aliasing or invention, and clocks brought together."""

from __future__ import annotations

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import TelemetryError
from freefloat.telemetry import Channel, Telemetry, align, estimate_offset, resample
from freefloat.telemetry.attitude import continuous, slerp

T = np.arange(2001) * 0.01


def one(values, time=T, name="elbow.position", **options) -> Telemetry:
    return Telemetry.of([Channel(name, "rad", time, values, **options)])


def spin(t: np.ndarray, rate: float = 0.7) -> dict[str, np.ndarray]:
    columns = (0 * t, 0.6 * np.sin(rate * t / 2), 0.8 * np.sin(rate * t / 2), np.cos(rate * t / 2))
    return {f"base.attitude.{axis}": column for axis, column in zip("xyzw", columns, strict=True)}


class TestResample:
    @pytest.mark.parametrize("method", ["spline", "linear", "hold"])
    def test_at_its_own_instants_nothing_changes(self, method):
        flight = one(np.sin(T), noise=1e-3)
        again = resample(flight, times=T, method=method)["elbow.position"]
        assert again.values == pytest.approx(np.sin(T), abs=1e-15) and again.noise == 1e-3
        assert not again.values.flags.writeable

    @pytest.mark.parametrize(("method", "error"), [("spline", 1e-8), ("linear", 2e-5)])
    def test_between_samples(self, method, error):
        new = resample(one(np.sin(T)), 333.0, method=method)["elbow.position"]
        assert new.valid.all() and new.rate == pytest.approx(333.0)
        assert np.abs(new.values - np.sin(new.time)).max() < error

    def test_hold_takes_the_last_sample(self):
        flight = one([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
        held = resample(flight, times=[0.0, 0.99, 1.0, 1.5, 2.0], method="hold")
        assert held["elbow.position"].values.tolist() == [1, 1, 2, 2, 3]

    @pytest.mark.parametrize("method", ["spline", "linear", "hold"])
    def test_nothing_is_extrapolated(self, method):
        new = resample(one(np.sin(T)), times=np.arange(-1.0, 22.0), method=method)
        channel = new["elbow.position"]
        inside = (channel.time >= 0) & (channel.time <= 20)
        assert (channel.valid == inside).all()

    def test_gaps_stay_gaps_and_invalid_samples_are_not_used(self):
        values = np.sin(T)
        values[1000:1050] = np.nan
        values[1500:1502] = np.nan
        new = resample(one(values), times=np.arange(9.0, 17.0, 0.0125))["elbow.position"]
        in_gap = (new.time > 9.99 + 1e-9) & (new.time < 10.5 - 1e-9)
        assert (new.valid == ~in_gap).all()
        # 80 Hz is less than the 100 Hz recorded: the ripple of the filter shows.
        assert np.nanmax(np.abs(new.values - np.sin(new.time))) < 1e-5
        bridged = resample(one(values), times=[10.2], method="linear", max_gap=1.0)
        assert bridged["elbow.position"].valid.all()

    def test_what_the_new_rate_cannot_show_is_gone_and_the_rest_is_kept(self):
        flight = Telemetry.from_arrays(
            T, {"fast.position": np.sin(2 * np.pi * 38 * T), "slow.position": np.sin(3 * T)}
        )
        new = resample(flight, 10.0)
        assert np.abs(new["fast.position"].values[15:-15]).max() < 1e-4  # 80 dB
        aliased = resample(flight, 10.0, method="hold")["fast.position"].values
        assert np.abs(aliased).max() > 0.9  # held samples are not filtered
        slow = new["slow.position"]
        # The ripple in the pass band; at the ends the continuation beyond them costs more.
        assert np.abs(slow.values - np.sin(3 * slow.time))[15:-15].max() < 1e-3
        assert np.abs(slow.values - np.sin(3 * slow.time)).max() < 1e-2

    def test_noise_shrinks_as_stated(self):
        measured = []
        for seed in range(10):
            noise = np.random.default_rng(seed).normal(size=T.size)
            new = resample(one(noise, noise=1.0), 10.0)["elbow.position"]
            measured.append(np.mean(new.values[15:-15] ** 2))
        stated = new.noise
        assert stated is not None and stated == pytest.approx(0.276, abs=0.001)
        # 1700 nearly independent samples.
        assert np.sqrt(np.mean(measured)) == pytest.approx(stated, rel=0.06)

    @pytest.mark.parametrize(("method", "error"), [("linear", 1e-12), ("spline", 1e-9)])
    def test_quaternions_turn_whatever_their_signs(self, method, error):
        rng = np.random.default_rng(0)
        signs = rng.choice([-1.0, 1.0], T.size)
        flipped = {name: signs * values for name, values in spin(T).items()}
        new = resample(Telemetry.from_arrays(T, flipped), 140.0, method=method)
        time, rows = new.matrix("base.attitude.*")
        truth = np.column_stack(list(spin(time).values()))
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-14)
        assert 1.0 - np.abs(np.sum(rows * truth, axis=1)).min() < error

    def test_quaternions_survive_a_lower_rate(self):
        new = resample(Telemetry.from_arrays(T, spin(T)), 5.0)
        time, rows = new.matrix("base.attitude.*")
        truth = np.column_stack(list(spin(time).values()))
        assert np.abs(np.abs(np.sum(rows * truth, axis=1)) - 1.0)[5:-5].max() < 1e-6

    def test_a_heading_is_unwound(self):
        heading = Telemetry.from_arrays(T, {"base.angle": np.angle(np.exp(1j * 0.9 * T))})
        new = resample(heading, 50.0)["base.angle"]
        assert np.abs(new.values - 0.9 * new.time).max() < 1e-9

    def test_order_metadata_and_truth_are_kept(self):
        flight = one(np.sin(T)).with_channels(one(np.sin(T), name="a.position")["a.position"])
        flight = flight.with_metadata(seed="1").with_truth(one(np.sin(T)))
        new = resample(flight, 10.0)
        assert new.names == flight.names and new.metadata == {"seed": "1"}
        assert new.truth == flight.truth

    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_very_few_samples(self, n):
        channel = Channel("elbow.position", "rad", np.arange(n), np.arange(n))
        new = resample(Telemetry.of([channel]), times=[0.0, 0.5, 1.0])["elbow.position"]
        assert np.count_nonzero(new.valid) == [0, 1, 3, 3][n]

    def test_misuse(self):
        flight = one(np.sin(T))
        with refused(TelemetryError, "option.conflict"):
            resample(flight)
        with refused(TelemetryError, "option.conflict"):
            resample(flight, 1.0, times=[0.0])
        with refused(TelemetryError, "option.range"):
            resample(flight, -1.0)
        with refused(TelemetryError, "option.order"):
            resample(flight, times=[1.0, 0.0])
        with refused(TelemetryError, "option.choice"):
            resample(flight, 1.0, method="cubic")  # type: ignore[arg-type]
        split = Telemetry.from_arrays(T, spin(T)).shift("base.attitude.x", 0.1)
        with refused(TelemetryError, "telemetry.time_base"):
            resample(split, 1.0)


class TestAlign:
    def test_a_shared_time_base_is_left_alone(self):
        flight = Telemetry.from_arrays(T, spin(T))
        assert align(flight) is flight

    def test_different_rates_and_spans(self):
        slow = np.arange(0.305, 15.0, 0.25)
        flight = one(np.sin(T)).with_channels(Channel("b.position", "rad", slow, np.sin(slow)))
        time, both = align(flight).matrix(["elbow.position", "b.position"])
        assert time[0] == 0.305 and time[-1] <= slow[-1] and np.diff(time) == pytest.approx(0.01)
        assert np.isfinite(both).all()
        # The cubic spline through samples a quarter of a second apart is good to 1e-4.
        assert np.abs(both - np.sin(time)[:, None]).max() < 1e-3
        assert align(flight, 20.0)["b.position"].rate == pytest.approx(20.0)

    def test_no_common_time(self):
        flight = one(np.sin(T)).with_channels(Channel("b.position", "rad", [30.0], [0.0]))
        with refused(TelemetryError, "telemetry.overlap"):
            align(flight)


def motion(t: np.ndarray) -> np.ndarray:
    return np.sin(1.3 * t) + 0.5 * np.sin(2.9 * t + 1.0) + 0.2 * np.sin(5.1 * t)


class TestOffset:
    def pair(self, offset: float, sigma: float, seed: int = 0) -> tuple[Channel, Channel]:
        rng = np.random.default_rng(seed)
        other = np.arange(3.0, 17.0, 0.023)
        a = Channel("a.position", "rad", T, motion(T) + sigma * rng.normal(size=T.size))
        values = 3.0 * motion(other - offset) + 2.0 + 3.0 * sigma * rng.normal(size=other.size)
        return a, Channel("b.position", "rad", other, values)

    @pytest.mark.parametrize("offset", [-1.2345, -0.001, 0.0, 0.0042, 2.71828])
    def test_a_fraction_of_a_sample(self, offset):
        found = estimate_offset(*self.pair(offset, 0.0))
        assert found.seconds == pytest.approx(offset, abs=1e-7)
        assert found.correlation > 1.0 - 1e-9

    def test_the_error_is_as_stated(self):
        errors = []
        for seed in range(16):
            found = estimate_offset(*self.pair(0.0123, 0.02, seed))
            errors.append((found.seconds - 0.0123) / found.deviation)
        # 16 normalised errors: their RMS lies within 0.5 and 1.6 in all but one case of 1000.
        assert 0.5 < np.sqrt(np.mean(np.square(errors))) < 1.6

    def test_clocks_with_different_origins(self):
        a, b = self.pair(0.3, 1e-3)
        late = Telemetry.of([b]).shift("b.position", 1000.0)["b.position"]
        assert estimate_offset(a, late).seconds == pytest.approx(1000.3, abs=1e-3)
        with refused(TelemetryError, "offset.overlap"):
            estimate_offset(a, late, max_offset=1.0)

    def test_shifting_back_lines_them_up(self):
        a, b = self.pair(0.4, 1e-3)
        flight = Telemetry.of([a, b])
        mended = flight.shift(b.name, -estimate_offset(a, b).seconds)
        assert estimate_offset(a, mended[b.name]).seconds == pytest.approx(0.0, abs=1e-6)

    def test_misuse(self):
        a, b = self.pair(0.0, 0.0)
        with refused(TelemetryError, "channel.constant"):
            estimate_offset(a, Channel("c.angle", "rad", T, np.ones(T.size)))
        with refused(TelemetryError, "channel.short"):
            estimate_offset(b.select(np.arange(3)), a)


def test_slerp_is_exact_and_takes_the_short_way():
    start, end = np.array([[0.0, 0, 0, 1]]), np.array([[0.0, 0, np.sin(0.5), np.cos(0.5)]])
    third = slerp(start, -end, np.array([1 / 3]))[0]
    assert third == pytest.approx([0, 0, np.sin(1 / 6), np.cos(1 / 6)], abs=1e-15)
    assert slerp(start, start, np.array([0.5]))[0] == pytest.approx(start[0])


def test_continuous_flips_whole_stretches():
    q = np.column_stack(list(spin(T).values()))
    flipped = q.copy()
    flipped[100:200] *= -1.0
    flipped[500:] *= -1.0
    assert continuous(flipped) == pytest.approx(q)
