"""Limits that are linear in the unknowns: position, velocity, acceleration and jerk of what moves.

Everything is said in shares of the limit: 1 is at it, above is beyond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.design.variables import Mover, Variables
from freefloat.excitation.limits import Limit
from freefloat.model.model import Model
from freefloat.prediction.limit_monitors import NOTHING

ORDERS = {"velocity": 1, "acceleration": 2, "jerk": 3}


@dataclass(frozen=True)
class LinearLimit:
    """One limit over time: share = sign (offset + columns @ x[own]) / room, or its size."""

    limit: Limit
    own: slice
    columns: Array  # (times, unknowns of the part)
    offset: float
    room: float
    sign: float  # 1 or -1: one side; 0: both

    def shares(self, x: Array) -> Array:
        """Share of the limit at every time."""
        value = (self.offset + self.columns @ x[self.own]) / self.room
        return np.abs(value) if self.sign == 0.0 else self.sign * value


@dataclass(frozen=True)
class LinearLimits:
    """All linear limits on one grid of times [s]."""

    times: Array
    limits: tuple[LinearLimit, ...]
    n_unknowns: int

    def shares(self, x: Array) -> Array:
        """Largest share of every limit (limits,)."""
        return np.array([one.shares(x).max() for one in self.limits])

    def near(self, x: Array, reach: float, *, every: int) -> tuple[Array, Array]:
        """Shares (rows,) and their derivatives by x (rows, n) that could get to 1 close to x.

        Checked are peaks and every so many times; reach: how far each unknown may move.
        """
        often = np.arange(len(self.times)) % every == 0
        shares, slopes = [np.zeros(0)], [np.zeros((0, self.n_unknowns))]
        for one in self.limits:
            columns = one.columns / one.room
            value = one.offset / one.room + columns @ x[one.own]
            growth = reach * np.sum(np.abs(columns), axis=1)
            for sign in (1.0, -1.0) if one.sign == 0.0 else (one.sign,):
                could = (often | _is_peak(sign * value)) & (sign * value + growth > 1.0)
                rows = np.zeros((int(could.sum()), self.n_unknowns))
                rows[:, one.own] = sign * columns[could]
                shares.append(sign * value[could])
                slopes.append(rows)
        return np.concatenate(shares), np.vstack(slopes)


def _is_peak(values: Array) -> NDArray[np.bool_]:
    """Whether a value is no smaller than those beside it."""
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    return (values >= padded[:-2]) & (values >= padded[2:])


def linear_limits_of(
    model: Model, variables: Variables, limits: dict[str, Limit], *, n_times: int
) -> LinearLimits:
    """Every linear limit of the movers and pulsers, at so many times and where jerk jumps."""
    jolts = [basis.jolts for basis in {mover.basis for mover in variables.movers}]
    times = np.unique(np.concatenate([np.linspace(0.0, variables.duration, n_times), *jolts]))
    wheels = {wheel.name: wheel.inertia for wheel in model.wheels}
    found: list[LinearLimit] = []
    first = 0
    for mover, columns in zip(variables.movers, variables.curves(times), strict=True):
        own = slice(first, first + mover.n)
        first += mover.n
        if mover.name in wheels:
            found += _wheel(mover, wheels[mover.name], own, columns, limits)
        else:
            found += _joint(mover, own, columns, limits)
    impulse = limits.get("thrusters.impulse")
    if variables.pulsers and impulse is not None and np.isfinite(impulse.value):
        spent = [p.level * p.length for p in variables.pulsers for _ in range(p.n)]
        columns = np.tile(spent, (len(times), 1))
        own = slice(first, first + len(spent))
        found.append(LinearLimit(impulse, own, columns, 0.0, max(impulse.value, NOTHING), 1.0))
    return LinearLimits(times, tuple(found), variables.n)


def _joint(mover: Mover, own: slice, columns: Array, limits: dict[str, Limit]) -> list[LinearLimit]:
    joint = mover.name.removesuffix(".motor")
    found = []
    for quantity, sign in (("lower", -1.0), ("upper", 1.0)):
        limit = limits[f"{joint}.{quantity}"]
        room = sign * (limit.value - mover.home)
        if np.isfinite(room) and room > 0.0:
            found.append(LinearLimit(limit, own, columns[0], 0.0, room, sign))
    for quantity, order in ORDERS.items():
        limit = limits[f"{joint}.{quantity}"]
        if np.isfinite(limit.value):
            found.append(
                LinearLimit(limit, own, columns[order], 0.0, max(limit.value, NOTHING), 0.0)
            )
    return found


def _wheel(
    mover: Mover, inertia: float, own: slice, columns: Array, limits: dict[str, Limit]
) -> list[LinearLimit]:
    found = []
    for quantity, factor in (("speed", 1.0), ("momentum", inertia)):
        limit = limits[f"{mover.name}.{quantity}"]
        if np.isfinite(limit.value):
            room = max(limit.value, NOTHING)
            found.append(
                LinearLimit(limit, own, factor * columns[1], factor * mover.speed, room, 0.0)
            )
    return found
