"""Settings shared by all tests, and the record of which promises they back."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does; before NumPy
os.environ["MPLBACKEND"] = "Agg"  # before any test imports matplotlib, here or in a subprocess

# Kernels compile on their first call, so a deadline would measure the compiler. Derandomised, a
# red test is red for everybody; `--hypothesis-profile explore` looks for new counterexamples.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("steady")

# Reports of a test's phases fall in these categories; the worst of them is the test's outcome.
WORST_FIRST = ("error", "failed", "xfailed", "xpassed", "skipped", "passed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--promise-report",
        type=Path,
        metavar="FILE",
        help="write the outcome and figures of tests marked promise(id) to FILE as JSON; "
        "attach FILE with =, or pytest may take it for a test before it has read this file",
    )


def _promises(item: pytest.Item) -> list[str]:
    return [mark.args[0] for mark in item.iter_markers("promise")]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # user_properties is what pytest-xdist carries from its workers to the controller.
    for item in items:
        item.user_properties += [("promise", promise) for promise in _promises(item)]
        item.user_properties.append(("is_full", item.get_closest_marker("full") is not None))


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Attach to a promise of the running test a figure it measured, such as "error 3e-12"."""

    def attach(promise: str, text: str) -> None:
        if promise not in _promises(request.node):
            raise ValueError(f"{request.node.nodeid} is not marked promise({promise!r})")
        request.node.user_properties.append(("figure", [promise, str(text)]))

    return attach


def _tell(terminalreporter) -> None:
    """What tests have to say although they passed: properties called `told`."""
    reports = [one for kind in WORST_FIRST for one in terminalreporter.stats.get(kind, ())]
    for report in reports:
        for name, text in getattr(report, "user_properties", ()):
            if name == "told" and report.when == "call":
                terminalreporter.section(report.nodeid.rpartition("::")[2].replace("_", " "))
                terminalreporter.write_line(text)


def pytest_terminal_summary(terminalreporter, exitstatus: int, config: pytest.Config) -> None:
    _tell(terminalreporter)
    path: Path | None = config.getoption("--promise-report")
    if path is None:
        return
    promises: dict[str, dict[str, dict]] = defaultdict(dict)
    for outcome in WORST_FIRST:
        for report in terminalreporter.stats.get(outcome, ()):
            properties = report.user_properties
            for promise in (value for name, value in properties if name == "promise"):
                figures = [v[1] for name, v in properties if name == "figure" and v[0] == promise]
                record = {"outcome": outcome, "seconds": report.duration, "figures": figures}
                record["is_full"] = ("is_full", True) in map(tuple, properties)
                promises[promise].setdefault(report.nodeid, record)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"exit_status": int(exitstatus), "promises": promises}
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    terminalreporter.write_line(f"{len(promises)} promises reported in {path}")
