"""How a campaign's summary and a single run look on the screen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli import screen
from freefloat.digits import with_uncertainty

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.campaign.campaign_summary import CampaignSummary, CellSummary, ParameterSummary
    from freefloat.campaign.run_row import RunEstimate, RunRow

LEVEL = 0.95  # format: of the intervals that are judged


def summary_view(found: CampaignSummary) -> Iterator[RenderableType]:
    """The whole summary: every cell with how its runs ended, and its parameters."""
    yield Text.assemble((found.name, "bold"), f": {found.n_done} of {found.n_runs} runs")
    for cell in found.cells:
        named = ", ".join(f"{name} = {value}" for name, value in cell.inputs.items())
        yield from screen.section(named or "All runs", screen.facts(cell_facts(cell)))
        own = [one for one in found.parameters if one.cell == cell.cell]
        if own:
            yield parameter_table(own)
        if cell.grades:
            yield grade_table(cell)
    if any(math.isfinite(one.coverage) for one in found.parameters):
        yield ""
        yield screen.indent(Text(
            "covers: share of 95 % intervals that hold the truth, and where that share may be;"
            " total: the same of total deviations. rms/bound: errors over the Cramér-Rao bound;"
            " std/bound: stated deviations over it. Wrong: more than 4 total deviations and"
            " 2 % off.",
            style="dim",
        ))  # fmt: skip


def cell_facts(cell: CellSummary) -> Iterator[tuple[str, str | Text]]:
    """How the runs of a cell ended, NEES, measures and time."""
    ends = ", ".join(f"{n} {status}" for status, n in cell.counts.items())
    yield "runs", f"{cell.n_runs}: {ends}"
    for code, n in cell.codes.items():
        yield "without result", Text(f"{n} by {code}", style="yellow")
    if math.isfinite(cell.nees):
        low, high = cell.nees_band
        style = "" if low <= cell.nees <= high else "yellow"
        words = f"{cell.nees:.3f} (1 if deviations are true; 95 %: {low:.3f} to {high:.3f})"
        yield "NEES per parameter", Text(words, style=style)
    if math.isfinite(cell.total_nees):
        yield (
            "with total deviations",
            f"{cell.total_nees:.3f} (below 1 where doubts did not strike)",
        )
    for name, mean in cell.measures.items():
        yield name, f"{mean:.4g} (mean)"
    middle, late, worst = cell.cpu
    if math.isfinite(middle):
        yield (
            "processor time",
            f"{middle:.3g} s (median), {late:.3g} s (95 %), {worst:.3g} s (most)",
        )
    if cell.attempts > cell.n_runs:
        yield "repeated", f"{cell.attempts - cell.n_runs} times, because a worker died"


def parameter_table(parameters: list[ParameterSummary]) -> RenderableType:
    """One line a parameter."""
    head = ("parameter", "covers", "95 % band", "total", "bias", "rms/bound", "std/bound", "unit")
    rows = [
        (
            p.name,
            Text(_share(p.coverage), style=_style(p)),
            "" if math.isnan(p.coverage) else f"{p.coverage_band[0]:.3f}-{p.coverage_band[1]:.3f}",
            _share(p.total_coverage), _bias(p), _ratio(p.over_bound), _ratio(p.std_over_bound),
            p.unit,
        )
        for p in parameters
    ]  # fmt: skip
    return screen.table(
        head, rows, align="LrrrrrrL", gap=1, optional=("unit", "total", "std/bound")
    )


def grade_table(cell: CellSummary) -> RenderableType:
    """How many runs have each grade, and how many of these are wrong."""
    rows = [(grade, str(n), str(wrong)) for grade, (n, wrong) in cell.grades.items()]
    return screen.table(("grade", "runs", "wrong"), rows, align="Lrr")


def run_view(row: RunRow, is_same: bool | None) -> Iterator[RenderableType]:
    """One run by itself."""
    style = "green" if row.status == "done" else "red"
    yield Text.assemble((f"run {row.run} ", "bold"), (row.status, style))
    facts = [("draw, cell", f"{row.draw}, {row.cell}")]
    facts += [(name, f"{value}") for name, value in row.inputs.items()]
    facts += [(row.code, row.message)] if row.status != "done" else []
    facts += [("method", row.method), ("grade", row.grade)] if row.method else []
    facts += [(name, f"{value:.4g}") for name, value in row.measures.items()]
    if is_same is not None:
        facts += [("beside the store", "the same bytes" if is_same else "ANOTHER ROW than stored")]
    yield screen.facts(facts)
    rows = [
        (
            e.name,
            f"{e.true:.6g}",
            f"{e.value:.6g}",
            f"{e.std:.2g}",
            _ratio(_sigmas(e)),
            e.unit,
        )
        for e in row.estimates
    ]
    if rows:
        head = ("parameter", "true", "found", "std", "off by [std]", "unit")
        yield from screen.section("Estimates", screen.table(head, rows, align="LrrrrL"))


def _sigmas(e: RunEstimate) -> float:
    return (e.value - e.true) / e.std if e.std > 0.0 else math.nan


def _style(p: ParameterSummary) -> str:
    low, high = p.coverage_band
    return "" if math.isnan(p.coverage) or low <= LEVEL <= high else "yellow"


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _ratio(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"


def _bias(p: ParameterSummary) -> str:
    if not (math.isfinite(p.bias) and math.isfinite(p.bias_std) and p.bias_std > 0.0):
        return "-"
    value, std = with_uncertainty(p.bias, p.bias_std)
    return f"{value}±{std}"
