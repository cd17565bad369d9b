"""Fill values in a live stream: found by what came so far, masked, counted, saved."""

from __future__ import annotations

import json

import numpy as np
import pytest
from live_flights import noisy

import freefloat as ff
from freefloat.online.fill_watch import FIRST, MOST, FillWatch
from freefloat.online.intake import usual_channels
from freefloat.telemetry.sample_rows import Sample

MODEL = "planar-capture"
FILLS = (1e30, 1e200, 9.96921e36, -9999.0, 32767.0, -1e308)
SCATTERED = {70, 71, 90, 130, 131, 132, 300, 404, 405, 500}


def estimator() -> ff.OnlineEstimator:
    model = ff.load_model(MODEL)
    return ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass", "target.mass"))


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return list(noisy(MODEL, 0))


def spoil(samples, names, value, places) -> list[Sample]:
    return [
        Sample(s.time, {**s.values, **dict.fromkeys(names, value)}) if k in places else s
        for k, s in enumerate(samples)
    ]


def watch() -> FillWatch:
    model = ff.load_model(MODEL)
    return FillWatch(model, usual_channels(model))


@pytest.mark.parametrize("value", FILLS)
@pytest.mark.parametrize("name", ["base.rate.z", "base.angle", "arm_1.position"])
def test_a_channel_with_fill_values_is_masked_and_counted(samples, name, value):
    tracker = estimator()
    for sample in spoil(samples, [name], value, SCATTERED):
        tracker.take(sample)
    found = tracker.finish()
    # those of no absurd size are known by the third
    least = len(SCATTERED) - (2 if abs(value) < 1e15 else 0)
    assert tracker.counts["fill value"] == least == found.health.fill_values[name][value]
    assert [e.kind for e in found.health.events].count("fill value") == 1
    for truth, estimate, std in zip((500.0, 250.0), found.values, found.std, strict=True):
        assert abs(estimate - truth) < 4.0 * std  # as without them; 4: once in ten thousand
    assert found.grade == "trusted"


@pytest.mark.parametrize("value", [1e200, -9999.0, 32767.0])
def test_a_lost_packet_fills_thrusters_too(samples, value):
    names = ["base.rate.z", "base.angle", "arm_1.position", "thr_1.force", "thr_5.force"]
    tracker = estimator()
    for sample in spoil(samples, names, value, SCATTERED):
        tracker.take(sample)
    found = tracker.finish()
    assert tracker.counts["fill value"] >= len(SCATTERED) - 2
    assert found.health.fill_values["thr_1.force"][value] >= len(SCATTERED) - 2
    assert abs(found.values[0] - 500.0) < 4.0 * found.std[0]  # as above


def test_a_recording_is_known_as_a_whole(samples):
    names = ["arm_1.velocity"]
    spoiled = spoil(samples, names, 0.0, set(range(0, 600, 3)))
    time = np.array([s.time for s in spoiled])
    columns = {n: np.array([s.values[n] for s in spoiled]) for n in spoiled[0].values}
    tracker = estimator()
    tracker.run(ff.Telemetry.from_arrays(time, columns))
    assert tracker.counts["fill value"] == 200  # the first ones too, and in the midst of the data


def test_sound_flights_have_none():
    for entry in ff.builtin_models():
        model = ff.load_model(entry.name)
        looked = FillWatch(model, usual_channels(model))
        flight = ff.simulate(model, ff.default_plan(model, duration=20.0), seed=3)
        assert flight.truth is not None
        for recording in (flight, flight.truth):
            for sample in recording:
                assert not looked.look(sample.values), (entry.name, sample)
            looked.clear()


def test_motion_from_rest_is_none():
    looked, rng = watch(), np.random.default_rng(1)
    rest = [1e-5 * x for x in rng.normal(size=FIRST + 10)]
    for value in [*rest, 0.3, 0.6, 0.9, 1.2, 1.2, 1.2, 1.2, 1.2]:
        assert not looked.look({"arm_1.position": value})


def test_what_is_no_reading_is_of_no_concern():
    looked = watch()
    for value in (None, "x", True, [], {}, float("nan"), float("inf"), 10**400, -(10**400)):
        assert not looked.look({"base.rate.z": value, "unknown": 1e200})
    assert looked.n == 0


def test_an_attitude_of_four_equal_numbers_is_a_blank():
    model = ff.load_model("spatial-capture")
    looked = FillWatch(model, usual_channels(model))
    names = {f"base.attitude.{axis}" for axis in "xyzw"}
    assert looked.look(dict.fromkeys(names, 0.0)) == names == looked.look(dict.fromkeys(names, 0))
    assert not looked.look(dict.fromkeys(names, 0.5))


def test_memory_is_bounded():
    looked = watch()
    for k in range(1000):
        assert looked.look({"base.rate.z": 1e16 + 1e5 * k})
    assert len(looked.found["base.rate.z"]) == MOST and looked.n == 1000


