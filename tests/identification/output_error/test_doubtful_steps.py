"""A step that may well fail is tried without slopes first: the same decision, less work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import freefloat as ff
from freefloat.identification.output_error import levenberg
from freefloat.identification.output_error.cost import (
    Evaluation,
    OutputErrorProblem,
    stated_noise,
)
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.unknowns import unknowns_of

MODEL = ff.load_model("planar-capture")


def problem_of() -> OutputErrorProblem:
    flight = ff.simulate(MODEL, ff.default_plan(MODEL, duration=8.0, seed=1), seed=1, step=1e-2)
    recording = recording_of(MODEL, flight, step=1e-2)
    wanted = ff.Parameters(MODEL).free("target.mass", "target.izz")
    unknowns = unknowns_of(wanted, [recording], is_start_known=False, options=SearchOptions())
    return OutputErrorProblem((recording,), unknowns, stated_noise([recording]))


def test_decision_is_that_of_a_step_with_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of()
    step = 0.3 * problem.unknowns.start
    whole, asked = problem.evaluate(problem.unknowns.move(problem.unknowns.start, step)), []
    assert whole is not None

    def flown(self: OutputErrorProblem, at: np.ndarray) -> Any:
        asked.append(at)
        return whole

    monkeypatch.setattr(OutputErrorProblem, "evaluate", flown)

    def attempt(cost: float, *, is_doubtful: bool) -> Evaluation | None:
        before = replace(whole, theta=problem.unknowns.start, cost=cost)
        return levenberg._attempt(problem, before, step=step, expected=0.0, is_doubtful=is_doubtful)

    assert attempt(0.999 * whole.cost, is_doubtful=True) is None
    assert not asked
    assert attempt(1.001 * whole.cost, is_doubtful=True) is whole
    assert attempt(0.0, is_doubtful=False) is whole
    assert len(asked) == 2
