"""Exact checks of paper 001: closed forms, equalities, ranks, and its printed matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance, momentum_regressor
from freefloat.dynamics.tree import flatten
from freefloat.identification.linear.parameter_columns import change_matrix
from freefloat.model import load_model
from freefloat.online.literature.rls import ModifiedRls, PlainRls, TwoStepRls
from freefloat.papers.paper_001 import flights
from freefloat.papers.paper_001.appendix import appendix_errors
from freefloat.papers.paper_rows import Row, within

CLOSED = "Closed forms"
PEAK, PEAK_TIME = 0.0911876, 2.22144  # rad, s: of eq. 39 from rest at 0.1 rad/s
SAME = 1e-9  # relative: two ways to the same numbers over some hundred updates


def closed_form_rows(*, quick: bool = False) -> list[Row]:
    """Attitude peak, momentum braked, modified = two-step, what a prior leaves."""
    flight = flights.planar()
    angle = 2.0 * np.arctan2(flight.states[:, 5], flight.states[:, 6])
    peak = int(np.argmax(angle))
    P = balance(flight.system, flight.states[[0, 10_000]]).linear_momentum
    change = P[1, :2] - P[0, :2]
    rows = [
        _near(CLOSED, "attitude peak (eq. 39)", "rad", PEAK, float(angle[peak]), 1e-6),
        _near(CLOSED, "time of the peak", "s", PEAK_TIME, float(flight.times[peak]), 1e-3),
        _near(CLOSED, "P_x(10 s) - P_x(0)", "N s", -100.0, float(change[0]), 1e-6),
        _near(CLOSED, "P_y(10 s) - P_y(0)", "N s", -100.0, float(change[1]), 1e-6),
    ]
    return [*rows, *_recursions(flight, 60 if quick else 200), *_appendix()]


def _near(table: str, what: str, unit: str, paper: float, got: float, slack: float) -> Row:
    status = "reproduced" if abs(got - paper) <= slack else "missed"
    return Row(table, what, unit, paper, got, status)


def _recursions(flight: flights.Flight, n: int) -> list[Row]:
    form = flight.form
    guess = flights.first_guess(form)
    one = ModifiedRls(*guess, flights.PRIOR, form.quadratic)
    two = TwoStepRls(*guess, flights.PRIOR, form.quadratic)
    rows = list(flights.rows_of(flight, "momentum"))[:n]
    worst = 0.0
    for row in rows:
        one.update(*row)
        two.update(*row)
        worst = max(worst, float(np.max(np.abs(one.x / two.x - 1.0))))
    note = "with the step from theta_{N-1,N} to theta_{N,N} that eqs 36-38 leave out"
    found = [within("Eqs 34-38", "modified against two-step RLS, worst step", "-", worst,
                    between=(0.0, SAME), status="reproduced", note=note)]  # fmt: skip
    rls = PlainRls(guess[0], np.full(len(guess[0]), 1e2))
    for A, b, *_ in rows:
        rls.update(A, b)
    N = sum(A.T @ A for A, *_ in rows)
    truth = np.concatenate([form.system.model.body(b).phi for b in form.bodies])[form.mu_places]
    law = truth + np.linalg.solve(np.eye(len(truth)) + 1e2 * N, guess[0] - truth)
    left = float(np.max(np.abs(rls.x - law) / np.maximum(np.abs(law), 1.0)))
    note = "noise-free RLS is off by (1 + P0 sum A^T A)^-1 (x0 - x): transit times measure P0"
    found.append(within("Eqs 34-38", "RLS against the law of its prior", "-", left,
                        between=(0.0, 1e-6), status="reproduced", note=note))  # fmt: skip
    return [*found, *_breaking(flight)]


def _breaking(flight: flights.Flight) -> list[Row]:
    """From which prior on covariance RLS is no covariance any more."""
    rows = []
    for title, which, priors in (
        ("2D", flight, (1e6, 1e8, 1e10, 1e12)),
        ("3D", flights.spatial(duration=20.0), (1e4, 1e6, 1e8)),
    ):
        broken = [prior for prior in priors if not flights.plain(which, prior=prior)[1]]
        first = min(broken, default=np.inf)
        rows.append(
            Row("Plain covariance RLS", f"{title}: P is no covariance from P0 =", "-", None,
                float(first), "not published",
                "joint linear form; the square-root filter runs at 1e12 of natural sizes")
        )  # fmt: skip
    return rows


def _appendix() -> list[Row]:
    """Printed H, Q and S against the compact forms."""
    rows = []
    for name, error in appendix_errors().items():
        note = {"S": "with outer brackets, which the print lacks"}.get(name, "")
        rows.append(within("Appendix", f"{name} against the compact form", "-", error,
                           between=(0.0, 1e-12), status="reproduced", note=note))  # fmt: skip
    return rows


def rank_rows(*, quick: bool = False) -> list[Row]:
    """How many of the parameters a thrusted base shows, by how many joints move."""
    rows = []
    for name, wanted in (("planar-capture", (4, 7, 8, 8)), ("spatial-capture", (10, 17, 19, 20))):
        for moving, expected in enumerate(wanted):
            got = _rank(name, moving)
            status = "reproduced" if got == expected else "missed"
            rows.append(Row("Ranks with thrust", f"{name}, {moving} joints move", "-",
                            float(expected), float(got), status,
                            "of 8 in the plane, 20 in space"))  # fmt: skip
    return [*rows, *_scale_rows()]


def _random_rows(name: str, moving: int, *, massless: bool = False) -> tuple[Array, Array]:
    """Momentum rows of base and target, less their mean, at random motions; and the truth."""
    model = load_model(name)
    if massless:
        links = [b for b in model.bodies if b.name.startswith("link")]
        for body in links:
            model = model.with_body(replace(body, mass=0.0, com=(0.0,) * 3, inertia=(0.0,) * 6))
    system, rng, n = flatten(model), np.random.default_rng(1), 60
    is_planar = model.root.type == "planar"
    c = system.n_coordinates
    rate, velocity = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    if is_planar:
        rate[:, :2], velocity[:, 2] = 0.0, 0.0
    q = np.tile([x.home for x in model.assembly.coordinates], (n, 1))
    dq = np.zeros((n, c))
    q[:, :moving] += rng.normal(size=(n, moving))
    dq[:, :moving] = rng.normal(size=(n, moving))
    coordinates = np.stack([q, dq, np.zeros((n, c))], axis=-1)
    local, _ = momentum_regressor(system, rate, velocity, coordinates)
    form = flights.PaperForm(system, ("bus", "target"))
    places = sorted([*form.mu_places, *form.theta_places])
    Y = local @ change_matrix(system, form.names)[:, places]
    rows = [2, 3, 4] if is_planar else range(6)
    truth = np.concatenate([model.body(b).phi for b in form.bodies])[places]
    return Y[:, rows].reshape(-1, len(places)), truth


def _rank(name: str, moving: int) -> int:
    Y, _ = _random_rows(name, moving)
    s = np.linalg.svd(Y / np.maximum(np.linalg.norm(Y, axis=0), 1e-12), compute_uv=False)
    return int(np.sum(s > 1e-9 * s[0]))


def _scale_rows() -> list[Row]:
    """A massless arm and no thrust: momentum stays, so the truth is the null vector."""
    flight = _coasting()
    form = flight.form
    places = sorted([*form.mu_places, *form.theta_places])
    columns, _ = flights.momentum_columns(form, flight.states[flight.sampled])
    keep = [0, 1, 5] if form.is_planar else range(6)
    Y = (columns - columns[0])[1:, keep][:, :, places].reshape(-1, len(places))
    truth = np.concatenate([form.system.model.body(b).phi for b in form.bodies])[places]
    size = np.linalg.norm(Y, axis=0)
    null = np.linalg.svd(Y / size)[2][-1] / size
    angle = float(np.linalg.norm(null / (null @ truth) * (truth @ truth) - truth))
    return [
        within("Scale", "null vector against the truth, massless arm, no thrust", "-",
               angle / float(np.linalg.norm(truth)), between=(0.0, 1e-6), status="reproduced",
               note="without force or known mass only ratios can be found")
    ]  # fmt: skip


def _coasting() -> flights.Flight:
    """Base and target on a nearly massless arm, nobody pushes: momentum is kept."""
    model = load_model("planar-capture")
    for body in [b for b in model.bodies if b.name.startswith("link")]:
        small = 1e-9 / body.mass
        six = tuple(small * x for x in body.inertia)
        model = model.with_body(replace(body, mass=1e-9, inertia=six))
    system = flatten(model)
    start = flights.Start(velocity=(1.0, 2.0, 0.0), rate=(0.0, 0.0, 0.1)).vector(system)
    law = (0.7071, 0.25, 0.0, 0.0, 0.0, 0.0)
    loop = flights.integrate_closed_loop(system, start, law, duration=20.0, step=1e-3)
    return flights.Flight(system, loop.times, loop.states, loop.accelerations, loop.wrench)
