"""A simulated flight: a model flies a plan, its sensors report, the truth stays apart."""

from __future__ import annotations

from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.capture import integrate_closed_loop
from freefloat.dynamics.equations import Motion, observe
from freefloat.dynamics.integrate import STEP, Progress, integrate
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import TelemetryError
from freefloat.excitation.plan import WRENCH, Plan
from freefloat.model.checks import JOINT_SENSORS, MOTOR_SENSORS, WHEEL_SENSORS
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.provenance import provenance
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.grid import common_grid
from freefloat.telemetry.sensors import SUFFIXES, report, sample_times
from freefloat.telemetry.truths import Instant, readings


def simulate(
    model: Model,
    plan: Plan,
    *,
    seed: int = 0,
    step: float = STEP,
    method: Literal["rk4", "dop853"] = "rk4",
    sensors: tuple[Sensor, ...] | None = None,
    progress: Progress | None = None,
) -> Telemetry:
    """Fly `plan` with `model` and return what its sensors report, with the truth beside it.

    The step [s] is shortened so that every sensor's samples fall on steps. `sensors` replaces the
    model's own suite. The same seed gives the same noise.

    >>> import freefloat as ff
    >>> flight = ff.simulate(ff.load_model("cepheus"), ff.default_plan("cepheus"), seed=1)
    >>> "base.rate.z" in flight and "base.rate.z" in flight.truth
    True
    """
    plan.check(model)
    suite = model.sensors if sensors is None else sensors
    if not suite:
        raise TelemetryError(
            f"{model.name!r} has no sensors, so a flight would report nothing; add [[sensor]]"
            " entries to its model file or pass sensors="
        )
    system = flatten(model)
    grid_rate, step, every = common_grid(suite, step)
    duration = np.floor(plan.duration * grid_rate * (1 + 1e-12)) / grid_rate
    at = _fly(system, plan, duration, step, every, method, progress)
    channels = [c for sensor in suite for c in _reported(system, sensor, at, grid_rate, seed)]
    channels += _commanded(plan, at)
    metadata = {
        **provenance(),
        "model": model.name,
        "plan": plan.name,
        "seed": str(seed),
        "step": repr(step),
        "method": method,
    }
    truth = Telemetry.of(_truths(system, suite, at), metadata=metadata)
    return Telemetry.of(channels, metadata=metadata).with_truth(truth)


def _fly(
    system: System,
    plan: Plan,
    duration: float,
    step: float,
    every: int,
    method: Literal["rk4", "dop853"],
    progress: Progress | None,
) -> Instant:
    """States, accelerations and forces on the grid."""
    start = plan.start_state(system)
    if plan.control is not None:
        law = plan.control
        values = (law.damping, law.stiffness, law.force_gain, law.max_force)
        loop = integrate_closed_loop(
            system, start, (*values, law.torque_gain, law.max_torque),
            duration=duration, step=step, every=every,
        )  # fmt: skip
        inputs = _closed_loop_inputs(system, loop.states, loop.accelerations, loop.wrench)
        held = _all_prescribed(system)
        motion = observe(held, loop.states, inputs=inputs, times=loop.times)
        return Instant(loop.times, loop.states, motion, inputs)
    tabulate = plan.inputs(system)
    flown = integrate(
        system, start, tabulate, duration=duration, step=step, every=every,
        method=method, breaks=plan.edges(), progress=progress,
    )  # fmt: skip
    inputs = tabulate(np.repeat(flown.times[:, None], 3, axis=1))
    motion = observe(system, flown.states, inputs=inputs, times=flown.times)
    return Instant(flown.times, flown.states, motion, inputs)


def _all_prescribed(system: System) -> System:
    """The system with every joint driven by motion: what a closed loop amounts to afterwards."""
    root = system.tree.free[system.tree.free < 6]
    tree = system.tree._replace(free=root, given=np.arange(system.n_coordinates))
    return System(**{**vars(system), "tree": tree})


