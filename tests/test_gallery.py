"""Every script of the gallery is short, asks a question, runs as a notebook and leaves a figure.

The notebooks that the site offers are made by Sphinx-Gallery; their cells are run here, in order.
"""

from __future__ import annotations

import ast
import json
import warnings

import pytest
from documents import ROOT

GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
LONGEST = 80


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_a_script_is_short_and_asks_a_question(script):
    text = script.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= LONGEST and max(map(len, lines)) <= 100
    title = (ast.get_docstring(ast.parse(text)) or "").splitlines()[0]
    assert title.endswith("?")


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_its_notebook_runs_and_leaves_a_figure(script, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason="extra `plot` is not installed")
    blocks = pytest.importorskip("sphinx_gallery.py_source_parser", reason="no extra `docs`")
    from matplotlib.figure import Figure
    from sphinx_gallery import gen_gallery, notebook

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    settings = gen_gallery.DEFAULT_GALLERY_CONF
    _, parts = blocks.split_code_and_text_blocks(str(script))
    made = notebook.jupyter_notebook(parts, settings, str(script.parent))
    notebook.save_notebook(made, tmp_path / "script.ipynb")
    cells = json.loads((tmp_path / "script.ipynb").read_text(encoding="utf-8"))["cells"]
    assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    scope: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), str(script), "exec"), scope)
    figures = [value for value in scope.values() if isinstance(value, Figure)]
    assert figures and all(figure.axes for figure in figures)


def test_there_are_a_dozen():
    assert len(GALLERY) >= 12
