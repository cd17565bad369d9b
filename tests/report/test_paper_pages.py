"""The page of rebuilt papers: every row beside the printed one, figures drawn, nothing loaded."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from browser import visit

from freefloat.papers.paper_rows import Row
from freefloat.report.paper_pages import PaperFigure, RebuiltPaper, papers_page, save_rows, tally

T, U = np.linspace(0.0, 10.0, 200), np.linspace(2.0, 8.0, 31)


@pytest.fixture
def paper() -> RebuiltPaper:
    rows = [
        Row("Table 1", f"mass {k}", "kg", 10.0 + k, 10.1 + k, "reproduced", "<b>note</b>")
        for k in range(3)
    ]
    lines = [(f"joint {k}", T if k % 2 else U, np.sin(T if k % 2 else U)) for k in range(6)]
    figures = [
        PaperFigure("Fig. 1", "time [s]", "angle [rad]", lines),
        PaperFigure("Fig. 2", "time [s]", "error [%]", [("ours", T, np.exp(-9 * T))], is_log=True),
    ]
    return RebuiltPaper("000", "A paper", rows, ["something was found"], figures)


def test_a_browser_draws_every_figure_without_complaint(paper, tmp_path):
    path = tmp_path / "papers.html"
    path.write_text(papers_page([paper, replace(paper, id="001")]), encoding="utf-8")
    seen = visit(path, tmp_path)
    assert seen.console == [] and seen.requests == []
    assert seen.dom.count("<canvas") == 4


def test_every_row_and_line_is_told(paper):
    page = papers_page([paper])
    assert all(f"<td>{row.quantity}</td>" in page for row in paper.rows)
    assert all(f"</span> joint {k} " in page for k in range(6))
    assert "<b>note</b>" not in page and "&lt;b&gt;note" in page
    assert tally(paper.rows) == {"reproduced": 3}


def test_rows_as_json(paper, tmp_path):
    save_rows([paper], tmp_path / "rows.json")
    (told,) = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))["papers"]
    assert [row["ours"] for row in told["rows"]] == [10.1, 11.1, 12.1]
