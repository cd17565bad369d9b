"""The built-in models: plain model files in the folder `library`, to load or to copy."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from freefloat.errors import Fault, ModelError
from freefloat.files import atomic_write


class BuiltinModel(NamedTuple):
    """A model that comes with freefloat: its name, one line about it, and its file."""

    name: str
    description: str
    path: Path


def builtin_models() -> list[BuiltinModel]:
    """The models that come with freefloat, by name.

    >>> "servicer" in [model.name for model in builtin_models()]
    True
    """
    return [BuiltinModel(name, _tables(path)[0], path) for name, path in builtin_paths().items()]


def builtin_paths() -> dict[str, Path]:
    """The file of every built-in model, by name."""
    folder = Path(str(files("freefloat.model") / "library"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def copy_model(name: str, destination: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Copy a built-in model, its URDF included, into a folder or to a .toml file; the files made.

    Files that exist are left alone, and named in a ModelError, unless `overwrite` is true.
    """
    known = builtin_paths()
    if name not in known:
        close = get_close_matches(name[:100], list(known), n=1)
        remedy = f"did you mean {close[0]!r}?" if close else "choose one of these"
        fault = Fault("name", repr(name), ", ".join(known), remedy)
        raise ModelError(f"there is no built-in model called {name!r}", [fault])
    source, destination = known[name], Path(destination)
    is_file = destination.suffix.lower() == ".toml"
    folder = destination.parent if is_file else destination
    copies = {source: destination if is_file else folder / source.name}
    urdf = _tables(source)[1]
    if urdf:
        copies[source.parent / urdf] = folder / urdf
    faults = [
        Fault(str(target), "a file that exists", "a new file", "say overwrite=True to replace it")
        for target in copies.values()
        if target.exists() and not overwrite
    ]
    if faults:
        raise ModelError(f"{name}: not copied", faults)
    for original, target in copies.items():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fault = Fault(str(target.parent), str(error.strerror), "a folder", "choose another one")
            raise ModelError(f"{name}: not copied", [fault]) from None
        atomic_write(target, original.read_bytes())
    return list(copies.values())


def _tables(path: Path) -> tuple[str, str]:
    """The first line of a model file's description, and the URDF it names, if any."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a damaged installation must not hide the other models
        return "(cannot be read)", ""
    lines = str(raw.get("description", "")).strip().splitlines()
    return (lines[0] if lines else ""), str(raw.get("urdf", ""))
