"""CREDIBILITY.md: every promise with the tests behind it, the figures they measured, its status.

It is written from docs/promises.toml and from what results/ has of promises, benchmarks and
campaigns; of each figure it says when it was made, and whether the code has changed since. Nothing
is claimed that these do not show: a promise without any of them says so, and a benchmark or a
campaign that misses its figure says that.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from credibility_campaigns import (
    NOT_JUDGED,
    campaign_entries,
    campaign_lines,
    missing_campaigns,
)
from results_store import Result

PASSED = ("passed", "xpassed")
MOST_FIGURES = 8  # of one promise; the store has them all
OLDER = ", older than the code"  # said when the file is written; no reason to write it again

Report = dict[str, dict[str, dict[str, Any]]]  # promise, test, what became of it

HEAD = """\
# Credibility

Generated from `results/` (`make credibility`), do not edit. {n_tests} tests, benchmarks and
campaigns back promises; the figures are those they measured when they ran last (`make results` and
`make campaigns` run them again). A promise without any is no more than an intention, and is listed
as such.

| status | means |
|---|---|
| kept | every test behind it passed |
| kept, short version | the same on shorter runs or fewer cases; `make results` runs the rest |
| **broken** | a test behind it failed |
| **missed** | the benchmark or the campaign behind it does not reach its figure |
| not run | its tests were skipped |
| not judged | its campaign ran in part, or has no limit set: figures without a verdict |
| no result yet | no stored result backs it: do not rely on it |
"""


def write(root: Path, results: Mapping[str, Result], states: Mapping[str, str]) -> None:
    """Write CREDIBILITY.md; states say of each result whether it is older than the code."""
    from freefloat.files import atomic_write

    atomic_write(root / "CREDIBILITY.md", text(load_promises(root), results, states))


def differences(root: Path, results: Mapping[str, Result]) -> Iterator[str]:
    """Whether the file says what the store does; that code has changed since is no difference."""
    path = root / "CREDIBILITY.md"
    told = path.read_text(encoding="utf-8") if path.exists() else ""
    promises = load_promises(root)
    if told.replace(OLDER, "") != text(promises, results, {}):
        yield "CREDIBILITY.md differs from the store; tools/results.py render writes it"
    known = {promise["id"] for promise in promises}
    for name, result in results.items():
        for promise in sorted(set(result.content.get("promises", ())) - known):
            yield f"docs/promises.toml does not know {promise}, which {name} backs"


def load_promises(root: Path) -> list[dict[str, Any]]:
    """What docs/promises.toml says."""
    return tomllib.loads((root / "docs" / "promises.toml").read_text(encoding="utf-8"))["promise"]


def text(
    promises: list[dict[str, Any]], results: Mapping[str, Result], states: Mapping[str, str]
) -> str:
    """The whole file."""
    report = gather(results, states)
    for promise in promises:
        if entries := campaign_entries(promise, results, states):
            report.setdefault(promise["id"], {}).update(entries)
    n_tests = len({node for promise in promises for node in report.get(promise["id"], {})})
    return HEAD.format(n_tests=n_tests) + table(promises, report)


def gather(results: Mapping[str, Result], states: Mapping[str, str]) -> Report:
    """Tests and benchmarks by promise, each with when it ran."""
    report: Report = {}
    for name, result in results.items():
        made = {"made": result.made, "is_older": states.get(name) == "older than the code"}
        for promise, tests in result.content.get("promises", {}).items():
            for node, test in tests.items():
                report.setdefault(promise, {})[node] = {**test, **made}
        for found in result.content.get("tables", ()):
            add_benchmark(report, found, made)
    return report


def add_benchmark(report: Report, table: dict[str, Any], made: dict[str, Any]) -> None:
    """Enter a benchmark's table as if it were a test: missed where a promised figure is."""
    if not table["promises"]:  # whoever it compares with was not there: nothing was shown
        return
    parts = [*table["promises"], *table["checks"]]
    outcome = "passed" if all(part["is_met"] for part in parts) else "missed"
    figures = [f"{p['what']} {p['value']:.3g} ({p['limit']})" for p in table["promises"]]
    entry = {"outcome": outcome, "figures": figures, "is_full": not table["quick"]}
    entry["is_short"] = table["quick"]
    report.setdefault(table["id"], {})[f"benchmarks, table {table['id']}"] = entry | made


def table(promises: list[dict[str, Any]], report: Report) -> str:
    """The promises with their status, then the evidence for each."""
    lines = ["", "| promise | | status | made |", "|---|---|---|---|"]
    for promise in promises:
        name, text = promise["id"], " ".join(promise["text"].split())
        found, made = status(promise, report), _when_made(report.get(name, {}))
        lines.append(f"| [{name}](#{name.lower()}) | {_cell(text)} | {found} | {made} |")
    for promise in promises:
        lines += ["", f"## {promise['id']}", "", " ".join(promise["text"].split()), ""]
        lines += _evidence(promise, report.get(promise["id"], {}))
    return "\n".join(lines) + "\n"


def status(promise: dict[str, Any], report: Report) -> str:
    """One of the words the head of the file explains."""
    tests = report.get(promise["id"], {}).values()
    if not tests:
        return "no result yet"
    outcomes = [test["outcome"] for test in tests]
    if "missed" in outcomes:
        return "**missed**"
    if any(outcome not in (*PASSED, "skipped", NOT_JUDGED) for outcome in outcomes):
        return "**broken**"
    if not any(outcome in PASSED for outcome in outcomes):
        return NOT_JUDGED if NOT_JUDGED in outcomes else "not run"
    ran_long = any(test.get("is_full") and test["outcome"] in PASSED for test in tests)
    is_short = promise.get("long") or any(test.get("is_short") for test in tests)
    return "kept, short version" if is_short and not ran_long else "kept"


def _evidence(promise: dict[str, Any], tests: dict[str, Any]) -> list[str]:
    """The tests by function, with how many cases passed, and the figures they measured."""
    campaigns = list(campaign_lines(tests, missing_campaigns(promise, tests)))
    if not tests:
        return ["No result yet.", *([""] if campaigns else []), *campaigns]
    cases: dict[str, Counter[str]] = {}
    for node, test in tests.items():
        if "cells" in test:
            continue
        cases.setdefault(node.partition("[")[0], Counter())[test["outcome"]] += 1
    lines = []
    for function, outcomes in sorted(cases.items()):
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        lines.append(f"- `{function}`: {told}")
    lines += campaigns
    figures = [figure for _, test in sorted(tests.items()) for figure in test["figures"]]
    lines += ["", f"Made {_when_made(tests)}."]
    if figures:
        more = len(figures) - MOST_FIGURES
        told = [_cell(figure) for figure in figures[:MOST_FIGURES]]
        told += [f"and {more} more"] if more > 0 else []
        lines[-1] += f" Measured: {'; '.join(told)}."
    return lines


def _when_made(tests: Mapping[str, dict[str, Any]]) -> str:
    """When the first of some tests ran, and whether one is older than the code."""
    if not tests:
        return "–"
    oldest = min(test["made"] for test in tests.values())
    return oldest + (OLDER if any(test["is_older"] for test in tests.values()) else "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
