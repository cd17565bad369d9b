"""Telemetry as a noun: frozen, indexed by name, cut, merged and streamed without loss."""

from __future__ import annotations

import copy
import pickle
import re
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import TelemetryError
from freefloat.telemetry import Channel, Sample, Telemetry


def flight() -> Telemetry:
    fast, slow = np.arange(10) / 10, 3 * np.arange(4) / 10
    quick = {"base.rate.x": np.arange(10.0), "base.rate.y": -np.arange(10.0)}
    quick["base.rate.y"][2] = np.nan
    truth = Telemetry.from_arrays(fast, {"base.rate.x": np.arange(10.0) + 0.5})
    telemetry = Telemetry.from_arrays(
        fast, quick, noise={"base.rate.x": 1e-3}, metadata={"model": "cepheus"}, truth=truth
    )
    return telemetry.with_channels(Channel("elbow.position", "rad", slow, slow**2))


class TestChannel:
    def test_arrays_are_read_only_copies(self):
        time, values = np.arange(3.0), np.arange(3.0)
        channel = Channel("base.angle", "rad", time, values, [True, True, False])
        values[0] = 99.0
        time[0] = 99.0
        assert channel.values[0] == 0.0 and channel.time[0] == 0.0
        for array in (channel.time, channel.values, channel.valid):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        with pytest.raises(FrozenInstanceError):
            channel.noise = 1.0  # type: ignore[misc]

    @pytest.mark.promise("F1")
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_f1_nothing_that_is_not_finite_is_valid(self, bad):
        channel = Channel("base.angle", "rad", [0, 1, 2], [1.0, bad, 3.0], [True, True, True])
        assert channel.valid.tolist() == [True, False, True]
        assert np.isnan(channel.values[1])

    def test_an_invalid_sample_holds_nan_whatever_it_held(self):
        channel = Channel("base.angle", "rad", [0, 1], [1.0, 2.0], [False, True])
        assert np.isnan(channel.values[0]) and channel.values[1] == 2.0
        assert channel.n_invalid == 1

    def test_a_shared_time_base_stays_one_array(self):
        telemetry = flight()
        assert telemetry["base.rate.x"].time is telemetry["base.rate.y"].time

    @pytest.mark.parametrize(
        ("changes", "code", "found"),
        [
            ({"unit": "deg"}, "channel.unit", "'deg'"),
            ({"unit": "parsec"}, "channel.unit", "'parsec'"),
            ({"time": [0.0, np.nan]}, "channel.time", "nan"),
            ({"time": [0.0, 1.7e18]}, "channel.time", "1.7e+18"),
            ({"values": [1.0]}, "channel.length", "1 values"),
            ({"values": [[1.0], [2.0]]}, "channel.shape", "(2, 1)"),
            ({"values": ["a", "b"]}, "channel.type", "values"),
            ({"noise": -1.0}, "channel.noise", "-1.0"),
            ({"noise": np.nan}, "channel.noise", "nan"),
            ({"name": "time"}, "channel.name", "'time'"),
            ({"name": "a[0]"}, "channel.name", "'['"),
            ({"name": " a"}, "channel.name", "space"),
            ({"name": "a\tb"}, "channel.name", "unprintable"),
        ],
    )
    def test_faults_say_what_and_how_to_mend_it(self, changes, code, found):
        fields = {"name": "base.angle", "unit": "rad", "time": [0.0, 1.0], "values": [0.0, 1.0]}
        with refused(TelemetryError, code) as caught:
            Channel(**(fields | changes))
        fault = caught.value.faults[0]
        assert found in fault.value and fault.expected and fault.remedy

    def test_usable_is_sorted_and_each_instant_once(self):
        channel = Channel("base.angle", "rad", [0, 2, 1, 1, 3], [0.0, 2, 1, 9, np.nan])
        time, values = channel.usable()
        assert time.tolist() == [0, 1, 2] and values.tolist() == [0, 1, 2]

    def test_equality_is_by_bits(self):
        one = Channel("base.angle", "rad", [0.0], [0.0])
        assert one == Channel("base.angle", "rad", [-0.0], [0.0])  # one zero of time only
        assert one != Channel("base.angle", "rad", [0.0], [-0.0])
        assert one != one.with_noise(1.0) and one != "base.angle"
        hole = Channel("base.angle", "rad", [0.0], [np.nan])
        assert hole == Channel("base.angle", "rad", [0.0], [np.inf])


class TestLooking:
    def test_span_and_names(self):
        telemetry = flight()
        assert telemetry.names == ("base.rate.x", "base.rate.y", "elbow.position")
        assert (telemetry.start, telemetry.end) == (0.0, 0.9)
        assert telemetry.duration == pytest.approx(0.9)
        assert len(telemetry) == telemetry.instants.size
        assert "elbow.position" in telemetry and "wrist.position" not in telemetry

    def test_a_wrong_name_gets_a_suggestion(self):
        with refused(TelemetryError, "channel.unknown") as caught:
            flight()["base.rat.x"]
        assert "'base.rate.x'" in caught.value.faults[0].remedy
        with refused(TelemetryError, "channel.unknown") as caught:
            flight().select("thruster_*.force")
        assert all(name in caught.value.faults[0].remedy for name in flight().names)

    def test_matrix_of_a_shared_time_base(self):
        time, matrix = flight().matrix(["base.rate.y", "base.rate.x"])
        assert time.size == 10 and matrix.shape == (10, 2)
        assert np.isnan(matrix[2, 0]) and matrix[2, 1] == 2.0
        assert not matrix.flags.writeable

    def test_matrix_of_different_time_bases_is_refused(self):
        with refused(TelemetryError, "telemetry.time_base"):
            flight().matrix(["base.rate.x", "elbow.position"])

    def test_matrix_at_given_instants_needs_samples_there(self):
        both = ["base.rate.x", "elbow.position"]
        assert flight().matrix(both, [0.0, 3 * 0.1])[1][:, 0].tolist() == [0.0, 3.0]
        with refused(TelemetryError, "telemetry.no_sample"):
            flight().matrix(both, [0.0, 0.15])

    def test_print_groups_axes(self):
        text = str(flight())
        assert "base.rate.x|y   rad/s" in text and "elbow.position" in text
        assert "model: cepheus" in text and "truth" in text
        assert re.findall(r"\d+", repr(flight())) == ["3", "10"]
        assert len(str(Telemetry({})).splitlines()) == 1

    def test_empty_telemetry_has_no_start(self):
        empty = flight().between(5.0, 6.0)
        assert len(empty) == 0 and empty.duration == 0.0 and not list(empty)
        with refused(TelemetryError, "telemetry.empty"):
            _ = empty.start


