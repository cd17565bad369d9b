"""Figures of paper 003, redrawn: the exciting motion, and the base that answers it."""

from __future__ import annotations

import numpy as np

from freefloat.papers.paper_003.model import Emulator, table_2
from freefloat.papers.paper_003.published import PUBLISHED
from freefloat.report.paper_pages import PaperFigure


def _fine() -> np.ndarray:
    return np.linspace(0.0, PUBLISHED["duration"], 200)


def angles() -> PaperFigure:
    """The angles of the two joints in Table 2's motion."""
    time = _fine()
    q = np.rad2deg(table_2(time)[0])
    lines = [("q1", time, q[:, 0]), ("q2", time, q[:, 1])]
    return PaperFigure("Exciting motion of Table 2", "time [s]", "angle [deg]", lines)


def base_rate() -> PaperFigure:
    """What the base does, with the momentum of the paper and without any."""
    time, bench = _fine(), Emulator.of()
    q, dq = table_2(time)
    spun = -bench.wheel_inertia * bench.wheel_speed
    lines = [
        ("spun up", time, np.rad2deg(bench.base_rate(q, dq, spun))),
        ("at rest", time, np.rad2deg(bench.base_rate(q, dq, 0.0))),
    ]
    return PaperFigure("Rate of the base in that motion", "time [s]", "rate [deg/s]", lines)


FIGURES = (angles, base_rate)
