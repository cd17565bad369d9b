"""What is seen is said in words; channels that nobody knows and noise that nobody has are, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from live_flights import EIGHT, clean_flight, noisy, steady_flight, truth, wanted

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.telemetry.stream import Sample

PLANE, SPACE = "planar-capture", "spatial-capture"


@pytest.fixture(scope="module")
def unpushed() -> ff.Telemetry:
    """A flight without thrust."""
    model = ff.load_model(PLANE)
    return ff.simulate(model, ff.default_plan(model), seed=1)


def tracked(flight: ff.Telemetry, *, fixed: tuple[str, ...] = ()) -> ff.OnlineEstimator:
    model = ff.load_model(PLANE)
    parameters = ff.Parameters(model).free(*EIGHT)
    if fixed:
        parameters = parameters.fix(*fixed)
    tracker = ff.OnlineEstimator(model, parameters, like=flight)
    tracker.run(flight)
    return tracker


def test_without_a_scale_it_says_that_nothing_is_seen_and_what_would_show_it(unpushed):
    tracker = tracked(unpushed)
    e = tracker.estimate
    assert set(e.statuses) == {"not seen"}
    for told in (e.health.sentence, tracker.health.sentence, e.as_dict()["health"], e.sight):
        assert "no parameter is seen on its own" in told and "the scale of all masses" in told
        assert "thr_1.force" in told and "fix target.mass" in told
    # and the remedies are true
    assert set(tracked(unpushed, fixed=("target.mass",)).estimate.statuses) <= {"seen", "weak"}
    pushed = tracked(noisy(PLANE, 1)).estimate
    assert pushed.health.sentence == "fine" and pushed.sight == "all 8 parameters are seen"


def test_what_is_not_seen_is_named():
    flight, model = noisy(PLANE, 0), ff.load_model(PLANE)
    free = ff.Parameters(model).free(*EIGHT, "bus.mz")  # nothing in the plane depends on it
    e = ff.OnlineEstimator(model, free, like=flight).run(flight)
    assert e.sight == "8 of 9 parameters are seen; not bus.mz" and e.health.sentence == "fine"


def test_a_misspelt_thrust_is_noticed():
    flight = noisy(PLANE, 0)
    t = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=flight)
    samples = list(flight)[:60]
    for sample in samples[:30]:
        t.update(sample)
    assert not t.strangers.names
    for s in samples[30:]:
        renamed = {n.replace("thr_3.force", "thr_3.forces"): v for n, v in s.values.items()}
        t.update(Sample(s.time, renamed | {"battery.voltage": 28.0, "extra.force": 1.0}))
    assert set(t.strangers.names) == {"thr_3.forces", "battery.voltage", "extra.force"}
    assert "did you mean 'thr_3.force'?" in t.health.sentence
    assert "extra.force is no channel of planar-capture" in t.health.sentence
    assert "battery" not in t.health.sentence  # other telemetry is no fault


def test_strangers_are_remembered_with_the_state(tmp_path):
    one, two = (ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE)) for _ in range(2))
    one.update({"time": 0.0, "base.rates.z": 0.0})
    one.save(tmp_path / "state")
    two.restore(tmp_path / "state")
    assert two.health == one.health and "'base.rate.z'" in two.health.sentence
    for k in range(1000):  # ever new names do not fill the memory
        one.update({"time": 0.0, f"x{k}.force": 0.0})
    assert len(one.strangers.names) <= 100


def test_channels_that_nobody_knows_are_refused_where_they_are_asked_for():
    model = ff.load_model(PLANE)
    with pytest.raises(IdentificationError, match="nobody knows") as error:
        ff.OnlineEstimator(model, wanted(PLANE), noise={"base.rat.z": 1e-5})
    assert "did you mean 'base.rate.z'?" in str(error.value)
    flight = noisy(PLANE, 0).rename({"base.rate.z": "base.rates.z"})
    with pytest.raises(IdentificationError, match=r"there is 'base\.rates\.z'"):
        ff.OnlineEstimator(model, wanted(PLANE), like=flight)


def test_a_role_that_is_none_is_refused():
    model = ff.load_model(PLANE)
    odd = replace(model, joints=(replace(model.joints[0], role="mode"), *model.joints[1:]))
    with pytest.raises(ff.FreefloatError, match="mode"):
        ff.OnlineEstimator(odd, ff.Parameters(odd).free("bus.mass"))


@pytest.mark.parametrize("name", [PLANE, SPACE])
@pytest.mark.parametrize("kind", [steady_flight, clean_flight])
def test_sensors_without_noise_do_not_make_it_too_sure(name, kind):
    flight = kind(name)
    tracker = ff.OnlineEstimator(
        ff.load_model(name), wanted(name), like=flight, noise=dict.fromkeys(flight.names, 0.0)
    )
    e = tracker.run(flight)
    z = np.abs(e.values - truth(name)) / e.std
    # what integration leaves is no noise: the floor is where the worst of 20 is at about one
    assert e.health.sentence == "fine" and np.max(z) < 2.0
    assert np.max(np.abs(e.values - truth(name)) / e.unknowns.sizes[-len(z) :]) < 1e-4
    assert "stated (almost) as none" in " ".join(tracker.notes)


def test_residuals_that_are_too_large_widen_the_intervals():
    flight = noisy(PLANE, 2)
    told = {n: 0.3 * c.noise for n, c in flight.channels.items() if c.noise}
    e = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), noise=told, gate=0.0).run(flight)
    honest = ff.OnlineEstimator(ff.load_model(PLANE), wanted(PLANE), like=flight).run(flight)
    assert "intervals are widened" in e.health.sentence
    assert np.all(e.std > 0.7 * honest.std)  # not 0.3 of it
