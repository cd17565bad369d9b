"""Paper 002's problems: motions and guesses, eq. 21's least squares, base, load, and the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import Start
from freefloat.errors import IdentificationError
from freefloat.excitation.motions import Sinusoid
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.identify import identify
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Body, Sensor
from freefloat.model.rotations import matrix_from_quaternion
from freefloat.observability.identifiability import identifiability
from freefloat.papers.paper_002.published import FAST, GOOD_MOTION, PUBLISHED
from freefloat.papers.paper_rows import Row
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.predictor import Prediction, plan_predictor
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

# format: protocol, rad/s and m/s^2: the noise that noise-free channels are weighed with
STATED = 1e-5
STEP = 0.05  # theory: [s]: RK4 errs by (2 pi h / 30)^4 / 120 = 1e-10 where the arm swings in 30 s
A_PERIOD = 300  # format: protocol, samples of eq. 21 in a period of the motion, 10 Hz when fast
# format: protocol, How the satellite may stand at first: where its x, y and z axes point
# (quaternions in the axes of the orbit: up, ahead, and left along its normal).
HALF = float(np.sqrt(0.5))
ORIENTATIONS: dict[str, tuple[float, float, float, float]] = {
    "up, ahead, left": (0.0, 0.0, 0.0, 1.0),
    "up, left, astern": (HALF, 0.0, 0.0, HALF),
    "right, ahead, up": (0.0, HALF, 0.0, HALF),
    "ahead, down, left": (0.0, 0.0, HALF, HALF),
    "ahead, left, up": (0.5, 0.5, 0.5, 0.5),
}
ELEMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


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


def start_plan(
    plan: Plan, model: Model, orientation: str, *, turns: bool, wheel: float = 0.0
) -> Plan:
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
        model = _step(model, {n: before[n].value for n in names}, names, change)
        if np.max(np.abs(change * size)) < 1e-9:
            break
    return model


def _step(model: Model, old: dict[str, float], names: list[str], change: Array) -> Model:
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


# -- paper 002's identifications: the base, the load, and the loop of planning and flying ----------


def fit_body(guess: Model, body: str, flight: Telemetry, plan: Plan) -> Fit:
    """A body's ten parameters by output error; the flight starts at rest, as in the paper."""
    wanted = Parameters(guess).free(f"{body}.*")
    return identify(
        guess, wanted, flight, method="output_error", plan=plan, known_start=True, assess=False
    )


