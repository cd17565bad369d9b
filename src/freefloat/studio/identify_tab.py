"""The tab Identify: check, run, values with their bands, how far to trust them, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from freefloat.identification.method_names import Method
from freefloat.parameters.parameters import Parameters
from freefloat.report.pages import fit_content
from freefloat.studio import markup, messages
from freefloat.studio.page import Page, Tab
from freefloat.studio.panel_charts import Chart, PanelCurve
from freefloat.studio.plan_tab import visibility_parts

if TYPE_CHECKING:
    from freefloat.identification.fit import Fit
    from freefloat.progress import SearchStep
    from freefloat.studio.studio_state import StudioState

ALL, NONE = "all flights", "…"
FIT_HEAD = ("parameter", "value", "± std", "± total", "unit", "was", "", "status")
CAUSE_HEAD = ("cause", "amplitude", "chi-square", "moves", "by total std", "explains all")
DOUBT_HEAD = ("taken as exact", "doubt", "", "of the variance", "of")


class IdentifyTab(Tab):
    """What was learned."""

    title = "Identify"

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        gui = page.gui
        self.flights = gui.add_dropdown("From", [ALL], initial_value=ALL)
        self.method = gui.add_dropdown("Method", get_args(Method), initial_value="auto")
        self.assess = gui.add_checkbox("Grade the fit", initial_value=True)
        page.button("Check", lambda: self.ask(messages.Check("flight")))
        self.run = page.button("Run", self._run, disabled=True)
        self.seen = gui.add_html("")
        self.cost = Chart(gui, page.server, x="step", height=150)
        self.picker = gui.add_dropdown("Parameter", [NONE], initial_value=NONE, visible=False)
        page.listen(self.picker, lambda _: self._draw())
        self.bands = Chart(gui, page.server, x="step", height=150)
        self.steps: tuple[SearchStep, ...] = ()
        self.names: list[str] = []
        self.result = gui.add_html("")
        self.cause = gui.add_dropdown("Cause", [NONE], initial_value=NONE, visible=False)
        self.free = page.button("Free it and run again", self._free, visible=False)
        self.compare = gui.add_checkbox("Before and after, side by side", initial_value=False)
        page.listen(self.compare, lambda value: self.ask(messages.CompareModels(value)))
        page.button("Go on with this model", lambda: self.ask(messages.UseFittedModel()))
        with gui.add_folder("Save", expand_by_default=False):
            page.save_row("fit", "fit.json")
            page.save_row("identified model", "identified.toml")
            page.save_row("fit", "fit.html", "Save the report")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.flights is not before.flights:
            self.flights.options = [ALL, *(flight.name for flight in state.flights)]
            self.names = [flight.name for flight in state.flights]
        self.run.disabled = not (state.is_checked and state.flights) or state.job is not None
        if state.seen is not before.seen or state.is_checked != before.is_checked:
            self.seen.content = _check_words(state)
        if state.convergence is not before.convergence:
            self._show_steps(state)
        if state.identified is not before.identified:
            self._show_fit(state)
        if state.is_compared != before.is_compared:
            self.compare.value = state.is_compared

    def _show_steps(self, state: StudioState) -> None:
        self.steps = state.convergence
        names = [] if not self.steps else [*self.steps[-1].names]
        if [*self.picker.options] != (names or [NONE]):
            self.picker.options = names or [NONE]
        self.picker.visible = bool(names)
        self._draw()

    def _draw(self) -> None:
        """The cost, and one parameter with its band, step by step."""
        if len(self.steps) < 2:
            self.cost.clear()
            self.bands.clear()
            return
        counts = np.arange(1.0, len(self.steps) + 1.0)
        costs = [np.log10(max(step.cost, 1e-300)) for step in self.steps]
        self.cost.draw(counts, [PanelCurve("cost, decimal logarithm", costs)])
        names = self.steps[-1].names
        if self.picker.value not in names:
            return
        k = names.index(self.picker.value)
        same = [step if step.names == names else None for step in self.steps]
        values = np.array([np.nan if s is None else s.values[k] for s in same])
        stds = np.array([np.nan if s is None else s.deviations[k] for s in same])
        band = (values - 1.96 * stds, values + 1.96 * stds)
        unit = self.steps[-1].units[k]
        self.bands.draw(counts, [PanelCurve(names[k], values, band)], unit=unit)

    def _show_fit(self, state: StudioState) -> None:
        found = state.identified
        self.result.content = "" if found is None else markup.page(*fit_parts(found.fit))
        causes: list[str] = []
        if found is not None and found.fit.assessment is not None and state.robot is not None:
            known = Parameters(state.robot.model)
            named = (name for cause in found.fit.assessment.causes for name in cause.names)
            causes = [name for name in dict.fromkeys(named) if known.matching(name)]
        self.cause.options = causes or [NONE]
        self.cause.visible = self.free.visible = bool(causes)

    def _run(self) -> None:
        chosen = self.names if self.flights.value == ALL else [self.flights.value]
        self.ask(messages.Identify(tuple(chosen), self.method.value, bool(self.assess.value)))

    def _free(self) -> None:
        if self.cause.value != NONE:
            self.ask(messages.FreeCause(self.cause.value))


def _check_words(state: StudioState) -> str:
    if state.seen is None or not state.is_checked:
        words = "Check says what these flights can show of the parameters chosen in the tab Plan."
        return markup.page(markup.line(words, "dim"))
    found = state.seen.visibility
    counts = [f"{len(found.names(s))} {s}" for s in
              ("seen", "weak", "only in combination", "invisible") if found.names(s)]  # fmt: skip
    text = f"Checked: {', '.join(counts)}."
    is_all = len(found.names("seen")) == len(found.parameters)
    parts = [] if is_all else visibility_parts(found)
    return markup.page(markup.line(text, "good" if is_all else "warning"), *parts)


def fit_parts(fit: Fit) -> list[str]:
    """A fit as pieces of HTML: what the report says of it."""
    said = fit_content(fit)
    grade = str(said["grade"] or fit.grade)
    kind = markup.STATUS_KIND.get(grade, "warning")
    parts = [markup.notice(kind, f"The fit: {grade}", fit.status)]
    for _, text, remedy in said["reasons"]:  # type: ignore[attr-defined]
        parts.append(markup.bullets([f"{text}; {remedy}" if remedy else text], "warning"))
    rows = [
        (row["name"], row["value"], row["std"], row["total"], row["unit"], row["prior"],
         str(row["whisker"]), row["status"])
        for row in said["parameters"]  # type: ignore[attr-defined]
    ]  # fmt: skip
    parts.append(markup.table(FIT_HEAD, rows, numbers=(1, 2, 3, 5), raw=(6,)))
    parts.append(markup.line(str(said["deviations"]), "dim"))
    if said["causes"]:
        parts += [markup.heading("Diagnosis: what the data contradict"),
                  markup.table(CAUSE_HEAD, said["causes"], numbers=(1, 2, 4))]  # type: ignore[arg-type]  # fmt: skip
    if said["doubts"]:
        parts += [markup.heading("What the deviations rest on"),
                  markup.table(DOUBT_HEAD, said["doubts"], numbers=(1, 3))]  # type: ignore[arg-type]  # fmt: skip
    if said["combinations"]:
        head = ("known in combination", "value", "± std", "95 % interval", "unit")
        parts.append(markup.table(head, said["combinations"], numbers=(1, 2)))  # type: ignore[arg-type]
    if fit.scale:
        parts.append(markup.line(fit.scale, "dim"))
    parts.append(markup.line(f"{fit.method}: {fit.reason}" if fit.reason else fit.method, "dim"))
    if fit.notes:
        parts += [markup.heading("Notes"), markup.bullets(fit.notes)]
    return parts
