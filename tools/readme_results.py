"""The table of results in the README, made from what the benchmark measured.

    python tools/readme_results.py          # write it anew, after `freefloat benchmark table`
    python tools/readme_results.py --check  # exit code 1 where the README says something else

A line a task: what freefloat made of it with `--method auto`, and the best answer of anybody else.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "benchmark_results.csv"
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmark: tools/readme_results.py -->\n", "<!-- end of benchmark -->"
OURS = "freefloat auto"
NONE = "–"
HEAD = ("recording", "error / bound", "intervals that hold", "grade", "CPU", "others")

Row = Mapping[str, str]


def read_results(path: Path) -> list[Row]:
    """The rows of the benchmark, without the line on versions."""
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["entrant"]]


def table(rows: Sequence[Row], about: Mapping[str, str]) -> str:
    """The table in Markdown; tasks that freefloat has not answered yet have no line."""
    lines = [HEAD, tuple("---" for _ in HEAD), *_lines(rows, about)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _lines(rows: Sequence[Row], about: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        if row["entrant"] != OURS or row["says"].startswith("declines"):
            continue
        others = [
            one
            for one in rows
            if one["task"] == row["task"] and not one["entrant"].startswith("freefloat")
        ]
        grade = "not trusted" if row["says"].startswith("refuses") else row["says"]
        cpu = f"{float(row['CPU [s]']):.0f} s"
        name = about.get(row["task"], row["task"])
        yield name, _error(row), row["covers"], grade, cpu, _best(others)


def _error(row: Row) -> str:
    """The error over the bound with unknown motion, where it was computed, else over the other."""
    return row["error/bound"] if row["error/bound"] != NONE else row["known"]


def _best(others: Sequence[Row]) -> str:
    answered = [row for row in others if _error(row) != NONE]
    if not answered:
        return "none takes part" if others else NONE
    best = min(answered, key=lambda row: float(_error(row)))
    return f"{_error(best)} ({best['entrant']})"


def rendered(text: str, made: str) -> str:
    """The README with the table between its two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{made}{END}{after}"


def made_now() -> str:
    """The table of the stored results."""
    sys.path.insert(0, str(ROOT / "benchmark"))
    from tasks import TASKS

    return table(read_results(RESULTS), {task.name: task.about for task in TASKS.values()})


def main() -> int:
    """Write the README, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    text = README.read_text(encoding="utf-8")
    new = rendered(text, made_now())
    if given.check:
        print("README.md is as measured" if new == text else "run python tools/readme_results.py")
        return int(new != text)
    README.write_text(new, encoding="utf-8")
    print(f"wrote the table of {README}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
