"""Flights and fits that tests of validation and reports share, made once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from estimator import identify

import freefloat as ff
from freefloat import Fit, Model, Telemetry
from freefloat.excitation import Pulses


def planar() -> Model:
    return ff.load_model("planar-capture")


@cache
def planar_flight(seed: int, duration: float = 30.0) -> Telemetry:
    """The planar capture with thrust, shaken in its own way for every seed."""
    plan = ff.default_plan(planar(), duration=duration, seed=seed)
    plan = replace(plan, thrusts={"thr_1": Pulses(((3.0, 8.0, 5.0),))})
    return ff.simulate(planar(), plan, seed=seed)


def heavier(model: Model, by: float = 1.3) -> Model:
    """The model with a target that is too heavy, and larger in proportion."""
    target = model.body("target")
    inertia = tuple(by * x for x in target.inertia)
    return model.with_body(replace(target, mass=by * target.mass, inertia=inertia))


@cache
def planar_fit() -> Fit:
    """Bus and target of the planar capture, from a start 30 % off."""
    prior = heavier(planar())
    wanted = ff.Parameters(prior).free("bus.mass", "bus.m[xy]", "bus.izz", "target.*")
    return identify(prior, wanted, planar_flight(1, 60.0))
