"""Writing a model and reading it back gives the same bits (F5), in both formats."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fault_codes import refused
from hypothesis import given, settings
from model_samples import TOML, URDF
from model_strategies import models, plain_models

from freefloat.errors import FreefloatError, ModelError
from freefloat.model import Body, Joint, Model, Placement, Root, builtin_models, load_model
from freefloat.model.model_file import read_model_text
from freefloat.model.model_write import write_model_text
from freefloat.model.urdf import read_urdf
from freefloat.model.urdf_write import write_urdf

BUILTIN = [model.name for model in builtin_models()]


def bits(model: Model) -> str:
    """Everything the model holds; repr tells minus zero from zero and keeps every digit."""
    return repr(replace(model, notes=()))


@pytest.mark.promise("F5")
@settings(max_examples=40)
@given(models())
def test_any_model_survives_toml(model):
    assert bits(read_model_text(write_model_text(model))) == bits(model)


@pytest.mark.promise("F5")
@settings(max_examples=40)
@given(plain_models())
def test_any_bodies_and_joints_survive_urdf(model):
    assert bits(read_urdf(write_urdf(model))) == bits(model)


@pytest.mark.promise("F5")
@settings(max_examples=10)
@given(models())
def test_any_model_can_be_written_as_urdf(model):
    again = read_urdf(write_urdf(model))
    assert again.bodies[: len(model.bodies)] == model.bodies
    assert again.mass == pytest.approx(model.mass - sum(tank.mass for tank in model.tanks))


@pytest.mark.promise("F5")
@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_models_survive_both_formats(name, tmp_path, figure):
    model = load_model(name)
    model.save(tmp_path / "copy.toml")
    assert bits(load_model(tmp_path / "copy.toml")) == bits(model)
    model.save(tmp_path / "copy.urdf")
    once = load_model(tmp_path / "copy.urdf")
    once.save(tmp_path / "again.urdf")
    assert bits(load_model(tmp_path / "again.urdf")) == bits(once)
    figure("F5", f"{name}: identical")


@pytest.mark.promise("F5")
def test_samples_survive_both_formats():
    for model in (read_urdf(URDF), read_model_text(TOML)):
        assert bits(read_model_text(write_model_text(model))) == bits(model)
    model = read_urdf(URDF)
    assert bits(read_urdf(write_urdf(model))) == bits(model)


def test_extras_are_written_back_as_they_were():
    text = write_urdf(read_urdf(URDF))
    for kept in (
        '<material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>',
        '<visual name="hull &amp; panels"><geometry><box size="1 1 1"/></geometry></visual>',
        '<safety_controller k_velocity="10"/>',
        "<transmission",
        '<robot name="sample" version="1.0">',
    ):
        assert text.count(kept) == 1


def test_a_urdf_names_what_it_leaves_out():
    text = write_urdf(read_model_text(TOML))
    comment = text[text.index("<!--") : text.index("-->")]
    for word in ("tank", "wheel_x", "jet", "2 sensors", "orbit", "drag", "slide", "arm_1", ".toml"):
        assert word in comment
    again = read_urdf(text)
    assert again.body("debris").mass == 80.0
    assert again.joint("debris").parent == "link_2"
    assert again.joint("debris").placement.xyz == (0.0, 0.0, 0.1)


def test_a_urdf_that_holds_everything_has_no_comment():
    assert "<!--" not in write_urdf(read_urdf(URDF))


def test_the_comment_is_never_broken_by_a_name():
    body = Body("a", 1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
    odd = Body("x---y--", 1.0)
    joint = Joint("--j---", "revolute", "a", odd.name, role="locked")
    model = Model("m", Root("a"), (body, odd), (joint,))
    assert read_urdf(write_urdf(model)).joint("--j---").child == odd.name


def test_other_readers_can_read_what_is_written():
    pin = pytest.importorskip("pinocchio")
    for name in BUILTIN:
        model = load_model(name)
        other = pin.buildModelFromXML(write_urdf(model), pin.JointModelFreeFlyer())
        fuel = sum(tank.mass for tank in model.tanks)
        # rounding of the sums
        assert pin.computeTotalMass(other) == pytest.approx(model.mass - fuel, rel=1e-12)


@pytest.mark.parametrize(
    "extra",
    ["<visual", "text", "<visual/><visual/>", " <visual/>", "<inertial/>", 'name="x"', "a='1'",
     "<!-- remark -->", "<visual/>tail", '<!DOCTYPE x>', "", "\ud800"],
)  # fmt: skip
def test_extras_that_would_break_the_file_are_refused(extra):
    model = Model("m", Root("a"), (Body("a", 1.0, extras=(extra,)),))
    for write in (write_urdf, write_model_text):
        with refused(ModelError, "urdf.extra"):
            write(model)


@pytest.mark.parametrize("write", [write_urdf, write_model_text])
def test_an_impossible_model_is_not_written(write):
    bad = Model("m", Root("a"), (Body("a", 1.0, inertia=(1.0, 0.0, 0.0, 1.0, 0.0, 5.0)),))
    with refused(ModelError, "model.inertia"):
        write(bad)


def test_saving_is_atomic_and_refuses_other_kinds(tmp_path):
    model = read_urdf(URDF)
    target = tmp_path / "m.toml"
    target.write_text("old")
    with refused(ModelError, "name.form"):
        replace(model, name="").save(target)
    assert target.read_text() == "old"
    with refused(ModelError, "file.suffix"):
        model.save(tmp_path / "m.sdf")
    with refused(FreefloatError, "file.unwritable"):
        model.save(tmp_path / "missing" / "m.toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.toml"]


def test_text_no_file_can_hold_is_refused():
    with pytest.raises(ModelError, match="D800"):
        write_model_text(replace(read_urdf(URDF), description="\ud800"))


def test_written_toml_is_readable():
    text = write_model_text(read_model_text(TOML))
    assert "com = [0.1, 0.0, 0.0]\n" in text
    assert "inertia = [0.4, 0.4, 0.04]\n" in text  # a diagonal stays a diagonal
    assert "friction_speed" not in text  # defaults are left out
    order = ["[root]", "[[body]]", "[[joint]]", "[[tank]]", "[[wheel]]", "[[thruster]]"]
    order += ["[[target]]", "[[frame]]", "[[sensor]]", "[[capsule]]", "[orbit]", "[limits]"]
    places = [text.index(f"\n{header}\n") for header in order]
    assert places == sorted(places)


def test_minus_zero_is_kept():
    body = Body("a", 1.0, (-0.0, 0.0, 0.0), (1.0, -0.0, 0.0, 1.0, 0.0, 1.0))
    joint = Joint("j", "revolute", "a", "b", Placement((-0.0, 0.0, 0.0)), damping=-0.0)
    model = Model("m", Root("a"), (body, Body("b", -0.0)), (joint,))
    assert bits(read_urdf(write_urdf(model))) == bits(model)
    assert bits(read_model_text(write_model_text(model))) == bits(model)
