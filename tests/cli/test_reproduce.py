"""`freefloat reproduce` shows paper and ours side by side."""

from __future__ import annotations

import pytest

from freefloat import reproduce as library
from freefloat.reproduce import paper_003
from freefloat.reproduce.paper_003_tables import true_value_rows
from freefloat.reproduce.rows import Row


@pytest.fixture
def short(monkeypatch):
    """Only the first study, which is over at once."""
    monkeypatch.setattr(paper_003, "STUDIES", (true_value_rows,))


def test_tables_fit_eighty_columns(command, short):
    ended = command("reproduce", "003", "--quick")
    assert ended.code == 0
    assert "Table 3: true values" in ended.out and "paper wrong" in ended.out
    assert "0.1314" in ended.out and "0.13144" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "rebuilding paper 003" in ended.err


def test_the_rows_for_machines(command, short):
    found = command("reproduce", "003", "--json").json
    assert found["ok"] and found["paper"] == "003"
    assert found["rows"][4]["paper"] == 0.1314 and found["rows"][4]["status"] == "reproduced"


def test_a_missed_row_is_a_negative_verdict(command, monkeypatch):
    missed = Row("Table", "x", "m", 1.0, 2.0, "missed")
    monkeypatch.setattr(paper_003, "STUDIES", (lambda *, quick: [missed],))
    ended = command("reproduce", "003")
    assert ended.code == 1 and "1 missed" in ended.out


def test_an_unknown_paper_is_bad_input(command):
    ended = command("reproduce", "042")
    assert ended.code == 2
    assert all(paper in ended.err for paper in library.PAPERS)
