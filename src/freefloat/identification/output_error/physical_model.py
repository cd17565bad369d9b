"""The model with the estimates written in, or with the closest physically consistent values.

Bodies of which all parameters are free are physical at every step (`physical_step`). Of others
only some entries are estimated, and the data may want what the fixed ones do not allow.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.output_error.search import SearchResult
from freefloat.identification.physical.consistent_fit import closest_physical
from freefloat.identification.physical.realisable import invisible
from freefloat.least_squares.tall_tables import eliminate
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.model.parameter_name import is_of_sensor
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import names_without_place, with_parameters


def make_physical(
    parameters: Parameters, found: SearchResult, J: Array
) -> tuple[Array, Model, tuple[str, ...]]:
    """Theta that could be real, the model that has it, and what was done to get there.

    J: a square root of the information on theta.
    """
    theta = found.theta
    named = _values(found, theta)
    homeless = names_without_place(parameters.model, named)
    # a sensor ahead of its time is a clock that is late, which no file can say
    homeless += [n for n, v in named.items() if is_of_sensor(n) and n[:6] == "delay." and v < 0.0]
    homeless = list(dict.fromkeys(homeless))
    text = f"estimated, but not in the model, which has no place for it: {', '.join(homeless)}"
    unplaced = (Note("parameters.no_place", text),) if homeless else ()
    # what a plane never shows of a body goes along with what it shows
    left_out = {*homeless, *invisible(parameters, tuple(named))}
    try:
        model = with_parameters(parameters.model, _values(found, theta, left_out))
        return theta, model, unplaced
    except FreefloatError:
        pass
    theta, notes = _nearest(parameters, found, J)
    notes = (*notes, *unplaced)
    try:
        return theta, with_parameters(parameters.model, _values(found, theta, left_out)), notes
    except FreefloatError as error:
        why = [line.strip(" -") for line in str(error).splitlines()]
        text = "the estimates were not written into the model, which cannot hold them: "
        late = Note("model.not_written", text + "; ".join(why[:2]))
        return theta, parameters.model, (*notes, late)


def _values(found: SearchResult, theta: Array, but: Collection[str] = ()) -> dict[str, float]:
    """Shared parameters of the model, the tied ones included; all but some."""
    unknowns = found.problem.unknowns
    values = {
        u.name: float(v) for u, v in zip(unknowns.items, theta, strict=True) if u.recording is None
    }
    for follower, leader, factor in unknowns.ties:
        if leader in values:
            values[follower] = factor * values[leader]
    return {name: value for name, value in values.items() if name not in but}


def _nearest(
    parameters: Parameters, found: SearchResult, J: Array
) -> tuple[Array, tuple[str, ...]]:
    """Theta with its bodies moved to the nearest real ones, as the data measure it."""
    items, theta = found.problem.unknowns.items, found.theta
    bodies = {body.name for body in parameters.model.assembly.bodies}
    places = [
        k
        for k, u in enumerate(items)
        if u.recording is None
        and u.name.rpartition(".")[0] in bodies
        and u.name.rpartition(".")[2] in inertial.NAMES
    ]
    if not places:
        return theta, ()
    rest = [k for k in range(len(items)) if k not in places]
    rows = eliminate(J[:, [*places, *rest]], len(places))
    names = [items[k].name for k in places]
    near = closest_physical(parameters, names, theta[places], rows.T @ rows)
    if not near.is_moved:
        return theta, near.notes
    kept = dict(zip(near.names, near.values, strict=True))
    theta = theta.copy()
    for k in places:
        theta[k] = kept.get(items[k].name, theta[k])
    return np.asarray(theta), near.notes
