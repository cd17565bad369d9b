"""What every live estimator keeps account of: clock, order, counts, events, and odd channels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from freefloat.model.model import Model
from freefloat.online.clock import Clock
from freefloat.online.health import Event, Health
from freefloat.online.reorder import ReorderBuffer
from freefloat.online.unknown_channels import UnknownChannels, require_known
from freefloat.telemetry.telemetry import Telemetry

MOST_EVENTS = 1000


class Intake(ABC):
    """The accounts of an estimator; `channels` and `model` are its own."""

    model: Model
    channels: Any

    def _keep_books(self, reorder: int, like: Telemetry | None, noise: Mapping[str, float]) -> None:
        """Open them: the same for every filter."""
        self.clock, self.buffer = Clock(), ReorderBuffer(reorder)
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.events: list[Event] = []
        self._n_events = 0
        self._kernels: Any = None
        self._bound: Any = None
        self._take_sample: Any = None
        self.time: float | None = None
        self.silenced: set[str] = set()
        self.lacking: dict[str, int] = {}
        self.strangers = UnknownChannels(self.model)
        require_known([*noise], like.names if like is not None else (), self.model)
        if like is not None:
            self.strangers.look(like.names)

    def _greet(self, values: Mapping[str, Any]) -> None:
        """Look whether a sample has channels that nobody knows."""
        if not self.strangers.familiar.issuperset(values):
            self.strangers.look(map(str, values))

    def _miss(self, values: Mapping[str, Any]) -> None:
        """Take note of the channels that a sample lacks."""
        for name in self.channels.names:
            if values.get(name) is None:
                self.lacking[name] = self.lacking.get(name, 0) + 1

    def _most_lacking(self) -> tuple[str, ...]:
        """The channels that samples lack, those that lack most often first."""
        if not self.lacking:
            return ()
        often = 0.5 * max(self.lacking.values())  # a lone empty sample lacks everything
        found = [name for name, n in self.lacking.items() if n > often]
        return tuple(sorted(found, key=lambda name: -self.lacking[name]))

    @abstractmethod
    def _misfit(self) -> tuple[float, int]:
        """Chi-square of the residuals, and their number."""

    @abstractmethod
    def _concerns(self) -> tuple[str, ...]:
        """What is to be said against the channels themselves."""

    def _counted(self) -> Health:
        """What became of the samples so far: made for every sample, so as fast as can be."""
        counts = dict(self.counts)
        if self.buffer.held:
            counts["waiting"] = len(self.buffer.held)
        events, concerns = tuple(self.events), self._concerns()
        return Health(counts, events, *self._misfit(), concerns, self._most_lacking())

    def _note(self, event: Event) -> None:
        self.events.append(event)
        self._n_events += 1
        del self.events[:-MOST_EVENTS]  # a bounded memory of what happened

    def _since(self, n_events: int) -> tuple[Event, ...]:
        """What happened since there were so many events."""
        new = self._n_events - n_events
        return tuple(self.events[-new:]) if new else ()
