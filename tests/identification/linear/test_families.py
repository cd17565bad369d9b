"""Families: one object each, all alike, and a new one needs one file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from estimator import identify
from fault_codes import refused

import freefloat as ff
from freefloat.dynamics import balance, flatten
from freefloat.dynamics.equations import momentum_regressor
from freefloat.errors import IdentificationError
from freefloat.identification.linear.families import FAMILIES, family_named, register
from freefloat.identification.linear.family import (
    BASE,
    EquationInputs,
    Equations,
    Family,
    covariance,
)
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.identification.linear.parameter_columns import parameter_columns, require_linear

METHODS = ("momentum", "angular", "force", "torque", "weak", "energy", "reduced")


class LinearMomentum(Family):
    """Linear momentum alone: what a satellite without attitude control would conserve."""

    name = "linear_momentum"
    fields = needs = BASE
    scale_inputs = ()

    def rows(self, given: EquationInputs) -> Equations:
        """P of every instant, less the unknown initial one (planar roots only)."""
        system, samples = given.system, given.samples
        require_linear(system, given.names)
        local = np.einsum("nji,nj->ni", samples.rotation, samples.velocity)
        rows, _ = momentum_regressor(system, samples.rate, local, samples.coordinates)
        columns, known = parameter_columns(
            system, given.names, samples.rotation @ rows[:, 3:], given.theta
        )
        start = np.broadcast_to(-np.eye(3), (len(known), 3, 3))
        Y = np.concatenate([columns, start], axis=2)[:, :2, :-1]
        slopes = (
            0.5 * (_momentum(system, up) - _momentum(system, down))
            for up, down in samples.disturb("attitude", "rate", "velocity", "q", "dq")
        )
        blocks = covariance(slopes) if given.noise else np.zeros((0, 2, 2))
        names = (*given.names, "momentum0.x", "momentum0.y")
        return Equations(
            self.name, names, len(given.names), Y, -known[:, :2], ("linear.x", "linear.y"),
            ("N s", "N s"), blocks,
        )  # fmt: skip


def _momentum(system, samples) -> np.ndarray:
    return balance(system, samples.states).linear_momentum[:, :2]


def test_a_family_from_outside_is_used_by_its_name(monkeypatch) -> None:
    monkeypatch.setattr(
        "freefloat.identification.linear.families.FAMILIES", dict(FAMILIES)
    )  # put back afterwards
    register(LinearMomentum())
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model), seed=1)
    wanted = ff.Parameters(model).free("target.mass", "target.mx", "target.my")
    fit = identify(model, wanted, flight, method="linear_momentum")
    assert fit.method == "linear_momentum" and fit.is_trustworthy
    for e in fit.estimates:
        assert abs(e.value - wanted[e.name].value) < 4.0 * e.std, e.name
    with refused(IdentificationError, "name.duplicate"):
        register(LinearMomentum())


def test_the_seven_methods_are_registered_and_alike() -> None:
    assert tuple(FAMILIES) == METHODS
    system = flatten(ff.load_model("planar-capture"))
    wanted = ff.Parameters(system.model).free("bus.mass", "bus.izz")
    for name, family in FAMILIES.items():
        form = family.form(system, wanted, LinearOptions())
        assert family.name == name and set(family.needs) <= set(family.fields)
        assert (form.unknowns_of is not None) == family.has_own_unknowns
        values = np.array([p.value for p in form.unknowns])
        if form.unknowns_of is not None:
            np.testing.assert_array_equal(form.unknowns_of(system), values)


def test_a_misspelt_method_is_guessed() -> None:
    with refused(IdentificationError, "name.unknown", naming="'momentum'"):
        family_named("momentun")


def test_options_and_keywords_say_the_same() -> None:
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=20.0), seed=1)
    wanted = ff.Parameters(model).free("target.mass")
    short = identify(model, wanted, flight, method="momentum", solver="ls", seed=3)
    options = LinearOptions(solver="ls", seed=3)
    same = identify(model, wanted, flight, method="momentum", options=options)
    # The provenance has the second in which a fit was made.
    made = {"created": short.provenance["created"]}
    assert replace(same, provenance={**same.provenance, **made}) == short
    wide = identify(model, wanted, flight, method="weak", options=LinearOptions(half_width=20))
    assert wide.estimates != identify(model, wanted, flight, method="weak").estimates
