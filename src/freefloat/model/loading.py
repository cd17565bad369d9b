"""Models by name or path: read from .toml and .urdf files, written back to them."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.errors import Fault, ModelError
from freefloat.files import atomic_write
from freefloat.model.library import builtin_paths

if TYPE_CHECKING:
    from freefloat.model.model import Model

SUFFIXES = (".toml", ".urdf")


def load_model(name_or_path: str | Path) -> Model:
    """The built-in model of that name, or the model in a .toml or .urdf file.

    Raises ModelError listing every fault found in the file.

    >>> load_model("servicer").name
    'servicer'
    """
    path = _found(name_or_path)
    if path.suffix.lower() == ".urdf":
        from freefloat.model.urdf import read_urdf

        return read_urdf(path)
    from freefloat.model.model_file import read_model

    return read_model(path)


def save_model(model: Model, path: str | Path) -> None:
    """Write a model to a .toml file (complete) or a .urdf file (bodies and joints).

    The file is written whole or not at all. A URDF names in a comment what it cannot hold.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".toml":
        from freefloat.model.model_file import write_model_text

        text = write_model_text(model)
    elif suffix == ".urdf":
        from freefloat.model.urdf_write import write_urdf

        text = write_urdf(model)
    else:
        remedy = "end the name in .toml (complete) or .urdf (bodies and joints)"
        fault = Fault(str(path), suffix or "no suffix", " or ".join(SUFFIXES), remedy)
        raise ModelError(f"{Path(path).name}: cannot write this kind of file", [fault])
    atomic_write(path, text)


def _found(name_or_path: str | Path) -> Path:
    """The file meant by a name or a path; a ModelError that helps where there is none."""
    path = Path(name_or_path)
    is_name = isinstance(name_or_path, str) and not path.suffix and len(path.parts) == 1
    known = builtin_paths()
    if is_name and name_or_path in known:
        return known[str(name_or_path)]
    try:
        exists = path.exists()
    except (OSError, ValueError):  # too long, or with a null character
        exists = False
    if not exists:
        raise _missing(str(name_or_path), list(known))
    if path.suffix.lower() not in SUFFIXES:
        remedy = "give a model file (.toml) or a URDF (.urdf)"
        fault = Fault(str(path), path.suffix or "no suffix", " or ".join(SUFFIXES), remedy)
        raise ModelError(f"{path.name or path}: not a model file", [fault])
    return path


def _missing(name: str, known: list[str]) -> ModelError:
    close = get_close_matches(Path(name).stem[:100], known, n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    listing = "`freefloat models` lists the built-in ones"
    fault = Fault(
        name,
        "neither a file nor a built-in model",
        "the path of a .toml or .urdf file, or the name of a built-in model",
        f"{hint}{listing}" + ("" if close else f": {', '.join(known)}" if known else ""),
    )
    return ModelError(f"{Path(name).name[:100]}: there is no such model", [fault])
