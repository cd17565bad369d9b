"""Paper 001 beyond its tables: initial velocity (Figs 6-9) and noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import flatten
from freefloat.excitation.commands import Pulses
from freefloat.excitation.motions import Sinusoid
from freefloat.excitation.plan import Plan
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.online.literature.rls import ModifiedRls
from freefloat.papers.paper_001 import flights
from freefloat.papers.paper_001.published import FASTEST
from freefloat.papers.paper_rows import Row, Status, within
from freefloat.prediction.simulate import simulate

SPEEDS = ((10.0, 10.0), (50.0, 50.0), (100.0, 100.0), (200.0, 200.0))
# errors [%] at the stated noise that ours must stay below: m, b_1, b_n, I_1, I_n in the plane;
# diagonal inertias in space
PLANE = {
    "m_1": 0.04, "m_n": 0.04, "b_1x": 1.0, "b_1y": 1.0, "b_nx": 0.4, "b_ny": 0.4,
    "I_1": 3.8, "I_n": 1.35,
}  # fmt: skip
SPACE = {f"I_{b}{a}": 1.6 for b in "1n" for a in ("xx", "yy", "zz")}


def velocity_rows(*, quick: bool = False) -> list[Row]:
    """Figures 6 to 9: the error of I_n after 60 s against the initial velocity, 0.1 N at most."""
    speeds = SPEEDS[::3] if quick else SPEEDS
    table, errors = "Figures 6-9", {}
    for speed in speeds:
        flight = flights.flown("planar-capture", duration=60.0, velocity=(*speed, 0.0),
                               rate=(0.0, 0.0, 0.1), max_force=0.1)  # fmt: skip
        truth = flights.truth_of(flight.form)[-1]
        ways = {
            "momentum, fixed origin": flights.modified(flight, "momentum")[-1, -1],
            "force": flights.modified(flight, "force")[-1, -1],
            "momentum, Galilean shift": _shifted(flight),
            "ours": flights.ours(flight)[1][-1, -1],
        }
        errors[speed] = {k: 100.0 * (v / truth - 1.0) for k, v in ways.items()}
    rows = []
    for way in next(iter(errors.values())):
        for speed, found in errors.items():
            status = "not published"  # what the paper's ways give is told, not aimed at
            if way == "ours":
                status = "met" if abs(found[way]) < 0.1 else "missed"
            note = "aim 0.1 %" if way == "ours" else ""
            rows.append(
                Row(table, f"I_n, {way}, v0 = {list(speed)}", "%", None, found[way], status, note)
            )
    last = errors[speeds[-1]]
    grown = abs(last["momentum, fixed origin"])
    note = "r grows, and small errors of mass and CoM with it; how far, the geometry decides"
    status = "reproduced in pattern" if grown > 1.0 else "missed"
    what = "largest I_n error, fixed origin"
    rows.append(Row(table, what, "%", FASTEST["worst I_n error"], grown, status, note))
    if not quick:
        fixed = {speed[0]: found["momentum, fixed origin"] for speed, found in errors.items()}
        rows.append(_straight(table, fixed))
    expected: dict[str, Status] = {
        "momentum, Galilean shift": "met", "force": "reproduced in pattern",
    }  # fmt: skip
    for way, status in expected.items():
        spread = max(abs(found[way] - last[way]) for found in errors.values())
        rows.append(within(table, f"{way}: change with v0", "%", spread, between=(0.0, 1e-3),
                           status=status, note="aim 0.001 %: invariant"))  # fmt: skip
    worst = max(abs(found["ours"]) for found in errors.values())
    status = "better" if worst < FASTEST["least I_n error"] else "missed"
    what = "largest I_n error, ours, beside the paper's least"
    return [*rows, Row(table, what, "%", FASTEST["least I_n error"], worst, status)]


def _straight(table: str, errors: dict[float, float]) -> Row:
    """Whether the error of I_n is a straight line in the speed: the largest way off it."""
    speeds, found = np.array(list(errors)), np.array(list(errors.values()))
    off = np.abs(found - np.polyval(np.polyfit(speeds, found, 1), speeds)) / np.ptp(found)
    return within(table, "I_n error, fixed origin: off a straight line", "%",
                  100.0 * float(np.max(off)), between=(0.0, 1.0), status="reproduced in pattern",
                  note="grows linearly with |v0|")  # fmt: skip


def _shifted(flight: flights.Flight) -> float:
    """The modified RLS in the frame of the initial velocity."""
    states = flight.states.copy()
    states[:, :3] -= flight.states[0, 7:10] * flight.times[:, None]
    states[:, 7:10] -= flight.states[0, 7:10]
    return float(flights.modified(replace(flight, states=states), "momentum")[-1, -1])


def noise_rows(*, quick: bool = False) -> list[Row]:
    """Errors with the sensors' noise and an arm that is shaken: medians over many seeds."""
    n = 6 if quick else 60
    rows: list[Row] = []
    for name, limits in (("planar-capture", PLANE), ("spatial-capture", SPACE)):
        own, rls = _noisy_errors(load_model(name), n)
        names = flights.names_of(flights.PaperForm(flatten(load_model(name)), ("bus", "target")))
        for what, limit in limits.items():
            k = names.index(what)
            note = f"aim {limit:g} %; median of {n} runs; modified RLS: {rls[k]:.3g} %"
            rows.append(within(f"Noise, {name}", f"{what}, ours", "%", float(own[k]),
                               between=(0.0, limit), status="better", note=note))  # fmt: skip
    return rows