def base_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Problem 1: the base from a guess of 1000 kg, with good and with poor excitation."""
    ets7 = load_model("ets7") if model is None else model
    rows = []
    cases = (
        ("Problem 1: the base, the paper's motion", PUBLISHED["motion"], PUBLISHED["found"]),
        ("Problem 1: the base, poor motion", PUBLISHED["poor_motion"], PUBLISHED["found_poorly"]),
    )
    for table, q, printed in cases:
        plan = motion(q)
        guess = with_values(ets7, "bus", PUBLISHED["guess"])
        fit = fit_body(guess, "bus", quiet(ets7, plan), plan)
        rows += _body_rows(table, fit.model.body("bus"), ets7.body("bus"), printed)
    return rows


def _body_rows(table: str, ours: Body, truth: Body, printed: tuple) -> list[Row]:
    """Errors of the paper and of ours, no noise in either."""
    mass, com, inertia = printed
    rows = [_error(table, "mass", "kg", mass - truth.mass, ours.mass - truth.mass, 0.01)]
    worst = float(np.max(np.abs(np.subtract(ours.com, truth.com))))
    worst_printed = float(np.max(np.abs(np.subtract(com, truth.com))))
    rows.append(_error(table, "centre of mass, worst", "m", worst_printed, worst, 1e-4))
    for k, name in enumerate(ELEMENTS):
        rows.append(
            _error(table, name, "kg m^2", inertia[k] - truth.inertia[k],
                   ours.inertia[k] - truth.inertia[k], 0.1)
        )  # fmt: skip
    return rows


def _error(table: str, what: str, unit: str, paper: float, ours: float, limit: float) -> Row:
    status = "better" if abs(ours) <= min(limit, abs(paper) + 1e-12) else "missed"
    note = "error; noise 1e-8, next to none; one pass from the paper's guess"
    return Row(table, f"error of {what}", unit, paper, ours, status, note)


def load_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """Problem 2: the load at the end-effector from a guess of 10 kg, in one pass."""
    loaded = load_model("ets7-load") if model is None else model
    table, plan = "Problem 2: the load, one pass", motion(GOOD_MOTION)
    guess = with_values(loaded, "target", PUBLISHED["load_guess"])
    fit = fit_body(guess, "target", quiet(loaded, plan), plan)
    ours, truth = fit.model.body("target"), loaded.body("target")
    return [
        _against(table, "mass [kg]", PUBLISHED["load_found"], ours.mass, truth.mass),
        _against(table, "izz [kg m^2]", PUBLISHED["load_izz"], ours.inertia[5], truth.inertia[5]),
        Row(table, "centre of mass, worst error", "m", None,
            float(np.max(np.abs(np.subtract(ours.com, truth.com)))), "not published"),
    ]  # fmt: skip


def _against(table: str, what: str, printed: tuple[float, float], ours: float, truth: float) -> Row:
    """Ours after one pass beside the paper's after its first; both judged against its second."""
    quantity, _, unit = what.partition(" [")
    is_better = abs(ours - truth) < min(0.01, abs(printed[1] - truth))
    return Row(table, quantity, unit.rstrip("]"), printed[0], ours,
               "better" if is_better else "missed",
               f"truth {truth:g}; the paper's second pass gave {printed[1]:g}")  # fmt: skip


def loop_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Section 3.3: plan with the guess, fly, identify, plan anew; with the model's noise."""
    ets7 = load_model("ets7") if model is None else model
    table = "Section 3.3: plan, fly, identify, plan anew"
    believed, rows = with_values(ets7, "bus", PUBLISHED["guess"]), []
    n = 2 if quick else 6
    for turn in range(1, 3):
        plan, expected = best_motion(believed, n=n, seed=seed)
        fit = fit_body(believed, "bus", simulate(ets7, plan, seed=seed + turn), plan)
        believed = fit.model
        mass, truth = fit["bus.mass"], ets7.body("bus").mass
        is_right = abs(mass.value - truth) < 3.0 * mass.std
        rows += [
            Row(table, f"mass, turn {turn}", "kg", PUBLISHED["found"][0], mass.value,
                "reproduced in pattern" if is_right and mass.std < 5.0 else "missed",
                f"truth {truth:g}, to be within three deviations; deviation {mass.std:.2g}, aim 5;"
                " gyro 1e-5 rad/s, accelerometer 1e-5 m/s^2; the paper has no noise"),
            Row(table, f"deviation expected over found, turn {turn}", "-", None,
                expected / mass.std, "not published",
                f"the best of {n} motions within the limits, by expected deviations"),
        ]  # fmt: skip
    return rows


def best_motion(model: Model, *, n: int, seed: int) -> tuple[Plan, float]:
    """Of n random motions within the limits, that with the least product of deviations.

    Also the deviation of the base's mass [kg] it promises under the believed model.
    """
    rng = np.random.default_rng(seed)
    wanted, best = Parameters(model).free("bus.*"), None
    for _ in range(n):
        centers = rng.uniform(-0.4, 0.4, 3)
        plan = motion(np.column_stack([centers, rng.uniform(0.7, 1.1, 3)]).ravel().tolist())
        seen = identifiability(model, wanted, plan=plan, unknown_start=False)
        stds = np.array([seen[p.name].std for p in wanted.free_ones])
        score = float(np.sum(np.log(stds)))
        if best is None or score < best[0]:
            best = (score, plan, float(seen["bus.mass"].std))
    assert best is not None
    return best[1], best[2]
