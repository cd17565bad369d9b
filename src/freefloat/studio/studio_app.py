"""The studio: a server, a worker, one state, and the loop that keeps them together.

Pages and the worker put messages in a queue; one thread takes them out, changes the state, gives
tasks to the worker and lets scene and panel follow. Nothing else changes anything.
"""

from __future__ import annotations

import queue
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import pi, sin
from pathlib import Path
from typing import Any

from freefloat.errors import FreefloatError
from freefloat.studio import messages
from freefloat.studio.access import Access
from freefloat.studio.effects import AskLive, Effect, StartLive, StartTask
from freefloat.studio.event_marks import EventMarks
from freefloat.studio.flight_tab import FlightTab
from freefloat.studio.folder import WorkingFolder
from freefloat.studio.ghosts import Ghosts
from freefloat.studio.header import Header
from freefloat.studio.identify_tab import IdentifyTab
from freefloat.studio.live_tab import LiveTab
from freefloat.studio.model_tab import ModelTab
from freefloat.studio.page import Page, Tab
from freefloat.studio.plan_tab import PlanTab
from freefloat.studio.scene import Scene, mode_posture, still
from freefloat.studio.session import change_state
from freefloat.studio.studio_state import StudioState
from freefloat.studio.verdict_tab import VerdictTab
from freefloat.studio.viser_ import GuardedServer
from freefloat.studio.worker import Report, Worker

FRAME = 1.0 / 50.0  # format: [s] between pictures of what moves
IDLE = 0.1  # format: [s] between looks where nothing moves
WIDTH = 510  # format: [px] of the panel, so that tables of six columns fit
MODE_SECONDS = 3.0  # format: [s] that a mode takes to swing once, whatever its frequency is
MOST_BROKEN = 20  # format: faults of the studio that are said
TABS: tuple[type[Tab], ...] = (
    ModelTab, PlanTab, FlightTab, IdentifyTab, LiveTab, VerdictTab,
)  # fmt: skip


