"""How easy a tree is to live in, in numbers: what each rule of the house finds, with its place."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from house_tree import Module, Tree

LONGEST_FILE = 400  # format: lines; the same mark as in tests/test_architecture.py
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
PROVENANCE = re.compile(r"#\s*(?:\[.*?\] )?(theory|format|measured):\s*(\S.*)")
TOOL_COMMENT = re.compile(r"#\s*(type:|noqa|ruff:|pyright:|pragma|!)")
# Stems that mean the same in every folder.
SHARED_STEMS = {"__init__"}
PAPER_STEMS = {"tables", "figures", "published", "model", "studies"}
# A word after a participle that makes a clause of it: `seen_by`, `told_to`.
PARTICLES = {"by", "from", "in", "of", "to", "at", "with", "on", "out", "as", "for", "into", "over"}
_IRREGULAR = """
    told found flown kept made seen held drawn known given taken said met driven written shown grown
    gone begun built bent brought caught chosen done fallen felt fought frozen heard hidden
    laid left lent lost meant paid ridden risen sent shaken sold spent spoken stolen stood struck
    swung taught thought thrown torn understood won worn wound
"""
# Words in -ed or -en that are verbs, nouns or plain adjectives.
_NOT_PARTICIPLES = """
    need feed embed open whiten thicken seed speed shed bleed exceed proceed succeed screen then
    when even token seven green codegen listen broaden widen flatten shorten lengthen happen
    between often golden eigen indeed tighten strengthen deepen straighten loosen harden soften
    weaken children
"""
IRREGULAR = set(_IRREGULAR.split())
NOT_PARTICIPLES = set(_NOT_PARTICIPLES.split())


class Finding(NamedTuple):
    """One thing a rule finds: where, and what."""

    module: Module
    line: int
    what: str


def constants(tree: Tree) -> Iterator[Finding]:
    """Module-level numbers: UPPER_CASE names bound to numeric literals, or groups of them.

    What a paper printed stands in its `published` and has its origin there.
    """
    for module in tree.modules.values():
        if module.path.stem == "published":
            continue
        for node in module.tree.body:
            targets, value = _assignment(node)
            if value is None or not _is_number(value) or _is_structure(value):
                continue
            for target in targets:
                if isinstance(target, ast.Name) and CONSTANT.fullmatch(target.id):
                    yield Finding(module, node.lineno, f"{target.id} = {ast.unparse(value)}")


def without_origin(tree: Tree) -> Iterator[Finding]:
    """Constants without `theory:`, `measured: PATH` or `format:` on the line or above it."""
    for found in constants(tree):
        if provenance_of(found) is None:
            yield found


def provenance_of(constant: Finding) -> tuple[str, str] | None:
    """What a constant's comment says of its origin: the kind, and the words after it."""
    lines = constant.module.text.splitlines()
    end = next(
        node.end_lineno or node.lineno
        for node in constant.module.tree.body
        if node.lineno == constant.line
    )
    beside = [line for line in lines[constant.line - 1 : end] if "#" in line]
    above = []
    for line in reversed(lines[: constant.line - 1]):
        if not line.lstrip().startswith("#"):
            break
        above.append(line)
    for line in [*beside, *above]:
        match = PROVENANCE.search(line)
        if match:
            return match[1], match[2]
    return None


def participles(tree: Tree) -> Iterator[Finding]:
    """Functions whose name says what has been done instead of what they do or give."""
    for module in tree.modules.values():
        for node in module.functions:
            if is_participle(node.name) and not _is_test(node):
                yield Finding(module, node.lineno, node.name)


def is_participle(name: str) -> bool:
    """Whether a name is a participle, alone or with its complement.

    >>> [is_participle(name) for name in ("opened", "_seen_by", "kept_rows", "is_open", "embed")]
    [True, True, False, False, False]
    """
    if name.startswith("__"):
        return False
    words = name.strip("_").split("_")
    return _is_participle_word(words[0]) and (len(words) == 1 or words[1] in PARTICLES)


def _is_participle_word(word: str) -> bool:
    if word in IRREGULAR:
        return True
    return len(word) > 3 and word.endswith(("ed", "en")) and word not in NOT_PARTICIPLES


def _is_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function answers yes or no: `converged -> bool` is a plain adjective."""
    return node.returns is not None and ast.unparse(node.returns) == "bool"


def fragments(tree: Tree) -> Iterator[Finding]:
    """Files with exactly one importer that would fit into it: cut off by the limit on length.

    Kernels are files of their own, whoever calls them.
    """
    for name, importers in tree.importers.items():
        module = tree.modules[name]
        if len(importers) != 1 or module.is_package or "kernels" in name:
            continue
        importer = tree.modules[next(iter(importers))]
        fits = importer.n_lines + module.n_lines <= LONGEST_FILE and not importer.is_package
        if fits and importer.folder == module.folder:
            what = (
                f"{module.n_lines} lines, only {tree.place(importer)} ({importer.n_lines}) uses it"
            )
            yield Finding(module, 1, what)


def inner_imports(tree: Tree) -> Iterator[Finding]:
    """Imports of the package's own modules inside functions."""
    for module in tree.modules.values():
        lines = {i.line: i.target for i in module.imports if i.how == "function"}
        for line, target in lines.items():
            yield Finding(module, line, target)


