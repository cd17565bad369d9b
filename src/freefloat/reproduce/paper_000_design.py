"""Excitation in paper 000: its sum of base accelerations (eq. 10) beside the energy left behind.

Then the opposite: a motion for the rigid parameters that stays out of the modes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.design.base_motion import BaseAcceleration
from freefloat.design.criteria import Criterion
from freefloat.design.excitation import Effort, design, finished, searching
from freefloat.design.flights import Flights
from freefloat.design.swinging import ModalEnergy, band_share, bands_of, modal_energy
from freefloat.design.variables import variables_of
from freefloat.design.watches import watches_of
from freefloat.dynamics.tree import flatten
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import limits_of
from freefloat.excitation.plan import Plan
from freefloat.identification.parameters import Parameters
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.reproduce.rows import Row, within

TABLE = "Excitation of the wings (eqs 9, 10)"
QUIET = "Rigid parameters, out of the modes"
DURATION, POINTS = 20.0, 14  # [s], and control points of the B-splines
DEFLECTION = {"hinge_*.deflection": 0.3}  # [rad], no panel may bend more
AXIS = (1.0, 0.0, 0.0)  # of the hinges
SHARE = 0.01


@dataclass(frozen=True)
class Left:
    """A designed motion, and the energy [J] it leaves in the modes."""

    plan: Plan
    energy: float
    deflection: float  # share of its limit


def left_by(criterion: str, *, effort: Effort, model: Model | None = None, seed: int = 0) -> Left:
    """The best motion for "energy", "sizes" (eq. 10 with |.|) or "signed" (eq. 10 as printed)."""
    model = load_model("servicer-wings") if model is None else model
    system, allowed = flatten(model), limits_of(model, DEFLECTION)
    variables = variables_of(system, allowed, basis=Basis("spline", DURATION, POINTS))
    flights = Flights(system, variables, watches_of(system, allowed))
    energy = modal_energy(system)
    judges: dict[str, Criterion] = {
        "energy": energy,
        "sizes": BaseAcceleration(AXIS),
        "signed": BaseAcceleration(AXIS, is_signed=True),
    }
    search = searching(
        model, variables, allowed, [flights], [judges[criterion]], seed=seed, effort=effort
    )
    found = finished(search, variables, allowed, criterion)
    bent = max(one.share for one in found.usage if one.limit.quantity == "deflection")
    return Left(found.plan, _energy(energy, flights, found.plan), bent)


def _energy(judge: ModalEnergy, flights: Flights, plan: Plan) -> float:
    """What a plan leaves behind, replayed at a tenth of the step."""
    from freefloat.design.flights import Flown

    flown = Flown(flights.replayed(plan), np.zeros((0, 0)), np.zeros((0, 0)))
    return judge.told(judge.value(judge.rows(flown))[0])[1]


WANTED = 100.0  # times the energy of eq. 10 with sizes; that one, optimised in full, resonates too


def design_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Energy left in the modes by each criterion, and a motion that leaves the modes alone."""
    effort = Effort(random=6, starts=1, rounds=8) if quick else Effort(random=16, starts=2)
    left = {
        words: left_by(words, effort=effort, model=model, seed=seed)
        for words in ("signed", "sizes", "energy")
    }
    factor = left["energy"].energy / left["sizes"].energy
    rows = [
        Row(TABLE, "energy left, eq. 10 as printed", "J", None, left["signed"].energy,
            "paper wrong", "its sum is zero for every motion from rest to rest"),
        Row(TABLE, "energy left, eq. 10 with sizes", "J", None, left["sizes"].energy,
            "not published", "optimised in full, with the wings: they answer at their modes"),
        Row(TABLE, "energy left, designed for it", "J", None, left["energy"].energy, "better",
            f"hinges use {100.0 * left['energy'].deflection:.0f} % of 0.3 rad"),
        within(TABLE, "times as much as eq. 10", "-", factor, between=(WANTED, np.inf),
               status="better", note=f"{WANTED:g} were hoped for; the hinges bound both"),
    ]  # fmt: skip
    return [*rows, *_quiet_rows(effort, model, seed)]


def _quiet_rows(effort: Effort, model: Model | None, seed: int) -> list[Row]:
    model = load_model("servicer-wings") if model is None else model
    bands = bands_of(flatten(model))
    wanted = Parameters.of(model).free(f"{model.root.body}.*")
    found = {
        words: design(
            model, wanted, duration=30.0, harmonics=5, criterion="a_optimal", seed=seed,
            limits=DEFLECTION, effort=effort, avoid=avoid, avoid_share=SHARE,
        )
        for words, avoid in (("anywhere", ()), ("out of the modes", bands))
    }  # fmt: skip
    rows = []
    for words, one in found.items():
        share = 100.0 * _share(one.plan, model)
        note = f"{one.measure}: {one.value:.3g}"
        title = f"energy in the bands, {words}"
        if words == "anywhere":
            rows.append(Row(QUIET, title, "%", None, share, "not published", note))
        else:
            held = (0.0, 100.0 * SHARE)
            rows.append(within(QUIET, title, "%", share, between=held, status="better", note=note))
    return rows


def _share(plan: Plan, model: Model) -> float:
    """Part of the joints' acceleration energy inside a tenth of a mode, from a fine table."""
    t = np.linspace(0.0, plan.duration, 3001)
    moved = np.column_stack([plan.motion_of(name, model).at(t)[2] for name in plan.motions])
    return band_share(moved, float(t[1]), bands_of(flatten(model)))
