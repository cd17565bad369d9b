"""Models by name and by path, and copies of the built-in ones."""

from __future__ import annotations

import pytest
from fault_codes import refused
from model_samples import URDF

from freefloat.errors import ModelError
from freefloat.model import builtin_models, copy_model, load_model
from freefloat.model import loading as library_module


def test_built_in_models_have_names_descriptions_and_files():
    models = builtin_models()
    assert len(models) >= 5
    for model in models:
        assert model.path.is_file()
        assert model.description
        assert "\n" not in model.description
        assert model.path.stem == model.name


def test_a_name_gives_the_built_in_model():
    assert load_model("cepheus") == load_model(
        dict((m[0], m[2]) for m in builtin_models())["cepheus"]
    )


@pytest.mark.parametrize(
    ("name", "help_given"),
    [
        ("cepheuz", "did you mean 'cepheus'"),
        ("servicer.tml", "did you mean 'servicer'"),
        ("nowhere/to/be/found.toml", "`freefloat models` lists"),
        ("qqqq", "cepheus"),
        ("a\0b", "`freefloat models` lists"),
        ("x" * 5000, "`freefloat models` lists"),
    ],
)
def test_a_missing_model_is_told_with_help(name, help_given):
    with pytest.raises(ModelError) as caught:
        load_model(name)
    assert help_given in caught.value.faults[0].remedy


def test_other_files_and_folders_are_refused(tmp_path):
    (tmp_path / "a.sdf").write_text(URDF)
    with refused(ModelError, "file.suffix"):
        load_model(tmp_path / "a.sdf")
    (tmp_path / "folder.toml").mkdir()
    with refused(ModelError, "file.unreadable"):
        load_model(tmp_path / "folder.toml")


def test_suffixes_may_be_in_capitals(tmp_path):
    (tmp_path / "A.URDF").write_text(URDF)
    assert load_model(tmp_path / "A.URDF").name == "sample"


def test_a_copy_reads_the_same(tmp_path):
    (made,) = copy_model("cepheus", tmp_path / "new" / "folder")
    assert made == tmp_path / "new" / "folder" / "cepheus.toml"
    assert load_model(made) == load_model("cepheus")
    (made,) = copy_model("cepheus", tmp_path / "mine.toml")
    assert made.name == "mine.toml"


def test_a_copy_replaces_nothing_unasked(tmp_path):
    copy_model("cepheus", tmp_path)
    (tmp_path / "cepheus.toml").write_text("mine")
    with refused(ModelError, "file.exists"):
        copy_model("cepheus", tmp_path)
    assert (tmp_path / "cepheus.toml").read_text() == "mine"
    copy_model("cepheus", tmp_path, overwrite=True)
    assert load_model(tmp_path / "cepheus.toml") == load_model("cepheus")


def test_a_copy_brings_its_urdf(tmp_path, monkeypatch):
    source = tmp_path / "library"
    source.mkdir()
    (source / "arm.urdf").write_text(URDF)
    (source / "arm.toml").write_text('format = 1\nname = "arm"\nurdf = "arm.urdf"\n')
    (source / "broken.toml").write_text("=")
    monkeypatch.setattr(library_module, "files", lambda package: tmp_path)
    assert [(m.name, m.description) for m in builtin_models()] == [
        ("arm", ""),
        ("broken", "(cannot be read)"),
    ]
    made = copy_model("arm", tmp_path / "copy")
    assert sorted(path.name for path in made) == ["arm.toml", "arm.urdf"]
    assert load_model(made[0]).name == "arm"


def test_copying_what_does_not_exist_is_told(tmp_path):
    with refused(ModelError, "name.unknown") as caught:
        copy_model("cepheuss", tmp_path)
    assert "'cepheus'" in caught.value.faults[0].remedy
    (tmp_path / "file").write_text("")
    with refused(ModelError, "file.unwritable"):
        copy_model("cepheus", tmp_path / "file" / "inside")
