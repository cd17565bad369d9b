"""What a campaign says for a promise: a verdict by the limits of the promise, and its figures.

docs/promises.toml names the campaigns of a promise, each with its limits: quantities of the summary
and the range that every parameter, or every cell, has to be in. A campaign that ran in part, or for
which no limit is set, has figures and no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from results_campaigns import is_partial
from results_store import Result

NOT_JUDGED = "not judged"
WORDS = {"over_bound": "rms over bound", "nees": "NEES"}
LEVEL = 0.95  # of the intervals whose coverage is shown

Limits = Mapping[str, list[float]]


def campaign_entries(
    promise: Mapping[str, Any], results: Mapping[str, Result], states: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Every campaign of a promise that has a result, as credibility enters a test."""
    asked: Mapping[str, Limits] = promise.get("campaigns", {})
    found = {name: results.get(f"campaigns/{name}") for name in asked}
    entries = {}
    for name, result in found.items():
        if result is None:
            continue
        content = result.content
        is_whole = not (result.is_quick or is_partial(content))
        missed = list(find_missed(content, asked[name])) if is_whole else []
        outcome = "missed" if missed else "passed"
        runs = f"{content['done']} of {content['runs']} runs"
        is_older = states.get(f"campaigns/{name}") == "older than the code"
        entries[f"campaign {name}"] = {
            "outcome": outcome if is_whole and asked[name] else NOT_JUDGED, "figures": [],
            "runs": runs if is_whole else f"{runs}, short version", "missed": missed,
            "cells": list(_cell_lines(content)), "made": result.made, "is_older": is_older,
        }  # fmt: skip
    is_kept = len(entries) == len(asked) and all(e["outcome"] == "passed" for e in entries.values())
    return {name: {**entry, "is_full": is_kept} for name, entry in entries.items()}


def missing_campaigns(promise: Mapping[str, Any], entries: Mapping[str, Any]) -> list[str]:
    """The campaigns of a promise that have no result yet."""
    return [name for name in promise.get("campaigns", {}) if f"campaign {name}" not in entries]


def find_missed(content: Mapping[str, Any], limits: Limits) -> Iterator[str]:
    """Every figure that is outside of its range, in words; one that is not there is outside.

    >>> cells = [{"cell": 0, "measures": {"is_right": 0.97}}]
    >>> told = {"cells": cells, "parameters": [{"cell": 0, "name": "m", "over_bound": 1.3}]}
    >>> list(find_missed(told, {"over_bound": [0.0, 1.1], "is_right": [0.96, 1.0]}))
    ['rms over bound of m 1.3 (0 to 1.1)']
    """
    for quantity, (low, high) in limits.items():
        found = list(_values(content, quantity))
        if not found:
            yield f"no {WORDS.get(quantity, quantity)} in any run"
        for where, value in found:
            if value is None or not low <= value <= high:
                told = "none" if value is None else f"{value:.3g}"
                words = WORDS.get(quantity, quantity)
                yield f"{words} of {where} {told} ({low:.3g} to {high:.3g})"


def campaign_lines(entries: Mapping[str, Mapping[str, Any]], missing: list[str]) -> Iterator[str]:
    """The campaigns of a promise as a list, each with a line for every cell of its grids."""
    for name, entry in entries.items():
        if "cells" not in entry:
            continue
        word = name.replace("campaign ", "campaign `") + "`"
        yield f"- {word}: {entry['outcome']}, {entry['runs']}"
        yield from (f"  - outside of its limit: {line}" for line in entry["missed"])
        yield from (f"  - {line}" for line in entry["cells"])
    yield from (f"- campaign `{name}`: no result yet" for name in missing)


def _values(content: Mapping[str, Any], quantity: str) -> Iterator[tuple[str, float | None]]:
    for one in content["parameters"]:
        if quantity in one:
            yield one["name"], one[quantity]
    for cell in content["cells"]:
        told = {**cell.get("measures", {}), "nees": cell.get("nees")}
        if quantity in told:
            yield _cell_name(cell), told[quantity]


def _cell_lines(content: Mapping[str, Any]) -> Iterator[str]:
    for cell in content["cells"]:
        own = [one for one in content["parameters"] if one["cell"] == cell["cell"]]
        parts = [f"{n} {status}" for status, n in sorted(cell["counts"].items())]
        parts += [*_coverage(own), *_largest(own)]
        if cell["nees"] is not None:
            parts.append(f"NEES {cell['nees']:.3g} (band {_range(cell['nees_band'])})")
        grades = cell["grades"].items()
        parts += [f"{grade} {n}, of these wrong {wrong}" for grade, (n, wrong) in grades]
        parts += [f"{k} {v:.3g}" for k, v in cell["measures"].items() if v is not None]
        yield f"{_cell_name(cell)}: {'; '.join(parts)}"


def _coverage(parameters: list[dict[str, Any]]) -> Iterator[str]:
    """The lowest and the highest, and the band of the one that is farthest off."""
    found = [one for one in parameters if one["coverage"] is not None]
    if found:
        every = [one["coverage"] for one in found]
        worst = max(found, key=lambda one: abs(one["coverage"] - LEVEL))
        band = f"{worst['name']} {worst['coverage']:.3g}, band {_range(worst['coverage_band'])}"
        yield f"coverage {_range([min(every), max(every)])} (farthest off: {band})"


def _largest(parameters: list[dict[str, Any]]) -> Iterator[str]:
    found = [one for one in parameters if one["over_bound"] is not None]
    if found:
        worst = max(found, key=lambda one: one["over_bound"])
        yield f"rms over bound at most {worst['over_bound']:.3g} ({worst['name']})"


def _range(ends: list[float]) -> str:
    return f"{ends[0]:.3g} to {ends[1]:.3g}"


def _cell_name(cell: Mapping[str, Any]) -> str:
    inputs = cell.get("inputs", {}).items()
    return ", ".join(f"{name} = {value}" for name, value in inputs) or "all runs"
