"""`freefloat track` follows a file or a pipe, survives what arrives, and goes on from its state."""

from __future__ import annotations

import json
import sys

import pytest
from live_flights import noisy
from pyarrow.parquet import read_table

import freefloat as ff


def write_lines(path, flight, *extra):
    lines = [json.dumps({"time": s.time, **s.values}) for s in flight]
    path.write_text("\n".join([*lines[:50], *extra, *lines[50:]]) + "\n")


def test_a_file_with_garbage(command, tmp_path):
    flight = noisy("planar-capture", 0).between(0.0, 20.0)
    write_lines(tmp_path / "x.ndjson", flight, "garbage", '{"time": null}', '{"time": 5.01}')
    ended = command("track", "planar-capture", "x.ndjson", "--free", "target.mass",
                    "--parquet", "e.parquet", "--json")  # fmt: skip
    *estimates, last = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 0 and last["summary"]["samples"]["unreadable"] == 2
    assert last["summary"]["latency"]["p50_us"] > 0.0
    assert set(estimates[-1]["parameters"]) == {"target.mass"}
    table = read_table(tmp_path / "e.parquet").to_pydict()
    # the last one, judged anew, takes the place of one of the same time
    by_time = {e["time"]: e["parameters"]["target.mass"]["value"] for e in estimates}
    assert table["time"] == [*by_time] and table["target.mass"] == [*by_time.values()]


def test_it_goes_on_from_its_state(command, tmp_path):
    flight = noisy("planar-capture", 0)
    for name, part in zip("ab", flight.split(at=[10.0]), strict=True):
        part.between(0.0, 20.0).save(tmp_path / f"{name}.parquet")
    for name in "ab":
        ended = command("track", "planar-capture", f"{name}.parquet", "--state", "s", "--json")
    last = json.loads(ended.out.splitlines()[-1])["summary"]["samples"]
    assert last["begun"] == 1 and last["taken"] > 150


def test_what_was_held_back_counts_at_the_end_whatever_is_written(command, tmp_path):
    write_lines(tmp_path / "x.ndjson", noisy("planar-capture", 0).between(0.0, 20.0))
    asked = ("track", "planar-capture", "x.ndjson", "--free", "target.mass", "--reorder", "500")
    spoken, written = command(*asked), command(*asked, "--json")
    assert spoken.code == written.code == 0
    assert "No sample was used" not in spoken.out


def test_a_wrong_model_is_one_clear_error(command, tmp_path):
    noisy("planar-capture", 0).between(0.0, 1.0).save(tmp_path / "a.parquet")
    ended = command("track", "ets7", "a.parquet", "--json")
    assert ended.code == 2 and set(ended.error_codes[1:]) == {"channel.missing"}
    assert command("track", "nonsense", "a.parquet").code == 2
    assert command("track", "planar-capture", "tcp://10.1.1.1:1").code == 2
    assert ff.load_model("ets7").name == "ets7"


