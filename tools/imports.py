"""What one Python file says, and what it needs to run: read from its syntax tree, never imported.

Two files say the same if they differ in comments, docstrings and layout only. What a file needs is
a list of dotted names; whoever reads it decides which of them are modules of the project.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
DOTTED = re.compile(r"\w+(\.\w+)+")
SCRIPT = re.compile(r"[\w-]+\.(py|cpp)")
IMPORT_LINE = re.compile(r"^\s*(?:from|import)\s+([\w.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A file in short.

    needs: dotted names, with * where a part is only known at run time; names of scripts it starts.
    lazy: the names that a package hands out only when they are asked for, and where they live.
    """

    digest: str
    needs: tuple[str, ...] = ()
    lazy: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The fields, for a file of JSON."""
        return asdict(self)


def read_source(text: str, module: str) -> Source:
    r"""The digest and the needs of a file; module is its dotted name.

    >>> read_source("# why\nimport a.b\n", "m") == read_source("import a.b", "m")
    True
    >>> read_source("from a import b", "m").needs
    ('a.b',)
    """
    tree = ast.parse(text)
    nodes = _visit(tree)
    words: list[str] = []
    _write(tree, words)
    digest = hashlib.sha256("\0".join(words).encode()).hexdigest()
    lazy = _lazy_names(tree)
    needs = set(_imports(nodes, module))
    if not lazy:  # a package that hands out names lazily lists all of them as strings
        needs |= set(_named_in_strings(nodes))
    return Source(digest, tuple(sorted(needs)), lazy)


def _write(node: ast.AST, words: list[str]) -> None:
    """The tree as words. Unlike ast.dump it is the same in every version of Python."""
    words.append(type(node).__name__)
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or isinstance(value, ast.expr_context):
            continue
        words.append(name)
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, ast.AST):
                _write(part, words)
            else:
                words.append(repr(part))
    words.append(".")


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _visit(tree: ast.AST) -> list[ast.AST]:
    """Every node but those that only type checkers see; docstrings are taken out on the way."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:  # which grows meanwhile
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        if isinstance(node, ast.If) and _is_for_types(node):
            nodes += node.orelse
        else:
            nodes += ast.iter_child_nodes(node)
    return nodes


def _imports(nodes: list[ast.AST], module: str) -> Iterator[str]:
    """Names in import statements anywhere, `package.name` where a package is used by its name."""
    bound: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                first = alias.name.partition(".")[0]
                bound[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            home = _home_of(node, module)
            for alias in node.names:
                yield f"{home}.{alias.name}"
                bound[alias.asname or alias.name] = f"{home}.{alias.name}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield _pattern(node.args[0], module)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            home = bound.get(node.value.id)
            if home is not None:
                yield f"{home}.{node.attr}"


def _home_of(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return node.module or ""
    package = module.rsplit(".", node.level)[0]
    return f"{package}.{node.module}" if node.module else package


def _pattern(name: ast.expr, module: str) -> str:
    """The argument of import_module, with * for what only the run knows."""
    if isinstance(name, ast.Constant):
        return str(name.value)
    if not isinstance(name, ast.JoinedStr):
        return ""
    parts = []
    for part in name.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            is_own = isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__"
            parts.append(module if is_own else "*")
    return "".join(parts)


def _named_in_strings(nodes: list[ast.AST]) -> Iterator[str]:
    """What strings name: modules, scripts, programs of other interpreters, `-m package`."""
    for node in nodes:
        if isinstance(node, ast.List | ast.Tuple | ast.Call):
            parts = node.args if isinstance(node, ast.Call) else node.elts
            words = [part.value if isinstance(part, ast.Constant) else None for part in parts]
            for flag, package in pairwise(words):
                if flag == "-m" and isinstance(package, str):
                    yield f"{package}.__main__"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
            if DOTTED.fullmatch(text) or SCRIPT.fullmatch(text):
                yield text
            elif "import " in text:
                yield from IMPORT_LINE.findall(text)


def _lazy_names(tree: ast.Module) -> dict[str, str]:
    """What a module's own __getattr__ promises to type checkers."""
    if not any(isinstance(n, ast.FunctionDef) and n.name == "__getattr__" for n in tree.body):
        return {}
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for block in tree.body
        if _is_for_types(block)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
