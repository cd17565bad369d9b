"""Figures of papers, redrawn from our own computations (matplotlib, the extra `plot`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.plots import COLOURS, require_matplotlib, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from freefloat.report.papers import PaperFigure


def save_figures(paper: str, folder: Path) -> list[Path]:
    """Write the figures of a paper as PNG files in a folder; where each is."""
    require_matplotlib()
    written = []
    for name, draw in FIGURES.get(paper, {}).items():
        path = folder / f"{paper}_{name}.png"
        save_figure(draw(), path)
        written.append(path)
    return written


def _wings_spectrum() -> Figure:
    """Paper 000, Fig. 5: power spectra of the free response of the wings."""
    from freefloat.identification.modal import identify_modes
    from freefloat.model import load_model
    from freefloat.report.spectrum_plot import plot_spectrum
    from freefloat.reproduce.paper_000_spectra import kick
    from freefloat.telemetry.simulate import simulate

    wings = load_model("servicer-wings")
    found = identify_modes(simulate(wings, kick(wings), seed=1), wings)
    return plot_spectrum(found, title="Paper 000, Fig. 5: free response of the wings")


def _converging() -> Figure:
    """Paper 001, Figs 4 and 5: how masses and inertias converge, by momentum and by force."""
    from freefloat.reproduce.paper_001_figures import figure_4, figure_5

    return _curves("Paper 001, Figs 4 and 5: medium target in the plane", figure_4(), figure_5())


def _fast_starts() -> Figure:
    """Paper 001, Figs 6 to 9: what the initial velocity does to the inertia of the target."""
    from freefloat.reproduce.paper_001_figures import figures_6_to_9

    return _curves("Paper 001, Figs 6 to 9: I_n from slow and fast starts", figures_6_to_9())


def _curves(title: str, *parts: PaperFigure) -> Figure:
    """A panel for each; ours are full lines, others broken, the same quantity in one colour."""
    from freefloat.reproduce.paper_001_published import BAND

    figure, axes = _panels(len(parts))
    for axis, part in zip(axes, parts, strict=True):
        halves = [_what(name) for name, *_ in part.lines]
        whats = list(dict.fromkeys(halves))
        for (name, x, y), what in zip(part.lines, halves, strict=True):
            colour = COLOURS[whats.index(what) % len(COLOURS)]
            style = "-" if "ours" in name else ("--" if "momentum" in name else ":")
            axis.plot(x, y, color=colour, linestyle=style, linewidth=1.2, label=name)
        axis.axhline(100.0 * BAND, color="0.4", linewidth=0.8, label="0.1 % band")
        axis.set_yscale("log")
        _dress(axis, part.y_title)
        if len(parts) > 1:
            axis.set_title(part.title, fontsize=9)
    axes[-1].set_xlabel(parts[-1].x_title)
    figure.suptitle(title, fontsize=11)
    return figure


def _what(name: str) -> str:
    """What a curve is of, without who made it."""
    return ", ".join(half for half in name.split(", ") if "RLS" not in half and half != "ours")


def _base_motion() -> Figure:
    """Paper 002, Fig. 4: how the base moves during the paper's own motion."""
    from freefloat.model import load_model
    from freefloat.reproduce.paper_002_flights import motion
    from freefloat.reproduce.paper_002_published import PUBLISHED
    from freefloat.telemetry.simulate import simulate

    ets7 = load_model("ets7")
    truth = simulate(ets7, motion(PUBLISHED["motion"]), step=0.01).truth
    assert truth is not None
    quantities = (("base.position", "position [m]", 1.0), ("base.rate", "rate [mrad/s]", 1e3))
    figure, axes = _panels(len(quantities))
    for axis, (stem, title, factor) in zip(axes, quantities, strict=True):
        for k, letter in enumerate("xyz"):
            time, values = truth[f"{stem}.{letter}"].usable()
            axis.plot(time, factor * values, color=COLOURS[k], linewidth=1.2, label=letter)
        _dress(axis, title)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle("Paper 002, Fig. 4: the base during the excitation", fontsize=11)
    return figure


def _held_motor() -> Figure:
    """Paper 004, the finding: joint angle and base attitude, held motor against the free disc."""
    from freefloat.dynamics.state import positions
    from freefloat.model import load_model
    from freefloat.reproduce.paper_004_bench import STEP, Bench, DriveValues, angle_from_vision
    from freefloat.reproduce.paper_004_fits import by_least_squares, held_flights

    bench, geared = Bench.of(), load_model("cbk-arm-geared")
    flight = held_flights(geared, seed=10)[1]
    seen = angle_from_vision(geared, flight)
    found = by_least_squares(bench, [seen])
    states = bench.states(DriveValues(*found.values[0]), float(found.offsets[0]))
    time = np.arange(len(states)) * STEP
    attitude = 2.0 * np.arctan2(states[:, 5], states[:, 6])
    figure, axes = _panels(2)
    samples, angle = flight["base.angle"].usable()
    pairs = ((samples, seen, positions(states)[:, 0]), (samples, angle, attitude))
    titles = ("q1 [deg]", "base attitude [deg]")
    for axis, (at, measured, model), title in zip(axes, pairs, titles, strict=True):
        axis.plot(at, np.rad2deg(measured), ".", color=COLOURS[0], markersize=3, label="measured")
        axis.plot(time, np.rad2deg(model), color=COLOURS[1], linewidth=1.2, label="free disc")
        _dress(axis, title)
    axes[-1].set_xlabel("time [s]")
    k = found.values[0, 1]
    figure.suptitle(f"Paper 004: the free disc fitted to a held motor, k = {k:.1f}", fontsize=11)
    return figure


def _panels(n: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 1.0 + 2.2 * n), dpi=100, layout="constrained")
    return figure, list(figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0])


def _dress(axis: Axes, title: str) -> None:
    axis.set_ylabel(title, fontsize=9)
    axis.grid(alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)
    axis.margins(x=0.0)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


FIGURES: dict[str, dict[str, Callable[[], Figure]]] = {
    "000": {"fig5_wings": _wings_spectrum},
    "001": {"fig4_5_converging": _converging, "fig6_9_fast_starts": _fast_starts},
    "002": {"fig4_base": _base_motion},
    "004": {"held_motor": _held_motor},
}
