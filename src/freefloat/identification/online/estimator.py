"""OnlineEstimator: one sample in, one estimate out, for as long as it flies.

The estimator of record: a square-root information filter on the momentum equations of the whole
system (paper 001's, jointly linear in base and target), in the frame of the first velocity, about
the sensor point, with the initial momentum unknown. Rows are whitened by the propagated noise of
every sensor, and what noise in the columns does to the information is measured on a probe that
runs along and taken off, as in batch identification.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.identification.online import changes
from freefloat.identification.online.channels import Channels, told_by_flight, told_by_model
from freefloat.identification.online.clock import Clock
from freefloat.identification.online.early import Early
from freefloat.identification.online.estimate import Estimate
from freefloat.identification.online.health import VERDICTS, Event, Health, Verdict
from freefloat.identification.online.information import leave_out
from freefloat.identification.online.kernels.memory import (
    BEGUN,
    CHI2,
    DOF,
    GATED,
    HISTORY,
    LEVEL,
    N_ROWS,
    N_WRENCH,
    NIS,
    SETTLED,
    SINCE_CHANGE,
    STEP,
    TAKEN,
    UNUSABLE,
    Memory,
    Problem,
    new_memory,
    new_scratch,
)
from freefloat.identification.online.problem import problem_of, start, unknowns_of
from freefloat.identification.online.reorder import ReorderBuffer
from freefloat.identification.online.sample import Taken, taken_from
from freefloat.identification.online.state import restore_state, save_state
from freefloat.identification.parameters import Parameters
from freefloat.model.model import Model
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.stream import Sample

# A sample this unlikely is an outlier: one in a million good ones is lost.
GATE = 1e-6


class OnlineEstimator:
    """Finds the free ones of `parameters` from samples, one by one; never raises on a bad one.

    like: a recording whose channels and noises the samples have; noise: deviations by channel, over
    those of `like` and of the model's sensors. random_walk: glob -> deviation per root second, for
    what changes slowly (fuel: {"bus.mass": 0.1}). forgetting: what information counts after a
    second. gate: the chance to lose a good sample; 0 takes all. reorder: samples held back to find
    their order. reset: globs of what a change (capture, release) makes unknown again, those of the
    targets unless said; none: changes are only told. correct: take off what noise in the columns
    does to the estimate; only data without noise do better without.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> params = ff.Parameters(model).free("bus.mass", "target.mass")
    >>> tracker = ff.OnlineEstimator(model, params)
    >>> tracker.update({"time": 0.0, "base.rate.z": float("nan")}).verdict
    'incomplete'
    """

    def __new__(cls, model: Model, parameters: Parameters, **options: Any) -> OnlineEstimator:
        """The estimator itself, or the Kalman filter where something swings unmeasured."""
        from freefloat.identification.online.kalman import KalmanEstimator, is_filtered

        is_kalman = is_filtered(model, parameters, options.get("like"))
        return object.__new__(KalmanEstimator if is_kalman else cls)

    def __init__(
        self,
        model: Model,
        parameters: Parameters,
        *,
        like: Telemetry | None = None,
        noise: Mapping[str, float] | None = None,
        random_walk: Mapping[str, float] | None = None,
        forgetting: float = 1.0,
        gate: float = GATE,
        reorder: int = 0,
        reset: tuple[str, ...] | None = None,
        correct: bool = True,
        solve_every: int = 1,
    ) -> None:
        self.model, self.parameters = model, parameters
        self.system = flatten(_with_fixed_values(model, parameters))
        self.unknowns = unknowns_of(self.system, parameters)
        told = told_by_model(model)
        known = dict(told) if like is None else told_by_flight(like)
        sizes = told | {n: s for n, s in known.items() if s >= 0.0} | dict(noise or {})
        self.channels = Channels.of(self.system, [*known, *(noise or {})], sizes)
        self.problem = problem_of(
            self.system, parameters, self.unknowns, self.channels, walk=random_walk or {},
            forgetting=_checked_forgetting(forgetting), gates=_gates(gate, self.channels),
            every=(solve_every, 8), correct=correct,
        )  # fmt: skip
        self.memory = new_memory(self.problem)
        self.scratch = new_scratch(self.problem, self.memory)
        start(self.memory, self.unknowns)
        self.early = Early(self.memory)
        self._keep_books(reorder)
        self._reset = _reset_places(self, reset)
        self.taken = Taken(self.channels)

    def _keep_books(self, reorder: int) -> None:
        """Clock, order, counts and events: the same for every filter."""
        self.clock, self.buffer = Clock(), ReorderBuffer(reorder)
        self.counts = dict.fromkeys(VERDICTS, 0)
        self.events: list[Event] = []
        self.time: float | None = None
        self.silenced: set[str] = set()

    @property
    def estimate(self) -> Estimate:
        """What is known now."""
        return self._estimate("taken" if self.time is not None else "waiting", ())

    @property
    def values(self) -> Array:
        """The filter's own quick estimate, without judging what of it is noise."""
        n = self.problem.n_nuisance
        start = np.array([p.value for p in self.unknowns.free])
        return start + self.unknowns.sizes[n:] * self.memory.x[n:]

    def warm_up(self) -> None:
        """Load or compile the kernel, so that the first sample takes no longer than others."""
        from freefloat.identification.online.kernels.update import take_sample

        other = new_memory(self.problem)
        scratch = new_scratch(self.problem, other)
        nothing = np.full_like(self.taken.vector, np.nan)
        taken = self.taken
        take_sample(self.problem, other, scratch, 0.0, nothing, taken.levels, taken.wrench, False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""
        return self.channels.notes

    def update(self, sample: Sample | Mapping[str, Any]) -> Estimate:
        """Take one sample; the estimate after it.

        A sample is a Sample, or a mapping with "time" and the channels' values.
        """
        before = len(self.events)
        read = taken_from(sample)
        if read is None:
            verdict: Verdict = "unreadable"
            self.counts[verdict] += 1
        else:
            verdict = "waiting"
            for ready in self.buffer.push(read):
                verdict = self._process(ready)
                self.counts[verdict] += 1
        return self._estimate(verdict, tuple(self.events[before:]))

    def finish(self) -> Estimate:
        """Use what is still held back; the last estimate."""
        before = len(self.events)
        verdict: Verdict = "waiting"
        for ready in self.buffer.drain():
            verdict = self._process(ready)
            self.counts[verdict] += 1
        return self._estimate(verdict, tuple(self.events[before:]))

    def run(self, samples: Telemetry) -> Estimate:
        """All samples of a recording; the estimate after the last."""
        for sample in samples:
            for ready in self.buffer.push(sample):
                self.counts[self._process(ready)] += 1
        return self.finish()

    def save(self, path: str | Path) -> None:
        """Write the whole state; `restore` goes on from it bit for bit."""
        save_state(self, path)

    def restore(self, path: str | Path) -> None:
        """Go on from a saved state of the same problem."""
        restore_state(self, path)

    @property
    def health(self) -> Health:
        """What became of the samples so far."""
        waiting = {"waiting": len(self.buffer.held)}
        counts = {k: n for k, n in (self.counts | waiting).items() if n}
        m = self.memory
        return Health(counts, tuple(self.events), float(m.numbers[CHI2]), int(m.counts[N_ROWS]))

    # -- inside ------------------------------------------------------------------------------------

    def _estimate(self, verdict: Verdict, events: tuple[Event, ...]) -> Estimate:
        m = self.memory
        return Estimate(
            self.time, verdict, float(m.numbers[NIS]), int(m.numbers[DOF]), events, self.health,
            self.parameters, self.unknowns, m.triangle.copy(), m.bias.copy(),
            int(m.counts[SINCE_CHANGE]) * len(self.problem.rows),
        )  # fmt: skip

    def _process(self, sample: Sample) -> Verdict:
        from freefloat.identification.online.kernels.update import take_sample, tell_inputs

        taken, m = self.taken, self.memory
        is_complete = taken.read(sample) and not (self.silenced and self._is_silenced())
        judged = self.clock.judge(sample.time) if is_complete else "next"
        if judged == "jumped":
            self._restart(sample.time, "clock jump", "the clock jumped")
        elif judged != "next":
            return "clock jump" if judged == "suspect" else judged
        if not is_complete:
            if taken.has_inputs and m.counts[HISTORY] and sample.time >= m.times[3]:
                tell_inputs(
                    self.problem, m, sample.time, taken.levels, taken.wrench, taken.has_wrench
                )
            return "incomplete"
        self._mind_the_gap(sample.time)
        code = take_sample(
            self.problem, m, self.scratch, sample.time, taken.vector, taken.levels, taken.wrench,
            taken.has_wrench,
        )  # fmt: skip
        if code == UNUSABLE and taken.has_inputs and m.counts[HISTORY]:
            tell_inputs(self.problem, m, sample.time, taken.levels, taken.wrench, taken.has_wrench)
        if self.early.snapshot is not None:
            self._settle(sample.time, code)
        verdict = VERDICTS[code]
        if code <= TAKEN:
            self.time = sample.time
        if code in (TAKEN, GATED):
            self._watch(sample.time, was_gated=code == GATED)
        return verdict

    def _settle(self, time: float, code: int) -> None:
        """Keep the sample; once weights come from an estimate, take the kept ones again."""
        is_sample = code in (BEGUN, TAKEN)
        if is_sample or self.taken.has_inputs:
            self.early.note(time, self.taken, is_sample=is_sample)
        if self.early.is_ready(self.memory):
            n_out = self.early.replay(self.problem, self.memory, self.scratch)
            self.counts["taken"] -= n_out or 0
            self.counts["gated"] += n_out or 0

    def _mind_the_gap(self, time: float) -> None:
        """After a silence in which forces may have acted unseen, momentum must be found anew."""
        m = self.memory
        step = m.numbers[STEP]
        if m.counts[HISTORY] and step and time - m.times[3] > 10.0 * step:
            is_pushed = bool(m.levels.any() or self.taken.levels.any() or m.counts[N_WRENCH])
            if is_pushed:
                self._restart(time, "gap", f"no sample for {time - m.times[3]:.3g} s")

    def _restart(self, time: float, kind: Any, why: str) -> None:
        """A new segment: positions, impulses and the initial momentum are forgotten."""
        m = self.memory
        nuisance = range(self.problem.n_nuisance)
        leave_out(m, list(nuisance))
        start(m, self.unknowns, nuisance)
        m.counts[HISTORY] = m.counts[N_WRENCH] = 0
        m.level_moments[:] = m.wrench_moments[:] = m.detour[:] = m.unsure[:] = 0.0
        if not m.numbers[SETTLED]:
            self.early.begin(m)  # what was kept belongs to another segment
        self._note(Event(time, kind, f"{why}: initial momentum found anew"))

    def _note(self, event: Event) -> None:
        self.events.append(event)
        del self.events[:-1000]  # a bounded memory of what happened

    def _watch(self, time: float, *, was_gated: bool) -> None:
        m = self.memory
        if changes.has_changed(m, was_gated=was_gated):
            self._change(time)
        elif was_gated and changes.is_out_of_step(m):
            self._restart(time, "restart", "the last samples disagree with the one before them")
        if m.repeats.max() == changes.REPEATED:
            for name in changes.frozen_channels(m, self.channels):
                self.silenced.add(name)
                self.events.append(changes.frozen_event(time, name))
        if m.still[:, 0].max(initial=0.0) > changes.RESTED:
            for name in changes.stuck_joints(m, self.system.coordinates, sigma=self.problem.sigma):
                k = self.system.coordinates.index(name)
                m.still[k] = 0.0  # told once; to be told again it must move again
                self.events.append(changes.stuck_event(time, name))

    def _change(self, time: float) -> None:
        """Something was caught or let go: what belongs to it is unknown again."""
        m = self.memory
        if self.early.snapshot is not None:
            self.early.rewind(m)
            self._note(Event(time, "restart", "the first samples contradict each other"))
            return
        names = self.unknowns.names
        what = ", ".join(dict.fromkeys(names[k].split(".")[0] for k in self._reset))
        self.events.append(changes.change_event(time, what or "nothing"))
        changes.clear(m)
        self._restart(time, "change", "something changed")
        if self._reset:
            leave_out(m, self._reset)
            start(m, self.unknowns, self._reset)
            renew_model_weights(self.problem, m)
        self.early.begin(m)
        self.events.pop(-1)

    def _is_silenced(self) -> bool:
        """Whether a frozen channel still repeats itself; if not, it may speak again."""
        taken, m = self.taken, self.memory
        for name in list(self.silenced):
            place = int(self.channels.places[self.channels.names.index(name)])
            if taken.vector[place] != m.last[place]:
                self.silenced.discard(name)
                m.repeats[place if place < 3 else place - 1] = 0
        return bool(self.silenced)


def renew_model_weights(problem: Problem, memory: Memory) -> None:
    """Weights are made of the model's parameters again."""
    memory.wx[:] = 0.0
    memory.phi[:], memory.rotor[:] = problem.par.phi, problem.par.rotor
    memory.numbers[LEVEL], memory.numbers[SETTLED] = 1.0, 0.0


def _with_fixed_values(model: Model, parameters: Parameters) -> Model:
    """The model with the values asked for: fixed or started from elsewhere."""
    from freefloat.identification.parameters import parameter_values
    from freefloat.identification.write_back import with_parameters

    known = parameter_values(flatten(model))
    moved = {p.name: p.value for p in parameters if known.get(p.name, p.value) != p.value}
    return with_parameters(model, moved) if moved else model


def _checked_forgetting(forgetting: float) -> float:
    if not 0.0 < forgetting <= 1.0:
        raise IdentificationError(
            f"forgetting={forgetting!r}: expected more than 0, at most 1 (nothing is forgotten)"
        )
    return forgetting


def _gates(gate: float, channels: Channels) -> tuple[float, float]:
    """The largest NIS for all rows and for the linear ones."""
    if not 0.0 <= gate < 0.5:
        raise IdentificationError(f"gate={gate!r}: expected a chance from 0 (no gate) to 0.5")
    if gate == 0.0:
        return 0.0, 0.0
    from scipy.stats import chi2

    rows = (3, 2) if channels.is_planar else (6, 3)
    return float(chi2.isf(gate, rows[0])), float(chi2.isf(gate, rows[1]))


def _reset_places(self: OnlineEstimator, reset: tuple[str, ...] | None) -> list[int]:
    """Which unknowns a change makes unknown again."""
    globs = tuple(f"{t.name}.*" for t in self.model.targets) if reset is None else reset
    names = self.unknowns.names
    n = len(self.unknowns.nuisance)
    return [k for k in range(n, len(names)) if any(fnmatchcase(names[k], glob) for glob in globs)]


__all__ = ["Estimate", "OnlineEstimator"]
