"""Paper 000's model, checked: modes, slosh frequency, excitation criterion, printed equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.modes import modes
from freefloat.dynamics.tree import flatten
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.papers.paper_000.flights import splines
from freefloat.papers.paper_000.published import BOUNDS, EXCITATION, PUBLISHED
from freefloat.papers.paper_rows import Row, printed, within


def mode_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """The modes of the winged servicer, and how the arm's posture moves the first it shows."""
    wings = load_model("servicer-wings") if model is None else model
    table, own = "Modes of the flexible model", modes(wings)
    rows = [
        within(table, "mode 1, wings together", "Hz", own[0].frequency, between=BOUNDS["mode 1"],
               note="turns nothing, so the gyro does not see it"),
        printed(table, "mode 2, wings against each other", "Hz", PUBLISHED["wings"][0],
                own[1].frequency, digits=2),
        within(table, "mode 3, outer panels together", "Hz", own[2].frequency,
               between=BOUNDS["mode 3"]),
        printed(table, "mode 4, outer panels against each other", "Hz", PUBLISHED["wings"][1],
                own[3].frequency, digits=2),
    ]  # fmt: skip
    rows += [
        Row(table, f"damping ratio of mode {k}", "-", None, mode.damping, "not published")
        for k, mode in enumerate(own, start=1)
    ]
    seen = _over_postures(wings, n=40 if quick else 400, seed=seed)
    return [
        *rows,
        within(table, "mode 2, lowest over postures", "Hz", min(seen),
               between=BOUNDS["lowest .230"],
               note="a frequency without the posture it belongs to says little"),
        within(table, "mode 2, highest over postures", "Hz", max(seen),
               between=BOUNDS["highest .230"]),
    ]  # fmt: skip


def _over_postures(model: Model, *, n: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    arm = [joint.name for joint in model.joints if joint.role == "motion"]
    found = []
    for _ in range(n):
        posture = dict(zip(arm, rng.uniform(-1.6, 1.6, len(arm)).tolist(), strict=True))
        found.append(modes(model, posture=posture)[1].frequency)
    stretched, folded = dict.fromkeys(arm, 0.0), dict.fromkeys(arm, 0.0)
    folded["arm_4"] = 2.8
    return found + [modes(model, posture=p)[1].frequency for p in (stretched, folded)]


def slosh_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """0.06 Hz of slosh cannot come from Table I."""
    slosh = load_model("servicer-slosh") if model is None else model
    table, own = "Slosh frequency from Table I", modes(slosh)
    mass, length, stiffness = PUBLISHED["pendulum"]
    fixed = float(np.sqrt(stiffness / (mass * length**2)) / (2.0 * np.pi))
    paper, goal = PUBLISHED["slosh"], PUBLISHED["slosh"]
    rows = [
        Row(table, "eq. 16, base fixed", "Hz", paper, fixed,
            "paper wrong" if BOUNDS["eq. 16"][0] < fixed < BOUNDS["eq. 16"][1] else "missed",
            "a free base makes it faster still: no 0.06 Hz"),
        Row(table, "free-floating, first", "Hz", paper, own[0].frequency,
            "paper wrong" if BOUNDS["slosh 1"][0] < own[0].frequency < BOUNDS["slosh 1"][1]
            else "missed"),
        Row(table, "free-floating, second", "Hz", paper, own[1].frequency,
            "paper wrong" if BOUNDS["slosh 2"][0] < own[1].frequency < BOUNDS["slosh 2"][1]
            else "missed"),
    ]  # fmt: skip
    cases = (
        ("stiffness", "N m/rad", "needed k", stiffness),
        ("length", "m", "needed l", length),
        ("mass", "kg", "needed m", mass),
    )
    for field, unit, key, value_in_table in cases:
        value = _needed(slosh, field, goal)
        rows.append(
            within(table, f"{field} that would give 0.06 Hz", unit, value, between=BOUNDS[key],
                   note=f"Table I has {value_in_table:g}")
        )  # fmt: skip
    return rows


def _needed(model: Model, field: str, goal: float) -> float:
    """The value of one field of the tank with which the first mode has the frequency `goal`."""
    from scipy.optimize import brentq

    tank = model.tanks[0]
    now = tank.stiffness[0] if field == "stiffness" else getattr(tank, field)

    def miss(log_factor: float) -> float:
        value = now * float(np.exp(log_factor))
        new = (value, value) if field == "stiffness" else value
        changed = replace(model, tanks=(replace(tank, **{field: new}),))
        return modes(changed)[0].frequency - goal

    low, high = (-3.0, 0.0) if field == "stiffness" else (0.0, 2.5)
    root = brentq(miss, low, high)
    return float(now * np.exp(float(root)))  # type: ignore[arg-type]


def equation_rows(*, quick: bool = False, model: Model | None = None) -> list[Row]:
    """What the printed equations do when taken at their word."""
    wings = load_model("servicer-wings") if model is None else model
    table = "Printed equations"
    plan = splines(wings, **EXCITATION)
    system = flatten(rigid(wings))
    flight = integrate(
        system, plan.start_state(system), plan.inputs(system),
        duration=EXCITATION["duration"], step=5e-3,
    )  # fmt: skip
    rate = flight.states[:, 10]  # about the hinges' axis
    stiffness = wings.joint("hinge_l1").stiffness
    signed, absolute = rate[-1] - rate[0], np.sum(np.abs(np.diff(rate)))
    return [
        within(table, "eq. 10's sum over that of absolute values", "-",
               float(abs(signed) / absolute), between=BOUNDS["eq. 10"], status="paper wrong",
               note="rest to rest the signed accelerations add up to nothing, whatever the motion"),
        Row(table, "force of a spring deflected by 1 rad, eqs 1 and 4", "N m/rad", None,
            -stiffness, "paper wrong" if stiffness > 0.0 else "missed",
            "K = -diag(k) on the left side of eq. 1 pushes away from rest"),
    ]  # fmt: skip
