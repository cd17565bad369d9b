"""Progress where nobody has a terminal: lines at intervals, and none for what is over at once."""

from __future__ import annotations

import re
import time

import pytest

from freefloat.cli import waiting


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(waiting, "FIRST_LINE", 0.02)
    monkeypatch.setattr(waiting, "LINES", 0.02)


def test_work_that_knows_how_far_it_is_says_so_and_what_is_left(often, capsys):
    with waiting.progress("designing") as update:
        update("designing, 3", 0.5)
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert all(re.fullmatch(r"designing, 3: 50 %, \d s, about \d s left", line) for line in lines)


def test_work_that_does_not_know_says_how_long_it_has_taken(often, capsys):
    with waiting.progress("identifying") as update:
        update("fitting, simulation 1", None)
        time.sleep(0.1)
    assert "fitting, simulation 1: 0 s\n" in capsys.readouterr().err


def test_lines_come_while_the_work_says_nothing(often, capsys):
    with waiting.progress("compiling"):
        time.sleep(0.1)
    assert capsys.readouterr().err.count("compiling: 0 s\n") > 1


def test_short_work_writes_nothing(capsys):
    with waiting.progress("identifying"), waiting.progress("designing") as update:
        update("designing", 0.5)
    assert capsys.readouterr().err == ""


def test_lines_of_the_caller_take_their_place(often, capsys):
    with waiting.progress("papers", has_lines=False):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_work_that_fails_ends_its_lines(often, capsys):
    with pytest.raises(ZeroDivisionError), waiting.progress("identifying"):
        raise ZeroDivisionError
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_with_the_stage(monkeypatch, capsys):
    monkeypatch.setattr(waiting, "has_terminal", lambda: True)
    monkeypatch.setattr(waiting, "REDRAW", 0.02)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with waiting.progress("identifying") as update:
        update("fitting, simulation 7", 0.25)
        time.sleep(0.3)
    assert "fitting, simulation 7" in capsys.readouterr().err
