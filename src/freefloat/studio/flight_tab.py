"""The tab Flight: fly the plan or open a recording; its channels, its faults, its motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.studio import markup, messages
from freefloat.studio.page import Page, Tab
from freefloat.studio.panel_charts import Chart, PanelCurve
from freefloat.telemetry.names import ChannelName

if TYPE_CHECKING:
    from freefloat.excitation.plan import Plan
    from freefloat.studio.flight_tasks import OpenedFlight
    from freefloat.studio.studio_state import StudioState
    from freefloat.telemetry.diagnosis import Finding
    from freefloat.telemetry.telemetry import Telemetry

NONE = "…"
NOTHING = "There is no flight yet: fly the plan, or open a recording."
CHANNEL_HEAD = ("channel", "unit", "rate [Hz]", "samples", "invalid")
RECORDINGS = ".parquet,.pq,.csv,.tsv,.mcap,.mat,.bag,.ulg,.h5,.hdf5,.npz,.txt,.db3"
MAPS = ".toml"
CHARTS = 3  # format: channels that are looked at together
MOST_CAUSES = 20  # format: causes that are listed
MOST_JUMPS = 40  # format: places of findings that can be gone to


class FlightTab(Tab):
    """What was seen."""

    title = "Flight"

    def build(self, page: Page) -> None:
        """Put everything there that the tab ever shows."""
        gui = page.gui
        with gui.add_folder("Fly the plan (simulation)"):
            self.seed = gui.add_number("Seed", 1, min=0, max=2**31 - 1, step=1)
            self.truth = gui.add_text(
                "True robot", "", hint="the model that really flies, if it is not this one"
            )
            self.plan = gui.add_html(markup.page(markup.line(_plan_words(None), "dim")))
            self.fly = page.button("Fly", self._fly, disabled=True)
        with gui.add_folder("Open a recording", expand_by_default=False):
            page.upload("Upload a recording", RECORDINGS, self._open_upload)
            self.file = gui.add_text("File", "", hint="a recording of this machine")
            page.button("Open the file", self._open)
            self.map = gui.add_text(
                "Map", "", hint="what the fields mean (.toml), for recordings with other names"
            )
            page.upload("Upload a map", MAPS, self._keep_map)
        self.nothing = gui.add_html(markup.page(markup.line(NOTHING, "dim")))
        self.choice = gui.add_dropdown("Flight", [NONE], initial_value=NONE, visible=False)
        page.listen(self.choice, lambda name: self.ask(messages.ChooseFlight(name)))
        self.quality = gui.add_html("")
        self.jump = gui.add_dropdown("Go to", [NONE], initial_value=NONE, visible=False)
        page.listen(self.jump, self._jump)
        self.places: dict[str, float] = {}
        self.pickers, self.charts = [], []
        for k in range(CHARTS):
            picker = gui.add_dropdown(f"Curve {k + 1}", [NONE], initial_value=NONE, visible=False)
            page.listen(picker, lambda _, k=k: self._draw(k))
            self.pickers.append(picker)
            self.charts.append(Chart(gui, page.server, together="flight"))
        self.groups: dict[str, list[str]] = {}
        self.flight: OpenedFlight | None = None
        with gui.add_folder("Channels", expand_by_default=False, visible=False) as self.listing:
            self.channels = gui.add_html("")
        with gui.add_folder("Save", expand_by_default=False, visible=False) as self.saving:
            page.save_row("flight", "flight.parquet")

    def show(self, state: StudioState, before: StudioState) -> None:
        """Follow the state."""
        if state.flights is not before.flights:
            names = [flight.name for flight in state.flights]
            self.choice.options = names or [NONE]
            for part in (self.choice, self.listing, self.saving):
                part.visible = bool(names)
            self.nothing.visible = not names
        if state.designed is not before.designed:
            plan = None if state.designed is None else state.designed.plan
            self.plan.content = markup.page(markup.line(_plan_words(plan), "dim"))
            self.fly.disabled = plan is None
        if state.flight is before.flight:
            return
        self.flight = flight = state.flight
        if flight is None:
            self.quality.content = self.channels.content = ""
            for part in (*self.pickers, self.jump):
                part.visible = False
            for chart in self.charts:
                chart.clear()
            return
        self.choice.value = flight.name
        self.quality.content = _quality(flight)
        rows = flight.telemetry.channel_rows()
        columns = markup.table(CHANNEL_HEAD, rows, numbers=(2, 3, 4))
        self.channels.content = markup.page(columns)
        self._fill_places(flight)
        self.groups = _groups(flight.telemetry)
        options = [NONE, *self.groups]
        for k, (picker, name) in enumerate(zip(self.pickers, _first(self.groups), strict=True)):
            picker.options = options
            picker.value = name
            picker.visible = True
            self._draw(k)

    def _draw(self, k: int) -> None:
        flight, name = self.flight, self.pickers[k].value
        if flight is None or name not in self.groups:
            self.charts[k].clear()
            return
        channels = [flight.telemetry[one] for one in self.groups[name]]
        times = np.unique(np.concatenate([channel.time for channel in channels]))
        curves = []
        for channel in channels:
            values = np.full(len(times), np.nan)
            values[np.searchsorted(times, channel.time)] = np.where(
                channel.valid, channel.values, np.nan
            )
            curves.append(PanelCurve(channel.name, values))
        self.charts[k].draw(times, curves, unit=channels[0].unit)

    def _fill_places(self, flight: OpenedFlight) -> None:
        self.places = {}
        for found in flight.diagnosis.findings:
            if np.isfinite(found.start):
                words = f"{found.start:.3f} s: {_cause(found)}, {found.place}"
                self.places[words[:90]] = float(found.start)
        for one in () if flight.summary is None else flight.summary.violations:
            words = f"{one.time:.3f} s: limit of {one.part}, {one.quantity}"
            self.places[words[:90]] = float(one.time)
        self.places = dict([*self.places.items()][:MOST_JUMPS])
        self.jump.options = [NONE, *self.places]
        self.jump.value = NONE
        self.jump.visible = bool(self.places)

    def _jump(self, words: str) -> None:
        if words in self.places:
            self.ask(messages.ShowMotion("flight", time=self.places[words]))

    def _fly(self) -> None:
        self.ask(messages.Simulate(int(self.seed.value), self.truth.value.strip()))

    def _open(self) -> None:
        if self.file.value.strip():
            path, map_ = self.file.value.strip(), self.map.value.strip()
            self.ask(messages.OpenRecording(path, map_))

    def _keep_map(self, path: str) -> None:
        self.map.value = path

    def _open_upload(self, path: str) -> None:
        self.ask(messages.OpenRecording(path, self.map.value.strip()))


def _plan_words(plan: Plan | None) -> str:
    if plan is None:
        return "There is no plan yet: design one in the tab Plan, or take the default motion there."
    return f"{plan.name}, {plan.duration:g} s"


def _groups(flight: Telemetry) -> dict[str, list[str]]:
    """Channels of one quantity together, the axes of a gyro for example."""
    found: dict[str, list[str]] = {}
    for name in flight.names:
        found.setdefault(ChannelName.parse(name).group, []).append(name)
    return found


def _first(groups: dict[str, list[str]]) -> list[str]:
    """What is shown until somebody chooses: rates of the base, then whatever comes."""
    names = sorted(groups, key=lambda name: not name.endswith("rate"))
    return ([*names, NONE, NONE, NONE])[:CHARTS]


def _cause(found: Finding) -> str:
    return found.code.partition(".")[2].replace("_", " ")


def _quality(flight: OpenedFlight) -> str:
    diagnosis = flight.diagnosis
    parts = [markup.line(diagnosis.summary, "good" if diagnosis.ok else "error")]
    causes = [(_cause(f), str(f)) for f in diagnosis.findings]
    if causes:
        is_worse = "Faults by cause" if not diagnosis.ok else "Worth knowing"
        parts += [markup.heading(is_worse), markup.facts(causes[:MOST_CAUSES])]
    if flight.summary is not None:
        found = flight.summary
        turned = f"up to {found.turn:.3g} rad, at up to {found.rate:.3g} rad/s"
        events = [("base turned", turned), ("base moved", f"up to {found.displacement:.3g} m")]
        exceeded = [str(one) for one in found.violations]
        if not exceeded:
            events.append(("limits", "none exceeded"))
        parts += [markup.heading("What happened"), markup.facts(events)]
        if exceeded:
            parts += [markup.line("Limits exceeded", "warning")]
            parts += [markup.bullets(exceeded, "warning")]
    return markup.page(*parts)
