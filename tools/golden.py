"""Golden outputs: what freefloat computes now, kept to be compared with what it computes later.

    python tools/golden.py make --out build/golden/before            # every case, about ten minutes
    python tools/golden.py make --out build/golden/after --only 'live/*'
    python tools/golden.py compare build/golden/before build/golden/after --words
    python tools/golden.py list --only '*/cepheus/*'

`make` skips the cases that the folder has. Results of one thread are the same to the last bit on
one machine with one set of libraries; elsewhere compare with a tolerance. `compare` exits with 1
where numbers differ. A renames file (TOML) says what is called differently now:

    [keys]
    sight = "status_text"
    "counts/taken" = "counts/used"
    [values]
    "square-root" = "information"
"""

# ruff: noqa: E402 - threads are counted before NumPy and Numba are loaded

from __future__ import annotations

import os

# Sums over several threads depend on who comes first.
for _library in ("OMP", "OPENBLAS", "NUMBA", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse
import sys
import time
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from golden_compare import Renames, compare_all, report
from golden_record import file_of, read_records, record_of, write_record


def main(arguments: list[str] | None = None) -> int:
    """Run a sub-command; the exit code is 1 where numbers differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    only = argparse.ArgumentParser(add_help=False)
    only.add_argument("--only", action="append", metavar="GLOB", help="these cases; may be several")
    only.add_argument("--cases", type=Path, metavar="FILE", help="the cases this file lists")
    _add(verbs, "list", list_cases, "print the names of the cases", only)
    maker = _add(verbs, "make", make, "compute cases and write each into a folder", only)
    maker.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    maker.add_argument("--again", action="store_true", help="compute also what is there")
    comparer = _add(verbs, "compare", compare, "say what differs between two folders", only)
    comparer.add_argument("old", type=Path)
    comparer.add_argument("new", type=Path)
    comparer.add_argument("--tolerance", type=float, default=0.0, help="relative; 0 means bitwise")
    comparer.add_argument("--renames", type=Path, metavar="FILE", help="TOML: old to new names")
    comparer.add_argument("--words", action="store_true", help="show sentences that changed")
    chosen = parser.parse_args(arguments)
    return chosen.act(chosen)


def _add(
    verbs: Any,
    name: str,
    act: Callable[[argparse.Namespace], int],
    about: str,
    parent: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=about, parents=[parent])
    parser.set_defaults(act=act)
    return parser


def is_wanted(case: str, chosen: argparse.Namespace) -> bool:
    """Whether a case is among those asked for."""
    if chosen.cases is not None and case not in chosen.cases.read_text(encoding="utf-8").split():
        return False
    return not chosen.only or any(fnmatchcase(case, glob) for glob in chosen.only)


def list_cases(chosen: argparse.Namespace) -> int:
    """Print the names of the cases."""
    from golden_cases import all_cases

    names = [case.name for case in all_cases() if is_wanted(case.name, chosen)]
    print("\n".join(names))
    print(f"{len(names)} cases", file=sys.stderr)
    return 0


def make(chosen: argparse.Namespace) -> int:
    """Compute cases and write each as it is done, so that a stopped run can be taken up again."""
    from golden_cases import all_cases

    chosen.out.mkdir(parents=True, exist_ok=True)
    wanted = [case for case in all_cases() if is_wanted(case.name, chosen)]
    begin = time.perf_counter()
    for number, case in enumerate(wanted, start=1):
        path = file_of(chosen.out, case.name)
        if path.exists() and not chosen.again:
            continue
        before = time.perf_counter()
        record = record_of(case.content())
        write_record(path, case.name, record)
        now = time.perf_counter()
        told = "refused" if record["numbers"]["is_refused"] else ""
        place = f"[{number}/{len(wanted)} {now - begin:6.1f} s]"
        print(f"{place} {now - before:6.2f} s  {case.name}  {told}", flush=True)
    return 0


def compare(chosen: argparse.Namespace) -> int:
    """Say what differs between two folders."""
    names = tomllib.loads(chosen.renames.read_text(encoding="utf-8")) if chosen.renames else {}
    renames = Renames(names.get("keys", {}), names.get("values", {}))
    old, new = (
        {case: record for case, record in read_records(folder).items() if is_wanted(case, chosen)}
        for folder in (chosen.old, chosen.new)
    )
    found = compare_all(old, new, renames=renames, tolerance=chosen.tolerance)
    print(report(found, words=chosen.words))
    return 1 if any(one.fate in ("numbers differ", "missing") for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
