"""Where something is driven or pushed no mode is told; what grows is none either."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.excitation import Accelerate, Hold, Moves
from freefloat.identification.modes.free_response import (
    drivers,
    free_response,
    quiet_stretch,
    responding,
)
from freefloat.identification.modes.modal import identify_modes
from freefloat.identification.modes.modal_match import match_modes

TIME = np.arange(0.0, 40.0, 0.02)


@pytest.fixture(scope="module")
def wings():
    return ff.load_model("servicer-wings")


@pytest.fixture(scope="module")
def kicked(wings):
    kick = {"arm_2": Moves((0.0, 1.5, 3.0), (0.6, 0.7, 0.6))}
    return ff.simulate(wings, ff.Plan(40.0, motions=kick), seed=1)


def codes(found):
    return [note.code for note in found.notes]


def swing(decay=0.02, seed=0):
    """A swing of 0.23 Hz in a gyro, with noise of a fiftieth."""
    clean = np.exp(-decay * TIME) * np.sin(2 * np.pi * 0.23 * TIME)
    return clean + 0.02 * np.random.default_rng(seed).normal(size=TIME.size)


def test_arms_that_move_give_no_modes_and_no_springs(wings):
    flight = ff.simulate(wings, ff.default_plan(wings), seed=12)
    found = identify_modes(flight, wings, between=(2.0, 25.0))
    assert found.modes == () and "driven" in {mode.kind for mode in found.others}
    assert "modes.driven" in codes(found)
    match = match_modes(wings, found, flight)
    assert match.factors == {} and match.model == wings
    assert all(pair.seen is None for pair in match.matches)


def test_a_stretch_that_begins_too_early_is_told_and_a_later_one_is_not(wings, kicked):
    early = identify_modes(kicked, wings, between=(1.0, 40.0))
    assert early.modes == () and "modes.driven" in codes(early)
    assert free_response(kicked, wings, between=(1.0, 40.0)).driven == ("arm_2",)
    late = identify_modes(kicked, wings, between=quiet_stretch(kicked, wings))
    assert "modes.driven" not in codes(late)
    assert late.modes == identify_modes(kicked, wings).modes and late.modes


def test_a_wheel_that_spins_up_drives_and_one_that_spins_evenly_rests():
    ets7 = ff.load_model("ets7")
    even = ff.simulate(ets7, ff.Plan(10.0, start=ff.Start(speeds={"rw_x": 100.0})), seed=0)
    assert drivers(even, ets7) == () == drivers(even)
    faster = ff.simulate(ets7, ff.Plan(10.0, motions={"rw_x": Accelerate(1.0, 0.0)}), seed=0)
    assert drivers(faster, ets7) == ("rw_x",) == drivers(faster)
    with refused(IdentificationError, "oscillation.driven"):
        quiet_stretch(faster, ets7)


def test_of_a_wheel_that_torque_drives_the_torque_counts():
    ets7 = ff.load_model("ets7")
    free = replace(ets7, wheels=(replace(ets7.wheels[0], role="torque"),))
    idle = {"rw_x.speed": swing(), "rw_x.torque": 0.0 * TIME}  # turns against the bus's swing
    assert drivers(ff.Telemetry.from_arrays(TIME, idle), free) == ()
    driven = {**idle, "rw_x.torque": 0.1 * np.sin(TIME)}
    assert drivers(ff.Telemetry.from_arrays(TIME, driven), free) == ("rw_x",)


def test_a_motor_that_moves_drives_and_a_held_one_lets_its_link_swing():
    geared = ff.load_model("cbk-arm-geared")
    home = geared.joint("arm_1").home
    others = {name: Hold(geared.joint(name).home) for name in ("arm_2", "arm_3")}
    start = ff.Start(coordinates={"arm_1": home + 0.02})
    held = ff.Plan(10.0, motions={"arm_1.motor": Hold(home), **others}, start=start)
    flight = ff.simulate(geared, held, seed=0)
    assert drivers(flight, geared) == ()
    moved = replace(held, motions={"arm_1.motor": Accelerate(0.01, home), **others})
    assert drivers(ff.simulate(geared, moved, seed=0), geared) == ("arm_1",)
    both = ff.Telemetry.from_arrays(TIME, {"arm_1.position": swing(), "arm_2.position": swing()})
    assert responding(both, geared) == ["arm_1.position"]  # the link swings, the motor is told


@pytest.mark.parametrize("seed", range(10))
def test_noise_of_encoders_wheels_and_thrust_drives_nothing(seed):
    names = ("elbow.position", "rw.speed", "jet.force")
    rng = np.random.default_rng(seed)
    values = {name: rng.normal(scale=0.01, size=TIME.size) for name in names}
    flight = ff.Telemetry.from_arrays(TIME, values, noise={"jet.force": 0.01})
    assert drivers(flight) == ()


def test_a_push_of_one_sample_is_seen():
    push = np.where(np.arange(TIME.size) == 1003, 5.0, 0.0)
    flight = ff.Telemetry.from_arrays(TIME, {"base.rate.x": swing(), "jet.force": push})
    assert drivers(flight) == ("jet",)
    assert identify_modes(flight, between=(1.0, 39.0)).modes == ()
    assert identify_modes(flight, between=(21.0, 39.0)).modes


def test_what_grows_is_no_mode_and_scales_no_spring(wings):
    flight = ff.Telemetry.from_arrays(TIME, {"base.rate.x": 0.1 * swing(-0.02)})
    found = identify_modes(flight, wings)
    assert found.modes == () and [m.kind for m in found.others if m.is_growing] == ["growing"]
    taken = replace(found, modes=found.others)  # even where somebody takes it for one
    assert match_modes(wings, taken, flight).factors == {}
    decaying = ff.Telemetry.from_arrays(TIME, {"base.rate.x": 0.1 * swing(0.02)})
    assert match_modes(wings, identify_modes(decaying, wings), decaying).factors
