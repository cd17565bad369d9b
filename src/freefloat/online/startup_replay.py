"""The first samples, kept until it is known how much noise they make, and then taken again.

The noise of a momentum depends on the very masses and moments that are looked for. So the first
rows are weighed by a model that may be far off. Once the estimate is clear of noise, the filter
goes back to where it began and takes the samples kept so far with the weights it has found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.online.filter_options import StartupOptions
from freefloat.online.kernels.codes import (
    CHI2,
    DOF,
    LEVEL,
    N_ROWS,
    NIS,
    NOTHING,
    SETTLED,
    SHARE,
    TAKEN,
    WRONG,
)
from freefloat.online.kernels.memory import FilterMemory, new_scratch

if TYPE_CHECKING:
    from freefloat.arrays import Array
    from freefloat.online.kernels.memory import FilterProblem, FilterScratch
    from freefloat.online.sample import SampleVector

NEVER = 10**9  # format: samples until new weights; never
KEPT = ("time", "flags", "vector", "levels", "wrench", "sigma")  # of every sample
# What is kept when the samples are taken again: the weights; or all that the samples have said.
WEIGHTS = ("weight_x", "weight_phi", "weight_rotor")
INFORMED = (*WEIGHTS, "information_root", "bias", "x", "worst", "clear_factor")


class StartupReplay:
    """Where the filter began, and what came since; empty once it has settled."""

    def __init__(self, memory: FilterMemory, options: StartupOptions) -> None:
        self.options = options
        self.snapshot: FilterMemory | None = _copy(memory)
        # time, flags, and the arrays of KEPT
        self.entries: list[tuple[Any, ...]] = []
        self.n_samples = 0  # of the entries; the others are inputs told between samples
        self.probation = 0  # samples for which a settled filter may still turn out to be misled

    def begin(self, memory: FilterMemory) -> None:
        """Keep samples again, from here on."""
        self._drop(_copy(memory))

    def note(self, time: float, vector: SampleVector, sigma: Array, *, is_sample: bool) -> None:
        """Keep one: a sample, or inputs alone."""
        if self.snapshot is None:
            return
        if self.probation:
            self.probation -= is_sample
            if not self.probation:
                self.end()
            return
        flags = 2.0 * is_sample + vector.has_wrench
        read = (vector.vector.copy(), sigma.copy())
        if not is_sample and self.entries:  # nobody reads these of inputs alone
            read = (self.entries[-1][2], self.entries[-1][5])
        inputs = (vector.levels.copy(), vector.wrench.copy())
        self.entries.append((time, flags, read[0], *inputs, read[1]))
        self.n_samples += is_sample
        options = self.options
        if self.n_samples > options.most_samples or len(self.entries) > options.most_inputs:
            self.end()

    def end(self) -> None:
        """Keep no more."""
        self._drop(None)

    def _drop(self, snapshot: FilterMemory | None, probation: int = 0) -> None:
        """Forget what was kept; go on from a snapshot."""
        self.snapshot, self.probation = snapshot, probation
        self.entries, self.n_samples = [], 0

    def is_ready(self, memory: FilterMemory) -> bool:
        """Whether the kept samples can be taken again: the estimate is clear of noise."""
        is_collecting = self.snapshot is not None and not self.probation
        return is_collecting and bool(memory.numbers[SETTLED])

    def rewind(self, memory: FilterMemory) -> None:
        """Back to where it began: what came since contradicts itself."""
        assert self.snapshot is not None
        _copy_back(self.snapshot, memory, ())
        self._drop(self.snapshot)

    def replay(
        self, problem: FilterProblem, memory: FilterMemory, scratch: FilterScratch
    ) -> int | None:
        """Take all that was kept again, with weights of the estimate, and outliers left out.

        The gate knows nothing of the first samples, so an outlier among them slips in. With all of
        them together it is seen: the sample that fits worst is left out and all are taken again,
        until the worst passes the gate; first with the model's weights, which no outlier has
        touched. Returned: how many were left out; None if the samples do not agree yet: the model's
        weights go on.
        """
        assert self.snapshot is not None
        options, entries = self.options, list(self.entries)
        ungated = problem._replace(gates=np.zeros(2))
        steady = ungated._replace(every=np.array([problem.every[0], NEVER, problem.every[2]]))
        n_out = 0
        if problem.gates[0] > 0.0:
            n_out = self._leave_out(problem, steady, memory, scratch, kept=())
            self._take_all(ungated, memory, scratch, ())  # for weights that outliers did not touch
        n_out += self._leave_out(problem, ungated, memory, scratch, kept=WEIGHTS)
        # Rows are linearised about the weights' parameters, so exact samples are taken again about
        # better ones. Noisy ones are not: about an estimate that noise led astray they go further.
        for _ in range(options.relinearisations if problem.probing == 0.0 else 0):
            memory.weight_x[:] = memory.x[problem.n_nuisance :]
            self._take_all(ungated, memory, scratch, WEIGHTS)
        rows = memory.counts[N_ROWS] - self.snapshot.counts[N_ROWS]
        chi2 = memory.numbers[CHI2] - self.snapshot.numbers[CHI2]
        most = options.agreeing * max(rows - len(memory.x), 1)
        if self.n_samples < options.patience and chi2 > most:
            self.entries = entries
            self._take_all(steady, memory, scratch, ())
            memory.numbers[SETTLED] = 0.0
            return None
        self._drop(self.snapshot, options.probation)
        return n_out

    def _leave_out(
        self,
        problem: FilterProblem,
        ungated: FilterProblem,
        memory: FilterMemory,
        scratch: FilterScratch,
        *,
        kept: tuple[str, ...],
    ) -> int:
        """Take all again, and again without the worst, until no outlier is left; how many."""
        n_out = 0
        most = self.options.outliers + self.n_samples // self.options.outlier_share
        most = most if problem.gates[0] > 0.0 else 0
        self._take_all(ungated, memory, scratch, kept)
        while n_out < most and (worst := self._worst(problem, ungated, memory)) is not None:
            time, flags, *arrays = self.entries[worst]
            self.entries[worst] = (time, flags - 2.0, *arrays)
            n_out += 1
            self._take_all(ungated, memory, scratch, kept)
        return n_out

    def _worst(
        self, problem: FilterProblem, ungated: FilterProblem, memory: FilterMemory
    ) -> int | None:
        """The sample that fits worst to what all say; None if all pass the gate."""
        again = _copy(memory)
        nis, dof = self._take_all(ungated, again, new_scratch(problem, again), INFORMED)
        seen = np.flatnonzero(dof > 0.0)
        if not seen.size:
            return None
        limits = np.where(dof[seen] == len(problem.rows), problem.gates[0], problem.gates[1])
        # the median: a few outliers do not make the others look good
        excess = nis[seen] / limits / max(1.0, float(np.median(nis[seen] / dof[seen])))
        if not np.max(excess) > 1.0:
            return None
        worst = int(seen[np.argmax(excess)])
        if worst == seen[0]:  # it may be the very first one that is wrong, which has no rows
            return next(k for k, entry in enumerate(self.entries) if entry[1] >= 2.0)
        return worst

    def _take_all(
        self,
        problem: FilterProblem,
        memory: FilterMemory,
        scratch: FilterScratch,
        kept: tuple[str, ...],
    ) -> tuple[Array, Array]:
        """Go back, but for what is `kept`, and take all entries; NIS and rows of each."""
        from freefloat.numba_.bound_arguments import bind
        from freefloat.online.kernels.update import take_inputs, take_sample

        assert self.snapshot is not None
        share, wrong = memory.numbers[SHARE], memory.numbers[WRONG]
        _copy_back(self.snapshot, memory, kept)
        if "x" in kept:
            memory.numbers[SHARE], memory.numbers[WRONG] = share, wrong
        memory.numbers[LEVEL], memory.numbers[SETTLED] = 1.0, 1.0
        found = np.zeros((2, len(self.entries)))
        if not self.entries:
            return found[0], found[1]
        own = tuple(array.copy() for array in self.entries[0][2:5])
        bound, usual = bind(problem, memory, scratch, *own), problem.sigma.copy()
        now = (*own, problem.sigma)  # a frame has its own noise
        for k, (time, flags, *arrays) in enumerate(self.entries):
            for mine, kept_then in zip(now, arrays, strict=True):
                mine[:] = kept_then
            has_wrench = flags % 2.0 == 1.0
            if flags < 2.0:
                take_inputs(bound, time, has_wrench)
                continue
            code = take_sample(bound, time, has_wrench, NOTHING)
            if code == TAKEN:
                found[:, k] = memory.numbers[NIS], memory.numbers[DOF]
        problem.sigma[:] = usual
        return found[0], found[1]

    # -- as arrays, for the state file -------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Everything, by name."""
        if self.snapshot is None:
            return {}
        found = {f"start.{name}": array for name, array in self.snapshot._asdict().items()}
        for k, name in enumerate(KEPT):
            column = [entry[k] for entry in self.entries]
            found[f"kept.{name}"] = np.array(column)
        found["kept.probation"] = np.array(self.probation)
        return found

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`."""
        self.end()
        if "kept.time" not in arrays:
            return
        fields = {name: arrays[f"start.{name}"] for name in FilterMemory._fields}
        self.snapshot = FilterMemory(**fields)
        kept = [arrays[f"kept.{n}"] for n in KEPT]
        self.probation = int(arrays["kept.probation"])
        self.entries = [(float(t), float(f), *rest) for t, f, *rest in zip(*kept, strict=True)]
        self.n_samples = sum(entry[1] >= 2.0 for entry in self.entries)


def _copy(memory: FilterMemory) -> FilterMemory:
    return FilterMemory(*(array.copy() for array in memory))


def _copy_back(snapshot: FilterMemory, memory: FilterMemory, kept: tuple[str, ...]) -> None:
    for name, array in snapshot._asdict().items():
        if name not in kept:
            getattr(memory, name)[...] = array
