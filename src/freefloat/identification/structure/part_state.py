"""A model with some of its parts, fitted to the recordings: where parts are tested from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.integrate import require_stable_step
from freefloat.dynamics.state import RATE
from freefloat.errors import FreefloatError
from freefloat.excitation.commands import SAME_INSTANT
from freefloat.excitation.plan import Plan
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.output_error.recording import (
    Recording,
    between_switches,
    recording_of,
)
from freefloat.identification.output_error.unknowns import is_assumed, unknowns_of
from freefloat.identification.structure.candidate_parts import Part, without_parts
from freefloat.identification.trust.noise_draws import (
    Noise,
    draw_noise,
    input_errors,
    noise_draws,
)
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import WhiteRows, white_rows
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.predictor import Prediction
from freefloat.progress import Progress, silent
from freefloat.telemetry.telemetry import Telemetry

QUICK = 6  # theory: Gauss-Newton doubles the right digits each time, so that 6 tell sets apart
# theory: a decrease of a thousandth of N / 2 for N = 1e4 rows is 5, below any limit of significance
ENOUGH = 1e-3
# theory: (2 pi f h)^6 / 200 is 1e-4 of a motion of 1 Hz between records
SKETCH_INTERVAL = 8e-2  # [s]
Values = tuple[Mapping[str, float], ...]  # by name, of each recording


@dataclass(frozen=True)
class Question:
    """What is asked: the model with every part, what else is free, and the recordings."""

    model: Model
    parts: tuple[Part, ...]
    asked: Parameters
    flights: tuple[Telemetry, ...]
    plans: tuple[Plan | None, ...]
    known_start: bool
    search: SearchOptions
    options: TrustOptions
    progress: Progress = silent

    @cached_property
    def base(self) -> tuple[str, ...]:
        """Names of what is free whatever parts there are."""
        own = {name for part in self.parts for name in part.parameters}
        return tuple(name for name in self.asked.names if name not in own)

    def absent(self, present: Sequence[Part]) -> list[Part]:
        """The parts that are not among those present."""
        names = {part.name for part in present}
        return [part for part in self.parts if part.name not in names]

    def model_with(self, present: Sequence[Part]) -> Model:
        """The model with these parts only."""
        return without_parts(self.model, self.absent(present))

    @cached_property
    def noises(self) -> dict[tuple[object, ...], Noise]:
        """The noise of every row, by what is compared; kept from fit to fit."""
        return {}

    @cached_property
    def _cache(self) -> dict[frozenset[str], tuple[Recording, ...]]:
        return {}

    def recordings(
        self, present: Sequence[Part], *, is_thin: bool = False
    ) -> tuple[Recording, ...]:
        """The recordings as the model with these parts only takes them; thin for a sketch."""
        key = frozenset(part.name for part in present)
        if key not in self._cache:
            self._cache[key] = self._recordings(present)
        found = self._cache[key]
        return tuple(map(_thin, found)) if is_thin else found

    def _recordings(self, present: Sequence[Part]) -> tuple[Recording, ...]:
        absent, model = self.absent(present), self.model_with(present)
        found, several = [], len(self.flights) > 1
        flown = zip(self.flights, self.plans, strict=True)
        for k, (flight, plan) in enumerate(flown, start=1):
            for part in absent:
                flight = part.record_without(flight)
                plan = None if plan is None else part.plan_without(plan)
            recording = recording_of(
                model, flight, plan=plan, step=self.search.step, trims=(not self.known_start, True),
                place=f"recording {k}: " if several else "",
            )  # fmt: skip
            found.append(between_switches(recording))
        return tuple(found)

    def parameters(self, present: Sequence[Part]) -> Parameters:
        """What is free with these parts: the base, and what they bring."""
        own = Parameters(self.model_with(present))
        known = {p.name for p in own}
        names = [n for n in self.base if n in known or is_assumed(n)]
        names += [n for part in present for n in part.parameters if n in known or is_assumed(n)]
        return own.free(*names).with_conditions_of(self.asked)


@dataclass(frozen=True)
class PartState:
    """The model with some parts, fitted to the recordings."""

    question: Question
    present: tuple[Part, ...]
    problem: OutputErrorProblem
    descent: Descent

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the parts that are there."""
        return frozenset(part.name for part in self.present)

    @cached_property
    def rows(self) -> WhiteRows:
        """At the maximum of the likelihood, with draws of the noise."""
        return white_rows(self.problem, self.descent.at.theta, options=self.question.options)

    @cached_property
    def values(self) -> Values:
        """Of all unknowns, by recording, as far as the fit went: where others begin."""
        recordings, theta = self.problem.recordings, self.descent.at.theta
        return tuple(self.problem.unknowns.values(theta, r) for r in range(len(recordings)))

    @cached_property
    def best_values(self) -> Values:
        """Of all unknowns, by recording, at the maximum of the likelihood (as `rows`)."""
        problem, theta = self.rows.problem, self.rows.descent.at.theta
        return tuple(problem.unknowns.values(theta, r) for r in range(len(problem.recordings)))

    @property
    def n_unknowns(self) -> int:
        """How many numbers were fitted."""
        return len(self.descent.at.theta)

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """Of the recordings at the maximum of the likelihood, without slopes."""
        recordings = self.rows.problem.recordings
        found = [r.at(values) for r, values in zip(recordings, self.best_values, strict=True)]
        return tuple(p for p in found if p is not None)

    @cached_property
    def misfits(self) -> dict[tuple[int, str], float]:
        """Sum of squares of every channel of every recording."""
        found = {}
        for r, (recording, errors) in enumerate(
            zip(self.problem.recordings, self.descent.at.errors, strict=True)
        ):
            for m, measurement in enumerate(recording.measurements):
                for c, name in enumerate(measurement.rows):
                    white = self.problem.noise[r][m][c].whiten(errors[m][:, c])
                    found[r, name] = float(white @ white)
        return found

    def excess_over(self, other: PartState) -> float:
        """By how much the sum of squares is larger than another's, in channels both compare."""
        own, theirs = self.misfits, other.misfits
        return sum(own[key] - theirs[key] for key in own if key in theirs)


