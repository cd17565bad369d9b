"""What a run was made from, for the provenance of its result, so that it can be made again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from hashlib import sha256
from pathlib import Path
from typing import Any


def given_options(*groups: Any) -> str:
    """The options of dataclasses that differ from their defaults, as they would be typed.

    >>> from freefloat.cli.options import RecordingOptions
    >>> given_options(RecordingOptions(Path("map.toml"), noise=("base.rate.*=1e-4", "a.*=1")))
    "--map map.toml --noise 'base.rate.*=1e-4' --noise 'a.*=1'"
    """
    return shlex.join(word for group in groups for word in _words(group))


def _words(group: Any) -> Iterator[str]:
    for field in fields(group):
        value, option = getattr(group, field.name), f"--{field.name.replace('_', '-')}"
        if value is None or (field.default is not MISSING and value == field.default):
            continue
        if isinstance(value, bool):
            yield option if value else f"--no-{option[2:]}"
            continue
        is_repeated = isinstance(value, tuple) and not all(isinstance(v, float) for v in value)
        for one in value if is_repeated else [value]:
            yield option
            yield from map(str, one if isinstance(one, tuple) else [one])


def source_record(
    model: str, flights: Sequence[Path], *, recording_map: Path | None, options: str
) -> dict[str, str]:
    """Model, flights and map with the sha256 of what was read, and the options that were given."""
    sources = {"model": model}
    for number, path in enumerate(flights, start=1):
        sources[f"flight_{number}"] = str(path)
        sources[f"flight_{number}_sha256"] = file_digest(path)
    if recording_map is not None:
        sources |= {"map": str(recording_map), "map_sha256": file_digest(recording_map)}
    return sources | ({"options": options} if options else {})


def file_digest(path: Path) -> str:
    """The sha256 of a file, or of the files of a folder one after another (a ROS 2 bag)."""
    parts = sorted(path.iterdir()) if path.is_dir() else [path]
    whole = sha256()
    for part in parts:
        with part.open("rb") as file:
            while data := file.read(2**20):
                whole.update(data)
    return whole.hexdigest()
