"""Paper 002 beyond its problems: effects left out, what noise allows, eq. 26 and D-optimality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import CandidateFlights, Criterion, DesignUnknowns
from freefloat.design.criteria import information
from freefloat.design.excitation import Effort, start_search
from freefloat.design.motion_criteria import BaseExcursion
from freefloat.design.variables import Variables, variables_of
from freefloat.dynamics.tree import flatten
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import Limit, limits_of
from freefloat.excitation.plan import Plan
from freefloat.model import inertia, load_model
from freefloat.model.model import Model
from freefloat.model.parts import Body, Sensor
from freefloat.observability.identifiability import identifiability
from freefloat.papers.paper_002.published import FAST, GOOD_MOTION, PUBLISHED, SLOW, SLOW_MOTION
from freefloat.papers.paper_002.tables import ORIENTATIONS, eq_21, fit_body, motion, start_plan
from freefloat.papers.paper_rows import Row, within
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.limit_monitors import limit_monitors
from freefloat.prediction.simulate import simulate

WHEEL_SPEED = 100.0  # format: protocol, [rad/s]: 2 N m s about roll
NOISES = (1e-5, 1e-5)  # format: protocol, accelerometer [m/s^2], gyro [rad/s]
COARSE_GYRO = float(np.deg2rad(0.04))  # format: protocol, [rad/s], 0.04 deg/s
PLANAR_IZZ = 2.0  # format: printed, [%], section 4.3
BOUND = 0.043  # format: aim, [%] of the mass, an independent prototype's
# Deviations fall with these powers of the motion's size: the mass enters accelerations with the
# first, Izz enters rates with the first, the mass enters rates with the square.
POWERS = (1, 1, 2)
# format: protocol, Of the angles of a motion. It has no meaning of its own: it was chosen so that
# the gyro alone gives the 58 % that an independent prototype had for a motion of its own.
SMALLER = 0.42
ATTITUDES = {"inertially fixed": False, "turning with the orbit": True}
ORIENTATION = next(iter(ORIENTATIONS))  # how it stands unless a row says otherwise
# What problem 1 is held to without noise: mass [kg], inertia [kg m^2]. An effect matters when
# leaving it out costs ten times as much.
ACCURACY, MATTERS = {"mass": 0.01, "izz": 0.1}, 10.0
# Errors an independent prototype had with an effect left out, at ETS-VII's speed and at one
# orientation; nothing is held to them.
PROTOTYPE = {"mass": "+183 kg", "izz": "+257 kg m^2", "ixy": "+55 %", "wheel": "+40 kg"}
SAME = "the same equations fly and fit, noise-free"
TABLE = "Eq. 26 and D-optimality"
JOINTS = ("arm_1", "arm_2", "arm_3")
NAMED = "eq. 26, axes"
STARTS = (-1.1, 0.5)  # format: protocol, all six, as the paper started
LIMIT = PUBLISHED["joint_limit"]  # [rad]
SIZE = 0.1  # format: protocol, of eq. 26 with SI units: of the order of one where it is best
EFFORT = Effort(random=24, starts=8, rounds=25)  # fewer end in a second best from some starts
BRIEF = Effort(random=24, starts=2, rounds=25)  # for a first look at costs nothing is held to
# measured: tests/papers/test_every_study.py. What an independent prototype reached from every
# start, with ten times the noise; and by how much other costs were beaten before, less a margin for
# other starts.
HELD_TO = {"log_det": 157.0, "lead": 3.0}
NOISIER = 10.0  # format: protocol, times the noise of the prototype
# format: aim, of log det: a cost that balances axes would not change at all with their names; so
# much is more than its searches scatter
RENAMED = 1.0


def gradient_rows(*, quick: bool = False, model: Model | None = None, seed: int = 1) -> list[Row]:
    """Gravity gradient left out of eq. 21 and put in, fast and at ETS-VII's speed."""
    ets7 = load_model("ets7") if model is None else model
    truth, rows = ets7.body("bus"), []
    for words, q, shape in (("fast", GOOD_MOTION, FAST), ("ETS-VII speed", SLOW_MOTION, SLOW)):
        table, plan = f"Gravity gradient, {words}", motion(q, shape)
        without = eq_21(replace(ets7, orbit=None), ets7, plan).body("bus")
        with_it = eq_21(ets7, ets7, plan).body("bus")
        sheared = 100.0 * (without.inertia[1] / truth.inertia[1] - 1.0)
        mass, izz = _errors(without, truth)
        rows += [
            _omitted_row(table, "mass", "kg", mass, slow=shape == SLOW),
            _omitted_row(table, "izz", "kg m^2", izz, slow=shape == SLOW),
            Row(table, "ixy, left out: error", "%", None, sheared, "not published",
                _had("ixy", slow=shape == SLOW)),
        ]  # fmt: skip
        mass, izz = _errors(with_it, truth)
        rows += [
            _modelled_row(table, "mass", "kg", mass),
            _modelled_row(table, "izz", "kg m^2", izz),
        ]
    eq_21_error = next(
        row.ours for row in reversed(rows) if row.quantity == "mass, left out: error"
    )
    assert eq_21_error is not None
    return [*rows, *_gradient_all_round(ets7, quick), *_weighted_rows(ets7, eq_21_error, seed=seed)]


