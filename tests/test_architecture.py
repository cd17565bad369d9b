"""The source keeps its shape: one-way imports, one meaning a word, no number without its origin.

`tools/house.py --list ...` names whatever these tests count. What is still open stands in
KNOWN, which may only shrink: a test fails for an entry that is no longer needed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import house_figures as figures
import pytest
from house_tree import Import, Module, Tree, tree_of

import freefloat

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "freefloat"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TREE = tree_of(ROOT)

# The modules beside the folders come first. A folder imports only from those before it, and so
# does a subfolder. A folder's own files stand before its subfolders where these are kinds of
# something, after them where these are kernels.
FOLDERS = (
    "numba_",
    "least_squares/kernels",
    "least_squares",
    "records",
    "model",
    "dynamics/kernels",
    "dynamics",
    "excitation",
    "telemetry",
    "telemetry/readers",
    "telemetry/recordings",
    "prediction",
    "parameters",
    "observability",
    "identification",
    "identification/physical",
    "identification/modes",
    "identification/linear",
    "identification/output_error",
    "identification/trust",
    "identification/structure",
    "online/kernels",
    "online",
    "design",
    "validation",
    "report",
    "papers",
    "papers/paper_000",
    "papers/paper_001",
    "papers/paper_002",
    "papers/paper_003",
    "papers/paper_004",
    "campaign",
    "studio",
    "cli",
)
# Files that stand after the subfolders of their folder: what brings these together.
ENTRIES = {
    "telemetry": {"__init__"},
    "identification": {"identify"},
    "papers": {"__init__", "study_runner", "figure_files"},
}
RANK = {name: float(n) for n, name in enumerate(FOLDERS, start=1)} | {"": 0.0}

LONGEST_FILE = 400
LONGEST_FUNCTION = 70
MOST_PUBLIC_NAMES = 30

# What is still open, by rule: names, pairs of folders, or the most that a folder may have.
KNOWN: dict[str, set[str] | dict[str, int]] = {
    "upward": set(),
    "cycles": set(),
    "classes": set(),
    "stems": set(),
    "constants": {},
    "participles": {},
}

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


def rank_of(module: Module) -> float:
    """Where a module stands in the order; its last subfolder comes before an entry."""
    place = module.subfolder
    if module.path.stem in ENTRIES.get(place, ()):
        return max(rank for name, rank in RANK.items() if f"{name}/".startswith(f"{place}/")) + 0.5
    return RANK[place]


def upward_imports(module: Module, tree: Tree = TREE) -> Iterator[tuple[Import, Module]]:
    """Whatever a module imports from a later place: at the top, in functions, by strings."""
    if module.name in ("freefloat", "freefloat.__main__"):
        return  # the root hands out public names when they are asked for
    for found in module.imports:
        if found.how == "types":
            continue
        targets = [tree.home(found.target, found.name)] if found.name else tree.resolve(found)
        for target in targets:
            if target in tree.modules and target != "freefloat":
                there = tree.modules[target]
                if rank_of(there) > rank_of(module):
                    yield found, there


def module_of(text: str, name: str = "freefloat.model.invented") -> Module:
    """A module that is in no file."""
    path = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")
    return Module(path, name, text)


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
    assert {module.subfolder for module in TREE.modules.values()} <= set(RANK)


def test_the_order_names_folders_that_exist():
    assert not [name for name in FOLDERS if not (PACKAGE / name).is_dir()]
    for folder, stems in ENTRIES.items():
        assert not [stem for stem in stems if not (PACKAGE / folder / f"{stem}.py").exists()]


def test_every_folder_is_a_package():
    # Without __init__.py pytest would import a module twice, once for its docstring examples.
    assert not [relative(p) for p in SOURCES if not (p.parent / "__init__.py").exists()]


def test_imports_point_one_way():
    upward = [
        (f"{module.folder} -> {there.folder}", TREE.place(module, found.line))
        for module in TREE.modules.values()
        for found, there in upward_imports(module)
    ]
    new = [f"{place}: {what}" for what, place in upward if what not in KNOWN["upward"]]
    assert not new, "\n".join(new)
    assert KNOWN["upward"] <= {what for what, _ in upward}, "an entry is no longer needed"


@pytest.mark.parametrize(
    "statement",
    [
        "from freefloat.dynamics import momentum",
        "import freefloat.dynamics.equations",
        "from ..dynamics import equations",
        "from freefloat import dynamics",
        "from freefloat import simulate",
        "def late():\n    import freefloat.cli",
        "import_module('freefloat.report.pages')",
        "LAZY = {'report': 'freefloat.report.pages'}",
        "def late(name):\n    import_module(f'freefloat.papers.{name}')",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import freefloat.cli",
    ],
)
def test_an_upward_import_is_recognised(statement):
    assert list(upward_imports(module_of(statement)))


@pytest.mark.parametrize(
    "statement",
    [
        "from freefloat.errors import ModelError",
        "from . import inertia",
        "from freefloat import __version__, errors, Model",
        "if TYPE_CHECKING:\n    from freefloat.dynamics import Tree",
        "import numpy.linalg",
        '"""See `freefloat.report.pages`."""',
    ],
)
def test_a_downward_import_is_allowed(statement):
    assert not list(upward_imports(module_of(statement)))


def test_the_map_draws_every_folder_in_the_order():
    text = (ROOT / "docs" / "contribute" / "architecture.md").read_text(encoding="utf-8")
    drawing = text.partition("## The order of folders")[2].split("```")[1]
    drawn = [drawing.find(name) for name in dict.fromkeys(f.split("/")[0] for f in FOLDERS)]
    assert min(drawn) > 0 and drawn == sorted(drawn)
    assert all(name.rpartition("/")[2] in drawing for name in FOLDERS if "paper_" not in name)


def test_the_map_names_files_that_exist():
    text = (ROOT / "docs" / "contribute" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"`([a-z_]+(?:/\w+)*\.py)`", text)
    lost = [f for f in files if not (PACKAGE / f).exists() and not (ROOT / f).exists()]
    assert files and not lost


def test_kernels_do_not_import_their_wrappers():
    kernel = module_of("import freefloat.online.estimator", "freefloat.online.kernels.invented")
    assert list(upward_imports(kernel))


def test_no_modules_need_each_other_at_run_time():
    groups = TREE.cycles()
    folders = {TREE.modules[name].folder for group in groups for name in group}
    new = [" <-> ".join(g) for g in groups if TREE.modules[g[0]].folder not in KNOWN["cycles"]]
    assert not new, "\n".join(new)
    assert KNOWN["cycles"] <= folders, "an entry is no longer needed"


def test_a_cycle_through_a_function_is_recognised(tmp_path):
    folder = tmp_path / "src" / "freefloat"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text("from freefloat.two import b")
    (folder / "two.py").write_text("def b():\n    from freefloat import one")
    assert Tree(tmp_path).cycles() == [["freefloat.one", "freefloat.two"]]


def check_known(found: Iterable[str], rule: str) -> None:
    """Hold what a rule finds against its entry of KNOWN: a set of names, or counts by folder."""
    found, known = Counter(found), KNOWN[rule]
    if isinstance(known, dict):
        new = {name: n for name, n in found.items() if n > known.get(name, 0)}
        assert not new, f"{new}: tools/house.py --list {rule} names them"
    else:
        assert not set(found) - known
    assert not set(known) - set(found), "an entry is no longer needed"


def test_no_public_class_name_stands_for_two_things():
    check_known((f.what for f in figures.repeated_classes(TREE)), "classes")


def test_no_file_name_stands_for_two_things():
    check_known((f.what for f in figures.repeated_stems(TREE)), "stems")


def test_every_number_says_where_it_comes_from():
    check_known((f.module.folder for f in figures.without_origin(TREE)), "constants")


def test_what_a_number_was_measured_by_exists():
    lost = []
    for found in figures.constants(TREE):
        kind, words = figures.provenance_of(found) or ("", "")
        script = words.split()[0].rstrip(".,;:") if words else ""
        if kind == "measured" and not (ROOT / script.partition("::")[0]).is_file():
            lost.append(f"{TREE.place(found.module, found.line)}: {script}")
    assert not lost, "\n".join(lost)


@pytest.mark.parametrize(
    ("text", "is_explained"),
    [
        ("WEAK = 0.1", False),
        ("WEAK: float = 0.1  # a tenth", False),
        ("WEAK = 0.1  # theory: half a standard deviation", True),
        ("# measured: tools/house.py\n# over a hundred flights\nWEAK = 0.1", True),
        ("# format: digits\n\nWEAK = 0.1", False),
        ("WEAK = 0.1  # theory:", False),
        ("_SIZES = {'mass': 1.0, 'rate': 10 * 0.1}", False),
        ("_ANGLE = np.radians(3)", False),
    ],
)
def test_a_number_without_origin_is_recognised(text, is_explained, tmp_path):
    folder = tmp_path / "src" / "freefloat"
    folder.mkdir(parents=True)
    (folder / "sizes.py").write_text(text)
    assert bool(list(figures.without_origin(Tree(tmp_path)))) is not is_explained


def test_functions_are_verbs_or_nouns():
    check_known((f.module.folder for f in figures.participles(TREE)), "participles")


def test_files_are_short():
    lengths = {relative(p): len(p.read_text(encoding="utf-8").splitlines()) for p in SOURCES}
    assert not {path: n for path, n in lengths.items() if n > LONGEST_FILE}


def test_functions_fit_a_screen():
    lengths = {
        f"{TREE.place(module, node.lineno)} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for module in TREE.modules.values()
        for node in module.functions
    }
    assert not {place: n for place, n in lengths.items() if n > LONGEST_FUNCTION}


def test_only_the_command_prints():
    found = [
        TREE.place(module, line)
        for module in TREE.modules.values()
        if module.folder not in ("cli", "__main__")
        for line in printing(module.tree)
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
