"""`freefloat reproduce` shows paper and ours side by side."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from freefloat import papers as library
from freefloat.papers import paper_003
from freefloat.papers.paper_003.tables import true_value_rows
from freefloat.papers.paper_rows import Row


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


def test_all_papers_on_one_page_and_every_row_as_json(command, short, monkeypatch, tmp_path):
    monkeypatch.setattr(library, "PAPERS", {"003": library.PAPERS["003"]})
    ended = command("reproduce", "all", "--report", "papers.html", "--rows", "papers.json")
    assert ended.code == 0, ended.err
    page = (tmp_path / "papers.html").read_text(encoding="utf-8")
    assert 'id="p003"' in page and "Table 3: true values" in page and "paper wrong" in page
    assert "Exciting motion of Table 2" in page and "angle [deg]" in page
    assert "0.13144" in page and "<svg" in page and "Eq. 13 lacks a sign" in page
    rows = json.loads((tmp_path / "papers.json").read_text(encoding="utf-8"))["papers"][0]["rows"]
    assert rows[4]["paper"] == 0.1314
    assert command("reproduce", "all", "--json").json["papers"][0]["rows"] == rows


def test_what_a_paper_took_is_told(command, short):
    found = command("reproduce", "003", "--json").json
    assert 0.0 < found["wall_seconds"] < 60.0 and 0.0 < found["cpu_seconds"] < 60.0
    ended = command("reproduce", "003")
    last = ended.out.rstrip().splitlines()[-1]
    assert "missed" not in last and re.search(r"\d s of processor", last)
    assert "003" in ended.err and f"{len(found['rows'])} rows" in ended.err


def test_less_than_one_worker_is_bad_input(command):
    ended = command("reproduce", "003", "--workers", 0)
    assert ended.code == 2 and "workers" in ended.err


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no groups of processes")
def test_an_interrupt_ends_every_process_without_a_word_of_python():
    command = [sys.executable, "-m", "freefloat", "reproduce", "002", "--workers", "2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)  # fmt: skip
    assert process.stderr is not None
    while "rebuilding" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(1.0)  # the workers are starting or at work
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    # pipes end when the last process has: nobody goes on in the background
    out, err = process.communicate(timeout=20.0)
    assert process.returncode == 130 and not out
    assert len(err.splitlines()) == 1 and "Traceback" not in err


def test_files_of_other_kinds_are_refused_at_once(command):
    ended = command("reproduce", "all", "--report", "papers.pdf", "--rows", "rows.txt")
    assert ended.code == 2 and "--report" in ended.err and "--rows" in ended.err
