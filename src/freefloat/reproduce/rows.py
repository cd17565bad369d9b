"""One line of a rebuilt table: the paper's number, ours, and how the two compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal[
    "reproduced", "reproduced in pattern", "paper wrong", "better", "met", "not published",
    "differs", "missed",
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A quantity of a table: `paper` is the printed number, None where none was printed.

    better: than the printed number; met: an aim of ours that the row names, where none is printed;
    differs: the paper's own method does not give its numbers where it leaves open what it was run
    on; missed: ours fails what it is held to.

    >>> Row("Noise", "m_1", "%", None, 0.02, "better").status  # than what?
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


def printed(
    table: str, quantity: str, unit: str, paper: float, ours: float, *, digits: int, note: str = ""
) -> Row:
    """A row that is reproduced when ours rounds to what the paper printed with `digits` decimals.

    >>> printed("Table 3", "pi1", "kg m^2", 0.0074, 0.007364, digits=4).status
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

    >>> within("Table 2", "max q1", "deg", 37.91, between=(37.85, 37.95)).status
    'not published'
    """
    is_met = between[0] <= ours <= between[1]
    return Row(table, quantity, unit, None, ours, status if is_met else "missed", note)
