"""Plans that show parameters, for tests of the library: it is not tested by what a paper flew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import freefloat as ff
from freefloat.dynamics.state import Start
from freefloat.excitation.commands import Pulses
from freefloat.excitation.motions import Accelerate, Sinusoid, Spline
from freefloat.excitation.plan import Plan

HELD_OFFSETS = np.deg2rad((-1.3, 2.8, -0.2, -0.4, -1.1))  # of the spring at the start of five runs


def exciting_plan(model: ff.Model) -> Plan:
    """Every joint swings and thrusters pulse: a motion that shows base and target."""
    joints = [j for j in model.joints if j.type != "fixed"]
    planar = model.root.type == "planar"
    swing = 0.9 if planar else 0.6  # [rad]
    # in the plane one after the other: opposite ones would cancel
    first, apart, long = (0.5, 10.0 / len(model.thrusters), 2.5) if planar else (1.0, 0.7, 2.0)
    motions = {
        j.name: Sinusoid(60.0, j.home, swing, 7.0 + 2.3 * k, 3.0, first=j.home)
        for k, j in enumerate(joints)
    }
    thrusts = {}
    for k, thruster in enumerate(model.thrusters):
        starts = [round(first + apart * k + 10.0 * i, 1) for i in range(6)]
        thrusts[thruster.name] = Pulses(tuple((t, long, 5.0) for t in starts if t < 57.0))
    velocity = (1.0, 2.0, 0.0) if planar else (10.0, 20.0, 30.0)
    rate = (0.0, 0.0, 0.1) if planar else (0.1, 0.2, 0.3)
    return Plan(60.0, start=Start(velocity=velocity, rate=rate), motions=motions, thrusts=thrusts)


def splines_then_rest(
    model: ff.Model, *, duration: float, rest: float, points: int, reach: float = 0.3, seed: int = 3
) -> Plan:
    """B-splines with random control points for every arm joint, from home and back, then rest."""
    rng = np.random.default_rng(seed)
    motions = {}
    for joint in model.joints:
        if joint.role == "motion":
            inner = joint.home + rng.uniform(-reach, reach, points)
            motions[joint.name] = Spline(duration, (joint.home, *inner.tolist(), joint.home))
    return Plan(duration + rest, motions=motions, name="splines, then rest")


def swinging_arm(q: Sequence[float], *, duration: float, period: float, ramp: float) -> Plan:
    """Joints 1 to 3 swing about a centre: q is (centre, amplitude) of each [rad]."""
    motions = {
        f"arm_{i}": Sinusoid(duration, center, amplitude, period, ramp)
        for i, (center, amplitude) in enumerate(np.reshape(q, (3, 2)).tolist(), start=1)
    }
    return Plan(duration, motions=motions, name="swinging arm")


def held_motor_flights(model: ff.Model, *, seed: int) -> list[ff.Telemetry]:
    """Five flights of the geared arm, its motor held on a commanded motion."""
    commanded = {"arm_1": 0.3, "arm_2": -0.6, "arm_3": -0.9}  # [deg/s^2]
    motions = {
        name if name != "arm_1" else "arm_1.motor": Accelerate(
            float(np.deg2rad(a)), model.joint(name).home
        )
        for name, a in commanded.items()
    }
    home, flights = model.joint("arm_1").home, []
    for n, offset in enumerate(HELD_OFFSETS.tolist()):
        start = Start(coordinates={"arm_1": home + offset})
        plan = Plan(10.0, motions=motions, start=start)
        flights.append(ff.simulate(model, plan, seed=seed + n))
    return flights
