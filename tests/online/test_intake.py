"""Channels that the model does not have: misspelt ones are noticed, and kept with the state."""

from __future__ import annotations

import pytest
from live_flights import noisy, wanted

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.telemetry.sample_rows import Sample

PLANE = "planar-capture"


def test_a_misspelt_thrust_is_noticed():
    flight = noisy(PLANE, 0)
    t = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=flight)
    samples = list(flight)[:60]
    for sample in samples[:30]:
        t.update(sample)
    assert not t.unknown_channels
    for s in samples[30:]:
        renamed = {n.replace("thr_3.force", "thr_3.forces"): v for n, v in s.values.items()}
        t.update(Sample(s.time, renamed | {"battery.voltage": 28.0, "extra.force": 1.0}))
    assert set(t.unknown_channels) == {"thr_3.forces", "battery.voltage", "extra.force"}
    assert t.health.codes[:2] == ("channel.misspelt", "channel.unknown_force")
    assert not any("battery" in note for note in t.health.notes)  # other telemetry is no fault
    assert "'thr_3.force'" in t.health.notes[0] and "extra.force" in t.health.notes[1]


def test_unknown_channels_are_remembered_with_the_state(tmp_path):
    one, two = (ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE)) for _ in range(2))
    one.update({"time": 0.0, "base.rates.z": 0.0})
    one.save(tmp_path / "state")
    two.restore(tmp_path / "state")
    assert two.health == one.health and "'base.rate.z'" in two.health.sentence
    for k in range(1000):  # ever new names do not fill the memory
        one.update({"time": 0.0, f"x{k}.force": 0.0})
    assert len(one.unknown_channels) <= 100


def test_channels_that_nobody_knows_are_refused_where_they_are_asked_for():
    model = ff.load_model(PLANE)
    with pytest.raises(IdentificationError) as error:
        ff.OnlineEstimator(model, wanted(PLANE), noise={"base.rat.z": 1e-5})
    assert "'base.rate.z'" in error.value.faults[0].remedy
    flight = noisy(PLANE, 0).rename({"base.rate.z": "base.rates.z"})
    with pytest.raises(IdentificationError) as error:
        ff.OnlineEstimator(model, wanted(PLANE), like=flight)
    assert error.value.faults[0].place == "base.rate.z"
    assert "'base.rates.z'" in error.value.faults[0].remedy