def _closed_loop_inputs(system: System, states: Array, ddq: Array, wrench: Array) -> Inputs:
    c = system.n_coordinates
    given = np.stack([states[:, 13 : 13 + c], states[:, 13 + c :], ddq], axis=-1)
    push = np.zeros((len(states), len(system.tree.thruster_link) + 6))
    push[:, -6:] = wrench
    gains = np.zeros((c, 3))
    gains[:, 2] = np.inf
    three = [np.repeat(table[:, None], 3, axis=1) for table in (given, push)]
    return Inputs(three[0], np.zeros((1, 3, c, 3)), three[1], gains)


def _reported(
    system: System, sensor: Sensor, at: Instant, grid_rate: float, seed: int
) -> list[Channel]:
    times = sample_times(sensor, float(at.times[-1]))
    rows = np.round(times * grid_rate).astype(int)
    channels = []
    for name, truth in readings(system, sensor, at).items():
        seen = (
            truth[rows] if sensor.delay == 0.0 else _delayed(at.times, truth, times - sensor.delay)
        )
        joint = name.split(".")[0]
        is_prismatic = any(j.name == joint and j.type == "prismatic" for j in system.model.joints)
        channels += report(sensor, name, times, seen, seed=seed, is_prismatic=is_prismatic)
    return channels


def _delayed(times: Array, truth: Array, wanted: Array) -> Array:
    """Truth at times between grid points; before the start, its first value."""
    from scipy.interpolate import CubicSpline

    values = CubicSpline(times, truth, axis=0)(np.clip(wanted, times[0], times[-1]))
    if truth.ndim == 2 and truth.shape[1] == 4:
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values


def _commanded(plan: Plan, at: Instant) -> list[Channel]:
    """Whoever commands a wrench on the root knows it: channels base.force.*, base.torque.*."""
    if plan.control is None and not plan.wrench:
        return []
    table = np.broadcast_to(at.inputs.push[:, 0, -6:], (len(at.times), 6))
    valid = np.ones(len(at.times), dtype=bool)
    return [
        Channel(f"base.{name}", "N m" if "torque" in name else "N", at.times, table[:, k], valid)
        for k, name in enumerate(WRENCH)
    ]


def _truths(system: System, suite: tuple[Sensor, ...], at: Instant) -> list[Channel]:
    """Noise-free channels on the grid: what the sensors look at, and every coordinate."""
    whole: dict[str, Array] = {}
    root = system.model.root.body
    for kind in ("attitude", "gyro", "position", "velocity", "accelerometer"):
        whole.update(readings(system, Sensor(kind, root, 1.0), at))
    for sensor in suite:
        whole.update(readings(system, sensor, at))
    for kind in (*JOINT_SENSORS, *MOTOR_SENSORS, *WHEEL_SENSORS):
        whole.update(readings(system, Sensor(kind, "*", 1.0), at))
    units = {name: unit for name, unit in _units(system).items()}
    valid = np.ones(len(at.times), dtype=bool)
    channels = []
    for name, table in whole.items():
        columns = table[:, None] if table.ndim == 1 else table
        for k, suffix in enumerate(SUFFIXES[columns.shape[1]]):
            full = name + suffix
            channels.append(
                Channel(full, units.get(full) or _unit(full), at.times, columns[:, k], valid)
            )
    return channels


def _units(system: System) -> dict[str, str]:
    """Units of the channels of prismatic joints, whose default would be rotational."""
    fields = {"position": "m", "velocity": "m/s", "torque": "N"}
    return {
        f"{joint.name}.{field}": unit
        for joint in system.model.joints
        if joint.type == "prismatic"
        for field, unit in fields.items()
    }


def _unit(name: str) -> str:
    from freefloat.telemetry.names import unit_of

    return unit_of(name)[0]


__all__ = ["Motion", "simulate"]