def _errors(found: Body, truth: Body) -> tuple[float, float]:
    """Errors of the mass [kg] and of Izz [kg m^2]."""
    return found.mass - truth.mass, found.inertia[5] - truth.inertia[5]


def _had(what: str, *, slow: bool) -> str:
    """Where it stands, and what another program had: to compare, not to be held to."""
    told = f"minimum of eq. 21, noise-free; stands {ORIENTATION}"
    if not slow:
        return told
    return f"{told}; an independent prototype had {PROTOTYPE[what]} at one orientation"


def _omitted_row(table: str, what: str, unit: str, error: float, *, slow: bool) -> Row:
    least = MATTERS * ACCURACY[what]
    note = f"{_had(what, slow=slow)}; matters from {least:g} {unit}"
    status = "not published" if abs(error) > least else "missed"
    return Row(table, f"{what}, left out: error", unit, None, error, status, note)


def _modelled_row(table: str, what: str, unit: str, error: float, *, words: str = "put in") -> Row:
    limit = ACCURACY[what]
    return within(table, f"{what}, {words}: error", unit, error, between=(-limit, limit),
                  note=f"held to {limit:g} {unit}; {SAME}")  # fmt: skip


def _gradient_all_round(ets7: Model, quick: bool) -> list[Row]:
    """The same for a satellite that stands otherwise, and for one that turns with its orbit."""
    table, plan = "Gravity gradient, ETS-VII speed", motion(SLOW_MOTION, SLOW)
    truth, rows = ets7.body("bus"), []
    for words, turns in ATTITUDES.items():
        bodies = [
            eq_21(replace(ets7, orbit=None), ets7, start_plan(plan, ets7, name, turns=turns)).body(
                "bus"
            )
            for name in _orientations(quick)
        ]
        masses, spans = zip(*(_errors(body, truth) for body in bodies), strict=True)
        rows += [
            _all_round(table, f"mass, left out, {words}", "kg", masses, had=PROTOTYPE["mass"]),
            _all_round(table, f"izz, left out, {words}", "kg m^2", spans, had=PROTOTYPE["izz"]),
        ]
    return rows


def _all_round(table: str, what: str, unit: str, errors: Sequence[float], *, had: str = "") -> Row:
    """The largest error of some orientations. Told only: how it stands is not published."""
    note = f"{errors[0]:+.4g} {unit} at the stated one ({ORIENTATION}), from {min(errors):+.4g} to"
    note += f" {max(errors):+.4g} over {len(errors)}"
    if had:
        note += f"; an independent prototype had {had} at one orientation"
    largest = max(errors, key=abs)
    words = f"{what}: largest error of {len(errors)} orientations"
    return Row(table, words, unit, None, largest, "not published", note)


