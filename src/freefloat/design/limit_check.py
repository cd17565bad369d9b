"""The last check of limits: candidates replayed at a tenth of the step, and made smaller to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import FINER, Flier
from freefloat.design.linear_limits import LinearLimits, linear_limits_of
from freefloat.design.motion_search import Candidate, Search
from freefloat.design.variables import Variables
from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.limits import Limit
from freefloat.prediction.limit_monitors import NOTHING

# theory: the powers 1 ... 24 of the excess add up to 300: a share that changes by a 300th of what
# the motion does still comes down to its limit
TRIES = 25  # of making a motion smaller; then it is given up
# theory: 2000 points in some ten cycles show a peak to (pi / 200)^2 / 2, as LEAST of the search
SAFE = 1e-4  # of a limit: what a peak between the points of the replay may have more
LEAST_TIMES = 2001  # theory: see SAFE; points of the check of what is linear


@dataclass(frozen=True)
class LimitUsage:
    """How much of a limit is used on the replayed flight: share 1 is all of it."""

    limit: Limit
    share: float


def fit_to_limits(
    search: Search,
    variables: Variables,
    allowed: dict[str, Limit],
    candidates: Sequence[Candidate],
) -> tuple[Array, tuple[LimitUsage, ...]]:
    """The best candidate, scaled until nothing is beyond a limit, and how much of each it uses."""
    model = search.flights[0].system.model
    n_times = max(LEAST_TIMES, FINER * len(search.linear_limits.times))
    fine = linear_limits_of(model, variables, allowed, n_times=n_times)
    best: tuple[float, Array, tuple[LimitUsage, ...]] | None = None
    for candidate in candidates[:3]:
        found = _shrink_to_fit(search, variables, fine, candidate.x)
        if found is None:
            continue
        value = search.evaluate(found[0]).value
        if best is None or value < best[0]:
            best = (value, *found)
    if best is None:
        x = candidates[0].x if search.refused is None else search.refused
        nearest = blocking_limits(variables, allowed, search.flights, fine, x=x)
        raise ExcitationError("no motion was found within the limits; these block:", nearest)
    return best[1], best[2]


def _shrink_to_fit(
    search: Search, variables: Variables, fine: LinearLimits, x: Array
) -> tuple[Array, tuple[LimitUsage, ...]] | None:
    # what swings may shrink by less than the motion does: the same excess is taken off harder
    for harder in range(1, TRIES):
        x = variables.on_ticks(x)
        usage = usage_of(search.flights, fine, x)
        worst = usage[0].share if usage else 0.0
        if worst <= 1.0 - SAFE:
            return x, usage
        x = x * max(0.5, ((1.0 - 1.1 * SAFE) / worst) ** harder)
    return None


def usage_of(flights: Sequence[Flier], fine: LinearLimits, x: Array) -> tuple[LimitUsage, ...]:
    """Every limit and the share of it that a replay at a tenth of the step uses, most first."""
    found = {one.limit: share for one, share in zip(fine.limits, fine.shares(x), strict=True)}
    for one in flights:
        if not one.monitors:
            continue
        at = one.replay(one.variables.plan(x))
        for monitor in one.monitors:
            share = float(monitor.shares(one.system, at).max())
            found[monitor.limit] = max(share, found.get(monitor.limit, 0.0))
    usage = [LimitUsage(limit, float(share)) for limit, share in found.items()]
    return tuple(sorted(usage, key=lambda one: -one.share))


def blocking_limits(
    variables: Variables,
    allowed: dict[str, Limit],
    flights: Sequence[Flier],
    linear: LinearLimits,
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
                          f"{limit.value:g} {limit.unit}", "move home or the limit",
                          "limit.home")
                )  # fmt: skip
    at_rest = np.zeros(variables.n) if x is None else x
    for usage in usage_of(flights, linear, at_rest):
        if usage.share > 1.0:
            limit, percent = usage.limit, 100.0 * (usage.share - 1.0)
            much = (
                f"{percent:.3g} %" if limit.value else f"{usage.share * NOTHING:.3g} {limit.unit}"
            )
            by = "at home, before anything moves" if x is None else "by a motion within the others"
            expected = f"at most {limit.value:g} {limit.unit}"
            faults.append(
                Fault(limit.name, f"exceeded by {much} {by}", expected,
                      "allow more, or change the initial state", "limit.exceeded")
            )  # fmt: skip
    return faults
