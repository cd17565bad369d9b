"""Limits a flight went beyond: of joints, wheels, thrusters and the whole spacecraft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import positions, rates
from freefloat.dynamics.tree import System
from freefloat.excitation.plan import Plan
from freefloat.model.parts import Joint
from freefloat.telemetry.channels import Telemetry

ROUNDING = 1e-9  # of a limit: reaching it is allowed, and arithmetic is not exact


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


def excesses(
    system: System, plan: Plan, flight: Telemetry, states: Array, turn: Array
) -> tuple[Excess, ...]:
    """Every limit of the model that a flight exceeded, in the model's order.

    `states` are those of the flight's truth, `turn` (N, 3) [rad] the base's rotation vectors. Joint
    accelerations and jerks are those of the plan, hence of prescribed joints only.
    """
    truth = flight.truth
    assert truth is not None  # whoever has the states has the truth
    times = truth["base.rate.x"].time
    watched = [
        *_base(system, states, turn),
        *(found for joint in system.model.joints for found in _joint(system, joint, states)),
        *(found for joint in system.model.joints for found in _planned(system, plan, joint, times)),
        *_torques(system, truth),
        *_wheels(system, states),
    ]
    found = [_excess(*check, times) for check in watched]
    return tuple(excess for excess in found if excess is not None) + tuple(_thrusters(system, plan))


# part, quantity, values over time, limit, unit
Watched = tuple[str, str, Array, float | None, str]


def _excess(
    part: str, quantity: str, values: Array, limit: float | None, unit: str, times: Array
) -> Excess | None:
    """Whether values beyond a limit occur: above one, or below where the quantity says so."""
    if limit is None:
        return None
    sign = -1.0 if quantity.startswith("lowest") else 1.0
    beyond = sign * (values - limit) > ROUNDING * abs(limit)
    if not beyond.any():
        return None
    worst = values[int(np.argmax(sign * values))]
    return Excess(part, quantity, float(worst), limit, unit, float(times[np.argmax(beyond)]))


def _base(system: System, states: Array, turn: Array) -> Iterator[Watched]:
    limits = system.model.limits
    change = states[:, 10:13] - states[0, 10:13]
    yield "base", "attitude", np.linalg.norm(turn, axis=1), limits.base_attitude, "rad"
    yield "base", "rate", np.linalg.norm(change, axis=1), limits.base_rate, "rad/s"


def _joint(system: System, joint: Joint, states: Array) -> Iterator[Watched]:
    if joint.type == "fixed":
        return
    unit = "m" if joint.type == "prismatic" else "rad"
    limits, name = joint.limits, joint.name
    c = system.coordinates.index(name)
    q, dq = positions(states)[:, c], rates(states)[:, c]
    yield name, "lowest position", q, limits.lower, unit
    yield name, "highest position", q, limits.upper, unit
    yield name, "velocity", np.abs(dq), limits.velocity, f"{unit}/s"


def _planned(system: System, plan: Plan, joint: Joint, times: Array) -> Iterator[Watched]:
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


def _torques(system: System, truth: Telemetry) -> Iterator[Watched]:
    for joint in system.model.joints:
        unit = "N" if joint.type == "prismatic" else "N m"
        # Where there is a drive, the motor is what has a limited effort.
        channel = f"{joint.name}.motor_torque" if joint.drive else f"{joint.name}.torque"
        if channel in truth:
            effort = np.abs(truth[channel].values)
            yield joint.name, "effort", effort, joint.limits.effort, unit
    for wheel in system.model.wheels:
        if f"{wheel.name}.torque" in truth:
            torque = np.abs(truth[f"{wheel.name}.torque"].values)
            yield wheel.name, "torque", torque, wheel.max_torque, "N m"


def _wheels(system: System, states: Array) -> Iterator[Watched]:
    for wheel in system.model.wheels:
        speed = np.abs(rates(states)[:, system.coordinates.index(wheel.name)])
        momentum = wheel.inertia * speed
        yield wheel.name, "speed", speed, wheel.max_speed, "rad/s"
        yield wheel.name, "momentum", momentum, system.model.limits.wheel_momentum, "N m s"


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
