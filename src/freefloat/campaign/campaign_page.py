"""A campaign as one page of HTML: tables and drawings of its summary, nothing loaded."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from freefloat.arrays import Array
from freefloat.campaign.campaign_summary import (
    CampaignSummary,
    CellSummary,
    ParameterSummary,
    summarise,
)
from freefloat.campaign.normalised_errors import normalised_errors
from freefloat.campaign.run_store import RunStore
from freefloat.digits import printed_unit, with_uncertainty
from freefloat.files import atomic_write
from freefloat.provenance import provenance
from freefloat.report.pages import render, require_html
from freefloat.report.svg import histogram, whisker

LEVEL = 0.95  # format: of the intervals that are judged


def save_campaign_page(store: RunStore, path: str | Path) -> None:
    """Write the summary of a store as one page of HTML."""
    require_html(path)
    atomic_write(path, campaign_page(store, summarise(store)))


def campaign_page(store: RunStore, found: CampaignSummary) -> str:
    """The text of the page."""
    campaign = store.campaign
    varied = [
        {"name": one.name, "kind": one.kind, "what": _variation_words(one)} for one in campaign.vary
    ]
    content = {
        "title": found.name,
        "n_done": found.n_done,
        "n_runs": found.n_runs,
        "is_complete": found.n_done >= found.n_runs,
        "n_bad": sum(n for cell in found.cells for s, n in cell.counts.items() if s != "done"),
        "steps": campaign.steps,
        "free": campaign.free,
        "varied": varied,
        "set": campaign.set,
        "cells": [_cell(cell, found, store) for cell in found.cells],
        "cpu": f"{found.cpu:.3g}",
        "provenance": provenance(digest=campaign.digest, seed=campaign.seed),
    }
    return render("campaign.html.j2", content)


def _variation_words(one: object) -> str:
    fields = {k: v for k, v in vars(one).items() if k not in ("name", "kind", "is_logarithmic")}
    words = [f"{key} {value}" for key, value in fields.items()]
    return ", ".join(words)


def _cell(cell: CellSummary, found: CampaignSummary, store: RunStore) -> dict[str, object]:
    named = ", ".join(f"{name} = {value}" for name, value in cell.inputs.items())
    own = [one for one in found.parameters if one.cell == cell.cell]
    errors = normalised_errors(store, cell=cell.cell)
    return {
        "title": named or "All runs",
        "facts": list(_facts(cell)),
        "rows": [_row(one, errors.get(one.name)) for one in own],
        "grades": [(grade, n, wrong) for grade, (n, wrong) in cell.grades.items()],
    }


def _facts(cell: CellSummary) -> Iterator[tuple[str, str]]:
    yield "runs", ", ".join(f"{n} {status}" for status, n in cell.counts.items())
    for code, n in cell.codes.items():
        yield "without result", f"{n} by {code}"
    if math.isfinite(cell.nees):
        low, high = cell.nees_band
        yield "NEES per parameter", f"{cell.nees:.3f} (95 % band {low:.3f} to {high:.3f})"
    for name, mean in cell.measures.items():
        yield name, f"{mean:.4g} (mean)"
    middle, late, worst = cell.cpu
    if math.isfinite(middle):
        yield "processor time", f"{middle:.3g} s median, {late:.3g} s at 95 %, {worst:.3g} s most"
        yield "memory", f"{cell.memory / 1e6:.0f} MB at most"
    yield "attempts", f"{cell.attempts} for {cell.n_runs} runs"


def _row(one: ParameterSummary, errors: Array | None) -> dict[str, object]:
    has_coverage = math.isfinite(one.coverage)
    low, high = one.coverage_band
    return {
        "name": one.name,
        "unit": printed_unit(one.unit),
        "n": one.n,
        "coverage": _number(one.coverage, 3),
        "band": f"{low:.3f} to {high:.3f}" if has_coverage else "–",
        "is_outside": has_coverage and not low <= LEVEL <= high,
        "drawing": whisker(one.coverage, one.coverage_band, LEVEL) if has_coverage else "",
        "errors": "" if errors is None else histogram(errors),
        "total": _number(one.total_coverage, 3),
        "bias": _bias(one),
        "rms": _number(one.rms, 3),
        "over_bound": _number(one.over_bound, 3),
        "std_over_bound": _number(one.std_over_bound, 3),
    }


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}g}"


def _bias(one: ParameterSummary) -> str:
    if not (math.isfinite(one.bias_std) and one.bias_std > 0.0):
        return "–"
    value, std = with_uncertainty(one.bias, one.bias_std)
    return f"{value} ± {std}"
