"""One run: what is asked for, and what came of it, both as plain data.

A row holds nothing that depends on the machine: the same request gives the same bytes wherever it
is carried out. What a run cost (time, memory, where) travels beside it, as a RunCost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from freefloat.campaign.variations import InputValue

RunStatus = Literal["done", "failed", "stopped", "crashed"]


@dataclass(frozen=True)
class RunRequest:
    """One run of a campaign: its number, draw and cell, and what every variation is set to."""

    run: int
    draw: int
    cell: int
    inputs: Mapping[str, InputValue]


@dataclass(frozen=True)
class RunEstimate:
    """One parameter of one run: the truth, what was believed before, and what was found.

    NaN where there is none; bound: the Cramér-Rao bound on the standard deviation.
    """

    name: str
    unit: str
    true: float
    prior: float
    value: float
    std: float
    total_std: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    status: str = ""
    bound: float = math.nan


@dataclass(frozen=True)
class RunRow:
    """What came of a run.

    status: "done"; "failed" with an error; "stopped" at a limit of time or memory; "crashed" where
    its process died of itself. code and message say why. measures: numbers by name, such as "nees".
    """

    run: int
    draw: int
    cell: int
    inputs: Mapping[str, InputValue]
    status: RunStatus = "done"
    code: str = ""
    message: str = ""
    method: str = ""
    grade: str = ""
    estimates: tuple[RunEstimate, ...] = ()
    measures: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of_error(cls, request: RunRequest, status: RunStatus, code: str, message: str) -> RunRow:
        """The row of a run that gave no result."""
        return cls(**vars(request), status=status, code=code, message=message)


@dataclass(frozen=True)
class RunCost:
    """What a run took: seconds by the clock and of the processor, memory [B], and attempts."""

    wall: float = math.nan
    cpu: float = math.nan
    memory: float = math.nan
    attempts: int = 1
    host: str = ""


@dataclass(frozen=True)
class RunResult:
    """A row, its cost, and files (name and text) that are kept beside it."""

    row: RunRow
    cost: RunCost
    files: Mapping[str, str] = field(default_factory=dict)


# -- as text ---------------------------------------------------------------------------------------


def write_result(result: RunResult) -> str:
    """A result as JSON on one line."""
    whole = {"row": asdict(result.row), "cost": asdict(result.cost), "files": dict(result.files)}
    return json.dumps(_plain(whole), allow_nan=False, separators=(",", ":"))


def write_row(row: RunRow) -> str:
    """A row as JSON on one line: the bytes that are the same wherever it was made."""
    return json.dumps(_plain(asdict(row)), allow_nan=False, separators=(",", ":"))


def read_result(text: str) -> RunResult:
    """The result in a text that `write_result` made; ValueError for any other."""
    try:
        raw = json.loads(text)
        return RunResult(_row_of(raw["row"]), _cost_of(raw["cost"]), dict(raw.get("files", {})))
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no result of a run ({error})") from error


def _row_of(raw: Mapping[str, Any]) -> RunRow:
    estimates = tuple(_estimate_of(one) for one in raw["estimates"])
    measures = {name: _number(value) for name, value in raw["measures"].items()}
    return RunRow(**{**raw, "estimates": estimates, "measures": measures})


def _estimate_of(raw: Mapping[str, Any]) -> RunEstimate:
    words = ("name", "unit", "status")
    given: dict[str, Any] = {k: v if k in words else _number(v) for k, v in raw.items()}
    return RunEstimate(**given)


def _cost_of(raw: Mapping[str, Any]) -> RunCost:
    given: dict[str, Any] = {k: _number(v) if v is None else v for k, v in raw.items()}
    return RunCost(**given)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _plain(value: Any) -> Any:
    """Numbers that JSON knows: NaN is null, and infinity, which no result of ours is, too."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    item = getattr(value, "item", None)  # a scalar of NumPy
    return _plain(item()) if item is not None else value
