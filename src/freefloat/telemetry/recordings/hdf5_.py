"""HDF5 and MATLAB 7.3: every dataset a column or several, groups and structs by their path.

A dataset is refused by the size it declares, read in slabs where it is mapped and not at all where
it is not. Links to other files and data kept in other files are never followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.telemetry.readers.tables import require_file, too_large
from freefloat.telemetry.recordings.array_columns import (
    array_and_part,
    column_of_array,
    fields_of_array,
    part_of_array,
)
from freefloat.telemetry.recordings.source_recording import (
    Piece,
    RecordedField,
    RecordedStream,
    SourceFormat,
    SourceOptions,
    SourceRecording,
    border,
    require_library,
)

_MATLAB = b"MATLAB 7.3 MAT-file"  # format: how a .mat file that is HDF5 begins
_MOST_DATASETS = 10_000  # format: a file with more was not meant as a recording
_DEEPEST = 32  # format: groups in groups


def open_recording(path: Path, options: SourceOptions) -> SourceRecording:
    """The datasets of a file."""
    require_file(path, max_bytes=2**63)  # only what is mapped is read
    h5py = require_library("h5py", extra="bags", path=path)
    fields: list[RecordedField] = []
    places: dict[str, str] = {}
    with border(path, "HDF5"), h5py.File(path, "r") as file:
        for name, place, dataset in _datasets(file, h5py):
            if isinstance(dataset, str):
                fields.append(RecordedField(name, 0, None, dataset))
                continue
            shape, dtype = dataset.shape or (), dataset.dtype
            if prod(shape) * max(dtype.itemsize, 1) > options.max_bytes:
                raise too_large(path, prod(shape) * dtype.itemsize, max_bytes=options.max_bytes)
            unit = _unit(dataset)
            text = dataset.attrs.get("MATLAB_class") == b"char"
            found = [RecordedField(name, 0, None, "text")] if text else [
                *fields_of_array(name, shape, dtype, unit=unit)
            ]  # fmt: skip
            places[name] = place
            fields += found

    def read(wanted: Mapping[str, Sequence[str]]) -> Iterator[Piece]:
        with h5py.File(path, "r") as opened:
            for array, names in _by_array(wanted.get("", ()), list(places)).items():
                # read whole: its size was found to be within bounds, and slabs of a packed
                # dataset would unpack every chunk several times
                data = np.asarray(opened[places[array]][()])
                for name, part, number in names:
                    yield Piece("", {name: column_of_array(part_of_array(data, part), number)})

    return SourceRecording(path, "HDF5", (RecordedStream("", tuple(fields)),), read)


def _by_array(
    names: Sequence[str], arrays: Sequence[str]
) -> dict[str, list[tuple[str, str, int | None]]]:
    found: dict[str, list[tuple[str, str, int | None]]] = {}
    for name in names:
        array, part, number = array_and_part(name, arrays)
        found.setdefault(array, []).append((name, part, number))
    return found


def _unit(dataset: Any) -> str | None:
    """The unit that a dataset states, by one of the attributes people use for it."""
    for key in ("units", "unit", "Units"):
        value = dataset.attrs.get(key)
        if isinstance(value, bytes):
            value = value.decode("utf-8", errors="replace")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


def _datasets(file: Any, h5py: Any) -> Iterator[tuple[str, str, Any]]:
    """Every dataset with its name and place, or why it is not looked at."""
    waiting = [("", file, 0)]
    seen: set[Any] = set()
    count = 0
    while waiting:
        place, group, depth = waiting.pop()
        for key in group:
            count += 1
            if count > _MOST_DATASETS:
                raise ValueError(f"more than {_MOST_DATASETS} groups and datasets")
            here = f"{place}/{key}"
            name = here.strip("/").replace("/", ".")
            if key.startswith("#"):  # what MATLAB keeps for its own references
                continue
            if not isinstance(group.get(key, getlink=True), h5py.HardLink):
                yield name, here, "a link"
                continue
            one = group[key]
            if isinstance(one, h5py.Group):
                mark = h5py.h5o.get_info(one.id).addr
                if mark not in seen and depth < _DEEPEST:
                    seen.add(mark)
                    waiting.append((here, one, depth + 1))
            elif isinstance(one, h5py.Dataset):
                is_elsewhere = bool(one.external) or one.is_virtual
                yield name, here, "data kept in other files" if is_elsewhere else one


SOURCE = SourceFormat("HDF5", (".h5", ".hdf5", ".hdf"), open_recording, begins=(b"\x89HDF",))
