"""The documents build as pages without a warning, and their new pages are true."""

from __future__ import annotations

import subprocess
import sys

import pytest
from documents import ROOT, blocks

PAGES = ("live.md", "output_error.md", "spectra.md", "validation.md")


def test_the_pages_build_without_a_warning(tmp_path):
    pytest.importorskip(
        "sphinx", reason="Sphinx is not installed (extra `docs`): nothing was built"
    )
    pytest.importorskip("myst_parser", reason="myst-parser is not installed (extra `docs`)")
    pytest.importorskip("furo", reason="furo is not installed (extra `docs`)")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    ended = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path / "pages")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "pages" / "explain" / "errata.html").exists()


@pytest.mark.parametrize("page", PAGES)
def test_their_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / "docs" / page, "python")
    assert found  # a page without code has no place in the list
    for block in found:
        exec(compile(block.text, page, "exec"), {})
