"""Plan files come back bit for bit; what is wrong with one is told at once, with its place."""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import asdict, replace

import numpy as np
import pytest
from damaged_texts import Case, check_told_at_once, error_of, every_number
from fault_codes import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_samples import CAPTURE, FULL, TOML

import freefloat as ff
from freefloat.dynamics import Start
from freefloat.errors import ExcitationError, FreefloatError
from freefloat.excitation import (
    Accelerate,
    Bangs,
    CaptureControl,
    Feedback,
    Fourier,
    Hold,
    Moves,
    Plan,
    Pulses,
    Sinusoid,
    Speeds,
    Spline,
    Steps,
    Table,
    Wave,
    default_plan,
)
from freefloat.excitation.plan_file import load_plan, read_plan_text
from freefloat.excitation.plan_write import PLAN_FILE, save_plan, save_table, write_plan
from freefloat.model import builtin_models, load_model
from freefloat.telemetry import read_telemetry

MUTANTS = int(os.environ.get("FREEFLOAT_MUTANTS", "200"))
MOST_SECONDS = 5.0  # of processor time


# ---- There and back ------------------------------------------------------------------------------


def bits(plan: Plan) -> str:
    """Everything the plan holds; repr tells minus zero from zero and keeps every digit."""
    return repr(plan)


@pytest.mark.promise("F5")
@pytest.mark.parametrize("plan", [FULL, CAPTURE, Plan(1.0)], ids=["full", "capture", "least"])
def test_samples_come_back_bit_for_bit(plan, tmp_path):
    save_plan(plan, tmp_path / "plan.toml")
    again = load_plan(tmp_path / "plan.toml")
    assert bits(again) == bits(plan)
    assert again == plan
    assert write_plan(again) == write_plan(plan)


@pytest.mark.promise("F5")
def test_default_plans_come_back_bit_for_bit(tmp_path, figure):
    names = [model.name for model in builtin_models()]
    for name in names:
        plan = default_plan(name, seed=2)
        plan.save(tmp_path / f"{name}.toml")
        assert bits(ff.load_plan(tmp_path / f"{name}.toml")) == bits(plan)
    figure("F5", f"plan files: identical for the default plans of {len(names)} models")


numbers = st.floats(-1e50, 1e50)  # minus zero and subnormal numbers included
positive = st.floats(1e-9, 1e9)
lists = st.lists(numbers, max_size=5).map(tuple)
letters = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
labels = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8
)


def rising(least: int):
    times = st.lists(numbers, min_size=least, max_size=5, unique=True)
    return times.map(lambda t: tuple(sorted(t))).filter(lambda t: np.all(np.diff(t) > 0.0))


def paired(part, least: int):
    """Times and as many other numbers."""
    return rising(least).flatmap(lambda t: st.tuples(*[numbers] * len(t)).map(lambda v: part(t, v)))


def series(n: int):
    same = st.tuples(*[numbers] * n)
    return st.builds(Fourier, positive, same, same, numbers, numbers)


def balanced(duration: float, levels: list[float]) -> Bangs:
    """Levels and their negatives: at rest in the end."""
    both = (*levels, *(-x for x in levels))
    return Bangs(duration, both, 0.5 * duration / (1 + len(both)))


motions = st.one_of(
    st.builds(Hold, numbers),
    st.integers(0, 3).flatmap(series),
    st.builds(Sinusoid, positive, numbers, numbers, positive, positive, numbers, numbers),
    paired(Moves, 1),
    st.builds(balanced, positive, st.lists(numbers, min_size=1, max_size=4)),
    paired(Speeds, 1),
    st.builds(Accelerate, numbers, numbers, numbers),
    st.builds(Spline, positive, st.lists(numbers, min_size=2, max_size=5).map(tuple)),
    st.tuples(numbers, numbers).map(lambda v: Table((0.0, 2e9), v)),  # longer than any plan
)
pulses = st.lists(st.tuples(numbers, st.floats(0.0, 1e9), numbers), max_size=4).map(tuple)
commands = st.one_of(
    st.builds(Pulses, pulses),
    st.builds(Wave, numbers, positive, numbers, numbers),
    paired(Steps, 1),
)
gains = st.floats(0.0, 1e9)
feedbacks = st.builds(Feedback, gains, gains, st.none() | gains)
triples = st.tuples(numbers, numbers, numbers)
named = st.dictionaries(labels, numbers, max_size=3)
attitudes = st.sampled_from([(0.0, 0.0, 0.0, 1.0), (-0.0, 0.6, 0.0, -0.8)])
starts = st.builds(Start, triples, attitudes, triples, triples, named, named)
open_loop = st.builds(
    Plan,
    positive,
    starts,
    st.dictionaries(labels, motions, max_size=3),
    st.dictionaries(labels, commands, max_size=2),
    st.dictionaries(labels, commands, max_size=2),
    st.dictionaries(labels, commands, max_size=2),
    st.dictionaries(labels, feedbacks, max_size=2),
    st.none(),
    labels,
)
closed_loop = st.builds(
    Plan, positive, starts, control=st.builds(CaptureControl, *[gains] * 6), name=labels
)


