"""Excitation in paper 000: its sum of base accelerations (eq. 10) beside the energy left behind.

Eq. 10 is read in several ways. Before the identification the wings are unknown, so that the paper
can only have summed accelerations of a rigid satellite; then we sum them with the wings as they
are. Every motion is shrunk until no hinge bends beyond its limit, in the motion or after it. Then
the opposite: a motion for the rigid parameters that stays out of the modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import expm, null_space

from freefloat.arrays import Array
from freefloat.design.candidate_flights import CandidateFlight, CandidateFlights, Criterion
from freefloat.design.excitation import Effort, design, finish_design, start_search
from freefloat.design.motion_criteria import (
    BaseAcceleration,
    ModalEnergy,
    band_share,
    bands_of,
    modal_energy,
)
from freefloat.design.motion_search import Search
from freefloat.design.variables import Variables, variables_of
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.modes import Mode, modes
from freefloat.dynamics.tree import flatten
from freefloat.excitation.basis import Basis
from freefloat.excitation.limits import Limit, limits_of
from freefloat.excitation.plan import Plan
from freefloat.model import load_model
from freefloat.model.assembly import rigid
from freefloat.model.model import Model
from freefloat.papers.paper_rows import Row, within
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.limit_monitors import limit_monitors

TABLE = "Excitation of the wings (eqs 9, 10)"
QUIET = "Rigid parameters, out of the modes"
# B-splines over so long [s] with so many control points; the last ones stay at home, so that the
# arm rests for the last 10 s and the hinges are watched while they swing freely.
DURATION, POINTS, RESTING = 30.0, 20, 9
MOVING = 20.0  # format: protocol, [s] until the arm rests
BENT = 0.3  # format: protocol, [rad], no panel may bend more
DEFLECTION = {"hinge_*.deflection": BENT}
FREE = {"hinge_*.lower": -np.pi, "hinge_*.upper": np.pi, "hinge_*.deflection": np.pi}
AXIS = (1.0, 0.0, 0.0)  # format: protocol, of the hinges
SHARE = 0.01  # format: aim, of the energy of the motion inside the bands
EXPECTED = 193.0  # format: aim, [J], what an independent prototype left in the modes ...
WANTED = 100.0  # format: aim, ... and so many times what eq. 10 with sizes leaves
SIZES = "sizes, wings unknown"  # the reading of eq. 10 that the prototype had
NOTHING = 1e-4  # theory: of the sum of sizes: a sum for an integral, kinks in the jerk
# theory: [s] between the instants that are looked at, a fourteenth of the fastest period
SPACING = 0.1
# Weights that minimise the sum of s^-ORDER over all eigenvalues come near those with the largest
# least eigenvalue, and unlike those are found by simple repetition.
ORDER, REPETITIONS = 10, 300


@dataclass(frozen=True)
class WingBench:
    """A model, the motions that are looked among, their limits, and how they are flown."""

    model: Model
    variables: Variables
    allowed: dict[str, Limit]
    flights: CandidateFlights

    @classmethod
    def of(cls, model: Model, limits: Mapping[str, float] | None = None) -> WingBench:
        """Motions that end 10 s before the flight does."""
        system, allowed = flatten(model), limits_of(model, limits)
        found = variables_of(system, allowed, basis=Basis("spline", DURATION, POINTS))
        movers = tuple(replace(m, mix=m.mix @ null_space(m.mix[-RESTING:])) for m in found.movers)
        variables = replace(found, movers=movers)
        return cls(
            model,
            variables,
            allowed,
            CandidateFlights(system, variables, limit_monitors(system, allowed)),
        )

    def search(self, criterion: Criterion, *, seed: int, effort: Effort) -> Search:
        """A search for the best motion by any criterion."""
        return start_search(
            self.model, self.variables, self.allowed, [self.flights], [criterion],
            seed=seed, effort=effort,
        )  # fmt: skip

    def best(self, criterion: Criterion, name: str, *, seed: int, effort: Effort) -> Plan:
        """The best motion by a criterion."""
        search = self.search(criterion, seed=seed, effort=effort)
        return finish_design(search, self.variables, self.allowed, name).plan

    def shrink(self, x: Array) -> Plan:
        """A motion made smaller until it is within the limits."""
        for _ in range(40):
            share = float(self.flights.fly(x).shares.max(initial=0.0))
            if share <= 1.0:
                break
            x = x * min(0.97, 0.99 / share)
        return self.variables.plan(x)

    @property
    def energy(self) -> ModalEnergy:
        """The energy that is left in the modes, as a criterion."""
        return modal_energy(self.flights.system)

    def energy_after(self, plan: Plan) -> float:
        """The energy [J] a plan leaves behind, replayed at a tenth of the step."""
        flown = CandidateFlight(self.flights.replay(plan), np.zeros((0, 0)), np.zeros((0, 0)))
        judge = self.energy
        return judge.describe(judge.value(judge.rows(flown))[0])[1]


@dataclass(frozen=True)
class Blind:
    """Motions found with the wings taken for rigid: x of random starts, and after the search."""

    starts: tuple[Array, ...]
    found: tuple[Array, ...]
    signed: float  # eq. 10's sum as printed over that of sizes, the largest

    @classmethod
    def of(cls, model: Model, *, n: int, seed: int, effort: Effort) -> Blind:
        """n searches for eq. 10 with sizes, each from one random motion, as a paper would."""
        bench = WingBench.of(rigid(model))
        sizes, printed = BaseAcceleration(AXIS), BaseAcceleration(AXIS, is_signed=True)
        starts, found, signed = [], [], 0.0
        for k in range(n):
            one = replace(effort, random=1, starts=1)
            search = bench.search(sizes, seed=seed + k, effort=one)
            (first,) = search.screen()
            search.improve(first)
            starts.append(first.x)
            found.append(min(search.best, key=lambda one: one.value).x)
            replayed = bench.flights.replay(bench.variables.plan(first.x))
            rows = printed.rows(CandidateFlight(replayed, np.zeros((0, 0)), np.zeros((0, 0))))
            signed = max(signed, float(abs(rows.sum()) / np.abs(rows).sum()))
        return cls(tuple(starts), tuple(found), signed)


def design_rows(*, quick: bool = False, model: Model | None = None, seed: int = 0) -> list[Row]:
    """Energy left in the modes by each criterion, and a motion that leaves the modes alone."""
    model = load_model("servicer-wings") if model is None else model
    effort = Effort(random=6, starts=1, rounds=8) if quick else Effort(random=16, starts=1)
    blind = Blind.of(model, n=2 if quick else 6, seed=seed, effort=effort)
    rows = _held_rows(model, blind, effort, seed)
    if not quick:
        rows += _free_rows(model, blind, effort, seed)
    return [*rows, *_quiet_rows(effort, model, seed)]


def _held_rows(model: Model, blind: Blind, effort: Effort, seed: int) -> list[Row]:
    """With the hinges' limit: every reading of eq. 10, and a motion designed for energy."""
    bench = WingBench.of(model, DEFLECTION)
    starts, found = (
        [bench.energy_after(bench.shrink(x)) for x in motions]
        for motions in (blind.starts, blind.found)
    )
    known = {
        is_signed: bench.energy_after(
            bench.best(BaseAcceleration(AXIS, is_signed=is_signed), "eq. 10", seed=seed,
                       effort=effort)
        )
        for is_signed in (True, False)
    }  # fmt: skip
    plan = bench.best(bench.energy, "modal energy", seed=seed, effort=effort)
    best = bench.energy_after(plan)
    readings = (
        ("as printed, wings unknown", float(np.median(starts)),
         "paper wrong" if blind.signed < NOTHING else "missed",
         f"zero for every motion ({blind.signed:.0e} of sizes), so a search stays where it began;"
         f" median of {len(starts)}, {min(starts):.2g} to {max(starts):.2g}"),
        (SIZES, float(np.median(found)), "not published",
         f"searched from the same starts; {min(found):.2g} to {max(found):.2g}"),
        ("as printed, wings known", known[True], "not published",
         "the sum is then the base's rate at the end, which the wings still swing"),
        ("sizes, wings known", known[False], "not published",
         "optimised in full: the wings answer at their modes"),
    )  # fmt: skip
    rows = [Row(TABLE, f"energy left, {words}", "J", None, value, status, note)  # type: ignore[arg-type]
            for words, value, status, note in readings]  # fmt: skip
    rows += [
        within(TABLE, "energy left, designed for it", "J", best, status="met",
               between=(max(value for _, value, _, _ in readings), np.inf),
               note=f"no hinge beyond {BENT:g} rad, in the motion or after it"),
    ]  # fmt: skip
    rows += [
        within(TABLE, f"designed over {words}", "-", best / value, status="met",
               between=(1.0, np.inf), note="aim: more than by any reading of eq. 10")
        for words, value, _, _ in readings
        if words != SIZES
    ]  # fmt: skip
    return [*rows, *_bound_rows(model, best, float(np.median(found)))]


