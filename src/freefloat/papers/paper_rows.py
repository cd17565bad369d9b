"""One line of a rebuilt table: the paper's number, ours, and how the two compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal[
    "reproduced", "reproduced in pattern", "paper wrong", "better", "met", "regression",
    "not published", "differs", "out of reach", "missed",
]  # fmt: skip

# What each status means, in the order in which they are explained.
STATUSES: dict[Status, str] = {
    "reproduced": "ours is the printed number",
    "reproduced in pattern": "alike where geometry, motion or noise were not published",
    "paper wrong": "the print contradicts the paper's own data; the note says how",
    "better": "than the printed number",
    "met": "an aim that was set beforehand, where nothing is printed",
    "regression": "no worse than what we measured ourselves before: guarded, but no aim",
    "not published": "a number with nothing to compare it with",
    "differs": "the paper's own method, on what the paper leaves open",
    "out of reach": "an aim withdrawn, because the row computes a bound that forbids it",
    "missed": "ours fails what it is held to",
}


def near_status(ours: float, expected: float, part: float) -> Status:
    """Reproduced where ours is within a part of what is expected, else missed."""
    return "reproduced" if abs(ours / expected - 1.0) < part else "missed"


@dataclass(frozen=True)
class Row:
    """A quantity of a table: `paper` is the printed number, None where none was printed.

    What a status means stands in STATUSES. Nothing can be better than a number nobody printed:

    >>> Row("Noise", "m_1", "%", None, 0.02, "better").status
    'met'
    """

    table: str
    quantity: str
    unit: str
    paper: float | None
    ours: float | None
    status: Status
    note: str = ""

    def __post_init__(self) -> None:
        if self.status == "better" and self.paper is None:
            object.__setattr__(self, "status", "met")


def printed_row(
    table: str, quantity: str, unit: str, paper: float, ours: float, *, digits: int, note: str = ""
) -> Row:
    """A row that is reproduced when ours rounds to what the paper printed.

    Args:
        table: The table it belongs to.
        quantity: What it is.
        unit: Of both numbers; "-" for none.
        paper: The printed number.
        ours: The number we compute.
        digits: Decimals that are printed.
        note: What else there is to say of it.

    >>> printed_row("Table 3", "pi1", "kg m^2", 0.0074, 0.007364, digits=4).status
    'reproduced'
    """
    is_same = round(ours, digits) == round(paper, digits)
    return Row(table, quantity, unit, paper, ours, "reproduced" if is_same else "missed", note)


def within(
    table: str,
    quantity: str,
    unit: str,
    ours: float,
    *,
    between: tuple[float, float],
    status: Status = "not published",
    note: str = "",
) -> Row:
    """A row without a printed number: missed when ours is not between two bounds.

    Args:
        table: The table it belongs to.
        quantity: What it is.
        unit: Of the number; "-" for none.
        ours: The number we compute.
        between: The bounds, themselves allowed.
        status: What it is when it is between them.
        note: What else there is to say of it: where the bounds come from.

    >>> within("Table 2", "max q1", "deg", 37.91, between=(37.85, 37.95)).status
    'not published'
    """
    is_met = between[0] <= ours <= between[1]
    return Row(table, quantity, unit, None, ours, status if is_met else "missed", note)
