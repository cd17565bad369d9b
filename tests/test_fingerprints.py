"""A fingerprint changes with the code that a result depends on, and with nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT
from fingerprints import MODELS, PAGES, Tree
from results_pieces import find_pieces

MEMORY = ROOT / "build" / "sources.json"
FILES = {
    "__init__": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from freefloat.b import fly as fly
HOMES = {"fly": "freefloat.b"}
def __getattr__(name):
    return HOMES[name]
""",
    "a": "from freefloat.c import low\n",
    "b": "def fly():\n    from freefloat.c import low\n",
    "c": '"""Low."""\ndef low():\n    """Down."""\n    return 1\n',
    "only_types": "X = 1\n",
    "paper_1": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import freefloat.only_types
""",
    "paper_2": "Y = 2\n",
    "any": "from importlib import import_module\nimport_module(f'freefloat.paper_{1}')\n",
}
SCRIPT = "import freefloat as ff\nimport beside\nff.fly()\nrun('other.py')\n"
ENTRIES = {
    "a": ("freefloat.a",),
    "script": ("tests/script.py",),
    "paper": ("freefloat.any", "freefloat.paper_1"),
    "papers": ("freefloat.any",),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "freefloat"
    (package / "data").mkdir(parents=True)
    for name, text in FILES.items():
        (package / f"{name}.py").write_text(text)
    (package / "data" / "m.toml").write_text("mass = 1  # kg\n")
    (package / "data" / "page.css").write_text("a {}\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "script.py").write_text(SCRIPT)
    for name in ("beside", "other", "unused"):
        (tmp_path / "tests" / f"{name}.py").write_text("Z = 3\n")
    return tmp_path


def fingerprints(root: Path) -> dict[str, str]:
    tree = Tree(root)
    return {name: tree.fingerprint(entries) for name, entries in ENTRIES.items()}


def changed_by(root: Path, path: str, old: str, new: str) -> set[str]:
    """The entries whose fingerprint changes with a file."""
    before = fingerprints(root)
    file = root / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    after = fingerprints(root)
    return {name for name in before if before[name] != after[name]}


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("src/freefloat/a.py", "low\n", "low as l\n", {"a"}),
        ("src/freefloat/c.py", "return 1", "return 2", {"a", "script"}),
        ("src/freefloat/c.py", "Low.", "Lower.", set()),
        ("src/freefloat/c.py", "Down.", "Downer.", set()),
        ("src/freefloat/c.py", "    return 1", "    # why\n    return (\n        1\n    )", set()),
        ("src/freefloat/b.py", "fly()", "fly(x)", {"script"}),  # by a name handed out lazily
        ("src/freefloat/only_types.py", "1", "2", set()),
        ("src/freefloat/paper_1.py", "if", "P = 1\nif", {"paper", "papers"}),
        ("src/freefloat/paper_2.py", "2", "3", {"papers"}),  # an entry says which one is meant
        ("src/freefloat/__init__.py", "HOMES[name]", "HOMES.get(name)", set(ENTRIES)),
        ("src/freefloat/data/m.toml", "mass = 1", "mass = 2", set(ENTRIES)),
        ("src/freefloat/data/m.toml", "# kg", "# kilograms", set()),
        ("src/freefloat/data/page.css", "a", "b", set()),  # unless asked for, below
        ("tests/beside.py", "3", "4", {"script"}),
        ("tests/other.py", "3", "4", {"script"}),  # a script that it starts
        ("tests/unused.py", "3", "4", set()),
    ],
)
def test_exactly_what_depends_on_a_file_changes_with_it(tree, path, old, new, expected):
    assert changed_by(tree, path, old, new) == expected


def test_pages_count_where_they_are_asked_for(tree):
    before = Tree(tree).fingerprint(["freefloat.a"], data=(*MODELS, *PAGES))
    (tree / "src" / "freefloat" / "data" / "page.css").write_text("b {}\n")
    assert Tree(tree).fingerprint(["freefloat.a"], data=(*MODELS, *PAGES)) != before


def test_what_was_read_is_remembered_by_its_content(tree, tmp_path):
    memory = tmp_path / "build" / "memory.json"
    first = Tree(tree, remembered=memory)
    told = first.fingerprint(["freefloat.a"])
    first.remember()
    assert Tree(tree, remembered=memory).fingerprint(["freefloat.a"]) == told
    (tree / "src" / "freefloat" / "c.py").write_text("low = 2\n")
    assert Tree(tree, remembered=memory).fingerprint(["freefloat.a"]) != told
    memory.write_text("{ broken")
    assert Tree(tree, remembered=memory).reach(["freefloat.a"])


@pytest.fixture(scope="module")
def copied(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("copied")
    for folder in ("src", "tests", "benchmarks"):
        ignored = shutil.ignore_patterns("__pycache__", "*.nb?")
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    return root


def test_a_changed_function_makes_exactly_its_pieces_older(copied):
    # Promises reach nearly everything: papers and benchmarks show the differences.
    pieces = [p for p in find_pieces(copied) if not p.name.startswith("promises/")]
    tree = Tree(copied, remembered=MEMORY)
    before = {p.name: tree.fingerprint(p.entries, data=p.data) for p in pieces}
    reached = {p.name: tree.reach(p.entries) for p in pieces}
    file = min(
        (path for path in reached["papers/003"] - reached["papers/004"] if path.suffix == ".py"),
        key=lambda path: path.as_posix(),
    )
    text = file.read_text()
    dependent = {name for name, files in reached.items() if file in files}
    assert "papers/003" in dependent and not {"papers/004", "benchmarks/S1"} & dependent
    for addition, expected in (("# a comment\n", set()), ("\ndef f():\n    return 1\n", dependent)):
        file.write_text(text + addition)
        tree = Tree(copied, remembered=MEMORY)
        after = {p.name: tree.fingerprint(p.entries, data=p.data) for p in pieces}
        assert {name for name in before if before[name] != after[name]} == expected
    file.write_text(text)


def test_what_is_loaded_at_run_time_is_reached():
    """Imports that run show whether those that are read were all found."""
    (paper,) = [p for p in find_pieces(ROOT) if p.name == "papers/003"]
    reached = Tree(ROOT, remembered=MEMORY).reach(paper.entries)
    code = f"""
import importlib, sys
for name in {paper.entries!r}:
    importlib.import_module(name)
print(*(m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] == "freefloat"))
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
    )  # fmt: skip
    loaded = {Path(name) for name in ended.stdout.split()}
    assert len(loaded) > 50 and not loaded - reached
