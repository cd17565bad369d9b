"""`freefloat campaign`: carried out, looked at, repeated; bad files and unknown folders refused."""

from __future__ import annotations

import json

from campaign_samples import FLIGHT, FUNCTION

from freefloat.cli.run import run


def test_a_campaign_is_carried_out_and_looked_at(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(FLIGHT.format(runs=2))
    assert run(["campaign", "run", "c.toml", "--out", "runs", "--workers", "1"]) == 0
    told = capsys.readouterr()
    assert "2 of 2 runs" in told.out and "target.mass" in told.out and "a second" in told.err
    assert max(map(len, told.out.splitlines())) <= 80
    assert run(["campaign", "status", "runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"] == 2
    assert run(["campaign", "summary", "runs", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["parameters"]] == ["bus.mass", "target.mass"]
    assert run(["campaign", "report", "runs", "--out", "page.html", "--plot", "errors.png"]) == 0
    assert "target.mass" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "errors.png").stat().st_size > 3000
    capsys.readouterr()
    assert run(["campaign", "run", "c.toml", "--out", "runs", "--only", "1", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["is_as_stored"] is True
    assert {"truth", "belief", "plan", "flight", "fit", "report", "row"} <= set(one["files"])


def test_code_is_run_only_where_that_was_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.py").write_text(FUNCTION)
    head = 'format = 1\nname = "calls"\nfunction = "runs.py"\nruns = 2\n'
    (tmp_path / "c.toml").write_text(head)
    assert run(["campaign", "run", "c.toml", "--out", "runs", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["codes"] == ["option.missing"]
    assert run(["campaign", "run", "c.toml", "--out", "runs", "--run-code", "--workers", "1"]) == 0


def test_bad_arguments_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(FLIGHT.format(runs=2).replace("mean", "men"))
    assert run(["campaign", "run", "c.toml", "--out", "runs", "--json"]) == 2
    assert "key.unknown" in json.loads(capsys.readouterr().out)["error"]["codes"]
    (tmp_path / "c.toml").write_text(FLIGHT.format(runs=2))
    for more in (["--workers", "0"], ["--only", "2"], ["--runs", "0"]):
        assert run(["campaign", "run", "c.toml", "--out", "runs", *more]) == 2
    assert run(["campaign", "summary", "nowhere"]) == 2
    assert run(["campaign", "report", "nowhere", "--out", "page.txt"]) == 2
    assert "--out" in capsys.readouterr().err
