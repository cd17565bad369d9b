"""Rows of a campaign as four tables, and those in Parquet files of which the bytes are decided.

pyarrow, DuckDB or pandas read a folder of them as it is: `read_parquet("runs/estimates")`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freefloat.campaign.campaign import Campaign
from freefloat.campaign.run_row import RunCost, RunEstimate, RunResult, RunRow
from freefloat.campaign.variations import AnyVariation, ChoiceVariation, GridVariation
from freefloat.errors import CampaignError, Fault
from freefloat.files import atomic_path, settle, together

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("runs", "estimates", "measures", "costs")
OWN = ("run", "draw", "cell", "status", "code", "message", "method", "grade")
NUMBERS = ("run", "draw", "cell", "attempts")
WORDS = ("status", "code", "message", "method", "grade", "name", "unit", "host")


@dataclass(frozen=True)
class RunTables:
    """Some runs: one line a run, one a parameter of a run, one a measure, and what each cost."""

    runs: pa.Table
    estimates: pa.Table
    measures: pa.Table
    costs: pa.Table

    @property
    def n_runs(self) -> int:
        """How many runs there are."""
        return self.runs.num_rows

    def run_numbers(self) -> list[int]:
        """The numbers of the runs."""
        return self.runs.column("run").to_pylist() if self.n_runs else []

    def results(self) -> dict[int, RunResult]:
        """The runs as they were, by number."""
        if not self.n_runs:
            return {}
        estimates, measures = _by_run(self.estimates), _by_run(self.measures)
        costs = {line.pop("run"): line for line in self.costs.to_pylist()}
        found = {}
        for line in self.runs.to_pylist():
            run = line["run"]
            own = {name: line.pop(name) for name in OWN}
            row = RunRow(
                **own, inputs=line,
                estimates=tuple(RunEstimate(**one) for one in estimates[run]),
                measures={one["name"]: one["value"] for one in measures[run]},
            )  # fmt: skip
            found[run] = RunResult(row, RunCost(**costs[run]))
        return found


def _by_run(table: pa.Table) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for line in table.to_pylist():
        found[line.pop("run")].append(line)
    return found


def tables_of(results: Sequence[RunResult], campaign: Campaign) -> RunTables:
    """The tables of some runs, in the order in which they are given."""
    schemas = _schemas(campaign.vary)
    rows = [one.row for one in results]
    lines: dict[str, Iterable[dict[str, Any]]] = {
        "runs": ({**{n: getattr(r, n) for n in OWN}, **r.inputs} for r in rows),
        "estimates": ({"run": r.run, **vars(e)} for r in rows for e in r.estimates),
        "measures": (
            {"run": r.run, "name": name, "value": value}
            for r in rows
            for name, value in r.measures.items()
        ),
        "costs": ({"run": one.row.run, **vars(one.cost)} for one in results),
    }
    return RunTables(**{name: _table(lines[name], schemas[name]) for name in TABLES})


def _table(lines: Iterable[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(list(lines), schema=schema)


def _schemas(vary: Sequence[AnyVariation]) -> dict[str, pa.Schema]:
    import pyarrow as pa

    def column(name: str) -> pa.Field:
        kind = pa.int64() if name in NUMBERS else pa.string() if name in WORDS else pa.float64()
        return pa.field(name, kind)

    estimate = [one.name for one in fields(RunEstimate)]
    return {
        "runs": pa.schema([*map(column, OWN), *(_input_column(one) for one in vary)]),
        "estimates": pa.schema(
            [column("run"), *(pa.field("status", pa.string()) if n == "status" else column(n)
                              for n in estimate)]
        ),
        "measures": pa.schema([column("run"), column("name"), column("value")]),
        "costs": pa.schema([column("run"), *(column(one.name) for one in fields(RunCost))]),
    }  # fmt: skip


def _input_column(one: AnyVariation) -> pa.Field:
    """The column of what is varied: whole numbers stay whole, words stay words."""
    import pyarrow as pa

    kinds: dict[type, Callable[[], Any]] = {str: pa.string, bool: pa.bool_, int: pa.int64}
    if isinstance(one, ChoiceVariation | GridVariation):
        sorts = {type(value) for value in one.values}
        if len(sorts) == 1 and (kind := kinds.get(sorts.pop())):
            return pa.field(one.name, kind())
    return pa.field(one.name, pa.float64())


# -- on the disk -----------------------------------------------------------------------------------


@together()
def write_tables(folder: Path, chunk: int, tables: RunTables) -> None:
    """Write the four tables of a chunk, all of them or none."""
    import pyarrow.parquet as pq

    for name in TABLES:
        place = _place(folder, name, chunk)
        place.parent.mkdir(exist_ok=True)
        with atomic_path(place) as path:
            pq.write_table(getattr(tables, name), path)


def read_tables(folder: Path, chunk: int, *, only: Sequence[str] = TABLES) -> RunTables:
    """The tables of a chunk; empty ones where it has not been compacted.

    Raises CampaignError for a file that is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {}
    for name in TABLES:
        place = _place(folder, name, chunk)
        settle(place)
        found[name] = pa.table({})
        if name not in only or not place.exists():
            continue
        try:
            found[name] = pq.read_table(place)
        except (pa.ArrowException, OSError) as error:
            remedy = "delete the four files of this number; their runs are carried out again"
            expected = "a table as it was written"
            fault = Fault(str(place), str(error)[:200], expected, remedy, "file.unreadable")
            raise CampaignError(f"{folder}: damaged", [fault]) from error
    return RunTables(**found)


def _place(folder: Path, name: str, chunk: int) -> Path:
    return folder / name / f"{chunk:05d}.parquet"
