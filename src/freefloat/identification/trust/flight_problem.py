"""The likelihood of recordings, as a problem of output error, with free parameters of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.excitation.plan import Plan
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import between_switches, recording_of
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.parameters.parameters import Parameters
from freefloat.progress import Progress, count_steps
from freefloat.telemetry.telemetry import Telemetry


def flight_problem(
    free: Parameters,
    recorded: Sequence[Telemetry],
    *,
    plans: Sequence[Plan | None],
    known_start: bool,
    search: SearchOptions,
    progress: Progress,
    known: Mapping[str, float],
) -> tuple[OutputErrorProblem, Array]:
    """The problem, and where it begins: at the values of the parameters' model.

    known: values by label, of what every recording has a value of its own.
    """
    several = len(recorded) > 1
    recordings = [
        between_switches(
            recording_of(
                free.model, flight, plan=own, step=search.step, trims=(not known_start, True),
                place=f"recording {k}: " if several else "",
            )
        )
        for k, (flight, own) in enumerate(zip(recorded, plans, strict=True), start=1)
    ]  # fmt: skip
    unknowns = unknowns_of(free, recordings, is_start_known=known_start, options=search)
    values = [known.get(u.label, u.parameter.value) for u in unknowns.items]
    theta = np.clip(values, unknowns.lower, unknowns.upper)
    problem = OutputErrorProblem(
        tuple(recordings), unknowns, stated_noise(recordings), None, theta,
        progress=count_steps(progress, "assessing"),
    )  # fmt: skip
    return problem, theta