def _weighted_rows(ets7: Model, eq_21_error: float, *, seed: int) -> list[Row]:
    """The same with ours: what the model lacks shows as coloured residuals, and is weighed so."""
    table, plan = "Gravity gradient, ETS-VII speed", motion(SLOW_MOTION, SLOW)
    flight = simulate(ets7, plan, seed=seed)
    fit = fit_body(replace(ets7, orbit=None), "bus", flight, plan)
    error = fit["bus.mass"].value - ets7.body("bus").mass
    told = not fit.is_trustworthy
    return [
        Row(table, "mass, left out, ours: error", "kg", None, error,
            "not published" if abs(error) < abs(eq_21_error) else "missed",
            "accelerometer and gyro with noise, one seed; what is left over is weighed as coloured"
            f" noise; must be less than eq. 21's {eq_21_error:+.3g} kg"),
        Row(table, "left out, ours says so", "-", None, float(told),
            "met" if told else "missed", "aim 1: the fit is not called trustworthy"),
    ]  # fmt: skip


def wheel_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """2 N m s in the roll wheel, left out of the model."""
    ets7 = load_model("ets7") if model is None else model
    table, truth, rows = "Wheel momentum of 2 N m s about roll", ets7.body("bus"), []
    cases = (("fast", GOOD_MOTION, FAST), ("ETS-VII speed", SLOW_MOTION, SLOW))
    for speed, q, shape in cases:
        for words, turns in ATTITUDES.items():
            # 2 N m s times the orbit's rate is 2e-3 N m, as much as the gravity gradient; a base
            # that stands still turns by the arm's reaction alone
            errors = _wheel_errors(ets7, motion(q, shape), turns=turns, quick=quick)
            had = PROTOTYPE["wheel"] if shape == SLOW else ""
            what = f"mass, left out, {speed}, {words}"
            rows.append(_all_round(table, what, "kg", errors, had=had))
        spinning = start_plan(
            motion(q, shape), ets7, "ahead, left, up", turns=True, wheel=WHEEL_SPEED
        )
        error = eq_21(ets7, ets7, spinning).body("bus").mass - truth.mass
        rows.append(_modelled_row(table, "mass", "kg", error, words=f"put in, {speed}"))
    return rows


def _wheel_errors(ets7: Model, plan: Plan, *, turns: bool, quick: bool) -> list[float]:
    """Errors of the mass [kg], one an orientation."""
    errors = []
    for name in _orientations(quick):
        still = start_plan(plan, ets7, name, turns=turns)
        spinning = start_plan(plan, ets7, name, turns=turns, wheel=WHEEL_SPEED)
        body = eq_21(ets7, ets7, still, flown_plan=spinning).body("bus")
        errors.append(body.mass - ets7.body("bus").mass)
    return errors


def _orientations(quick: bool) -> list[str]:
    """All of them, or for a first look three: the extremes may then be among the other two."""
    return list(ORIENTATIONS)[: 3 if quick else None]


def noise_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """What sensors allow at best (Cramer-Rao), initial state unknown."""
    ets7 = load_model("ets7") if model is None else model
    table = "Section 4.3: what noise allows"
    both, izz, alone = noise_bounds(ets7, GOOD_MOTION)
    small = noise_bounds(ets7, tuple(SMALLER * angle for angle in GOOD_MOTION))
    rows = [
        within(table, "mass, accelerometer and gyro", "%", both, between=(0.0, BOUND), status="met",
               note="deviation; 1e-5 m/s^2 and 1e-5 rad/s, 10 Hz, 90 s; the paper used none; aim:"
               f" the {BOUND:g} that an independent prototype had with its own motion"),
        Row(table, "izz, gyro of 0.04 deg/s", "%", PLANAR_IZZ, izz,
            "better" if izz <= PLANAR_IZZ else "missed",
            "least deviation; paper: 2 % of a planar case in its reference 16"),
        Row(table, "mass, gyro alone", "%", None, alone, "not published",
            "deviation: it is the accelerometer that makes the mass visible; an independent"
            " prototype had 58 with its own motion"),
    ]  # fmt: skip
    for large, percent, power in zip(tuple(rows), small, POWERS, strict=True):
        rows.append(_smaller(large, percent, power=power))
    return rows


