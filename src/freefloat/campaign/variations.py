"""What differs from run to run: a name, and the values it takes by chance or by turns.

A variation draws from a random stream of its own (seed of the campaign, number of the draw, its
name), so that adding one never changes what another draws, and every cell of a grid gets the same
draws: methods are compared on the same flights.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from freefloat.errors import CampaignError, Fault
from freefloat.records import values
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import NotNegative, refusal

InputValue = float | int | str | bool
By = Literal["value", "factor", "offset"]


@dataclass(frozen=True)
class NormalVariation(CheckedOptions, error=CampaignError):
    """A normal distribution; `by` says whether the draw replaces, multiplies or is added to."""

    name: str
    mean: float
    std: NotNegative
    by: By = "value"
    kind: Literal["normal"] = "normal"

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        return float(self.mean + self.std * rng.standard_normal())


@dataclass(frozen=True)
class UniformVariation(CheckedOptions, error=CampaignError):
    """Every value from `low` to `high` alike; with is_logarithmic every order of magnitude."""

    name: str
    low: float
    high: float
    by: By = "value"
    is_logarithmic: bool = False
    kind: Literal["uniform"] = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        least, expected = self.low, "low <= high"
        if self.low > self.high:
            self._refuse("high", f"{self.high:g}", expected, "swap them", "value.order")
        if self.is_logarithmic and least <= 0.0:
            remedy = "give a positive one, or leave is_logarithmic out"
            self._refuse("low", f"{least:g}", "> 0", remedy, "value.range")

    def _refuse(self, field: str, value: str, expected: str, remedy: str, code: str) -> None:
        fault = Fault(f"vary.{field}", value, expected, remedy, code)
        raise CampaignError("this variation cannot be drawn", [fault])

    def draw(self, rng: np.random.Generator) -> float:
        """One value."""
        if self.is_logarithmic:
            return float(np.exp(rng.uniform(np.log(self.low), np.log(self.high))))
        return float(rng.uniform(self.low, self.high))


@dataclass(frozen=True)
class ChoiceVariation(CheckedOptions, error=CampaignError):
    """One of some values, by chance."""

    name: str
    values: tuple[Any, ...]
    by: By = "value"
    kind: Literal["choice"] = "choice"

    def __post_init__(self) -> None:
        """Values were checked when they were read; numbers and words may stand side by side."""

    def draw(self, rng: np.random.Generator) -> InputValue:
        """One value."""
        return self.values[int(rng.integers(len(self.values)))]


@dataclass(frozen=True)
class GridVariation(CheckedOptions, error=CampaignError):
    """Every one of some values, with all those of other grids."""

    name: str
    values: tuple[Any, ...]
    by: By = "value"
    kind: Literal["grid"] = "grid"

    def __post_init__(self) -> None:
        """Values were checked when they were read; numbers and words may stand side by side."""


AnyVariation = NormalVariation | UniformVariation | ChoiceVariation | GridVariation
VARIATIONS: dict[str, type] = {
    "normal": NormalVariation,
    "uniform": UniformVariation,
    "choice": ChoiceVariation,
    "grid": GridVariation,
}


def input_value(value: Any) -> InputValue:
    """The check of what may be varied: a number, a word, true or false."""
    if isinstance(value, str):
        return values.text(value)
    if isinstance(value, bool | int):
        return value
    return values.number(value)


def input_values(value: Any) -> tuple[InputValue, ...]:
    """The check of a list of these, all of one sort."""
    taken = values.list_of(input_value)(value)
    if not taken:
        raise refusal(value, "at least one value", "name the values", "value.count")
    sorts = {"word" if isinstance(one, str) else str(isinstance(one, bool)) for one in taken}
    if len(sorts) > 1:
        remedy = "write numbers, or words in quotes, or true and false"
        raise refusal(value, "values of one sort", remedy, "value.type")
    if len(set(taken)) < len(taken):
        raise refusal(value, "every value once", "delete the others", "name.duplicate")
    return taken


def random_stream_of(seed: int, draw: int, name: str) -> np.random.Generator:
    """The random stream of one name in one draw of a campaign."""
    return np.random.default_rng([seed, draw, zlib.crc32(name.encode())])


def grid_of(variations: Sequence[AnyVariation]) -> list[GridVariation]:
    """The variations that go through all their values."""
    return [one for one in variations if isinstance(one, GridVariation)]


def count_cells(variations: Sequence[AnyVariation]) -> int:
    """How many combinations the grids have."""
    return int(np.prod([len(one.values) for one in grid_of(variations)], dtype=int))


def cell_values(variations: Sequence[AnyVariation], cell: int) -> dict[str, InputValue]:
    """What the grids are set to in a cell; the last grid changes fastest."""
    found: dict[str, InputValue] = {}
    for one in reversed(grid_of(variations)):
        cell, place = divmod(cell, len(one.values))
        found[one.name] = one.values[place]
    return dict(reversed(found.items()))


def draw_values(
    variations: Sequence[AnyVariation], *, seed: int, draw: int, cell: int
) -> dict[str, InputValue]:
    """What every variation is set to in one run, in their order.

    >>> masses = NormalVariation("truth.target.mass", mean=1.0, std=0.1, by="factor")
    >>> methods = GridVariation("identify.method", values=("auto", "weak"))
    >>> one, two = (draw_values([masses, methods], seed=0, draw=0, cell=k) for k in (0, 1))
    >>> one["truth.target.mass"] == two["truth.target.mass"], two["identify.method"]
    (True, 'weak')
    """
    fixed = cell_values(variations, cell)
    return {
        one.name: fixed[one.name]
        if isinstance(one, GridVariation)
        else one.draw(random_stream_of(seed, draw, one.name))
        for one in variations
    }
