"""docs/own_robot.md, followed word by word, with recordings of an engine that is not ours."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from documents import ROOT, blocks, commands, file_name

import freefloat as ff
from freefloat.cli.run import run
from freefloat.model.inertia import phi_from_com

DOCUMENT = ROOT / "docs" / "own_robot.md"

pytest.importorskip("mujoco", reason="MuJoCo is not installed: no independent recording")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """What the reader has: the URDF of the page, and two recordings of the real thing."""
    from mujoco_chaser import record

    place = tmp_path_factory.mktemp("own")
    (urdf,) = blocks(DOCUMENT, "xml")
    name = file_name(urdf)
    assert name is not None
    (place / name).write_text(urdf.text, encoding="utf-8")
    record(place / "recording.csv", seed=1, duration=40.0)
    record(place / "second.csv", seed=2, duration=25.0)
    return place


def test_the_page_shows_what_the_recorder_writes(folder):
    (shown,) = blocks(DOCUMENT, "text")
    written = (folder / "recording.csv").read_text(encoding="utf-8").splitlines()
    header = next(line for line in shown.text.splitlines() if line.startswith("time"))
    assert any(line.startswith(header.removesuffix(",...")) for line in written)
    assert shown.text.splitlines()[0] in written  # the noise of the first channel


def test_every_command_does_what_the_page_says(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    asked = list(commands(DOCUMENT))
    assert [words[0] for words in asked] == ["check", "telemetry", "identify", "validate"]
    for words in asked:
        assert run(words) == 0, f"{words}: {capsys.readouterr()}"
    for words in asked:
        for name in re.findall(r"\S+\.(?:json|html)|chaser_identified\.urdf", " ".join(words)):
            assert Path(name).stat().st_size > 1000, name


def test_the_truth_of_the_other_engine_is_found(folder, monkeypatch):
    """Independent engine, independent file: every parameter within what its interval allows."""
    from mujoco_chaser import TRUTH

    monkeypatch.chdir(folder)
    (example,) = blocks(DOCUMENT, "python")
    told: dict = {}
    exec(compile(example.text, str(DOCUMENT), "exec"), told)
    fit, verdict = told["fit"], told["verdict"]
    xx, yy, zz, xy, xz, yz = TRUTH["inertia"]  # MuJoCo's order
    truth = phi_from_com(TRUTH["mass"], TRUTH["com"], (xx, xy, xz, yy, yz, zz))
    fields = ("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    for field, value in zip(fields, truth, strict=True):
        estimate = fit[f"bus.{field}"]
        # ten numbers, once: 3.5 deviations are passed by chance once in 200 runs
        assert abs(estimate.value - value) < 3.5 * estimate.std, field
        assert estimate.status == "seen"
    body = fit.model.body("bus")
    np.testing.assert_allclose(body.mass, TRUTH["mass"], rtol=2e-3)
    np.testing.assert_allclose(body.com, TRUTH["com"], atol=2e-4)
    assert verdict.is_positive, str(verdict)
    assert ff.load_model("chaser.urdf").mass == 81.0
