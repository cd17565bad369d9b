"""The robot a verb is about: its file read, and told of what was read in another way."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freefloat.model import Model

# format: codes of notes on what stands in for something that a file says in no usable way
SUBSTITUTED = "substituted."


def read_robot(name_or_path: str, *, strict: bool) -> Model:
    """The model of that name or file; what was substituted in it is told on standard error."""
    from freefloat.model import load_model

    model = load_model(name_or_path, strict=strict)
    _tell(model.notes)
    return model


def mjcf_of(name_or_path: str) -> Path | None:
    """The file of a robot where that is one that MJCF may be written like."""
    from freefloat.model.model_write import MJCF

    path = Path(name_or_path)
    return path if path.suffix.lower() in MJCF else None


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
