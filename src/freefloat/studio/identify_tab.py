"""The tab Identify: check, run, values with their bands, how far to trust them, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from freefloat.identification.method_names import Method
from freefloat.parameters.parameters import Parameters
from freefloat.progress import DataStep, SearchStep
from freefloat.report.pages import fit_content
from freefloat.studio import markup, messages
from freefloat.studio.flight_tasks import IdentifyModel
from freefloat.studio.page import Page, Tab
from freefloat.studio.panel_charts import Chart, PanelCurve
from freefloat.studio.plan_tab import visibility_parts, visibility_words
from freefloat.studio.trace_charts import TraceCharts

if TYPE_CHECKING:
    from freefloat.identification.fit import Fit
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
        self.flights = gui.add_dropdown(
            "Flights", [ALL], initial_value=ALL,
            hint="a flight that takes no part can be used for the verdict",
        )  # fmt: skip
        self.method = gui.add_dropdown("Method", get_args(Method), initial_value="auto")
        self.assess = gui.add_checkbox("Grade the fit", initial_value=True)
        page.button("Check", lambda: self.ask(messages.Check("flight")))
        self.seen = gui.add_html("")
        self.run = page.button("Run", self._run, disabled=True)
        self.verdict = gui.add_html("")
        self.cause = gui.add_dropdown("Cause", [NONE], initial_value=NONE, visible=False)
        self.free = page.button("Free it and run again", self._free, visible=False)
        self.result = gui.add_html("")
        self.compare = gui.add_checkbox(
            "Before and after", initial_value=False, visible=False,
            hint="the robot before and after, side by side, with inertia ellipsoids",
        )  # fmt: skip
        page.listen(self.compare, lambda value: self.ask(messages.CompareModels(value)))
        self.go_on = page.button(
            "Go on with this model", lambda: self.ask(messages.UseFittedModel()), visible=False
        )
        self.traces = TraceCharts(page, "identify")
        self.picker = gui.add_dropdown("Convergence of", [NONE], initial_value=NONE, visible=False)
        page.listen(self.picker, lambda _: self._draw())
        self.bands = Chart(gui, page.server, x="step", height=150)
        self.cost = Chart(gui, page.server, x="step", height=150)
        self.steps: tuple[SearchStep | DataStep, ...] = ()
        self.names: list[str] = []
        self.is_searching = False
        with gui.add_folder("Save", expand_by_default=False, visible=False) as self.saving:
            page.save_row("fit", "fit.json")
            page.save_row("identified model", "identified.toml")
            page.save_row("fit", "fit.html", "Save the report")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.flights is not before.flights:
            self.names = [flight.name for flight in state.flights]
            self.flights.options = [ALL, *self.names]
            # where there are several, one is left for the verdict
            self.flights.value = self.names[0] if len(self.names) > 1 else ALL
        self.run.disabled = not (state.is_checked and state.flights) or state.job is not None
        is_fitted = (state.identified is None) != (before.identified is None)
        if state.seen is not before.seen or state.is_checked != before.is_checked or is_fitted:
            self.seen.content = _check_words(state)
        if state.convergence is not before.convergence:
            self._show_steps(state)
        is_searching = state.job is not None and state.job.title == IdentifyModel.title
        if state.identified is not before.identified or is_searching != self.is_searching:
            self.is_searching = is_searching
            self._show_fit(state)
        if state.is_compared != before.is_compared:
            self.compare.value = state.is_compared

    def _show_steps(self, state: StudioState) -> None:
        self.steps = state.convergence
        names = [] if not self.steps else [*self.steps[-1].names]
        if [*self.picker.options] != (names or [NONE]):
            self.picker.options = names or [NONE]
            masses = [name for name in names if name.endswith(".mass")]
            self.picker.value = ([*masses[-1:], *names] or [NONE])[0]
        self.picker.visible = bool(names)
        self._draw()

    def _draw(self) -> None:
        """How it converges, or what ever more data say: the misfit, a parameter and its band."""
        steps = self.steps
        if len(steps) < 2:
            self.cost.clear()
            self.bands.clear()
            return
        if isinstance(steps[-1], DataStep):
            same = [step for step in steps if isinstance(step, DataStep)]
            x, along = np.array([100.0 * step.share for step in same]), "used of the flights [%]"
            level = PanelCurve("mean square residual (noise: 1)", [step.misfit for step in same])
        else:
            x, along = np.arange(1.0, len(steps) + 1.0), "step"
            costs = [s.cost if isinstance(s, SearchStep) else np.nan for s in steps]
            level = PanelCurve("cost, decimal logarithm", np.log10(np.maximum(costs, 1e-300)))
        self.cost.draw(x, [level], x_name=along)
        names = steps[-1].names
        if self.picker.value not in names:
            return
        k = names.index(self.picker.value)
        alike = [step if step.names == names else None for step in steps]
        values = np.array([np.nan if s is None else s.values[k] for s in alike])
        half = 1.96 * np.array([np.nan if s is None else s.deviations[k] for s in alike])
        curve = PanelCurve(names[k], values, (values - half, values + half))
        self.bands.draw(x, [curve], unit=steps[-1].units[k], x_name=along)

    def _show_fit(self, state: StudioState) -> None:
        found = None if self.is_searching else state.identified
        for part in (self.compare, self.go_on, self.saving):
            part.visible = found is not None
        above, below = ([], []) if found is None else fit_parts(found.fit)
        self.verdict.content = markup.page(*above) if above else ""
        self.result.content = markup.page(*below) if below else ""
        self.traces.show(() if found is None else found.traces)
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
    is_all = len(found.names("seen")) == len(found.parameters)
    is_known = is_all or state.identified is not None  # then the fit says it better
    parts = [] if is_known else visibility_parts(found)
    return markup.page(*visibility_words(state.seen), markup.tall(*parts))


def fit_parts(fit: Fit) -> tuple[list[str], list[str]]:
    """A fit as pieces of HTML, what the report says of it: grade and causes; all the rest."""
    said = fit_content(fit)
    grade = str(said["grade"] or fit.grade)
    kind = markup.STATUS_KIND.get(grade, "warning")
    above = [markup.notice(kind, f"The fit: {grade}", fit.status)]
    for _, text, remedy in said["reasons"]:  # type: ignore[attr-defined]
        above.append(markup.bullets([f"{text}; {remedy}" if remedy else text], "warning"))
    if said["causes"]:
        above += [markup.heading("Diagnosis: what the data contradict"),
                  markup.table(CAUSE_HEAD, said["causes"], numbers=(1, 2, 4))]  # type: ignore[arg-type]  # fmt: skip
    rows = [
        (row["name"], row["value"], row["std"], row["total"], row["unit"], row["prior"],
         str(row["whisker"]), row["status"])
        for row in said["parameters"]  # type: ignore[attr-defined]
    ]  # fmt: skip
    parts = [markup.table(FIT_HEAD, rows, numbers=(1, 2, 3, 5), raw=(6,))]
    parts.append(markup.line(str(said["deviations"]), "dim"))
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
    return above, parts
