"""Mass properties by kinematics alone agree with what the dynamics say of a floating root."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

from freefloat.dynamics import balance, flatten, mass_matrix
from freefloat.dynamics.state import Start
from freefloat.errors import ModelError
from freefloat.model import builtin_models, load_model
from freefloat.model.mass_properties import mass_properties, unit_note

NAMES = [model.name for model in builtin_models()]


@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_the_dynamics(name):
    model = load_model(name)
    model = replace(model, root=replace(model.root, type="floating"))
    system = flatten(model)
    rng = np.random.default_rng(0)
    q = {c.name: c.home + 0.3 * rng.normal() for c in model.assembly.coordinates}
    found = mass_properties(model, posture=q)
    state = balance(system, Start(coordinates=q).vector(system))
    H = mass_matrix(system, list(q.values()))[:6, :6]
    about_origin = found.inertia + found.mass * (
        found.com @ found.com * np.eye(3) - np.outer(found.com, found.com)
    )
    assert found.mass == pytest.approx(model.mass, rel=1e-14)  # the same sum in another order
    # Rounding of products of masses and lengths, a few hundred operations.
    np.testing.assert_allclose(found.com, state.com[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(H[:3, :3], about_origin, rtol=0, atol=1e-12 * np.max(H))


def test_principal_moments_do_not_depend_on_the_axes():
    found = mass_properties(load_model("servicer"))
    assert np.all(np.diff(found.principal) >= 0.0)
    assert found.principal.sum() == pytest.approx(np.trace(found.inertia), rel=1e-14)  # rounding


def test_an_unknown_coordinate_is_refused_with_the_known_ones():
    with refused(ModelError, "name.unknown", naming="arm_1"):
        mass_properties(load_model("cepheus"), posture={"arm_9": 0.1})


@pytest.mark.parametrize("name", NAMES)
def test_models_of_the_library_could_be_built(name):
    assert unit_note(load_model(name)) is None


@pytest.mark.parametrize(("name", "factor"), [
    ("servicer-wings", 1e3), ("servicer-wings", 1e-3), ("servicer-wings", 0.01), ("cepheus", 1e3),
])  # fmt: skip
def test_lengths_in_other_units_make_a_density_of_no_material(name, factor):
    model = load_model(name)
    for body in model.bodies:
        inertia = tuple(factor**2 * i for i in body.inertia)
        com = tuple(factor * x for x in body.com)
        model = model.with_body(replace(body, inertia=inertia, com=com))
    joints = [
        replace(j, placement=replace(j.placement, xyz=tuple(factor * x for x in j.placement.xyz)))
        for j in model.joints
    ]
    note = unit_note(replace(model, joints=tuple(joints)))
    assert note is not None and note.code == "model.units"