class Studio:
    """A studio on an address; `run` until it is stopped."""

    def __init__(
        self, access: Access, *, port: int, folder: str | Path, is_dark: bool = False,
        tabs: Sequence[type[Tab]] = TABS,
    ) -> None:  # fmt: skip
        self.inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.state = StudioState(folder=Path(folder).absolute())
        self.is_over = False
        self.n_broken = 0
        self._waiting: list[object] = []
        self.server = GuardedServer(access, port=port, label="freefloat studio")
        self.worker = Worker(self.inbox.put, name="freefloat-studio")
        self.worker.start()
        # its process is started with the first source that is followed
        self.live = Worker(self._put_live, name="freefloat-studio-live")
        self.scene = Scene(self.server)
        self.ghosts = Ghosts(self.scene)
        self.events = EventMarks(self.scene)
        self._shown = self.state
        self._set_theme(is_dark)
        page = Page(self.server, self.inbox.put, WorkingFolder(self.state.folder))
        self.header = Header(page, self.scene, self._set_theme, is_dark=is_dark)
        self.tabs: list[Tab] = []
        group = self.server.gui.add_tab_group()
        for kind in tabs:
            with group.add_tab(kind.title):
                self.tabs.append(kind(page))
        self.server.gui.main_panel.dock_right()
        self.server.gui.main_panel.set_width(WIDTH)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.server.access.address(self.server.get_port())

    def ask(self, message: object) -> None:
        """Ask for something, from any thread."""
        self.inbox.put(message)

    def ask_in_turn(self, message: object) -> None:
        """Ask for something that is to be begun when the worker has nothing else to do."""
        self._waiting.append(message)

    def run(self) -> None:
        """Serve pages until `stop`, or Ctrl-C."""
        last = time.monotonic()
        try:
            while not self.is_over:
                now = time.monotonic()
                self._step_safely(now - last)
                last = now
                self._wait(now)
        finally:
            self.close()

    def _step_safely(self, seconds: float) -> None:
        """A round that cannot end the studio: what breaks in it is said on the page."""
        try:
            self.step(seconds)
        except Exception as error:  # whatever it is: the pages and the work go on
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{where.filename.rpartition('/')[2]}:{where.lineno}"
            self.n_broken += 1
            if self.n_broken < MOST_BROKEN:  # else it would say so fifty times a second
                text = f"{type(error).__name__}: {error} ({place})"
                self.ask(messages.Tell("error", "A fault of the studio", text))

    def step(self, seconds: float) -> None:
        """One round: what came, what moves, and what is shown of it."""
        self.worker.look()
        self.live.look()
        while not self.inbox.empty():
            self._take(self.inbox.get())
        if self._waiting and self.state.job is None:
            self._take(self._waiting.pop(0))
        if self.state.play.is_playing:
            self._take(messages.Tick(seconds))
        self._show()

    def stop(self) -> None:
        """End `run`, from any thread."""
        self.is_over = True

    def close(self) -> None:
        """End the worker and the server."""
        self.worker.kill()
        self.live.kill()
        self.server.stop()

    def _put_live(self, report: Report) -> None:
        self.inbox.put(messages.LiveReport(report))

    def _wait(self, begun: float) -> None:
        """Until something comes, or the next picture is due."""
        pause = FRAME if self.state.play.is_playing else IDLE
        due = begun + pause
        if self.state.play.is_playing:
            time.sleep(max(due - time.monotonic(), 0.0))
            return
        with suppress(queue.Empty):
            self._take(self.inbox.get(timeout=max(due - time.monotonic(), 1e-3)))

    def _take(self, message: object) -> None:
        if isinstance(message, Report) and message.kind != "progress":
            self.worker.finish(message.task)
        if isinstance(message, messages.LiveReport) and message.report.kind != "progress":
            self.live.finish(message.report.task)
        try:
            self.state, effects = change_state(self.state, message)
        except FreefloatError as error:
            told = messages.Tell("error", "That is not possible", str(error))
            self.state, effects = change_state(self.state, told)
        for effect in effects:
            self._do(effect)

    def _do(self, effect: Effect) -> None:
        if isinstance(effect, StartTask):
            task = self.worker.submit(effect.task)
            self.state, _ = change_state(self.state, messages.Started(task))
        elif isinstance(effect, StartLive):
            task = self.live.submit(effect.task)
            self.state, _ = change_state(self.state, messages.LiveStarted(task))
        elif isinstance(effect, AskLive):
            if effect.words is None:
                self.live.ask_to_stop()
            else:
                self.live.send(effect.words)
        else:
            self.worker.ask_to_stop()

    # -- what is shown -----------------------------------------------------------------------------

    def _show(self) -> None:
        state, before = self.state, self._shown
        if state is before:
            return
        self._shown = state
        self._show_scene(state, before)
        self.header.show(state, before)
        for tab in self.tabs:
            tab.show(state, before)

    def _show_scene(self, state: StudioState, before: StudioState) -> None:
        robot = state.robot
        if robot is None:
            return
        if before.robot is None or robot.craft is not before.robot.craft:
            self.scene.show_craft(robot.craft)
        self.ghosts.show(state, before)
        self.events.show(state, before)
        play, old = state.play, before.play
        is_same = play.shown == old.shown and play.time == old.time and play.mode == old.mode
        live = state.live.moment if state.live is not None and play.shown == "live" else None
        is_same &= live is None or before.live is None or live is before.live.moment
        if is_same and state.posture is before.posture and state.motion is before.motion:
            return
        moment: Any = still(robot.model)
        if (motion := state.motion) is not None:
            moment = motion.at(play.time)
        elif live is not None:
            moment = live
        elif play.shown == "mode" and play.mode < len(robot.checked.modes):
            shape = robot.checked.modes[play.mode].shape
            swing = sin(2.0 * pi * play.time / MODE_SECONDS)
            moment = replace(moment, posture=mode_posture(robot.model, shape, swing))
        else:
            moment = replace(moment, posture=state.posture)
        self.scene.pose(moment, self.ghosts.pose(state, moment))

    def _set_theme(self, is_dark: bool) -> None:
        self.server.gui.configure_theme(
            dark_mode=is_dark, show_logo=False, show_share_button=False,
            brand_color=(52, 118, 204),
        )  # fmt: skip
