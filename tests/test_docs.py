"""What the documents show is true: their files can be read, their commands and code run."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from pkgutil import resolve_name
from typing import get_args

import numpy as np
import pytest
from documents import ROOT, blocks, commands, file_name

import freefloat as ff
from freefloat.cli.run import run
from freefloat.excitation import CaptureControl, Feedback
from freefloat.excitation.commands import AnyCommand
from freefloat.excitation.motions import AnyMotion
from freefloat.model.model_tables import model_schema
from freefloat.model.parts import SensorKind
from freefloat.records.schema import Kind, TableKind, TableList
from freefloat.telemetry import units
from freefloat.telemetry.units import si_unit

FORMATS = ROOT / "docs" / "formats.md"
API = ROOT / "docs" / "api.md"
START = ROOT / "docs" / "start.md"
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
)
WRITTEN = [
    path for path in DOCUMENTS if path.name not in ("CREDIBILITY.md", "CHANGELOG.md")
]  # which is made from results


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A folder with every whole file that the formats show."""
    for block in blocks(FORMATS, "toml", "csv", "xml"):
        name = file_name(block)
        assert name is not None, f"line {block.line}: a block without a file name"
        (tmp_path / name).write_text(block.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_model_can_be_read_checked_and_flown_with_its_plan(folder):
    model = ff.load_model("my_robot.toml")
    assert model.mass == pytest.approx(100 + 4 + 3 + 6 + 8 + 12)
    assert len(ff.modes(model)) == 3  # the wing, and the fuel in two directions
    plan = ff.load_plan("my_plan.toml")
    flight = ff.simulate(model, plan, seed=1)
    assert flight.end == 30.0
    assert {"base.rate.x", "base.attitude.w", "fuel_1.position", "shoulder.torque"} <= set(
        flight.names
    )
    assert run(["check", "my_robot.toml"]) == 0
    swing = ff.load_plan("my_sinusoid.toml", model).motions["elbow"]
    position, rate, _ = swing.at(np.array([0.0, 20.0, 21.25, 40.0]))
    np.testing.assert_allclose(position, [0.4, 0.5, 0.3, 0.4], atol=1e-12)
    np.testing.assert_allclose(rate[[0, -1]], 0.0, atol=1e-12)


def test_the_urdf_can_be_read_alone_and_beside_its_model_file(folder):
    alone = ff.load_model("my_arm.urdf")
    assert alone.mass == 104.0 and alone.joint("shoulder").limits.effort == 20.0
    both = ff.load_model("my_arm.toml")
    assert both.mass == pytest.approx(104.2) and both.joint("shoulder").home == 0.3
    assert both.joint("shoulder").limits.acceleration == 0.5
    assert both.joint("shoulder").limits.upper == 2.0
    assert any("<visual>" in extra for extra in both.body("bus").extras)


def test_the_recording_can_be_read(folder):
    flight = ff.read_telemetry("my_flight.csv")
    rate, attitude = flight["base.rate.z"], flight["base.attitude.z"]
    assert rate.unit == "rad/s" and rate.values[0] == pytest.approx(np.deg2rad(0.573))
    assert rate.noise == pytest.approx(np.deg2rad(0.006))
    assert (rate.n_samples, rate.n_invalid, attitude.n_samples) == (5, 1, 2)
    assert flight.metadata["robot"] == "my-robot"


def keys_in(table: Kind) -> set[str]:
    """Every key that may stand in a table of a file, or in one below it."""
    if isinstance(table, TableList):
        return keys_in(table.item)
    if not isinstance(table, TableKind):
        return set()
    return set(table.keys).union(*map(keys_in, table.keys.values()))


def test_every_key_is_explained():
    """Each key of the schema, and each field of a plan's parts, stands in backticks."""
    explained = set(re.findall(r"`\"?([\w.]+)\"?`", FORMATS.read_text(encoding="utf-8")))
    explained |= {"sigma", "time"}  # shown in the line on coloured noise
    keys = keys_in(model_schema().table)
    assert {"mass", "stiffness", "noise"} <= keys
    keys -= {"root", "body", "joint", "tank", "wheel", "thruster", "target", "frame", "sensor"}
    keys -= {"capsule", "orbit", "limits"}  # sections, each with a heading of its own
    parts = (*get_args(AnyMotion), *get_args(AnyCommand), Feedback, CaptureControl, ff.Start)
    keys |= {field.name for part in parts for field in fields(part)}
    kinds = {part.kind for part in parts if hasattr(part, "kind")} | set(get_args(SensorKind))
    assert not (keys | kinds) - explained


def test_every_unit_is_listed():
    text = FORMATS.read_text(encoding="utf-8")
    section = text.partition("\n### Units\n")[2].partition("\n### ")[0]
    listed = set(re.findall(r"`([^`]+)`", section.partition("|---|")[2]))
    assert listed == set(units._TABLE)
    assert all(
        si_unit(unit) for unit in ("RPM", "Deg", "m/s2", "m/s²", "N·m", "N*m", "µm", "m/s**2")
    )


def test_every_name_in_python_is_there_and_every_public_one_is_listed():
    listed = re.findall(r"`((?:ff|freefloat)(?:\.\w+)+)`", API.read_text(encoding="utf-8"))
    assert listed
    for name in listed:
        value = resolve_name(re.sub(r"^ff\.", "freefloat.", name))
        assert getattr(value, "__doc__", None), name
    # Identification has no page yet.
    public = {f"ff.{n}" for n, home in ff._HOME_OF.items() if "identification" not in home}
    assert public <= set(listed)


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: path.name)
def test_names_and_paths_in_documents_exist(document):
    text = document.read_text(encoding="utf-8")
    for name in set(re.findall(r"\bfreefloat(?:\.[A-Za-z_]\w*)+", text)):
        if not name.endswith((".md", ".toml")):
            resolve_name(name)
    paths = re.findall(r"(?<![\w/.])(?:src|tests|tools|benchmarks|docs|examples)/[\w/]+\.\w+", text)
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_the_first_half_hour_can_be_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments in commands(START):
        assert run(arguments) == 0, arguments
    for block in blocks(START, "python"):
        exec(compile(block.text, f"{START}:{block.line}", "exec"), {})
    for block in blocks(START, "toml"):
        assert tomllib.loads(block.text)["format"] == 1
    assert "The recording" in capsys.readouterr().out


def test_the_loop_of_design_and_flight_can_be_followed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments in commands(ROOT / "docs" / "design.md"):
        assert run(arguments) == 0, arguments
    found = [ff.load_fit(name)["link_2.izz"].std for name in ("fit.json", "both.json")]
    assert found[1] < found[0] and "known to" in capsys.readouterr().out


def anchor_of(heading: str) -> str:
    """The anchor that GitHub and MyST give a heading."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        path = (document.parent / file) if file else document
        assert path.exists(), f"{document.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(anchor_of, headings), f"{document.name}: {target}"
