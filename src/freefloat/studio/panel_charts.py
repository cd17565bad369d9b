"""Curves in the panel: a chart whose curves are replaced as a whole, thinned to what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from freefloat.arrays import Array
from freefloat.digits import printed_unit

# format: colours that stand out on white and on black
COLOURS = ("#3b82d6", "#d9822b", "#3a9d5d", "#c2508f", "#8a6fd1", "#9a8b2f", "#2fa3a3", "#c0564a")
MOST_POINTS = 1600  # format: of a curve, some for every pixel of a panel
HEIGHT = 190  # format: [px]
BAND = "rgba(59,130,214,0.18)"


@dataclass(frozen=True, eq=False)
class PanelCurve:
    """A curve with its name; between `band` (lower, upper) it is shaded."""

    name: str
    values: ArrayLike
    band: tuple[ArrayLike, ArrayLike] | None = None
    is_dashed: bool = False


class Chart:
    """A chart of the panel; `together` charts zoom and point at the same place."""

    def __init__(
        self, gui: Any, server: Any, *, x: str = "time [s]", together: str = "",
        height: int = HEIGHT,
    ) -> None:  # fmt: skip
        self.server, self.x = server, x
        nothing = np.array([0.0, 1.0])
        self.handle = gui.add_uplot(
            (nothing, np.full(2, np.nan)), ({"label": x}, {"label": ""}), height=height,
            axes=({"label": x, "labelSize": 18, "size": 34}, {"size": 62}), visible=False,
            legend={"show": True, "live": False}, padding=(8, 12, 0, 0),
            scales={"x": {"time": False}},
            cursor={"sync": {"key": together, "scales": ["x", None]}} if together else {},
        )  # fmt: skip

    def clear(self) -> None:
        """Show nothing."""
        self.handle.visible = False

    def draw(
        self, x: ArrayLike, curves: Sequence[PanelCurve], *, unit: str = "", title: str = "",
        x_name: str = "",
    ) -> None:  # fmt: skip
        """Show curves over x in place of those before."""
        x_name = x_name or self.x
        series: list[dict[str, object]] = [{"label": x_name}]
        columns: list[Array] = []
        bands = []
        for k, curve in enumerate(curves):
            colour = COLOURS[k % len(COLOURS)]
            style: dict[str, object] = {"label": curve.name, "stroke": colour, "width": 1.5}
            style |= {"points": {"show": False}, "spanGaps": False}
            if curve.is_dashed:
                style["dash"] = [6, 4]
            series.append(style)
            columns.append(np.asarray(curve.values, dtype=float))
            if curve.band is not None:
                faint = {"stroke": "transparent", "width": 0, "points": {"show": False}}
                series += [{"label": "95 % upper", **faint}, {"label": "95 % lower", **faint}]
                lower, upper = curve.band
                columns += [np.asarray(upper, dtype=float), np.asarray(lower, dtype=float)]
                bands.append({"series": [len(series) - 2, len(series) - 1], "fill": BAND})
        times, columns = thin_curves(np.asarray(x, dtype=float), columns)
        side = {"label": printed_unit(unit), "labelSize": 18, "size": 62} if unit else {"size": 62}
        with self.server.atomic():
            self.handle.visible = False  # taken down and put up with its new curves at once
            self.handle.axes = ({"label": x_name, "labelSize": 18, "size": 34}, side)
            self.handle.title = title or None
            self.handle.bands = tuple(bands) or None
            self.handle.series = tuple(series)
            self.handle.data = (times, *columns)
            self.handle.visible = True


def thin_curves(x: Array, columns: Sequence[Array]) -> tuple[Array, list[Array]]:
    """At most so many points, with the least and the largest of what is left out between them.

    Spikes stay; the least and largest of a stretch are drawn at its first and middle instant.
    """
    n = len(x)
    if n <= MOST_POINTS:
        return (x, list(columns)) if n > 1 else (_two(x), [_two(c) for c in columns])
    every = -(-2 * n // MOST_POINTS)
    whole = n // every * every
    at = x[:whole].reshape(-1, every)
    times = np.column_stack([at[:, 0], at[:, every // 2]]).ravel()
    found = []
    for column in columns:
        stretches = column[:whole].reshape(-1, every)
        is_gap = np.isnan(stretches).all(axis=1)
        safe = np.where(np.isnan(stretches), np.inf, stretches)
        least = np.where(is_gap, np.nan, safe.min(axis=1))
        safe = np.where(np.isnan(stretches), -np.inf, stretches)
        most = np.where(is_gap, np.nan, safe.max(axis=1))
        found.append(np.column_stack([least, most]).ravel())
    return times, found


def _two(values: Array) -> Array:
    """A chart needs two points."""
    return np.resize(values, 2) if len(values) else np.array([0.0, np.nan])
