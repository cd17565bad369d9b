"""The tab Verdict: does the model predict a flight that it was not made from?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from freefloat.report.pages import verdict_content
from freefloat.studio import markup, messages
from freefloat.studio.page import Page, Tab
from freefloat.studio.trace_charts import TraceCharts

if TYPE_CHECKING:
    from freefloat.studio.studio_state import StudioState
    from freefloat.validation.verdict import Verdict

NONE = "…"
NOTHING = "A verdict needs a flight, best one that took no part in the fit: see the tab Flight."
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
        self.validate = page.button(
            "Validate", lambda: self.ask(messages.Validate(self.flight.value)), disabled=True
        )
        self.said = gui.add_html(markup.page(markup.line(NOTHING, "dim")))
        self.traces = TraceCharts(page, "verdict")
        self.scene = page.button(
            "Show the prediction", lambda: self.ask(messages.ShowMotion("verdict")), visible=False
        )
        with gui.add_folder("Save", expand_by_default=False, visible=False) as self.saving:
            page.save_row("verdict", "verdict.json")
            page.save_row("verdict", "verdict.html", "Save the report")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.flights is not before.flights:
            self.flight.options = [flight.name for flight in state.flights] or [NONE]
            if state.flights:
                self.flight.value = state.flights[-1].name
            self.validate.disabled = not state.flights
            if not state.flights:
                self.said.content = markup.page(markup.line(NOTHING, "dim"))
        if state.judged is before.judged:
            return
        verdict = None if state.judged is None else state.judged.verdict
        self.said.content = _words(verdict)
        self.scene.visible = self.saving.visible = verdict is not None
        self.traces.show(() if verdict is None else verdict.traces)


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
