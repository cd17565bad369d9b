"""Paper 002's motions, guesses and flights, and the least squares of its eq. 21."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import Start
from freefloat.errors import IdentificationError
from freefloat.excitation.motions import Sinusoid
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.parts import Body, Sensor
from freefloat.model.rotations import matrix_from_quaternion
from freefloat.papers.paper_002.published import FAST
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.predictor import Prediction, plan_predictor
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

STATED = 1e-5  # rad/s and m/s^2: the noise that noise-free channels are weighed with
STEP = 0.05  # [s]: the arm swings in 30 s, RK4 errs by 1e-10
A_PERIOD = 300  # samples of eq. 21 in a period of the motion, 10 Hz when fast
# How the satellite may stand at first: where its x, y and z axes point (quaternions in the axes
# of the orbit: up, ahead, and left along its normal).
HALF = float(np.sqrt(0.5))
ORIENTATIONS: dict[str, tuple[float, float, float, float]] = {
    "up, ahead, left": (0.0, 0.0, 0.0, 1.0),
    "up, left, astern": (HALF, 0.0, 0.0, HALF),
    "right, ahead, up": (0.0, HALF, 0.0, HALF),
    "ahead, down, left": (0.0, 0.0, HALF, HALF),
    "ahead, left, up": (0.5, 0.5, 0.5, 0.5),
}


def motion(q: Sequence[float], shape: tuple[float, float, float] = FAST, *, name: str = "") -> Plan:
    """Eq. 27: the first three joints swing about q_1 by q_2, with smooth entry and exit."""
    duration, period, ramp = shape
    pairs = np.reshape(np.array(q), (3, 2)).tolist()
    motions = {
        f"arm_{i}": Sinusoid(duration, center, amplitude, period, ramp)
        for i, (center, amplitude) in enumerate(pairs, start=1)
    }
    return Plan(duration, motions=motions, name=name or "eq. 27")


def with_values(
    model: Model, body: str, values: tuple[float, Sequence[float], Sequence[float]]
) -> Model:
    """The model with mass, centre of mass and inertia of a body as a paper prints them."""
    mass, com, inertia = values
    old = model.body(body)
    new = Body(old.name, mass, tuple(com), tuple(inertia), old.extras)  # type: ignore[arg-type]
    return model.with_body(new)


def quiet(model: Model, plan: Plan, *, stated: float = STATED) -> Telemetry:
    """A flight next to free of noise (a thousandth), weighed as if it had the stated one."""
    silent = tuple(replace(sensor, noise=1e-3 * stated) for sensor in model.sensors)
    flight = simulate(model, plan, sensors=silent)
    return flight.with_channels(*(c.with_noise(stated) for c in flight.channels.values()))


def begun(plan: Plan, model: Model, orientation: str, *, turns: bool, wheel: float = 0.0) -> Plan:
    """A plan that starts in one of ORIENTATIONS; where it turns, with the orbit it is on.

    wheel: the speed of the roll wheel [rad/s].
    """
    assert model.orbit is not None
    attitude = ORIENTATIONS[orientation]
    rate = np.array(model.orbit.normal) * np.sqrt(model.orbit.mu / model.orbit.radius**3) * turns
    R = matrix_from_quaternion(np.array([attitude]))[0]
    start = Start(attitude=attitude, rate=tuple((R.T @ rate).tolist()), speeds={"rw_x": wheel})
    return replace(plan, start=start)


def eq_21_sensors(rate: float = 10.0) -> tuple[Sensor, ...]:
    """What eq. 21 compares: velocity and rate of the base, all six alike."""
    return (
        Sensor("velocity", "bus", rate, noise=STATED),
        Sensor("gyro", "bus", rate, noise=STATED),
    )


def eq_21(model: Model, flown: Model, plan: Plan, *, flown_plan: Plan | None = None) -> Model:
    """The base that minimises eq. 21 for noise-free data of `flown`, searched from 5 % off.

    Plain sums of squares as in the paper: what a wrong model does to the minimum. Gauss-Newton on
    the analytic slopes of the simulated velocities.
    """
    period = max(own.period for own in plan.motions.values() if isinstance(own, Sinusoid))
    suite, step = eq_21_sensors(A_PERIOD / period), STEP * period / FAST[1]
    names = [p.name for p in Parameters(model).free("bus.*").free_ones]
    data = _table(flown, plan if flown_plan is None else flown_plan, suite, step)
    bus = model.body("bus")
    heavier = 1.05 * bus.mass, bus.com, [1.05 * value for value in bus.inertia]
    model = with_values(model, "bus", heavier)
    for _ in range(20):
        ahead = _predict(model, plan, suite, step, names)
        J = np.vstack([table.reshape(-1, len(names)) for table in ahead.jacobian])
        missing = data - np.concatenate([values.ravel() for values in ahead.values])
        size = np.linalg.norm(J, axis=0)
        change = np.linalg.lstsq(J / size, missing, rcond=1e-13)[0] / size
        before = Parameters(model)
        model = _moved(model, {n: before[n].value for n in names}, names, change)
        if np.max(np.abs(change * size)) < 1e-9:
            break
    return model


def _moved(model: Model, old: dict[str, float], names: list[str], change: Array) -> Model:
    """As much of a step as bodies stand that must be real."""
    for share in (1.0, 0.5, 0.25, 0.1, 0.01):
        try:
            values = {n: old[n] + share * float(c) for n, c in zip(names, change, strict=True)}
            return with_parameters(model, values)
        except IdentificationError:
            continue
    return model


def _table(model: Model, plan: Plan, suite: tuple[Sensor, ...], step: float) -> Array:
    ahead = _predict(model, plan, suite, step)
    return np.concatenate([values.ravel() for values in ahead.values])


def _predict(
    model: Model, plan: Plan, suite: tuple[Sensor, ...], step: float, names: Sequence[str] = ()
) -> Prediction:
    prediction = plan_predictor(model, plan, sensors=suite, step=step).at(names=names)
    assert prediction is not None
    return prediction
