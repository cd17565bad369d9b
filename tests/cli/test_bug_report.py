"""An archive of a failure has what is needed to see it again, and nothing that nobody asked for."""

from __future__ import annotations

import json
import zipfile

import pytest

from freefloat.cli.run import run

BROKEN = 'format = 1\nname = "x"\nmass = "heavy"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "broken.toml").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FREEFLOAT_SOMETHING", "yes")
    monkeypatch.setenv("A_PASSWORD", "secret")
    return tmp_path


def members(path) -> dict[str, str]:
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}


def test_it_has_versions_the_command_and_what_it_printed(folder, capsys):
    assert run(["bug-report", "bug.zip", "--run", "freefloat check broken.toml"]) == 0
    found = members(folder / "bug.zip")
    about, outcome = json.loads(found["about.json"]), json.loads(found["outcome.json"])
    assert about["command"] == "freefloat check broken.toml"
    assert about["versions"]["freefloat"] and "numpy" in about["packages"]
    assert about["environment"]["FREEFLOAT_SOMETHING"] == "yes"
    assert outcome["exit_code"] == "2" and "broken.toml" in found["stderr.txt"]
    assert "Traceback" in found["stderr.txt"]  # it is run with --debug
    assert not any(name.startswith("inputs/") for name in found)
    assert "secret" not in str(found) and "--inputs" in capsys.readouterr().err


def test_files_are_put_in_only_when_asked(folder):
    assert run(["bug-report", "bug.zip", "--run", "check broken.toml", "--inputs"]) == 0
    assert members(folder / "bug.zip")["inputs/1_broken.toml"] == BROKEN


def test_a_command_that_does_not_end_is_stopped_and_kept(folder):
    long = "simulate servicer --duration 3000"
    assert run(["bug-report", "bug.zip", "--run", long, "--seconds", "1.5"]) == 0
    assert "out of time" in members(folder / "bug.zip")["outcome.json"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["bug.txt"],
        ["bug.zip", "--run", "check 'broken.toml"],
        ["bug.zip", "--run", "bug-report bug.zip"],
        ["bug.zip", "--seconds", "0"],
        ["broken.toml"],
    ],
)
def test_what_cannot_be_is_refused(folder, arguments):
    assert run(["bug-report", *arguments]) == 2
    assert (folder / "broken.toml").read_text() == BROKEN
    assert not (folder / "bug.zip").exists()


def test_without_a_command_it_has_the_versions(folder, capsys):
    assert run(["bug-report", "bug.zip", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["members"] == ["about.json"]