def _smaller(large: Row, percent: float, *, power: int) -> Row:
    """A deviation with a smaller motion: missed when it grows nearer to another whole power."""
    assert large.ours is not None
    grown = float(np.log(percent / large.ours) / np.log(1.0 / SMALLER))
    note = f"all angles of the motion times {SMALLER:g}, which was chosen to reach the 58 % of an"
    note += (
        f" independent prototype with the gyro alone; grows as its size to the power -{grown:.1f}"
    )
    status = "not published" if abs(grown - power) < 0.5 else "missed"
    name = f"{large.quantity}, small motion"
    return Row(large.table, name, "%", None, percent, status, f"{note}, by physics -{power}")


def noise_bounds(ets7: Model, q: Sequence[float]) -> tuple[float, float, float]:
    """Deviations [%]: mass by both sensors, Izz with a coarse gyro, mass by the gyro alone."""
    wanted, truth, plan = Parameters(ets7).free("bus.*"), ets7.body("bus"), motion(q)
    acceleration, rate = NOISES

    def std(name: str, sensors: tuple[Sensor, ...]) -> float:
        return 100.0 * float(identifiability(ets7, wanted, plan=plan, sensors=sensors)[name].std)

    return (
        std("bus.mass", suite(rate, acceleration)) / truth.mass,
        std("bus.izz", suite(COARSE_GYRO, acceleration)) / truth.inertia[5],
        std("bus.mass", suite(rate, None)) / truth.mass,
    )


def suite(rate: float, acceleration: float | None) -> tuple[Sensor, ...]:
    """Gyro, encoders, and an accelerometer where asked for."""
    sensors = [Sensor("gyro", "bus", 10.0, noise=rate),
               Sensor("encoder", "arm_*", 10.0, noise=1e-5)]  # fmt: skip
    if acceleration is not None:
        sensors.append(Sensor("accelerometer", "bus", 10.0, noise=acceleration))
    return tuple(sensors)


# -- excitation in paper 002: its cost of base motion (eq. 26) beside D-optimality -----------------
# Motions are those of eq. 27: the first three joints swing with one period about a centre, the
# others stay stretched out. How much a motion tells is the logarithm of the determinant of the
# information on the ten parameters of the base, in natural sizes, from gyro and accelerometer.


@dataclass(frozen=True)
class Swings:
    """The satellite, its motions and how they are judged."""

    flights: CandidateFlights
    variables: Variables
    judge: Criterion
    n: int
    limits: dict[str, Limit]

    def best(self, cost: Criterion, start: Array, *, seed: int, effort: Effort = EFFORT) -> Array:
        """The motion that a cost finds best from a start, and from the best of some random ones."""
        search = start_search(
            self.flights.system.model, self.variables, self.limits, [self.flights], [cost],
            seed=seed, effort=effort,
        )  # fmt: skip
        for first in (search.scale_to_limits(np.array(start)), *search.screen()):
            if first is not None:
                search.improve(first)
        return min(search.best, key=lambda one: one.value).x

    def log_det(self, x: Array) -> float:
        """How much a motion tells: log det of the information."""
        return -self.n * self.judge.value(self.flights.fly(x).rows)[0]


