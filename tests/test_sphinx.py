"""The documents build as pages without a warning, and their new pages are true."""

from __future__ import annotations

import re
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
    for name in ("sphinx_design", "sphinx_copybutton", "sphinx_gallery"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra `docs`)")
    # The scripts of the gallery are run by test_gallery.py.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    command += ["-D", "plot_gallery=0"]
    ended = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path / "pages")],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    pages = tmp_path / "pages"
    assert (pages / "explain" / "errata.html").exists()
    shown = (pages / "reference" / "identification.html").read_text(encoding="utf-8")
    assert 'id="freefloat.identify"' in shown and "Returns" in shown
    assert 'href="reference/identification.html#freefloat.identify"' in (
        pages / "api.html"
    ).read_text(encoding="utf-8")
    command_page = (pages / "reference" / "cli.html").read_text(encoding="utf-8")
    words = re.sub("<[^>]+>", "", command_page)
    assert "--known-start" in words and "\nfreefloat check servicer\n" in words


@pytest.mark.parametrize("page", PAGES)
def test_their_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / "docs" / page, "python")
    assert found  # a page without code has no place in the list
    for block in found:
        exec(compile(block.text, page, "exec"), {})
