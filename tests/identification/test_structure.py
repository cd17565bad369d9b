"""Which effects the data call for: those that are there, and no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exciting_plans import held_motor_flights, splines_then_rest, swinging_arm
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.identification import structure
from freefloat.identification.model_effects import EFFECTS, effects_of
from freefloat.identification.structure import find_structure, without_effects
from freefloat.parameters.write_back import with_parameters

FRICTION = "arm_1.drive.friction"


def decided(model, own, plan, *, seed=2, free=("bus.*",)):
    flight = ff.simulate(own, plan, seed=seed)
    wanted = ff.Parameters(model).free(*free)
    return find_structure(model, wanted, flight, plan=plan, known_start=True)


def shaken(model):
    return splines_then_rest(model, duration=10.0, rest=10.0, points=8)


def test_models_lose_what_is_dropped():
    servicer = ff.load_model("servicer")
    names = [effect.name for effect in effects_of(servicer, None)]
    assert names == ["wings", "slosh", "gravity gradient", "wheels"]
    bare = without_effects(servicer, names)
    assert not ff.modes(bare) and bare.orbit is None and not bare.tanks
    assert bare.mass == pytest.approx(servicer.mass)
    geared = ff.load_model("cbk-arm-geared")
    assert without_effects(geared, ["flexible joint"]).joint("arm_1").drive is None
    assert [e.name for e in effects_of(geared, None)] == ["flexible joint"]


def test_what_cannot_be_decided_is_refused():
    cepheus = ff.load_model("planar-capture")
    flight = ff.simulate(cepheus, ff.default_plan(cepheus, duration=5.0))
    wanted = ff.Parameters(cepheus).free("bus.mass")
    with refused(IdentificationError, "effect.none"):
        find_structure(cepheus, wanted, flight)
    with refused(IdentificationError, "name.unknown", naming="wind"):
        effects_of(cepheus, ["wind"])
    assert set(EFFECTS) >= {"wings", "slosh", "friction"}


def test_bounds_priors_and_ties_reach_every_fit(monkeypatch):
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
    asked = []

    def record_and_stop(model, parameters, flights, **options):
        asked.append(parameters)
        raise IdentificationError("asked only", code="asked.only")

    monkeypatch.setattr(structure, "identify", record_and_stop)
    flight = ff.simulate(slosh, ff.default_plan(slosh, duration=1.0), step=1e-2)
    with refused(IdentificationError, "asked.only"):
        find_structure(slosh, wanted, flight)
    plain = asked[0]
    assert plain["bus.mass"].lower == 900.0 and plain["bus.ixx"].prior == wanted["bus.ixx"].prior
    assert plain["bus.iyy"].tied_to == ("bus.ixx", ratio) and set(plain.names) == set(wanted.names)
    whole = ff.Parameters(slosh).free("tank_*.stiffness").with_conditions_of(wanted)
    assert whole["tank_1.stiffness"].upper == 80.0 and whole["tank_2.stiffness"].upper == np.inf
    assert whole["bus.mass"].status == "fixed"


def test_fuel_is_called_for_where_it_sloshes_and_nowhere_else():
    slosh = ff.load_model("servicer-slosh")
    assert decided(slosh, slosh, shaken(slosh)).names == ("slosh",)
    assert decided(slosh, without_effects(slosh, ["slosh"]), shaken(slosh)).names == ()


@pytest.mark.full
def test_wings_are_called_for_where_they_bend_and_nowhere_else():
    wings = ff.load_model("servicer-wings")
    found = decided(wings, wings, shaken(wings))
    assert found.names == ("wings",) and "0.23 Hz" in found.effects[0].evidence
    for seed in range(5):
        stiff = decided(wings, without_effects(wings, ["wings"]), shaken(wings), seed=seed)
        assert stiff.names == ()


@pytest.mark.full
def test_friction_is_told_from_damping():
    geared = ff.load_model("cbk-arm-geared")
    rough = with_parameters(geared, {FRICTION: 0.02})
    wanted = ff.Parameters(geared).free("bus.izz")
    effects = ["flexible joint", "friction"]
    flight = held_motor_flights(rough, seed=3)[1]
    assert find_structure(geared, wanted, flight, effects=effects).names == tuple(effects)
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
    assert decided(ets7, ets7, spinning).names == ("gravity gradient", "wheels")
    assert decided(ets7, away, spinning).names == ("wheels",)
    assert decided(ets7, ets7, still).names == ("gravity gradient",)
