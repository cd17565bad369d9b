"""Where a search of bodies should begin: with what equations linear in them say, if that is nearer.

A linear solution needs no start of its own, so it is as good for a model that is wrong threefold.
It takes what swings unrecorded for rigid and suffers from noise in its columns; so it is only where
to begin, and only if the flight it predicts is nearer to the recording than the model's own.
"""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import FreefloatError
from freefloat.identification.fit import Fit
from freefloat.identification.linear.families import FAMILIES
from freefloat.identification.linear.linear_fit import identify_by_equations
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.identification.linear.method_choice import choose_linear
from freefloat.identification.linear.parameter_columns import is_linear
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.output_error.cost import Evaluation, OutputErrorProblem
from freefloat.model.parameter_name import is_of_sensor
from freefloat.parameters.parameters import Parameters

FAR_OFF = 1000.0  # mean square residual over noise: nearer, the search needs no help
DRAWN = 0.1  # of the way back to the model's own values
NEARER = 0.1  # of the mean square must be left at most for the search to begin there


def linear_starts(problem: OutputErrorProblem, parameters: Parameters, theta: Array) -> list[Array]:
    """Where to begin, the most promising first: theta, and theta with bodies found linearly.

    Theta alone where the model explains the recordings nearly as it is, no linear family covers
    what is unknown and recorded, or what it finds predicts the recordings no better.
    """
    now = _left(problem.evaluate(theta))
    if now < FAR_OFF:
        return [theta]
    try:
        found = linear_fit(parameters, problem)
    except (FreefloatError, np.linalg.LinAlgError):
        return [theta]
    if found is None:
        return [theta]
    # as the model has them, whose bodies are real
    values = {p.name: p.value for p in Parameters(found.model)}
    covered = {e.name for e in found.estimates}
    new = theta.copy()
    for k, u in enumerate(problem.unknowns.items):
        if u.recording is None and u.name in covered:
            new[k] = values[u.name]
    new = _sound(problem, theta, new)
    then = _left(problem.evaluate(new))
    if then < NEARER * now:
        return [new, theta]
    return [theta, new] if then < now else [theta]


def linear_fit(parameters: Parameters, problem: OutputErrorProblem) -> Fit | None:
    """What a linear family finds of the parameters that it covers, the others as in the model.

    None where the channels allow none, or one whose unknowns are products, and many: that is slow.
    """
    system = flatten(parameters.model)
    others = [
        p.name
        for p in parameters.free_ones
        if not p.is_shared or is_of_sensor(p.name) or not is_linear(system, p.name)
    ]
    covered = parameters.fix(*others) if others else parameters
    if not covered.free_ones:
        return None
    flights = [recording.telemetry for recording in problem.recordings]
    chosen = choose_linear(system, samples_of(system, flights[0]), covered.names)
    if chosen is None or FAMILIES[chosen.method].has_own_unknowns:
        return None
    return identify_by_equations(
        covered, flights, chosen.method, reason=chosen.reason, notes=(), provenance={},
        options=LinearOptions(robust=problem.robust),
    ).fit  # fmt: skip


def _sound(problem: OutputErrorProblem, theta: Array, new: Array) -> Array:
    """The new values within their bounds; bodies on the edge of what is real drawn off it."""
    unknowns = problem.unknowns
    new = np.clip(new, unknowns.lower, unknowns.upper)
    for group in unknowns.groups:
        places = list(group.places)
        if not group.is_sound(new[places]):
            new[places] += DRAWN * (theta[places] - new[places])
    return new


def _left(at: Evaluation | None) -> float:
    """Mean square residual over noise once each recording's own unknowns have had their step."""
    if at is None:
        return float("inf")
    square = sum(float(np.sum(b.triangle[len(b.own) :, -1] ** 2)) for b in at.blocks)
    return square / at.n_rows
