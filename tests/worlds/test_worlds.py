"""The proving ground is what it says: right worlds are right, and wrong ones move the answer.

`python tests/worlds/run.py` tries every kind; these are a few of them that take seconds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from worlds.bound import plan_of
from worlds.kinds import all_kinds
from worlds.mechanism import STEP, fly
from worlds.outcome import Outcome, try_kind, try_world
from worlds.recorder import at_times, group_of, record
from worlds.right import right_outcomes
from worlds.robots import ROBOTS
from worlds.run import PROVE, wrong_outcomes
from worlds.world import World, right_world

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.model.checks import sensor_targets
from freefloat.model.parts import Orbit
from freefloat.parameters.natural_sizes import natural_sizes

KINDS = {kind.name: kind for kind in all_kinds()}
SUITE = "velocity"  # sensors for which quick methods are chosen
# gross enough to move the answer
WRONG = (
    ("gyro gain", "twins", 2), ("gyro mounting rotation", "twins", 1),
    ("velocity gain", "twins", 1), ("velocity of another point", "puck", 2),
    ("velocity in body axes", "twins", 0), ("encoder zero", "twins", 2), ("gear ratio", "puck", 2),
    ("known arm heavier", "twins", 1), ("link length", "twins", 2), ("wheel inertia", "puck", 2),
    ("drag", "puck", 2), ("residual gravity", "puck", 2), ("mass lost", "puck", 2),
    ("target slides in the hand", "puck", 2), ("thrust gain", "puck", 2),
    ("gyro that saturates softly", "puck", 1), ("eccentric encoder", "puck", 1),
)  # fmt: skip


def test_the_table_has_enough_kinds_and_each_can_be_tried():
    assert len(KINDS) >= 40 and len(KINDS) == len(all_kinds())
    for kind in KINDS.values():
        assert kind.sizes and any(kind.suites(robot) for robot in ROBOTS), kind.name


@pytest.mark.parametrize("robot", list(ROBOTS))
def test_no_robot_is_in_the_library(robot):
    with pytest.raises(ff.FreefloatError):
        ff.load_model(robot)


@pytest.mark.promise("T1")
@pytest.mark.parametrize("robot", list(ROBOTS))
def test_a_right_world_flown_by_mujoco_is_identified(robot, figure):
    outcome = try_world(right_world(robot, 0, "velocity"), "velocity", "right", 0.0)
    assert outcome.seen > 4 and outcome.sigma < 4.0
    figure("T1", f"{robot}, right: largest error {outcome.sigma:.1f} standard deviations")


@pytest.mark.parametrize("robot", ["grappler", "puck"])
def test_two_engines_read_the_same_of_a_right_world(robot):
    assert_same_readings(right_world(robot, 0, "tracked"))


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    ["link length", "axis tilt", "known arm heavier", "wheel inertia", "thruster positions",
     "thrust directions", "drag", "residual gravity", "gravity gradient"],
)  # fmt: skip
def test_two_engines_agree_on_what_is_wrong(name):
    # freefloat is told here what identify is not
    kind = KINDS[name]
    assert_same_readings(kind.world("grappler", 0, kind.sizes[-1], suite="tracked")[0])


def assert_same_readings(world: World) -> None:
    """Hold MuJoCo's readings of a world against those that freefloat simulates of its model."""
    readings, model = fly(world), world.model
    drags = {"linear_drag": world.linear_drag, "angular_drag": world.angular_drag}
    model = replace(model, root=replace(model.root, **drags), gravity=world.gravity)
    if world.gradient:
        radius = (3.986004418e14 / world.gradient) ** (1.0 / 3.0)
        model = replace(model, orbit=Orbit(radius, normal=(0.0, -0.8, 0.6)))
    kinds = ("gyro", "attitude", "velocity", "position", "accelerometer", "joint_torque")
    both = (*world.robot.suites["torque"], *world.suite)
    suite = {sensor.kind: sensor for sensor in both if sensor.kind in kinds}
    quiet = tuple(replace(sensor, noise=0.0, rate=10.0) for sensor in suite.values())
    flown = ff.simulate(model, plan_of(world), sensors=quiet, step=STEP)
    noise = {group_of(world, s, target): s.noise for s in suite.values()
             for target in sensor_targets(model, s)}  # fmt: skip
    for name, channel in flown.channels.items():
        group, axis = name.rpartition(".")[::2] if name[-2] == "." else (name, "")
        if group in readings.groups:
            table = at_times(readings, group, channel.time)
            read = table[:, "xyzw".index(axis)] if axis else table
            # a tenth of the noise cannot move what is found
            assert np.max(np.abs(read - channel.values)) < 0.1 * noise[group], name


