"""A recording as arrays: everything at the same instants, with the errors of every number.

The linear families take it from here. What is neither measured nor derivable stays None, and the
family that needs it says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.frames import rotations
from freefloat.errors import IdentificationError
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product

CHANNELS = {
    "attitude": "base.attitude.* (planar: base.angle)",
    "torque": "<joint>.torque or <joint>.motor_torque",
    "acceleration": "base.acceleration.* or base.velocity.*",
    "alpha": "base.rate.*",
}


@dataclass(frozen=True)
class NoiseSource:
    """One independent error: how far it moves which numbers, as (field, column, size) triples.

    An attitude has three columns: the small rotation about each root axis.
    """

    parts: tuple[tuple[str, int, float], ...]


@dataclass(frozen=True)
class Samples:
    """A recording at N common instants.

    time (N,) [s]; attitude (N, 4) root to world; rate (N, 3), alpha (N, 3) and the acceleration
    (N, 3) felt at the root's origin (minus gravity), in root axes; velocity (N, 3) in world axes;
    q, dq, ddq (N, c); torque (N, 2 c): behind the gears, then of the motors, NaN where one is not
    measured;
    wrench (N, 6): known torque and force on the root's origin, world axes; thrust (N, thrusters)
    [N], each level counting until the next instant. sources: the errors of an instant's numbers,
    independent of each other and of other instants; is_noise_known: given rather than estimated;
    derived: coordinates whose rate is not measured; slopes: of what a late
    clock moves (delay_columns); switching: how uncertain [N s] the impulse of thrust is because
    valves may switch between their own recorded instants.
    """

    time: Array
    attitude: Array | None
    rate: Array | None
    velocity: Array | None
    q: Array
    dq: Array
    torque: Array | None
    wrench: Array
    thrust: Array
    sources: tuple[NoiseSource, ...] = ()
    is_noise_known: bool = True
    notes: tuple[str, ...] = ()
    derived: tuple[int, ...] = ()
    alpha: Array | None = None
    acceleration: Array | None = None
    ddq: Array | None = None
    is_windowed: bool = False
    slopes: Array | None = None
    switching: float = 0.0

    @cached_property
    def rotation(self) -> Array:
        """Root to world (N, 3, 3)."""
        assert self.attitude is not None
        return rotations(np.hstack([np.zeros((len(self.time), 3)), self.attitude]))

    @property
    def states(self) -> Array:
        """State vectors with the root's origin at zero; what is not measured is zero, too."""
        n = len(self.time)
        attitude = self.attitude if self.attitude is not None else _still(n)
        zero = np.zeros((n, 3))
        velocity, rate = (zero if v is None else v for v in (self.velocity, self.rate))
        return np.hstack([zero, attitude, velocity, rate, self.q, self.dq])

    @property
    def coordinates(self) -> Array:
        """(N, c, 3) q, dq and ddq (zero when unknown)."""
        ddq = np.zeros_like(self.q) if self.ddq is None else self.ddq
        return np.ascontiguousarray(np.stack([self.q, self.dq, ddq], axis=-1))

    def need(self, family: str, *fields: str) -> None:
        """Raise IdentificationError naming every measurement `family` lacks."""
        missing = [field for field in fields if getattr(self, field) is None]
        if missing:
            wanted = ", ".join(CHANNELS.get(field, f"base.{field}.*") for field in missing)
            raise IdentificationError(
                f"the {family} method needs channels that the recording does not have: {wanted};"
                " record them, or choose a method that needs less (method='auto' does)",
                code="channel.missing",
            )

    def select(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Samples:
        """The chosen instants only."""
        fields: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            if isinstance(value := getattr(self, name), np.ndarray):
                fields[name] = value[which]
        return replace(self, **fields)

    def disturb(self, *fields: str) -> Iterator[tuple[Samples, Samples]]:
        """The samples with one error up and down by a standard deviation, for every source.

        Only sources that move one of `fields` (all when none are given).
        """
        for source in self.sources:
            if not fields or any(part[0] in fields for part in source.parts):
                yield self._add_errors([source], 1.0), self._add_errors([source], -1.0)

    def jitter(self, rng: np.random.Generator) -> tuple[Samples, Samples]:
        """The samples with fresh errors of their own size added, and with the opposite ones."""
        errors = rng.normal(size=(len(self.sources), len(self.time)))
        return self._add_errors(self.sources, errors), self._add_errors(self.sources, -errors)

    def _add_errors(self, sources: Sequence[NoiseSource], errors: Array | float) -> Samples:
        """With every source's error added, in standard deviations: one number or (sources, N)."""
        each = np.broadcast_to(errors, (len(sources), len(self.time)))
        turn = np.zeros((len(self.time), 3))
        changed: dict[str, Any] = {}
        for source, error in zip(sources, each, strict=True):
            for field, column, size in source.parts:
                if field == "attitude":
                    turn[:, column] += size * error
                    continue
                if field not in changed:
                    changed[field] = getattr(self, field).copy()
                changed[field][:, column] += size * error
        if turn.any() and self.attitude is not None:
            turned = quaternion_product(self.attitude, quaternion_from_rotation_vector(turn))
            changed["attitude"] = turned
        return replace(self, **changed)


def _still(n: int) -> Array:
    return np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
