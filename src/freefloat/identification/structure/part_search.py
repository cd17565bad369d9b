"""The set of parts that the recordings call for, by score tests and refits of the winners.

A sketch comes first: parts as the model has them are put in or taken out one at a time, a few
simulations each, while the fit gets better. From there on parts that the score tests see are put in
and fitted; where none is left, every part that is there is taken out once and the rest fitted, to
few of the samples first and, where these do not call for it, to all: what explains the recordings
as well without it is not there, whatever the score said. So on until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.structure.candidate_parts import Part
from freefloat.identification.structure.part_state import (
    PartState,
    Question,
    Values,
    firsts_of,
    fit_parts,
)
from freefloat.identification.structure.part_tests import PartTest, PartTests, score_parts
from freefloat.identification.trust.white_rows import orthonormal
from freefloat.progress import Progress, silent

# theory: at a cosine of 0.95 two columns share nine tenths of their squares, as for causes
ALIKE = 0.9
ROUNDS = 3  # theory: of changes a part, at most: in, out again beside a better one, and in again


@dataclass(frozen=True)
class SearchEnd:
    """Where the search ended: the state, its tests, and what each present part alone is worth.

    falls: by part, the fall of the sum of squares with it, everything else fitted anew, inf where a
    few samples told already; alike: by present part, those that would do as well in its place.
    """

    state: PartState
    tests: PartTests
    falls: dict[str, float]
    alike: dict[str, tuple[str, ...]]


class PartSearch:
    """Looks for the parts; every set is fitted once."""

    def __init__(self, question: Question, progress: Progress = silent) -> None:
        self.question, self.progress = replace(question, progress=self._tell), progress
        self.done, self.states = 0, dict[frozenset[str], PartState | None]()
        self.level = question.options.significance / max(len(question.parts), 1)

    def run(self) -> SearchEnd:
        """The set of parts at which nothing changes any more."""
        state, tests = self._settle(self._sketch())
        return SearchEnd(state, tests.temper(), self._falls(state), self._alike(state, tests))

    def _sketch(self) -> PartState:
        """The set that fits best as the model has its parts, one at a time put in or taken out.

        Numbers such as friction wait until the rest is explained: they would stand in for it.
        """
        parts = [p for p in self.question.parts if not (p.is_number and p.size == 0.0)]
        quick: dict[frozenset[str], PartState | None] = {}

        def fit(names: frozenset[str]) -> PartState | None:
            if names not in quick:
                quick[names] = self._try(_select(parts, names), None, None, is_sketch=True)
            return quick[names]

        bare = fit_parts(self.question, (), is_sketch=True, is_thin=True)
        quick[bare.names] = bare
        whole = fit(frozenset(p.name for p in parts))
        best = whole if whole is not None and self._is_better(whole, bare) else bare
        while True:
            tried = [fit(best.names ^ {p.name}) for p in parts if not p.is_number]
            known = [s for s in tried if s is not None]
            new = min(known, key=lambda s: self._criterion(s, best), default=best)
            if not self._is_better(new, best):
                break
            best = new
        return self._fit(best.present, best) or best

    def _settle(self, state: PartState) -> tuple[PartState, PartTests]:
        """From a set on: parts put in while they are seen, then taken out while needless."""
        visited, tests = {state.names}, score_parts(state)
        for _ in range(ROUNDS * len(self.question.parts)):
            new = self._more(state, tests, visited) or self._fewer(state, visited)
            if new is None:
                break
            visited.add(new.names)
            state, tests = new, score_parts(new)
        return state, tests

    def _more(
        self, state: PartState, tests: PartTests, visited: set[frozenset[str]]
    ) -> PartState | None:
        """With the part that is seen best, if its fit keeps what the score promised."""
        strong = [
            t for t in tests.tests
            if not t.is_present and t.part.name in tests.significant
            and state.names | {t.part.name} not in visited
        ]  # fmt: skip
        # numbers wait for what swings: they would stand in for it
        for test in sorted(strong, key=lambda t: (t.part.is_number, t.limit(self.level) - t.gain)):
            new = self._fit_with(state, test)
            if new is not None and self._is_better(new, state):
                return new
        return None

    def _fewer(self, state: PartState, visited: set[frozenset[str]]) -> PartState | None:
        """Without the part that is needed least, if the others explain as much without it."""
        whole = self._try(state.present, state.values, state, is_thin=True)
        doubtful = [part for part in state.present if not self._is_needed(state, part, whole)]
        less = [self._fit(_minus(state, part), state) for part in doubtful]
        known = [s for s in less if s is not None and s.names not in visited]
        best = min(known, key=lambda s: self._criterion(s, state), default=None)
        return best if best is not None and not self._is_better(state, best) else None

    def _criterion(self, state: PartState, other: PartState) -> float:
        """Sum of squares against another's, plus what chance would take off for the unknowns."""
        more = state.n_unknowns - other.n_unknowns
        price = float(np.sign(more) * chdtri(max(abs(more), 1), self.level)) if more else 0.0
        return state.excess_over(other) + price

    def _is_better(self, state: PartState, other: PartState) -> bool:
        """Whether a state with other parts explains more than chance would."""
        return self._criterion(state, other) < 0.0

    def _is_needed(self, state: PartState, part: Part, whole: PartState | None) -> bool:
        """Whether few of the samples alone call for a part, the others fitted to them anew.

        They are samples of the same noise: what they reject at the level, all reject. whole: the
        state fitted to these few.
        """
        less = self._try(_minus(state, part), state.values, state, is_thin=True)
        return less is None or (whole is not None and self._is_better(whole, less))

    def _falls(self, state: PartState) -> dict[str, float]:
        """By how much the sum of squares falls with parts, where that was found by a refit.

        A part whose absence few samples reject has the gain of its score.
        """
        falls = {}
        for part in state.present:
            less = self.states.get(state.names - {part.name})
            falls[part.name] = np.inf if less is None else less.excess_over(state)
        return falls

    def _alike(self, state: PartState, tests: PartTests) -> dict[str, tuple[str, ...]]:
        """Absent parts that would do as well in place of a present one."""
        found = {}
        for part in state.present:
            own = tests.of(part)
            others = []
            for test in tests.tests:
                if test.is_present or not test.rank or not _explains(state, own, test):
                    continue
                less = self._fit(_minus(state, part), state)
                swapped = None if less is None else self._fit_with(less, test)
                limit = own.noise * own.limit(self.level)
                if swapped is not None and swapped.excess_over(state) < limit:
                    others.append(test.part.name)
            if others:
                found[part.name] = tuple(others)
        return found

    def _fit_with(self, state: PartState, test: PartTest) -> PartState | None:
        """The state with another part, from the values its score suggests."""
        values = state.values
        if test.part.is_number:
            values = tuple({**v, test.part.name: max(test.amount, 0.0)} for v in values)
        wanted = [*state.present, test.part]
        tries = [tuple({**v, **s} for v in values) for s in test.block.starts[:2]] or [values]
        # without the part the rest may have been bent far to stand in for it: from the model, too
        tries += [
            tuple(
                {
                    n: x
                    for n, x in near.items()
                    if n not in self.question.base and not n.startswith("start.")
                }
                for near in tries[0]
            )
        ]
        key = frozenset(p.name for p in wanted)
        if key in self.states:
            return self.states[key]
        found = [self._try(wanted, near, state) for near in tries]
        known = [f for f in found if f is not None]
        best = min(known, key=lambda f: f.excess_over(state), default=None)
        self.states[key] = best
        return best

    def _fit(self, present: Sequence[Part], near: PartState | None) -> PartState | None:
        key = frozenset(part.name for part in present)
        if key not in self.states:
            self.states[key] = self._try(present, None if near is None else near.values, near)
        return self.states[key]

    def _try(
        self,
        present: Sequence[Part],
        values: Values | None,
        near: PartState | None,
        *,
        is_sketch: bool = False,
        is_thin: bool = False,
    ) -> PartState | None:
        """None where the model with these parts cannot be made to fly like the data at all."""
        firsts = None if near is None else firsts_of(near)
        self.done += 1
        with suppress(FreefloatError, np.linalg.LinAlgError):
            return fit_parts(
                self.question, _in_order(self.question, present), values, firsts=firsts,
                is_sketch=is_sketch, is_thin=is_sketch or is_thin,
            )  # fmt: skip
        return None

    def _tell(self, stage: str, fraction: float | None) -> None:
        """Before every simulation of whatever is fitted or tested."""
        # theory: about two fits a part; what takes longer comes closer to the end ever slower
        done = 1.0 - float(np.exp(-self.done / (2.0 * len(self.question.parts) + 1.0)))
        self.progress(f"testing parts, fit {self.done}", done)


def _in_order(question: Question, present: Sequence[Part]) -> tuple[Part, ...]:
    names = {part.name for part in present}
    return tuple(part for part in question.parts if part.name in names)


def _select(parts: Sequence[Part], names: frozenset[str]) -> list[Part]:
    return [part for part in parts if part.name in names]


def _minus(state: PartState, part: Part) -> list[Part]:
    return [other for other in state.present if other.name != part.name]


def _explains(state: PartState, own: PartTest, other: PartTest) -> bool:
    """Whether the columns of another part explain most of what a part does."""
    rows = state.rows
    kept = np.delete(rows.jacobian, own.block.own, axis=1)
    Q = _basis(kept)
    change = own.block.change - Q @ (Q.T @ own.block.change)
    columns = other.block.columns - Q @ (Q.T @ other.block.columns)
    U = _basis(columns)
    share = float(np.sum((U.T @ change) ** 2)) / max(float(change @ change), 1e-300)
    return share > ALIKE


def _basis(columns: Array) -> Array:
    return orthonormal(columns) if columns.shape[1] else columns
