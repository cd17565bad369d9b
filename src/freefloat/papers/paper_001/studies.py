"""Paper 001 beyond its tables: initial velocity (Figs 6-9), noise, and fuel that runs out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import flatten
from freefloat.excitation.commands import Pulses
from freefloat.excitation.motions import Sinusoid
from freefloat.excitation.plan import Plan
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.online.live_estimate import LiveEstimate
from freefloat.papers.paper_001 import flights
from freefloat.papers.paper_001.published import FASTEST
from freefloat.papers.paper_001.rls import ModifiedRls
from freefloat.papers.paper_rows import Row, Status, within
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

# format: protocol, [m/s] along x and y
SPEEDS = ((10.0, 10.0), (50.0, 50.0), (100.0, 100.0), (200.0, 200.0))
# format: aims, an independent prototype's: errors [%] at the stated noise that ours must stay
# below: m, b_1, b_n, I_1, I_n in the plane; diagonal inertias in space
PLANE = {
    "m_1": 0.04, "m_n": 0.04, "b_1x": 1.0, "b_1y": 1.0, "b_nx": 0.4, "b_ny": 0.4,
    "I_1": 3.8, "I_n": 1.35,
}  # fmt: skip
SPACE = {f"I_{b}{a}": 1.6 for b in "1n" for a in ("xx", "yy", "zz")}
TABLE = "Fuel: 1 kg/s leaves the base"
DRAIN = 1.0  # format: protocol, [kg/s]
# theory: [kg/sqrt(s)]: a walk that in 4 s, about what the thrusters need to show the mass, goes as
# far as the drain does
WALK = 2.0
LIMITS = {"m_1": 0.56, "m_n": 0.14}  # format: aim, [%] that an independent prototype had
# theory: least share of 95 % intervals: fewer than 43 of 50 are in three sets of a thousand
COVERED = 0.85
WAYS: dict[str, dict[str, Any]] = {
    "random walk on the base": {"random_walk": {"bus.mass": WALK}},
    "forgetting 0.99": {"forgetting": 0.99},
    "constant": {},
}


def velocity_rows(*, quick: bool = False) -> list[Row]:
    """Figures 6 to 9: the error of I_n after 60 s against the initial velocity, 0.1 N at most."""
    speeds = SPEEDS[::3] if quick else SPEEDS
    table, errors = "Figures 6-9", {}
    for speed in speeds:
        flight = flights.fly("planar-capture", duration=60.0, velocity=(*speed, 0.0),
                               rate=(0.0, 0.0, 0.1), max_force=0.1)  # fmt: skip
        truth = flights.truth_of(flight.form)[-1]
        ways = {
            "momentum, fixed origin": flights.modified_rls(flight, "momentum")[-1, -1],
            "force": flights.modified_rls(flight, "force")[-1, -1],
            "momentum, Galilean shift": _in_moving_frame(flight),
            "ours": flights.our_estimates(flight)[1][-1, -1],
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


def _in_moving_frame(flight: flights.Flight) -> float:
    """The modified RLS in the frame of the initial velocity."""
    states = flight.states.copy()
    states[:, :3] -= flight.states[0, 7:10] * flight.times[:, None]
    states[:, 7:10] -= flight.states[0, 7:10]
    return float(flights.modified_rls(replace(flight, states=states), "momentum")[-1, -1])


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


def exciting_plan(model: Model) -> Plan:
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
    plan, form = exciting_plan(model), flights.PaperForm(flatten(model), ("bus", "target"))
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


def _rls_of_samples(form: flights.PaperForm, seen: Telemetry) -> Array:
    """The paper's method on measured samples: measured positions, thrust held between samples."""
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
    rls = ModifiedRls(*flights.first_guess(form), flights.PRIOR, form.quadratic)
    for row in flights.one_step_rows(form, columns[1:] - columns[0], whole[1:]):
        rls.update(*row)
    return flights.in_words(form, rls.x[None])[0]


# -- paper 001 with fuel that runs out: the base loses 1 kg/s at its own velocity ------------------


