"""A simulated flight: a model flies a plan, its sensors report, the truth stays apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.closed_loop import integrate_closed_loop
from freefloat.dynamics.equations import SystemMotion, observe
from freefloat.dynamics.integrate import STEP, integrate
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.state import positions, rates
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import TelemetryError, require_type
from freefloat.excitation.commands import WRENCH
from freefloat.excitation.plan import Plan
from freefloat.model.checks import BODY_SENSORS, JOINT_SENSORS, MOTOR_SENSORS, WHEEL_SENSORS
from freefloat.model.default_sensors import default_sensor_note, with_default_sensors
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.sensor_models import channel_units, sensor_readings
from freefloat.prediction.sensor_noise import SUFFIXES, report, sample_times
from freefloat.prediction.time_grid import common_grid
from freefloat.progress import Progress, silent
from freefloat.provenance import provenance
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import unit_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import MEAN, THRUST


def simulate(
    model: Model,
    plan: Plan,
    *,
    seed: int = 0,
    step: float = STEP,
    method: Literal["rk4", "dop853"] = "rk4",
    sensors: tuple[Sensor, ...] | None = None,
    progress: Progress = silent,
) -> Telemetry:
    """Fly `plan` with `model` and return what its sensors report, with the truth beside it.

    Args:
        model: What flies.
        plan: How it is moved and pushed, and for how long.
        seed: Of the noise; the same seed gives the same flight to the last bit.
        step: Of the integration [s], at most: shortened until all samples fall on steps.
        method: "rk4", or "dop853" (Dormand-Prince of order 8, with step control).
        sensors: In place of the model's own; a model without any gets the usual ones, named in
            `metadata["sensors"]`.
        progress: Called every 20 000 steps; may raise to stop.

    Returns:
        The telemetry in SI units, its `truth` without noise at the same instants.

    Raises:
        ExcitationError: The plan does not fit the model.
        TelemetryError: The plan is shorter than two samples, or an argument is out of range.

    >>> import freefloat as ff
    >>> flight = ff.simulate(ff.load_model("cepheus"), ff.default_plan("cepheus"), seed=1)
    >>> "base.rate.z" in flight and "base.rate.z" in flight.truth
    True
    """
    require_type(model, Model, "model", error=TelemetryError)
    require_type(plan, Plan, "plan", error=TelemetryError)
    require_type(step, (float, int), "step", error=TelemetryError)
    if sensors is not None:
        model = replace(model, sensors=tuple(sensors))  # to be checked as if from its file
    is_bare = sensors is None and not model.sensors
    model = with_default_sensors(model) if is_bare else model
    suite = model.sensors
    plan.check(model)
    _check(model, step=step, seed=seed)
    system = flatten(model)
    grid = common_grid(suite, step)
    grid_rate, step = grid[:2]
    at = _fly(system, plan, grid, method, progress)
    channels = [
        c for sensor in suite for c in _sensor_channels(system, plan, sensor, at, grid_rate, seed)
    ]
    channels += _wrench_channels(plan, at)
    metadata = {
        **provenance(),
        "model": model.name,
        "plan": plan.name,
        "seed": str(seed),
        "step": repr(step),
        "method": method,
        THRUST: MEAN,
    }
    if is_bare:
        metadata["sensors"] = str(default_sensor_note(model))
    truth = Telemetry.of(_truth_channels(system, suite, at), metadata=metadata)
    return Telemetry.of(channels, metadata=metadata).with_truth(truth)


def _check(model: Model, *, step: float, seed: int) -> None:
    if not model.sensors:
        raise TelemetryError(
            f"{model.name!r} has no sensors, so a flight would report nothing; add [[sensor]]"
            " entries to its model file or pass sensors=",
            code="sensors.none",
        )
    if not 0.0 < step < np.inf:
        raise TelemetryError(
            f"the step is {step:g} s; give a time such as 1e-3 s", code="option.range"
        )
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise TelemetryError(
            f"the seed is {seed!r}; give a whole number from 0 on", code="option.range"
        )


def _fly(
    system: System,
    plan: Plan,
    grid: tuple[float, float, int],
    method: Literal["rk4", "dop853"],
    progress: Progress,
) -> FlightSegment:
    """States, accelerations and forces on the grid: its rate [Hz], the step [s], steps between."""
    rate, step, every = grid
    n = int(np.floor(plan.duration * rate * (1 + 1e-12)))
    if n < 1:
        raise TelemetryError(
            f"the plan {plan.name!r} lasts {plan.duration:g} s, which is less than the {1 / rate:g}"
            " s between two samples; lengthen it or raise the sensors' rates",
            code="plan.short",
        )
    duration, times = n * every * step, np.arange(n + 1) / rate
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
        motion = observe(held, loop.states, inputs=inputs, times=times)
        return FlightSegment(times, loop.states, motion, inputs)
    tabulate = plan.inputs(system)
    flown = integrate(
        system, start, tabulate, duration=duration, step=step, every=every,
        method=method, breaks=plan.edges(), progress=progress,
    )  # fmt: skip
    inputs = tabulate(np.repeat(times[:, None], 3, axis=1))
    motion = observe(system, flown.states, inputs=inputs, times=times)
    return FlightSegment(times, flown.states, motion, inputs)


def _all_prescribed(system: System) -> System:
    """The system with every joint driven by motion: what a closed loop amounts to afterwards."""
    root = system.tree.free[system.tree.free < 6]
    above = system.tree.above[: len(root)]
    tree = system.tree._replace(free=root, above=above, given=np.arange(system.n_coordinates))
    return replace(system, tree=tree)


def _closed_loop_inputs(system: System, states: Array, ddq: Array, wrench: Array) -> Inputs:
    c = system.n_coordinates
    given = np.stack([positions(states), rates(states), ddq], axis=-1)
    push = np.zeros((len(states), len(system.tree.thruster_link) + 6))
    push[:, -6:] = wrench
    gains = np.zeros((c, 3))
    gains[:, 2] = np.inf
    three = [np.repeat(table[:, None], 3, axis=1) for table in (given, push)]
    return Inputs(three[0], np.zeros((1, 3, c, 3)), three[1], gains)


def _sensor_channels(
    system: System, plan: Plan, sensor: Sensor, at: FlightSegment, grid_rate: float, seed: int
) -> list[Channel]:
    times = sample_times(sensor, float(at.times[-1]))
    wanted = np.clip(times - sensor.delay, 0.0, at.times[-1])  # before the start: the first value
    rows = np.round(wanted * grid_rate).astype(int)
    is_on_grid = bool(np.all(np.abs(wanted * grid_rate - rows) < 1e-6))
    own = channel_units(system, sensor)
    channels = []
    for name, truth in sensor_readings(system, sensor, at).items():
        if sensor.kind == "thruster":
            valve = name.removesuffix(".force")
            seen = _mean_thrust(plan, valve, times - sensor.delay, sensor.rate)
        else:
            seen = truth[rows] if is_on_grid else _between(at.times, truth, wanted)
        channels += report(sensor, name, times, seen, seed=seed, unit=own.get(name))
    return channels


def _mean_thrust(plan: Plan, thruster: str, times: Array, rate: float) -> Array:
    """What a valve pushes from each of the times until the next sample, on the mean."""
    if thruster not in plan.thrusts:
        return np.zeros_like(times)
    return plan.thrusts[thruster].over(times, times + 1.0 / rate)


def _between(times: Array, truth: Array, wanted: Array) -> Array:
    """Truth at times between grid points."""
    from scipy.interpolate import CubicSpline

    values = CubicSpline(times, truth, axis=0)(wanted)
    if truth.ndim == 2 and truth.shape[1] == 4:
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    return values


def _wrench_channels(plan: Plan, at: FlightSegment) -> list[Channel]:
    """Whoever commands a wrench on the root knows it: channels base.force.*, base.torque.*."""
    if plan.control is None and not plan.wrench:
        return []
    table = np.broadcast_to(at.inputs.push[:, 0, -6:], (len(at.times), 6))
    valid = np.ones(len(at.times), dtype=bool)
    return [
        Channel(f"base.{name}", "N m" if "torque" in name else "N", at.times, table[:, k], valid)
        for k, name in enumerate(WRENCH)
    ]


def _truth_channels(system: System, suite: tuple[Sensor, ...], at: FlightSegment) -> list[Channel]:
    """Noise-free channels on the grid: what the sensors look at, and every coordinate."""
    root = system.model.root.body
    looks = [Sensor(kind, root, 1.0) for kind in BODY_SENSORS]
    looks += [*suite]
    looks += [Sensor(kind, "*", 1.0) for kind in (*JOINT_SENSORS, *MOTOR_SENSORS, *WHEEL_SENSORS)]
    whole: dict[str, Array] = {}
    own: dict[str, str] = {}
    for sensor in looks:
        whole.update(sensor_readings(system, sensor, at))
        own.update(channel_units(system, sensor))
    valid = np.ones(len(at.times), dtype=bool)
    channels = []
    for name, table in whole.items():
        columns = table[:, None] if table.ndim == 1 else table
        for k, suffix in enumerate(SUFFIXES[columns.shape[1]]):
            full = name + suffix
            channels.append(
                Channel(full, own.get(full) or unit_of(full)[0], at.times, columns[:, k], valid)
            )
    return channels


__all__ = ["SystemMotion", "simulate"]
