"""Campaign files: read whole or refused with every fault, and the same on every worker."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_samples import FLIGHT, flight_campaign, function_campaign

from freefloat.campaign.campaign_file import load_campaign
from freefloat.campaign.campaign_text import read_campaign, write_campaign
from freefloat.campaign.run_setup import request_of, set_up
from freefloat.errors import CampaignError

BAD = """
format = 1
nme = "a misspelt key"
model = "planar-captur"
runs = 0
seed = -3
free = ["bus.mass"]
steps = ["identify", "bond"]
[plan]
duration = -20.0
[identify]
assess = 3
[limits]
memory = 3
[[vary]]
name = "truth.target.scale"
kind = "norml"
[[vary]]
name = "truth.target.mass"
kind = "normal"
mean = "a"
std = -0.1
[[vary]]
name = "identify.method"
kind = "grid"
values = [1, "a"]
"""
PLACES = {
    "name": "key.missing", "nme": "key.unknown", "model": "", "runs": "value.range",
    "seed": "value.range", "steps[1]": "value.choice", "plan.duration": "value.range",
    "identify.assess": "value.type", "limits.memory": "value.range",
    'vary[0] "truth.target.scale".kind': "value.choice",
    'vary[1] "truth.target.mass".mean': "value.type",
    'vary[1] "truth.target.mass".std': "value.range",
    'vary[2] "identify.method".values': "value.type",
}  # fmt: skip


UNFIT = """
format = 1
name = "values that no option takes"
model = "planar-capture"
free = ["bus.mass"]
[set]
"identify.method" = "foo"
[[vary]]
name = "faults.dropout"
kind = "uniform"
low = -1.0
high = 3.0
[[vary]]
name = "truth.bus.mass"
kind = "grid"
values = ["heavy", "light"]
[[vary]]
name = "simulate.step"
kind = "normal"
mean = -1e-2
std = 1e-3
"""
UNFIT_PLACES = {
    "set.identify.method": "value.choice", 'vary[0] "faults.dropout".low': "value.range",
    'vary[0] "faults.dropout".high': "value.range",
    'vary[1] "truth.bus.mass".values[0]': "value.type",
    'vary[2] "simulate.step".mean': "value.range",
}  # fmt: skip


def test_values_that_no_option_takes_are_faults_of_the_file(tmp_path):
    assert faults_of(tmp_path, UNFIT) == UNFIT_PLACES
    method = 'name = "x"\nformat = 1\nmodel = "cepheus"\nfree = ["bus.mass"]\n[identify]\n'
    assert faults_of(tmp_path, method + 'method = "outputerror"\n') == {
        "identify.method": "value.choice"
    }


def test_criteria_that_there_are_not_are_faults_of_the_file(tmp_path):
    head = 'format = 1\nname = "x"\nmodel = "planar-capture"\nfree = ["target.*"]\n'
    plan = '[plan]\ncriterion = "d_optimla"\n[[vary]]\nname = "plan.criterion"\nkind = "grid"\n'
    text = plan + 'values = ["worst_parameter", "target.mass", "bus.mass", "base_motion"]\n'
    assert faults_of(tmp_path, head + 'steps = ["design", "simulate"]\n' + text) == {
        "plan.criterion": "value.choice",
        'vary[0] "plan.criterion".values[2]': "value.choice",  # not free, so nothing to design for
    }


@pytest.mark.parametrize(
    ("code", "is_fine"),
    [
        ("def run(inputs, seed): return {}\n", True),
        ("from os import *\n", True),
        ("from os import getpid as run\n", True),
        ("try:\n    run = print\nexcept NameError:\n    pass\n", True),
        ("def runs(inputs, seed): return {}\n", False),
        ("class A:\n    def run(self): pass\n", False),
        ("", False),
    ],
)
def test_a_function_file_without_run_is_refused(tmp_path, code, is_fine):
    (tmp_path / "own.py").write_text(code)
    text = 'format = 1\nname = "own"\nfunction = "own.py"\n'
    if is_fine:
        (tmp_path / "good.toml").write_text(text)
        assert load_campaign(tmp_path / "good.toml").code == code
    else:
        assert faults_of(tmp_path, text) == {"function": "key.missing"}


def faults_of(folder: Path, text: str) -> dict[str, str]:
    path = folder / "bad.toml"
    path.write_text(text)
    with pytest.raises(CampaignError) as raised:
        load_campaign(path)
    assert all(fault.remedy for fault in raised.value.faults)
    return {f.place.removeprefix("bad.toml: ").partition(" (line")[0]: f.code
            for f in raised.value.faults}  # fmt: skip


@pytest.mark.promise("F3")
def test_every_fault_is_told_at_once(tmp_path):
    found = faults_of(tmp_path, BAD)
    for place, code in PLACES.items():
        assert place in found and (not code or found[place] == code), place
    assert len(found) == len(PLACES)


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        ("truth.target.mas", "", "name.unknown"),
        ("trth.target.mass", "", "name.unknown"),
        ("truth.sensor.gyro.nois", "", "name.unknown"),
        ("truth.sensor.wheel_speed.noise", "", "name.unknown"),
        ("identify.metod", "", "name.unknown"),
        ("faults.dropout", "mean = 2.0", "value.range"),
        ("identify.method", "", "value.choice"),
    ],
)
def test_what_cannot_vary_is_refused(tmp_path, name, kind, code):
    mean = kind or "mean = 1.0"
    more = f'[[vary]]\nname = "{name}"\nkind = "normal"\n{mean}\nstd = 0.1\n'
    assert code in faults_of(tmp_path, FLIGHT.format(runs=1) + more).values()


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ('steps = ["identify"]', "value.order"),
        ('steps = ["simulate", "simulate"]', "name.duplicate"),
        ('steps = ["function"]', "key.missing"),
        ('free = ["target.mas"]', "name.unknown"),
        ('model = "../secret.toml"', "file.outside"),
        ('function = "none.py"', "file.unreadable"),
    ],
)
def test_heads_that_make_no_sense_are_refused(tmp_path, more, code):
    key = more.partition(" =")[0]
    lines = [line for line in FLIGHT.format(runs=1).splitlines() if not line.startswith(key)]
    text = "\n".join([lines[1], more, *lines[2:]])
    assert code in faults_of(tmp_path, text).values()


def test_a_campaign_travels_as_text_and_stays_the_same(tmp_path):
    made = flight_campaign(tmp_path, runs=3)
    text = write_campaign(made)
    back = read_campaign(text)
    assert back == made and back.digest == made.digest
    assert json.loads(text)["robot"]
    with pytest.raises(CampaignError):
        read_campaign("{}")


def test_the_digest_is_of_what_decides_results(tmp_path):
    made = flight_campaign(tmp_path, runs=3)
    assert replace(made, runs=9, name="other").digest == made.digest
    assert replace(made, seed=6).digest != made.digest
    assert replace(made, robot=replace(made.robot, name="other")).digest != made.digest


def test_a_request_depends_on_its_number_alone(tmp_path):
    grid = '[[vary]]\nname = "identify.method"\nkind = "grid"\nvalues = ["auto", "weak"]\n'
    few, many = (flight_campaign(tmp_path, runs=n, more=grid) for n in (2, 50))
    assert (few.n_runs, many.n_runs) == (4, 100)
    for run in range(4):
        assert request_of(few, run) == request_of(many, run)
    pair = [request_of(few, run) for run in (0, 1)]
    assert {one.inputs["identify.method"] for one in pair} == {"auto", "weak"}
    # methods are compared on the same flights
    assert pair[0].inputs["truth.target.mass"] == pair[1].inputs["truth.target.mass"]
    assert request_of(few, 2).inputs["truth.target.mass"] != pair[0].inputs["truth.target.mass"]


def test_truth_belief_and_options_are_varied_apart(tmp_path):
    more = (
        '[set]\n"model.sensor.gyro.noise" = 3e-4\n"belief.bus.mass" = 480.0\n'
        '[[vary]]\nname = "faults.dropout"\nkind = "choice"\nvalues = [0.25]\n'
    )
    made = flight_campaign(tmp_path, runs=1, more=more)
    setup = set_up(made, request_of(made, 0))
    assert setup.truth.body("bus").mass == made.robot.body("bus").mass
    assert setup.belief.body("bus").mass == pytest.approx(480.0)
    assert setup.truth.body("target").mass != setup.belief.body("target").mass
    assert {s.noise for s in setup.belief.sensors if s.kind == "gyro"} == {3e-4}
    assert setup.campaign.faults.dropout == 0.25


def test_a_function_is_read_with_the_file(tmp_path):
    made = function_campaign(tmp_path, runs=2)
    assert made.steps == ("function",) and "def run" in made.code
    (tmp_path / "runs.py").write_text("def run(:")
    with pytest.raises(CampaignError) as raised:
        load_campaign(tmp_path / "campaign.toml")
    assert "file.syntax" in raised.value.codes


@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[2] / "campaigns").glob("[A-Z]*.toml")),
    ids=lambda p: p.stem,
)
def test_the_campaigns_of_the_promises_can_be_read(path):
    assert load_campaign(path).n_runs >= 40