def test_residuals_of_a_right_world_are_the_noise():
    # two engines, one flight: what output error leaves is what the recorder added
    world = right_world("tug", 0, "velocity")
    wanted = ff.Parameters(world.believed).free(*world.free)
    fit = ff.identify(world.believed, wanted, record(world), method="output_error")
    rms = np.array([r.rms for r in fit.residuals])
    n = np.array([r.n for r in fit.residuals])
    # a mean square of n normal numbers is normal about 1 with deviation sqrt(2 / n)
    assert np.max(np.abs(rms**2 - 1.0) * np.sqrt(n / 2.0)) < 4.0


@pytest.fixture(scope="module")
def deviations() -> dict[str, dict[str, float]]:
    """Of what is found in the right world of each robot."""
    found = {}
    for robot in {robot for _, robot, _ in WRONG}:
        fit = identify(right_world(robot, 1, SUITE))
        found[robot] = {e.name: e.std for e in fit.estimates}
    return found


def test_wrong_worlds_move_the_answer(deviations):
    """By more than 4 deviations of the right world, and by 2 %, without the assessment."""
    moved = 0
    for name, robot, k in WRONG:
        world, _ = KINDS[name].world(robot, 1, KINDS[name].sizes[k], suite=SUITE)
        fit, true, std = identify(world), world.truths[0], deviations[robot]
        sizes = dict(zip(true, natural_sizes(flatten(world.model), list(true)), strict=True))
        error = {n: abs(fit[n].value - true[n]) for n in true}
        moved += any(error[n] > 4.0 * std[n] and error[n] > 0.02 * sizes[n] for n in true)
    assert moved >= 12


@pytest.mark.promise("T1")
@pytest.mark.parametrize(("name", "robot", "k"), [w for w in WRONG if w[1] == "puck"])
def test_no_wrong_answer_is_trusted(name, robot, k, figure):
    outcome = try_kind(KINDS[name], robot, 1, KINDS[name].sizes[k], suite=SUITE)
    figure("T1", f"{name}: {outcome.grade}, {outcome.total_sigma:.1f} total deviations off")
    assert not outcome.is_confident_error


@pytest.fixture(scope="module")
def wrong_worlds() -> list[Outcome]:
    """Every kind once, the robots by turns, with seeds that nothing was chosen by."""
    return list(wrong_outcomes(all_kinds(), list(ROBOTS), [PROVE], sizes=[1], by_turns=True))


@pytest.mark.full
@pytest.mark.promise("T1")
def test_no_wrong_answer_of_any_kind_is_trusted(wrong_worlds, figure):
    wrong = [o for o in wrong_worlds if o.is_wrong]
    confident = [f"{o.kind}, {o.robot}" for o in wrong if o.is_confident_error]
    words = f"{len(wrong_worlds)} wrong worlds, {len(wrong)} wrong answers"
    figure("T1", f"{words}, {len(confident)} trusted")
    assert not confident


@pytest.mark.full
@pytest.mark.promise("T2")
def test_the_cause_is_named(wrong_worlds, figure):
    single = [o for o in wrong_worlds if not o.kind.endswith("all slightly")]
    told = [o for o in single if o.catalogued and (o.named or o.grade != "trusted")]
    first, named = (sum(1 <= o.rank <= most for o in told) for most in (1, 100))
    healed = [o.kind for o in single if not o.catalogued and o.healing]
    figure("T2", f"{len(told)} noticed, first {first}, named {named}, falsely healed {len(healed)}")
    assert first >= 0.9 * len(told) and named >= 0.98 * len(told) and not healed


@pytest.mark.full
@pytest.mark.promise("T1")
def test_right_worlds_are_trusted(figure):
    tried = list(right_outcomes(300, first=PROVE))
    trusted = sum(o.grade == "trusted" for o in tried)
    figure("T1", f"{trusted} of {len(tried)} right worlds are trusted")
    assert trusted >= 0.98 * len(tried)


def identify(world: World) -> ff.Fit:
    wanted = ff.Parameters(world.believed).free(*world.free)
    return ff.identify(world.believed, wanted, record(world), assess=False)
