"""What the tests of rebuilt papers share."""

from __future__ import annotations

from collections.abc import Iterable

from freefloat.reproduce import Row


def missed(rows: Iterable[Row]) -> list[str]:
    """The rows that fell short, in words."""
    return [f"{row.quantity}: {row.ours}" for row in rows if row.status == "missed"]