@pytest.mark.promise("F5")
@settings(max_examples=60)
@given(st.one_of(open_loop, closed_loop))
def test_any_plan_comes_back_bit_for_bit(plan):
    assert bits(read_plan_text(write_plan(plan))) == bits(plan)


def test_whole_numbers_and_arrays_become_tuples_of_floats():
    plan = Plan(5, motions={"a": Moves(np.array([0, 1]), [0, 2])})  # type: ignore[arg-type]
    again = read_plan_text(write_plan(plan))
    assert bits(again) == bits(Plan(5.0, motions={"a": Moves((0.0, 1.0), (0.0, 2.0))}, name="plan"))


def test_a_written_plan_is_readable():
    text = write_plan(FULL)
    order = ["[start]", "[[motion]]", "[[torque]]", "[[thrust]]", "[[wrench]]", "[[feedback]]"]
    places = [text.index(f"\n{header}\n") for header in order]
    assert places == sorted(places)
    assert 'coordinates = { hinge = 0.1, "elbow.motor" = -0.2 }\n' in text
    assert "position = [1.0, 0.0, -0.0]\n" in text
    assert '\non = "force.x"\nkind = "wave"\namplitude = 2.0\n' in text
    assert "kd = 3.0\n\n" in text  # no limit: left out


def test_the_format_of_the_documents_is_read():
    plan = read_plan_text(TOML)
    assert plan.start == Start((0.0, 1.0, 0.0), coordinates={"arm_7": 0.3})
    assert plan.motions["arm_1"] == Fourier(60.0, (0.1, 0.2), (0.0, -0.1))
    assert plan.motions["arm_3"] == Sinusoid(60.0, 0.1, 0.2, 10.0, 5.0)
    assert plan.torques == {"arm_5": Pulses(((1.0, 2.0, 0.5), (10.0, 2.0, -0.5)))}
    assert plan.thrusts == {"thr_1": Steps((1.0, 2.0), (5.0, 0.0))}
    assert plan.wrench == {"force.x": Wave(2.0, 8.0)}
    assert plan.feedback == {"arm_5": Feedback(50.0, 5.0, 10.0)}


# ---- Faults --------------------------------------------------------------------------------------


