"""The quality report finds what was put in, and nothing in recordings that are clean."""

from __future__ import annotations

import json

import numpy as np
import pytest

from freefloat.model import Coloured, Sensor
from freefloat.prediction.sensor_errors import report as sensed
from freefloat.telemetry import Channel, Telemetry, quality

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
    assert report.summary == "The recording is fit for use: 19 channels, no faults."


def findings(channel: Channel, **options) -> list[str]:
    report = quality(Telemetry.of([channel]), **options)
    assert report.ok == (not any(finding.is_fault for finding in report.findings))
    return [str(finding) for finding in report.findings]


def gyro(values: np.ndarray | None = None, time: np.ndarray = T, **options) -> Channel:
    values = clean(0)["base.rate.x"] if values is None else values
    return Channel("base.rate.x", "rad/s", time, values, **options)


def test_gaps():
    keep = np.ones(T.size, dtype=bool)
    keep[100:200] = False
    keep[4000] = False
    (found,) = findings(gyro().select(keep))
    assert found == "fault: base.rate.x: 2 gaps, the longest of 1.01 s at 0.99 s"
    report = quality(Telemetry.of([gyro().select(keep)])).channels["base.rate.x"]
    assert report.clock.n_missing == 101 and report.rate == pytest.approx(100.0)


def test_a_few_dropped_or_invalid_samples_are_only_noted():
    values = clean(0)["base.rate.x"]
    values[[50, 2000]] = np.nan
    keep = np.ones(T.size, dtype=bool)
    keep[[1000, 3000]] = False
    found = findings(gyro(values).select(keep))
    assert len(found) == 2 and all(text.startswith("note: ") for text in found)
    assert "2 of 5998 samples invalid" in found[0] and "2 gaps" in found[1]


def test_many_invalid_samples_are_a_fault():
    values = clean(0)["base.rate.x"]
    values[::10] = np.nan
    assert findings(gyro(values)) == [
        "fault: base.rate.x: 600 of 6000 samples invalid (0.1)",
    ]
    assert "no valid sample" in findings(gyro(np.full(T.size, np.nan)))[0]


def test_clocks():
    time = T.copy()
    time[3000:] -= 0.5
    time[100] = time[99]
    found = findings(gyro(time=time))
    assert "fault: base.rate.x: the clock runs backward 1 time" in found
    assert "fault: base.rate.x: 1 repeated instant" in found
    jittered = T + 1e-3 * np.random.default_rng(0).normal(size=T.size)
    report = quality(Telemetry.of([gyro(time=jittered)])).channels["base.rate.x"]
    # A step is the difference of two instants, hence the root of two; 5 % for 6000 samples.
    assert report.clock.jitter == pytest.approx(np.sqrt(2) * 1e-3, rel=0.05)
    assert report.clock.n_backward == 0 and not report.clock.gaps


def test_a_stuck_sensor():
    values = clean(0)["base.rate.x"]
    values[1000:1200] = values[1000]
    (found,) = findings(gyro(values))
    assert found == "fault: base.rate.x: stuck for 1.99 s (200 samples) at 10 s"


def test_a_stuck_noisy_encoder_needs_its_noise_stated():
    values = clean(0)["noisy_encoder.position"]
    values[5000:5500] = values[5000]
    channel = Channel("elbow.position", "rad", T, values, noise=3e-4)
    assert any("stuck for 4.99 s" in text for text in findings(channel))


def test_slow_noise_on_a_coarse_sensor_is_not_stuck():
    drift = Sensor("gyro", "bus", 100.0, quantisation=5e-4, coloured=Coloured(1e-3, 100.0))
    channels = sensed(drift, "base.rate", T, np.zeros((T.size, 3)), seed=0)
    assert channels[0].noise > 0.5 * drift.quantisation
    assert not [found for channel in channels for found in findings(channel)]


def test_saturation_is_seen_or_told():
    values = np.clip(clean(0)["base.rate.x"], -0.009, 0.009)
    (found,) = findings(gyro(values))
    number = int(np.count_nonzero(np.abs(values) == 0.009))
    assert found == f"fault: base.rate.x: saturated at -0.009 and 0.009 in {number} samples"
    square = Channel("elbow.torque", "N m", T, clean(0)["square.torque"])
    (found,) = findings(square, model_limits={"elbow.*": (-2.0, 2.0)})
    assert "saturated at -2 and 2" in found


@pytest.mark.parametrize("height", [0.01, -0.01])
def test_lone_outliers(height):
    values = clean(0)["base.rate.x"]
    values[[3000, 4444]] += height
    (found,) = findings(gyro(values))
    assert found == "fault: base.rate.x: 2 lone outliers, the first at 30 s"


def test_quaternions():
    q = np.column_stack([0 * T, 0 * T, np.sin(0.1 * T), np.cos(0.1 * T)])
    q[2000:3000] *= -1.0
    flight = Telemetry.from_arrays(T, {f"base.attitude.{a}": q[:, n] for n, a in enumerate("xyzw")})
    report = quality(flight)
    assert report.ok and report.attitudes["base.attitude"].n_sign_flips == 2
    assert "change sign 2 times, which does no harm" in str(report)
    q[50:60] *= 1.01
    flight = Telemetry.from_arrays(T, {f"base.attitude.{a}": q[:, n] for n, a in enumerate("xyzw")})
    found = str(quality(flight))
    assert "10 quaternions not of norm one, the worst by 0.01 at 0.5" in found


def test_the_report_is_json_and_a_table():
    values = clean(0)["base.rate.x"]
    values[3000] += 0.01
    report = quality(Telemetry.of([gyro(values), Channel("empty.angle", "rad", [], [])]))
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["ok"] is False and plain["channels"]["empty.angle"]["rate"] is None
    assert plain["channels"]["base.rate.x"]["spikes"] == [30.0]
    text = str(report)
    assert text.startswith("The recording needs attention: 2 faults in base.rate.x, empty.angle")
    assert "jitter [s]" in text and "spikes" in text and "stuck" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 19, 21])
def test_short_and_absurd_recordings_are_reported_on(n):
    huge = np.resize([1e308, -1e308, 0.0], n)
    for values in (np.zeros(n), np.arange(n, dtype=float), huge):
        flight = Telemetry.from_arrays(np.arange(n), {"base.angle": values, "a.force": values})
        assert quality(flight).summary
