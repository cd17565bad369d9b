"""Figures of papers: lines of finite numbers, with names and units, and files of them."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.papers import figures
from freefloat.papers.figure_files import save_figures


@pytest.mark.parametrize("paper", ["000", "002", "004"])
def test_figures_have_lines_and_units(paper):
    made = figures(paper)
    assert made and len({figure.title for figure in made}) == len(made)
    for figure in made:
        assert len(figure.lines) >= 2
        for name, x, y in figure.lines:
            assert name and len(x) == len(y) > 20
            assert np.all(np.isfinite(y)) and np.all(np.diff(x) > 0.0)
            assert not figure.is_log or np.all(y > 0.0)


def test_figures_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    written = save_figures("002", tmp_path)
    assert len(written) == 2 and all(path.stat().st_size > 5000 for path in written)
