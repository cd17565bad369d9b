"""Where the search begins: with bodies by a linear method and springs by the modes, if nearer.

A linear solution needs no start of its own, so it is as good for a model that is wrong threefold.
It takes what swings unrecorded for rigid and suffers from noise in its columns; so it is only where
to begin, and only if its simulation is nearer to the recording than the model's own.

Over a whole recording a wrong frequency has many false minima. A free response tells the frequency
without any model; springs that make the model's modes agree with it are near the lowest one.
"""

from __future__ import annotations

from dataclasses import replace

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
from freefloat.identification.modes.modal import ModalFit, identify_modes
from freefloat.identification.modes.modal_match import (
    disagreement,
    match_modes,
    pair_modes,
    posture_of,
)
from freefloat.identification.output_error.cost import Evaluation, OutputErrorProblem
from freefloat.identification.output_error.options import SearchOptions
from freefloat.model.model import Model
from freefloat.model.parameter_name import is_of_sensor
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.flight_setup import model_values
from freefloat.telemetry.telemetry import Telemetry

SWUNG = ("stiffness", "damping")


def linear_starts(problem: OutputErrorProblem, parameters: Parameters, theta: Array) -> list[Array]:
    """Where to begin, the most promising first: theta, and theta with bodies found linearly.

    Theta alone where the model explains the recordings nearly as it is, no linear family covers
    what is unknown and recorded, or what it finds predicts the recordings no better.
    """
    now = _mean_square(problem.evaluate(theta))
    if now < problem.options.linear_start_misfit:
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
    then = _mean_square(problem.evaluate(new))
    if then < problem.options.linear_start_gain * now:
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
        options=LinearOptions(robust=problem.robust, trust=problem.options.trust),
    ).fit  # fmt: skip


def _sound(problem: OutputErrorProblem, theta: Array, new: Array) -> Array:
    """The new values within their bounds; bodies on the edge of what is real drawn off it."""
    unknowns = problem.unknowns
    new = np.clip(new, unknowns.lower, unknowns.upper)
    for group in unknowns.groups:
        places = list(group.places)
        if not group.is_sound(new[places]):
            new[places] += problem.options.linear_start_pull * (theta[places] - new[places])
    return new


def _mean_square(at: Evaluation | None) -> float:
    """Mean square residual over noise once each recording's own unknowns have had their step."""
    if at is None:
        return float("inf")
    square = sum(float(np.sum(b.factor[len(b.own) :, -1] ** 2)) for b in at.blocks)
    return square / at.n_rows


def modal_start(problem: OutputErrorProblem, theta: Array) -> Array | None:
    """Theta with the springs and dampers of the modes seen; None where there is nothing to gain.

    That is where no spring is unknown, no stretch of a recording shows a free swing, or the model
    swings as the recording does already.
    """
    items, options = problem.unknowns.items, problem.options
    springs = {
        u.name: k
        for k, u in enumerate(items)
        if u.recording is None and u.name.rpartition(".")[2] in SWUNG
    }
    if not any(name.endswith(".stiffness") for name in springs):
        return None
    for r, recording in enumerate(problem.recordings):
        try:
            values = model_values(problem.unknowns.values(theta, r))
            model = with_parameters(recording.model, values)
            seen = _sure(identify_modes(recording.telemetry, model), options)
            if not seen.modes:
                continue
            better = _tune(model, seen, recording.telemetry, set(springs), options.spring_octaves)
        except (FreefloatError, np.linalg.LinAlgError):
            continue
        new = theta.copy()
        for spring in better.assembly.springs:
            for field in SWUNG:
                if f"{spring.owner}.{field}" in springs:
                    new[springs[f"{spring.owner}.{field}"]] = getattr(spring, field)
        stiff = [k for name, k in springs.items() if name.endswith(".stiffness") and theta[k] > 0.0]
        if np.any(np.abs(np.log(new[stiff] / theta[stiff])) > options.modal_start_change):
            return np.clip(new, problem.unknowns.lower, problem.unknowns.upper)
    return None


def _sure(found: ModalFit, options: SearchOptions) -> ModalFit:
    """Only modes that were watched for long enough to be sure of their frequency."""
    seconds = found.end - found.start
    modes = (
        m
        for m in found.modes
        if m.frequency * seconds > options.mode_periods
        and m.frequency_std < options.mode_std * m.frequency
    )
    return replace(found, modes=tuple(modes))


def _tune(
    model: Model, seen: ModalFit, telemetry: Telemetry, free: set[str], octaves: float
) -> Model:
    """The model with springs whose modes are those seen: all scaled alike first, then each.

    octaves: how much stiffer or softer; half an octave apart.
    """
    posture = posture_of(model, telemetry.between(seen.start, seen.end))
    now = {
        f"{s.owner}.stiffness": s.stiffness
        for s in model.assembly.springs
        if f"{s.owner}.stiffness" in free
    }
    steps = np.arange(-octaves, octaves + 0.01, 0.5)
    scaled = [
        with_parameters(model, {n: v * 2.0**octave for n, v in now.items()}) for octave in steps
    ]
    fits = [disagreement(pair_modes(one, posture, seen)) for one in scaled]
    return match_modes(scaled[int(np.argmin(fits))], seen, telemetry).model