def test_a_saved_watch_goes_on_alike(samples):
    spoiled = spoil(samples, ["base.rate.z", "thr_1.force"], -9999.0, SCATTERED)
    for cut in (10, 72, 200):
        whole, first, second = watch(), watch(), watch()
        masks = [whole.look(s.values) for s in spoiled]
        begun = [first.look(s.values) for s in spoiled[:cut]]
        second.restore(json.loads(json.dumps(first.content())))
        assert begun + [second.look(s.values) for s in spoiled[cut:]] == masks
        assert second.content() == whole.content()


@pytest.mark.parametrize("spoiled", [
    {"n": -1.5}, {"found": {"base.rate.z": {"nan": 1}}}, {"found": {"nobody": {"1.0": 1}}},
    {"reach": {"base.rate.z": [[1e300], [], True, {}]}},
    {"reach": {"base.rate.z": [[], [1, 2], 1, {}]}},
])  # fmt: skip
def test_a_content_that_cannot_be_is_refused(spoiled):
    looked = watch()
    with pytest.raises(ValueError, match=r"fill value|readings"):
        looked.restore({**looked.content(), **spoiled})


# -- zeros within the range of a signal ------------------------------------------------------------


def moving(n: int, *, seed: int = 1, scale: float = 0.02) -> list[float]:
    """A signal that passes zero a few times, with noise."""
    rng = np.random.default_rng(seed)
    return (np.sin(0.05 * np.arange(n)) + scale * rng.normal(size=n)).tolist()


@pytest.mark.parametrize("run", [1, 2, 5, 20])
def test_zeros_that_a_signal_jumps_to_are_blanks(run):
    looked, values = watch(), moving(600)
    blanks = [k for at in range(100, 600, 31) for k in range(at, min(at + run, 600))]
    for k in blanks:
        values[k] = 0.0
    masked = [k for k, x in enumerate(values) if looked.look({"base.rate.z": x})]
    assert masked and set(masked) <= set(blanks)
    # known once three zeros came, in runs with a jump on either side; a run near a crossing is none
    assert masked == [k for k in blanks if k >= masked[0]]
    assert masked[0] < 100 + 31 * 6 + run
    assert looked.found["base.rate.z"] == {0.0: len(masked)}


SOUND = {
    "crosses zero, coarse": np.round(np.sin(0.05 * np.arange(900)), 2),
    "coarse and slow": np.round(np.sin(0.002 * np.arange(3000)), 1),
    "starts and stops": np.concatenate(
        [np.zeros(100), *([np.sin(np.linspace(0, np.pi, 60)), np.zeros(50)] * 5)]
    ),
    "rests at zero": np.zeros(500),
    "noise of one digit": np.round(np.random.default_rng(2).normal(size=2000)),
}


@pytest.mark.parametrize("case", SOUND)
def test_zeros_that_are_measured_are_none(case):
    looked = watch()
    for value in SOUND[case].tolist():
        assert not looked.look({"arm_1.velocity": value, "arm_1.position": value, "x": 0.0})


def test_zeros_of_a_live_run_are_masked_and_the_answer_stays(samples):
    places = {k for at in range(80, 580, 25) for k in range(at, at + 4)}
    tracker = estimator()
    for sample in spoil(samples, ["base.angle", "arm_1.velocity"], 0.0, places):
        tracker.take(sample)
    found = tracker.finish()
    assert set(found.health.fill_values) == {"base.angle", "arm_1.velocity"}
    assert tracker.counts["fill value"] > 0.8 * len(places)
    for truth, estimate, std in zip((500.0, 250.0), found.values, found.total_std, strict=True):
        assert abs(estimate - truth) < 4.0 * std  # as above


def test_a_watch_of_zeros_is_saved_whole(samples):
    places = {k for at in range(30, 580, 25) for k in range(at, at + 4)}
    spoiled = spoil(samples, ["base.rate.z"], 0.0, places)
    for cut in (3, 31, 32, 56, 90, 200):
        whole, first, second = watch(), watch(), watch()
        masks = [whole.look(s.values) for s in spoiled]
        begun = [first.look(s.values) for s in spoiled[:cut]]
        second.restore(json.loads(json.dumps(first.content())))
        assert begun + [second.look(s.values) for s in spoiled[cut:]] == masks
        assert second.content() == whole.content()


@pytest.mark.parametrize("spoiled", [
    {"watched": ["nobody"]}, {"recent": {"base.rate.z": ["x"]}}, {"jumped": {"base.rate.z": -1}},
    {"recent": {"base.rate.z": [1.0] * 1000}}, {"runs": {"base.rate.z": [True, 1.0, 1.0]}},
    {"recent": {"base.rate.z": [1.0], "base.angle": []}},
])  # fmt: skip
def test_zeros_of_a_content_that_cannot_be_are_refused(spoiled):
    looked = watch()
    content = looked.content()
    with pytest.raises(ValueError, match="watched"):
        looked.restore({**content, "zeros": {**content["zeros"], **spoiled}})