CASES = {
    "no format": Case("format = 1", "", ": format", "nothing", "key.missing"),
    "wrong format": Case("format = 1", "format = 2", ": format (line 1)", "2", "file.version"),
    "no name": Case('name = "wiggle"', "", ": name", "nothing", "key.missing"),
    "odd name": Case('"wiggle"', '"a\\tb"', ": name (line 2)", "'a\\tb'", "name.form"),
    "no duration": Case("duration = 60.0\n\n", "\n", ": duration", "nothing", "key.missing"),
    "negative duration": Case(
        "duration = 60.0\n\n", "duration = -60\n\n", ": duration (line 3)", "-60", "value.range"
    ),
    "duration in words": Case(
        "duration = 60.0\n\n", 'duration = "60 s"\n\n', ": duration (line 3)", "'60 s'",
        "value.type"),
    "unknown section": Case(
        "[[thrust]]", "[[thrusts]]", ": thrusts", "the key 'thrusts'", "key.unknown"),
    "single brackets": Case(
        "[[feedback]]", "[feedback]", ": feedback (line", "kp", "value.type"),
    "unknown kind": Case(
        '"fourier"', '"furier"', 'motion[0] "arm_1".kind (line 12)', "'furier'", "value.choice"),
    "no kind": Case(
        'kind = "moves"\n', "", 'motion[1] "arm_2".kind (line 17)', "nothing", "key.missing"),
    "unknown key": Case(
        "period = 10.0", "period = 10.0\nphas = 1.0", 'motion[2] "arm_3".phas', "the key 'phas'",
        "key.unknown"),
    "quoted number": Case(
        "period = 10.0", 'period = "10"', 'motion[2] "arm_3".period (line 29)', "'10'",
        "value.type"),
    "nan": Case(
        "period = 10.0", "period = nan", 'motion[2] "arm_3".period', "nan", "value.range"),
    "infinite": Case("kp = 50.0", "kp = inf", 'feedback[0] "arm_5".kp', "inf", "value.range"),
    "true": Case("ramp = 5.0", "ramp = true", 'motion[2] "arm_3".ramp', "True", "value.type"),
    "zero period": Case(
        "period = 10.0", "period = 0", 'motion[2] "arm_3".period (line 29)', "0", "value.range"),
    "unequal lengths": Case(
        "values = [0.0, 0.5, 0.0]", "values = [0.0]", 'motion[1] "arm_2".times (line 20)',
        "3 times and 1 values", "value.count"),
    "times going back": Case(
        "[0.0, 20.0, 40.0]", "[0.0, 20.0, 10.0]", 'motion[1] "arm_2".times[2] (line 20)',
        "10 s after 20 s", "value.order"),
    "a word among numbers": Case(
        "[0.0, 20.0, 40.0]", '[0.0, "20", 40.0]', 'motion[1] "arm_2".times[1]', "'20'",
        "value.type"),
    "a number for a list": Case(
        "control = [0.0, 0.3, 0.0]", "control = 0.3", 'motion[3] "arm_4".control (line 36)',
        "0.3", "value.type"),
    "one control point": Case(
        "control = [0.0, 0.3, 0.0]", "control = [0.3]", 'motion[3] "arm_4".control',
        "1 numbers", "value.count"),
    "a without b": Case(
        "b = [0.0, -0.1]", "b = []", 'motion[0] "arm_1".a', "2 a and 0 b", "value.count"),
    "negative motion": Case(
        'kind = "spline"\nduration = 60.0', 'kind = "spline"\nduration = -1',
        'motion[3] "arm_4".duration', "-1", "value.range"),
    "missing field": Case(
        "ramp = 5.0\n", "", 'motion[2] "arm_3".ramp', "nothing", "key.missing"),
    "no coordinate": Case(
        'coordinate = "arm_4"\n', "", "motion[3].coordinate", "nothing", "key.missing"),
    "coordinate a number": Case(
        '"arm_4"', "4", "motion[3].coordinate (line 33)", "4", "value.type"),
    "twice": Case(
        '"arm_4"', '"arm_2"', 'motion[3] "arm_2"', "a second motion of 'arm_2' (the first is "
        "motion[1])", "name.duplicate"),
    "negative pulse": Case(
        "[10.0, 2.0, -0.5]", "[10.0, -2.0, -0.5]", 'torque[0] "arm_5".pulses[1]',
        "length -2 s", "value.range"),
    "half a pulse": Case(
        "[10.0, 2.0, -0.5]", "[10.0, 2.0]", 'torque[0] "arm_5".pulses[1]', "[10.0, 2.0]",
        "value.count"),
    "levels missing": Case(
        "levels = [5.0, 0.0]", "levels = [5.0]", 'thrust[0] "thr_1".times', "2 times and 1",
        "value.count"),
    "motion as a thrust": Case(
        'kind = "steps"', 'kind = "moves"', 'thrust[0] "thr_1".kind', "'moves'",
        "value.choice"),
    "wrench period": Case(
        "period = 8.0", "period = -8.0", 'wrench[0] "force.x".period', "-8", "value.range"),
    "negative gain": Case(
        "kd = 5.0", "kd = -5.0", 'feedback[0] "arm_5".kd (line', "-5", "value.range"),
    "feedback with a kind": Case(
        "kd = 5.0", 'kd = 5.0\nkind = "pd"', 'feedback[0] "arm_5".kind', "the key 'kind'",
        "key.unknown"),
    "short position": Case(
        "[0.0, 1.0, 0.0]\n", "[0.0, 1.0]\n", ": start.position (line 6)", "2 numbers",
        "value.count"),
    "attitude not unit": Case(
        "[0.0, 0.0, 0.0, 1.0]", "[0.0, 0.0, 0.0, 2.0]", ": start.attitude (line 7)", "norm 2",
        "value.range"),
    "coordinates a list": Case(
        "{ arm_7 = 0.3 }", "[0.3]", ": start.coordinates (line 8)", "[0.3]", "value.type"),
    "coordinate in words": Case(
        "{ arm_7 = 0.3 }", '{ arm_7 = "up" }', ": start.coordinates.arm_7 (line 8)", "'up'",
        "value.type"),
    "start a list": Case("[start]", "[[start]]", ": start (line 5)", "[{", "value.type"),
    "start key": Case(
        "attitude = [", "atitude = [", ": start.atitude", "the key 'atitude'", "key.unknown"),
    "control kind": Case(
        "[start]", '[control]\nkind = "captur"\n[start]', ": control.kind (line 6)", "'captur'",
        "value.choice"),
    "control key": Case(
        "[start]", '[control]\nkind = "capture"\nforcegain = 1\n[start]',
        ": control.forcegain (line 7)", "the key 'forcegain'", "key.unknown"),
    "control limit": Case(
        "[start]", '[control]\nkind = "capture"\nmax_force = -1\n[start]',
        ": control.max_force (line 7)", "-1", "value.range"),
    "a date": Case(
        "amplitude = 2.0", "amplitude = 1979-05-27", 'wrench[0] "force.x".amplitude',
        "1979", "value.type"),
    "bad syntax": Case("kp = 50.0", "kp = 50,0", ":57, column", "kp = 50,0", "file.syntax"),
    "cut short": Case("limit = 10.0\n", "limit = ", "", "limit =", "file.syntax"),
    "key twice": Case(
        "kp = 50.0", "kp = 50.0\nkp = 60.0", ":58, column", "kp = 60.0", "file.syntax"),
}  # fmt: skip