def test_other_methods_are_asked_for_by_name(command, tmp_path):
    noisy("planar-capture", 0).between(0.0, 10.0).save(tmp_path / "a.parquet")
    ended = command("track", "planar-capture", "a.parquet", "--method", "rls", "--json")
    *_, estimate, last = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 0 and last["summary"]["samples"]["taken"] == 100
    assert {p["status"] for p in estimate["parameters"].values()} == {"no band"}
    ended = command("track", "planar-capture", "a.parquet", "--method", "lms", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["value.choice"]


def test_it_says_that_nothing_is_seen_without_a_scale(command, tmp_path):
    model = ff.load_model("planar-capture")
    plan = ff.default_plan(model)
    ff.simulate(model, plan, seed=1).save(tmp_path / "a.parquet")
    ended = command("track", "planar-capture", "a.parquet")
    told = " ".join(ended.out.split())
    assert ended.code == 1 and "thr_1.force" in told  # what would show the scale
    assert "bus.mz" not in told  # in the plane nobody looks for it
    ended = command("track", "planar-capture", "a.parquet", "--json")
    *_, estimate, last = [json.loads(line) for line in ended.out.splitlines()]
    assert last["summary"]["health_codes"] == ["observable.none.scale"]
    assert estimate["status_code"] == "observable.none.scale" and ended.code == 1
    assert estimate["status"] in told


def test_what_nobody_knows_is_named(command, tmp_path):
    flight = noisy("planar-capture", 0).between(0.0, 10.0)
    write_lines(tmp_path / "x.ndjson", flight.rename({"thr_1.force": "thr_1.forces"}))
    ended = command("track", "planar-capture", "x.ndjson", "--json")
    summary = json.loads(ended.out.splitlines()[-1])["summary"]
    assert summary["unknown_channels"] == ["thr_1.forces"] and ended.code == 1
    assert summary["health_codes"][0] == "channel.misspelt" and "thr_1.force'" in summary["health"]
    write_lines(tmp_path / "y.ndjson", flight.rename({"base.rate.z": "base.rates.z"}), "{}")
    ended = command("track", "planar-capture", "y.ndjson", "--json")
    summary = json.loads(ended.out.splitlines()[-1])["summary"]
    assert summary["health_codes"] == ["channel.misspelt", "samples.none_used"]
    ended = command("track", "planar-capture", "x.ndjson", "--noise", "base.rat.z=1")
    assert ended.code == 2 and "base.rate.z" in ended.err


def write_foreign(folder, flight):
    """The flight as a table with names of somebody else, and the map that tells them."""
    names = {name: name.replace(".", "_").upper() for name in flight.names}
    rows = [",".join(["T", *names.values()])]
    rows += [",".join(repr(float(x)) for x in (s.time, *s.values.values())) for s in flight]
    (folder / "log.txt").write_text("\n".join(rows) + "\n")
    entries = [f'[[channel]]\nto = "{to}"\nfrom = "{field}"\n' for to, field in names.items()]
    (folder / "map.toml").write_text('format = 1\n[time]\nclock = "T"\n' + "".join(entries))


def test_a_recording_of_others_is_tracked_by_its_map(command, tmp_path):
    flight = noisy("planar-capture", 0).between(0.0, 20.0)
    assert len({len(c.time) for c in flight.channels.values()}) == 1  # a table has one clock
    # without the noise that the file states, which a foreign table does not have
    plain = flight.with_channels(*(c.with_noise(None) for c in flight.channels.values()))
    plain.save(tmp_path / "own.parquet")
    write_foreign(tmp_path, flight)
    asked = ("--free", "target.mass", "--json")
    own = command("track", "planar-capture", "own.parquet", *asked)
    mapped = command("track", "planar-capture", "log.txt", "--map", "map.toml", *asked)
    ends = [json.loads(ended.out.splitlines()[-2]) for ended in (own, mapped)]
    assert mapped.code == own.code and ends[0]["parameters"] == ends[1]["parameters"]
    ended = command("track", "planar-capture", "log.txt", "--map", "map.toml", *asked,
                    "--out", "map.toml")  # fmt: skip
    assert ended.code == 2 and ended.error_codes[1:] == ["file.conflict"]


@pytest.mark.parametrize("source", ["-", "x.ndjson", "tcp://127.0.0.1:9"])
def test_lines_take_no_map_and_no_selection(command, source):
    words = ("--map", "map.toml", "--channels", "base.*", "--without", "thr_*")
    ended = command("track", "planar-capture", source, *words, "--json")
    assert ended.code == 2 and set(ended.error_codes[1:]) == {"option.conflict"}
    assert ended.error_places == ["--map", "--channels", "--without"]


def test_channels_of_a_recording_are_left_out(command, tmp_path):
    noisy("planar-capture", 0).between(0.0, 20.0).save(tmp_path / "a.parquet")
    asked = ("track", "planar-capture", "a.parquet", "--free", "target.mass")
    # without its thrust nothing explains how the robot moves
    assert command(*asked).code == 0 and command(*asked, "--without", "thr_*").code == 1
    ended = command(*asked, "--without", "thrusters", "--json")
    assert ended.code == 2 and ended.error_places == ["--without"]


def messages_of(path):
    """Every topic of an MCAP file with its messages, by the library's own reader."""
    reader = pytest.importorskip("mcap.reader")
    found = {}
    with path.open("rb") as file:
        for schema, channel, message in reader.make_reader(file).iter_messages():
            assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
            content = json.loads(message.data)
            assert set(json.loads(schema.data)["properties"]) == set(content)
            # half a nanosecond, to which the log rounds
            assert message.log_time == pytest.approx(1e9 * content["t"], abs=0.5)
            found.setdefault(channel.topic, []).append(content)
    return found


def test_estimates_as_mcap_are_those_of_the_lines(command, tmp_path):
    for name, part in zip("ab", noisy("planar-capture", 0).split(at=[10.0]), strict=True):
        part.between(0.0, 20.0).save(tmp_path / f"{name}.parquet")
    for name in "ab":  # the second run goes on from the first, and so does its file
        command("track", "planar-capture", f"{name}.parquet", "--free", "target.mass",
                "--state", "s", "--out", "o", "--mcap", "e.mcap")  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / "o").read_text().splitlines()]
    found = messages_of(tmp_path / "e.mcap")
    assert set(found) == {"/estimate", "/estimate/target/mass"}
    fields = ("value", "std", "total_std")
    assert [m["t"] for m in found["/estimate"]] == [e["time"] for e in lines]
    for line, mass, words in zip(lines, found["/estimate/target/mass"], found["/estimate"],
                                 strict=True):  # fmt: skip
        assert [mass[f] for f in fields] == [line["parameters"]["target.mass"][f] for f in fields]
        assert (words["grade"], words["status"]) == (line["grade"], line["status"])


def test_a_file_of_something_else_is_replaced_and_a_missing_package_named(
    command, tmp_path, monkeypatch
):
    noisy("planar-capture", 0).between(0.0, 5.0).save(tmp_path / "a.parquet")
    asked = ("track", "planar-capture", "a.parquet", "--mcap")
    (tmp_path / "e.mcap").write_bytes(b"old")
    command(*asked, "e.mcap", "--state", "s")
    before = messages_of(tmp_path / "e.mcap")
    assert "/estimate/bus/mass" in before
    (tmp_path / "e.mcap").write_bytes((tmp_path / "e.mcap").read_bytes()[:-100])
    assert command(*asked, "e.mcap", "--state", "s").code in (0, 1)  # torn: begun anew
    assert set(messages_of(tmp_path / "e.mcap")) <= set(before)
    assert command(*asked, "e.json", "--json").error_codes[1:] == ["file.suffix"]
    monkeypatch.setitem(sys.modules, "mcap.writer", None)
    ended = command(*asked, "new.mcap", "--json")
    assert ended.code == 2 and ended.error_codes[1:] == ["package.missing"]
    assert not (tmp_path / "new.mcap").exists()
