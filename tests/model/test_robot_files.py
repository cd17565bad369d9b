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

from freefloat.dynamics import flatten
from freefloat.dynamics.equations import inverse_dynamics
from freefloat.errors import ModelError
from freefloat.model import Model, load_model
from freefloat.model.mass_properties import mass_properties
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
    pin = pytest.importorskip("pinocchio")
    model = load_model(path)
    if set(codes_of(model.notes)) & set(BODIES):
        pytest.skip("bodies are substituted, so that it is another robot")
    root = pin.JointModelFreeFlyer() if model.root.type == "floating" else None
    other = pin.buildModelFromUrdf(str(path), *([root] if root else []))
    other.gravity.setZero()
    system, data = flatten(model), other.createData()
    rng = np.random.default_rng(3)
    coordinates = rng.uniform(-1.0, 1.0, (system.n_coordinates, 3))
    q, v, a = pin.neutral(other), np.zeros(other.nv), np.zeros(other.nv)
    rate, acceleration = np.zeros(3), np.zeros(6)
    if root:
        v[3:6] = rate = rng.uniform(-1.0, 1.0, 3)
        acceleration = rng.uniform(-1.0, 1.0, 6)
        a[3:6], a[:3] = acceleration[:3], acceleration[3:]
    names = [name.replace(".", "_") for name in other.names]
    rows = []
    for k, name in enumerate(system.coordinates):
        joint = other.joints[names.index(name)]
        position, v[joint.idx_v], a[joint.idx_v] = coordinates[k]
        is_circle = joint.nq == 2  # a continuous joint is a cosine and a sine there
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            (np.cos(position), np.sin(position)) if is_circle else position
        )
        rows.append(joint.idx_v)
    theirs = pin.rnea(other, data, q, v, a)
    ours = inverse_dynamics(system, [rate], [acceleration], [coordinates])[0]
    expected = np.concatenate([theirs[3:6], theirs[:3], theirs[rows]] if root else [theirs[rows]])
    # sums over a hundred bodies: rounding is 1e-16 of the largest torque for each
    size = np.abs(theirs).max()
    np.testing.assert_allclose(ours if root else ours[6:], expected, atol=1e-12 * size)
    home = np.array([c.home for c in model.assembly.coordinates])
    if not home.any():
        whole = mass_properties(model)
        # sums of masses in another order
        assert whole.mass == pytest.approx(pin.computeTotalMass(other), rel=1e-14)
        if root:
            com = pin.centerOfMass(other, data, pin.neutral(other))
            np.testing.assert_allclose(whole.com, com, atol=1e-13)  # likewise, in metres


def test_meshes_are_found_beside_the_file():
    meshes = [mesh for path in ROBOTS for mesh in find_meshes(load_model(path), path)]
    found = [mesh for mesh in meshes if mesh.path is not None]
    # the package ships all but a few of the meshes that its files name
    assert len(found) > 0.98 * len(meshes) > 2000
