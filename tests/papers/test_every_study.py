"""No row of any paper is missed: every study in short, and (long) every paper in full."""

from __future__ import annotations

import pytest
from reproduced import missed, names_of

from freefloat.papers import PAPERS, reproduce
from freefloat.papers.paper_rows import STATUSES

STUDIES = [(paper, name) for paper in PAPERS for name in names_of(paper)]


@pytest.mark.promise("papers")
@pytest.mark.parametrize(("paper", "study"), STUDIES)
def test_no_row_is_missed(paper, study, quick_rows):
    rows = quick_rows(paper, study)
    assert rows and not missed(rows)
    assert {row.status for row in rows} <= set(STATUSES)
    # an aim that the table does not print is for a reader to find in the quantity or the note
    assert all(row.note for row in rows if row.status in ("regression", "out of reach"))


@pytest.mark.full
@pytest.mark.promise("papers")
@pytest.mark.parametrize("paper", list(PAPERS))
def test_no_row_is_missed_in_full(paper, figure):
    rows = reproduce(paper)
    figure("papers", f"paper {paper}: {len(rows)} rows, {len(missed(rows))} missed")
    assert rows and not missed(rows)
