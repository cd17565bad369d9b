"""Identification by output error: from recorded flights to a Fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.output_error.assembly import fit_of
from freefloat.identification.output_error.cost import Loss
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.recording import recording_of
from freefloat.identification.output_error.search import search
from freefloat.model.model import Model
from freefloat.model.parameter_name import is_of_sensor
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry


def identified_by_output_error(
    parameters: Parameters,
    flights: Sequence[Telemetry],
    *,
    prior_model: Model,
    reason: str,
    provenance: Mapping[str, str],
    plan: Plan | Sequence[Plan] | None = None,
    robust: Loss | None = None,
    known_start: bool = False,
    options: SearchOptions = USUAL,
    seed: int = 0,
) -> Fit:
    """The Fit whose model, flown again, reads most like the recordings."""
    plans = _plans(plan, len(flights))
    several = len(flights) > 1
    has_delays = any(p.name.startswith("delay.") for p in parameters.free_ones)
    needs_start = known_start or any(p.name.startswith("start.") for p in parameters.free_ones)
    recordings = [
        recording_of(
            parameters.model, flight, plan=own, step=options.step, has_delays=has_delays,
            trims=(not needs_start, True), place=f"recording {k}: " if several else "",
        )
        for k, (flight, own) in enumerate(zip(flights, plans, strict=True), start=1)
    ]  # fmt: skip
    found = search(
        parameters,
        recordings,
        robust=robust,
        is_start_known=known_start,
        options=options,
        seed=seed,
    )
    notes = [note for recording in recordings for note in recording.notes]
    return fit_of(
        parameters, found, reason=reason, prior_model=prior_model, notes=notes,
        provenance=provenance, profile=options.profile,
    )  # fmt: skip


def _plans(plan: Plan | Sequence[Plan] | None, n: int) -> Sequence[Plan | None]:
    if plan is None or isinstance(plan, Plan):
        return [plan] * n
    if len(plan) != n:
        raise IdentificationError(
            f"{len(plan)} plans for {n} recordings; give one for all, or one each in their order"
        )
    return plan


def why_output_error(
    system: System, parameters: Parameters, flights: Sequence[Telemetry]
) -> str | None:
    """What only output error can find of the parameters, in words; None when nothing is."""
    tanks = {tank.name for tank in system.model.tanks}
    for p in parameters.free_ones:
        owner, _, field = p.name.rpartition(".")
        if p.name.startswith("start."):
            return f"{p.name} is an initial state, which only flying the model again shows"
        if is_of_sensor(p.name):
            return f"{p.name} belongs to a sensor, not to the equations of motion"
        if not p.is_shared:
            return f"{p.name} is to be found for every recording by itself"
        if field in ("rest", "length") or owner in tanks:
            return f"{p.name} is not linear in any equation"
    names = set(parameters.names)
    swings = [
        c.name
        for c in system.model.assembly.coordinates
        if c.role == "passive" and not all(channel_names(c)[0] in flight for flight in flights)
    ]
    if swings and _matters(system, names):
        return f"{swings[0]} moves freely and is not recorded"
    return None


def _matters(system: System, names: set[str]) -> bool:
    """Whether what swings unrecorded carries mass: a rigid stand-in would bias everything."""
    free = [int(g) - 6 for g in system.tree.free if g >= 6]
    links = system.n_links
    return any(c + 1 >= links or np.any(system.parameters.phi[c + 1] != 0.0) for c in free) or any(
        name.rpartition(".")[2] in ("stiffness", "damping", "friction") for name in names
    )
