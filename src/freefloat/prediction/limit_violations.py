"""Limits a flight went beyond: of joints, wheels, thrusters and the whole spacecraft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import SystemMotion, no_inputs
from freefloat.dynamics.frames import link_table
from freefloat.dynamics.tree import System
from freefloat.excitation.limits import limits_of
from freefloat.excitation.plan import Plan
from freefloat.model.parts import Joint
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.limit_monitors import Watch, watches_of
from freefloat.telemetry.telemetry import Telemetry

ROUNDING = 1e-9  # theory: of a limit; reaching it is allowed, and RK4 is exact to less than this
QUANTITIES = {"lower": "lowest position", "upper": "highest position"}


@dataclass(frozen=True)
class Excess:
    """A limit that was exceeded: the part, what of it, how far, the limit, and when first."""

    part: str
    quantity: str
    value: float
    limit: float
    unit: str
    time: float

    def __str__(self) -> str:
        return (
            f"{self.part}: {self.quantity} {self.value:.4g} {self.unit}, limit {self.limit:.4g},"
            f" first exceeded at {self.time:.4g} s"
        )


def excesses(system: System, plan: Plan, flight: Telemetry, states: Array) -> tuple[Excess, ...]:
    """Every limit of the model that a flight exceeded, in the model's order.

    `states` are those of the flight's truth. Joint accelerations and jerks are those of the plan,
    hence of prescribed joints only.
    """
    truth = flight.truth
    assert truth is not None  # whoever has the states has the truth
    times = truth["base.rate.x"].time
    links = link_table(system, states) if system.model.capsules else np.zeros((0, 0, 0))
    none = np.zeros((0, 0))
    at = FlightSegment(times, states, SystemMotion(none, none, links), no_inputs(system))
    found = [
        *(_seen(system, watch, at, truth) for watch in _watches(system)),
        *(
            _excess(*check, times)
            for joint in system.model.joints
            for check in _planned(system, plan, joint, times)
        ),
    ]
    return tuple(excess for excess in found if excess is not None) + tuple(_thrusters(system, plan))


def _watches(system: System) -> Iterator[Watch]:
    """What the model limits; what would be assumed for a design is no limit here."""
    for watch in watches_of(system, limits_of(system.model), with_prescribed=True):
        if not watch.limit.is_assumed:
            yield watch


def _seen(system: System, watch: Watch, at: FlightSegment, truth: Telemetry) -> Excess | None:
    limit = watch.limit
    if watch.channel is None:
        values = watch.look(system, at)
    elif watch.channel in truth:  # as it was: a closed loop gives other torques than the plan
        values = np.abs(truth[watch.channel].values)
    else:
        return None
    quantity = QUANTITIES.get(limit.quantity, limit.quantity)
    return _excess(limit.part, quantity, values, limit.value, limit.unit, at.times, sign=watch.sign)


# part, quantity, values over time, limit, unit
Checked = tuple[str, str, Array, float | None, str]


def _excess(
    part: str,
    quantity: str,
    values: Array,
    limit: float | None,
    unit: str,
    times: Array,
    *,
    sign: float = 1.0,
) -> Excess | None:
    """Whether values beyond a limit occur: above one, or below where the sign is -1."""
    if limit is None:
        return None
    beyond = sign * (values - limit) > ROUNDING * abs(limit)
    if not beyond.any():
        return None
    worst = values[int(np.argmax(sign * values))]
    return Excess(part, quantity, float(worst), limit, unit, float(times[np.argmax(beyond)]))


def _planned(system: System, plan: Plan, joint: Joint, times: Array) -> Iterator[Checked]:
    """What a plan prescribes: of the joint, or of its motor where there is a drive."""
    name = f"{joint.name}.motor" if joint.drive else joint.name
    prescribed = [system.coordinates[i] for i in system.tree.given]
    if name not in prescribed or plan.control is not None or len(times) < 2:
        return
    unit = "m" if joint.type == "prismatic" else "rad"
    ddq = plan.motion_of(name, system.model).at(times)[2]
    limits = joint.limits
    yield name, "acceleration", np.abs(ddq), limits.acceleration, f"{unit}/s^2"
    yield name, "jerk", np.abs(np.gradient(ddq, times)), limits.jerk, f"{unit}/s^3"


def _thrusters(system: System, plan: Plan) -> Iterator[Excess]:
    """Thrusts from the plan itself, on a fine grid: pulses may fall between samples."""
    edges = np.union1d(np.linspace(0.0, plan.duration, 10_001), plan.edges())
    edges = edges[(edges >= 0.0) & (edges <= plan.duration)]
    impulse = 0.0
    for thruster in system.model.thrusters:
        if thruster.name in plan.thrusts:
            force = np.abs(plan.thrusts[thruster.name].over(edges[:-1], edges[1:]))
            impulse += float(np.sum(force * np.diff(edges)))
            excess = _excess(thruster.name, "force", force, thruster.max_force, "N", edges)
            if excess is not None:
                yield excess
    limit = system.model.limits.thruster_impulse
    if limit is not None and impulse > limit * (1.0 + ROUNDING):
        yield Excess("thrusters", "impulse", impulse, limit, "N s", plan.duration)
