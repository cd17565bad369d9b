"""The last word on limits: candidates replayed at a tenth of the step, and made smaller to fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import FINER, Flier
from freefloat.design.linear_limits import Rails, rails_of
from freefloat.design.result import Usage
from freefloat.design.search import Candidate, Search
from freefloat.design.variables import Variables
from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.limits import Limit
from freefloat.prediction.limit_monitors import NOTHING

TRIES = 25
SAFE = 1e-4  # of a limit: what a peak between the points of the replay may have more
LEAST_TIMES = 2001  # of the replay of what is linear


def fitted(
    search: Search,
    variables: Variables,
    allowed: dict[str, Limit],
    candidates: Sequence[Candidate],
) -> tuple[Array, tuple[Usage, ...]]:
    """The best candidate, scaled until nothing is beyond a limit, and how much of each it uses."""
    model = search.flights[0].system.model
    n_times = max(LEAST_TIMES, FINER * len(search.rails.times))
    fine = rails_of(model, variables, allowed, n_times=n_times)
    best: tuple[float, Array, tuple[Usage, ...]] | None = None
    for candidate in candidates[:3]:
        found = _scaled(search, variables, fine, candidate.x)
        if found is None:
            continue
        value = search.evaluate(found[0]).value
        if best is None or value < best[0]:
            best = (value, *found)
    if best is None:
        x = candidates[0].x if search.refused is None else search.refused
        nearest = blocking(variables, allowed, search.flights, fine, x=x)
        raise ExcitationError("no motion was found within the limits; these block:", nearest)
    return best[1], best[2]


def _scaled(
    search: Search, variables: Variables, fine: Rails, x: Array
) -> tuple[Array, tuple[Usage, ...]] | None:
    for harder in range(1, TRIES):  # what swings may shrink by less than the motion does
        x = variables.on_ticks(x)
        usage = usage_of(search.flights, fine, x)
        worst = usage[0].share if usage else 0.0
        if worst <= 1.0 - SAFE:
            return x, usage
        x = x * max(0.5, ((1.0 - 1.1 * SAFE) / worst) ** harder)
    return None


def usage_of(flights: Sequence[Flier], fine: Rails, x: Array) -> tuple[Usage, ...]:
    """Every limit and the share of it that a replay at a tenth of the step uses, most first."""
    found = dict(zip(fine.limits, fine.shares(x), strict=True))
    for one in flights:
        if not one.watches:
            continue
        at = one.replayed(one.variables.plan(x))
        for watch in one.watches:
            share = float(watch.shares(one.system, at).max())
            found[watch.limit] = max(share, found.get(watch.limit, 0.0))
    usage = [Usage(limit, float(share)) for limit, share in found.items()]
    return tuple(sorted(usage, key=lambda one: -one.share))


def blocking(
    variables: Variables,
    allowed: dict[str, Limit],
    flights: Sequence[Flier],
    rails: Rails,
    *,
    x: Array | None = None,
) -> list[Fault]:
    """Limits that are exceeded at home and at rest (or by the motion x), and by how much."""
    faults = []
    for mover in variables.movers:
        joint = mover.name.removesuffix(".motor")
        for quantity, sign in (("lower", -1.0), ("upper", 1.0)):
            limit = allowed.get(f"{joint}.{quantity}")
            if limit is not None and sign * (limit.value - mover.home) < 0.0:
                over = sign * (mover.home - limit.value)
                faults.append(
                    Fault(limit.name, f"home at {mover.home:g} {limit.unit}, {over:.3g} beyond",
                          f"{limit.value:g} {limit.unit}", "move home or the limit")
                )  # fmt: skip
    at_rest = np.zeros(variables.n) if x is None else x
    for usage in usage_of(flights, rails, at_rest):
        if usage.share > 1.0:
            limit, percent = usage.limit, 100.0 * (usage.share - 1.0)
            much = (
                f"{percent:.3g} %" if limit.value else f"{usage.share * NOTHING:.3g} {limit.unit}"
            )
            who = "at home, before anything moves" if x is None else "by a motion that fills others"
            value = f"exceeded by {much} {who}"
            expected = f"at most {limit.value:g} {limit.unit}"
            faults.append(Fault(limit.name, value, expected, "allow more, or change the start"))
    return faults
