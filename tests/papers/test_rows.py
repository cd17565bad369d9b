"""Statuses of rows are explained where people look for them."""

from __future__ import annotations

from typing import get_args

import pytest
from documents import ROOT

from freefloat.cli.reproduce import reproduce
from freefloat.papers.paper_rows import STATUSES, Status


def test_every_status_is_explained_in_the_document():
    text = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
    for status, meaning in STATUSES.items():
        assert f"| {status} | {meaning} |" in text
    assert set(STATUSES) == set(get_args(Status))


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_named_by_the_help(status):
    assert reproduce.__doc__ is not None
    assert status in " ".join(reproduce.__doc__.split())
