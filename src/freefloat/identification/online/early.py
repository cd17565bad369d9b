"""The first samples, kept until it is known how much noise they make, and then taken again.

The noise of a momentum depends on the very masses and moments that are looked for. So the first
rows are weighed by a model that may be far off. Once the estimate is clear of noise, the filter
goes back to where it began and takes the samples kept so far with the weights it has found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.identification.online.kernels.memory import LEVEL, SETTLED, Memory

if TYPE_CHECKING:
    from freefloat.arrays import Array
    from freefloat.identification.online.kernels.memory import Problem, Scratch
    from freefloat.identification.online.sample import Taken

MOST = 600  # samples that are kept; after so many without a clear estimate, none
WEIGHTS = ("wx", "phi", "rotor")


class Early:
    """Where the filter began, and what came since; empty once it has settled."""

    def __init__(self, memory: Memory) -> None:
        self.snapshot: Memory | None = _copied(memory)
        self.entries: list[tuple[float, float, Array, Array, Array]] = []

    def begin(self, memory: Memory) -> None:
        """Keep samples again, from here on."""
        self.snapshot, self.entries = _copied(memory), []

    def note(self, time: float, taken: Taken, *, is_sample: bool) -> None:
        """Keep one: a sample, or inputs alone."""
        if self.snapshot is None:
            return
        flags = 2.0 * is_sample + taken.has_wrench
        self.entries.append(
            (time, flags, taken.vector.copy(), taken.levels.copy(), taken.wrench.copy())
        )
        if len(self.entries) > MOST:
            self.end()

    def end(self) -> None:
        """Keep no more."""
        self.snapshot, self.entries = None, []

    def replay(self, problem: Problem, memory: Memory, scratch: Scratch) -> None:
        """Take all that was kept again, with the weights that memory has now."""
        from freefloat.identification.online.kernels.update import take_sample, tell_inputs

        assert self.snapshot is not None
        for name, array in self.snapshot._asdict().items():
            if name not in WEIGHTS:
                getattr(memory, name)[...] = array
        memory.numbers[LEVEL], memory.numbers[SETTLED] = 1.0, 1.0
        for time, flags, vector, levels, wrench in self.entries:
            has_wrench = flags % 2.0 == 1.0
            if flags >= 2.0:
                take_sample(problem, memory, scratch, time, vector, levels, wrench, has_wrench)
            else:
                tell_inputs(problem, memory, time, levels, wrench, has_wrench)
        self.end()

    # -- as arrays, for the state file -------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Everything, by name."""
        if self.snapshot is None:
            return {}
        found = {f"early.{name}": array for name, array in self.snapshot._asdict().items()}
        for k, name in enumerate(("time", "flags", "vector", "levels", "wrench")):
            column = [entry[k] for entry in self.entries]
            found[f"kept.{name}"] = np.array(column)
        return found

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from `arrays`."""
        self.end()
        if "kept.time" not in arrays:
            return
        fields = {name: arrays[f"early.{name}"] for name in Memory._fields}
        self.snapshot = Memory(**fields)
        kept = [arrays[f"kept.{n}"] for n in ("time", "flags", "vector", "levels", "wrench")]
        self.entries = [
            (float(t), float(f), v, lv, w) for t, f, v, lv, w in zip(*kept, strict=True)
        ]


def _copied(memory: Memory) -> Memory:
    return Memory(*(array.copy() for array in memory))
