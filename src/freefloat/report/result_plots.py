"""Pictures of results: what is observable, what was learned and how, what was predicted.

They show what the pages show, in the style of `plots`, for slides and notebooks. Each function
returns a figure of matplotlib, which notebooks display and `save_figure` writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.digits import printed_unit, with_uncertainty
from freefloat.errors import FreefloatError
from freefloat.report.plots import COLOURS, new_figure, require_matplotlib
from freefloat.report.svg import ERROR_EDGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from freefloat.identification.fit import Estimate, Fit
    from freefloat.observability.visibility import Visibility
    from freefloat.online.live_estimate import LiveEstimate
    from freefloat.progress import SearchStep
    from freefloat.validation.scores import Trace
    from freefloat.validation.verdict import Verdict

MOST_ROWS = 40  # format: in one picture; beyond, their names overlap
MOST_CHANNELS = 6  # format: of a prediction; the page has all
TO_95 = 1.959963984540054  # theory: 97.5 % quantile of the normal distribution
NEAR = 3.0  # format: standard deviations that are drawn linearly; beyond, the axis is logarithmic
SEEN_COLOURS = {"seen": COLOURS[2], "weak": COLOURS[5]}
UNSEEN_COLOUR = COLOURS[1]


def plot_visibility(visibility: Visibility) -> Figure:
    """Bars of the expected standard deviation of every parameter, in % of its natural size.

    Parameters that are not seen alone have a bar across the whole axis, with their status on it.
    """
    shown = visibility.parameters[:MOST_ROWS]
    _require_some(shown, "the identifiability has no parameter")
    figure = new_figure(height=1.1 + 0.24 * len(shown))
    axis = figure.subplots()
    spread = [100.0 * one.std / one.size for one in shown]
    known = [s for s in spread if np.isfinite(s) and s > 0.0] or [1.0]
    low, high = 0.3 * min(known), 3.0 * max(*known, 100.0)
    for row, (one, share) in enumerate(zip(shown, spread, strict=True)):
        is_known = np.isfinite(share)
        colour = SEEN_COLOURS.get(one.status, UNSEEN_COLOUR)
        end = max(share, 1.5 * low) if is_known else high
        axis.barh(row, end - low, left=low, color=colour, alpha=0.85 if is_known else 0.25)
        said = "" if is_known else one.status
        axis.annotate(said, (low, row), (4, 0), textcoords="offset points", fontsize=7, va="center")
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("expected standard deviation [% of natural size]")
    _name_rows(axis, [one.name for one in shown])
    return figure


def plot_estimates(fit: Fit) -> Figure:
    """Every estimate with its 95 % interval, statistical and total, and the value before.

    Positions are in standard deviations from the estimate, so that parameters of all units share
    an axis; it is logarithmic beyond three of them, where values before often lie.
    """
    shown = [e for e in fit.estimates if e.status != "fixed" and np.isfinite(e.std) and e.std > 0.0]
    _require_some(shown, "the fit has no estimate with a standard deviation")
    shown = shown[:MOST_ROWS]
    figure = new_figure(height=1.4 + 0.26 * len(shown))
    axis = figure.subplots()
    for row, one in enumerate(shown):
        total = TO_95 * one.total_std / one.std
        if np.isfinite(total):
            axis.plot([-total, total], [row, row], color=COLOURS[4], lw=5.0, alpha=0.6)
        axis.plot([-TO_95, TO_95], [row, row], color=COLOURS[0], lw=2.0)
        axis.plot(0.0, row, "o", color=COLOURS[0], ms=4)
        axis.plot((one.prior - one.value) / one.std, row, "D", color=COLOURS[1], ms=4, mfc="none")
    axis.set_xscale("symlog", linthresh=NEAR)
    farthest = max(abs(one.prior - one.value) / one.std for one in shown)
    powers = 10.0 ** np.arange(1, 1 + max(1, np.ceil(np.log10(max(farthest, 30.0)))))
    marks = [-m for m in powers[::-1]] + [-NEAR, 0.0, NEAR] + [*powers]
    axis.set_xticks(marks, [f"{mark:g}".replace("-", "−") for mark in marks])
    axis.minorticks_off()
    axis.set_xlabel("distance from the estimate [standard deviations]")
    _name_rows(axis, [f"{one.name} = {_amount(one)}" for one in shown])
    for label, style in (
        ("95 %, noise alone", {"color": COLOURS[0], "lw": 2.0}),
        ("95 %, total", {"color": COLOURS[4], "lw": 5.0, "alpha": 0.6}),
        ("before", {"color": COLOURS[1], "marker": "D", "ls": "none", "ms": 4, "mfc": "none"}),
    ):
        axis.plot([], [], label=label, **style)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    return figure


def plot_correlation(fit: Fit) -> Figure:
    """The correlation of every pair of estimates: blue together, orange against each other."""
    std = np.sqrt(np.diag(fit.covariance))
    known = np.flatnonzero(np.isfinite(std) & (std > 0.0))[:MOST_ROWS]
    _require_some(known, "the fit has no covariance")
    names = [fit.estimates[k].name for k in known]
    r = fit.covariance[np.ix_(known, known)] / np.outer(std[known], std[known])
    side = 2.0 + 0.22 * len(known)
    figure = new_figure(width=side + 1.2, height=side)
    axis = figure.subplots()
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("pairs", [COLOURS[1], "white", COLOURS[0]])
    image = axis.imshow(r, cmap=colours, vmin=-1.0, vmax=1.0)
    axis.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    axis.set_yticks(range(len(names)), names, fontsize=7)
    figure.colorbar(image, ax=axis, shrink=0.8, label="correlation [1]")
    return figure


def plot_prediction(verdict: Verdict) -> Figure:
    """Measured and predicted, and what is left, of the channels that are predicted worst."""
    ratios = {score.channel: score.ratio for score in verdict.scores}
    predicted = [trace for trace in verdict.traces if len(trace.predicted)]
    _require_some(predicted, "the verdict has no predicted channel")
    shown = sorted(predicted, key=lambda trace: -ratios.get(trace.channel, 0.0))[:MOST_CHANNELS]
    figure = new_figure(width=10.0, height=0.6 + 1.5 * len(shown))
    axes = figure.subplots(len(shown), 2, sharex=True, squeeze=False, width_ratios=(1.6, 1.0))
    for (left, right), trace in zip(axes, shown, strict=True):
        _draw_prediction(left, right, trace)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    axes[0, 0].set_title("measured and predicted", fontsize=9)
    axes[0, 1].set_title("residual", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=3, fontsize=8, frameon=False)
    return figure


def plot_live(estimates: Sequence[LiveEstimate], names: Iterable[str] = ()) -> Figure:
    """Live estimates over time, each with its 95 % band; events are vertical lines.

    Dotted is what a parameter was taken for while the data did not show it yet.

    Args:
        estimates: some of those that `OnlineEstimator.update` returned, in order.
        names: parameters to draw; the first few by default.

    Returns:
        A figure with a panel a parameter.
    """
    told = [one for one in estimates if one.time is not None]
    _require_some(told, "no estimate has used a sample yet")
    last = told[-1]
    chosen = list(names) or list(last.names)[:MOST_CHANNELS]
    figure = new_figure(height=0.6 + 1.3 * len(chosen))
    axes = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    time = np.array([one.time for one in told])
    units = {one.name: one.unit for one in last.parameters.free_ones}
    for axis, name in zip(axes, chosen, strict=True):
        value, std = np.array([one[name] for one in told]).T
        reach = TO_95 * std
        axis.fill_between(time, value - reach, value + reach, color=COLOURS[4], alpha=0.35, lw=0)
        axis.plot(time, value, color=COLOURS[6], lw=0.8, ls=":")  # not observable yet
        axis.plot(time, np.where(np.isfinite(std), value, np.nan), color=COLOURS[0], lw=1.2)
        late = slice(len(reach) // 3, None)  # the first bands would hide all later ones
        if np.isfinite(reach[late]).any():
            low, high = np.nanmin((value - reach)[late]), np.nanmax((value + reach)[late])
            axis.set_ylim(low - 0.2 * (high - low), high + 0.2 * (high - low))
        axis.set_ylabel(f"{name}\n[{printed_unit(units[name])}]", fontsize=8)
        _quiet(axis)
    for event in last.health.events:
        for axis in axes:
            axis.axvline(event.time, color=COLOURS[1], lw=0.8, ls="--")
    axes[-1].set_xlabel("time [s]")
    return figure


def plot_convergence(steps: Sequence[SearchStep], names: Iterable[str] = ()) -> Figure:
    """How a search by output error converged: its cost, and parameters with their 95 % bands.

    The cost may rise once, where coloured noise is found and all residuals are weighted anew.

    Args:
        steps: Those of a `SearchHistory` that was the `progress` of `identify`.
        names: Parameters to draw; the first few by default.

    Returns:
        A figure with the cost and a panel a parameter, over the better points found.
    """
    _require_some(steps, "the search has no step")
    last = steps[-1]
    chosen = list(names) or list(last.names)[: MOST_CHANNELS - 1]
    figure = new_figure(height=0.6 + 1.4 * (1 + len(chosen)))
    axes = figure.subplots(1 + len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    place = np.arange(1, len(steps) + 1)
    costs = [step.cost for step in steps]
    axes[0].plot(place, costs, "o-", color=COLOURS[0], ms=3, lw=1.0)
    axes[0].set_yscale("log" if max(costs) > 10.0 * min(costs) > 0.0 else "linear")
    axes[0].set_ylabel("half the sum\nof squares [1]", fontsize=8)
    for axis, name in zip(axes[1:], chosen, strict=True):
        k = last.names.index(name)
        value = np.array([step.values[k] for step in steps])
        reach = TO_95 * np.array([step.deviations[k] for step in steps])
        style = {"color": COLOURS[0], "ecolor": COLOURS[4], "ms": 3, "lw": 1.0}
        axis.errorbar(place, value, reach, fmt="o-", **style)
        axis.set_ylabel(f"{name}\n[{printed_unit(last.units[k])}]", fontsize=8)
    for axis in axes:
        axis.grid(alpha=0.3, linewidth=0.5)
        axis.tick_params(labelsize=8)
    axes[-1].xaxis.get_major_locator().set_params(integer=True)
    axes[-1].set_xlabel("better points of the search [1]")
    return figure


def plot_errors(errors: Mapping[str, Array], *, unit: str = "stated standard deviations") -> Figure:
    """Histograms of many errors beside the normal distribution that they should have.

    Args:
        errors: By parameter, errors over their stated deviations (`normalised_errors` of a
            campaign).
        unit: What the errors are counted in, for the axis.

    Returns:
        A figure with a panel a parameter; errors beyond the axis are counted at its ends.
    """
    shown = {name: e[np.isfinite(e)] for name, e in list(errors.items())[:MOST_ROWS]}
    shown = {name: e for name, e in shown.items() if len(e)}
    _require_some(list(shown), "there is no error over a stated deviation")
    n_rows = -(-len(shown) // 3)
    figure = new_figure(height=0.5 + 1.8 * n_rows)
    axes = figure.subplots(n_rows, 3, sharex=True, squeeze=False).ravel()
    x = np.linspace(ERROR_EDGES[0], ERROR_EDGES[-1], 181)
    normal = np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi) * (ERROR_EDGES[1] - ERROR_EDGES[0])
    for axis, (name, error) in zip(axes, shown.items(), strict=False):
        held = np.clip(error, ERROR_EDGES[0], ERROR_EDGES[-1])
        axis.hist(held, ERROR_EDGES, color=COLOURS[4], alpha=0.7)
        axis.plot(x, len(error) * normal, color=COLOURS[0], lw=1.2)
        axis.set_title(f"{name}, {len(error)} runs", fontsize=8)
        _quiet(axis)
    for axis in axes[len(shown) :]:
        axis.set_visible(False)
    figure.supxlabel(f"error [{unit}]", fontsize=9)
    figure.supylabel("runs [1]", fontsize=9)
    return figure


def _draw_prediction(left: Axes, right: Axes, trace: Trace) -> None:
    time = trace.time
    left.plot(time, trace.measured, ".", color=COLOURS[6], ms=2, alpha=0.5, label="measured")
    if len(trace.before):
        left.plot(time, trace.before, color=COLOURS[1], lw=0.9, ls="--", label="before")
    left.plot(time, trace.predicted, color=COLOURS[0], lw=1.1, label="predicted")
    right.plot(time, trace.measured - trace.predicted, color=COLOURS[0], lw=0.7)
    left.set_ylabel(f"{trace.channel}\n[{printed_unit(trace.unit)}]", fontsize=8)
    _quiet(left)
    _quiet(right)


def _amount(estimate: Estimate) -> str:
    value, std = with_uncertainty(estimate.value, estimate.std)
    return f"{value} ± {std} {printed_unit(estimate.unit)}"


def _name_rows(axis: Axes, names: Sequence[str]) -> None:
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(axis="x", alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)


def _quiet(axis: Axes) -> None:
    axis.grid(alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)
    axis.margins(x=0.0)


def _require_some(found: Sequence[object] | np.ndarray, otherwise: str) -> None:
    require_matplotlib()
    if not len(found):
        raise FreefloatError(f"{otherwise}: there is nothing to draw", code="plot.empty")
