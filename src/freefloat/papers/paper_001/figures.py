"""Figures 4 to 9 of paper 001, redrawn: how estimates converge, and what velocity does to them."""

from __future__ import annotations

import numpy as np

from freefloat.papers.paper_001 import flights
from freefloat.report.paper_pages import PaperFigure

LEAST = 1e-6  # format: [%]: errors below are drawn as this
SPEED = 200.0  # format: protocol, [m/s] along x and y


def _converging(title: str, quantities: tuple[str, ...], kind: str) -> PaperFigure:
    """Errors of some quantities in the medium 2D run: one of the paper's methods, and ours."""
    flight = flights.planar()
    names, truth = flights.names_of(flight.form), flights.truth_of(flight.form)
    theirs = (flight.times[flight.samples][1:], flights.modified_rls(flight, kind))
    lines = []
    for who, (time, found) in ((f"{kind} RLS", theirs), ("ours", flights.our_estimates(flight))):
        for name in quantities:
            k = names.index(name)
            error = 100.0 * np.abs(found[:, k] / truth[k] - 1.0)
            lines.append((f"{name}, {who}", time, np.maximum(error, LEAST)))
    return PaperFigure(title, "time [s]", "error [%]", lines, is_log=True)


def figure_4() -> PaperFigure:
    """Masses and inertias, momentum-based."""
    return _converging("Figure 4: momentum", ("m_1", "m_n", "I_1", "I_n"), "momentum")


def figure_5() -> PaperFigure:
    """Masses and inertias, force-based."""
    return _converging("Figure 5: force", ("m_1", "m_n", "I_1", "I_n"), "force")


def figures_6_to_9() -> PaperFigure:
    """I_n from slow and fast starts with 0.1 N at most."""
    lines = []
    for speed in (10.0, SPEED):
        flight = flights.fly("planar-capture", duration=60.0, velocity=(speed, speed, 0.0),
                               rate=(0.0, 0.0, 0.1), max_force=0.1)  # fmt: skip
        truth = flights.truth_of(flight.form)[-1]
        time = flight.times[flight.samples][1:]
        ways = {f"{kind} RLS": (time, flights.modified_rls(flight, kind)[:, -1])
                for kind in ("momentum", "force")}  # fmt: skip
        own_time, own = flights.our_estimates(flight)
        ways["ours"] = (own_time, own[:, -1])
        for who, (when, found) in ways.items():
            error = 100.0 * np.abs(found / truth - 1.0)
            lines.append((f"{who}, {speed:.0f} m/s", when, np.maximum(error, LEAST)))
    title = "Figures 6 to 9: I_n and the initial velocity"
    return PaperFigure(title, "time [s]", "error of I_n [%]", lines, is_log=True)


FIGURES = (figure_4, figure_5, figures_6_to_9)
