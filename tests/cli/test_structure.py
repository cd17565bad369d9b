"""`freefloat structure` tells which effects a recording calls for."""

from __future__ import annotations

import pytest
from exciting_plans import splines_then_rest

import freefloat as ff


@pytest.fixture
def flown(tmp_path):
    """A short flight of the sloshing servicer, and its plan."""
    model = ff.load_model("servicer-slosh")
    plan = splines_then_rest(model, duration=8.0, rest=4.0, points=6)
    plan.save(tmp_path / "plan.toml")
    ff.simulate(model, plan, seed=2).save(tmp_path / "flight.parquet")
    return "flight.parquet"


def test_what_is_called_for_is_told_and_written(command, flown, tmp_path):
    told = command(
        "structure", "servicer-slosh", flown, "--plan", "plan.toml", "--known-start",
        "--free", "bus.mass", "--free", "bus.i*", "--save-model", "called.toml", "--json",
    ).json  # fmt: skip
    assert told["called_for"] == ["slosh"] and told["effects"][0]["gain"] > 10
    assert ff.load_model(tmp_path / "called.toml").tanks


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--effects", "wind"), "no effect called"),
        (("--effects", "wheels"), "has no wheels"),
        (("--known-start",), "--plan"),
    ],
)
def test_bad_requests_are_refused(command, flown, arguments, words):
    ended = command("structure", "servicer-slosh", flown, *arguments)
    assert ended.code == 2 and words in ended.err
