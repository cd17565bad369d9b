"""Criteria of information: what is asked for, in words, and the flights that can tell it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from freefloat.arrays import Array
from freefloat.design.base_motion import BaseExcursion
from freefloat.design.candidate_flights import DesignUnknowns, Flights
from freefloat.design.criteria import Criterion, Optimality, information, only_seen
from freefloat.design.modal_energy import modal_energy
from freefloat.design.variables import Variables
from freefloat.dynamics.tree import System
from freefloat.errors import ExcitationError, Fault
from freefloat.model.parts import Sensor
from freefloat.observability.identifiability import (
    at_model_values,
    mixed,
    unknown_states,
    wanted_ones,
)
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.limit_monitors import Watch

KINDS: dict[str, Optimality] = {
    "a_optimal": "a", "d_optimal": "d", "e_optimal": "e", "condition": "cond",
    "worst_parameter": "worst",
}  # fmt: skip
MOTION_ONLY: dict[str, Callable[[System], Criterion]] = {
    "modal_energy": modal_energy,
    "base_motion": lambda _: BaseExcursion("corrected", size=0.1),
}
VAGUE = 1e3  # natural sizes: known so badly beforehand that the worst parameter is not hidden
SHOWN = 0.9  # of the variance beforehand: above, a motion told nothing


def informed(
    system: System,
    parameters: Parameters,
    variables: Variables,
    watches: Sequence[Watch],
    suite: Sequence[Sensor],
    criterion: str,
) -> tuple[Flights, Criterion]:
    """Flights that differentiate the readings of a suite of sensors, and the criterion on them."""
    parameters = at_model_values(system, parameters)
    wanted = wanted_ones(parameters)
    states = unknown_states(system, parameters, True)
    names, mix = mixed(parameters, wanted, states, {})
    flights = Flights(
        system, variables, watches, sensors=suite,
        unknowns=DesignUnknowns(tuple(names), mix),
    )  # fmt: skip
    sizes = natural_sizes(system, [p.name for p in wanted])
    prior = np.array([p.prior[1] if p.prior else np.nan for p in wanted])
    kind, chosen = _kind(criterion, [p.name for p in wanted])
    reference = flights.fly(_typical(variables)).rows
    vague = VAGUE if kind == "worst" else 1.0
    judge = information(kind, sizes, reference, prior_std=prior, chosen=chosen, natural_prior=vague)
    if kind == "worst":  # what a motion tells nothing of has no part in it
        variances = np.diag(judge.covariance(reference))[: len(wanted)]
        before = judge.weights[: len(wanted)] ** -2.0
        shown = np.flatnonzero(variances < np.minimum(1.0, SHOWN * before))
        if not len(shown):
            raise ExcitationError("none of the parameters is seen alone; choose d_optimal")
        judge = replace(judge, chosen=tuple(shown.tolist()))
    return flights, judge if kind in ("named", "worst") else only_seen(judge, reference)


def _typical(variables: Variables) -> Array:
    rng = np.random.default_rng(1)
    x = rng.normal(size=variables.n) / np.sqrt(max(1, variables.n))
    x[variables.n_motion :] = 0.5
    return x


def _kind(criterion: str, names: Sequence[str]) -> tuple[Optimality, list[int]]:
    if criterion in KINDS:
        return KINDS[criterion], []
    globs = [word for word in criterion.replace(",", " ").split() if word]
    chosen = [k for k, name in enumerate(names) if any(fnmatchcase(name, g) for g in globs)]
    if not chosen:
        expected = ", ".join([*KINDS, *MOTION_ONLY]) + ", or names of free parameters"
        fault = Fault("criterion", criterion, expected, "choose one")
        raise ExcitationError("there is no such criterion", [fault])
    return "named", chosen
