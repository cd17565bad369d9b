"""Fits on disk: a JSON file with both models inside that comes back bit for bit.

One key a line: `format` and `version`, the verdict, the estimates, the covariance, and both models
as the text of model files. Numbers have all their digits; NaN travels as null, infinity as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from freefloat.errors import Fault, IdentificationError
from freefloat.files import atomic_write
from freefloat.identification.fit import Fit
from freefloat.identification.fit_reading import FORMAT, MAX_BYTES, VERSION, read_fit
from freefloat.model.toml_write import write_toml


def load_fit(path: str | Path) -> Fit:
    """The fit in a fit file (.json).

    Raises IdentificationError listing every fault: file, place, value, expectation, remedy.
    """
    require_json(path)
    return read_fit(Path(path))


def save_fit(fit: Fit, path: str | Path) -> None:
    """Write a fit file (.json), whole or not at all; `load_fit` gives the same bits back."""
    require_json(path)
    data = write_fit(fit).encode("ascii")
    if len(data) > MAX_BYTES:
        value, expected = f"{len(data)} bytes", f"at most {MAX_BYTES} bytes"
        fault = Fault(str(path), value, expected, "identify fewer parameters at once")
        raise IdentificationError("the fit is too large to be written", [fault])
    atomic_write(path, data)


def write_fit(fit: Fit) -> str:
    """The fit as the text of a fit file; raises ModelError for a model no file can hold."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "status": fit.status,
        "is_trustworthy": fit.is_trustworthy,
        "method": fit.method,
        "reason": fit.reason,
        "scale": fit.scale,
        "estimates": [asdict(estimate) for estimate in fit.estimates],
        "combinations": [asdict(combination) for combination in fit.combinations],
        "trades": fit.trades,
        "residuals": [asdict(residual) for residual in fit.residuals],
        "notes": fit.notes,
        "provenance": fit.provenance,
        "covariance": fit.covariance.tolist(),
        "model": write_toml(fit.model),
        "prior_model": write_toml(fit.prior_model),
    }
    return json_lines(content)


def json_lines(content: Mapping[str, object]) -> str:
    """Named values as a JSON text, one a line; NaN as null."""
    lines = (f"{json.dumps(key)}: {_lines(value)}" for key, value in content.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: object) -> str:
    """A value as JSON; a list has one item a line, for people and for version control."""
    if isinstance(value, list | tuple) and value:
        return "[\n  " + ",\n  ".join(map(_text, value)) + "\n]"
    return _text(value)


def _text(value: object) -> str:
    # ASCII only: a lone surrogate in a note must not keep the file from being written.
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def require_json(path: str | Path) -> None:
    """Raise IdentificationError unless the name ends in .json."""
    found = Path(path).suffix
    if found.lower() != ".json":
        fault = Fault(str(path), found or "no suffix", ".json", "end the name in .json")
        raise IdentificationError(f"{Path(path).name}: not this kind of file", [fault])
