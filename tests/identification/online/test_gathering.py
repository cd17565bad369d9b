"""Channels of different rates: fast readings are not lost, and slow ones need not come together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from live_flights import truth, wanted

import freefloat as ff
from freefloat.reproduce.paper_001_studies import excited

SLOW = {"attitude": 20.0, "velocity": 10.0}  # [Hz]; all else 100


def flight(name: str, seed: int) -> ff.Telemetry:
    """A fast gyro and encoders, a slow velocity, and an attitude halfway between its instants."""
    model = ff.load_model(name)
    sensors = tuple(replace(s, rate=SLOW.get(s.kind, 100.0)) for s in model.sensors)
    seen = ff.simulate(model, excited(model), sensors=sensors, seed=seed)
    channels = [
        c.taken(np.arange(c.n_samples) % 2 == 1)
        if c.name == "base.angle" or c.name.startswith("base.attitude.")
        else c
        for c in seen.channels.values()
    ]
    return ff.Telemetry.of(channels)


def tracker(name: str, like: ff.Telemetry, **options: object) -> ff.OnlineEstimator:
    return ff.OnlineEstimator(ff.load_model(name), wanted(name), like=like, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "n"), [("planar-capture", 4), ("spatial-capture", 1)])
def test_fast_readings_make_the_estimate_better_and_deviations_stay_honest(name, n):
    errors = []
    for seed in range(n):
        seen = flight(name, seed)
        t = tracker(name, seen)
        assert type(t).__name__ == "GatheringEstimator"
        samples = list(seen)
        for sample in samples:
            t.update(sample)
        e = t.finish()
        errors.append((e.values - truth(name)) / e.std)
    counts = e.health.counts
    assert sum(counts.values()) == len(samples)  # every sample is accounted for
    assert counts["taken"] > 550 and e.health.sentence == "fine"
    rms = float(np.sqrt(np.mean(np.square(errors))))
    # some thirty strongly correlated errors: their rms stays within a factor of two of one
    assert 0.5 < rms < 1.6
    # against one reading of each channel at ten instants a second
    model = ff.load_model(name)
    sensors = tuple(replace(s, rate=10.0) for s in model.sensors)
    thin = ff.simulate(model, excited(model), sensors=sensors, seed=0)
    gain = tracker(name, thin).run(thin).std / e.std
    assert np.all(gain > 1.0) and np.median(gain) > 1.1


def test_a_state_in_the_middle_of_a_frame_goes_on_bit_for_bit(tmp_path):
    seen = flight("planar-capture", 1)
    samples = list(seen)[:1500]
    one, two = tracker("planar-capture", seen), tracker("planar-capture", seen)
    for sample in samples[:733]:
        one.update(sample)
    one.save(tmp_path / "state")
    two.restore(tmp_path / "state")
    for sample in samples[733:]:
        a, b = one.update(sample), two.update(sample)
    assert np.array_equal(a.values, b.values) and a.health == b.health


def test_without_gathering_only_complete_samples_count():
    seen = flight("planar-capture", 0)
    t = tracker("planar-capture", seen, gather=False)
    for sample in list(seen)[:500]:
        t.update(sample)
    assert "gather=True" in t.health.sentence or t.health.counts["incomplete"] == 500
