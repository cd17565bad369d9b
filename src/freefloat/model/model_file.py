"""Model files (TOML), read strictly: every fault at once, with its path, line and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from freefloat.errors import Fault, ModelError
from freefloat.model.checks import structure_faults
from freefloat.model.joint_wheels import turn_into_wheels
from freefloat.model.model import Model
from freefloat.model.model_tables import NAMED, SECTIONS, build, model_schema
from freefloat.model.model_write import MJCF
from freefloat.model.mujoco_ import is_mjcf, read_mjcf
from freefloat.model.uncertainty import entries_of, name_faults, place_of
from freefloat.model.urdf import draft_urdf
from freefloat.model.urdf_values import UrdfReader
from freefloat.model.urdf_write import extras_faults
from freefloat.model.xacro_ import read_urdf_bytes
from freefloat.records.bounded_read import FileKind, path_inside, read_text
from freefloat.records.fault_list import NamedFaults
from freefloat.records.toml_text import entries, lines_of, parse_toml
from freefloat.records.values import KeyPath

# format: a megabyte is ten times the largest robot; the parser reads about one a second
MODEL_FILE = FileKind(
    "model",
    ModelError,
    ".toml",
    2**20,
    "move meshes and pictures to files of their own, or check that this is a model file",
)
REFERENCES = ("parent", "child", "body", "on")  # keys whose value is the name of another part


def read_model(path: str | Path, *, strict: bool = False) -> Model:
    """The model of a model file, with the URDF beside it if it names one.

    Raises ModelError listing everything wrong with either file; `strict` is for the URDF.
    """
    path = Path(path)
    text = read_text(path, MODEL_FILE)
    return read_model_text(text, file=path.name, folder=path.parent, strict=strict)


def read_model_text(
    text: str, *, file: str = "TOML text", folder: Path | None = None, strict: bool = False
) -> Model:
    """The model of the text of a model file; only with a `folder` may it name a URDF.

    >>> text = 'format = 1; name = "one"; body = [{ name = "bus", mass = 5, inertia = [1, 1, 1] }]'
    >>> read_model_text(text.replace("; ", chr(10))).body("bus").mass
    5.0
    """
    raw = parse_toml(text, file=file, kind=MODEL_FILE, sections=SECTIONS)
    faults = ModelFaults(file, raw, lines_of(text))
    base, urdf = _read_urdf(raw, folder, faults=faults, strict=strict)
    faults.faults += urdf.faults if urdf is not None else []
    reading = model_schema().read(raw)
    faults.extend(reading.faults)
    # Without the URDF it names, a model file would seem to lack all that is in there.
    is_complete = base is not None or "urdf" not in raw
    model = build(reading.content, base, faults) if is_complete else None
    if model is not None:
        model, no_wheels = turn_into_wheels(model)
        faults.add_checks(no_wheels, urdf)
        faults.add_checks([*structure_faults(model), *extras_faults(model)], urdf)
        if len(faults.faults) == sum(path[0] == "uncertainty" for path in faults.paths):
            # the model is sound otherwise, so that it has names
            faults.add_checks(name_faults(model, faults.stated), urdf)
    faults.raise_any(MODEL_FILE)
    assert model is not None  # it is None only where something is wrong
    return model


def _read_urdf(
    raw: dict[str, Any], folder: Path | None, *, faults: NamedFaults, strict: bool
) -> tuple[Model | None, UrdfReader | None]:
    """The draft of the URDF a model file names; what makes it unreadable is written down."""
    name = raw.get("urdf")
    if not isinstance(name, str):
        return None, None
    if folder is None:
        expected, remedy = "no urdf in a text without a folder", "read it from a file"
        path = Fault("", repr(name), expected, remedy, "file.outside")
    else:
        path = path_inside(folder, name)
    if isinstance(path, Fault):
        line = faults.line(("urdf",))
        faults.faults.append(replace(path, place=faults.place(("urdf",)), line=line))
        return None, None
    try:
        if path.suffix.lower() in MJCF and is_mjcf(path):
            return read_mjcf(path, strict=strict), None
        return draft_urdf(read_urdf_bytes(path), path.name, strict=strict)
    except ModelError as error:
        faults.faults += error.faults
        return None, None


class ModelFaults(NamedFaults):
    """Faults found so far in one model file, and where its parts are."""

    def __init__(self, file: str, raw: dict[str, Any], lines: dict[KeyPath, int]) -> None:
        super().__init__(file, lines=lines)
        for section in NAMED:
            for i, entry in enumerate(entries(raw, section)):
                if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                    self.names[section, i] = entry["name"]
        for path, name in self.names.items():
            self.register_part(path, name)
        table = raw.get("uncertainty")
        self.stated = [key for key, _ in entries_of(table if isinstance(table, dict) else {})]
        for key in self.stated:
            self._paths[place_of(key)] = ("uncertainty", key)

    def register_part(self, path: KeyPath, name: str) -> None:
        """Remember where a part is; a target is also a body, a tank also a joint."""
        self.register(path, name, kinds=("body", "joint"))

    def add_checks(self, faults: Iterable[Fault], urdf: UrdfReader | None) -> None:
        """Add the faults of a model at their places in the files, without those told already."""
        for fault in faults:
            is_ours = self.path_of(fault.place) in self.lines
            if urdf is not None and fault.place in urdf.lines and not is_ours:
                self.faults += urdf.locate([fault])
            else:
                self.add_check(fault)

    def is_told(self, path: KeyPath) -> bool:
        """Whether a fault at `path` only repeats one that has been written down already."""
        if super().is_told(path):
            return True
        if path[-1] in REFERENCES and self._is_name_missing():
            return True  # what is named may well be the part whose name could not be read
        if path[:1] == ("sensor",) and path[-1] == "on" and self._is_seat_unknown(path):
            return True
        # What is said of a whole part that has no name, or of half a sensor, says nothing new.
        is_half_read = (*path, "name") in self.paths or path[:1] == ("sensor",)
        return len(path) == 2 and is_half_read and any(known[:2] == path for known in self.paths)

    def _is_name_missing(self) -> bool:
        """Whether a named part, or a whole section of them, could not be read."""
        return any(
            known[0] in NAMED and (len(known) < 3 or known[2:] == ("name",)) for known in self.paths
        )

    def _is_seat_unknown(self, path: KeyPath) -> bool:
        """Whether what the sensor at `path` reads, or the drive it may sit on, was told wrong."""
        is_kind_wrong = (*path[:2], "kind") in self.paths
        return is_kind_wrong or any(known[2:] == ("drive",) for known in self.paths)