def excited(model: Model) -> Plan:
    """Every joint swings and thrusters pulse: a motion that shows base and target."""
    joints = [j for j in model.joints if j.type != "fixed"]
    planar = model.root.type == "planar"
    swing = 0.9 if planar else 0.6  # [rad]
    # in the plane one after the other: opposite ones would cancel
    first, apart, long = (0.5, 10.0 / len(model.thrusters), 2.5) if planar else (1.0, 0.7, 2.0)
    motions = {
        j.name: Sinusoid(60.0, j.home, swing, 7.0 + 2.3 * k, 3.0, first=j.home)
        for k, j in enumerate(joints)
    }
    thrusts = {}
    for k, thruster in enumerate(model.thrusters):
        starts = [round(first + apart * k + 10.0 * i, 1) for i in range(6)]
        pulses = tuple((t, long, 5.0) for t in starts if t < 57.0)
        thrusts[thruster.name] = Pulses(pulses)
    velocity = (1.0, 2.0, 0.0) if planar else (10.0, 20.0, 30.0)
    rate = (0.0, 0.0, 0.1) if planar else (0.1, 0.2, 0.3)
    return Plan(60.0, start=Start(velocity=velocity, rate=rate), motions=motions, thrusts=thrusts)


def _noisy_errors(model: Model, n: int) -> tuple[Array, Array]:
    """Median relative errors [%] of ours and of the modified RLS."""
    plan, form = excited(model), flights.PaperForm(flatten(model), ("bus", "target"))
    truth = flights.truth_of(form)
    scale = np.where(np.abs(truth) > 1e-6, np.abs(truth), np.inf)
    own, rls = [], []
    for seed in range(n):
        seen = simulate(model, plan, seed=seed)
        tracker = flights.tracker_of(model)
        values = flights.as_paper(form, tracker.run(seen).values[None])[0]
        own.append(100.0 * np.abs(values - truth) / scale)
        rls.append(100.0 * np.abs(_rls_of_samples(form, seen) - truth) / scale)
    return np.median(own, axis=0), np.median(rls, axis=0)


def _rls_of_samples(form: flights.PaperForm, seen: object) -> Array:
    """The paper's method on measured samples: measured positions, thrust held between samples."""
    from freefloat.identification.linear.sample_reader import samples_of
    from freefloat.telemetry.telemetry import Telemetry

    assert isinstance(seen, Telemetry)
    s = samples_of(form.system, seen, ("rate", "velocity", "attitude"))
    position = np.column_stack([seen[f"base.position.{a}"].values for a in "xyz"])
    states = s.states
    states[:, :3] = position[: len(states)]
    columns, R = flights.momentum_columns(form, states)
    push = np.einsum("nij,kj,nk->ni", R, form.system.tree.thrusters[:, 3:], s.thrust)
    turn = np.einsum("nij,kj,nk->ni", R, form.system.tree.thrusters[:, :3], s.thrust)
    gained = np.hstack([push, turn + np.cross(states[:, :3], push)])
    whole = np.zeros_like(gained)
    whole[1:] = np.cumsum(gained[:-1] * np.diff(s.time)[:, None], axis=0)
    linear, angular = ([0, 1], [5]) if form.is_planar else ([0, 1, 2], [3, 4, 5])
    rls = ModifiedRls(*flights.first_guess(form), flights.PRIOR, form.quadratic)
    moved = columns - columns[0]
    for Y, y in zip(moved[1:], (whole - moved[:, :, 20])[1:], strict=True):
        phi, psi = form.split(Y[angular][:, :20])
        rls.update(Y[linear][:, form.mu_places], y[linear], phi, y[angular], -psi)
    return flights.in_words(form, rls.x[None])[0]
