"""MATLAB (version 5): a struct a quantity, `base_rate` with t, x, y, z; t [s] are its instants.

Samples that cannot be used are NaN. Files of others are read with a map (`telemetry/recordings`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from freefloat.errors import FreefloatError
from freefloat.telemetry.readers.channel_groups import (
    KEY,
    about_text,
    channel_groups,
    telemetry_of_groups,
)
from freefloat.telemetry.readers.mat_sizes import load_mat, require_mat_size
from freefloat.telemetry.readers.tables import (
    FileContent,
    TelemetryFormat,
    contents,
    unreadable,
)
from freefloat.telemetry.telemetry import Telemetry

_LONGEST = 50  # format: characters of a variable, with room for a number behind


def write(telemetry: Telemetry, path: Path, *, truth_tag: str) -> None:
    """Write the telemetry, without its truth, as one struct a quantity."""
    from scipy.io import savemat

    groups = channel_groups(telemetry)
    call = _variables([group.name for group in groups])
    content: dict[str, object] = {
        call(group.name): {
            "t": group.time,
            **{field: channel.values for field, channel in group.channels.items()},
            "unit": next(iter(group.channels.values())).unit,
        }
        for group in groups
    }
    content[KEY] = about_text(telemetry, groups, truth_tag=truth_tag, call=call)
    with path.open("wb") as file:
        savemat(file, content, do_compression=True, long_field_names=True, oned_as="column")


def _variables(names: list[str]) -> Callable[[str], str]:
    """Names that MATLAB takes for variables, each another."""
    found: dict[str, str] = {}
    for name in names:
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_LONGEST]
        word = word if word[:1].isalpha() else f"c_{word}"
        taken = {*found.values(), KEY}
        found[name] = word if word not in taken else f"{word}_{len(found)}"
    return found.__getitem__


def read(path: Path, *, max_bytes: int) -> FileContent:
    """Return the telemetry that freefloat wrote into a MATLAB file."""
    data = contents(path, max_bytes=max_bytes)
    text, groups = None, {}
    if not data.startswith((b"MATLAB 7.3", b"\x89HDF")):  # which freefloat does not write
        try:
            require_mat_size(path, data, max_bytes=max_bytes)
            found = load_mat(path)
        except FreefloatError:
            raise
        except Exception as error:  # scipy raises many kinds on damaged files
            value = f"content its reader cannot follow ({type(error).__name__}: {error})"
            expected, remedy = "an undamaged MATLAB file", "fetch or write the file again"
            raise unreadable(path, value, expected, remedy, code="file.damaged") from error
        text = found.get(KEY) if isinstance(found.get(KEY), str) else None
        groups = {name: one for name, one in found.items() if isinstance(one, dict)}
    return telemetry_of_groups(path, text, groups)


FORMAT = TelemetryFormat("MATLAB", (".mat",), read, write, begins=(b"MATLAB 5.0",))
