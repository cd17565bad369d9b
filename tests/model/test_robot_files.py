"""Robots as people have them: every URDF of `example-robot-data` beside Pinocchio.

Nothing of what a file says may change without a note that names the part it is about.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from robot_comparison import pinocchio_difference

from freefloat.errors import ModelError
from freefloat.model import Model, load_model
from freefloat.model.meshes import find_meshes
from freefloat.model.rotations import matrix_from_rpy
from freefloat.notes import codes_of


def robot_files() -> list[Path]:
    """The URDFs of the package, those of no robot left out: one has no links at all."""
    try:
        found = files("example-robot-data") or ()
    except PackageNotFoundError:
        return []
    paths = [Path(str(file.locate())) for file in found if file.suffix == ".urdf"]
    return sorted(path for path in paths if path.name != "ur3.urdf")


ROBOTS = robot_files()
pytestmark = pytest.mark.skipif(not ROBOTS, reason="needs example-robot-data")
BODIES = ("substituted.inertia", "substituted.no_mass")  # what changes the numbers of a body


def quoted(model: Model, *codes: str) -> set[str]:
    """The parts that notes of these codes are about, all of them: no note is cut short here."""
    return {
        name
        for note in model.notes
        if note.code in codes
        for name in re.findall(r"(?:link|joint) '([^']*)'", note)
    }


@pytest.fixture(autouse=True)
def whole_notes(monkeypatch):
    monkeypatch.setattr("freefloat.model.urdf_values.SHOWN_PLACES", 10_000)


@pytest.mark.promise("robots-as-they-are")
def test_every_robot_loads(figure):
    models = [load_model(path) for path in ROBOTS]
    assert len(models) >= 68  # of the 69 files of version 6.0
    noted = sum(any(c.startswith("substituted.") for c in codes_of(m.notes)) for m in models)
    figure(
        "robots-as-they-are",
        f"{len(models)} of {len(models) + 1} URDFs load, {noted} of them with substitutes noted;"
        " the other one has no links",
    )


def test_strict_refuses_what_is_noted_and_nothing_else():
    for path in ROBOTS:
        model = load_model(path)
        is_noted = any(code.startswith("substituted.") for code in codes_of(model.notes))
        try:
            assert load_model(path, strict=True) == model
            assert not is_noted, path.name
        except ModelError:
            # a joint that mimics although it is fixed needs no substitute
            assert is_noted or "<mimic" in str(model.joints), path.name


@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_no_number_of_a_body_changes_unless_noted(path):
    model = load_model(path)
    changed = quoted(model, *BODIES)
    for link in ElementTree.parse(path).getroot().iter("link"):
        name, inertial = link.attrib["name"].replace(".", "_"), link.find("inertial")
        if inertial is None or name in changed:
            continue
        body = model.body(name)
        mass = inertial.find("mass")
        assert mass is not None and body.mass == float(mass.attrib["value"])
        origin, given = inertial.find("origin"), inertial.find("inertia")
        place = {} if origin is None else origin.attrib
        assert body.com == tuple(map(float, place.get("xyz", "0 0 0").split()))
        assert given is not None
        xx, xy, xz, yy, yz, zz = (
            float(given.attrib[key]) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        R = matrix_from_rpy(tuple(map(float, place.get("rpy", "0 0 0").split())))
        turned = (R @ tensor @ R.T)[np.triu_indices(3)]
        # one rotation: a few units in the last place of the largest moment
        np.testing.assert_allclose(body.inertia, turned, atol=1e-14 * np.abs(tensor).max())


@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_pinocchio_computes_the_same(path):
    pytest.importorskip("pinocchio")
    model = load_model(path)
    if set(codes_of(model.notes)) & set(BODIES):
        pytest.skip("bodies are substituted, so that it is another robot")
    # sums over a hundred bodies: rounding is 1e-16 of the largest torque for each
    assert pinocchio_difference(path, model) < 1e-12


def test_meshes_are_found_beside_the_file():
    meshes = [mesh for path in ROBOTS for mesh in find_meshes(load_model(path), path)]
    found = [mesh for mesh in meshes if mesh.path is not None]
    # the package ships all but a few of the meshes that its files name
    assert len(found) > 0.98 * len(meshes) > 2000
