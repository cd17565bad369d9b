"""The source keeps its shape: one-way imports, short files and functions, nothing machine-bound."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import freefloat

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "freefloat"
SOURCES = sorted(PACKAGE.rglob("*.py"))

TOP_LEVEL = ("errors", "notes", "text", "digits", "arrays", "linear_algebra", "provenance", "files")
FOLDERS = (
    "numba_",
    "records",
    "model",
    "dynamics",
    "excitation",
    "telemetry",
    "prediction",
    "parameters",
    "observability",
    "identification",
    "online",
    "design",
    "validation",
    "report",
    "papers",
    "cli",
)
RANK = dict.fromkeys(TOP_LEVEL, 0) | {name: n for n, name in enumerate(FOLDERS, start=1)}
RANK |= {"__main__": RANK["cli"], "__init__": 0}

LONGEST_FILE = 400
LONGEST_FUNCTION = 70
MOST_PUBLIC_NAMES = 30

# Each pattern is written so that it does not match its own source.
FORBIDDEN = {
    "machine path": re.compile(r"(?<![\w.$}/-])/(?:home|root|work|opt|Users|mnt)/\w"),
    "Windows machine path": re.compile(r"\b[A-Z]:\\{1,2}Users\\"),
    "registry host": re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|conda\.anaconda"),
    "index address": re.compile(r"\b(?:extra-)?index[-_]url\b|\bfind[-_]links\b", re.IGNORECASE),
}
TEXT = {".py", ".md", ".toml", ".txt", ".cff", ".yml", ".yaml", ".json", ".urdf", ".xml", ".csv"}
TEXT |= {".html", ".js", ".css", ".svg", ".rst", ".cfg", ".sh", ".j2", ".jinja", ""}
UNTRACKED = {".git", ".venv", "build", "dist", "__pycache__", "node_modules"}
UNTRACKED |= {".pytest_cache", ".ruff_cache", ".hypothesis"}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place_of(path: Path) -> str:
    """Return the folder or top-level module of `path`, a name of RANK."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def run_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node below `node` save those under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            for alternative in child.orelse:
                yield from [alternative, *run_time_nodes(alternative)]
        else:
            yield child
            yield from run_time_nodes(child)


def imported_modules(tree: ast.Module, package: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and dotted name of everything `tree`, a module of `package`, imports."""
    for node in run_time_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            if origin == "freefloat":
                # A lazy public name is as good as an import from the module it lives in.
                homes = freefloat._HOME_OF
                for alias in node.names:
                    yield node.lineno, homes.get(alias.name, f"freefloat.{alias.name}")
            else:
                yield node.lineno, origin


def backward_imports(path: Path, tree: ast.Module) -> Iterator[str]:
    here = place_of(path)
    package = ["freefloat", *path.relative_to(PACKAGE).parts[:-1]]
    for line, name in imported_modules(tree, package):
        parts = name.split(".")
        if parts[0] != "freefloat" or len(parts) == 1 or parts[1] == "__version__":
            continue
        there = parts[1]
        if there not in RANK:
            yield f"{relative(path)}:{line}: {there} has no place in the order of folders"
        elif RANK[there] > RANK[here]:
            yield f"{relative(path)}:{line}: {here} must not import from {there}"


def tracked_texts() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        is_tracked = not UNTRACKED.intersection(path.relative_to(ROOT).parts)
        if is_tracked and path.suffix in TEXT and path.is_file():
            yield path


def printing(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "print":
                yield node.lineno
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr"):
            yield node.lineno


def test_every_module_has_a_place_in_the_order():
    assert {place_of(path) for path in SOURCES} <= set(RANK)


def test_every_folder_is_a_package():
    # Without __init__.py pytest would import a module twice, once for its docstring examples.
    assert not [relative(p) for p in SOURCES if not (p.parent / "__init__.py").exists()]


def test_imports_point_one_way():
    lazy = PACKAGE / "__init__.py"
    found = [f for path in SOURCES if path != lazy for f in backward_imports(path, tree_of(path))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "statement",
    [
        "from freefloat.dynamics import momentum",
        "import freefloat.dynamics.momentum",
        "from ..dynamics import momentum",
        "from freefloat import dynamics",
        "from freefloat import simulate",
        "def late():\n    import freefloat.cli",
        "from freefloat.utils import anything",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import freefloat.cli",
    ],
)
def test_a_backward_import_is_seen(statement):
    path = PACKAGE / "model" / "invented.py"
    assert len(list(backward_imports(path, ast.parse(statement)))) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "from freefloat.errors import ModelError",
        "from . import inertia",
        "from freefloat import __version__, errors, Model",
        "if TYPE_CHECKING:\n    from freefloat.dynamics import Tree",
        "import numpy.linalg",
    ],
)
def test_a_forward_import_is_allowed(statement):
    path = PACKAGE / "model" / "invented.py"
    assert not list(backward_imports(path, ast.parse(statement)))


def test_files_are_short():
    lengths = {relative(p): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert not {path: n for path, n in lengths.items() if n > LONGEST_FILE}


def test_functions_fit_a_screen():
    lengths = {
        f"{relative(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not {place: n for place, n in lengths.items() if n > LONGEST_FUNCTION}


def test_only_the_command_prints():
    found = [
        f"{relative(path)}:{line}"
        for path in SOURCES
        if place_of(path) not in ("cli", "__main__")
        for line in printing(tree_of(path))
    ]
    assert not found


def test_nothing_is_bound_to_one_machine_or_registry():
    found = []
    for path in tracked_texts():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            found += [
                f"{relative(path)}:{number}: {what}"
                for what, pattern in FORBIDDEN.items()
                if pattern.search(line)
            ]
    assert not found, "\n".join(found)


def test_there_is_no_lock_file_with_addresses():
    assert not (ROOT / "uv.lock").exists()


def test_public_names_are_few():
    assert len(dir(freefloat)) <= MOST_PUBLIC_NAMES


def test_no_public_name_is_a_folder():
    # Importing a folder would put the module in the place of the function.
    assert not {name for name in freefloat._HOME_OF if (PACKAGE / name).is_dir()}


def test_the_citation_gives_the_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {freefloat.__version__}\n" in citation
