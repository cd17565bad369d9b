"""How easy the tree is to live in: files, fragments, constants, names, cycles, in figures.

    python tools/house.py                              # this checkout
    python tools/house.py --beside 9f08de6             # and another commit, column by column
    python tools/house.py --trace                      # with files and depth of one identify
    python tools/house.py --folders                    # a row a folder
    python tools/house.py --list constants online      # what is found, with its place
    python tools/house.py --list asserts               # tests that look for English sentences
    python tools/house.py --tree prediction            # every file with the first line it says

Another commit is read through `git archive`; nothing of it is imported unless --trace is given.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import house_figures as figures
from house_tree import Tree, tree_of

ROOT = Path(__file__).resolve().parents[1]


def measure(tree: Tree, tests: Path) -> dict[str, str]:
    """Every figure of a tree, by its name."""
    modules = list(tree.modules.values())
    lines = sum(module.n_lines for module in modules)
    numbers = sum(1 for _ in figures.constants(tree))
    code = sum(figures.code_lines(module) for module in modules)
    comments = sum(figures.comment_lines(module) for module in modules)
    functions = sum(len(module.functions) for module in modules)
    participles = _count(figures.participles(tree))
    sentences = figures.english_asserts(tests, figures.literals(tree))
    return {
        "files": str(len(modules)),
        "lines": str(lines),
        "fragments (one user, would fit into it)": str(_count(figures.fragments(tree))),
        "module-level numbers": str(numbers),
        "  per 1000 lines": f"{1000 * numbers / lines:.1f}",
        "  without provenance": str(_count(figures.without_origin(tree))),
        "comment lines per 100 of code": f"{100 * comments / code:.1f}",
        "functions": str(functions),
        "  named by participles": str(participles),
        "names that cross folder borders": str(_count(figures.border_names(tree))),
        "run-time import cycles": str(len(tree.cycles())),
        "imports inside functions": str(_count(figures.inner_imports(tree))),
        "public class names twice": str(_kinds(figures.repeated_classes(tree))),
        "file stems in two folders": str(_kinds(figures.repeated_stems(tree))),
        "asserts on English sentences": str(_count(sentences)),
    }


def _count(found) -> int:
    return sum(1 for _ in found)


def _kinds(found) -> int:
    return len({finding.what for finding in found})


def trace_of(root: Path) -> dict[str, str]:
    """Files and depth of one identify, in a process of its own that imports from root."""
    script = Path(__file__).with_name("house_trace.py")
    command = [sys.executable, str(script), str(root / "src")]
    files, depth = subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.split()
    return {"files one identify passes through": files, "  deepest stack of ours": depth}


def folder_rows(tree: Tree) -> list[list[str]]:
    """The header and a row for each folder, the whole last."""
    columns = ["constants", "all-constants", "participles", "fragments", "stems", "classes"]
    columns += ["inner-imports"]
    counts = {
        name: Counter(finding.module.folder for finding in figures.LISTS[name](tree))
        for name in columns
    }
    files = Counter(module.folder for module in tree.modules.values())
    lines: Counter[str] = Counter()
    for module in tree.modules.values():
        lines[module.folder] += module.n_lines
    header = ["folder", "files", "lines", "no origin", "numbers", *columns[2:]]
    rows = [
        [folder, str(files[folder]), str(lines[folder]), *(str(counts[c][folder]) for c in columns)]
        for folder in sorted(files, key=lambda folder: (files[folder] == 1, folder))
    ]
    sums = [str(sum(int(row[k]) for row in rows)) for k in range(1, len(header))]
    return [header, *rows, ["all", *sums]]


def print_table(rows: list[list[str]]) -> None:
    """Columns aligned: words to the left, numbers to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())


def print_list(tree: Tree, kind: str, folder: str) -> None:
    """What one rule finds, one line each, within a folder of src or everywhere."""
    if kind == "asserts":
        tests = tree.root / "tests" / folder
        for path, line, sentence in figures.english_asserts(tests, figures.literals(tree)):
            print(f"{path.relative_to(tree.root).as_posix()}:{line}: {sentence!r}")
        return
    inside = tree.root / "src" / "freefloat" / folder
    for finding in figures.LISTS[kind](tree):
        if finding.module.path.is_relative_to(inside):
            print(f"{tree.place(finding.module, finding.line)}: {finding.what}")


def tree_lines(tree: Tree, folder: str = "") -> list[str]:
    """Every file with the first sentence of its docstring, indented by folder."""
    inside = tree.root / "src" / "freefloat" / folder
    modules = [m for m in tree.modules.values() if m.path.is_relative_to(inside)]
    # A folder's own files before its subfolders, __init__ first.
    modules.sort(key=lambda m: (m.path.parent.parts, m.path.name))
    lines, shown = [], None
    for module in modules:
        if module.subfolder != shown:
            shown = module.subfolder
            lines += ["", f"{shown or 'freefloat'}/"]
        first = (ast.get_docstring(module.tree) or "").partition("\n")[0]
        lines.append(f"  {module.path.name:28s}{first}")
    return lines


def unpack(commit: str, into: Path) -> Path:
    """The sources and tests of a commit in a folder."""
    command = ["git", "-C", str(ROOT), "archive", commit, "src", "tests"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(into, filter="data")
    return into


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what the arguments ask for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", metavar="COMMIT", help="compare with another commit")
    parser.add_argument("--trace", action="store_true", help="follow one identify (a minute)")
    parser.add_argument("--folders", action="store_true", help="a row a folder")
    parser.add_argument("--tree", action="store_true", help="every file and what it says it is")
    parser.add_argument("--list", choices=[*figures.LISTS, "asserts"], help="list what is found")
    parser.add_argument(
        "folder", nargs="?", default="", help="only in this folder of src/freefloat"
    )
    wanted = parser.parse_args(arguments)
    if wanted.tree:
        print("\n".join(tree_lines(tree_of(ROOT), wanted.folder)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        roots = {"here": ROOT}
        if wanted.beside:
            roots = {wanted.beside: unpack(wanted.beside, Path(scratch)), **roots}
        for name, root in roots.items():
            if wanted.list or wanted.folders:
                if wanted.beside:
                    print(f"{name}:")
                if wanted.list:
                    print_list(tree_of(root), wanted.list, wanted.folder)
                else:
                    print_table(folder_rows(tree_of(root)))
        if wanted.list or wanted.folders:
            return
        columns = {}
        for name, root in roots.items():
            columns[name] = measure(tree_of(root), root / "tests")
            if wanted.trace:
                columns[name] |= trace_of(root)
    names = list(next(iter(columns.values())))
    print_table([["", *columns], *([n, *(columns[c][n] for c in columns)] for n in names)])


if __name__ == "__main__":
    main()
