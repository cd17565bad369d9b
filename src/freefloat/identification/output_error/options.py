"""How output error looks for its minimum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SearchOptions:
    """How the search goes; nothing needs to be given.

    step [s]: of the integration, at most. horizons [s]: growing stretches of the recordings that
    are fitted one after another before the whole (None: 4, 8, 16 s where springs or pendulums are
    free; () for none). starts: how many starts are tried, the model's own and random ones around
    it, by `spread` of natural sizes. profile: parameters (globs) whose intervals are found by
    profile likelihood.
    """

    step: float = 1e-2
    horizons: Sequence[float] | None = None
    starts: int = 1
    spread: float = 0.3
    profile: Sequence[str] = ()


USUAL = SearchOptions()