def fit_parts(
    question: Question,
    present: Sequence[Part],
    near: Values | None = None,
    *,
    firsts: Sequence[float] | None = None,
    is_sketch: bool = False,
    is_thin: bool = False,
) -> PartState:
    """The model with these parts, fitted from the model's values or from values found before.

    firsts: where the recordings began when those were found; initial states count from there.
    is_sketch: few simulations, to compare sets of parts that differ grossly; is_thin: of few of the
    samples.
    """
    recordings = question.recordings(present, is_thin=is_thin)
    unknowns = unknowns_of(
        question.parameters(present), recordings, is_start_known=question.known_start,
        options=question.search,
    )  # fmt: skip
    theta = unknowns.start.copy()
    for k, unknown in enumerate(unknowns.items):
        r = unknown.recording or 0
        moved = firsts is not None and abs(recordings[r].grid.first - firsts[r]) > SAME_INSTANT
        if near is not None and not (moved and unknown.name.startswith("start.")):
            theta[k] = near[r].get(unknown.name, theta[k])
    theta = np.clip(theta, unknowns.lower, unknowns.upper)
    problem = OutputErrorProblem(
        recordings, unknowns, stated_noise(recordings), None, theta, progress=question.progress
    )
    most = QUICK if is_sketch else question.options.joint_evaluations
    key = _signature(recordings)
    if key not in question.noises:
        at = descend(problem, theta, most=most, enough=ENOUGH).at.theta
        by_inputs = input_errors(problem, at, options=question.options, seed=0)
        draws = noise_draws(problem, by_inputs, options=question.options, seed=0)
        question.noises[key] = draw_noise(problem, at, draws)
        theta = at
    problem = replace(problem, noise=question.noises[key])
    descent = descend(problem, theta, most=most, enough=ENOUGH)
    return PartState(question, tuple(present), problem, descent)


def _thin(recording: Recording) -> Recording:
    """The recording with samples and records no closer than a sketch needs."""
    grid = recording.grid
    fold = int(SKETCH_INTERVAL / grid.interval * (1.0 + 1e-9))
    if fold < 2:
        return recording
    interval = fold * grid.interval
    n = (grid.n_records - 1) // fold + 1
    end = grid.first + (n - 1) * interval
    every = 1
    while every < grid.every * fold:
        try:
            require_stable_step(recording.system, recording.start, interval / every)
            break
        except FreefloatError:
            every += 1
    kept = []
    for m in recording.measurements:
        apart = float(np.median(np.diff(m.times))) if len(m.times) > 1 else interval
        mask = m.times <= end + SAME_INSTANT
        mask &= np.arange(len(m.times)) % max(1, round(interval / apart)) == 0
        kept.append(m.select(mask))
    new = replace(grid, step=interval / every, every=every, n_records=n)
    return replace(recording, measurements=tuple(m for m in kept if len(m.times)), grid=new)


def _signature(recordings: Sequence[Recording]) -> tuple[object, ...]:
    """What is compared: recordings of one signature have rows of the same noise."""
    return tuple((m.channels, len(m.times)) for r in recordings for m in r.measurements)


def firsts_of(state: PartState) -> list[float]:
    """Where the recordings of a state begin [s]."""
    return [recording.grid.first for recording in state.problem.recordings]


def predicted_change(
    state: PartState,
    present: Sequence[Part],
    values: Values,
    names: Sequence[str] = (),
) -> tuple[Array, Array] | None:
    """Whitened change of the state's rows with other parts present, and its slopes by names.

    Rows that the other model does not predict do not change. None where it cannot be simulated.
    """
    problem = state.rows.problem
    changes, slopes = [], []
    for r, other in enumerate(state.question.recordings(present)):
        own = problem.recordings[r]
        if abs(own.grid.first - other.grid.first) < SAME_INSTANT:
            other = replace(other, start=_root_start(own, other))
        before, after = state.predictions[r], other.at(values[r], names)
        if after is None:
            return None
        groups = [m.channels for m in other.measurements]
        for m, measurement in enumerate(own.measurements):
            change = np.zeros_like(before.residuals[m])
            slope = np.zeros((*change.shape, len(names)))
            if measurement.channels in groups:
                k = groups.index(measurement.channels)
                times = other.measurements[k].times
                here, there = _common(measurement.times, times)
                change[here] = after.residuals[k][there] - before.residuals[m][here]
                slope[here] = after.jacobian[k][there]
            for c, noise in enumerate(problem.noise[r][m]):
                changes.append(noise.whiten(change[:, c]))
                slopes.append(noise.whiten(slope[:, c]))
    return np.concatenate(changes), np.vstack(slopes)


def _common(one: Array, other: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of equal times in two increasing tables."""
    if len(one) == len(other) and np.array_equal(one, other):
        every = np.arange(len(one))
        return every, every
    _, here, there = np.intersect1d(one, other, return_indices=True)
    return here, there


def _root_start(own: Recording, other: Recording) -> Array:
    """The other's nominal initial state with the root as in the own one."""
    start = other.start.copy()
    start[: RATE.stop] = own.start[: RATE.stop]
    return start
