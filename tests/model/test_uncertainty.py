"""The table [uncertainty]: read strictly, written back, kept up with parts that come and go."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError, ModelError
from freefloat.model import Body
from freefloat.model.model_file import read_model, read_model_text
from freefloat.model.model_write import write_model_text
from freefloat.model.uncertainty import with_uncertainty
from freefloat.prediction.assumption_names import assumption_names
from freefloat.prediction.assumptions import list_assumptions

STATED = {"arm_*.zero": 2e-4, "arm_1.zero": 1e-3, "thr_*.offset.*": 1 / 3, "delay.*": 0.0}


def capture(stated: dict[str, float] | None = None) -> ff.Model:
    return replace(ff.load_model("planar-capture"), uncertainty=stated or {})


def faults_of(table: str) -> dict[str, str]:
    """Keys of a table with the codes of their faults."""
    text = write_model_text(capture()) + "\n[uncertainty]\n" + table
    with pytest.raises(ModelError) as caught:
        read_model_text(text)
    return {f.place.partition("uncertainty")[2].split(" ")[0]: f.code for f in caught.value.faults}


def test_what_is_written_comes_back_in_its_order():
    read = read_model_text(write_model_text(capture(STATED)))
    assert read == capture(STATED) and list(read.uncertainty) == list(STATED)
    assert hash(read) == hash(capture(STATED))


def test_a_name_without_quotes_is_one_name():
    text = write_model_text(capture()) + "\n[uncertainty]\narm_1.offset.x = 1e-3\n"
    assert read_model_text(text).uncertainty == {"arm_1.offset.x": 1e-3}


def test_every_fault_is_told_at_once():
    table = '"arm_9.zero" = 1e-3\n"*.zero" = -1\n"arm_1.gear" = nan\n"*.delay" = "soon"\n'
    assert faults_of(table) == {
        ".arm_9.zero": "name.unknown", ".*.zero": "value.range", ".arm_1.gear": "value.range",
        ".*.delay": "value.type",
    }  # fmt: skip


def test_an_unknown_name_has_its_line_and_a_guess():
    text = write_model_text(capture()) + '\n[uncertainty]\n"arm_1.geer" = 1e-4\n'
    with pytest.raises(ModelError) as caught:
        read_model_text(text)
    (fault,) = caught.value.faults
    assert fault.line == text.count("\n") and "arm_1.gear" in fault.remedy


def test_it_goes_beside_a_urdf(tmp_path):
    capture().save(tmp_path / "arm.urdf")
    text = 'format = 1\nname = "arm"\nurdf = "arm.urdf"\n[root]\ntype = "planar"\n'
    (tmp_path / "arm.toml").write_text(text + '[uncertainty]\n"arm_*.zero" = 2e-4\n')
    assert read_model(tmp_path / "arm.toml").uncertainty == {"arm_*.zero": 2e-4}


def test_the_last_that_matches_counts_and_before_the_part_itself():
    model = capture({**STATED, "target.scale": 0.2})
    assert model.body("target").uncertainty is not None  # the built-in model states one itself
    flight = ff.simulate(model, ff.default_plan(model, duration=5.0), seed=1)
    found = {a.name: a for a in list_assumptions(model, flight)}
    assert (found["arm_1.zero"].std, found["arm_2.zero"].std) == (1e-3, 2e-4)
    assert found["target.scale"].std == 0.2 and found["arm_1.zero"].is_stated
    assert found["delay.base.rate"].std == 0.0 and not found["arm_1.gear"].is_stated
    more = with_uncertainty(model, {"arm_*.zero": 5e-4})  # what comes later wins
    found = {a.name: a for a in list_assumptions(more, flight)}
    assert found["arm_1.zero"].std == 5e-4


@pytest.mark.parametrize("name", [m.name for m in ff.builtin_models()])
def test_everything_taken_as_exact_has_a_name_that_can_be_stated(name):
    model = ff.load_model(name)
    flight = ff.simulate(model, ff.default_plan(model, duration=2.0), seed=1)
    listed = {assumption.name for assumption in list_assumptions(model, flight)}
    assert listed <= set(assumption_names(model))


def test_parts_that_leave_take_their_entries_along():
    model = capture({"target.scale": 0.1, "*.scale": 0.2, "bias.target.rate.z": 1e-3})
    assert model.release("target").uncertainty == {"*.scale": 0.2}
    other = model.swap("target", Body("debris", 10.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0)))
    assert list(other.uncertainty) == ["debris.scale", "*.scale", "bias.debris.rate.z"]
    assert read_model_text(write_model_text(other)) == other


def test_python_is_as_strict_as_a_file():
    model = capture({"arm_9.zero": 1e-3})
    flight = ff.simulate(capture(), ff.default_plan(capture(), duration=2.0), seed=1)
    with refused(IdentificationError, "name.unknown"):
        ff.identify(model, ff.Parameters(model).free("bus.mass"), flight)
    with refused(ModelError, "value.range"):
        write_model_text(capture({"*.zero": float("nan")}))


def test_what_is_exact_adds_nothing_to_the_deviations():
    model = capture({"*": 0.0})
    flight = ff.simulate(model, ff.default_plan(model, duration=20.0), seed=1)
    fit = ff.identify(model, ff.Parameters(model).free("target.mass"), flight)
    assert fit.assessment is not None and fit.assessment.doubts == ()
    mass = fit["target.mass"]
    assert mass.total_std == mass.std > 0.0
