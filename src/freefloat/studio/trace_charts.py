"""Measured against predicted, channel by channel, and what is left between the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from freefloat.studio.page import Page
from freefloat.studio.panel_charts import Chart, PanelCurve

if TYPE_CHECKING:
    from freefloat.validation.scores import Trace

NONE = "…"


class TraceCharts:
    """A channel to be chosen, its curves, and their difference below; both zoom together."""

    def __init__(self, page: Page, together: str) -> None:
        gui = page.gui
        self.channel = gui.add_dropdown("Channel", [NONE], initial_value=NONE, visible=False)
        page.listen(self.channel, lambda _: self._draw())
        self.curves = Chart(gui, page.server, together=together)
        self.residuals = Chart(gui, page.server, together=together, height=150)
        self.traces: dict[str, Trace] = {}

    def show(self, traces: Sequence[Trace]) -> None:
        """Show these, a rate of the base first; nothing where there are none."""
        self.traces = {trace.channel: trace for trace in traces if len(trace.predicted)}
        names = [*self.traces]
        self.channel.options = names or [NONE]
        self.channel.visible = bool(names)
        if names:
            self.channel.value = next((n for n in names if ".rate" in n), names[0])
        self._draw()

    def _draw(self) -> None:
        trace = self.traces.get(self.channel.value)
        if trace is None:
            self.curves.clear()
            self.residuals.clear()
            return
        curves = [PanelCurve("measured", trace.measured), PanelCurve("predicted", trace.predicted)]
        if len(trace.before):
            curves.append(PanelCurve("predicted before", trace.before, is_dashed=True))
        self.curves.draw(trace.time, curves, unit=trace.unit, title=trace.channel)
        left = np.asarray(trace.measured) - np.asarray(trace.predicted)
        self.residuals.draw(trace.time, [PanelCurve("measured - predicted", left)], unit=trace.unit)
