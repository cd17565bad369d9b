"""Pictures of results show every parameter and unit, and say so where there is nothing to draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import freefloat as ff
from freefloat.cli.run import run
from freefloat.errors import FreefloatError
from freefloat.excitation import Pulses
from freefloat.progress import SearchHistory
from freefloat.report import result_plots

pytest.importorskip("matplotlib", reason="pictures need matplotlib (extra `plot`)")


@pytest.fixture(scope="module")
def flown():
    """A model, what is wanted, a flight with thrust, and a fit of it."""
    model = ff.load_model("planar-capture")
    wanted = ff.Parameters(model).free("bus.mass", "bus.izz", "target.mass", "target.izz")
    pushed = {"thr_1": Pulses(((2.0, 8.0, 5.0),))}
    plan = replace(ff.default_plan(model, duration=20.0, seed=1), thrusts=pushed)
    flight = ff.simulate(model, plan, seed=1)
    return model, wanted, plan, flight, ff.identify(model, wanted, flight, assess=False)


def words_of(figure) -> str:
    """All that is written on a figure."""
    figure.canvas.draw()
    axes = figure.axes
    texts = [t.get_text() for a in axes for t in (*a.get_yticklabels(), *a.get_xticklabels())]
    return " ".join([*texts, *(a.get_xlabel() + a.get_ylabel() for a in axes)])


def test_identifiability_has_a_bar_for_every_parameter(flown):
    model, wanted, plan, *_ = flown
    seen = ff.identifiability(model, wanted.free("target.mz"), plan=plan)
    figure = result_plots.plot_visibility(seen)
    (axis,) = figure.axes
    assert len(axis.patches) == len(seen.parameters)
    told = words_of(figure)
    assert all(one.name in told for one in seen.parameters) and "[% of natural size]" in told
    assert "invisible" in {text.get_text() for text in axis.texts}


def test_estimates_lie_where_their_deviations_say(flown):
    fit = flown[-1]
    figure = result_plots.plot_estimates(fit)
    (axis,) = figure.axes
    drawn = [line.get_xdata() for line in axis.lines if line.get_marker() == "D"]
    priors = np.concatenate([np.atleast_1d(x) for x in drawn])  # that of the legend has no point
    expected = [(e.prior - e.value) / e.std for e in fit.estimates if np.isfinite(e.std)]
    np.testing.assert_allclose(priors, expected)
    assert "target.mass" in words_of(figure) and "kg" in words_of(figure)


def test_correlations_are_those_of_the_covariance(flown):
    fit = flown[-1]
    image = result_plots.plot_correlation(fit).axes[0].images[0].get_array()
    np.testing.assert_allclose(np.diag(image), 1.0)
    std = np.sqrt(np.diag(fit.covariance))
    assert image[0, 1] == pytest.approx(fit.covariance[0, 1] / std[0] / std[1])


def test_a_prediction_is_shown_beside_what_is_left_of_it(flown):
    model, _, plan, _, fit = flown
    verdict = ff.validate(fit, ff.simulate(model, plan, seed=2))
    figure = result_plots.plot_prediction(verdict)
    left, right = figure.axes[:2]
    lines = {line.get_label(): line.get_ydata() for line in left.lines}
    np.testing.assert_allclose(
        right.lines[0].get_ydata(), lines["measured"] - lines["predicted"], atol=1e-15
    )  # the same subtraction
    assert "time [s]" in words_of(figure)


def test_live_bands_begin_where_a_parameter_is_observable(flown):
    model, wanted, _, flight, _ = flown
    tracker = ff.OnlineEstimator(model, wanted)
    told = [tracker.update(sample) for sample in flight]
    figure = result_plots.plot_live(told[::5], ["target.mass"])
    (axis,) = figure.axes
    dotted, solid = axis.lines[:2]
    is_known = np.isfinite([one["target.mass"][1] for one in told[::5] if one.time is not None])
    np.testing.assert_array_equal(np.isfinite(solid.get_ydata()), is_known)
    assert len(dotted.get_ydata()) == len(is_known) and "[kg]" in words_of(figure)


def test_a_search_is_shown_step_by_step(flown):
    model, _, _, flight, _ = flown
    guess = model.with_body("target", mass=1.3 * model.body("target").mass)
    history = SearchHistory()
    wanted = ff.Parameters(guess).free("target.mass")
    ff.identify(guess, wanted, flight, method="output_error", assess=False, progress=history)
    assert len(history.steps) >= 2
    cost, mass = result_plots.plot_convergence(history.steps).axes
    np.testing.assert_allclose(cost.lines[0].get_ydata(), [s.cost for s in history.steps])
    np.testing.assert_allclose(mass.lines[0].get_ydata(), [s.values[0] for s in history.steps])
    assert "target.mass" in mass.get_ylabel() and "[kg]" in mass.get_ylabel()


def test_errors_beyond_the_axis_are_counted_at_its_ends():
    errors = {"bus.mass": np.array([-99.0, 0.1, 0.2, np.nan]), "bus.mx": np.array([np.nan])}
    axis, *rest = result_plots.plot_errors(errors).axes
    heights = [bar.get_height() for bar in axis.patches]
    assert heights[0] == 1.0 and sum(heights) == 3.0 and max(heights) == 2.0
    assert "bus.mass, 3 runs" in axis.get_title() and not any(a.get_visible() for a in rest)


def test_nothing_to_draw_is_said():
    with pytest.raises(FreefloatError) as caught:
        result_plots.plot_live([])
    assert caught.value.code == "plot.empty"


def test_the_command_writes_them(flown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flown[3].save("flight.parquet")
    chosen = ["--free", "target.mass", "--plot"]
    assert run(["check", "planar-capture", *chosen, "seen.png"]) == 0
    run(["identify", "planar-capture", "flight.parquet", "--no-assess", *chosen, "fit.svg"])
    flown[-1].save("fit.json")
    flown[3].save("second.parquet")
    run(["validate", "fit.json", "second.parquet", "--plot", "verdict.png"])
    assert all((tmp_path / name).stat().st_size > 3000 for name in ("seen.png", "fit.svg"))
    assert (tmp_path / "verdict.png").exists()
    assert run(["check", "planar-capture", *chosen, "seen.txt"]) == 2
