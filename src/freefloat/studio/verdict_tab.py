"""The tab Verdict: does the model predict a flight that it was not made from?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.report.pages import verdict_content
from freefloat.studio import markup, messages
from freefloat.studio.page import Page, Tab
from freefloat.studio.panel_charts import Chart, PanelCurve

if TYPE_CHECKING:
    from freefloat.studio.studio_state import StudioState
    from freefloat.validation.scores import Trace
    from freefloat.validation.verdict import Verdict

NONE = "…"
CRITERION_HEAD = ("criterion", "", "value", "limit", "why")
SCORE_HEAD = (
    "channel", "unit", "fit [%]", "before", "rmse", "/ expected", "largest", "mean", "noise",
)  # fmt: skip
TIP_HEAD = ("end-effector", "against", "mean [mm]", "largest [mm]", "noise [mm]")


class VerdictTab(Tab):
    """Whether to believe it."""

    title = "Verdict"

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        gui = page.gui
        self.flight = gui.add_dropdown("Flight", [NONE], initial_value=NONE)
        page.button("Validate", lambda: self.ask(messages.Validate(self.flight.value)))
        self.said = gui.add_html("")
        self.channel = gui.add_dropdown("Channel", [NONE], initial_value=NONE, visible=False)
        page.listen(self.channel, lambda _: self._draw())
        self.traces = Chart(gui, page.server, together="verdict")
        self.residuals = Chart(gui, page.server, together="verdict", height=150)
        self.verdict: Verdict | None = None
        page.button("Show the prediction", lambda: self.ask(messages.ShowMotion("verdict")))
        with gui.add_folder("Save", expand_by_default=False):
            page.save_row("verdict", "verdict.json")
            page.save_row("verdict", "verdict.html", "Save the report")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.flights is not before.flights:
            self.flight.options = [flight.name for flight in state.flights] or [NONE]
            if state.flights:
                self.flight.value = state.flights[-1].name
        if state.judged is before.judged:
            return
        self.verdict = None if state.judged is None else state.judged.verdict
        self.said.content = _words(self.verdict)
        drawn = [] if self.verdict is None else [t for t in self.verdict.traces if len(t.predicted)]
        names = [trace.channel for trace in drawn]
        self.channel.options = names or [NONE]
        self.channel.visible = bool(names)
        if names:
            self.channel.value = next((n for n in names if ".rate" in n), names[0])
        self._draw()

    def _draw(self) -> None:
        trace = self._trace()
        if trace is None:
            self.traces.clear()
            self.residuals.clear()
            return
        curves = [PanelCurve("measured", trace.measured), PanelCurve("predicted", trace.predicted)]
        if len(trace.before):
            curves.append(PanelCurve("predicted before", trace.before, is_dashed=True))
        self.traces.draw(trace.time, curves, unit=trace.unit, title=trace.channel)
        left = np.asarray(trace.measured) - np.asarray(trace.predicted)
        self.residuals.draw(trace.time, [PanelCurve("measured - predicted", left)], unit=trace.unit)

    def _trace(self) -> Trace | None:
        traces = () if self.verdict is None else self.verdict.traces
        found = [t for t in traces if t.channel == self.channel.value and len(t.predicted)]
        return found[0] if found else None


def _words(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    said = verdict_content(verdict)
    kind = "good" if verdict.is_positive else "error"
    parts = [markup.notice(kind, str(said["headline"]), verdict.status)]
    rows = [
        (c["name"], c["words"], c["value"], c["limit"], c["reason"])
        for c in said["criteria"]  # type: ignore[attr-defined]
    ]
    parts.append(markup.table(CRITERION_HEAD, rows, numbers=(2, 3)))
    if said["tips"]:
        parts += [markup.heading("End-effectors: predicted against measured"),
                  markup.table(TIP_HEAD, said["tips"], numbers=(2, 3, 4))]  # type: ignore[arg-type]  # fmt: skip
    if said["scores"]:
        parts += [markup.heading("Channels"),
                  markup.table(SCORE_HEAD, said["scores"], numbers=range(2, 9))]  # type: ignore[arg-type]  # fmt: skip
    parts.append(markup.line(verdict.execution, "dim"))
    if verdict.notes:
        parts += [markup.heading("Notes"), markup.bullets(verdict.notes)]
    return markup.page(*parts)
