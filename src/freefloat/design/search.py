"""Looking for the best motion: many random ones, then improvement of the best of them.

An improvement flies all neighbours of a motion once. They give a model of everything around it:
the slopes of all readings, and the shares of all limits, change linearly with the unknowns, while
what the slopes are worth is computed in full. The model is optimised within a radius in which it
can be trusted, and the result flown. This takes some ten rounds where plain gradients take
hundreds: a motion twice as large has four times the information, which no gradient knows.

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
from freefloat.design.candidate_flights import Flier
from freefloat.design.criteria import Criterion
from freefloat.design.linear_limits import Rails
from freefloat.design.local_model import Nearby, nearby, smooth_worst

FEASIBLE = 1e-3  # beyond a limit: what the last, exact scaling takes off
PENALTY = 8.0  # of being beyond a limit by its whole size; a larger motion gains two at most
RADIUS, LARGEST, SMALLEST = 0.5, 4.0, 1e-3  # of a model's trust, in units of the unknowns
NO_MOTION = 1e-6  # of a unit of the unknowns: a limit that leaves less leaves nothing
ALIKE = 0.6  # cosine between motions that are likely to be improved to the same one
GAIN = 1e-3  # a round that improves the logarithm by less was the last

Progress = Callable[[float, float], None]


class OutOfTimeError(Exception):
    """Raised inside the search when its time is up."""


@dataclass(frozen=True)
class Candidate:
    """A motion, what it is worth, and the largest share of a limit it takes."""

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
    """One search: flights (one set a scenario), a criterion each, linear limits."""

    flights: Sequence[Flier]
    criteria: Sequence[Criterion]
    rails: Rails
    seed: int = 0
    n_random: int = 24
    starts: int = 2
    rounds: int = 12
    seconds: float | None = None
    progress: Progress | None = None
    on_interrupt: Callable[[], None] | None = None
    is_interrupted: bool = False
    best: list[Candidate] = field(default_factory=list)
    refused: Array | None = None  # a motion for which there was no room, where all were so
    n_flights: int = 0
    _end: float = np.inf

    def run(self) -> list[Candidate]:
        """The best candidates within the limits, best first; empty where there are none."""
        self._end = np.inf if self.seconds is None else time.monotonic() + self.seconds
        try:
            firsts = self.screened()
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

    def screened(self) -> list[Candidate]:
        """The best of some random motions, filled up to the limits: where to start from."""
        rng = np.random.default_rng(self.seed)
        tried = (self.filled(self.random(rng)) for _ in range(max(self.n_random, self.starts)))
        found = [one for one in tried if one is not None]
        if not found:
            self.refused = self._railed(self.random(rng))
        return _unlike(sorted(found, key=lambda one: one.value), self.starts)

    def random(self, rng: np.random.Generator) -> Array:
        """A random direction; pulses are somewhere between nothing and all."""
        variables = self.flights[0].variables
        n = variables.n_motion
        parts = [rng.normal(size=mover.n) for mover in variables.movers]
        pulses = rng.uniform(0.0, 1.0, variables.n - n)
        return np.concatenate([*(part / np.linalg.norm(part) for part in parts), pulses])

    def filled(self, x: Array) -> Candidate | None:
        """The motion scaled to just within the limits; None where there is no room for it."""
        x = self._railed(x)
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
        return np.concatenate([self.rails.shares(x), *(s.max(axis=0) for s in shares)])

    @cached_property
    def _at_rest(self) -> Array:
        """What staying at home takes of every limit: springs may be bent there, wheels turn."""
        still = np.zeros(self.flights[0].variables.n)
        return self._peaks(still, [flights.fly(still).shares for flights in self.flights])

    def _railed(self, x: Array) -> Array:
        """The motion with every mover scaled to just within its own linear limits."""
        x = x.copy()
        edges = np.cumsum([0, *(mover.n for mover in self.flights[0].variables.movers)])
        for a, b in pairwise(edges.tolist()):
            own = [r for r in self.rails.rails if r.own == slice(a, b) and r.offset == 0.0]
            share = max((r.shares(x).max() for r in own), default=1.0)
            x[a:b] *= 0.95 / max(share, 1e-12)
        return x

    def evaluate(self, x: Array) -> Candidate:
        """Fly a motion; remembered if it is good."""
        self._require_time()
        flown = [flights.fly(x) for flights in self.flights]
        self.n_flights += len(flown)
        rows = tuple(c.rows(f) for c, f in zip(self.criteria, flown, strict=True))
        shares = tuple(f.shares for f in flown)
        share = max(self.rails.shares(x).max(initial=0.0), *(s.max(initial=0.0) for s in shares))
        value = np.inf
        if np.isfinite(share) and all(np.all(np.isfinite(table)) for table in rows):
            pairs = zip(self.criteria, rows, strict=True)
            value = smooth_worst(np.array([c.value(table)[0] for c, table in pairs]))[0]
        found = Candidate(x.copy(), value, float(share), rows, shares)
        if share <= 1.0 + FEASIBLE and np.isfinite(value):
            self.best = sorted([*self.best, found], key=lambda one: one.value)[:5]
        return found

    def _require_time(self) -> None:
        if time.monotonic() > self._end and self.best:
            raise OutOfTimeError

    def improve(self, here: Candidate, done: float = 0.0, span: float = 1.0) -> None:
        """Rounds of model and flight from a motion; all that is found is remembered."""
        radius = RADIUS
        for n in range(self.rounds):
            if self.progress is not None:
                best = self.best[0].value if self.best else here.value
                self.progress(done + span * n / self.rounds, self.criteria[0].told(best)[1])
            model = self._model(here)
            there, gain = here, 0.0
            while radius > SMALLEST:
                step, hoped = model.best(radius)
                there = self.evaluate(here.x + step)
                gain = here.merit - there.merit
                if gain > 0.1 * hoped and gain > 0.0:
                    radius = min(LARGEST, 2.0 * radius) if gain > 0.6 * hoped else radius
                    break
                radius *= 0.35
            else:
                break
            here = there
            self._kept(here)
            if gain < GAIN:
                break

    def _kept(self, here: Candidate) -> None:
        """Remember a motion that is a little beyond a limit by what is left when it is not."""
        for _ in range(3):
            if not 1.0 + FEASIBLE < here.share < 1.2:
                return
            here = self.evaluate(here.x / here.share)

    def _model(self, here: Candidate) -> Nearby:
        near = []
        for flights, criterion in zip(self.flights, self.criteria, strict=True):
            self._require_time()
            near.append([(criterion.rows(f), f.shares) for f in flights.neighbours(here.x)])
            self.n_flights += len(near[-1])
        bounds = self.flights[0].variables.bounds()
        return nearby(here.x, self.criteria, self.rails, here.rows, here.shares, near, bounds)


def _unlike(sorted_ones: Sequence[Candidate], n: int) -> list[Candidate]:
    """The n best that are unlike each other, as far as there are such: alike ones end alike."""
    chosen: list[Candidate] = []
    for one in sorted_ones:
        along = [abs(one.x @ other.x) / _lengths(one, other) for other in chosen]
        if max(along, default=0.0) < ALIKE:
            chosen.append(one)
    rest = [one for one in sorted_ones if all(one is not other for other in chosen)]
    return [*chosen, *rest][:n]


def _lengths(one: Candidate, other: Candidate) -> float:
    return max(float(np.linalg.norm(one.x) * np.linalg.norm(other.x)), 1e-300)
