"""The benchmark: made from seeds, in a form that needs no freefloat, scored by numbers alone."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")
FOLDER = Path(__file__).parents[2] / "benchmark"


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("bench", "tasks", "forms", "entrants", "scoring", "textbook_least_squares"):
        sys.modules.pop(name, None)
    import bench

    return bench


def test_a_task_is_made_from_its_seed_and_keeps_its_truth_apart(bench, tmp_path):
    from forms import write_task
    from tasks import TASKS

    for folder in ("one", "two"):
        write_task(TASKS["tug"], TASKS["tug"].make(7), tmp_path / folder, is_whole=False)
    plain = tmp_path / "one" / "tug"
    with (
        np.load(plain / "recording.npz") as one,
        np.load(tmp_path / "two" / "tug" / "recording.npz") as two,
    ):
        assert one.files == two.files and "base.rate.x:values" in one.files
        assert all(np.array_equal(one[name], two[name]) for name in one.files)
    told = json.loads((plain / "task.json").read_text())
    truth = json.loads((tmp_path / "one" / "truth" / "tug.json").read_text())
    assert set(told["unknown"]) == set(truth["values"]) and "values" not in told
    assert truth["bound"] == truth["bound_of_known_motion"]  # nothing moves but the body
    assert (plain / "robot.urdf").exists() and not list(plain.glob("*truth*"))


def test_scores_are_those_of_their_definitions(bench):
    from scoring import score

    truth = {"values": {"m": 10.0, "x": 1.0}, "bound": {"m": 0.5, "x": 0.1},
             "bound_of_known_motion": {"m": 0.25, "x": 0.1}}  # fmt: skip
    found = score({"estimates": {"m": [11.0, 0.2, 0.2]}}, truth)
    assert (found.over_bound, found.over_known, found.answered) == (2.0, 4.0, 0.5)
    assert (found.coverage, found.overconfident) == (0.0, 1)
    assert math.isnan(score({"estimates": {}}, truth).over_bound)


def test_every_entrant_answers_or_says_why_not(bench, tmp_path):
    from entrants import ENTRANTS, DeclinedError
    from forms import write_task
    from tasks import TASKS

    write_task(TASKS["tug"], TASKS["tug"].make(7), tmp_path, is_whole=False)
    for name in ("textbook least squares", "mujoco.sysid", "FIGAROH", "padasip", "filterpy"):
        try:
            answer = ENTRANTS[name][1](tmp_path / "tug")
            assert answer["estimates"] and all(
                len(one) == 3 for one in answer["estimates"].values()
            )
        except DeclinedError as error:
            assert len(str(error)) > 20
    assert len(TASKS) >= 10 and "freefloat auto" in ENTRANTS