def _bound_rows(model: Model, best: float, eq_10: float) -> list[Row]:
    """What the hinges' limit allows at most, beside the designed energy and eq. 10's [J]."""
    one = max(_mode_energy(mode, model) for mode in modes(model))
    most = most_energy(model, BENT, duration=DURATION - MOVING)
    return [
        ratio_row(best, eq_10, most=most),
        Row(TABLE, f"most that one mode holds at {BENT:g} rad", "J", None, one,
            "not published", "the springs of all hinges, one of them at its limit"),
        within(TABLE, f"most that all modes hold at {BENT:g} rad, any phases", "J", most,
               between=(max(one, best), np.inf),
               note=f"no free swing of {DURATION - MOVING:g} s that keeps to the limit has more;"
               " proven by weighted sums of squared deflections; held to be no less than any"
               " mode or motion shows"),
        Row(TABLE, f"deflection that {EXPECTED:g} J would take", "rad", None,
            BENT * float(np.sqrt(EXPECTED / one)), "not published", "in one mode"),
    ]  # fmt: skip


def ratio_row(best: float, eq_10: float, *, most: float) -> Row:
    """How many times the energy of eq. 10 the designed motion leaves [J], beside the aim.

    The aim is out of reach when it exceeds `most`, the bound [J] for any motion. It is missed when
    the bound would allow it, or is refuted by a motion that leaves more.
    """
    wanted, what = WANTED * eq_10, f"designed over {SIZES}"
    if best >= wanted:
        return Row(TABLE, what, "-", None, best / eq_10, "met", f"aim {WANTED:g}")
    is_proven = best <= most < wanted
    note = f"{WANTED:g} times {eq_10:.3g} J were aimed at; hinges that stay within {BENT:g} rad"
    note += f" hold at most {most:.3g} J, {most / eq_10:.3g} times as much, in any combination of"
    note += " modes" if is_proven else " modes, which does not forbid it"
    return Row(
        TABLE, what, "-", None, best / eq_10, "out of reach" if is_proven else "missed", note
    )


