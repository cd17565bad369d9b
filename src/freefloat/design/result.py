"""The Design: a plan, what it is worth, and what it leaves of the limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.excitation.limits import Limit
from freefloat.excitation.plan import Plan
from freefloat.observability.visibility import Visibility


@dataclass(frozen=True)
class Usage:
    """How much of a limit is used on the replayed flight: share 1 is all of it."""

    limit: Limit
    share: float


@dataclass(frozen=True)
class Design:
    """A designed motion.

    criterion: what was asked for; measure and value: what the value is, in words, and the value;
    before and after: what the default motion and the designed one tell of the parameters (None
    where the criterion is not about parameters); usage: every limit, most used first, replayed at
    a tenth of the step; history: the values of the five best motions found.
    """

    plan: Plan
    criterion: str
    measure: str
    value: float
    before: Visibility | None
    after: Visibility | None
    usage: tuple[Usage, ...]
    history: tuple[float, ...]
    n_flights: int
    seed: int
    is_interrupted: bool = False
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """What it is worth, and the parameters before and after."""
        lines = [f"{self.plan.name}: {self.plan.duration:g} s, {self.measure} {self.value:.4g}"]
        for name, old, new in self.compared():
            lines.append(f"  {name}: {old:.3g} -> {new:.3g}")
        most = self.usage[0] if self.usage else None
        if most is not None:
            lines.append(f"  most used limit: {most.limit.name}, {100.0 * most.share:.1f} %")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def compared(self) -> list[tuple[str, float, float]]:
        """Name, deviation before and after (natural units; NaN where there is none)."""
        if self.before is None or self.after is None:
            return []
        old = {sight.name: sight.std for sight in self.before.parameters}
        return [(s.name, old.get(s.name, np.nan), s.std) for s in self.after.parameters]
