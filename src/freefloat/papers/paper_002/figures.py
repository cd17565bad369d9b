"""Figure 4 of paper 002, redrawn: how the base moves during the paper's own motion."""

from __future__ import annotations

from freefloat.model import load_model
from freefloat.papers.paper_002.published import PUBLISHED
from freefloat.papers.paper_002.tables import motion
from freefloat.prediction.simulate import simulate
from freefloat.report.paper_pages import PaperFigure


def _base(stem: str, title: str, y_title: str, factor: float) -> PaperFigure:
    truth = simulate(load_model("ets7"), motion(PUBLISHED["motion"]), step=0.01).truth
    assert truth is not None
    lines = []
    for letter in "xyz":
        time, values = truth[f"{stem}.{letter}"].usable()
        lines.append((letter, time, factor * values))
    return PaperFigure(title, "time [s]", y_title, lines)


def displacement() -> PaperFigure:
    """Where the base is."""
    return _base("base.position", "Fig. 4: displacement of the base", "position [mm]", 1e3)


def rate() -> PaperFigure:
    """How it turns."""
    return _base("base.rate", "Fig. 4: rate of the base", "rate [mrad/s]", 1e3)


FIGURES = (displacement, rate)