@pytest.mark.promise("F2")
@pytest.mark.parametrize("name", CASES)
def test_a_fault_says_where_what_and_what_to_do(name, tmp_path):
    case = CASES[name]
    error = error_of(load_plan, case.applied_to(TOML), tmp_path / "wiggle.toml")
    (fault,) = error.faults
    assert isinstance(error, ExcitationError) and case.is_told_by(fault), str(error)
    assert fault.place.startswith("wiggle.toml") and case.place in fault.place, str(error)
    assert fault.expected and fault.remedy


@pytest.mark.promise("F3")
def test_all_faults_come_at_once(tmp_path, figure):
    names = ["wrong format", "negative duration", "unknown kind", "unequal lengths"]
    names += ["zero period", "one control point", "negative pulse", "levels missing"]
    names += ["wrench period", "negative gain", "attitude not unit", "short position"]
    names += ["coordinate in words"]
    text = TOML
    for name in names:
        text = CASES[name].applied_to(text)
    error = error_of(load_plan, text + "[motions]\n", tmp_path / "many.toml")
    check_told_at_once(error, CASES, names, more=1)  # the unknown section
    n = len(names) + 1
    figure("F3", f"{n} faults put into a plan file, {len(error.faults)} told in one run")


MISFIT = """\
format = 1
name = "for another robot"
duration = 10.0
[start]
rate = [0.1, 0.0, 0.0]
[[motion]]
coordinate = "elbow"
kind = "hold"
value = 0.0
[[motion]]
coordinate = "arm_2"
kind = "movess"
[[motion]]
coordinate = "rw_z"
kind = "table"
times = [0.0, 5.0]
values = [0.0, 5.0]
[[thrust]]
thruster = "jet"
kind = "pulses"
pulses = [[0, 1, 1]]
"""


