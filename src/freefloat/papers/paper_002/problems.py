"""Paper 002's identifications: the base, the load, and the loop of planning and flying."""

from __future__ import annotations

import numpy as np

from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.identify import identify
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Body
from freefloat.observability.identifiability import identifiability
from freefloat.papers.paper_002.flights import motion, quiet, with_values
from freefloat.papers.paper_002.published import GOOD_MOTION, PUBLISHED
from freefloat.papers.paper_rows import Row
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

ELEMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def found(guess: Model, body: str, flight: Telemetry, plan: Plan) -> Fit:
    """A body's ten parameters by output error; the flight starts at rest, as in the paper."""
    wanted = Parameters(guess).free(f"{body}.*")
    return identify(guess, wanted, flight, method="output_error", plan=plan, known_start=True)


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
        fit = found(guess, "bus", quiet(ets7, plan), plan)
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
    fit = found(guess, "target", quiet(loaded, plan), plan)
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
        fit = found(believed, "bus", simulate(ets7, plan, seed=seed + turn), plan)
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