def swings(model: Model | None = None, shape: tuple[float, float, float] = FAST) -> Swings:
    """Motions of eq. 27 for the satellite; x is (centre, swing) of each joint, in radians."""
    model = load_model("ets7") if model is None else model
    system = flatten(model)
    allowed = limits_of(model, {"arm_*.lower": -LIMIT, "arm_*.upper": LIMIT})
    basis = Basis("sinusoid", shape[0], 1, shape[1])
    found = variables_of(system, allowed, basis=basis, joints=JOINTS)
    two = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])  # no sine: eq. 27 has one phase
    variables = replace(found, movers=tuple(replace(m, mix=two) for m in found.movers))
    names = [f"{model.root.body}.{field}" for field in inertia.NAMES]
    unknowns = DesignUnknowns(tuple(names), np.eye(len(names)))
    suite = [s for s in model.sensors if s.kind in ("gyro", "accelerometer")]
    flights = CandidateFlights(
        system, variables, limit_monitors(system, allowed), sensors=suite, unknowns=unknowns
    )
    sizes = natural_sizes(system, names)
    rows = flights.fly(np.full(6, 0.5)).rows
    judge = information(
        "d", sizes, rows, prior_std=np.full(len(names), np.nan), natural_prior=np.inf
    )
    return Swings(flights, variables, judge, len(names), allowed)


def design_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """What D-optimality tells from every start, and every reading of eq. 26."""
    bench = swings(model)
    rng = np.random.default_rng(seed)
    starts = [np.full(6, value) for value in STARTS]
    starts += [rng.uniform(-0.7, 0.7, 6) for _ in range(1 if quick else 8)]
    told = [
        bench.log_det(bench.best(bench.judge, start, seed=seed + n))
        for n, start in enumerate(starts)
    ]
    others = {
        words: [bench.log_det(bench.best(cost, start, seed=seed + n,
                                         effort=BRIEF if quick else EFFORT))
                for n, start in enumerate(starts[: 2 if quick else 4])]
        for words, cost in _costs()
    }  # fmt: skip
    lead = min(told) - max(max(found) for found in others.values())
    noisier = 2.0 * bench.n * float(np.log(NOISIER))
    return [
        _paper_row(bench),
        *_other_rows(others),
        within(TABLE, f"D-optimal, worst start, {NOISIER:g} times the noise", "-",
               min(told) - noisier, between=(HELD_TO["log_det"], np.inf), status="met",
               note=f"from {len(told)} starts up to {max(told) - noisier:.1f}; an independent"
               f" prototype had 157 to 160; other rows are {noisier:.0f} higher, with less noise"),
        within(TABLE, "D-optimal above the best other", "-", lead,
               between=(HELD_TO["lead"], np.inf), status="regression",
               note=f"held to {HELD_TO['lead']:g}; the volume of the confidence ellipsoid shrinks"
               " by exp of half of this"),
    ]  # fmt: skip


def _other_rows(others: dict[str, list[float]]) -> list[Row]:
    """What other costs found from each start; eq. 26 is wrong if names of axes change that."""
    named = [max(found) for words, found in others.items() if words.startswith(NAMED)]
    verdict = "paper wrong" if max(named) - min(named) > RENAMED else "missed"
    return [
        Row(TABLE, words, "-", None, max(found),
            verdict if words.startswith(NAMED) else "not published",
            f"from {len(found)} starts {min(found):.1f} to {max(found):.1f}")
        for words, found in others.items()
    ]  # fmt: skip


def _costs() -> list[tuple[str, BaseExcursion]]:
    """Eq. 26 with the axes named in all ways, and mended in two."""
    found = [
        (f"{NAMED} {''.join('xyz'[k] for k in order)}", BaseExcursion("literal", order, SIZE))
        for order in permutations((0, 1, 2))
    ]
    found.append(("eq. 26 with sizes of differences", BaseExcursion("corrected", size=SIZE)))
    return [*found, ("the base's excursion alone", BaseExcursion("none", size=SIZE))]


def _paper_row(bench: Swings) -> Row:
    """The paper's own motion, and how far it is beyond the limits it names."""
    q = np.array(PUBLISHED["motion"])
    reach = max(abs(q[k]) + abs(q[k + 1]) for k in (0, 2, 4))
    return Row(
        TABLE, "the paper's motion", "-", None, bench.log_det(q),
        "paper wrong" if reach > LIMIT else "missed",
        f"it breaks its limit of 90 deg by {reach - LIMIT:.2f} rad",
    )  # fmt: skip
