"""Kinds of wrong: a table of name, cause, sizes, and what each does to a world.

A kind is one entry. `change(world, size, rng)` changes what flies, what sensors read or what is
written down; the model that identify gets stays as the engineer has it. Sizes go from barely
visible to gross. `causes` are globs of the names an assessment may give the true cause; none where
no catalogue can have it (then nothing may be named as what heals the fit).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from worlds.robots import ROBOTS
from worlds.world import World, right_world, vouch_for

from freefloat.identification.trust.assumption_columns import carries_scale

Change = Callable[[World, float, np.random.Generator], None]


@dataclass(frozen=True)
class Kind:
    """One way to be wrong.

    causes: a star before the first dot stands for the part that is wrong, where it is one.
    unit: of the sizes. sensor: a kind of sensor it needs; part: what the robot must have ("joints",
    "thrusters", "wheels", "targets"); root: "floating" or "planar" where it needs that.
    """

    name: str
    causes: tuple[str, ...]
    sizes: tuple[float, ...]
    unit: str
    change: Change
    sensor: str = ""
    part: str = ""
    root: str = ""

    def suites(self, robot: str) -> tuple[str, ...]:
        """The sensor sets of a robot with which this can be tried; none where it cannot."""
        made = ROBOTS[robot]()
        if self.part and not getattr(made.model, self.part):
            return ()
        if self.root and made.model.root.type != self.root:
            return ()
        return tuple(
            name
            for name, suite in made.suites.items()
            if not self.sensor or any(fnmatchcase(s.kind, self.sensor) for s in suite)
        )

    def causes_in(self, world: World) -> tuple[str, ...]:
        """Globs of the true cause's names in a world, for the part that is wrong there."""
        if not world.part:
            return self.causes
        each = [cause.partition(".") for cause in self.causes]
        return tuple(
            f"{world.part}.{field}" if dot and owner.endswith("*") else f"{owner}{dot}{field}"
            for owner, dot, field in each
        )

    @property
    def is_of_scale(self) -> bool:
        """Whether newtons or kilograms are wrong: then nobody vouches for them."""
        return any(carries_scale(cause.replace("*", "x")) for cause in self.causes)

    def world(self, robot: str, seed: int, size: float, *, suite: str = "") -> tuple[World, str]:
        """The world with this wrong, and its sensor set: another with every seed unless named."""
        suites = self.suites(robot)
        suite = suite or suites[(seed + zlib.crc32(self.name.encode())) % len(suites)]
        world = right_world(robot, seed, suite)
        if self.is_of_scale:
            world.believed = vouch_for(world.believed, {})
        self.change(world, size, world.stream(self.name))
        return world, suite


def all_kinds() -> tuple[Kind, ...]:
    """Every kind, in the order of the tables."""
    from worlds import (
        actuator_kinds,
        data_kinds,
        field_kinds,
        many_kinds,
        model_kinds,
        odd_kinds,
        sensor_kinds,
        stated_kinds,
    )  # fmt: skip

    tables = (
        sensor_kinds, actuator_kinds, model_kinds, data_kinds, many_kinds, odd_kinds,
        field_kinds, stated_kinds,
    )  # fmt: skip
    return tuple(kind for table in tables for kind in table.KINDS)


def unit_vector(rng: np.random.Generator, is_planar: bool = False) -> np.ndarray:
    """A random direction, in the plane for a planar robot."""
    v = rng.normal(size=3) * (1.0, 1.0, 0.0 if is_planar else 1.0)
    return v / np.linalg.norm(v)
