"""OnlineEstimator: one sample in, one estimate out, for as long as it flies.

The estimator of record: a square-root information filter on the momentum equations of the whole
system (paper 001's, jointly linear in base and target), in the frame of the first velocity, about
the sensor point, with the initial momentum unknown. Rows are whitened by the propagated noise of
every sensor, and what noise in the columns does to the information is measured on a probe that
runs along and taken off, as in batch identification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.model.model import Model
from freefloat.online import change_events
from freefloat.online.filter_problem import (
    checked_forgetting,
    gates_of,
    problem_of,
    renew_model_weights,
    reset_places,
    start,
    unknowns_of,
    with_fixed_values,
)
from freefloat.online.health import OUTCOMES, Event, Health, SampleOutcome
from freefloat.online.information_matrix import leave_out
from freefloat.online.intake import Intake
from freefloat.online.kernels.change_detection import ALL, CHANGED, FROZEN, GAPS, OUT_OF_STEP, STUCK
from freefloat.online.kernels.memory import (
    BEGUN,
    CHI2,
    DOF,
    GAP,
    GATED,
    HISTORY,
    INPUT_TIME,
    N_ROWS,
    N_WRENCH,
    NIS,
    SETTLED,
    SINCE_CHANGE,
    STEP,
    TAKEN,
    UNUSABLE,
    new_memory,
    new_scratch,
)
from freefloat.online.live_channels import Channels, known_channels
from freefloat.online.live_estimate import LiveEstimate
from freefloat.online.rate_check import too_slow
from freefloat.online.sample import Taken, taken_from
from freefloat.online.startup_replay import StartupReplay
from freefloat.online.state_file import restore_state, save_state
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import with_switches

# A sample this unlikely is an outlier: one in a million good ones is lost.
GATE = 1e-6


class OnlineEstimator(Intake):
    """Finds the free ones of `parameters` from samples, one by one; never raises on a bad one.

    method: "square-root", the estimator of record; "kalman", for what swings unmeasured; "auto"
    chooses between these two; "rls", "two-step", "modified-rls", "modified-rls-force": recursions
    of the literature, to compare with (`recursive`).
    like: a recording whose channels and noises the samples have; noise: deviations by channel, over
    those of `like` and of the model's sensors. random_walk: glob -> deviation per root second, for
    what changes slowly (fuel: {"bus.mass": 0.1}). forgetting: what information counts after
    a sample. gate: the chance to lose a good sample; 0 takes all. reorder: samples held back to
    find their order. reset: globs of what a change (capture, release) makes unknown again, those of
    the targets unless said; none: changes are only told. correct: take off what noise in the
    columns does to the estimate; only data without noise do better without. gather: channels come
    at different rates and are brought together (`gather`), as `like` or the sensors say, or not.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> params = ff.Parameters(model).free("bus.mass", "target.mass")
    >>> tracker = ff.OnlineEstimator(model, params)
    >>> tracker.update({"time": 0.0, "base.rate.z": float("nan")}).verdict
    'incomplete'
    """

    def __new__(cls, model: Model, parameters: Parameters, **options: Any) -> OnlineEstimator:
        """The estimator of the method asked for; its own class, unless a subclass is called."""
        if cls is not OnlineEstimator:
            return object.__new__(cls)
        from freefloat.online.methods import class_of

        return object.__new__(class_of(model, parameters, options))

    def __init__(
        self,
        model: Model,
        parameters: Parameters,
        *,
        method: str = "auto",
        like: Telemetry | None = None,
        noise: Mapping[str, float] | None = None,
        random_walk: Mapping[str, float] | None = None,
        forgetting: float = 1.0,
        gate: float = GATE,
        reorder: int = 0,
        reset: tuple[str, ...] | None = None,
        correct: bool = True,
        solve_every: int = 1,
        gather: bool | None = None,
    ) -> None:
        self.model, self.parameters = model, parameters
        self.system = flatten(with_fixed_values(model, parameters))
        self.unknowns = unknowns_of(self.system, parameters)
        names, sizes = known_channels(model, like, noise)
        self.channels = Channels.of(self.system, names, sizes)
        self.problem = problem_of(
            self.system, parameters, self.unknowns, self.channels, walk=random_walk or {},
            forgetting=checked_forgetting(forgetting), gates=gates_of(gate, self.channels),
            every=(solve_every, 8), correct=correct,
        )  # fmt: skip
        self.memory = new_memory(self.problem)
        self.scratch = new_scratch(self.problem, self.memory)
        start(self.memory, self.unknowns)
        self.early = StartupReplay(self.memory)
        self._keep_books(reorder, like, noise or {})
        self._reset = reset_places(self.model, self.unknowns, reset)
        self.taken = Taken(self.channels)

    @property
    def estimate(self) -> LiveEstimate:
        """What is known now."""
        return self._estimate("taken" if self.time is not None else "waiting", ())

    @property
    def values(self) -> Array:
        """The filter's own quick estimate, without judging what of it is noise."""
        n = self.problem.n_nuisance
        start = np.array([p.value for p in self.unknowns.free])
        return start + self.unknowns.sizes[n:] * self.memory.x[n:]

    def warm_up(self) -> None:
        """Load or compile the kernels, so that the first sample takes no longer than others."""
        from freefloat.numba_.bound_arguments import bind
        from freefloat.online.kernels import update

        other, taken = new_memory(self.problem), self.taken
        scratch = new_scratch(self.problem, other)
        nothing = np.full_like(taken.vector, np.nan)
        bound = bind(self.problem, other, scratch, nothing, taken.levels.copy(), taken.wrench)
        update.take_sample(bound, 0.0, False, ALL)
        update.notice_sample(bound, TAKEN)
        update.tell_inputs(bound, 0.0, False)
        self._bind()

    def _bind(self) -> None:
        """Give the kernels their arrays, once."""
        from freefloat.numba_.bound_arguments import bind, prepared
        from freefloat.online.kernels import update

        own = (self.taken.vector, self.taken.levels, self.taken.wrench)
        self._kernels = update
        self._bound = bind(self.problem, self.memory, self.scratch, *own)
        self._take_sample = prepared(update.take_sample, self._bound, 0.0, False, ALL)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and what is to be said against the channels."""
        return (*self.channels.notes, *self._concerns())

    def update(self, sample: Sample | Mapping[str, Any]) -> LiveEstimate:
        """Take one sample; the estimate after it.

        A sample is a Sample, or a mapping with "time" and the channels' values.
        """
        read, before = taken_from(sample), self._n_events
        if read is None:
            verdict: SampleOutcome = "unreadable"
            self.counts[verdict] += 1
        elif self.buffer.size:
            verdict = "waiting"
            for ready in self.buffer.push(read):
                verdict = self._process(ready)
                self.counts[verdict] += 1
        else:
            verdict = self._process(read)
            self.counts[verdict] += 1
        return self._estimate(verdict, self._since(before))

    def finish(self) -> LiveEstimate:
        """Use what is still held back; the last estimate."""
        before = self._n_events
        verdict: SampleOutcome = "waiting"
        for ready in self.buffer.drain():
            verdict = self._process(ready)
            self.counts[verdict] += 1
        return self._estimate(verdict, self._since(before))

    def run(self, samples: Telemetry) -> LiveEstimate:
        """All samples of a recording; the estimate after the last."""
        for sample in self.samples_of(samples):
            for ready in self.buffer.push(sample):
                self.counts[self._process(ready)] += 1
        return self.finish()

    def samples_of(self, recording: Telemetry) -> Iterable[Sample]:
        """A recording's samples, and between them the instants at which thrusters switched."""
        return with_switches(recording, [f"{t.name}.force" for t in self.model.thrusters])

    def save(self, path: str | Path) -> None:
        """Write the whole state; `restore` goes on from it bit for bit."""
        save_state(self, path)

    def restore(self, path: str | Path) -> None:
        """Go on from a saved state of the same problem."""
        restore_state(self, path)

    @property
    def health(self) -> Health:
        """What became of the samples so far, and whether anything is seen."""
        return self.estimate.health

    # -- inside ------------------------------------------------------------------------------------

    def _misfit(self) -> tuple[float, int]:
        """Chi-square of the residuals, and their number."""
        return self.memory.numbers.item(CHI2), self.memory.counts.item(N_ROWS)

    def _concerns(self) -> tuple[str, ...]:
        """What is to be said against the channels themselves."""
        slow = too_slow("samples come", self.memory.numbers.item(STEP))
        return (*slow, *self.channels.concerns, *self.strangers.concerns)

    def _estimate(self, verdict: SampleOutcome, events: tuple[Event, ...]) -> LiveEstimate:
        m = self.memory
        return LiveEstimate.of(
            time=self.time, verdict=verdict, nis=m.numbers.item(NIS),
            dof=int(m.numbers.item(DOF)), events=events, counted=self._counted(),
            parameters=self.parameters, unknowns=self.unknowns, triangle=m.triangle.copy(),
            bias=m.bias.copy(), n_rows=m.counts.item(SINCE_CHANGE) * len(self.problem.rows),
        )  # fmt: skip

    def _process(self, sample: Sample) -> SampleOutcome:
        taken, time, values = self.taken, sample.time, sample.values
        if not self.strangers.familiar.issuperset(values):
            self._greet(values)
        is_whole = taken.read(values)
        if not is_whole or change_events.any_frozen(
            self.silenced, self.memory, self.channels, taken
        ):
            is_in_time = self._tell_inputs(time)
            if taken.is_told(values):
                return "told" if is_in_time else "late"
            self._miss(values)
            return "incomplete"
        judged = self.clock.judge(time)
        if judged == "jumped":
            self._restart(time, "clock jump", "the clock jumped")
        elif judged != "next":
            self._hold_levels()
            return "clock jump" if judged == "suspect" else judged
        if self._is_past(time):
            self._hold_levels()
            return "late"
        return self._take_read(time)

    def _is_past(self, time: float) -> bool:
        """Whether forces are integrated beyond this instant already: they were told ahead of it."""
        return bool(self.memory.counts[HISTORY]) and time < self.memory.numbers[INPUT_TIME]

    def _hold_levels(self) -> None:
        """Thrusters go on as they were: what was just read of them is of another time."""
        if self.memory.counts[HISTORY]:
            self.taken.levels[:] = self.memory.levels

    def _take_read(self, time: float) -> SampleOutcome:
        """What becomes of the sample that was read."""
        code = self._take(time)
        if code == UNUSABLE:
            self._tell_inputs(time)
        elif code <= TAKEN:
            self.time = time
        return OUTCOMES[code]

    def _take(self, time: float) -> int:
        """The sample that was read, through the kernel; the code of what became of it."""
        if self._bound is None:
            self._bind()
        kernels, bound, taken = self._kernels, self._bound, self.taken
        is_settled = self.early.snapshot is None
        watched = ALL if is_settled else GAPS
        code = self._take_sample(time, taken.has_wrench, watched)
        if code == GAP:
            silence = time - self.memory.times[3]
            self._restart(time, "gap", f"no sample for {silence:.3g} s")
            code = self._take_sample(time, taken.has_wrench, watched)
        if is_settled:
            code, odd = code & 7, code >> 3
        else:
            self._settle(time, code)
            odd = kernels.notice_sample(bound, code) if code in (TAKEN, GATED) else 0
        if odd:
            self._heed(time, odd)
        return code

    def _tell_inputs(self, time: float) -> bool:
        """Inputs of a sample that cannot be used as one; False if their time cannot be."""
        m, taken = self.memory, self.taken
        if not taken.has_inputs or not m.counts[HISTORY]:
            return True
        if self._is_past(time) or time - m.times[3] > self.clock.jump:
            self._hold_levels()
            return False
        if self._bound is None:
            self._bind()
        self._kernels.tell_inputs(self._bound, time, taken.has_wrench)
        self.early.note(time, taken, self.problem.sigma, is_sample=False)
        return True

    def _settle(self, time: float, code: int) -> None:
        """Keep the sample; once weights come from an estimate, take the kept ones again."""
        is_sample = code in (BEGUN, TAKEN)
        if is_sample or (self.taken.has_inputs and code != UNUSABLE):  # else told, and noted then
            self.early.note(time, self.taken, self.problem.sigma, is_sample=is_sample)
        if self.early.is_ready(self.memory):
            n_out = self.early.replay(self.problem, self.memory, self.scratch)
            if n_out:
                self.counts["taken"] -= n_out
                self.counts["gated"] += n_out

    def _restart(self, time: float, kind: Any, why: str) -> None:
        """A new segment, and why."""
        self._begin_segment()
        self._note(Event(time, kind, f"{why}: initial momentum found anew"))

    def _begin_segment(self) -> None:
        """Forget positions, impulses and the initial momentum."""
        m = self.memory
        nuisance = range(self.problem.n_nuisance)
        leave_out(m, list(nuisance))
        start(m, self.unknowns, nuisance)
        m.counts[HISTORY] = m.counts[N_WRENCH] = 0
        m.level_moments[:] = m.wrench_moments[:] = m.detour[:] = m.unsure[:] = m.slip[:] = 0.0
        if not m.numbers[SETTLED]:
            self.early.begin(m)  # what was kept belongs to another segment

    def _more_arrays(self) -> dict[str, np.ndarray]:
        return {}  # what else belongs into a state file

    def _restore_more(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what `_more_arrays` gave."""

    def _heed(self, time: float, odd: int) -> None:
        """Act on what the kernel noticed."""
        m = self.memory
        if odd & CHANGED:
            self._change(time)
        elif odd & OUT_OF_STEP:
            self._restart(time, "restart", "the last samples disagree with the one before them")
        if odd & FROZEN:
            for name in change_events.frozen_channels(m, self.channels):
                self.silenced.add(name)
                self._note(change_events.frozen_event(time, name))
        if odd & STUCK:
            for name in change_events.stuck_joints(
                m, self.system.coordinates, sigma=self.problem.sigma
            ):
                k = self.system.coordinates.index(name)
                m.still[k] = 0.0  # told once; to be told again it must move again
                self._note(change_events.stuck_event(time, name))

    def _change(self, time: float) -> None:
        """Something was caught or let go: what belongs to it is unknown again."""
        m = self.memory
        if self.early.snapshot is not None:
            self.early.rewind(m)
            self._note(Event(time, "restart", "the first samples contradict each other"))
            return
        names = self.unknowns.names
        what = ", ".join(dict.fromkeys(names[k].split(".")[0] for k in self._reset))
        self._note(change_events.change_event(time, what or "nothing"))
        change_events.clear(m)
        self._begin_segment()
        if self._reset:
            leave_out(m, self._reset)
            start(m, self.unknowns, self._reset)
            renew_model_weights(self.problem, m)
        self.early.begin(m)


__all__ = ["LiveEstimate", "OnlineEstimator"]
