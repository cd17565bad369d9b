"""Looking for the best motion: many random ones, then improvement of the best of them.

An improvement simulates all neighbours of a motion once. They give a local model: the Jacobian of
all readings, and the shares of all limits, change linearly with the unknowns, while what the
Jacobian is worth is computed in full. The model is optimised within a trust region (SLSQP), and the
result simulated. This takes some ten rounds where plain gradients take hundreds: a motion twice as
large has four times the information, which no gradient knows.

Whenever the search is stopped, by its time, by Ctrl-C or by its end, the best motion within the
limits so far is at hand. The same seed gives the same motions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import NEARBY, Criterion, Flier
from freefloat.design.linear_limits import LinearLimits
from freefloat.errors import ExcitationError
from freefloat.progress import Progress, silent
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Natural, Positive, Share

# theory: a motion larger by a part e lowers the logarithm of a variance by 2 e and takes at least
# (1 - r) e more of a limit of which rest takes r; a penalty above 2 / (1 - r) makes that no gain,
# and 8 does so while r < 3/4
PENALTY = 8.0  # of being beyond a limit by its whole size
# theory: a tenth of NEARBY: a motion much smaller than a step of finite differences has no slopes
NO_MOTION = 1e-6  # units of the unknowns: a limit that leaves less leaves nothing


@dataclass(frozen=True)
class Effort(CheckedOptions, error=ExcitationError):
    """How hard to look for the best motion.

    random: random motions at first; starts: how many of the best of them to improve; rounds: of
    improvement for each; seconds: time limit [s], none unless given (with one, the same seed may
    give another plan).

    The rest rarely needs changing. radius, largest_radius, smallest_radius: first, largest and
    smallest trust region, in units of the unknowns (one unit is about half a radian); accept: the
    share of the predicted gain that a step must bring; widen: the share from which on the region
    doubles; shrink: its factor after a step that brought less; least_gain: a round that improves
    the logarithm of the criterion by less is the last; alike: cosine between two motions above
    which they count as the same start; feasible: by how much of a limit a candidate may be beyond
    it, which the final scaling takes off; margin: left to peaks between the times at which linear
    limits are checked; every: checked are every so many times (and all peaks); iterations: of SLSQP
    on one local model, more are lost because the model is not the flight; worst_of: sharpness of
    the maximum over scenarios.
    """

    random: Count = 24
    starts: Count = 2
    rounds: Natural = 12
    seconds: Positive | None = None
    radius: Positive = 0.5
    largest_radius: Positive = 4.0
    smallest_radius: Positive = 1e-3
    accept: Share = 0.1
    widen: Share = 0.6
    shrink: Share = 0.35
    least_gain: Positive = 1e-3
    alike: Share = 0.6
    feasible: Positive = 1e-3
    margin: Positive = 1e-3
    every: Count = 5
    iterations: Count = 12
    worst_of: Positive = 10.0


class OutOfTimeError(Exception):
    """Raised inside the search when its time is up."""


@dataclass(frozen=True)
class Candidate:
    """A motion x, the logarithm of its criterion, and the largest share of a limit it takes."""

    x: Array
    value: float
    share: float
    rows: tuple[Array, ...]  # of every scenario
    shares: tuple[Array, ...]

    @property
    def merit(self) -> float:
        """Its value, worse where it is beyond a limit."""
        return self.value + PENALTY * max(0.0, self.share - 1.0)


@dataclass
class Search:
    """One search: flights (one set a scenario), a criterion each, linear limits.

    progress is called with every round and its best value; on_interrupt on Ctrl-C.
    """

    flights: Sequence[Flier]
    criteria: Sequence[Criterion]
    linear_limits: LinearLimits
    seed: int = 0
    effort: Effort = Effort()
    progress: Progress = silent
    on_interrupt: Callable[[], None] | None = None
    is_interrupted: bool = False
    best: list[Candidate] = field(default_factory=list)
    refused: Array | None = None  # a motion for which there was no room, where all were so
    n_flights: int = 0
    _end: float = np.inf

    def run(self) -> list[Candidate]:
        """The best candidates within the limits, best first; empty where there are none."""
        seconds = self.effort.seconds
        self._end = np.inf if seconds is None else time.monotonic() + seconds
        try:
            firsts = self.screen()
            for n, first in enumerate(firsts):
                self.improve(first, n / len(firsts), 1.0 / len(firsts))
        except OutOfTimeError:
            pass
        except KeyboardInterrupt:
            if not self.best:
                raise
            self.is_interrupted = True
            if self.on_interrupt is not None:
                self.on_interrupt()
        self._end = np.inf
        return list(self.best)

    def screen(self) -> list[Candidate]:
        """The best of some random motions, scaled to the limits: where to start from."""
        rng, effort = np.random.default_rng(self.seed), self.effort
        n = max(effort.random, effort.starts)
        tried = (self.scale_to_limits(self.random(rng)) for _ in range(n))
        found = [one for one in tried if one is not None]
        if not found:
            self.refused = self._scale_to_linear_limits(self.random(rng))
        found.sort(key=lambda one: one.value)
        return _choose_unlike(found, effort.starts, effort.alike)

    def random(self, rng: np.random.Generator) -> Array:
        """A random direction; pulses are somewhere between nothing and all."""
        variables = self.flights[0].variables
        n = variables.n_motion
        parts = [rng.normal(size=mover.n) for mover in variables.movers]
        pulses = rng.uniform(0.0, 1.0, variables.n - n)
        return np.concatenate([*(part / np.linalg.norm(part) for part in parts), pulses])

    def scale_to_limits(self, x: Array) -> Candidate | None:
        """The motion scaled to just within the limits; None where there is no room for it."""
        x = self._scale_to_linear_limits(x)
        for _ in range(8):
            found = self.evaluate(x)
            if found.share <= 1.0:
                return found
            if not np.isfinite(found.share):
                x = 0.5 * x
                continue
            peaks, rest = self._peaks(x, found.shares), self._at_rest
            beyond = peaks > 1.0
            growth = np.maximum(peaks[beyond] - rest[beyond], 1e-9)
            x = x * float(np.clip(np.min((0.98 - rest[beyond]) / growth), 1e-15, 0.95))
            if np.max(np.abs(x)) < NO_MOTION:
                break
        return None

    def _peaks(self, x: Array, shares: Sequence[Array]) -> Array:
        """The largest share of every limit over a flight."""
        return np.concatenate([self.linear_limits.shares(x), *(s.max(axis=0) for s in shares)])

    @cached_property
    def _at_rest(self) -> Array:
        """What staying at home takes of every limit: springs may be deflected, wheels spin."""
        still = np.zeros(self.flights[0].variables.n)
        return self._peaks(still, [flights.fly(still).shares for flights in self.flights])

    def _scale_to_linear_limits(self, x: Array) -> Array:
        """The motion with every mover scaled to just within its own linear limits."""
        x = x.copy()
        edges = np.cumsum([0, *(mover.n for mover in self.flights[0].variables.movers)])
        for a, b in pairwise(edges.tolist()):
            limits = self.linear_limits.limits
            own = [one for one in limits if one.own == slice(a, b) and one.offset == 0.0]
            share = max((one.shares(x).max() for one in own), default=1.0)
            x[a:b] *= 0.95 / max(share, 1e-12)
        return x

    def evaluate(self, x: Array) -> Candidate:
        """Simulate a motion; remembered if it is good."""
        self._require_time()
        flights = [one.fly(x) for one in self.flights]
        self.n_flights += len(flights)
        rows = tuple(c.rows(f) for c, f in zip(self.criteria, flights, strict=True))
        shares = tuple(f.shares for f in flights)
        linear = self.linear_limits.shares(x).max(initial=0.0)
        share = max(linear, *(s.max(initial=0.0) for s in shares))
        value = np.inf
        if np.isfinite(share) and all(np.all(np.isfinite(table)) for table in rows):
            pairs = zip(self.criteria, rows, strict=True)
            values = np.array([c.value(table)[0] for c, table in pairs])
            value = smooth_worst(values, self.effort.worst_of)[0]
        found = Candidate(x.copy(), value, float(share), rows, shares)
        if share <= 1.0 + self.effort.feasible and np.isfinite(value):
            self.best = sorted([*self.best, found], key=lambda one: one.value)[:5]
        return found

    def _require_time(self) -> None:
        if time.monotonic() > self._end and self.best:
            raise OutOfTimeError

    def improve(self, here: Candidate, done: float = 0.0, span: float = 1.0) -> None:
        """Rounds of local model and simulation from a motion; all that is found is remembered."""
        effort = self.effort
        radius = effort.radius
        for n in range(effort.rounds):
            best = self.best[0].value if self.best else here.value
            shown = f"designing, {self.criteria[0].describe(best)[1]:.4g}"
            self.progress(shown, done + span * n / effort.rounds)
            model = self._local_model(here)
            there, gain = here, 0.0
            while radius > effort.smallest_radius:
                step, hoped = model.best(radius)
                there = self.evaluate(here.x + step)
                gain = here.merit - there.merit
                if gain > effort.accept * hoped and gain > 0.0:
                    if gain > effort.widen * hoped:
                        radius = min(effort.largest_radius, 2.0 * radius)
                    break
                radius *= effort.shrink
            else:
                break
            here = there
            self._remember_scaled(here)
            if gain < effort.least_gain:
                break

    def _remember_scaled(self, here: Candidate) -> None:
        """Remember a motion that is a little beyond a limit by what it is worth scaled to it."""
        for _ in range(3):
            if not 1.0 + self.effort.feasible < here.share < 1.2:
                return
            here = self.evaluate(here.x / here.share)

    def _local_model(self, here: Candidate) -> LocalModel:
        near = []
        for flights, criterion in zip(self.flights, self.criteria, strict=True):
            self._require_time()
            near.append([(criterion.rows(f), f.shares) for f in flights.neighbours(here.x)])
            self.n_flights += len(near[-1])
        bounds = self.flights[0].variables.bounds()
        return local_model(self, here, near, bounds)


def _choose_unlike(sorted_ones: Sequence[Candidate], n: int, alike: float) -> list[Candidate]:
    """The n best that are unlike each other, as far as there are such: alike ones end alike."""
    chosen: list[Candidate] = []
    for one in sorted_ones:
        along = [abs(one.x @ other.x) / _lengths(one, other) for other in chosen]
        if max(along, default=0.0) < alike:
            chosen.append(one)
    rest = [one for one in sorted_ones if all(one is not other for other in chosen)]
    return [*chosen, *rest][:n]


def _lengths(one: Candidate, other: Candidate) -> float:
    return max(float(np.linalg.norm(one.x) * np.linalg.norm(other.x)), 1e-300)


@dataclass(frozen=True)
class LocalModel:
    """The model around x: per scenario rows and their changes (n, ...), shares likewise."""

    x: Array
    criteria: Sequence[Criterion]
    linear_limits: LinearLimits
    effort: Effort
    rows: Sequence[Array]
    row_slopes: Sequence[Array]
    shares: Array
    share_slopes: Array
    bounds: Sequence[tuple[float, float]]

    def value(self, step: Array) -> tuple[float, Array]:
        """The criterion after a step, as the model sees it, and its derivative."""
        values, slopes = [], []
        for criterion, rows, changes in zip(self.criteria, self.rows, self.row_slopes, strict=True):
            flat = changes.reshape(len(step), -1)
            value, slope = criterion.value(rows + (step @ flat).reshape(rows.shape))
            values.append(value)
            slopes.append(flat @ slope.ravel())
        worst, weights = smooth_worst(np.array(values), self.effort.worst_of)
        return worst, weights @ np.array(slopes)

    def best(self, radius: float) -> tuple[Array, float]:
        """The best step within a radius and the limits, and the gain that the model sees in it."""
        from scipy.optimize import minimize

        values, slopes = self._near_limits(radius)
        margin = self.effort.margin
        # a step may only promise to take back half of what is beyond a limit: the model is linear
        beyond = np.maximum(values - 1.0 + margin, 0.0)
        top = 1.0 - margin + 0.5 * beyond
        room = top - values
        low = [max(-radius, a - x) for (a, _), x in zip(self.bounds, self.x, strict=True)]
        high = [min(radius, b - x) for (_, b), x in zip(self.bounds, self.x, strict=True)]
        found = minimize(
            self.value, np.zeros(len(self.x)), jac=True, method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=[
                {"type": "ineq", "fun": lambda d: room - slopes @ d, "jac": lambda _: -slopes}
            ] if len(values) else (),
            options={"maxiter": self.effort.iterations, "ftol": 1e-4},
        )  # fmt: skip
        step = np.clip(found.x, low, high)
        return step, self.value(np.zeros(len(step)))[0] - self.value(step)[0]

    def _near_limits(self, radius: float) -> tuple[Array, Array]:
        """Shares that could become 1 within the radius, and their derivatives by the step."""
        values, slopes = self.linear_limits.near(self.x, radius, every=self.effort.every)
        could = self.shares + radius * np.sum(np.abs(self.share_slopes), axis=1) > 1.0
        return (
            np.concatenate([values, self.shares[could]]),
            np.vstack([slopes, self.share_slopes[could]]),
        )


def local_model(
    search: Search,
    here: Candidate,
    near: Sequence[Sequence[tuple[Array, Array]]],
    bounds: Sequence[tuple[float, float]],
) -> LocalModel:
    """The model from the rows and shares of a flight and of its neighbours, for every scenario."""
    rows, shares = here.rows, here.shares
    changes = []
    for table, ones in zip(rows, near, strict=True):
        change = np.empty((len(ones), *table.shape))
        for k, (other, _) in enumerate(ones):
            change[k] = other - table
        change /= NEARBY
        changes.append(change)
    flat = [table.ravel() for table in shares]
    slopes = [
        np.stack([((other - table) / NEARBY).ravel() for _, other in ones], axis=1)
        for table, ones in zip(shares, near, strict=True)
    ]
    return LocalModel(
        here.x, search.criteria, search.linear_limits, search.effort, rows, changes,
        np.concatenate(flat), np.vstack(slopes), bounds,
    )  # fmt: skip


def smooth_worst(values: Array, sharpness: float = Effort.worst_of) -> tuple[float, Array]:
    """About the largest of some values (log-sum-exp), and how much each counts for it."""
    if len(values) == 1:
        return float(values[0]), np.ones(1)
    powers = np.exp(sharpness * (values - values.max()))
    return float(values.max() + np.log(powers.sum()) / sharpness), powers / powers.sum()
