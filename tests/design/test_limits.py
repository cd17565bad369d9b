"""Every kind of limit: one design that it binds, and one that it makes impossible."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff
from freefloat.design import Effort, design
from freefloat.errors import ExcitationError

QUICK = Effort(random=4, starts=1, rounds=3)
WHEEL = {"wheels": ("rw_z",), "joints": ()}
JETS = {"thrusters": ("thr_*",), "joints": ()}

# limit: value that binds, model, what is looked for, what is moved and other limits
BINDING = {
    "arm_1.upper": (0.1, "cepheus", "link_1.izz", {"arm_1.lower": -0.02}),
    "arm_1.lower": (-0.1, "cepheus", "link_1.izz", {"arm_1.upper": 0.02}),
    "arm_2.velocity": (0.1, "cepheus", "link_2.izz", {}),
    "arm_2.acceleration": (0.1, "cepheus", "link_2.izz", {}),
    "arm_2.jerk": (0.1, "cepheus", "link_2.izz", {}),
    "arm_2.effort": (0.001, "cepheus", "link_2.izz", {}),
    "base.attitude": (0.02, "cepheus", "link_2.izz", {}),
    "base.rate": (0.02, "cepheus", "link_2.izz", {}),
    "rw_z.speed": (50.0, "cepheus", "bus.izz", WHEEL),
    "rw_z.torque": (0.02, "cepheus", "bus.izz", WHEEL),
    "rw_z.momentum": (0.01, "cepheus", "bus.izz", WHEEL),
    "thrusters.impulse": (0.05, "cepheus", "bus.mass", JETS),
    "arm_1.deflection": (0.135, "cbk-arm", "link_2.izz", {}),  # of its spring, bent at home
    "hinge_l1.deflection": (1e-3, "servicer-wings", "bus.izz", {}),
    "tank_1.deflection": (0.02, "servicer-slosh", "bus.izz", {}),
}


def designed(limit: str, value: float, case: tuple):
    _, name, wanted, others = case
    model = ff.load_model(name)
    moved = {key: others[key] for key in others if "." not in key}
    limits = {key: others[key] for key in others if "." in key} | {limit: value}
    return design(
        model, ff.Parameters.of(model).free(wanted), duration=8.0, harmonics=3, limits=limits,
        effort=QUICK, **moved,
    )  # fmt: skip


@pytest.mark.parametrize("limit", BINDING)
def test_a_limit_binds_and_is_kept(limit):
    case = BINDING[limit]
    shares = {one.limit.name: one.share for one in designed(limit, case[0], case).usage}
    assert 0.8 < shares[limit] <= 1.0
    assert max(shares.values()) <= 1.0


@pytest.mark.parametrize("shape", ["multisine", "moves", "bangs", "spline"])
def test_jerk_is_kept_where_it_jumps(shape):
    """At the ends of ramps and at knots, where it is largest and a difference across averages."""
    model, allowed, duration = ff.load_model("cepheus"), 0.1, 8.0
    found = design(
        model, ff.Parameters.of(model).free("link_2.izz"), duration=duration, harmonics=3,
        shape=shape, limits={"arm_*.jerk": allowed}, effort=QUICK,
    )  # fmt: skip
    t = np.linspace(0.0, duration, 400_001)  # over ten times as fine as the design's own replay
    accelerations = [motion.at(t)[2] for motion in found.plan.motions.values()]
    jerks = [np.abs(np.diff(ddq)).max() / t[1] for ddq in accelerations]
    assert 0.99 < max(jerks) / allowed <= 1.0 + 1e-6  # rounding of differences over 20 us


@pytest.mark.parametrize("limit", [name for name in BINDING if "upper" not in name])
def test_a_limit_that_leaves_nothing_is_named(limit):
    """Zero of anything, or a home that is beyond: which limit blocks, and by how much."""
    value = 0.1 if "lower" in limit else 0.0
    case = BINDING[limit]
    moved = case[3] or {}
    if case[1] == "cepheus" and limit.startswith("arm"):
        moved = {"joints": (limit.partition(".")[0],)}  # else the other one goes on alone
    with pytest.raises(ExcitationError) as caught:
        designed(limit, value, (*case[:3], moved))
    codes = {fault.place: fault.code for fault in caught.value.faults}
    assert codes[limit] in ("limit.home", "limit.exceeded", "limit.no_room"), codes
