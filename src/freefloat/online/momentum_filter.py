"""The filter of record: a square-root information filter on the momentum of the whole system.

The equations are paper 001's, jointly linear in base and target, in the frame of the first
velocity, about the sensor point, with the initial momentum unknown. Rows are whitened by the
propagated noise of every sensor; what noise in the columns adds to the information is measured on
a probe that runs along, and taken off, as in batch identification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.model.parameter_name import owner_of
from freefloat.online.filter_problem import (
    gates_of,
    leave_out,
    problem_of,
    renew_model_weights,
    reset_places,
    start,
    unknowns_of,
    with_fixed_values,
)
from freefloat.online.health import OUTCOMES, Event, EventKind, SampleOutcome
from freefloat.online.innovations import InnovationSums, forget_innovations, row_names
from freefloat.online.intake import Intake
from freefloat.online.judgement import Judgement
from freefloat.online.kept_flight import KeptFlight
from freefloat.online.kernels.codes import (
    ALL,
    BEGUN,
    CHANGED,
    CHI2,
    DOF,
    EXCESS,
    FROZEN,
    GAP,
    GAPS,
    GATED,
    GATES,
    HISTORY,
    INPUT_TIME,
    KERNEL_BITS,
    KERNEL_MASK,
    N_INNOVATIONS,
    N_ROWS,
    NIS,
    OUT_OF_STEP,
    SETTLED,
    SINCE_CHANGE,
    SPIKE,
    STEP,
    STUCK,
    TAKEN,
    UNUSABLE,
    KernelOutcome,
)
from freefloat.online.kernels.memory import new_memory, new_scratch
from freefloat.online.live_channels import Channels, known_channels, slow_rate_notes
from freefloat.online.live_estimate import InformationEstimate, SampleReport
from freefloat.online.live_filter import FilterRequest, LiveFilter, restore_in_place
from freefloat.online.sample import SampleVector
from freefloat.online.startup_replay import StartupReplay
from freefloat.online.trials import begin_segment, colours_of
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import with_switches

if TYPE_CHECKING:
    from freefloat.online.live_assessment import LiveTrust
    from freefloat.online.live_estimate import LiveEstimate

OUTCOME_WORDS: dict[int, SampleOutcome] = {
    int(code): cast(SampleOutcome, code.name.lower())
    for code in KernelOutcome
    if code.name.lower() in OUTCOMES
}


class MomentumFilter(LiveFilter):
    """Finds parameters that momentum is linear in, from samples that have all channels."""

    method = "square-root"

    def __init__(self, request: FilterRequest) -> None:
        self.request, self.options = request, request.options
        model, parameters = request.model, request.parameters
        self.system = flatten(with_fixed_values(model, parameters))
        self.unknowns = unknowns_of(self.system, parameters)
        names, sizes = known_channels(model, request.like, request.noise)
        self.layout = Channels.of(self.system, names, sizes)
        self.channels = self.layout.names
        self.problem = problem_of(
            self.system, request, self.unknowns, self.layout, gates_of(request.gate, self.layout)
        )
        self.memory = new_memory(self.problem)
        self.scratch = new_scratch(self.problem, self.memory)
        start(self.memory, self.unknowns)
        self.replay = StartupReplay(self.memory, self.options.startup)
        self.reset = reset_places(model, self.unknowns, request.reset)
        self.vector = SampleVector(self.layout)
        self.kept = KeptFlight(self.vector, self.problem.sigma)
        self._trust: tuple[int, LiveTrust | None] | None = None  # and of how many samples
        self._row_names = row_names(self.problem.rows)
        self._is_coloured = any(colours_of(self))
        self.silenced: set[str] = set()  # channels that repeat themselves
        self._kernels: Any = None
        self._bound: Any = None
        self._take_sample: Any = None

    @property
    def values(self) -> Array:
        """The filter's own quick estimate, without judging what of it is noise."""
        n = self.problem.n_nuisance
        begun = np.array([p.value for p in self.unknowns.free])
        return begun + self.unknowns.sizes[n:] * self.memory.x[n:]

    def estimate(self, report: SampleReport) -> InformationEstimate:
        """The estimate after a sample."""
        m = self.memory
        return InformationEstimate.of(
            report=report, nis=m.numbers.item(NIS), dof=int(m.numbers.item(DOF)),
            parameters=self.request.parameters, unknowns=self.unknowns,
            information_root=m.information_root.copy(), bias=m.bias.copy(),
            n_rows=m.counts.item(SINCE_CHANGE) * len(self.problem.rows),
        )  # fmt: skip

    def warm_up(self) -> None:
        """Load or compile the kernels, so that the first sample takes no longer than others."""
        from freefloat.numba_.bound_arguments import bind
        from freefloat.online.kernels import update

        other, vector = new_memory(self.problem), self.vector
        scratch = new_scratch(self.problem, other)
        nothing = np.full_like(vector.vector, np.nan)
        bound = bind(self.problem, other, scratch, nothing, vector.levels.copy(), vector.wrench)
        update.take_sample(bound, 0.0, False, ALL)
        update.find_odd(bound, TAKEN)
        update.take_inputs(bound, 0.0, False)
        self._bind()

    def _bind(self) -> None:
        """Give the kernels their arrays, once."""
        from freefloat.numba_.bound_arguments import bind, compile_call
        from freefloat.online.kernels import update

        own = (self.vector.vector, self.vector.levels, self.vector.wrench)
        self._kernels = update
        self._bound = bind(self.problem, self.memory, self.scratch, *own)
        self._take_sample = compile_call(update.take_sample, self._bound, 0.0, False, ALL)

    def misfit(self) -> tuple[float, int]:
        """Chi-square of the residuals, and their number."""
        return self.memory.numbers.item(CHI2), self.memory.counts.item(N_ROWS)

    def innovations(self) -> InnovationSums | None:
        """The sums of the innovations; None where noise is coloured (trials judge it) or none."""
        if self._is_coloured or self.layout.notes:
            return None
        m = self.memory
        counts = np.full(len(m.octave_power[0]), m.counts[N_INNOVATIONS])
        return InnovationSums(
            counts, m.octave_power.copy(), m.window_worst.copy(),
            self._row_names, m.numbers.item(STEP),
        )  # fmt: skip

    def judge(self, estimate: LiveEstimate) -> Judgement | None:
        """By trials of the flight kept, made anew when it has grown to twice as long."""
        from freefloat.online.live_assessment import GROWTH, judge_estimate, judge_flight

        n = self.kept.n_samples * self.kept.stride
        if self._trust is None or not self._trust[0] <= n < GROWTH * self._trust[0]:
            self._trust = n, judge_flight(self, estimate.std, self.options.trust)
        trust = self._trust[1]
        return None if trust is None else judge_estimate(trust, estimate, self.options.trust)

    def renew_trust(self) -> None:
        """The next judgement is one of all samples kept."""
        self._trust = None

    def notes(self) -> tuple[str, ...]:
        """What was assumed of the channels."""
        return self.layout.notes

    def concerns(self) -> tuple[str, ...]:
        """Samples that come too slowly."""
        step = self.memory.numbers.item(STEP)
        return slow_rate_notes("samples come", step, self.options.slowest_rate)

    def samples_of(self, recording: Telemetry) -> Iterable[Sample]:
        """A recording's samples, and between them the instants at which thrusters switched."""
        thrusters = self.request.model.thrusters
        return with_switches(recording, [f"{t.name}.force" for t in thrusters])

    # -- one sample --------------------------------------------------------------------------------

    def read(self, sample: Sample, intake: Intake) -> SampleOutcome | None:
        """Take a sample's numbers over; an outcome if channels are missing or frozen."""
        vector, values = self.vector, sample.values
        if vector.read(values) and not (self.silenced and self._is_any_frozen()):
            return None
        is_in_time = self._take_inputs(sample.time)
        if vector.is_input_only(values):
            return "told" if is_in_time else "late"
        intake.note_missing(self.channels, values)
        return "incomplete"

    def skip(self) -> None:
        """Thrusters go on as they were: what was just read of them is of another time."""
        if self.memory.counts[HISTORY]:
            self.vector.levels[:] = self.memory.levels

    def take(self, sample: Sample, intake: Intake) -> SampleOutcome:
        """Use the sample that was read."""
        if self._is_past(sample.time):
            self.skip()
            return "late"
        return self.take_vector(sample.time, intake)

    def take_vector(self, time: float, intake: Intake) -> SampleOutcome:
        """Use the vector as it stands; its outcome."""
        code = self._take(time, intake)
        if code == UNUSABLE:
            self._take_inputs(time)
        elif code <= TAKEN:
            intake.time = time
        return OUTCOME_WORDS[code]

    def take_inputs(self, sample: Sample) -> None:
        """Use the thrust and wrench of a sample, and nothing else of it."""
        self.vector.read(sample.values)
        self._take_inputs(sample.time)

    def _is_past(self, time: float) -> bool:
        """Whether forces are integrated beyond this time already: they were told ahead of it."""
        return bool(self.memory.counts[HISTORY]) and time < self.memory.numbers[INPUT_TIME]

    def _take(self, time: float, intake: Intake) -> int:
        """The vector through the kernel; the code of what became of it."""
        if self._bound is None:
            self._bind()
        vector = self.vector
        is_settled = self.replay.snapshot is None
        watched = ALL if is_settled else GAPS
        code = self._take_sample(time, vector.has_wrench, watched)
        if code == GAP:
            gap = time - self.memory.times[3]
            self.restart(time, "gap", f"no sample for {gap:.3g} s", intake)
            code = self._take_sample(time, vector.has_wrench, watched)
        if is_settled:
            code, odd = code & KERNEL_MASK, code >> KERNEL_BITS
        else:
            self._settle(time, code, intake)
            odd = self._kernels.find_odd(self._bound, code) if code in (TAKEN, GATED) else 0
        if code in (BEGUN, TAKEN) or (vector.has_inputs and code in (GATED, SPIKE)):
            self.kept.note(time, vector, self.problem.sigma, is_sample=code in (BEGUN, TAKEN))
        if odd:
            self._react(time, odd, intake)
        return code

    def _take_inputs(self, time: float) -> bool:
        """Inputs of a sample that cannot be used as one; False if their time cannot be."""
        m, vector = self.memory, self.vector
        if not vector.has_inputs or not m.counts[HISTORY]:
            return True
        if self._is_past(time) or time - m.times[3] > self.options.clock_jump:
            self.skip()
            return False
        if self._bound is None:
            self._bind()
        self._kernels.take_inputs(self._bound, time, vector.has_wrench)
        self.replay.note(time, vector, self.problem.sigma, is_sample=False)
        self.kept.note(time, vector, self.problem.sigma, is_sample=False)
        return True

    def _settle(self, time: float, code: int, intake: Intake) -> None:
        """Keep the sample; once weights come from an estimate, take the kept ones again."""
        is_sample = code in (BEGUN, TAKEN)
        if is_sample or (self.vector.has_inputs and code != UNUSABLE):  # else noted with its inputs
            self.replay.note(time, self.vector, self.problem.sigma, is_sample=is_sample)
        if self.replay.is_ready(self.memory):
            n_out = self.replay.replay(self.problem, self.memory, self.scratch)
            if n_out:
                intake.recount("taken", "gated", n_out)

    # -- segments and changes ----------------------------------------------------------------------

    def restart(self, time: float, kind: EventKind, why: str, intake: Intake) -> None:
        """A new segment, and why."""
        self._begin_segment()
        intake.report(Event(time, kind, f"{why}: initial momentum estimated anew"))

    def _begin_segment(self) -> None:
        """Forget positions, impulses and the initial momentum."""
        m = self.memory
        begin_segment(m, self)
        self.kept.restart()
        if not m.numbers[SETTLED]:
            self.replay.begin(m)  # what was kept belongs to another segment

    def _react(self, time: float, odd: int, intake: Intake) -> None:
        """Act on what the kernel found."""
        m = self.memory
        if odd & CHANGED:
            self._change(time, intake)
        elif odd & OUT_OF_STEP:
            why = "the last samples disagree with the one before them"
            self.restart(time, "restart", why, intake)
        if odd & FROZEN:
            for name in self._frozen_channels():
                self.silenced.add(name)
                text = f"{name} repeats the same value: its samples are not used"
                intake.report(Event(time, "frozen", text, (name,)))
        if odd & STUCK:
            for k in self._stuck_joints():
                m.rest[k] = 0.0  # reported once; to be reported again it must move again
                name = self.system.coordinates[k]
                text = f"{name} rests while other joints move: stuck?"
                intake.report(Event(time, "stuck", text, (name,)))

    def _change(self, time: float, intake: Intake) -> None:
        """Something was captured or released: what belongs to it is unknown again."""
        m = self.memory
        if self.replay.snapshot is not None:
            self.replay.rewind(m)
            self.kept.clear()
            intake.report(Event(time, "restart", "the first samples contradict each other"))
            return
        names = self.unknowns.names
        owners = dict.fromkeys(owner_of(names[k]) for k in self.reset)
        what = ", ".join(owners) or "nothing"
        text = f"the momentum no longer fits: estimating {what} anew"
        intake.report(Event(time, "change", text, tuple(owners)))
        m.counts[GATES] = m.counts[SINCE_CHANGE] = 0
        m.numbers[EXCESS] = 0.0
        self._begin_segment()
        if self.reset:
            leave_out(m, self.reset)
            start(m, self.unknowns, self.reset)
            renew_model_weights(self.problem, m)
        forget_innovations(m)  # they are those of another robot
        self.kept.clear()
        self.replay.begin(m)

    def _frozen_channels(self) -> list[str]:
        """Channels whose noise has stopped: the same bits in sample after sample."""
        frozen = np.flatnonzero(self.memory.repeats == int(self.options.limits.frozen_after))
        places = [source if source < 3 else source + 1 for source in frozen]
        return [n for n, p in zip(self.channels, self.layout.places, strict=True) if p in places]

    def _is_any_frozen(self) -> bool:
        """Whether a silenced channel still repeats itself; one that does not counts again."""
        m = self.memory
        for name in list(self.silenced):
            place = int(self.layout.places[self.channels.index(name)])
            if self.vector.vector[place] != m.last[place]:
                self.silenced.discard(name)
                m.repeats[place if place < 3 else place - 1] = 0
        return bool(self.silenced)

    def _stuck_joints(self) -> list[int]:
        """Joints that moved before and rest now."""
        limits, sigma = self.options.limits, self.problem.sigma
        rest, fastest = self.memory.rest[:, 0], self.memory.rest[:, 1]
        has_moved = fastest > limits.moved * np.maximum(sigma[9 + len(rest) :], 1e-12)
        return np.flatnonzero((rest > limits.stuck_after) & has_moved).tolist()

    # -- for the state file ------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """What a saved state must have been made with."""
        p = self.problem
        return {
            "noise": p.sigma.tolist(), "random_walk": p.walk.tolist(),
            "forgetting": p.forgetting, "correct": bool(p.probing), "gate": p.gates.tolist(),
        }  # fmt: skip

    def arrays(self) -> dict[str, Any]:
        """Everything, by name."""
        found = {f"memory.{name}": array for name, array in self.memory._asdict().items()}
        found |= self.kept.arrays()
        found |= {f"vector.{name}": array for name, array in self.vector.arrays().items()}
        found["silenced"] = np.array([name in self.silenced for name in self.channels])
        return found | self.replay.arrays()

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`."""
        restore_in_place(arrays, "memory", self.memory._asdict())
        restore_in_place(arrays, "vector", self.vector.arrays())
        silenced = zip(self.channels, arrays["silenced"], strict=True)
        self.silenced = {name for name, is_silenced in silenced if is_silenced}
        self.replay.restore(arrays)
        self.kept.restore(arrays)
        self._trust = None