def string_imports(tree: Tree) -> Iterator[Finding]:
    """Modules of the package that are named by strings."""
    for module in tree.modules.values():
        for found in module.imports:
            if found.how == "string" and tree.resolve(found):
                yield Finding(module, found.line, found.target)


def cycles(tree: Tree) -> Iterator[Finding]:
    """Groups of modules that need each other at run time."""
    for group in tree.cycles():
        yield Finding(tree.modules[group[0]], 1, " <-> ".join(group))


def border_names(tree: Tree) -> Iterator[Finding]:
    """Names that one folder takes from another: each once, at the place where it is defined."""
    found: dict[tuple[str, str], int] = {}
    for name, module in tree.modules.items():
        for taken in module.imports:
            if taken.how in ("types", "string") or name == "freefloat":
                continue
            home = tree.home(taken.target, taken.name)
            if home not in tree.modules or tree.modules[home].folder == module.folder:
                continue
            if "/" in str(tree.modules[home].path.relative_to(tree.root / "src" / "freefloat")):
                found[home, taken.name or ""] = found.get((home, taken.name or ""), 0) + 1
    for (home, name), count in sorted(found.items()):
        yield Finding(tree.modules[home], 1, f"{name} ({count} imports)")


def repeated_classes(tree: Tree) -> Iterator[Finding]:
    """Public class names that two modules define."""
    places: dict[str, list[tuple[Module, int]]] = defaultdict(list)
    for module in tree.modules.values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append((module, node.lineno))
    for name, where in sorted(places.items()):
        if len(where) > 1:
            for module, line in where:
                yield Finding(module, line, name)


def repeated_stems(tree: Tree) -> Iterator[Finding]:
    """File names that stand in two folders.

    Kernels may bear the name of their wrapper, and a command that of the function it calls.
    """
    places: dict[str, list[Module]] = defaultdict(list)
    for module in tree.modules.values():
        stem = module.path.stem
        of_a_paper = "papers" in module.path.parts and stem in PAPER_STEMS
        if stem not in SHARED_STEMS and not of_a_paper and module.folder != "cli":
            places[stem].append(module)
    for stem, modules in sorted(places.items()):
        homes = {module.subfolder.removesuffix("/kernels") for module in modules}
        if len(homes) > 1:
            for module in modules:
                yield Finding(module, 1, stem)


def comment_lines(module: Module) -> int:
    """Lines that are a comment, save instructions to tools."""
    lines = (line.lstrip() for line in module.text.splitlines())
    return sum(line.startswith("#") and not TOOL_COMMENT.match(line) for line in lines)


def code_lines(module: Module) -> int:
    """Lines that are neither empty, nor only a comment, nor part of a docstring."""
    documented: set[int] = set()
    for node in module.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                documented |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in documented
        for number, line in enumerate(module.text.splitlines(), start=1)
    )


def literals(tree: Tree) -> set[str]:
    """Every word or phrase of a `Literal[...]` in the source, statuses above all."""
    return {
        part.value
        for module in tree.modules.values()
        for node in module.nodes
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal"
        for part in ast.walk(node.slice)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def english_asserts(tests: Path, words: Collection[str] = ()) -> Iterator[tuple[Path, int, str]]:
    """Asserts in tests that look for a sentence: a string of three words or more.

    words: phrases that are data (see `literals`), hence no sentences.
    """
    for path in sorted(tests.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        for node in ast.walk(tree):
            asserted = isinstance(node, ast.Assert) and node.test
            matched = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "raises"
            looked = asserted or (matched and [k for k in node.keywords if k.arg == "match"])
            for part in looked if isinstance(looked, list) else [looked] if looked else []:
                sentence = _sentence_in(part, words)
                if sentence:
                    yield path, node.lineno, sentence
                    break


def _sentence_in(node: ast.AST, words: Collection[str]) -> str | None:
    for part in ast.walk(node):
        text = part.value if isinstance(part, ast.Constant) else None
        if text in words:
            continue
        if isinstance(text, str) and len(re.findall(r"[A-Za-z]{2,}", text)) >= 3 and " " in text:
            return text
    return None


def _assignment(node: ast.stmt) -> tuple[list[ast.expr], ast.expr | None]:
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, ast.AnnAssign):
        return [node.target], node.value
    return [], None


def _is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone: 3, -0.5, 10 * 60, (1, 2), radians(5)."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    parts = _parts(node)
    return bool(parts) and all(_is_number(part) for part in parts)


def _parts(node: ast.expr) -> list[ast.expr]:
    """What a container, or a function of mathematics, is made of."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.Call) and not node.keywords:
        is_mathematics = re.match(r"(np|math|float)\b", ast.unparse(node.func))
        return node.args if is_mathematics else []
    return []


def _is_structure(node: ast.expr) -> bool:
    """Whether a container holds whole numbers only: rows, columns and counts, nothing to tune."""
    is_container = isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict)
    return is_container and not any(
        isinstance(part, ast.Constant) and isinstance(part.value, float) for part in ast.walk(node)
    )


LISTS: dict[str, Callable[[Tree], Iterator[Finding]]] = {
    "constants": without_origin,
    "all-constants": constants,
    "participles": participles,
    "fragments": fragments,
    "cycles": cycles,
    "stems": repeated_stems,
    "classes": repeated_classes,
    "inner-imports": inner_imports,
    "strings": string_imports,
    "borders": border_names,
}
