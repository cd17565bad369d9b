"""The head of the panel: what was said last, what is being done, playback, what is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from freefloat.studio import markup, messages
from freefloat.studio.scene import LAYERS, Scene
from freefloat.studio.studio_state import SHOWN_FIRST
from freefloat.studio.tour import END, STEPS

if TYPE_CHECKING:
    from freefloat.studio.page import Page
    from freefloat.studio.studio_state import StudioState

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5", "10")
REFRESH = 0.1  # format: [s] between two positions of the slider of time
POSITIONS = 2000  # format: positions of the slider of time
FIRST = "Choose a built-in model below, or open a file of your own: TOML, URDF, xacro or MJCF."
PLAY, HALT, BACK = "Play", "Halt", "To the start"


class Header:
    """What stands above the tabs."""

    def __init__(
        self, page: Page, scene: Scene, set_theme: Callable[[bool], None], *, is_dark: bool
    ) -> None:
        gui, self.page, self.scene = page.gui, page, scene
        self._next = 0.0
        gui.add_html(markup.STYLE)
        self.notice = gui.add_html(
            markup.page(markup.notice("info", "Open a model to begin", FIRST))
        )
        self.tour_text = gui.add_html("", visible=False)
        self.tour_next = page.button("Next", lambda: page.ask(messages.NextStep()), visible=False)
        self.tour_end = page.button(
            "Leave the tour", lambda: page.ask(messages.LeaveTour()), visible=False, color="gray"
        )
        self.tour_start = page.button(
            "Take the tour: weigh a captured target", lambda: page.ask(messages.BeginTour())
        )
        self.work = gui.add_html("", visible=False)
        self.bar = gui.add_progress_bar(0.0, visible=False)
        self.stop = page.button(
            "Stop", lambda: page.ask(messages.Stop()), visible=False, color="red"
        )
        self.buttons = gui.add_button_group("Motion", (PLAY, HALT, BACK), visible=False)
        self.buttons.on_click(lambda _: page.attempt(self._press))
        self.slider = gui.add_slider(
            "Time [s]", min=0.0, max=1.0, step=0.01, initial_value=0.0, visible=False
        )
        page.listen(self.slider, lambda value: page.ask(messages.Seek(float(value))))
        self.remark = gui.add_html("", visible=False)
        with gui.add_folder("View", expand_by_default=False):
            speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1", hint="of playback")
            page.listen(speed, lambda value: page.ask(messages.SetSpeed(float(value))))
            for layer, words in LAYERS.items():
                box = gui.add_checkbox(words, initial_value=layer in SHOWN_FIRST)
                page.listen(box, partial(self._show_layer, layer))
            dark = gui.add_checkbox("Dark page", initial_value=is_dark)
            page.listen(dark, set_theme)

    def _show_layer(self, layer: str, is_shown: bool) -> None:
        self.page.ask(messages.ShowLayer(layer, is_shown))

    def _press(self) -> None:
        if self.buttons.value == BACK:
            self.page.ask(messages.Seek(-1e300))
        else:
            self.page.ask(messages.Play(self.buttons.value == PLAY))

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        self.tour_start.visible = state.tour is None and state.robot is None
        if state.notice is not before.notice:
            said = state.notice
            self.notice.visible = True
            self.notice.content = markup.page(markup.notice(said.kind, said.title, said.text))
        if state.job is not before.job:
            self._show_job(state)
        if (state.tour, state.job is None) != (before.tour, before.job is None):
            self._show_tour(state)
        for layer in LAYERS:
            if (layer in state.layers) != (layer in before.layers):
                self.scene.show_layer(layer, layer in state.layers)
        self._show_playback(state, before)

    def _show_tour(self, state: StudioState) -> None:
        number = state.tour
        self.tour_text.visible = self.tour_end.visible = number is not None
        self.notice.visible = number is None or bool(state.notice.number)
        self.tour_next.visible = number is not None and number < len(STEPS)
        self.tour_next.disabled = state.job is not None
        if number is None:
            return
        title, text = END if number >= len(STEPS) else (STEPS[number].title, STEPS[number].text)
        place = "" if number >= len(STEPS) else f"{number + 1} of {len(STEPS)}: "
        said = markup.notice("info", f"{place}{title}", text)
        shown = STEPS[max(number - 1, 0)].tab  # where what was just done can be seen
        self.tour_text.content = markup.page(said, markup.open_tab(shown))

    def _show_job(self, state: StudioState) -> None:
        job = state.job
        for part in (self.work, self.bar, self.stop):
            part.visible = job is not None
        if job is None:
            return
        words = job.stage or job.title
        if job.is_stopping:
            words = f"stopping · {words}"
        share = "" if job.fraction is None else f", {100.0 * job.fraction:.0f} %"
        self.work.content = markup.page(markup.line(f"{words}{share}", "dim"))
        self.bar.value = 100.0 if job.fraction is None else 100.0 * job.fraction
        self.bar.animated = job.fraction is None
        self.stop.label = "Stop at once" if job.is_stopping else "Stop"

    def _show_playback(self, state: StudioState, before: StudioState) -> None:
        motion = state.motion
        is_moving = motion is not None
        self.buttons.visible = is_moving or state.play.shown == "mode"
        self.slider.visible = is_moving
        if motion is None:
            self.remark.visible = False
            return
        if motion is not before.motion:
            span = max(motion.end - motion.start, 1e-3)
            self.slider.min, self.slider.max = motion.start, motion.end
            self.slider.step = span / POSITIONS
            self.remark.content = markup.page(markup.line(motion.note, "dim"))
            self.remark.visible = bool(motion.note)
        now = time.monotonic()
        is_elsewhere = state.play.time != before.play.time or motion is not before.motion
        if is_elsewhere and (now >= self._next or not state.play.is_playing):
            self._next = now + REFRESH
            self.slider.value = round(state.play.time, 3)
