"""Progress where nobody has a terminal: lines at intervals, and none for what is over at once."""

from __future__ import annotations

import time

import pytest

from freefloat.cli import waiting


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(waiting, "LINES", 0.02)


def test_work_that_knows_how_far_it_is_writes_lines(often, capsys):
    with waiting.progress("designing") as update:
        update(0.1)
        time.sleep(0.05)
        update(0.5, 3.0)
        update(0.6)
    assert capsys.readouterr().err == "designing, 3: 50 %\n"


def test_work_that_does_not_know_writes_how_long_it_takes(often, capsys):
    with waiting.busy("identifying"):
        time.sleep(0.1)
    assert "identifying: 0 s" in capsys.readouterr().err


def test_short_work_writes_nothing(capsys):
    with waiting.busy("identifying"), waiting.progress("designing") as update:
        update(0.5)
    assert capsys.readouterr().err == ""


def test_work_that_fails_ends_its_lines(often, capsys):
    with pytest.raises(ZeroDivisionError), waiting.busy("identifying"):
        raise ZeroDivisionError
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""
