"""Figures of papers as PNG files, from our own computations (matplotlib, the extra `plot`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.papers import figures
from freefloat.report.paper_pages import PaperFigure
from freefloat.report.plots import COLOURS, require_matplotlib, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = ("-", "--", ":", "-.")


def save_figures(paper: str, folder: Path) -> list[Path]:
    """Write the figures of a paper as PNG files in a folder; where each is."""
    require_matplotlib()
    drawn = {_name(figure.title): _draw(figure, paper) for figure in figures(paper)}
    drawn |= {name: draw() for name, draw in ALONE.get(paper, {}).items()}
    written = []
    for name, figure in drawn.items():
        written.append(folder / f"{paper}_{name}.png")
        save_figure(figure, written[-1])
    return written


def _name(title: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:40].rstrip("_")


def _draw(figure: PaperFigure, paper: str) -> Figure:
    from matplotlib.figure import Figure

    page = Figure(figsize=(8.0, 4.0), dpi=100, layout="constrained")
    axis = page.subplots()
    looks = _looks([name for name, *_ in figure.lines])
    for (name, x, y), (colour, style) in zip(figure.lines, looks, strict=True):
        axis.plot(x, y, style, color=colour, linewidth=1.2, label=name)
    if figure.is_log:
        axis.set_yscale("log")
    axis.set_xlabel(figure.x_title, fontsize=9)
    axis.set_ylabel(figure.y_title, fontsize=9)
    axis.grid(alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)
    axis.margins(x=0.0)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    page.suptitle(f"Paper {paper}. {figure.title}", fontsize=11)
    return page


def _looks(names: list[str]) -> list[tuple[str, str]]:
    """Colour and style of each line: of "what, who" lines, what has a colour and who a style."""
    halves = [name.rpartition(", ")[::2] for name in names]
    whats, whos = (list(dict.fromkeys(half)) for half in zip(*halves, strict=True))
    if len(whats) * len(whos) != len(names):  # not every one of each: colours first, then dashes
        n = len(COLOURS)
        return [(COLOURS[k % n], STYLES[k // n % len(STYLES)]) for k in range(len(names))]
    return [
        (COLOURS[whats.index(what) % len(COLOURS)], STYLES[whos.index(who) % len(STYLES)])
        for what, who in halves
    ]


def _wings_modes() -> Figure:
    """Paper 000, Fig. 5 A with every channel, and the modes that were read off."""
    from freefloat.identification.modes.modal import identify_modes
    from freefloat.model import load_model
    from freefloat.papers.paper_000.model import kick
    from freefloat.prediction.simulate import simulate
    from freefloat.report.plots import plot_spectrum

    wings = load_model("servicer-wings")
    found = identify_modes(simulate(wings, kick(wings), seed=1), wings)
    return plot_spectrum(found, title="Paper 000. Fig. 5 A: free response of the wings, its modes")


ALONE: dict[str, dict[str, Callable[[], Figure]]] = {"000": {"fig_5_a_modes": _wings_modes}}
