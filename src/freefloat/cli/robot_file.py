"""The robot a verb is about: its file read, and told of what was read in another way."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freefloat.model import Model

# format: codes of notes on what stands in for something that a file says in no usable way
SUBSTITUTED = "substituted."
OTHER_PARTS = ("urdf.parts", "mjcf.bodies")  # codes: a model is not that of a file any more


def read_robot(name_or_path: str, *, strict: bool) -> Model:
    """The model of that name or file; what was substituted in it is told on standard error."""
    from freefloat.model import load_model

    model = load_model(name_or_path, strict=strict)
    _tell(model.notes)
    return model


def write_robot(model: Model, path: Path, origin: str) -> None:
    """Save a model; like the file it was read from, where that is of the same kind and beside it.

    Elsewhere it is written anew, which is told: meshes are named from where the file is.
    """
    from freefloat.errors import ModelError
    from freefloat.model.model_write import MJCF

    source = Path(origin)
    kind, written = source.suffix.lower(), path.suffix.lower()
    if not (kind == written == ".urdf" or (kind in MJCF and written in MJCF)):
        model.save(path)
        return
    reason = f"write it beside {source} to keep them"
    if source.absolute().parent == path.absolute().parent:
        try:
            model.save(path, like=source)
            return
        except ModelError as error:
            if not set(error.codes) & set(OTHER_PARTS):
                raise
            reason = f"the model has other parts than {source}"
    from freefloat.cli import screen

    lost = "comments" if kind == ".urdf" else "comments and meshes"
    screen.note(f"note: {path} is written anew, without the {lost} of {source}: {reason}")
    model.save(path)


def equip(model: Model) -> Model:
    """The model with the usual sensors where it has none, which is told."""
    from freefloat.model.default_sensors import with_default_sensors

    equipped = with_default_sensors(model)
    _tell(equipped.notes[len(model.notes) :])
    return equipped


def _tell(notes: Iterable[str]) -> None:
    from freefloat.cli import screen
    from freefloat.errors import shorten
    from freefloat.notes import Note

    for note in notes:
        if isinstance(note, Note) and note.code.startswith(SUBSTITUTED):
            screen.note(f"note: {shorten(note, 400)}")
