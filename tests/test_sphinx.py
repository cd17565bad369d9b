"""The documents build as pages without a warning, and their new pages are true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import visit
from documents import ROOT, blocks

PAGES = ("live.md", "output_error.md", "spectra.md", "validation.md")


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    """The site, built with warnings as errors."""
    pytest.importorskip(
        "sphinx", reason="Sphinx is not installed (extra `docs`): nothing was built"
    )
    pytest.importorskip("myst_parser", reason="myst-parser is not installed (extra `docs`)")
    pytest.importorskip("furo", reason="furo is not installed (extra `docs`)")
    for name in ("sphinx_design", "sphinx_copybutton", "sphinx_gallery"):
        pytest.importorskip(name, reason=f"{name} is not installed (extra `docs`)")
    folder = tmp_path_factory.mktemp("site") / "pages"
    # The scripts of the gallery are run by test_gallery.py.
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    command += ["-D", "plot_gallery=0"]
    ended = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return folder


def read(page: Path) -> str:
    """The HTML of a page."""
    return page.read_text(encoding="utf-8")


def test_the_reference_is_made_from_the_source(pages):
    assert (pages / "explain" / "errata.html").exists()
    shown = read(pages / "reference" / "identification.html")
    assert 'id="freefloat.identify"' in shown and "Returns" in shown
    odd = "Annotated[", "TypeAliasForwardRef", "_NestedSequence", "&lt;function", "&lt;factory"
    reference = [read(page) for page in (pages / "reference").glob("*.html")]
    plain = [re.sub("</?(?:span|em|a)[^>]*>", "", page) for page in reference]
    assert not [word for word in odd for page in plain if word in page]
    linked = 'href="reference/identification.html#freefloat.identify"'
    assert linked in read(pages / "api.html")
    words = re.sub("<[^>]+>", "", read(pages / "reference" / "cli.html"))
    assert "--known-start" in words and "\nfreefloat check servicer\n" in words
    assert "\nfreefloat models copy [OPTIONS] NAME [ARGS]\n" in words
    assert words.count("--max-bytes") == 1  # shared options are told once


def test_every_link_between_pages_leads_somewhere(pages):
    """Pages, anchors and pictures; what leads outside is nothing but the makers of the theme."""
    anchors = {
        page: set(re.findall(r'\bid="([^"]+)"', read(page))) for page in pages.rglob("*.html")
    }
    broken, outside = [], set()
    for page in anchors:
        for link in re.findall(r'<(?:a|img|script|link)\b[^>]*?(?:href|src)="([^"]*)"', read(page)):
            if link.startswith("tcp:"):  # an example of an address to listen at
                continue
            if link.startswith(("http:", "https:")):
                outside.add(link)
                continue
            file, _, anchor = unquote(link).partition("#")
            target = (page.parent / file.partition("?")[0]).resolve() if file else page
            known = anchors.get(target, {anchor})
            if not target.exists() or (anchor and anchor not in known):
                broken.append(f"{page.relative_to(pages)}: {link}")
    assert not broken
    assert outside == {
        "https://www.sphinx-doc.org/",
        "https://github.com/pradyunsg/furo",
        "https://pradyunsg.me",
        "https://keepachangelog.com/en/1.1.0/",  # the change log tells its rules
        "https://semver.org/",
    }


def test_equations_are_numbered_and_drawn_without_a_script(pages):
    """MathML: nothing is fetched when a page is opened, and a reader can name an equation."""
    page = read(pages / "explain" / "output_error.html")
    assert page.count("<math ") > 10 and 'id="equation-eq-cost"' in page
    assert re.search(r'class="eqno">\(4\)', page)
    scripts = re.findall(r'<script\b[^>]*src="([^"]+)"', page)
    assert scripts and not [script for script in scripts if "://" in script]


def test_the_search_works_without_a_network(pages, tmp_path):
    found = visit(pages / "search.html", tmp_path, query="?q=pseudo-inertia")
    assert not found.requests and not found.console
    assert "explain/conventions.html" in found.dom


@pytest.mark.parametrize("page", PAGES)
def test_their_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / "docs" / page, "python")
    assert found  # a page without code has no place in the list
    for block in found:
        exec(compile(block.text, page, "exec"), {})
