"""Models by name or path: the built-in ones, and those in .toml and .urdf files.

The built-in models are plain model files in the folder `library`, to load or to copy.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from freefloat.errors import Fault, ModelError, require_type
from freefloat.files import atomic_write, output_fault, together
from freefloat.model.model_write import MJCF
from freefloat.part_files import is_same_file
from freefloat.text import did_you_mean

if TYPE_CHECKING:
    from freefloat.model.model import Model


URDF = (".urdf", ".xacro")
SUFFIXES = (".toml", *URDF, *MJCF)


def load_model(name_or_path: str | Path, *, strict: bool = False) -> Model:
    """The built-in model of that name, or the model in a .toml, .urdf, .xacro or MJCF (.xml) file.

    Args:
        name_or_path: the name of a built-in model, or a file.
        strict: refuse a robot of which anything has to be read in another way than it is written;
            otherwise `notes` of the model say what was.

    Returns:
        The model.

    Raises:
        ModelError: listing every fault found in the file.

    >>> load_model("servicer").name
    'servicer'
    """
    path = _path_of(name_or_path)
    if path.suffix.lower() in URDF:
        from freefloat.model.urdf import read_urdf

        return read_urdf(path, strict=strict)
    if path.suffix.lower() in MJCF:
        return _read_xml(path, strict=strict)
    from freefloat.model.model_file import read_model

    return read_model(path, strict=strict)


def _read_xml(path: Path, *, strict: bool) -> Model:
    """The model of an .xml file, which may be MJCF or a URDF."""
    from freefloat.model.mujoco_ import is_mjcf, read_mjcf
    from freefloat.model.urdf import read_urdf

    return read_mjcf(path, strict=strict) if is_mjcf(path) else read_urdf(path, strict=strict)


def _path_of(name_or_path: str | Path) -> Path:
    """The file meant by a name or a path; a ModelError that helps where there is none."""
    require_type(name_or_path, (str, Path), "name_or_path", error=ModelError)
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
        value, expected = path.suffix or "no suffix", " or ".join(SUFFIXES)
        remedy = "give a model file (.toml), a URDF (.urdf, .xacro) or MJCF (.xml)"
        fault = Fault(str(path), value, expected, remedy, "file.suffix")
        raise ModelError(f"{path.name or path}: not a model file", [fault])
    return path


def model_files(name_or_path: str | Path) -> tuple[Path, ...]:
    """The files that a model is read from: its own, and the URDF that it names.

    >>> [path.name for path in model_files("servicer")]
    ['servicer.toml']
    """
    path = _path_of(name_or_path)
    urdf = "" if path.suffix.lower() in (*URDF, *MJCF) else _description_and_urdf(path)[1]
    return (path, path.parent / urdf) if urdf else (path,)


def _missing(name: str, known: list[str]) -> ModelError:
    everything = f": {', '.join(known)}" if known else ""
    guess = did_you_mean(Path(name).stem, known, most=3)
    remedy = "`freefloat models` lists the built-in ones"
    fault = Fault(
        name,
        "neither a file nor a built-in model",
        "the path of a .toml or .urdf file, or the name of a built-in model",
        f"{guess} {remedy}" if guess else f"{remedy}{everything}",
        "file.missing",
    )
    return ModelError(f"{Path(name).name[:100]}: there is no such model", [fault])


# ---- Built-in models -----------------------------------------------------------------------------


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
    return [
        BuiltinModel(name, _description_and_urdf(path)[0], path)
        for name, path in builtin_paths().items()
    ]


def builtin_paths() -> dict[str, Path]:
    """The file of every built-in model, by name."""
    folder = Path(str(files("freefloat.model") / "library"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def copy_model(name: str, destination: str | Path, *, overwrite: bool = False) -> list[Path]:
    """Copy a built-in model, its URDF included, into a folder or to a .toml file.

    Args:
        name: Of the built-in model (`builtin_models`).
        destination: A folder, or a file that ends in .toml.
        overwrite: Whether files that exist are replaced.

    Returns:
        The files made.

    Raises:
        ModelError: There is no such model, or a file exists or cannot be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in copy_model("cepheus", folder)]
    ['cepheus.toml']
    """
    known = builtin_paths()
    if name not in known:
        remedy = did_you_mean(name, known, otherwise="choose one of these")
        fault = Fault("name", repr(name), ", ".join(known), remedy, "name.unknown")
        raise ModelError(f"there is no built-in model called {name!r}", [fault])
    source, destination = known[name], Path(destination)
    is_file = destination.suffix.lower() == ".toml"
    folder = destination.parent if is_file else destination
    if not is_file and destination.exists() and not destination.is_dir():
        expected, remedy = "a folder, or a name that ends in .toml", "name another place"
        fault = Fault(str(destination), "no folder", expected, remedy, "file.unwritable")
        raise ModelError(f"{name}: not copied", [fault])
    copies = {source: destination if is_file else folder / source.name}
    urdf = _description_and_urdf(source)[1]
    if urdf:
        copies[source.parent / urdf] = folder / urdf
    value, expected = "a file that exists", "a new file"
    remedy = "say overwrite=True to replace it"
    faults = [
        Fault(str(target), value, expected, remedy, "file.exists")
        for target in copies.values()
        if target.is_file() and not overwrite
    ]
    faults += [fault for target in copies.values() if (fault := output_fault(target)) is not None]
    faults += [
        Fault(str(target), "the built-in model itself", "a copy", "name another place",
              "file.conflict")
        for original, target in copies.items() if is_same_file(original, target)
    ]  # fmt: skip
    if faults:
        raise ModelError(f"{name}: not copied", faults)
    for target in copies.values():
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            place, value = str(target.parent), str(error.strerror)
            fault = Fault(place, value, "a folder", "choose another one", "file.unwritable")
            raise ModelError(f"{name}: not copied", [fault]) from None
    with together():
        for original, target in copies.items():
            atomic_write(target, original.read_bytes())
    return list(copies.values())


def _description_and_urdf(path: Path) -> tuple[str, str]:
    """The first line of a model file's description, and the URDF it names, if any."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a damaged installation must not hide the other models
        return "(cannot be read)", ""
    lines = str(raw.get("description", "")).strip().splitlines()
    return (lines[0] if lines else ""), str(raw.get("urdf", ""))