def fuel_rows(*, quick: bool = False) -> list[Row]:
    """Random walk on the base, forgetting, or nothing: errors at the end, with sensor noise."""
    n = 20 if quick else 50
    flight, levels = draining(60.0)
    truth = {"m_1": 500.0 - DRAIN * float(flight.times[flight.samples][-1]), "m_n": 250.0}
    quiet = _track(flight, levels, noise=0.0, seeds=1, options=WAYS["random walk on the base"])
    found = {
        way: _track(
            flight,
            levels,
            noise=1.0,
            options=options,
            seeds=n if way.startswith("random") else n // 5,
        )
        for way, options in WAYS.items()
    }
    rows: list[Row] = []
    for name, place in (("m_1", 0), ("m_n", 4)):
        off = 100.0 * float(abs(quiet[0].values[place] / truth[name] - 1.0))
        rows.append(within(TABLE, f"{name}, random walk, no noise", "%", off,
                           between=(0.0, LIMITS[name]), status="better",
                           note="lags behind: a drain is no walk"))  # fmt: skip
        for way, estimates in found.items():
            error = 100.0 * np.array([e.values[place] / truth[name] - 1.0 for e in estimates])
            rows.append(_error_row(name, way, np.abs(error)))
        if quick:
            continue  # a share of a few runs says little
        walked = found["random walk on the base"]
        share = np.mean([abs(e.values[place] - truth[name]) < 1.96 * e.std[place] for e in walked])
        rows.append(within(TABLE, f"{name}, random walk: 95 % intervals that hold the truth", "",
                           float(share), between=(COVERED, 1.0), status="better",
                           note=f"of {n} runs"))  # fmt: skip
    return rows


def _error_row(name: str, way: str, errors: Array) -> Row:
    note = f"median of {len(errors)} runs; from the paper's first guesses, excited arm"
    median, limit = float(np.median(errors)), LIMITS[name]
    if not way.startswith("random"):  # what the other ways give is told, not aimed at
        return Row(TABLE, f"{name}, {way}", "%", None, median, "not published", note)
    return within(TABLE, f"{name}, {way}", "%", median, between=(0.0, limit), status="better",
                  note=note)  # fmt: skip


def _track(
    flight: flights.Flight,
    levels: dict[str, Array],
    *,
    noise: float,
    seeds: int,
    options: dict[str, Any],
) -> list[LiveEstimate]:
    """What the filter, with weights of the full noise, says after the last sample."""
    found = []
    for seed in range(seeds):
        tracker = flights.tracker_of(
            flight.system.model, gate=0.0, reset=(), correct=noise > 0.0, **options
        )
        seen = flights.sense(flight, noise=noise, seed=seed)
        thrust = Telemetry.from_arrays(flight.times[flight.samples], levels)
        found.append(tracker.run(seen.with_channels(*thrust.channels.values())))
    return found


def draining(duration: float) -> tuple[flights.Flight, dict[str, Array]]:
    """The excited 2D flight of a base that gets lighter every 0.1 s; and its thrusters' levels [N].

    Fuel is at the sensor point, so only the mass changes; what leaves takes its momentum along.
    """
    model = load_model("planar-capture")
    system, plan = flatten(model), exciting_plan(model)
    inputs, x = plan.inputs(system), plan.start_state(system)
    parts: list[Array] = []
    phi = system.parameters.phi.copy()
    interval = flights.SAMPLED * flights.STEP
    for k in range(round(duration / interval)):
        phi[0, 0] -= interval * DRAIN
        lighter = replace(system, parameters=system.parameters._replace(phi=phi))
        flown = integrate(
            lighter, x, lambda t, since=k * interval: inputs(t + since),
            duration=interval, step=flights.STEP,
        )  # fmt: skip
        x = flown.states[-1]
        parts.append(flown.states[:-1])
    states = np.concatenate(parts)
    times = np.arange(len(states)) * flights.STEP
    flight = flights.Flight(system, times, states, states[:, :0], np.zeros((len(states), 6)))
    sampled = times[flight.samples]
    levels = {f"{n}.force": p.over(sampled, sampled + interval) for n, p in plan.thrusts.items()}
    return flight, levels
