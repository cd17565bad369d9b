"""Effects that a model lacks: what each takes off, and whether the right one is named first."""

from dataclasses import replace

import numpy as np
import pytest
from identification.trust.linear_rows import assumptions, linear_rows
from scipy.linalg import null_space
from worlds.kinds import all_kinds
from worlds.recorder import record

import freefloat as ff
from freefloat.identification.trust.assumption_columns import CLOCK
from freefloat.identification.trust.effect_scores import HeldPoint
from freefloat.identification.trust.joint_point import JointPoint
from freefloat.identification.trust.sensor_effects import Effect
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.predictor import predictor_of

KINDS = {kind.name: kind for kind in all_kinds()}


def test_the_gain_of_an_effect_is_what_a_refit_with_it_takes_off():
    rng = np.random.default_rng(3)
    rows = linear_rows(rng)
    columns = rng.standard_normal((len(rows.residual), 2))
    effect = Effect("made.up", (("a", "1"), ("b", "1")), rng.standard_normal((len(columns), 2)), "")
    rows = replace(rows, residual=rows.project_out(rows.residual + effect.columns @ [0.2, -0.1]))
    point = JointPoint(rows, assumptions(columns, "one", "two"), np.zeros(2))
    held = HeldPoint(point)
    found = held.score(effect)
    # assumptions are nought to one deviation: a row each
    n = rows.jacobian.shape[1]
    prior = np.hstack([np.zeros((2, n)), np.eye(2)])
    known = np.vstack([np.hstack([rows.jacobian, columns]), prior])
    more = np.hstack([known, np.vstack([effect.columns, np.zeros((2, 2))])])
    left = np.concatenate([rows.residual, np.zeros(2)])
    costs = [float(np.sum((left - A @ np.linalg.lstsq(A, left)[0]) ** 2)) for A in (known, more)]
    # rounding of dense algebra
    assert found.gain * held.noise**2 == pytest.approx(costs[0] - costs[1], rel=1e-8)
    assert found.amounts == pytest.approx(np.linalg.lstsq(more, left)[0][-2:], rel=1e-8)


def test_the_gain_of_a_walk_is_that_of_the_likelihood():
    rng = np.random.default_rng(4)
    rows = linear_rows(rng, n=60, channels=2)
    n, knots = len(rows.residual), np.arange(1.0, 6.0)
    spread, shapes = np.minimum.outer(knots, knots), rng.standard_normal((n, 5))
    walk = np.linalg.cholesky(spread) @ rng.standard_normal(5)
    rows = replace(rows, residual=rows.project_out(rows.residual + 0.3 * shapes @ walk))
    columns = rng.standard_normal((n, 2))
    held = HeldPoint(JointPoint(rows, assumptions(columns, "one", "two"), np.zeros(2)))
    found = held.score(Effect("walk.x", (("a", "1"),) * 5, shapes, "", spread=spread))
    # the same by dense covariances, in the space that the unknowns cannot reach
    rest = null_space(rows.jacobian.T)

    def twice_likelihood(q: float) -> float:
        noise = np.eye(n) * held.noise**2 + columns @ columns.T * held.noise**2
        C = rest.T @ (noise + q * shapes @ spread @ shapes.T) @ rest
        left = rest.T @ rows.residual
        return -float(left @ np.linalg.solve(C, left)) - float(np.linalg.slogdet(C)[1])

    best = max(twice_likelihood(q) for q in np.geomspace(1e-3, 10.0, 400))
    # sizes are tried at tenths of a decade, about which the likelihood is flat
    assert found.gain == pytest.approx(best - twice_likelihood(0.0), abs=0.05)


@pytest.mark.promise("T2")
@pytest.mark.parametrize(
    ("name", "cause"), [("gyro bias walk", "walk.base.rate"), ("gyro not linear", "bend.base.rate")]
)
def test_readings_that_wander_or_bend_are_named_first(name, cause, figure):
    world, _ = KINDS[name].world("puck", 21, KINDS[name].sizes[1], suite="velocity")
    wanted = ff.Parameters(world.believed).free(*world.free)
    fit = ff.identify(world.believed, wanted, record(world))
    assert fit.assessment is not None and fit.assessment.grade != "trusted"
    first = fit.assessment.causes[0]
    figure("T2", f"{name}: {first.names[0]}")
    assert first.names[0] == cause and first.remedy
    assert not (first.heals and cause.startswith("walk"))  # it takes any shape


@pytest.mark.promise("T2")
@pytest.mark.parametrize(
    ("name", "robot", "cause"),
    [("mass lost", "puck", "change.bus"), ("knock", "puck", "knock"),
     ("clock step of the base", "puck", "step.sensors.delay")],
)  # fmt: skip
def test_what_sets_in_on_the_way_is_named_first_with_its_time(name, robot, cause, figure):
    world, _ = KINDS[name].world(robot, 20, KINDS[name].sizes[1], suite="velocity")
    wanted = ff.Parameters(world.believed).free(*world.free)
    fit = ff.identify(world.believed, wanted, record(world))
    assert fit.assessment is not None and fit.assessment.grade != "trusted"
    first = fit.assessment.causes[0]
    figure("T2", f"{name}: {first.names[0]} at {first.time:.2f} s")
    assert first.names[0] == cause and first.remedy
    when = {"knock": 0.4, "mass lost": 0.5}.get(name)
    # steps are looked for on a grid of a 150th of the flight
    assert when is None or abs(first.time - when * world.duration) < 0.02 * world.duration
    assert "effect.missing" in [reason.code for reason in fit.assessment.reasons]


def test_a_displaced_body_is_the_body_displaced():
    model = ff.load_model("spatial-capture")
    moved = with_parameters(model, {"link_3.com.y": 0.02})
    before, after = model.body("link_3"), moved.body("link_3")
    assert np.subtract(after.com, before.com) == pytest.approx([0.0, 0.02, 0.0])
    assert after.inertia == pytest.approx(before.inertia) and after.mass == before.mass


def test_columns_of_displaced_and_scaled_bodies_agree_with_differences():
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    predictor = predictor_of(model, flight, step=1e-2)
    names = ["link_1.com.x", "target.com.y", "link_2.scale"]
    for values in ({}, {"link_1.com.x": 3e-3, "target.com.y": -5e-3, "link_2.scale": 1.1}):
        middle = predictor.at(values, names)
        for k, name in enumerate(names):
            at = values.get(name, 1.0 if name.endswith("scale") else 0.0)
            sides = [predictor.at({**values, name: at + h}) for h in (1e-4, -1e-4)]
            for m, column in enumerate(middle.jacobian):
                slope = (sides[0].residuals[m] - sides[1].residuals[m]) / 2e-4
                # central differences of 1e-4 err by their square, and by rounding
                assert column[:, :, k] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_a_clock_that_runs_fast_is_one_cause():
    # a sensor of rates beside one of angles: their ratio tells the clock
    model = ff.load_model("spatial-capture")
    flight = ff.simulate(model, ff.default_plan(model), seed=1)
    fast = ff.Telemetry.of(
        replace(channel, time=1.01 * channel.time) for channel in flight.channels.values()
    )
    wanted = ff.Parameters(model).free("target.mass", "target.m?")
    fit = ff.identify(model, wanted, fast, raw=True)
    assert fit.assessment is not None
    named = [name for cause in fit.assessment.causes for name in cause.names]
    assert CLOCK in named and fit.assessment.grade != "trusted"
