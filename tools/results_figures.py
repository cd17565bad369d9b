"""The figures that documents quote: each has a name, the rows it is taken from, and its digits.

docs/figures.toml has a table for every source, with `from`, its piece of the store, and a line for
every figure: `table` and `quantity` (globs) choose rows, `take` says what to make of several,
`digits` or `places` how to print it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median

from results_store import Result, Row, rows_of

TAKES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "min": min,
    "median": median,
    "largest": lambda values: max(map(abs, values)),
    "sum": sum,
}
SMALL = Decimal("1e-4")  # below, powers of ten are easier to read


class NoFigure(ValueError):  # noqa: N818 - it is an answer, not an error of the program
    """The store has no such figure, and why."""


@dataclass(frozen=True)
class Figure:
    """How a figure is taken from the store.

    of: which number of a row, ours, paper or times_ours; find: a pattern whose group is the number
    in what a row says in words; times: a factor for another unit; sign: with + where it is not
    negative; up: rounded away from zero, as a bound must be.
    """

    name: str
    piece: str
    table: str = "*"
    quantity: str = "*"
    status: str = "*"
    of: str = "ours"
    find: str = ""
    take: str = "only"
    times: float = 1.0
    digits: int = 0
    places: int | None = None
    sign: bool = False
    up: bool = False


def load_figures(path: Path) -> dict[str, Figure]:
    """Every figure by its full name, such as 001.settled."""
    figures = {}
    for source, lines in tomllib.loads(path.read_text(encoding="utf-8")).items():
        piece = lines.pop("from")
        for short, said in lines.items():
            name = f"{source}.{short}"
            figures[name] = Figure(name, piece, **said)
    return figures


def text_of(figure: Figure, results: Mapping[str, Result]) -> str:
    """The figure as it stands in a document; NoFigure where the store cannot tell it."""
    result = results.get(figure.piece)
    if result is None:
        raise NoFigure(f"{figure.name}: {figure.piece} was never made; make results makes it")
    if result.is_quick:
        raise NoFigure(f"{figure.name}: {figure.piece} has a short version only; run it in full")
    rows = [row for row in rows_of(result) if _is_meant(row, figure)]
    if figure.take == "count":
        return str(len(rows))
    if not rows:
        raise NoFigure(f"{figure.name}: no row of {figure.piece} is meant")
    values = [_value(row, figure) for row in rows]
    if figure.take == "only" and len(values) > 1:
        raise NoFigure(f"{figure.name}: {len(values)} rows of {figure.piece} are meant")
    value = values[0] if figure.take == "only" else TAKES[figure.take](values)
    return in_print(value * figure.times, figure)


def in_print(value: float, figure: Figure) -> str:
    """A number with the digits of its figure, zeros at the end included.

    >>> in_print(0.1987, Figure("a", "b", digits=2)), in_print(1307.4, Figure("a", "b", places=0))
    ('0.20', '1307')
    >>> in_print(2.37e-13, Figure("a", "b", digits=2)), in_print(764.2, Figure("a", "b", digits=2))
    ('2.4e-13', '760')
    """
    exact, rounding = Decimal(repr(value)), ROUND_UP if figure.up else ROUND_HALF_EVEN
    sign = "+" if figure.sign and value >= 0.0 else ""
    if figure.places is not None:
        last = Decimal(1).scaleb(-figure.places)
        return sign + f"{exact.quantize(last, rounding=rounding):f}"
    if not exact or abs(exact) < SMALL:
        return sign + f"{value:.{figure.digits}g}"
    # Twice, since 9.96 with two digits is 10 and not 10.0.
    for _ in range(2):
        last = Decimal(1).scaleb(exact.adjusted() - figure.digits + 1)
        exact = exact.quantize(last, rounding=rounding)
    return sign + f"{exact:f}"


def _is_meant(row: Row, figure: Figure) -> bool:
    return (
        _matches(row.table, figure.table)
        and _matches(row.quantity, figure.quantity)
        and _matches(row.status, figure.status)
        and (not figure.find or re.search(figure.find, row.said) is not None)
    )


def _matches(text: str, glob: str) -> bool:
    return fnmatchcase(text, glob.replace("[", "[[]"))  # brackets are brackets


def _value(row: Row, figure: Figure) -> float:
    if figure.find:
        found = re.search(figure.find, row.said)
        assert found is not None
        return float(found[1])
    value = row.values.get(figure.of)
    if value is None:
        raise NoFigure(f"{figure.name}: {row.table}, {row.quantity} has no number")
    return value
