"""What a parameter of inputs, geometry or surroundings changes, as the tangent takes it.

Everything is per unit of the parameter, at the values a flight is simulated with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.kernels.setup_forces import InputChanges, SetupDirections
from freefloat.dynamics.kernels.tangent import Directions


class Move(NamedTuple):
    """A part that is turned and shifted (6,), in the axes and about the origin of its carrier.

    link: is moved on its parent or, where is_beyond, beyond its joint, which stays. body: frames on
    it are moved only, the link itself stays.
    """

    link: int
    is_beyond: bool
    change: Array
    body: str = ""


@dataclass(frozen=True)
class SetupChange:
    """What one parameter changes.

    moves: parts that sit elsewhere. phi: by link, its ten parameters. thrusters: by thruster,
    torque and force (6,) of 1 N in its link. axes: by rotor, its axis (3,) in its link. surround:
    gravity (3) in world axes, linear and angular drag. given (rows, 3, 3), effort and push
    (rows, 3): columns of the inputs by their place, at the steps and at the records.
    """

    moves: tuple[Move, ...] = ()
    phi: Mapping[int, Array] = field(default_factory=dict)
    thrusters: Mapping[int, Array] = field(default_factory=dict)
    axes: Mapping[int, Array] = field(default_factory=dict)
    surround: Array | None = None
    given: Mapping[int, tuple[Array, Array]] = field(default_factory=dict)
    effort: Mapping[int, tuple[Array, Array]] = field(default_factory=dict)
    push: Mapping[int, tuple[Array, Array]] = field(default_factory=dict)


@dataclass(frozen=True)
class SetupChanges:
    """What parameters of a setup change, by name, and the inputs at the records (see `fly`)."""

    by_name: Mapping[str, SetupChange]
    records: Inputs

    def directions(self, names: Sequence[str]) -> SetupDirections:
        """The kernels' entries of the names that are here."""
        moves = self._entries(names, lambda c: [(m.link, m.is_beyond, m.change) for m in c.moves
                                                if not m.body])  # fmt: skip
        thrusts = self._entries(names, lambda c: c.thrusters.items())
        axes = self._entries(names, lambda c: c.axes.items())
        fields = self._entries(names, lambda c: [] if c.surround is None else [(c.surround,)])
        places = (
            _integers([entry[:2] for entry in self._entries(names, inputs)], 2)
            for inputs in (_motion_columns, _effort_columns, _push_columns)
        )
        return SetupDirections(
            _integers([entry[:3] for entry in moves], 3), _floats([e[3] for e in moves], 6),
            _integers([entry[:2] for entry in thrusts], 2), _floats([e[2] for e in thrusts], 6),
            _integers([entry[:2] for entry in axes], 2), _floats([e[2] for e in axes], 3),
            _integers([entry[:1] for entry in fields], 1)[:, 0], _floats([e[1] for e in fields], 5),
            *places,
        )  # fmt: skip

    def tables(self, names: Sequence[str], n_rows: int, *, is_record: bool) -> InputChanges:
        """How the inputs change, entry by entry of `directions`."""
        which = 1 if is_record else 0
        given, effort, push = (
            [entry[2][which] for entry in self._entries(names, inputs)]
            for inputs in (_motion_columns, _effort_columns, _push_columns)
        )
        return InputChanges(
            _stack(given, (n_rows, 3, 3)), _stack(effort, (n_rows, 3)), _stack(push, (n_rows, 3))
        )

    def with_masses(self, directions: Directions, names: Sequence[str]) -> Directions:
        """The entries of bodies with those that a changed geometry adds, in the order of links."""
        found = self._entries(names, lambda c: c.phi.items())
        if not found:
            return directions
        body = np.vstack([directions.body, _integers([entry[:2] for entry in found], 2)])
        change = np.vstack([directions.body_change, _floats([e[2] for e in found], 10)])
        order = np.argsort(body[:, 1], kind="stable")
        return directions._replace(body=body[order], body_change=change[order])

    def moves_of(self, names: Sequence[str]) -> list[tuple[int, Move]]:
        """Place among the names, and what is moved."""
        return [(entry[0], entry[1]) for entry in
                self._entries(names, lambda c: [(move,) for move in c.moves])]  # fmt: skip

    def motion_changes(self, names: Sequence[str], n_rows: int) -> dict[int, Array]:
        """By place among the prescribed coordinates q, dq, ddq per parameter (N, 3, names)."""
        found: dict[int, Array] = {}
        for p, m, (_, table) in self._entries(names, _motion_columns):
            found.setdefault(m, np.zeros((n_rows, 3, len(names))))[:, :, p] = table[:, 0]
        return found

    def push_changes(self, names: Sequence[str], n_rows: int) -> dict[int, Array]:
        """By column of the table of forces its change per parameter (N, names)."""
        found: dict[int, Array] = {}
        for p, k, (_, table) in self._entries(names, _push_columns):
            found.setdefault(k, np.zeros((n_rows, len(names))))[:, p] = table[:, 0]
        return found

    def gravity(self, names: Sequence[str]) -> Array:
        """Change of uniform gravity per parameter (3, names), in world axes."""
        found = np.zeros((3, len(names)))
        for p, name in enumerate(names):
            change = self.by_name[name].surround if name in self.by_name else None
            if change is not None:
                found[:, p] = change[:3]
        return found

    def _entries(self, names: Sequence[str], of: Callable[[SetupChange], Any]) -> list[tuple]:
        """(place of the name, *entry) of every entry that `of` finds in a change."""
        return [
            (p, *entry)
            for p, name in enumerate(names)
            if name in self.by_name
            for entry in of(self.by_name[name])
        ]


def no_directions() -> tuple[SetupDirections, InputChanges]:
    """Entries of a tangent without parameters of a setup, and what changes with them."""
    none = SetupChanges({}, Inputs(*(np.zeros(0) for _ in range(4))))
    return none.directions(()), none.tables((), 0, is_record=False)


def _motion_columns(change: SetupChange) -> Any:
    return change.given.items()


def _effort_columns(change: SetupChange) -> Any:
    return change.effort.items()


def _push_columns(change: SetupChange) -> Any:
    return change.push.items()


def _integers(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int64]:
    return np.reshape(np.array(rows, dtype=np.int64), (-1, width))


def _floats(rows: Sequence[Array], width: int) -> Array:
    return np.reshape(np.array(rows, dtype=float), (-1, width))


def _stack(tables: Sequence[Array], shape: tuple[int, ...]) -> Array:
    """Tables of one shape side by side, the entry as third axis."""
    out = np.zeros((*shape[:2], len(tables), *shape[2:]))
    for e, table in enumerate(tables):
        out[:, :, e] = table
    return out
