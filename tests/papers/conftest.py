"""Rows of papers, computed once for all tests."""

from __future__ import annotations

import os

import pytest
from reproduced import QuickRows


@pytest.fixture(scope="session")
def quick_rows(tmp_path_factory: pytest.TempPathFactory) -> QuickRows:
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # every worker has a folder of its own below
        folder = folder.parent
    return QuickRows(folder / "quick_rows")
