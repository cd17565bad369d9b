"""A broken estimator turns a row of each paper to missed, and the exit code to 1."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import scipy.optimize

from freefloat.identification.output_error.search import SearchResult
from freefloat.online.estimator import OnlineEstimator

OFF = 1.01  # every estimate is one per cent too large


def break_output_error(monkeypatch):
    theta = SearchResult.theta.fget
    monkeypatch.setattr(SearchResult, "theta", property(lambda self: OFF * theta(self)))


def break_live_filter(monkeypatch):
    values = OnlineEstimator.values.fget
    monkeypatch.setattr(OnlineEstimator, "values", property(lambda self: OFF * values(self)))


def break_linear_solver(monkeypatch):
    solve = np.linalg.lstsq

    def off(*arguments, **options):
        found, *rest = solve(*arguments, **options)
        return OFF * found, *rest

    monkeypatch.setattr(np.linalg, "lstsq", off)


def break_least_squares(monkeypatch):
    solve = scipy.optimize.least_squares

    def off(*arguments, **options):
        result = solve(*arguments, **options)
        result.x = OFF * result.x
        return result

    monkeypatch.setattr(scipy.optimize, "least_squares", off)


@pytest.mark.promise("papers")
@pytest.mark.parametrize(
    ("paper", "study", "break_it"),
    [
        ("000", "fuel_rows", break_output_error),
        ("001", "velocity_rows", break_live_filter),
        ("002", "load_rows", break_output_error),
        ("003", "motion_rows", break_linear_solver),
        ("004", "bound_rows", break_least_squares),
    ],
)
def test_one_per_cent_off_is_a_missed_row(paper, study, break_it, command, monkeypatch):
    module = import_module(f"freefloat.papers.paper_{paper}")
    (chosen,) = [one for one in module.STUDIES if one.__name__ == study]
    monkeypatch.setattr(module, "STUDIES", (chosen,))
    break_it(monkeypatch)
    ended = command("reproduce", paper, "--quick", "--json")
    assert ended.code == 1, ended.err
    assert not ended.json["ok"] and ended.json["tally"]["missed"] >= 1
