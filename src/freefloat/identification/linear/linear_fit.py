"""Recordings to a Fit by equations that are linear in the unknowns, whatever the family."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Fit
from freefloat.identification.fit_assembly import assemble_fit, hold_at_bounds, scale_sources
from freefloat.identification.linear.delay_columns import (
    find_with_delays,
    require_clock,
    with_delay,
    with_slopes,
)
from freefloat.identification.linear.families import family_named, fields_of
from freefloat.identification.linear.family import Family
from freefloat.identification.linear.linear_estimate import estimate
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.identification.linear.parameter_solution import LinearFinding, solution_of
from freefloat.identification.linear.sample_reader import samples_of, without_spikes
from freefloat.identification.linear.samples import Samples
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import write_values
from freefloat.progress import Progress, data_listener, silent
from freefloat.telemetry.telemetry import Telemetry


class LinearFit(NamedTuple):
    """A fit by equations, and how many combinations noise hides in them that it need not."""

    fit: Fit
    n_buried: int


def identify_by_equations(
    parameters: Parameters,
    recorded: Sequence[Telemetry],
    method: str,
    *,
    reason: str,
    notes: Sequence[str],
    provenance: dict[str, str],
    options: LinearOptions,
    progress: Progress = silent,
) -> LinearFit:
    """The Fit by a linear family; parameters beyond their bounds are held there."""
    family = family_named(method)
    _require_use(parameters, family, options)
    find = partial(_find, parameters, family, options, progress=progress)
    if options.clock is None:
        finding, delays = find(recorded), ()
    else:
        finding, delays = find_with_delays(find, recorded, options)
    own = [note for part in finding.samples for note in part.notes]
    fit = assemble_fit(
        solution_of(parameters, finding, (*delays, *notes, *own)),
        method=method, reason=reason, prior_model=parameters.model, provenance=provenance,
    )  # fmt: skip
    beyond = [p for p in parameters.free_ones if not p.lower <= fit[p.name].value <= p.upper]
    if not beyond:
        return LinearFit(fit, finding.n_buried)
    held = parameters
    for p in beyond:
        held = held.fix(p.name, value=float(np.clip(fit[p.name].value, p.lower, p.upper)))
    if not held.free_ones:
        return LinearFit(hold_at_bounds(fit, beyond, None), finding.n_buried)
    again = identify_by_equations(
        write_values(held), recorded, method, reason=reason, notes=notes, provenance=provenance,
        options=options,
    )  # fmt: skip
    return LinearFit(hold_at_bounds(fit, beyond, again.fit), again.n_buried)


def _require_use(parameters: Parameters, family: Family, options: LinearOptions) -> None:
    """Raise IdentificationError for what linear methods, or this one, cannot do."""
    own = [p.name for p in parameters.free_ones if not p.is_shared]
    if own:
        raise IdentificationError(
            f"{own[0]} is to be estimated per recording, which no linear method does; use"
            " method='output_error'",
            code="method.per_recording",
        )
    if not family.takes_momentum and (options.drag or options.momentum is not None):
        raise IdentificationError(
            f"{family.name} takes neither a known momentum nor drag; choose method='angular'",
            code="option.conflict",
        )
    require_clock(options.clock, family)


def _find(
    parameters: Parameters,
    family: Family,
    options: LinearOptions,
    recorded: Sequence[Telemetry],
    *,
    progress: Progress = silent,
) -> LinearFinding:
    """What a family finds in recordings whose clocks agree."""
    system = flatten(parameters.model)
    samples = [
        _read(system, flight, family, f"recording {k}: " if len(recorded) > 1 else "")
        for k, flight in enumerate(recorded, start=1)
    ]
    if options.robust is not None:
        samples = [without_spikes(part, options.spike_sigmas) for part in samples]
    form = family.form(system, parameters, options)
    ready = [family.prepare(system, part, options=options) for part in samples]
    ready = [with_slopes(part, options.clock) for part in ready]
    is_direct = form.unknowns_of is None  # the unknowns are the free parameters
    found = estimate(
        with_delay(form.equations, options.clock), system, ready, form.unknowns,
        sizes=natural_sizes(system, parameters.names) if is_direct else None,
        renew=form.renew, options=options, listen=data_listener(progress),
    )  # fmt: skip
    sources = scale_sources(parameters, _inputs(family, samples, options), has_springs=False)
    return LinearFinding(family, form, found, tuple(ready), system, sources, options)


def _read(system: System, flight: Telemetry, family: Family, place: str) -> Samples:
    """The samples a family can use; errors name the recording where there are several."""
    try:
        return samples_of(system, flight, fields_of(family, flight))
    except IdentificationError as error:
        raise IdentificationError(f"{place}{error.message}", error.faults, error.code) from None


def _inputs(family: Family, samples: Sequence[Samples], options: LinearOptions) -> list[str]:
    """The inputs in a family's rows whose newtons are known."""
    has = {
        "thrust": any(s.thrust.any() for s in samples),
        "wrench": any(s.wrench.any() for s in samples),
        "torque": any(s.torque is not None for s in samples),
    }
    words = {"thrust": "thrust", "wrench": "the commanded wrench", "torque": "joint torques"}
    found = [words[name] for name in family.scale_inputs if has[name]]
    is_momentum_known = options.momentum is not None and any(options.momentum)
    return found + ["the known angular momentum"] * (family.takes_momentum and is_momentum_known)
