"""`freefloat models` lists what there is, and copies it."""

from __future__ import annotations

import json

from freefloat.model import builtin_models, load_model


def test_every_model_is_listed_within_eighty_columns(command):
    ended = command("models")
    assert ended.code == 0
    for model in builtin_models():
        assert model.name in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


def test_the_list_for_machines(command):
    ended = command("models", "--json")
    by_name = {entry["name"]: entry for entry in json.loads(ended.out)["models"]}
    assert list(by_name) == [model.name for model in builtin_models()]
    assert by_name["servicer"]["mass"] == load_model("servicer").mass
    assert by_name["cepheus"]["root"] == "planar"


def test_a_copy_is_the_same_model_and_nothing_is_replaced_unasked(command, tmp_path):
    ended = command("models", "copy", "servicer", "mine.toml")
    assert ended.code == 0 and "mine.toml" in ended.out
    assert load_model(tmp_path / "mine.toml") == load_model("servicer")
    (tmp_path / "mine.toml").write_text("my own")
    refused = command("models", "copy", "servicer", "mine.toml")
    assert refused.code == 2 and "--force" in refused.err
    assert (tmp_path / "mine.toml").read_text() == "my own"
    replaced = command("models", "copy", "servicer", "mine.toml", "--force", "--json")
    assert replaced.json["files"] == ["mine.toml"]
    assert load_model(tmp_path / "mine.toml") == load_model("servicer")


def test_a_copy_goes_to_this_folder_unless_said(command, tmp_path):
    assert command("models", "copy", "cepheus").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["cepheus.toml"]
