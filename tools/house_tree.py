"""The modules of a checkout as its syntax trees show them: what each defines and imports.

Nothing is imported, so that any commit can be read, and a module that would not load too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PACKAGE = "freefloat"
MODULE_STRING = re.compile(rf"{PACKAGE}(\.\w+)+")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)


@dataclass(frozen=True)
class Import:
    """One name that a module imports.

    target: the module it comes from, as written; with * where only the run knows a part.
    name: what is taken from there, None where the module itself is.
    how: `module` at the top, `function` inside of one, `string` by import_module or a lazy table,
        `types` for type checkers alone.
    """

    line: int
    target: str
    name: str | None
    how: str


class Module:
    """One file: its name, text, syntax tree and imports."""

    def __init__(self, path: Path, name: str, text: str) -> None:
        self.path, self.name, self.text = path, name, text
        self.is_package = path.name == "__init__.py"
        self.tree = ast.parse(text, filename=str(path))

    @cached_property
    def n_lines(self) -> int:
        """The lines of the file, empty ones and comments included."""
        return len(self.text.splitlines())

    @property
    def folder(self) -> str:
        """The folder or top-level module it belongs to: `model`, `errors`, `__init__`."""
        return (self.name.split(".") + ["__init__"])[1]

    @property
    def subfolder(self) -> str:
        """The folder with its subfolder: `online/kernels`, `online`; `` at the top."""
        parts = self.name.split(".")[1 : None if self.is_package else -1]
        return "/".join(parts)

    @property
    def package(self) -> str:
        """The package that relative imports begin at."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the syntax tree: walking it takes longer than most questions about it."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Every function and method, nested ones included."""
        return [node for node in self.nodes if isinstance(node, FUNCTIONS)]

    @cached_property
    def imports(self) -> list[Import]:
        """Whatever it imports from the package, at the top, in functions, by string, for types."""
        return list(self._imports(self.tree, "module"))

    def _imports(self, node: ast.AST, how: str) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if how != "types" and _is_for_types(child):
                for part in child.body:
                    yield from self._imports_here(part, "types")
                for part in child.orelse:
                    yield from self._imports_here(part, how)
            else:
                yield from self._imports_here(child, how)

    def _imports_here(self, node: ast.AST, how: str) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    yield Import(node.lineno, alias.name, None, how)
        elif isinstance(node, ast.ImportFrom):
            origin = self._origin(node)
            if origin.split(".")[0] == PACKAGE:
                for alias in node.names:
                    yield Import(node.lineno, origin, alias.name, how)
        elif isinstance(node, ast.Call) and _called(node) == "import_module":
            target = self._pattern(node.args[0]) if node.args else ""
            if target.split(".")[0] == PACKAGE:
                yield Import(node.lineno, target, None, "string")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A module's own package as a string is where its data files are.
            own = f"{self.package}.".startswith(f"{node.value}.")
            if MODULE_STRING.fullmatch(node.value) and not own:
                yield Import(node.lineno, node.value, None, "string")
        else:
            inside = "function" if how == "module" and isinstance(node, FUNCTIONS) else how
            yield from self._imports(node, inside)

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        base = ".".join(parts[: len(parts) - node.level + 1])
        return f"{base}.{node.module}" if node.module else base

    def _pattern(self, name: ast.expr) -> str:
        """The argument of import_module, with * for what only the run knows."""
        if isinstance(name, ast.Constant):
            return str(name.value)
        if not isinstance(name, ast.JoinedStr):
            return ""
        own = {"__name__": self.name, "__package__": self.package}
        return "".join(
            str(part.value)
            if isinstance(part, ast.Constant)
            else own.get(ast.unparse(part.value), "*")  # type: ignore[attr-defined]
            for part in name.values
        )


class Tree:
    """Every module of `src/freefloat` below root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        source = root / "src"
        self.modules: dict[str, Module] = {}
        for path in sorted((source / PACKAGE).rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.modules[name] = Module(path, name, path.read_text(encoding="utf-8"))

    def place(self, module: Module, line: int | None = None) -> str:
        """`src/freefloat/model/model.py:12`, to click on."""
        path = module.path.relative_to(self.root).as_posix()
        return path if line is None else f"{path}:{line}"

    def resolve(self, found: Import) -> list[str]:
        """The modules an import loads as it is written: the package or the module in it."""
        if "*" in found.target:
            pattern = re.escape(found.target).replace(r"\*", r"[^.]*")
            return [name for name in self.modules if re.fullmatch(pattern, name)]
        if found.name is not None and f"{found.target}.{found.name}" in self.modules:
            return [f"{found.target}.{found.name}"]
        target = found.target
        while target and target not in self.modules:
            target = target.rpartition(".")[0]  # a string may name what a module has
        return [target] if target else []

    def home(self, target: str, name: str | None) -> str:
        """The module that defines what `from target import name` hands on."""
        seen: set[str] = set()
        while name is not None and target not in seen and target in self.modules:
            seen.add(target)
            if f"{target}.{name}" in self.modules:
                return f"{target}.{name}"
            handed_on = [i for i in self.modules[target].imports if i.name == name]
            if not handed_on:
                break
            target = handed_on[0].target
        return target

    @cached_property
    def edges(self) -> dict[str, set[str]]:
        """What each module loads at run time, by whatever means, as it is written.

        The root package is left out: it hands out public names when they are asked for.
        """
        return {
            name: {
                target
                for found in module.imports
                if found.how != "types"
                for target in self.resolve(found)
            }
            - {name, PACKAGE}
            for name, module in self.modules.items()
            if name != PACKAGE
        }

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """Who imports each module, for types too; a package's re-export counts as one."""
        importers: dict[str, set[str]] = {name: set() for name in self.modules}
        for name, module in self.modules.items():
            for found in module.imports:
                for target in self.resolve(found):
                    if target != name:
                        importers[target].add(name)
        return importers

    def cycles(self) -> list[list[str]]:
        """Groups of modules that need each other at run time, imports in functions included."""
        return [sorted(group) for group in _components(self.edges) if len(group) > 1]


@cache
def tree_of(root: Path) -> Tree:
    """The tree of a checkout, read once by whoever asks."""
    return Tree(root)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _called(node: ast.Call) -> str:
    """The last name of what is called: `import_module` of importlib.import_module(...)."""
    function = node.func
    return getattr(function, "attr", "") or getattr(function, "id", "")


def _components(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components, by Tarjan's algorithm without recursion."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for root in edges:
        work = [(root, iter(sorted(edges[root])))] if root not in index else []
        if work:
            index[root] = low[root] = len(index)
            stack.append(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    place = stack.index(node)
                    found.append(stack[place:])
                    del stack[place:]
    return found
