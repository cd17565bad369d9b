"""The tab Live: parameters while samples arrive, with their bands, health and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.digits import with_uncertainty
from freefloat.studio import markup, messages
from freefloat.studio.page import Page, Tab
from freefloat.studio.panel_charts import Chart, PanelCurve

if TYPE_CHECKING:
    from freefloat.studio.live_session import LiveState
    from freefloat.studio.live_task import LivePicture
    from freefloat.studio.studio_state import StudioState

NONE, OTHER = "…", "a file or an address"
STATE_NAME = "state.npz"  # format: where a state is saved that has no name yet
CHARTS = 2  # format: parameters that are watched at once
HEAD = ("parameter", "value", "± std", "± total", "unit", "status")
SPREAD = 1.96  # theory: standard deviations on either side that hold 95 % of a normal
# format: how fast a replay goes, 0 as fast as it can be
SPEEDS = {"as it was": 1.0, "5 times as fast": 5.0, "as fast as possible": 0.0}


class LiveTab(Tab):
    """The same while samples arrive."""

    title = "Live"

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        gui = page.gui
        self.choice = gui.add_dropdown(
            "Follow", [OTHER], initial_value=OTHER, hint="an open flight, or a stream"
        )
        page.listen(self.choice, lambda _: self._show_fields())
        self.source = gui.add_text(
            "Source", "", hint="a recording, lines of JSON, or tcp://, udp://, ws:// with a port"
        )
        self.remote = gui.add_checkbox(
            "Other machines", initial_value=False, hint="let the source be on another machine"
        )
        self.speed = gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="as it was")
        self.keep = gui.add_text(
            "State file", "",
            hint="in the working folder: if it exists the run goes on from it; kept at the end",
        )  # fmt: skip
        self.start = page.button("Start", self._start)
        self.pause = page.button("Pause", self._pause, visible=False)
        self.save = page.button("Save the state now", self._save, visible=False)
        self.stop = page.button(
            "End", lambda: self.ask(messages.StopLive()), visible=False, color="red"
        )
        self.is_paused = False
        self.said = gui.add_html("")
        self.pickers, self.charts = [], []
        for k in range(CHARTS):
            picker = gui.add_dropdown(f"Chart {k + 1}", [NONE], initial_value=NONE, visible=False)
            page.listen(picker, lambda _, k=k: self._draw(k))
            self.pickers.append(picker)
            self.charts.append(Chart(gui, page.server, together="live", height=160))
        self.live: LiveState | None = None

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.flights is not before.flights:
            self._list_flights([flight.name for flight in state.flights])
        if state.live is before.live:
            return
        self.live = live = state.live
        is_running = live is not None and live.is_running
        self.start.visible = not is_running
        self.pause.visible = self.save.visible = self.stop.visible = is_running
        last = None if live is None else live.last
        self.is_paused = last is not None and last.is_paused
        self.pause.label = "Go on" if self.is_paused else "Pause"
        if _is_same_picture(live, before.live):
            return  # only the robot moved
        self.said.content = "" if live is None else markup.page(*live_parts(live))
        names = [] if last is None else [*last.names]
        for k, picker in enumerate(self.pickers):
            if [*picker.options] != (names or [NONE]):
                picker.options = names or [NONE]
                picker.visible = bool(names)
                masses = [name for name in names if name.endswith(".mass")] or names
                if names:
                    picker.value = masses[min(k, len(masses) - 1)]
            self._draw(k)

    def _draw(self, k: int) -> None:
        live = self.live
        pictures = () if live is None else [p for p in live.pictures if p.time is not None]
        name = self.pickers[k].value
        if len(pictures) < 2 or name not in pictures[-1].names:
            self.charts[k].clear()
            return
        place = pictures[-1].names.index(name)
        times = np.array([p.time for p in pictures])
        values = np.array([p.values[place] for p in pictures])
        totals = np.array([p.totals[place] for p in pictures])
        stds = np.array([p.stds[place] for p in pictures])
        half = SPREAD * np.where(np.isfinite(totals), totals, stds)
        is_known = np.isfinite(half)
        values = np.where(is_known, values, np.nan)
        curve = PanelCurve(name, values, (values - half, values + half))
        self.charts[k].draw(times, [curve], unit=pictures[-1].units[place])

    def _list_flights(self, names: list[str]) -> None:
        chosen = self.choice.value
        self.choice.options = [*names, OTHER]
        if not self.source.value.strip() and names:
            chosen = names[-1]
        self.choice.value = chosen if chosen in self.choice.options else OTHER
        self._show_fields()

    def _show_fields(self) -> None:
        self.source.visible = self.remote.visible = self.choice.value == OTHER

    def _start(self) -> None:
        is_other = self.choice.value == OTHER
        keep = self.keep.value.strip()
        path = self.page.folder.place(keep) if keep else None
        self.ask(
            messages.FollowLive(
                self.source.value.strip() if is_other else "",
                "" if is_other else self.choice.value, SPEEDS[self.speed.value],
                state=str(path) if path is not None and path.exists() else "",
                keep=str(path or ""), remote=bool(self.remote.value),
            )
        )  # fmt: skip

    def _pause(self) -> None:
        self.ask(messages.PauseLive(not self.is_paused))

    def _save(self) -> None:
        name = self.keep.value.strip() or STATE_NAME
        self.ask(messages.SaveLive(self.page.folder.place(name)))


def _is_same_picture(live: LiveState | None, before: LiveState | None) -> bool:
    if live is None or before is None or live.last is None:
        return False
    return live.last is before.last and live.is_running == before.is_running


def live_parts(live: LiveState) -> list[str]:
    """A live run as pieces of HTML."""
    parts = []
    if live.error:
        parts.append(markup.notice("error", "It broke off", live.error))
    elif not live.is_running:
        parts.append(markup.line(f"{live.source} is over: {live.ended}.", "dim"))
    elif live.last is None:
        parts.append(markup.line(live.stage or "waiting for samples", "dim"))
    return [*parts, *picture_parts(live.last)] if live.last is not None else parts


def picture_parts(picture: LivePicture) -> list[str]:
    """An estimate as pieces of HTML: table, health, what became of the samples, events."""
    rows = []
    table = zip(
        picture.names, picture.values, picture.stds, picture.totals, picture.units,
        picture.statuses, strict=True,
    )  # fmt: skip
    for name, value, std, total, unit, status in table:
        widest = total if np.isfinite(total) else std
        shown = with_uncertainty(value, widest)[0] if np.isfinite(widest) else "-"
        spreads = [with_uncertainty(value, one)[1] for one in (std, total)]
        rows.append((name, shown, *spreads, unit, status))
    kind = markup.STATUS_KIND.get(picture.grade, "warning")
    when = "" if picture.time is None else f"At {picture.time:.1f} s the estimate is"
    parts = [markup.line(f"{when or 'The estimate is'} {picture.grade}.", kind)]
    parts.append(markup.bullets(picture.reasons, most=3))
    parts.append(markup.table(HEAD, rows, numbers=(1, 2, 3)))
    parts.append(markup.line(picture.health))
    if picture.status != picture.health:
        parts.append(markup.line(picture.status))
    counts = ", ".join(f"{n} {word}" for word, n in picture.counts)
    parts.append(markup.line(f"samples: {counts}", "dim"))
    if picture.events:
        events = [(f"{e.time:.2f} s", f"{e.kind}: {e.message}") for e in picture.events]
        parts += [markup.heading("Events"), markup.facts(events)]
    return parts
