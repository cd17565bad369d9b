"""What goes into the Kalman filter and what comes out: samples by sensor, estimates from a root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from freefloat.arrays import Array, frozen
from freefloat.dynamics.tree import System
from freefloat.excitation.commands import WRENCH
from freefloat.identification.physical.consistent_fit import Physical, closest_physical
from freefloat.online.live_estimate import WEAK, LiveEstimate
from freefloat.prediction.measurements import Measurement
from freefloat.telemetry.thrust_levels import open_levels

STILL_PRIOR = 0.95  # of the prior's deviation: above, the data did not say it


class Readout:
    """The last sample by stream, with the thrust and wrench that hold from it."""

    def __init__(self, system: System, streams: Sequence[Measurement], thrust_noise: Array) -> None:
        self.streams, self.thrust_noise = streams, thrust_noise
        self.names = tuple(name for s in streams for name in s.channels)
        pushes = [f"{t.name}.force" for t in system.model.thrusters]
        self.pushes = (*pushes, *(f"base.{name}" for name in WRENCH))
        self.notes: tuple[str, ...] = ()
        self.has_inputs = self.has_channels = False
        # a state file holds these of every estimator; what holds on is in the filter's memory
        self.vector = self.levels = self.wrench = np.zeros(0)
        self.found: dict[int, Array] = {}

    def read(self, values: Mapping[str, Any], push: Array) -> None:
        """Find every stream whose numbers are all there and finite; put pushes into `push`."""
        self.found = {}
        self.has_channels = self.has_inputs = False
        for k, stream in enumerate(self.streams):
            numbers = [values.get(name) for name in stream.channels]
            self.has_channels |= any(number is not None for number in numbers)
            if all(_is_number(number) for number in numbers):
                vector = np.array(numbers, dtype=float)
                # a quaternion far from unit length is no attitude
                if not stream.is_attitude or abs(float(np.linalg.norm(vector)) - 1.0) < 0.1:
                    self.found[k] = vector
        for k, name in enumerate(self.pushes):
            if _is_number(values.get(name)):
                push[k] = values[name]
                self.has_inputs = True
        n = len(self.thrust_noise)
        push[:n] = open_levels(push[:n], self.thrust_noise)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


@dataclass(frozen=True, eq=False)
class FilteredEstimate(LiveEstimate):
    """An Estimate whose `triangle` is a root of the covariance, in sizes, and `bias` the values."""

    @cached_property
    def values(self) -> Array:
        """The estimates, in the parameters' units."""
        return frozen(self.bias)

    @cached_property
    def spread(self) -> Array:
        """Covariance of the estimates, what only the prior says included."""
        S = self.triangle * self.unknowns.sizes[:, None]
        return frozen(S @ S.T)

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the estimates; NaN for what the data do not say."""
        found = self.spread.copy()
        prior = self.unknowns.prior[:, 1] * self.unknowns.sizes
        unsaid = np.sqrt(np.diag(found)) > STILL_PRIOR * prior
        found[unsaid] = found[:, unsaid] = np.nan
        return frozen(found * self.counted.widening)

    @cached_property
    def lost(self) -> Array | None:
        """(parameters, k) unit directions of which the data say no more than the prior."""
        if not self.counted.n_rows:
            return None
        prior = self.unknowns.prior[:, 1] * self.unknowns.sizes
        shares, ways = np.linalg.eigh(self.spread / np.outer(prior, prior))
        both = ways[:, shares > STILL_PRIOR**2] * self.unknowns.prior[:, 1:]
        return np.linalg.qr(both)[0][:, : both.shape[1]]

    @property
    def statuses(self) -> tuple[str, ...]:
        """seen, weak or not seen, for every parameter."""
        relative = self.std / self.unknowns.sizes
        return tuple(
            "not seen" if np.isnan(r) else "weak" if r > WEAK else "seen" for r in relative
        )

    @cached_property
    def physical(self) -> Physical:
        """The closest parameters that bodies can have."""
        L = np.asarray(np.linalg.qr(self.triangle.T, mode="r")).T
        root = np.linalg.inv(L) / self.unknowns.sizes
        return closest_physical(self.parameters, self.names, self.values, root.T @ root)
