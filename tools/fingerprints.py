"""Fingerprints of code: a result is older than the code when what it depends on says other things.

A fingerprint covers everything that an entry reaches by imports, with the data files of the
packages on the way. Comments, docstrings and layout have no part in it, so that rewording makes
no result old.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from imports import Source, read_source

MODELS = (".toml", ".urdf")
PAGES = (".j2", ".css", ".js")
SCRIPTS = ("benchmarks", "tests")
MOST_REMEMBERED = 2000  # files; those that were not asked for go first
LENGTH = 16  # digits of a fingerprint: enough to tell states of one project apart


class Tree:
    """The sources of a checkout: the package in src, and scripts of other folders.

    remembered: a file that keeps what was read, by content, so that a second look takes no time.
    """

    def __init__(self, root: Path, *, remembered: Path | None = None) -> None:
        self.root = root
        self._remembered = remembered
        self._memory = _load(remembered)
        self._used: set[str] = set()
        self._sources: dict[Path, Source] = {}
        self._next: dict[Path, set[Path]] = {}
        self._digests: dict[Path, str] = {}

    @cached_property
    def modules(self) -> dict[str, Path]:
        """The modules of the package by their dotted names."""
        folder = self.root / "src"
        return {_dotted_name(path.relative_to(folder)): path for path in folder.rglob("*.py")}

    def fingerprint(self, entries: Iterable[str], *, data: tuple[str, ...] = MODELS) -> str:
        """The fingerprint of all that entries (dotted names, or paths from the root) reach."""
        reached = sorted(self.reach(entries))
        told = hashlib.sha256()
        for path in [*reached, *self._data(reached, data)]:
            told.update(f"{path.relative_to(self.root).as_posix()} {self._digest(path)}\n".encode())
        return told.hexdigest()[:LENGTH]

    def reach(self, entries: Iterable[str]) -> set[Path]:
        """Every file that entries need, themselves included."""
        named = tuple(entries)
        waiting = {path for entry in named for path in self._entry(entry)}
        reached: set[Path] = set()
        while waiting:
            path = waiting.pop()
            reached.add(path)
            if path.suffix == ".py":
                waiting |= self._needs(path) - reached
                for name in self._source(path).needs:
                    if "*" in name:
                        waiting |= self._matching(name, named) - reached
        return reached

    def remember(self) -> None:
        """Keep what was read, for the next run."""
        if self._remembered is not None:
            from freefloat.files import atomic_write

            others = [key for key in self._memory if key not in self._used]
            kept = [*others, *sorted(self._used)][-MOST_REMEMBERED:]
            self._remembered.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(
                self._remembered, json.dumps({key: self._memory[key].as_dict() for key in kept})
            )

    def _entry(self, entry: str) -> list[Path]:
        if entry in self.modules:
            return [*self._with_packages(entry)]
        found = sorted(self.root.glob(entry))
        if not found:
            raise FileNotFoundError(f"{entry} is neither a module nor a file of {self.root.name}")
        return found

    def _needs(self, path: Path) -> set[Path]:
        """The files that a file names; what is not of this project does not count."""
        if path not in self._next:
            scripts = self._scripts.get(path.relative_to(self.root).parts[0], {})
            found: set[Path] = set()
            for name in self._source(path).needs:
                script = scripts.get(name) or scripts.get(f"{name.partition('.')[0]}.py")
                found |= {script} if script else {*self._modules_of(name)}
            self._next[path] = found
        return self._next[path]

    def _matching(self, pattern: str, entries: tuple[str, ...]) -> set[Path]:
        """The modules a pattern may mean: those that an entry names, if it names any."""
        matching = [module for module in self.modules if fnmatchcase(module, pattern)]
        chosen = [module for module in matching if module in entries] or matching
        return {path for module in chosen for path in self._with_packages(module)}

    @cached_property
    def _scripts(self) -> dict[str, dict[str, Path]]:
        """Scripts of the folders beside src, by the names they call each other."""
        return {
            folder: {path.name: path for path in (self.root / folder).rglob("*.*")}
            for folder in SCRIPTS
        }

    def _modules_of(self, name: str) -> Iterator[Path]:
        module = name
        while module and module not in self.modules:
            package, _, attribute = module.rpartition(".")
            home = self._lazy_home(package, attribute)
            if home is not None:
                yield from self._modules_of(home)
            module = package
        yield from self._with_packages(module)

    def _lazy_home(self, package: str, attribute: str) -> str | None:
        path = self.modules.get(package)
        return self._source(path).lazy.get(attribute) if path is not None else None

    def _with_packages(self, module: str) -> Iterator[Path]:
        """A module and the packages it lives in, which are imported before it."""
        while module:
            if module in self.modules:
                yield self.modules[module]
            module = module.rpartition(".")[0]

    def _data(self, reached: Iterable[Path], suffixes: tuple[str, ...]) -> list[Path]:
        packages = {path.parent for path in reached if path.name == "__init__.py"}
        return [p for p, owner in self._owners if p.suffix in suffixes and owner in packages]

    @cached_property
    def _owners(self) -> list[tuple[Path, Path]]:
        """Data files and their packages; a folder without modules belongs to its parent."""
        packages = {path.parent for path in self.modules.values() if path.name == "__init__.py"}
        found = sorted(p for p in (self.root / "src").rglob("*") if p.suffix in (*MODELS, *PAGES))
        return [(path, next(f for f in path.parents if f in packages)) for path in found]

    def _source(self, path: Path) -> Source:
        if path not in self._sources:
            text = path.read_text(encoding="utf-8")
            parts = path.relative_to(self.root).parts
            module = _dotted_name(Path(*parts[1:])) if parts[0] == "src" else path.stem
            key = hashlib.sha256(f"{module}\0{text}".encode()).hexdigest()
            if key not in self._memory:
                self._memory[key] = read_source(text, module)
            self._used.add(key)
            self._sources[path] = self._memory[key]
        return self._sources[path]

    def _digest(self, path: Path) -> str:
        if path.suffix == ".py":
            return self._source(path).digest
        if path not in self._digests:
            content = path.read_bytes()
            if path.suffix == ".toml":  # its comments have no part in it either
                content = repr(tomllib.loads(content.decode("utf-8"))).encode()
            self._digests[path] = hashlib.sha256(content).hexdigest()
        return self._digests[path]


def _dotted_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _load(remembered: Path | None) -> dict[str, Source]:
    try:
        kept = json.loads(remembered.read_text(encoding="utf-8")) if remembered else {}
        return {key: Source(e["digest"], tuple(e["needs"]), e["lazy"]) for key, e in kept.items()}
    except (OSError, ValueError, KeyError, TypeError):  # a memory only: without it, read again
        return {}
