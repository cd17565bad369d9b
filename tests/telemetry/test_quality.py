"""The quality report finds what was put in, and nothing in recordings that are clean."""

from __future__ import annotations

import json

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import TelemetryError
from freefloat.model import Coloured, Sensor
from freefloat.prediction.sensor_noise import report as sensed
from freefloat.telemetry import Channel, QualityLimits, Telemetry, quality
from freefloat.telemetry.quality import ChannelQuality
from freefloat.telemetry.quality_checks import QualityFinding

T = np.arange(6000) * 0.01


def clean(seed: int) -> dict[str, np.ndarray]:
    """Signals of every kind a sound recording may hold."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=T.size)
    trapezoid = np.interp(T, [0, 10, 12, 20, 22, 40, 42, 60], [0, 0, 1, 1, -1, -1, 0, 0])
    position = 0.01 * np.cumsum(trapezoid)
    ringing = 0.01 * np.exp(-0.05 * T) * np.sin(2 * np.pi * 2.3 * T)
    return {
        "resting.torque": np.zeros(T.size),
        "locked.position": np.full(T.size, 0.3),
        "trapezoid.velocity": trapezoid,
        "trapezoid.position": position,
        "encoder.position": np.round(position / 1e-4) * 1e-4,
        "coarse.position": np.round(position / 0.02) * 0.02,
        "noisy_encoder.position": np.round((position + 3e-4 * noise) / 1e-4) * 1e-4,
        "thruster.force": np.where(T % 7 < 0.3, 5.0, 0.0),
        "pulse.force": np.where(np.arange(T.size) % 500 == 0, 5.0, 0.0),
        "base.rate.x": 0.01 * np.sin(0.3 * T) + ringing + 1e-4 * noise,
        "base.rate.y": ringing,
        "base.rate.z": np.sin(0.01 * T),
        "chirp.torque": np.sin(2 * np.pi * (0.1 + 0.3 * T) * T),
        "walk.torque": np.cumsum(noise),
        "white.torque": noise,
        "bang.torque": 2.0 * np.sign(np.sin(T)) + 1e-3 * noise,
        "square.torque": 2.0 * np.sign(np.sin(T)),
        "burst.torque": np.where((T > 30) & (T < 31), 1.0, 1e-3) * noise,
        "wrapped.angle": np.angle(np.exp(1j * T)),
    }


@pytest.mark.parametrize("seed", range(5))
def test_clean_recordings_pass(seed):
    report = quality(Telemetry.from_arrays(T, clean(seed)))
    assert report.ok and not report.findings, str(report)
    assert len(report.channels) == 19


def report_on(channel: Channel, **options) -> tuple[ChannelQuality, dict[str, QualityFinding]]:
    """What was found in a channel, and the findings by their codes."""
    report = quality(Telemetry.of([channel]), **options)
    assert report.ok == (not any(finding.is_fault for finding in report.findings))
    assert {finding.place for finding in report.findings} <= {channel.name}
    return report.channels[channel.name], {found.code: found for found in report.findings}


def gyro(values: np.ndarray | None = None, time: np.ndarray = T, **options) -> Channel:
    values = clean(0)["base.rate.x"] if values is None else values
    return Channel("base.rate.x", "rad/s", time, values, **options)


def test_gaps():
    keep = np.ones(T.size, dtype=bool)
    keep[100:200] = False
    keep[4000] = False
    channel, found = report_on(gyro().select(keep))
    assert set(found) == {"clock.gaps"} and found["clock.gaps"].is_fault
    assert channel.clock.n_missing == 101 and channel.rate == pytest.approx(100.0)
    assert [gap.start for gap in channel.clock.gaps] == pytest.approx([0.99, 39.99])
    assert channel.longest_gap is not None and channel.longest_gap.duration == pytest.approx(1.01)


def test_a_few_dropped_or_invalid_samples_are_only_noted():
    values = clean(0)["base.rate.x"]
    values[[50, 2000]] = np.nan
    keep = np.ones(T.size, dtype=bool)
    keep[[1000, 3000]] = False
    channel, found = report_on(gyro(values).select(keep))
    assert set(found) == {"samples.invalid", "clock.gaps"}
    assert not any(one.is_fault for one in found.values())
    assert channel.n_invalid == 2 and len(channel.clock.gaps) == 2


def test_many_invalid_samples_are_a_fault():
    values = clean(0)["base.rate.x"]
    values[::10] = np.nan
    channel, found = report_on(gyro(values))
    assert set(found) == {"samples.invalid"} and found["samples.invalid"].is_fault
    assert channel.n_invalid == 600
    assert set(report_on(gyro(np.full(T.size, np.nan)))[1]) == {"samples.none"}


def test_clocks():
    time = T.copy()
    time[3000:] -= 0.5
    time[100] = time[99]
    channel, found = report_on(gyro(time=time))
    assert {"clock.backward", "clock.repeated"} <= set(found)
    assert channel.clock.n_backward == 1 and channel.clock.n_repeated == 1
    jittered = T + 1e-3 * np.random.default_rng(0).normal(size=T.size)
    clock = report_on(gyro(time=jittered))[0].clock
    # A step is the difference of two instants, hence the root of two; 5 % for 6000 samples.
    assert clock.jitter == pytest.approx(np.sqrt(2) * 1e-3, rel=0.05)
    assert clock.n_backward == 0 and not clock.gaps


def test_a_stuck_sensor():
    values = clean(0)["base.rate.x"]
    values[1000:1200] = values[1000]
    channel, found = report_on(gyro(values))
    assert set(found) == {"sensor.stuck"}
    (span,) = channel.runs.stuck
    assert (span.start, span.n_samples) == (10.0, 200) and span.duration == pytest.approx(1.99)


def test_a_stuck_noisy_encoder_needs_its_noise_stated():
    values = clean(0)["noisy_encoder.position"]
    values[5000:5500] = values[5000]
    channel = Channel("elbow.position", "rad", T, values, noise=3e-4)
    spans = report_on(channel)[0].runs.stuck
    assert any(span.duration == pytest.approx(4.99) for span in spans)


def test_slow_noise_on_a_coarse_sensor_is_not_stuck():
    drift = Sensor("gyro", "bus", 100.0, quantisation=5e-4, coloured=Coloured(1e-3, 100.0))
    channels = sensed(drift, "base.rate", T, np.zeros((T.size, 3)), seed=0)
    assert channels[0].noise > 0.5 * drift.quantisation
    assert not any(report_on(channel)[1] for channel in channels)


def test_saturation_is_seen_or_told():
    values = np.clip(clean(0)["base.rate.x"], -0.009, 0.009)
    channel, found = report_on(gyro(values))
    assert set(found) == {"sensor.saturated"}
    assert channel.runs.n_saturated == np.count_nonzero(np.abs(values) == 0.009)
    assert channel.runs.saturated_at == (-0.009, 0.009)
    square = Channel("elbow.torque", "N m", T, clean(0)["square.torque"])
    assert not report_on(square)[1]
    channel, found = report_on(square, ranges={"elbow.*": (-2.0, 2.0)})
    assert set(found) == {"sensor.saturated"} and channel.runs.saturated_at == (-2.0, 2.0)


@pytest.mark.parametrize("height", [0.01, -0.01])
def test_isolated_outliers(height):
    values = clean(0)["base.rate.x"]
    values[[3000, 4444]] += height
    channel, found = report_on(gyro(values))
    assert set(found) == {"sensor.spikes"} and channel.spikes == pytest.approx((30.0, 44.44))


def test_quaternions():
    q = np.column_stack([0 * T, 0 * T, np.sin(0.1 * T), np.cos(0.1 * T)])
    q[2000:3000] *= -1.0
    names = [f"base.attitude.{axis}" for axis in "xyzw"]
    report = quality(Telemetry.from_arrays(T, dict(zip(names, q.T, strict=True))))
    assert report.ok and report.attitudes["base.attitude"].n_sign_flips == 2
    assert [found.code for found in report.findings] == ["attitude.sign_flips"]
    q[50:60] *= 1.01
    report = quality(Telemetry.from_arrays(T, dict(zip(names, q.T, strict=True))))
    attitude = report.attitudes["base.attitude"]
    assert "attitude.norm" in [found.code for found in report.findings] and not report.ok
    assert attitude.n_off_norm == 10 and attitude.worst_norm == pytest.approx(0.01)
    assert 0.5 <= attitude.worst_at < 0.6


def test_limits_can_be_set():
    values = clean(0)["base.rate.x"]
    values[1000:1008] = values[1000]
    values[3000] += 0.01
    keep = np.ones(T.size, dtype=bool)
    keep[100:115] = False
    channel = gyro(values).select(keep)
    strict = QualityLimits(shortest_stuck=8)
    patient = QualityLimits(gap=20.0, spike=1e4)
    assert set(report_on(channel)[1]) == {"clock.gaps", "sensor.spikes"}
    assert "sensor.stuck" in report_on(channel, limits=strict)[1]
    assert report_on(channel)[1]["clock.gaps"].is_fault
    found = report_on(channel, limits=patient)[1]
    assert set(found) == {"clock.gaps"} and not found["clock.gaps"].is_fault
    q = np.column_stack([0 * T, 0 * T, 0 * T, np.full(T.size, 1.005)])
    flight = Telemetry.from_arrays(T, {f"base.attitude.{a}": q[:, n] for n, a in enumerate("xyzw")})
    assert not quality(flight).ok and quality(flight, limits=QualityLimits(quaternion_norm=0.01)).ok


def test_limits_that_mean_nothing_are_refused():
    for bad in ({"gap": -1.0}, {"spike": float("nan")}, {"rate_ratio": (0.0, 2.0)}):
        with refused(TelemetryError, "value.range"):
            QualityLimits(**bad)


def test_the_report_is_json_and_a_table():
    values = clean(0)["base.rate.x"]
    values[3000] += 0.01
    report = quality(Telemetry.of([gyro(values), Channel("empty.angle", "rad", [], [])]))
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["ok"] is False and plain["channels"]["empty.angle"]["rate"] is None
    assert plain["channels"]["base.rate.x"]["spikes"] == [30.0]
    text = str(report)
    assert "base.rate.x, empty.angle" in text.splitlines()[0]
    assert "jitter [s]" in text and "spikes" in text and "stuck" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 19, 21])
def test_short_and_absurd_recordings_are_reported_on(n):
    huge = np.resize([1e308, -1e308, 0.0], n)
    for values in (np.zeros(n), np.arange(n, dtype=float), huge):
        flight = Telemetry.from_arrays(np.arange(n), {"base.angle": values, "a.force": values})
        assert quality(flight).summary