class TestChanging:
    def test_select_without_rename_leave_the_original_alone(self):
        telemetry = flight()
        assert telemetry.select("base.*").names == ("base.rate.x", "base.rate.y")
        assert telemetry.select(["elbow.position", "*.x"]).names[0] == "elbow.position"
        assert telemetry.without("base.*").names == ("elbow.position",)
        renamed = telemetry.rename({"base.rate.x": "imu.rate.x"})
        assert renamed.names[0] == "imu.rate.x" and renamed.truth is not None
        assert renamed.truth.names == ("imu.rate.x",)
        assert telemetry == flight()

    def test_shift_moves_the_clock_of_some_channels(self):
        shifted = flight().shift("base.*", 0.05)
        assert shifted["base.rate.x"].time[0] == 0.05
        assert shifted["base.rate.x"].time is shifted["base.rate.y"].time
        assert shifted["elbow.position"].time[0] == 0.0

    def test_between_includes_both_ends_and_cuts_the_truth(self):
        cut = flight().between(0.2, 0.5)
        assert cut["base.rate.x"].time.tolist() == pytest.approx([0.2, 0.3, 0.4, 0.5])
        assert cut.truth is not None and len(cut.truth) == 4

    def test_split_loses_nothing_and_doubles_nothing(self):
        pieces = flight().split(at=[0.6, 0.3])
        assert [len(piece) for piece in pieces] == [3, 3, 4]
        assert sum(piece["elbow.position"].n_samples for piece in pieces) == 4

    def test_metadata_and_truth_are_replaced_not_changed(self):
        telemetry = flight()
        assert telemetry.with_metadata(seed="3").metadata == {"model": "cepheus", "seed": "3"}
        assert telemetry.with_truth(None).truth is None
        with pytest.raises(TypeError):
            telemetry.metadata["seed"] = "3"  # type: ignore[index]
        with pytest.raises(TypeError):
            telemetry.channels["x"] = telemetry["base.rate.x"]  # type: ignore[index]

    @pytest.mark.parametrize(
        "metadata", [{"noise": "1"}, {"a:b": "1"}, {"": "1"}, {"a": 1}, {"a": "\ud800"}]
    )
    def test_metadata_that_no_file_could_hold_is_refused(self, metadata):
        with refused(TelemetryError, "metadata.text"):
            Telemetry({}, metadata)

    def test_misuse_is_refused(self):
        channel = flight()["base.rate.x"]
        with refused(TelemetryError, "channel.duplicate"):
            Telemetry.of([channel, channel])
        with refused(TelemetryError, "channel.name"):
            Telemetry({"other": channel})
        with refused(TelemetryError, "truth.nested"):
            flight().with_truth(flight())
        with refused(TelemetryError, "channel.unknown"):
            Telemetry.from_arrays([0.0], {"a.angle": [0]}, noise={"a.angel": 1.0})
        with refused(TelemetryError, "channel.type"):
            Telemetry.from_arrays([0.0], {"a.angle": ["x"]}, units={"a.angle": "deg"})
        with refused(TelemetryError, "channel.unit"):
            Telemetry.from_arrays([0.0], {"a.angle": [0]}, units={"a.angle": "furlong"})

    def test_copies_and_other_processes_get_a_frozen_equal(self):
        telemetry = flight()
        for twin in (copy.deepcopy(telemetry), pickle.loads(pickle.dumps(telemetry))):
            assert twin == telemetry
            assert not twin["base.rate.x"].values.flags.writeable


class TestStreaming:
    def test_samples_come_in_time_order_across_rates(self):
        samples = list(flight())
        assert [sample.time for sample in samples] == sorted(sample.time for sample in samples)
        assert isinstance(samples[0], Sample)
        assert set(samples[0].values) == {"base.rate.x", "base.rate.y", "elbow.position"}
        assert set(samples[1].values) == {"base.rate.x", "base.rate.y"}
        assert set(samples[2].values) == {"base.rate.x"}  # y is invalid there

    def test_every_valid_sample_comes_exactly_once(self):
        rng = np.random.default_rng(0)
        channels = [
            Channel(f"j{n}.position", "rad", rng.integers(0, 50, 9000) / 8, rng.normal(size=9000))
            for n in range(3)
        ]  # clocks that repeat and run backward
        telemetry = Telemetry.of(channels)
        seen: dict[str, list[tuple[float, float]]] = {name: [] for name in telemetry.names}
        last = -np.inf
        for sample in telemetry:
            assert sample.time >= last
            last = sample.time
            for name, value in sample.values.items():
                seen[name].append((sample.time, value))
        for channel in channels:
            expected = sorted(zip(channel.time.tolist(), channel.values.tolist(), strict=True))
            assert sorted(seen[channel.name]) == expected

    def test_it_is_a_generator(self):
        iterator = iter(flight())
        assert next(iterator).time == 0.0
