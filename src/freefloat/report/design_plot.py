"""A picture of a design: the motion, what it makes the base do, and deviations before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.plots import (
    COLOURS,
    MOST_LINES,
    require_matplotlib,
    require_picture_name,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from freefloat.design.result import Design
    from freefloat.model.model import Model

ORDERS = ("position\n[rad]", "rate\n[rad/s]", "acceleration\n[rad/s$^2$]")
MOST_PARAMETERS = 40  # in one picture: beyond, their names overlap


def save_design_plot(model: Model, design: Design, path: str | Path) -> None:
    """Write a picture of a design; the suffix chooses the format (.png, .svg or .pdf)."""
    require_picture_name(path)
    save_figure(plot_design(model, design), path)


def plot_design(model: Model, design: Design) -> Figure:
    """A figure: positions, rates and accelerations above, standard deviations below."""
    require_matplotlib()
    from matplotlib.figure import Figure  # not pyplot: no window, no global state

    rows = _rows(design)
    height = 6.0 + 0.22 * max(4, len(rows))
    figure = Figure(figsize=(8.0, height), dpi=100, layout="constrained")
    shares = [1.6, 1.6, 1.6, 0.9 + 0.2 * max(4, len(rows))] if rows else [1.0, 1.0, 1.0]
    axes = figure.subplots(len(shares), 1, squeeze=False, height_ratios=shares)[:, 0]
    _draw_motion(list(axes[:3]), model, design)
    if rows:
        _draw_deviations(axes[3], rows)
    figure.suptitle(f"{design.plan.name}\n{design.measure}: {design.value:.3g}", fontsize=11)
    return figure


def _draw_motion(axes: list[Axes], model: Model, design: Design) -> None:
    plan = design.plan
    t = np.linspace(0.0, plan.duration, 1001)
    wheels = {wheel.name for wheel in model.wheels}
    moved = [name for name in plan.motions if name not in wheels][:MOST_LINES]
    for k, name in enumerate(moved):
        for axis, values in zip(axes, plan.motion_of(name, model).at(t), strict=True):
            axis.plot(t, values, color=COLOURS[k % len(COLOURS)], lw=1.2, label=name)
    for axis, title in zip(axes, ORDERS, strict=True):
        axis.set_ylabel(title)
        axis.set_xlim(0.0, plan.duration)
        axis.grid(alpha=0.3)
        axis.tick_params(labelbottom=axis is axes[-1])
    axes[-1].set_xlabel("time [s]")
    if moved:
        axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


def _draw_deviations(axis: Axes, rows: list[tuple[str, float, float]]) -> None:
    """Deviations in % of the natural size, on a logarithmic axis, as two dots and a line."""
    y = np.arange(len(rows))[::-1]
    old, new = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    axis.hlines(y, new, np.where(np.isfinite(old), old, new), color="#bbbbbb", lw=1.5)
    axis.plot(old, y, "o", color=COLOURS[6], ms=4, label="default motion")
    axis.plot(new, y, "o", color=COLOURS[0], ms=4, label="designed")
    axis.set_yticks(y, [row[0] for row in rows], fontsize=8)
    axis.set_ylim(-0.7, len(rows) - 0.3)
    axis.set_xscale("log")
    axis.set_xlabel("expected standard deviation [% of natural size]")
    axis.grid(axis="x", alpha=0.3)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


def _rows(design: Design) -> list[tuple[str, float, float]]:
    """Name and deviations before and after [%], the worst ones where there are many."""
    if design.after is None:
        return []
    sizes = {sight.name: sight.size for sight in design.after.parameters}
    rows = [
        (name, 100.0 * old / sizes[name], 100.0 * new / sizes[name])
        for name, old, new in design.compared()
        if np.isfinite(new)
    ]
    if len(rows) > MOST_PARAMETERS:
        worst = {row[0] for row in sorted(rows, key=lambda row: -row[2])[:MOST_PARAMETERS]}
        rows = [row for row in rows if row[0] in worst]
    return rows
