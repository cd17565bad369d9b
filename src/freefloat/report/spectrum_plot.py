"""A picture of a spectrum: where the power lies, and which peaks are modes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.plots import COLOURS, MOST_LINES, require_matplotlib, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from freefloat.identification.modes.modal import ModalFit, SeenMode
    from freefloat.identification.modes.spectra import Spectrum

STYLES = {"mode": "-", "harmonic": ":", "faint": ":", "drift": ":"}


def save_spectrum_plot(found: ModalFit, path: str | Path, *, title: str = "") -> None:
    """Write a picture of a recording's spectra with its modes; the suffix chooses the format."""
    save_figure(plot_spectrum(found, title=title), path)


def plot_spectrum(found: ModalFit, *, title: str = "") -> Figure:
    """Densities by channel, each over its noise, with modes and their companions marked."""
    require_matplotlib()
    from matplotlib.figure import Figure  # not pyplot: no window, no global state

    figure = Figure(figsize=(8.0, 4.2), dpi=100, layout="constrained")
    axis = figure.subplots()
    highest = max((mode.frequency for mode in (*found.modes, *found.others)), default=1.0)
    limit = min(float(found.spectrum.frequency[-1]), 1.6 * highest)
    _draw(axis, found.spectrum, limit)
    marked = [mode for mode in (*found.modes, *found.others) if mode.kind != "drift"]
    for mode in marked:
        _mark(axis, mode)
    axis.set_xlim(0.0, limit)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _draw(axis: Axes, spectrum: Spectrum, limit: float) -> None:
    relative = spectrum.density / spectrum.floor[:, None]
    inside = (spectrum.frequency > 0.0) & (spectrum.frequency <= limit)
    order = np.argsort(-relative[:, inside].max(axis=1))[:MOST_LINES]
    for n, k in enumerate(order):
        style = "-" if n < len(COLOURS) else "--"
        axis.semilogy(
            spectrum.frequency[inside], np.maximum(relative[k, inside], 1e-2), style,
            color=COLOURS[n % len(COLOURS)], linewidth=1.0, label=spectrum.channels[k],
        )  # fmt: skip
    axis.axhline(1.0, color="gray", linewidth=0.8)
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel("power density over that of the noise [1]", fontsize=9)
    axis.grid(alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _mark(axis: Axes, mode: SeenMode) -> None:
    """A line at the frequency; its name stands above the axes, upright."""
    colour = "black" if mode.kind == "mode" else "gray"
    axis.axvline(mode.frequency, color=colour, linestyle=STYLES[mode.kind], linewidth=0.8)
    name = f"{mode.frequency:.3f}" + (f" {mode.kind}" if mode.kind != "mode" else "")
    axis.annotate(
        name, (mode.frequency, 1.01), xycoords=("data", "axes fraction"), rotation=90,
        fontsize=7, ha="center", va="bottom", color=colour,
    )  # fmt: skip
