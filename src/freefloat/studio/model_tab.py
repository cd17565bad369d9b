"""The tab Model: what is open, its tree, mass, modes, drives and sensors; sliders move it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from freefloat.digits import printed_unit, short_number
from freefloat.model.body_tree import branches
from freefloat.model.loading import builtin_models
from freefloat.report.model_rows import (
    LIMIT_HEAD,
    MODE_HEAD,
    SENSOR_HEAD,
    TREE_HEAD,
    actuator_facts,
    branch_row,
    limit_facts,
    limit_rows,
    mass_facts,
    mode_row,
    sensor_row,
)
from freefloat.studio import markup, messages
from freefloat.studio.page import Page, Tab

if TYPE_CHECKING:
    from freefloat.model.model import Model
    from freefloat.studio.studio_state import StudioState
    from freefloat.studio.tasks import OpenedModel

MOST_SLIDERS = 40  # format: joints that have a slider; a page with more is of no use
AT_REST, NONE = "at home", "…"
MODEL_FILES = ".toml,.urdf,.xacro,.xml"


class ModelTab(Tab):
    """What the robot is."""

    title = "Model"

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        gui = page.gui
        names = [one.name for one in builtin_models()]
        self.choice = gui.add_dropdown("Built-in", [NONE, *names], initial_value=NONE)
        page.listen(self.choice, self._open_builtin)
        self.file = gui.add_text("File", "", hint="a model file of this machine")
        page.button("Open the file", self._open_file)
        page.upload("Upload a model", MODEL_FILES, self._open_upload)
        self.summary = gui.add_html("")
        with gui.add_folder("Move the joints", expand_by_default=False) as self.slider_folder:
            page.button("Home", lambda: self.ask(messages.ShowMotion("posture")))
        self.sliders: list[Any] = []
        with gui.add_folder("Modes", expand_by_default=False) as self.mode_folder:
            self.modes = gui.add_dropdown("Show", [AT_REST], initial_value=AT_REST)
            page.listen(self.modes, self._show_mode)
            self.mode_table = gui.add_html("")
        with gui.add_folder("Drives, sensors, limits", expand_by_default=False):
            self.equipment = gui.add_html("")
        with gui.add_folder("Save", expand_by_default=False):
            page.save_row("model", "model.toml")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.robot is before.robot or state.robot is None:
            return
        robot = state.robot
        self.summary.content = _summary(robot)
        self.mode_table.content = _modes(robot)
        self.modes.options = [AT_REST, *_mode_names(robot)]
        self.modes.value = AT_REST
        self.equipment.content = _equipment(robot.model)
        self._make_sliders(robot.model)

    def _make_sliders(self, model: Model) -> None:
        for slider in self.sliders:
            slider.remove()
        self.sliders = []
        kinds = {c.name: c for c in model.assembly.coordinates if c.type != "rotor"}
        limits = {joint.name: joint.limits for joint in model.joints}
        with self.slider_folder:
            for name, coordinate in [*kinds.items()][:MOST_SLIDERS]:
                given = limits.get(name)
                is_slide = coordinate.type == "prismatic"
                reach = 1.0 if is_slide else math.pi
                lower = given.lower if given and given.lower is not None else -reach
                upper = given.upper if given and given.upper is not None else reach
                lower, upper = min(lower, coordinate.home), max(upper, coordinate.home)
                unit = "m" if is_slide else "rad"
                slider = self.page.gui.add_slider(
                    f"{name} [{unit}]", min=float(lower), max=float(upper),
                    step=(upper - lower) / 400.0 or 1.0, initial_value=float(coordinate.home),
                )  # fmt: skip
                self.page.listen(slider, partial(self._move, name))
                self.sliders.append(slider)

    def _move(self, name: str, value: float) -> None:
        self.ask(messages.MoveJoint(name, float(value)))

    def _open_builtin(self, name: str) -> None:
        if name != NONE:
            self.ask(messages.OpenModelFile(name))

    def _open_file(self) -> None:
        if self.file.value.strip():
            self.ask(messages.OpenModelFile(self.file.value.strip()))

    def _open_upload(self, path: str) -> None:
        self.ask(messages.OpenModelFile(path))

    def _show_mode(self, name: str) -> None:
        number = self.modes.options.index(name)
        shown = "mode" if number else "posture"
        self.ask(messages.ShowMotion(shown, mode=max(number - 1, 0), is_playing=bool(number)))


def _mode_names(robot: OpenedModel) -> list[str]:
    return [f"mode {n}: {mode.frequency:.4f} Hz" for n, mode in enumerate(robot.checked.modes, 1)]


def _summary(robot: OpenedModel) -> str:
    checked, model = robot.checked, robot.model
    parts = [markup.line(str(model))]
    if model.description:
        parts.append(markup.lines(model.description.strip(), "dim"))
    if checked.faults:
        parts += [markup.heading("It cannot fly"), markup.bullets(checked.faults, "error")]
    parts += [
        markup.heading("Structure"),
        markup.table(TREE_HEAD, map(branch_row, branches(model)), numbers=(1,), tree=True),
        markup.heading("Mass properties at home, in root axes"),
        markup.facts((name, printed_unit(text)) for name, text in mass_facts(checked)),
    ]
    notes = [*checked.notes, *robot.craft.notes]
    if notes:
        parts += [markup.heading("Notes"), markup.bullets(notes)]
    return markup.page(*parts)


def _modes(robot: OpenedModel) -> str:
    rows = [mode_row(mode) for mode in robot.checked.modes]
    if not rows:
        return markup.page(markup.line("Nothing swings: no free joint has a spring.", "dim"))
    words = "At home, driven joints held. Choose one above: the scene shows its shape, enlarged."
    return markup.page(markup.line(words, "dim"), markup.table(MODE_HEAD, rows, numbers=(0, 1, 2)))


def _equipment(model: Model) -> str:
    parts = []
    if model.wheels or model.thrusters:
        parts += [markup.heading("Drives beyond the joints"), markup.facts(actuator_facts(model))]
    if model.sensors:
        rows = [sensor_row(model, sensor) for sensor in model.sensors]
        parts += [markup.heading("Sensors"), markup.table(SENSOR_HEAD, rows, numbers=(2, 3))]
    rows, given = limit_rows(model), limit_facts(model)
    if rows or given:
        parts.append(markup.heading("Limits"))
        parts += [markup.facts(given)] if given else []
        if rows:
            words = "rad, s, N m; m and N for prismatic joints"
            columns = range(1, len(LIMIT_HEAD))
            parts += [markup.table(LIMIT_HEAD, rows, numbers=[*columns])]
            parts += [markup.line(words, "dim")]
    if model.targets:
        held = [(t.name, f"{short_number(t.body.mass)} kg, held on {t.on}") for t in model.targets]
        parts += [markup.heading("Grasped"), markup.facts(held)]
    return markup.page(*parts or [markup.line("No drives, sensors or limits.", "dim")])