def test_what_does_not_fit_the_model_is_told_beside_the_rest(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text(MISFIT)
    with pytest.raises(ExcitationError) as caught:
        load_plan(file, load_model("cepheus"))
    assert [fault.place for fault in caught.value.faults] == [
        'p.toml: motion[1] "arm_2".kind (line 12)',
        'p.toml: motion[2] "rw_z".times (line 16)',
        "p.toml: start.rate (line 5)",
        'p.toml: motion[0] "elbow" (line 6)',
        'p.toml: thrust[0] "jet" (line 18)',
    ]


def test_what_is_wrong_with_a_part_does_not_hide_the_rest(tmp_path):
    text = TOML.replace("times = [0.0, 20.0, 40.0]", "times = [0.0, 20.0, 20.0]\ntempo = 3")
    faults = error_of(load_plan, text, tmp_path / "a.toml").faults
    assert [re.sub(r".*\.(\S+) \(.*", r"\1", f.place) for f in faults] == ["tempo", "times[2]"]


@pytest.mark.promise("F4")
def test_hostile_files_are_refused_in_time(tmp_path):
    for text in (
        "a" * 10 + "[" * 100_000,
        "x = " + "[" * 5000 + "]" * 5000,
        "a." * 5000 + "b = 1",
        "duration = 0x" + "f" * 20_000,
        "duration = " + "9" * 20_000,
        "[[motion]]\n" * 5000,
        "motion = 1\ntorque = []\nthrust = {}\nwrench = [1]\nfeedback = [[]]\ncontrol = 0\n",
    ):
        start = time.process_time()
        assert error_of(load_plan, text, tmp_path / "hostile.toml").faults
        assert time.process_time() - start < MOST_SECONDS


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "big.toml").write_bytes(b"#" * (PLAN_FILE.max_bytes + 1))
    (tmp_path / "bad.toml").write_bytes(b'format = 1\nname = "\xff"\n')
    (tmp_path / "folder.toml").mkdir()
    for name, code, line in (
        ("big.toml", "file.size", None),
        ("bad.toml", "file.encoding", 2),
        ("missing.toml", "file.unreadable", None),
        ("folder.toml", "file.unreadable", None),
        ("plan.json", "file.suffix", None),
    ):
        with refused(ExcitationError, code) as caught:
            load_plan(tmp_path / name)
        assert caught.value.faults[0].line == line


class Unknown:
    """A motion no file knows."""

    def at(self, t):
        return t, t, t


@pytest.mark.parametrize(
    "plan",
    [
        Plan(-1.0),
        Plan(1.0, name="a\nb"),
        Plan(1.0, name="\ud800"),
        Plan(1.0, motions={"a": Unknown()}),  # type: ignore[dict-item]
        Plan(1.0, motions={"": Hold(0.0)}),
        Plan(1.0, motions={"a\n": Hold(0.0)}),
        Plan(1.0, motions={"a": Hold(float("nan"))}),
        Plan(1.0, Start(coordinates={" ": 1.0})),
        Plan(1e5, motions={"a": Table(tuple(range(130_000)), tuple(range(130_000)))}),
    ],
)
def test_what_could_not_be_read_is_not_written(plan, tmp_path):
    (tmp_path / "old.toml").write_text("old")
    with pytest.raises(ExcitationError):
        save_plan(plan, tmp_path / "old.toml")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("old.toml", "old")]


def test_saving_needs_a_place_and_a_kind(tmp_path):
    with refused(ExcitationError, "file.suffix"):
        save_plan(Plan(1.0), tmp_path / "plan.txt")
    with refused(FreefloatError, "file.unwritable"):
        save_plan(Plan(1.0), tmp_path / "missing" / "plan.toml")


