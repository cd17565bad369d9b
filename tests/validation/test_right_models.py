"""A right model is believed, a wrong one is caught: a few trials here, many in the full tests."""

from __future__ import annotations

from itertools import islice

import pytest
from verdict_trials import (
    AIR,
    PROVE,
    Trial,
    bearing,
    is_believed,
    judge,
    right_trials,
    ring_down,
    wrong_trials,
)

import freefloat as ff

N_RIGHT, N_WRONG = 90, 105


@pytest.mark.parametrize("sensors", AIR)
def test_a_ring_down_on_an_air_bearing_is_believed(sensors: str) -> None:
    """Released from a deflection that nobody measures, while the base drifts and turns."""
    model = bearing(sensors)
    for seed in (PROVE, PROVE + 1):
        verdict = ff.validate(model, ring_down(model, seed))
        assert verdict.is_positive and verdict["start"].code == "start.found", str(verdict)


def a_few(trials: list[Trial], *kinds: str) -> list[Trial]:
    """The first trial of each kind."""
    return [next(trial for trial in trials if trial.kind == kind) for kind in kinds]


def test_a_right_model_is_believed() -> None:
    trials = list(islice(right_trials(PROVE), 12))
    for trial in a_few(trials, "fit", "ring-down fit", "in motion", "noise not stated"):
        verdict, _ = judge(trial)
        assert is_believed(verdict.status_code), f"{trial.kind}, {trial.name}\n{verdict}"


def test_a_wrong_model_is_caught() -> None:
    """On the bearing, and with a captured target in the plane; not the smallest sizes."""
    every = islice(wrong_trials(PROVE), 35)
    trials = [t for t in every if t.name.startswith(("planar", "bearing")) and t.size >= 0.1]
    assert len(trials) > 5
    codes = []
    for trial in trials:
        verdict, _ = judge(trial)
        codes.append(verdict.status_code)
        assert not is_believed(codes[-1]), f"{trial.kind}, {trial.name}\n{verdict}"
    # where sensors tell little of the start, a wrong model may leave it unknown; not as a rule
    assert codes.count("rejected") > 0.8 * len(codes), codes


@pytest.mark.full
def test_of_many_right_models_at_most_two_per_cent_are_refused() -> None:
    refused = []
    for trial in islice(right_trials(PROVE), N_RIGHT):
        verdict, _ = judge(trial)
        if not is_believed(verdict.status_code):
            refused.append((trial.kind, trial.name, verdict.status))
    assert len(refused) <= 0.02 * N_RIGHT, refused


@pytest.mark.full
def test_of_many_wrong_models_nine_in_ten_are_caught() -> None:
    missed = []
    for trial in islice(wrong_trials(PROVE), N_WRONG):
        verdict, _ = judge(trial)
        if is_believed(verdict.status_code):
            missed.append((trial.kind, trial.size, trial.name))
    assert len(missed) <= 0.1 * N_WRONG, missed
