"""The tab Plan: what is to be known, whether it would be seen, the motion that shows it best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.digits import short_number
from freefloat.errors import Fault, FreefloatError
from freefloat.report.model_rows import VISIBILITY_HEAD, visibility_row
from freefloat.studio import markup, messages
from freefloat.studio.outcomes import design_words
from freefloat.studio.page import Page, Tab
from freefloat.studio.panel_charts import Chart, PanelCurve
from freefloat.text import count_noun, listing

if TYPE_CHECKING:
    from freefloat.observability.visibility import Visibility
    from freefloat.studio.studio_state import StudioState
    from freefloat.studio.tasks import DesignedPlan, SeenParameters

CRITERIA = ("a_optimal", "d_optimal", "e_optimal", "condition", "worst_parameter")
BEFORE = "Check says which of them a flight would show, and how well. Design needs it."
PICK = "choose …"
GAIN_HEAD = ("parameter", "default motion", "designed", "better by", "unit")
MOST_LIMITS = 12  # format: limits shown, the most used ones


class PlanTab(Tab):
    """How it is shaken."""

    title = "Plan"

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        gui = page.gui
        with gui.add_folder("Parameters"):
            self.free = page.listen(
                gui.add_text("Estimate", "", hint="names or globs, such as target.*, bus.mass"),
                lambda _: self._choose(),
            )
            self.pick = gui.add_dropdown("Add", [PICK], initial_value=PICK)
            page.listen(self.pick, self._add)
            self.fix = page.listen(
                gui.add_text("Hold fixed", "", hint="names or globs that stay as they are"),
                lambda _: self._choose(),
            )
            self.priors = page.listen(
                gui.add_text("Prior std", "", hint="what is known: hinge_*.stiffness=10%"),
                lambda _: self._choose(),
            )
            self.count = gui.add_html("")
            with gui.add_folder("Sensors", expand_by_default=False) as self.sensor_folder:
                pass
            self.boxes: dict[str, Any] = {}
        page.button("Check", lambda: self.ask(messages.Check("default")))
        self.seen = gui.add_html(markup.page(markup.line(BEFORE, "dim")))
        with gui.add_folder("Motion"):
            self.duration = gui.add_number("Duration [s]", 30.0, min=0.5, max=3600.0, step=0.5)
            self.criterion = gui.add_dropdown("Criterion", CRITERIA, initial_value="a_optimal")
            self.limits = gui.add_text("Limits", "", hint="such as arm_*.velocity=0.1")
            self.seconds = gui.add_number("Search time [s]", 20.0, min=0.5, max=3600.0, step=0.5)
            self.design = page.button("Design", self._design, disabled=True)
            page.button("Take the default motion", self._take_default)
            self.file = gui.add_text("File", "", hint="a plan (.toml) of this machine")
            page.button("Open the plan", self._open)
        self.curve = Chart(gui, page.server, x="round")
        self.outcome = gui.add_html("")
        page.button("Show the motion", lambda: self.ask(messages.ShowMotion("plan")))
        page.save_row("plan", "plan.toml")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.robot is not before.robot and state.robot is not None:
            self._fill(state)
        if state.wanted is not before.wanted:
            self.free.value = ", ".join(state.wanted.free)
            self.fix.value = ", ".join(state.wanted.fix)
            known = (f"{name}={100.0 * share:g}%" for name, share in state.wanted.priors.items())
            self.priors.value = ", ".join(known)
        if state.wanted is not before.wanted or state.robot is not before.robot:
            self.count.content = _count(state)
        if state.seen is not before.seen or state.is_checked != before.is_checked:
            self.seen.content = _check_words(state)
        self.design.disabled = not state.is_checked or state.job is not None
        if state.history is not before.history:
            if len(state.history) > 1:
                rounds = np.arange(1.0, len(state.history) + 1.0)
                self.curve.draw(rounds, [PanelCurve("best value of the criterion", state.history)])
            else:
                self.curve.clear()
        if state.designed is not before.designed:
            self.outcome.content = _outcome(state.designed)

    def _fill(self, state: StudioState) -> None:
        assert state.robot is not None
        owners = dict.fromkeys(f"{name.partition('.')[0]}.*" for name in state.robot.names)
        self.pick.options = [PICK, *owners, *state.robot.names]
        for box in self.boxes.values():
            box.remove()
        kinds = dict.fromkeys(sensor.kind for sensor in state.robot.model.sensors)
        with self.sensor_folder:
            self.boxes = {
                kind: self.page.gui.add_checkbox(kind.replace("_", " "), initial_value=True)
                for kind in kinds
            }
        for box in self.boxes.values():
            self.page.listen(box, lambda _: self._choose_sensors())

    def _add(self, name: str) -> None:
        if name != PICK:
            self.free.value = ", ".join(dict.fromkeys([*words(self.free.value), name]))
            self.pick.value = PICK
            self._choose()

    def _choose(self) -> None:
        free, fix = words(self.free.value), words(self.fix.value)
        priors = {name: share for name, share in pairs(self.priors.value, is_share=True)}
        self.ask(messages.ChooseParameters(tuple(free), tuple(fix), priors))

    def _choose_sensors(self) -> None:
        chosen = [kind for kind, box in self.boxes.items() if box.value]
        is_all = len(chosen) == len(self.boxes)
        self.ask(messages.ChooseSensors("" if is_all else " ".join(chosen)))

    def _design(self) -> None:
        limits = dict(pairs(self.limits.value))
        self.ask(
            messages.DesignMotion(
                float(self.duration.value), self.criterion.value, limits, float(self.seconds.value)
            )
        )

    def _take_default(self) -> None:
        self.ask(messages.OpenPlanFile("", float(self.duration.value)))

    def _open(self) -> None:
        if self.file.value.strip():
            self.ask(messages.OpenPlanFile(self.file.value.strip()))


def words(text: str) -> list[str]:
    """What stands between commas or spaces.

    >>> words("bus.*, target.mass")
    ['bus.*', 'target.mass']
    """
    return text.replace(",", " ").split()


def pairs(text: str, *, is_share: bool = False) -> list[tuple[str, float]]:
    """NAME=VALUE after NAME=VALUE; shares may be per cents.

    >>> pairs("hinge_*.stiffness=10%", is_share=True)
    [('hinge_*.stiffness', 0.1)]
    """
    found, faults = [], []
    for word in words(text):
        name, _, number = word.partition("=")
        try:
            value = float(number.removesuffix("%")) / (100.0 if number.endswith("%") else 1.0)
            if not (name and np.isfinite(value) and value > 0.0):
                raise ValueError
        except ValueError:
            example = "hinge_*.stiffness=10%" if is_share else "arm_*.velocity=0.1"
            faults.append(Fault("field", word, f"NAME=VALUE, such as {example}", "", "option.form"))
            continue
        found.append((name, value))
    if faults:
        raise FreefloatError("a field of the tab Plan cannot be read", faults)
    return found


def _count(state: StudioState) -> str:
    if state.robot is None:
        return ""
    try:
        free = state.wanted.parameters(state.robot.model).free_ones
    except FreefloatError as error:
        return markup.page(markup.lines(str(error), "error"))
    text = f"{count_noun(len(free), 'parameter')} to be estimated"
    return markup.page(markup.line(text, "dim"))


def _check_words(state: StudioState) -> str:
    if state.seen is None:
        return markup.page(markup.line(BEFORE, "dim"))
    found = state.seen.visibility
    parts = visibility_words(state.seen)
    if not state.is_checked:
        parts = [markup.line("This was about another choice: check again.", "warning")]
    return markup.page(*parts, markup.tall(*visibility_parts(found)))


def visibility_words(seen: SeenParameters) -> list[str]:
    """The sentence that matters: what would be seen, and the names of what would not."""
    found = seen.visibility
    n_seen, n = len(found.names("seen")), len(found.parameters)
    kind = "good" if n_seen == n else "warning"
    parts = [markup.line(f"A flight of {seen.motion} shows {n_seen} of {n} parameters.", kind)]
    for status in ("weak", "only in combination", "invisible"):
        if names := found.names(status):
            parts.append(markup.line(f"{status}: {listing(names, most=8)}", "warning"))
    return parts


def visibility_parts(found: Visibility) -> list[str]:
    """What a flight would show, as pieces of HTML."""
    parts = [
        markup.heading("What a flight would show"),
        markup.table(VISIBILITY_HEAD, map(visibility_row, found.parameters), numbers=(2, 3)),
    ]
    sums = [f"{one.words}, ± {one.std:.2g}" for one in found.combinations]
    for title, texts in (
        ("Observable in combination", sums),
        ("Not distinguishable (changes that cancel)", found.trades),
        ("Notes", found.notes),
    ):
        if texts:
            parts += [markup.heading(title), markup.bullets(texts)]
    if found.scale is not None:
        kind = "good" if found.scale.is_fixed else "warning"
        parts.append(markup.line(f"Scale of masses and forces {found.scale.words}.", kind))
    return parts


def _outcome(designed: DesignedPlan | None) -> str:
    if designed is None:
        return ""
    plan, found = designed.plan, designed.design
    parts = [markup.heading(f"{plan.name}: {plan.duration:g} s")]
    if found is None:
        parts.append(markup.line("Not designed: every driven joint moves gently.", "dim"))
        return markup.page(*parts)
    parts.append(markup.line(design_words(found)))
    units = {} if found.after is None else {p.name: p.unit for p in found.after.parameters}
    rows = [
        (name, _std(old), _std(new), f"{old / new:.3g} x" if np.isfinite(old) else "–", units[name])
        for name, old, new in found.comparison()
    ]
    if rows:
        parts += [
            markup.heading("Expected standard deviations"),
            markup.table(GAIN_HEAD, rows, numbers=(1, 2, 3)),
        ]
    limits = [
        (one.limit.name, markup.bar(one.share), f"{100.0 * one.share:.1f} %",
         short_number(one.limit.value), one.limit.unit)
        for one in found.usage[:MOST_LIMITS]
    ]  # fmt: skip
    head = ("limit", "", "used", "of", "unit")
    parts += [markup.heading("Limits"), markup.table(head, limits, numbers=(2, 3), raw=(1,))]
    parts.append(markup.bullets(found.notes, "dim"))
    return markup.page(*parts)


def _std(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "not seen"
