"""Fits on disk: a JSON file with both models inside that comes back bit for bit.

One key a line: `format` and `version`, the verdict, the estimates, the covariance, and both models
as the text of model files. Numbers have all their digits; NaN travels as null, infinity as text.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.errors import Fault, FreefloatError, IdentificationError, ModelError
from freefloat.files import atomic_write
from freefloat.model.model_file import read_model_text
from freefloat.model.model_write import write_model_text
from freefloat.records import json_text
from freefloat.records.bounded_read import FileKind, read_text
from freefloat.records.json_text import JSON, read_json, write_json
from freefloat.records.schema import Schema, table_of

if TYPE_CHECKING:
    from freefloat.identification.fit import Fit

# format: 64 MB are the covariance of 1700 parameters; the parser reads 50 megabytes a second
FIT_FILE = FileKind(
    "fit", IdentificationError, ".json", 64 * 2**20, "identify fewer parameters at once"
)
MODELS = ("model", "prior_model")
# In this order in the file: what a person looks for comes first.
KEYS = (
    *(
        "status",
        "status_code",
        "is_trustworthy",
        "method",
        "reason",
        "scale",
        "estimates",
        "combinations",
    ),
    *("trades", "residuals", "notes", "provenance", "covariance"),
)


@cache
def _schema(record: type[Fit]) -> Schema:
    instead = {"covariance": json_text.matrix, **dict.fromkeys(MODELS, json_text.text)}
    table = table_of(record, JSON, instead=instead, is_built=True)
    return Schema(replace(table, record=None), JSON)


def read_fit(record: type[Fit], path: str | Path) -> Fit:
    """The fit in a fit file (.json), as a record of that class."""
    FIT_FILE.require_suffix(path)
    return read_fit_text(record, read_text(Path(path), FIT_FILE), file=Path(path).name)


def read_fit_text(record: type[Fit], text: str, *, file: str = "JSON text") -> Fit:
    """The fit of the text of a fit file, as a record of that class."""
    given = read_json(text, _schema(record), file=file, kind=FIT_FILE)
    faults: list[Fault] = []
    for key in MODELS:
        try:
            given[key] = read_model_text(given[key], file=f"{file}: {key}")
        except ModelError as error:
            faults += error.faults
    if faults:
        raise IdentificationError(f"{file}: a model in it cannot be read", faults)
    try:
        return record(**given)
    except FreefloatError as error:
        raise IdentificationError(f"{file}: not a sound fit", error.faults) from None


def save_fit(fit: Fit, path: str | Path) -> None:
    """Write a fit file (.json), whole or not at all; `load_fit` gives the same bits back."""
    FIT_FILE.require_suffix(path)
    data = write_fit(fit).encode("ascii")
    FIT_FILE.require_size(len(data), str(path))
    atomic_write(path, data)


def write_fit(fit: Fit) -> str:
    """The fit as the text of a fit file; raises ModelError for a model no file can hold."""
    content = {key: getattr(fit, key) for key in KEYS}
    return write_json(
        content | {key: write_model_text(getattr(fit, key)) for key in MODELS}, FIT_FILE
    )
