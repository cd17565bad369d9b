"""Exit codes and messages: every way a run can end."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from fault_codes import refused

import freefloat
from freefloat.cli import app
from freefloat.errors import FreefloatError

FREEFLOAT = [sys.executable, "-m", "freefloat"]
# A verb that is only a group of others counts by these.
VERBS = [
    [name, *below]
    for name in app.app
    if not name.startswith("-")
    for below in (
        [[]]
        if app.app[name].default_command
        else [[one] for one in app.app[name] if not one.startswith("-")]
    )
]

URDF = """<robot name="r"><link name="bus"><inertial><mass value="1,5"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"""
FOREIGN_PLAN = 'format = 1\nname = "p"\nduration = 5.0\n[[motion]]\ncoordinate = "elbow"\n'
FOREIGN_PLAN += 'kind = "hold"\nvalue = 0.1\n'
OUT = ("--out", "flight.csv")

BAD_INPUT = {
    "no such file": (("check", "nowhere.toml"), "ModelError"),
    "a folder": (("check", "folder"), "ModelError"),
    "a folder called like a model": (("check", "folder.toml"), "ModelError"),
    "a decimal comma": (("check", "comma.urdf"), "ModelError"),
    "no such model": (("simulate", "servicr", *OUT), "ModelError"),
    "no such folder": (("simulate", "cepheus", "--out", "no/flight.csv"), "file.unwritable"),
    "a file for a folder": (
        ("simulate", "cepheus", "--out", "comma.urdf/f.csv"),
        "file.unwritable",
    ),
    "a folder for a file": (("simulate", "cepheus", "--out", "folder.csv"), "file.unwritable"),
    "a wrong suffix": (("simulate", "cepheus", "--out", "flight.xlsx"), "file.suffix"),
    "no suffix": (("simulate", "cepheus", "--out", "flight"), "file.suffix"),
    "a wrong picture": (("simulate", "cepheus", *OUT, "--plot", "flight.jpg"), "file.suffix"),
    "no folder for it": (("simulate", "cepheus", *OUT, "--plot", "no/f.png"), "file.unwritable"),
    "a negative duration": (("simulate", "cepheus", *OUT, "--duration", "-5"), "value.range"),
    "a duration of nan": (("simulate", "cepheus", *OUT, "--duration", "nan"), "value.range"),
    "a year of flight": (("simulate", "cepheus", *OUT, "--duration", "3e9"), "value.range"),
    "too short a flight": (("simulate", "cepheus", *OUT, "--duration", "1e-6"), "value.range"),
    "a step of zero": (("simulate", "cepheus", *OUT, "--step", "0"), "value.range"),
    "a negative seed": (("simulate", "cepheus", *OUT, "--seed", "-1"), "value.range"),
    "no such plan": (("simulate", "cepheus", *OUT, "--plan", "nowhere.toml"), "ExcitationError"),
    "a plan that does not fit": (
        ("simulate", "cepheus", *OUT, "--plan", "plan.toml"),
        "ExcitationError",
    ),
    "a plan and a duration": (
        ("simulate", "cepheus", *OUT, "--plan", "plan.toml", "--duration", "5"),
        "value.conflict",
    ),
    "a plan on top of its model": (
        ("simulate", "plain.toml", *OUT, "--save-plan", "plain.toml"),
        "file.conflict",
    ),
    "no such recording": (("telemetry", "nowhere.csv"), "file.missing"),
    "no recording at all": (("telemetry", "comma.urdf"), "file.suffix"),
    "a folder for a recording": (("telemetry", "folder.csv"), "file.unreadable"),
    "a recording that cannot be read": (("telemetry", "broken.csv"), "channel.unit"),
    "no such copy": (("models", "copy", "servicr"), "ModelError"),
    "no such verb": (("chek", "servicer"), "name.unknown"),
    "no such option": (("check", "servicer", "--jason"), "name.unknown"),
    "a word too many": (("check", "servicer", "again"), "value.count"),
    "no file after --out": (("simulate", "cepheus", "--out"), "key.missing"),
    "no number": (("simulate", "cepheus", *OUT, "--duration", "long"), "value.type"),
    "no such method": (("simulate", "cepheus", *OUT, "--method", "euler"), "value.type"),
}


@pytest.fixture
def files(tmp_path: Path) -> set[Path]:
    (tmp_path / "comma.urdf").write_text(URDF)
    (tmp_path / "plain.urdf").write_text(URDF.replace("1,5", "1.5"))
    (tmp_path / "broken.csv").write_text("time [s],base.rate.x [furlong]\n0,1\n")
    (tmp_path / "plan.toml").write_text(FOREIGN_PLAN)
    (tmp_path / "plain.toml").write_text(
        'format = 1\nname = "plain"\n[[body]]\nname = "bus"\nmass = 5\ninertia = [1, 1, 1]\n'
    )
    for name in ("folder", "folder.csv", "folder.toml"):
        (tmp_path / name).mkdir()
    return set(tmp_path.rglob("*"))


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_told_once_and_leaves_nothing(case, command, files, tmp_path):
    arguments, code = BAD_INPUT[case]
    ended = command(*arguments)
    assert ended.code == 2 and not ended.out
    assert ended.err.count("error: ") == 1
    assert "Traceback" not in ended.err + ended.out
    assert set(tmp_path.rglob("*")) == files
    told = command(*arguments, "--json")
    assert told.code == 2 and code in told.error_codes
    for fault in told.json["error"]["faults"]:  # every fault says what it wants, and a person too
        assert fault["expected"] and fault["code"]
        assert fault["value"].split()[0][:40] in ended.err or told.json["error"]["kind"] == "usage"


def test_a_misspelt_word_has_a_guess(command):
    assert "servicer" in command("check", "servicr").err
    assert "--json" in command("check", "servicer", "--jason").err
    assert "check" in command("chek", "servicer").err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_without_permission_is_bad_input(command, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    ended = command("simulate", "cepheus", "--out", closed / "flight.csv")
    assert ended.code == 2 and "may write" in ended.err


def test_a_bug_is_one_line_and_a_traceback_only_when_asked(command, monkeypatch):
    def fail(_: object, **__: object) -> None:
        raise RuntimeError("the moon is full")

    monkeypatch.setattr("freefloat.model.load_model", fail)
    ended = command("check", "servicer")
    assert ended.code == 3 and not ended.out
    told = " ".join(ended.err.split())
    assert "the moon is full" in told and "--debug" in told and "bug-report" in told
    assert "Traceback" not in told
    assert "Traceback" in command("check", "servicer", "--debug").err
    assert command("check", "servicer", "--json").json["error"]["kind"] == "bug"


def test_a_damaged_cache_is_named_with_its_remedy(command, monkeypatch, tmp_path):
    from numba.core.caching import IndexDataCacheFile

    (tmp_path / "kernel.nbi").write_bytes(b"")  # cut short, as by a full disk
    index = IndexDataCacheFile(str(tmp_path), "kernel", "stamp")
    monkeypatch.setattr("freefloat.model.load_model", lambda _, **__: index.load("any signature"))
    monkeypatch.setattr("freefloat.numba_.compilation.cache_folder", lambda: tmp_path / "cache")
    ended = command("check", "cepheus")
    assert ended.code == 2
    told = " ".join(ended.err.split())
    for part in (str(tmp_path / "cache"), "delete this folder", "FREEFLOAT_CACHE_DIR", "EOFError"):
        assert part in told


def test_debug_shows_where_bad_input_was_found(command):
    assert "Traceback" in command("check", "nowhere.toml", "--debug").err


@pytest.mark.parametrize(
    ("raised", "code", "word"),
    [(MemoryError, 2, "memory"), (KeyboardInterrupt, 130, "interrupted")],
)
def test_too_little_memory_and_an_interrupt_are_no_bugs(command, monkeypatch, raised, code, word):
    monkeypatch.setattr("freefloat.model.load_model", Mock(side_effect=raised))
    ended = command("check", "servicer")
    assert ended.code == code and word in ended.err and "bug: " not in ended.err


def test_help_shows_an_example_of_every_verb(command):
    assert command("--help").code == 0
    for verb in [*VERBS, ["models", "copy"]]:
        shown = command(*verb, "--help")
        assert shown.code == 0
        assert f"freefloat {' '.join(verb)}" in shown.out.partition("For example:")[2]
        assert max(map(len, shown.out.splitlines())) <= 80
        assert all(f" {option} " in shown.out for option in ("--json", "--debug"))


def test_the_version_is_the_package_s(command):
    assert command("--version").out.strip() == freefloat.__version__


def test_ctrl_c_during_a_flight_leaves_no_file(tmp_path):
    arguments = ["simulate", "cepheus", "--out", "flight.parquet", "--duration", "3000"]
    running = subprocess.Popen(
        [*FREEFLOAT, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.readline()  # the flight has been announced, so it begins
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"Traceback" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("arguments", [["models", "--json"], ["check", "cepheus"]])
def test_a_full_disk_behind_standard_output_is_told(arguments):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*FREEFLOAT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120
        )
    assert ended.returncode == 2
    assert os.strerror(errno.ENOSPC) in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise there")
@pytest.mark.parametrize("arguments", [["--help"], ["models"], ["check", "servicer"]])
def test_a_reader_that_goes_away_is_no_error(arguments):
    running = subprocess.Popen(
        [*FREEFLOAT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert running.wait(timeout=60) == 141  # as if ended by SIGPIPE
    assert b"Traceback" not in err and b"Exception" not in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("simulate cepheus --duration 1e-300", "value.range"),
        ("simulate cepheus --duration inf", "value.range"),
        ("simulate cepheus --step 1e-12", "value.range"),
        ("simulate cepheus --seed 1.5", "value.type"),
        ("design cepheus --duration 1e300", "value.range"),
        ("identify cepheus none.csv --momentum 1e300 0 0", "value.range"),
        ("track cepheus none.csv --walk bus.mass=1e300", "option.form"),
    ],
)
def test_numbers_that_cannot_be_are_bad_input_and_name_the_option(command, arguments, code):
    ended = command(*arguments.split(), "--json")
    assert ended.code == 2 and code in ended.error_codes
    assert ended.error_places == [word for word in arguments.split() if word.startswith("--")]


@pytest.mark.parametrize("size", ["1e300", "1e-300"])
def test_a_prior_of_no_size_is_bad_input(size):
    from freefloat.cli.parameter_options import choose_parameters
    from freefloat.model import load_model

    with refused(FreefloatError, "option.form", naming="--prior"):
        choose_parameters(load_model("cepheus"), free=["bus.*"], prior=[f"bus.mass={size}"])
