"""Which parts the data call for: those that are there, and no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exciting_plans import held_motor_flights, splines_then_rest, swinging_arm
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.identification.output_error.options import USUAL
from freefloat.identification.structure.candidate_parts import EFFECTS, parts_of, without_parts
from freefloat.identification.structure.part_state import Question
from freefloat.identification.structure.structure_search import find_structure
from freefloat.identification.trust.trust_options import USUAL_TRUST
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry.sample_codes import SAMPLES_APART, shares_samples

FRICTION = "arm_1.drive.friction"


def shaken(model):
    return splines_then_rest(model, duration=10.0, rest=10.0, points=8)


def without(model, *names):
    """The model without the named parts."""
    return without_parts(model, [part for part in parts_of(model) if part.name in names])


def decided(model, own, plan, *, seed=2, free=("bus.*",), effects=None, known=True):
    flight = ff.simulate(own, plan, seed=seed)
    wanted = ff.Parameters(model).free(*free)
    how = {"plan": plan, "known_start": True} if known else {}
    return find_structure(model, wanted, flight, effects=effects, **how)


def test_models_lose_what_is_dropped():
    servicer = ff.load_model("servicer")
    structural = [part for part in parts_of(servicer) if not part.is_number]
    assert {part.effect for part in structural} == {
        "wings", "slosh", "gravity gradient", "wheels"
    }  # fmt: skip
    bare = without_parts(servicer, structural)
    assert not ff.modes(bare) and bare.orbit is None and not bare.tanks
    assert bare.mass == pytest.approx(servicer.mass)
    geared = ff.load_model("cbk-arm-geared")
    assert without(geared, "arm_1.drive").joint("arm_1").drive is None
    wings = ff.load_model("servicer-wings")
    one = without(wings, "hinge_l2")
    assert [j.name for j in one.joints if j.role == "locked"] == ["hinge_l2"]
    assert len(ff.modes(one)) == len(ff.modes(wings)) - 1


def test_what_cannot_be_decided_is_refused():
    capture = ff.load_model("spatial-capture")
    flight = ff.simulate(capture, ff.default_plan(capture, duration=5.0))
    wanted = ff.Parameters(capture).free("bus.mass")
    with refused(IdentificationError, "effect.none"):
        find_structure(capture, wanted, flight)
    with refused(IdentificationError, "name.unknown", naming="wind"):
        parts_of(capture, ["wind"])
    slosh = ff.load_model("servicer-slosh")
    flight = ff.simulate(slosh, ff.default_plan(slosh, duration=5.0))
    with refused(IdentificationError, "parameters.none"):
        find_structure(slosh, ff.Parameters(slosh).free("tank.mass"), flight)
    assert set(EFFECTS) >= {"wings", "slosh", "friction", "damping", "drag"}


def test_bounds_priors_and_ties_reach_every_fit():
    slosh = ff.load_model("servicer-slosh")
    ratio = 1.1
    wanted = (
        ff.Parameters(slosh)
        .free("bus.mass", "bus.ixx")
        .bound("bus.mass", lower=900.0)
        .prior("bus.ixx", relative=0.1)
        .tie("bus.iyy", to="bus.ixx", factor=ratio)
        .bound("tank_1.stiffness", upper=80.0)
    )
    parts = parts_of(slosh)
    question = Question(slosh, parts, wanted, (), (), False, USUAL, USUAL_TRUST)
    plain, whole = question.parameters(()), question.parameters(parts)
    assert plain["bus.mass"].lower == 900.0 and plain["bus.ixx"].prior == wanted["bus.ixx"].prior
    assert plain["bus.iyy"].tied_to == ("bus.ixx", ratio) and set(plain.names) == set(wanted.names)
    assert whole["tank_1.stiffness"].upper == 80.0 and whole["tank_2.stiffness"].upper == np.inf
    assert set(whole.names) > {"tank.mass", "tank_1.damping"}


def test_fuel_is_called_for_where_it_sloshes_and_nowhere_else():
    slosh = ff.load_model("servicer-slosh")
    found = decided(slosh, slosh, shaken(slosh))
    assert found.present == ("tank",) and found["tank"].code == "part.present"
    assert found.fit.assessment.grade == "trusted"
    flight = ff.simulate(slosh, shaken(slosh), seed=2)
    (codes,) = found.fit.provenance["samples"].split(SAMPLES_APART)
    assert shares_samples(flight.between(2.0, 12.0), codes)  # no part of it is held out
    assert not shares_samples(ff.simulate(slosh, shaken(slosh), seed=3), codes)
    found = decided(slosh, without(slosh, "tank"), shaken(slosh))
    assert found.present == () and found["tank"].code == "part.absent"
    assert found["tank"].visible_at < 1.0  # of what the model says


def test_a_flight_that_shows_nothing_tells_nothing():
    slosh = ff.load_model("servicer-slosh")
    found = decided(slosh, slosh, ff.Plan(6.0), known=False)
    assert found.present == () and found["tank"].verdict == "cannot be told"


def test_every_hinge_is_decided_by_itself():
    wings = ff.load_model("servicer-wings")
    own = without(wings, "hinge_l2", "hinge_r1")
    found = decided(wings, own, shaken(wings), effects=["wings"])
    assert found.present == ("hinge_l1", "hinge_r2")
    assert [found[h].code for h in ("hinge_l2", "hinge_r1")] == ["part.absent"] * 2


def sliding(model):
    return replace(ff.default_plan(model), start=ff.Start(velocity=(0.1, 0.05, 0.0)))


@pytest.mark.parametrize("seed", [2, 3])  # in 3 noise of encoders adds up to 5 deviations of drag
def test_drag_is_not_claimed_where_there_is_none(seed):
    cepheus = ff.load_model("cepheus")
    still = decided(cepheus, cepheus, sliding(cepheus), seed=seed, effects=["drag"], known=False)
    assert still.present == () and {part.effect for part in still.parts} == {"drag"}
    assert still.notes == ()


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_drag_is_found_where_there_is_some(seed):
    cepheus = ff.load_model("cepheus")
    slowed = replace(cepheus, root=replace(cepheus.root, linear_drag=0.5))
    found = decided(cepheus, slowed, sliding(cepheus), seed=seed, effects=["drag"], known=False)
    assert found.present == ("drag.linear",)
    drag = found.fit["drag.linear"]
    assert found["drag.linear"].value == drag.value == pytest.approx(0.5, abs=4.0 * drag.std)


@pytest.mark.full
def test_wings_are_called_for_where_they_bend_and_nowhere_else():
    wings = ff.load_model("servicer-wings")
    hinges = ("hinge_l1", "hinge_l2", "hinge_r1", "hinge_r2")
    assert decided(wings, wings, shaken(wings)).present == hinges
    for seed in range(5):
        stiff = decided(wings, without(wings, *hinges), shaken(wings), seed=seed)
        assert stiff.present == ()


@pytest.mark.full
def test_friction_is_told_from_damping():
    geared = ff.load_model("cbk-arm-geared")
    rough = with_parameters(geared, {FRICTION: 0.02})
    wanted = ff.Parameters(geared).free("bus.izz")
    effects = ["flexible joint", "friction"]
    flight = held_motor_flights(rough, seed=3)[1]
    found = find_structure(geared, wanted, flight, effects=effects)
    assert found.names == ("flexible joint", "friction")
    friction = found.fit[FRICTION]
    assert found[FRICTION].value == pytest.approx(0.02, abs=4.0 * friction.std)
    for seed in range(5):
        smooth = held_motor_flights(geared, seed=10 * seed)[1]
        found = find_structure(geared, wanted, smooth, effects=effects)
        assert found.names == ("flexible joint",)


@pytest.mark.full
def test_orbit_and_wheel_are_told_apart():
    ets7 = ff.load_model("ets7")
    slow = (0.3, -0.9, -0.4, -0.6, 0.2, -0.9)
    still = swinging_arm(slow, duration=180.0, period=60.0, ramp=20.0)
    spinning = replace(still, start=ff.Start(speeds={"rw_x": 100.0}))
    away = replace(ets7, orbit=None)
    effects = ["gravity gradient", "wheels"]
    assert decided(ets7, ets7, spinning, effects=effects).present == ("orbit", "rw_x")
    assert decided(ets7, away, spinning, effects=effects).present == ("rw_x",)
    assert decided(ets7, ets7, still, effects=effects).present == ("orbit",)