def _mode_energy(mode: Mode, model: Model) -> float:
    """The energy [J] of a mode in which the hinge that bends most is at its limit."""
    bent = {name: BENT * value for name, value in mode.shape.items()}
    return 0.5 * sum(s.stiffness * bent.get(s.coordinate, 0.0) ** 2 for s in model.assembly.springs)


def _free_rows(model: Model, blind: Blind, effort: Effort, seed: int) -> list[Row]:
    """The same with hinges that may bend as they like."""
    bench = WingBench.of(model, FREE)
    found = [bench.energy_after(bench.shrink(x)) for x in blind.found]
    best = bench.energy_after(bench.best(bench.energy, "modal energy", seed=seed, effort=effort))
    median = float(np.median(found))
    return [
        Row(TABLE, "hinges free: energy left, sizes, wings unknown", "J", None, median,
            "not published", f"median of {len(found)}, {min(found):.2g} to {max(found):.2g}"),
        within(TABLE, "hinges free: energy left, designed for it", "J", best,
               between=(EXPECTED, np.inf), status="met", note="springs are linear at any angle"),
        within(TABLE, "hinges free: designed over sizes", "-", best / median, between=(1.0, np.inf),
               status="met", note=f"{best / min(found):.3g} times the least of them"),
    ]  # fmt: skip


