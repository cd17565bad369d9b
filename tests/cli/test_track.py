"""`freefloat track` follows a file or a pipe, survives what arrives, and goes on from its state."""

from __future__ import annotations

import json

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
