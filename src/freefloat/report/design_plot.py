"""A picture of a design: what moves and pushes, and the deviations before and after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.plots import (
    COLOURS,
    MOST_LINES,
    new_figure,
    require_picture_name,
    save_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from freefloat.design.excitation import Design
    from freefloat.excitation.plan import Plan
    from freefloat.model.model import Model

ORDERS = (("position", ""), ("rate", "/s"), ("acceleration", "/s$^2$"))
MOST_PARAMETERS = 40  # format: in one picture; beyond, their names overlap


def save_design_plot(model: Model, design: Design, path: str | Path) -> None:
    """Write a picture of a design; the suffix chooses the format (.png, .svg or .pdf)."""
    require_picture_name(path)
    save_figure(plot_design(model, design), path)


def plot_design(model: Model, design: Design) -> Figure:
    """A figure: joints, wheels and thrusters over time above, standard deviations below."""
    rows, plan = _rows(design), design.plan
    wheels = [wheel.name for wheel in model.wheels if wheel.name in plan.motions]
    draws: list[Callable[[Axes], None]] = [
        partial(_draw_joints, model=model, plan=plan, order=k) for k in range(3)
    ]
    shares = [1.6, 1.6, 1.6]
    if wheels:
        draws.append(lambda axis: _draw_wheels(axis, wheels, plan))
        shares.append(1.4)
    if plan.thrusts:
        draws.append(lambda axis: _draw_thrusts(axis, plan))
        shares.append(0.5 + 0.15 * len(plan.thrusts))
    n_times = len(draws)
    if rows:
        draws.append(lambda axis: _draw_deviations(axis, rows))
        shares.append(0.9 + 0.2 * max(4, len(rows)))
    figure = new_figure(height=1.3 + 1.1 * sum(shares))
    axes = figure.subplots(len(shares), 1, squeeze=False, height_ratios=shares)[:, 0]
    for draw, axis in zip(draws, axes, strict=True):
        draw(axis)
    for axis in axes[:n_times]:
        axis.set_xlim(0.0, plan.duration)
        axis.grid(alpha=0.3)
        axis.tick_params(labelbottom=axis is axes[n_times - 1])
    axes[n_times - 1].set_xlabel("time [s]")
    figure.suptitle(f"{plan.name}\n{design.measure}: {design.value:.3g}", fontsize=11)
    return figure


def _draw_joints(axis: Axes, *, model: Model, plan: Plan, order: int) -> None:
    """Position, rate or acceleration of every joint that is moved."""
    t = np.linspace(0.0, plan.duration, 1001)
    wheels = {wheel.name for wheel in model.wheels}
    moved = [name for name in plan.motions if name not in wheels][:MOST_LINES]
    for k, name in enumerate(moved):
        values = plan.motion_of(name, model).at(t)[order]
        axis.plot(t, values, color=COLOURS[k % len(COLOURS)], lw=1.2, label=name)
    types = {joint.name: joint.type for joint in model.joints}
    slides = [types.get(name.removesuffix(".motor")) == "prismatic" for name in moved]
    unit = "m" if all(slides) and slides else "rad or m" if any(slides) else "rad"
    title, per = ORDERS[order]
    axis.set_ylabel(f"{title}\n[{unit}{per}]")
    if moved and order == 0:
        _name_lines(axis)


def _draw_wheels(axis: Axes, wheels: list[str], plan: Plan) -> None:
    t = np.linspace(0.0, plan.duration, 1001)
    for k, name in enumerate(wheels[:MOST_LINES]):
        colour = COLOURS[k % len(COLOURS)]
        axis.plot(t, plan.motions[name].at(t)[1], color=colour, lw=1.2, label=name)
    axis.set_ylabel("wheel speed\n[rad/s]")
    _name_lines(axis)


def _draw_thrusts(axis: Axes, plan: Plan) -> None:
    """A bar where a thruster is on."""
    edges = np.union1d(np.linspace(0.0, plan.duration, 1001), plan.edges())
    begins, ends = edges[:-1], edges[1:]
    for k, command in enumerate(plan.thrusts.values()):
        is_on = command.over(begins, ends) != 0.0
        bars = list(zip(begins[is_on], (ends - begins)[is_on], strict=True))
        axis.broken_barh(bars, (k - 0.4, 0.8), color=COLOURS[0])
    axis.set_yticks(range(len(plan.thrusts)), list(plan.thrusts), fontsize=7)
    axis.invert_yaxis()
    axis.set_ylabel("thrust")


def _name_lines(axis: Axes) -> None:
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


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
    _name_lines(axis)


def _rows(design: Design) -> list[tuple[str, float, float]]:
    """Name and deviations before and after [%], the worst ones where there are many."""
    if design.after is None:
        return []
    sizes = {sight.name: sight.size for sight in design.after.parameters}
    rows = [
        (name, 100.0 * old / sizes[name], 100.0 * new / sizes[name])
        for name, old, new in design.comparison()
        if np.isfinite(new)
    ]
    if len(rows) > MOST_PARAMETERS:
        worst = {row[0] for row in sorted(rows, key=lambda row: -row[2])[:MOST_PARAMETERS]}
        rows = [row for row in rows if row[0] in worst]
    return rows