def _quiet_rows(effort: Effort, model: Model, seed: int) -> list[Row]:
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
            rows.append(within(QUIET, title, "%", share, between=held, status="met", note=note))
    return rows


def _share(plan: Plan, model: Model) -> float:
    """Part of the joints' acceleration energy inside a tenth of a mode, from a fine table."""
    t = np.linspace(0.0, plan.duration, 3001)
    moved = np.column_stack([plan.motion_of(name, model).at(t)[2] for name in plan.motions])
    return band_share(moved, float(t[1]), bands_of(flatten(model)))


# -- how much energy the wings of paper 000 can hold while no hinge bends beyond a limit -----------
# After a motion the arm rests and the wings swing freely: deflections e and their rates follow M
# e'' + D e' + K e = 0, with M the hinges' inertia on a floating base. Let z be the state at the end
# of the free swing. The deflection of hinge j a time t earlier is a row g of numbers times z, and
# the energy is z' Q z. For any weights p >= 0 that add up to one, over hinges and instants,
#     sum p (g z)^2 <= limit^2   and   sum p (g z)^2 >= s z' Q z
# where s is the least eigenvalue of sum p g'g measured by Q. So the energy is at most limit^2 / s,
# whatever modes swing and in whatever phases. Every choice of weights proves a bound; we look for
# one that proves a low one. Instants between the samples could only lower it further.


def most_energy(model: Model, limit: float, *, duration: float) -> float:
    """An upper bound [J] of what swings at the end of a free swing of the hinges.

    limit: no hinge bends more [rad]; duration: of the free swing [s]. The arm is at home.
    """
    A, Q = _swing(model)
    rows = _deflections(A, Q, duration=duration)
    return limit**2 / _least_information(rows)


def _swing(model: Model) -> tuple[Array, Array]:
    """A of dz/dt = A z, z being deflections and rates, and Q of the energy z' Q z [J]."""
    system = flatten(model)
    home = np.array([c.home for c in model.assembly.coordinates])
    H, free = mass_matrix(system, home), system.tree.free
    root, own = np.flatnonzero(free < 6), np.flatnonzero(free >= 6)
    floating = np.linalg.solve(H[np.ix_(root, root)], H[np.ix_(root, own)])
    M = H[np.ix_(own, own)] - H[np.ix_(own, root)] @ floating
    springs = {spring.coordinate: spring for spring in model.assembly.springs}
    hinges = [springs[system.coordinates[int(place) - 6]] for place in free[own]]
    K, D = (np.diag([getattr(s, field) for s in hinges]) for field in ("stiffness", "damping"))
    nothing, one = np.zeros_like(M), np.eye(len(M))
    A = np.block([[nothing, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    return A, 0.5 * np.block([[K, nothing], [nothing, M]])


def _deflections(A: Array, Q: Array, *, duration: float) -> Array:
    """Rows that give every deflection [rad] at every instant from the state at the end.

    The state is in units in which the energy is the sum of its squares.
    """
    n = len(A)
    units = np.linalg.inv(np.linalg.cholesky(Q).T)
    back, step = np.eye(n), expm(-SPACING * A)
    rows = []
    for _ in range(round(duration / SPACING) + 1):
        rows.append(back[: n // 2] @ units)
        back = back @ step
    return np.concatenate(rows)


def _least_information(rows: Array) -> float:
    """The largest least eigenvalue of sum p g'g that was found over weights p of the rows.

    Known from optimal experiments (Kiefer): p is multiplied by a power of its own sensitivity.
    """
    p, best = np.full(len(rows), 1.0 / len(rows)), 0.0
    for _ in range(REPETITIONS):
        values, V = np.linalg.eigh((rows.T * p) @ rows)
        best = max(best, float(values[0]))
        felt = np.sum((rows @ V) ** 2 * (values[0] / values) ** (ORDER + 1), axis=1)
        p = p * felt ** (1.0 / (ORDER + 1))
        p = p / p.sum()
    return best
