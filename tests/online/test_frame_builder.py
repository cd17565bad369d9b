"""Channels of different rates: fast readings are not lost, and slow ones need not come together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exciting_plans import exciting_plan
from live_flights import truth, wanted

import freefloat as ff
from freefloat.notes import codes_of
from freefloat.online.frame_filter import FrameFilter
from freefloat.online.health import Health
from freefloat.telemetry.sample_rows import Sample

SLOW = {"attitude": 20.0, "velocity": 10.0}  # [Hz]; all else 100


def flight(name: str, seed: int) -> ff.Telemetry:
    """A fast gyro and encoders, a slow velocity, and an attitude halfway between its instants."""
    model = ff.load_model(name)
    sensors = tuple(replace(s, rate=SLOW.get(s.kind, 100.0)) for s in model.sensors)
    seen = ff.simulate(model, exciting_plan(model), sensors=sensors, seed=seed)
    channels = [
        c.select(np.arange(c.n_samples) % 2 == 1)
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
        assert isinstance(t.filter, FrameFilter)
        samples = list(seen)
        for sample in samples:
            t.update(sample)
        e = t.finish()
        errors.append((e.values - truth(name)) / e.std)
    counts = e.health.counts
    assert sum(counts.values()) == len(samples)  # every sample is accounted for
    assert counts["taken"] > 550 and e.health.is_fine
    rms = float(np.sqrt(np.mean(np.square(errors))))
    # some thirty strongly correlated errors: their rms stays within a factor of two of one
    assert 0.5 < rms < 1.6
    # against one reading of each channel at ten instants a second
    model = ff.load_model(name)
    sensors = tuple(replace(s, rate=10.0) for s in model.sensors)
    thin = ff.simulate(model, exciting_plan(model), sensors=sensors, seed=0)
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
    # attitude and velocity never come together
    assert t.health.counts == {"incomplete": 500}
    assert t.health.codes == ("samples.none_used",) and t.health.missing


def test_without_gathering_mostly_incomplete_samples_are_answered_with_a_hint():
    health = Health({"incomplete": 400, "taken": 100})
    assert health.codes == ("samples.mostly_incomplete",) and "different rates" in health.sentence


def test_rejected_frames_show_among_many_gathered_samples():
    health = Health({"gathered": 900, "taken": 30, "gated": 70})
    assert health.codes == ("frames.mostly_gated",)
    assert Health({"gathered": 900, "taken": 70, "gated": 30}).codes == ("samples.many_gated",)
    assert Health({"gathered": 900, "taken": 95, "gated": 5}).is_fine  # lone outliers
    # samples of other sensors are part of no frame
    assert Health({"gathered": 900, "taken": 70, "incomplete": 300}).is_fine


@pytest.mark.parametrize("dead", ["base.angle", "base.velocity"])
def test_a_dead_sensor_is_told_once_by_name_and_memory_stays_bounded(dead, tmp_path):
    seen = flight("planar-capture", 0)
    t, kept = tracker("planar-capture", seen), []
    for k, sample in enumerate(seen):
        if sample.time > 25.0:
            break
        is_dead = 5.0 < sample.time < 20.0
        values = {n: v for n, v in sample.values.items() if not (is_dead and n.startswith(dead))}
        e = t.update(Sample(sample.time, values))
        kept.append(len(t.filter.builder.told))  # type: ignore[attr-defined]
        if sample.time < 7.0:
            assert not t.events
        elif 7.5 < sample.time < 20.0:
            assert e.health.codes[0] == "channel.silent" and f" {dead} " in e.health.notes[0]
        if k == 1200:
            assert is_dead
            t.save(tmp_path / "state")
            other = tracker("planar-capture", seen)
            other.restore(tmp_path / "state")
            assert other.health == e.health
    assert [event.kind for event in t.events][:1] == ["gap"]
    assert sum(dead in event.message for event in t.events) == 1
    # thrust is told a hundred times a second here, and kept for twice the two seconds (both ends)
    assert max(kept) <= 401
    assert t.health.is_fine  # it came back


def test_a_pause_of_all_channels_is_no_dead_sensor():
    seen = flight("planar-capture", 0)
    t = tracker("planar-capture", seen)
    for sample in seen:
        if sample.time < 5.0 or 10.0 < sample.time < 15.0:
            t.update(sample)
    assert [event.kind for event in t.events] == ["gap"]  # of all samples
    assert "channel.silent" not in t.health.codes


def test_a_pace_too_slow_to_follow_the_motion_is_never_fine():
    model = ff.load_model("planar-capture")
    rates = {"velocity": 1.0}
    sensors = tuple(replace(s, rate=rates.get(s.kind, 100.0)) for s in model.sensors)
    slow = ff.simulate(model, exciting_plan(model), sensors=sensors, seed=0)
    t = tracker("planar-capture", slow)
    slow_notes = [n for n in t.notes if getattr(n, "code", "") == "rate.too_slow"]
    assert len(slow_notes) == 1 and "base.velocity" in slow_notes[0]
    assert "rate.too_slow" in t.run(slow).health.codes
    # said to be quick, and slow all the same
    quick = flight("planar-capture", 0)
    t = tracker("planar-capture", quick)
    assert "rate.too_slow" not in codes_of(t.notes)
    assert "rate.too_slow" in t.run(slow).health.codes