def test_pydantic_is_loaded_only_for_plan_files():
    code = (
        "import sys, freefloat.excitation.plan_write as f, freefloat.excitation as e;"
        "f.write_plan(e.Plan(1.0)); sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# ---- Mutants -------------------------------------------------------------------------------------

TOKENS = ["nan", "inf", "-1", "0", "1e400", "true", '"x"', "[]", "{}", "[[", "]]", '"""', "\0"]
TOKENS += ["1" * 400, "= =", "1979-05-27", "'", "a.b", "kind", "[motion]", "\u202e", "[" * 500]
PIECES = [re.compile(p) for p in (r"-?\d+\.?\d*", r"[A-Za-z_]\w*", r"[^\n]*\n", r"\[[^\]]*\]")]


def mutant(seed: int) -> bytes:
    chance, text = random.Random(seed), TOML
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        found = [m.span() for m in chance.choice(PIECES).finditer(text)] or [(0, 0)]
        start, end = chance.choice(found)
        other = chance.choice(found)
        new = chance.choice(["", chance.choice(TOKENS), text[slice(*other)], text[start:end] * 3])
        text = text[:start] + new + text[end:]
    data = bytearray(text.encode())
    if data and chance.random() < 0.3:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def read_mutants(n: int, folder) -> str:
    model = load_model("servicer").with_joint("arm_5", role="torque")
    n_read, slowest = 0, 0.0
    for seed in range(n):
        path = folder / "mutant.toml"
        path.write_bytes(mutant(seed))
        start = time.process_time()
        try:
            plan = load_plan(path)
            n_read += 1
            assert all(map(math.isfinite, every_number(asdict(plan)))), seed
            assert bits(read_plan_text(write_plan(plan))) == bits(plan), seed
            plan.check(model)
        except FreefloatError as error:
            assert error.faults, seed
        slowest = max(slowest, time.process_time() - start)
    assert slowest < MOST_SECONDS
    assert 0.02 * n < n_read < 0.7 * n  # else the mutants are too wild or too tame
    return f"plan files: {n} mutants, {n_read} still sound, slowest {slowest:.2f} s"


@pytest.mark.promise("F1")
def test_mutants_are_plans_or_errors(tmp_path, figure):
    figure("F1", read_mutants(MUTANTS, tmp_path))


@pytest.mark.full
@pytest.mark.promise("F1")
def test_ten_thousand_mutants_are_plans_or_errors(tmp_path, figure):
    figure("F1", read_mutants(10_000, tmp_path))


# ---- Tables for controllers ----------------------------------------------------------------------


def test_a_table_holds_every_moved_coordinate(tmp_path):
    model = load_model("cbk-arm-geared")
    plan = default_plan(model, duration=5.0)
    save_table(plan, model, tmp_path / "play.csv", rate=40.0)
    table = read_telemetry(tmp_path / "play.csv")
    names = ["arm_2", "arm_3", "arm_1.motor"]
    fields = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s^2"}
    assert table.names == tuple(f"{name}.{field}" for name in names for field in fields)
    times = np.arange(201) / 40.0
    for name in names:
        parts = plan.motions[name].at(times)
        for (field, unit), part in zip(fields.items(), parts, strict=True):
            channel = table[f"{name}.{field}"]
            assert channel.unit == unit
            np.testing.assert_array_equal(channel.time, times)
            np.testing.assert_array_equal(channel.values, part)  # every bit


def test_a_table_holds_wheels_slides_and_references(tmp_path):
    model = load_model("cepheus").with_joint("arm_1", type="prismatic")
    model = model.with_joint("arm_2", role="torque")
    plan = Plan(
        1.03,
        motions={"arm_2": Hold(0.2), "rw_z": Speeds((0.0, 1.0), (0.0, 50.0))},
        feedback={"arm_2": Feedback(1.0, 0.1)},
    )
    save_table(plan, model, tmp_path / "play.csv", rate=10.0)
    head, *rows = (tmp_path / "play.csv").read_text().splitlines()
    assert head.startswith("time [s],arm_1.position [m],arm_1.velocity [m/s],arm_1.acceleration")
    assert "arm_2.position [rad]" in head and "rw_z.velocity [rad/s]" in head
    assert len(rows) == 12 and rows[-1].startswith("1.1,")  # the motion is played out
    assert rows[-1].split(",")[8] == "50.0"


def test_tables_that_cannot_be(tmp_path):
    model = load_model("planar-capture")
    with refused(ExcitationError, "value.conflict"):
        save_table(CAPTURE, model, tmp_path / "a.csv", rate=10.0)
    plan = default_plan(model)
    for rate in (0.0, -1.0, float("nan"), 1e9):
        with refused(ExcitationError, "value.range", naming="rate"):
            save_table(plan, model, tmp_path / "a.csv", rate=rate)
    with refused(ExcitationError, "name.unknown", naming="arm_9"):
        bad = replace(plan, motions={"arm_9": Hold(0.0)})
        save_table(bad, model, tmp_path / "a.csv", rate=1.0)
    with refused(ExcitationError, "file.suffix"):
        save_table(plan, model, tmp_path / "a.toml", rate=1.0)
    assert not list(tmp_path.iterdir())
