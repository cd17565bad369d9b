"""Pictures of flights hold what they should, with units, and leave nothing half written."""

from __future__ import annotations

import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.errors import FreefloatError
from freefloat.report.plots import panels_of, plot_flight, save_flight_plot


@pytest.fixture(scope="module")
def flight():
    model = ff.load_model("servicer")
    return model, ff.simulate(model, ff.default_plan(model, duration=2.0))


def test_every_panel_has_units_a_legend_and_its_lines(flight):
    model, flown = flight
    figure = plot_flight(model, flown)
    titles = [axes.get_ylabel() for axes in figure.axes]
    assert len(titles) == 6 and all("[" in title for title in titles)
    assert all(axes.get_legend() is not None for axes in figure.axes)
    assert figure.axes[-1].get_xlabel() == "time [s]"
    lines = {panel.title.partition("\n")[0]: panel.lines for panel in panels_of(model, flown)}
    assert [line.name for line in lines["driven joints"]] == [f"arm_{i}" for i in range(1, 8)]
    assert [line.name for line in lines["fuel"]] == ["tank_1", "tank_2"]


def test_a_drive_shows_its_wind_up():
    model = ff.load_model("cbk-arm")
    flown = ff.simulate(model, ff.default_plan(model, duration=2.0))
    (wound,) = [panel.lines for panel in panels_of(model, flown) if "wind-up" in panel.title]
    assert [line.name for line in wound] == ["arm_1"]


def test_a_recording_without_truth_can_be_drawn(flight):
    model, flown = flight
    figure = plot_flight(model, flown.with_truth(None))
    assert len(figure.axes) == 4  # nobody measured the wings and the fuel


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_every_format_is_written(flight, suffix, tmp_path):
    save_flight_plot(*flight, tmp_path / f"flight{suffix}")
    assert [path.name for path in tmp_path.iterdir()] == [f"flight{suffix}"]


def test_a_picture_is_small(flight, tmp_path):
    save_flight_plot(*flight, tmp_path / "flight.png")
    assert (tmp_path / "flight.png").stat().st_size < 150_000


def test_an_unknown_format_is_refused(flight, tmp_path):
    with refused(FreefloatError, "file.suffix"):
        save_flight_plot(*flight, tmp_path / "flight.jpg")
    assert not list(tmp_path.iterdir())
