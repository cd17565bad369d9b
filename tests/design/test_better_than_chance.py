"""I6: a designed motion beats the best of a hundred random ones, and breaks no limit.

What is judged is the plan that is flown: the best motion found, made smaller until it fits.
"""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff
from freefloat.design.criteria import flights_and_criterion
from freefloat.design.excitation import Effort, finish_design, start_search
from freefloat.design.variables import variables_of
from freefloat.dynamics import flatten
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import limits_of
from freefloat.prediction.flight_summary import summarise_flight
from freefloat.prediction.limit_monitors import limit_monitors

N_RANDOM = 100
EVERYTHING = ("bus.*", "target.*", "hinge_*.stiffness", "hinge_*.damping", "tank.*")


def variance_ratio(globs: tuple[str, ...], duration: float, effort: Effort) -> tuple[float, int]:
    """Variance of the worst parameter, best random motion over designed; limits exceeded.

    Random motions are blown up until a limit is reached, as the design is.
    """
    model = ff.load_model("servicer")
    system, allowed = flatten(model), limits_of(model)
    variables = variables_of(system, allowed, basis=Basis("fourier", duration, 3))
    suite = [sensor for sensor in model.sensors if sensor.kind != "thruster"]
    flights, judge = flights_and_criterion(
        system, ff.Parameters.of(model).free(*globs), variables, limit_monitors(system, allowed),
        suite, "worst_parameter",
    )  # fmt: skip
    search = start_search(model, variables, allowed, [flights], [judge], effort=effort)
    plan = finish_design(search, variables, allowed, "worst_parameter").plan
    designed = judge.value(judge.rows(flights.fly_plan(plan)))[0]
    rng = np.random.default_rng(7)
    tried = (search.scale_to_limits(search.random(rng)) for _ in range(N_RANDOM))
    best = min(one.value for one in tried if one is not None)
    exceeded = summarise_flight(model, plan, ff.simulate(model, plan, step=1e-3)).violations
    return float(np.exp(best - designed)), len(exceeded)


@pytest.mark.promise("I6")
def test_a_designed_motion_shows_a_target_better_than_chance(figure):
    ratio, exceeded = variance_ratio(("target.*",), 20.0, Effort(random=8, starts=1, rounds=4))
    figure("I6", f"target: variance of the worst parameter {ratio:.1f}x lower, {exceeded} exceeded")
    assert ratio >= 3.0 and exceeded == 0


@pytest.mark.full
@pytest.mark.promise("I6")
def test_a_designed_motion_shows_everything_better_than_chance(figure):
    ratio, exceeded = variance_ratio(EVERYTHING, 30.0, Effort(random=24, starts=2, rounds=12))
    figure("I6", f"everything: worst parameter {ratio:.1f}x lower, {exceeded} exceeded")
    assert ratio >= 3.0 and exceeded == 0
