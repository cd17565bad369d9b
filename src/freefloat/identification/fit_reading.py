"""Fit files (JSON), read strictly: every fault at once, with its place and remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freefloat.errors import IdentificationError, ModelError
from freefloat.identification.fit import Estimate, Fit, FittedCombination, Residual
from freefloat.identification.json_reading import JsonReader, parsed, text_in
from freefloat.model.model import Model

FORMAT, VERSION = "freefloat fit", 1
MAX_BYTES = 64 * 2**20  # the covariance of 1700 parameters; the parser reads 50 megabytes a second

PARTS = {"estimates": Estimate, "combinations": FittedCombination, "residuals": Residual}
TEXTS = ("status", "method", "reason", "scale")
MODELS = ("model", "prior_model")
KEYS = {"format", "version", "is_trustworthy", *TEXTS, *PARTS, "trades", "notes", "provenance"}
KEYS |= {"covariance", *MODELS}


def read_fit(path: Path) -> Fit:
    """The fit in a file; raises IdentificationError listing everything wrong with it."""
    text = text_in(path, most=MAX_BYTES, kind="fit")
    return read_fit_text(text, file=path.name)


def read_fit_text(text: str, *, file: str = "JSON text") -> Fit:
    """The fit of the text of a fit file."""
    reading = FitReading(file)
    raw = parsed(text, file)
    reading.require_format(raw, FORMAT, VERSION)
    reading.require_keys("", raw, KEYS, optional=set())
    parts: dict[str, Any] = {name: reading.text(name, raw.get(name, "")) for name in TEXTS}
    for name, kind in PARTS.items():
        parts[name] = reading.parts(name, raw.get(name, []), kind)
    for name in ("trades", "notes"):
        parts[name] = reading.items(name, raw.get(name, []), reading.text)
    parts["is_trustworthy"] = reading.flag("is_trustworthy", raw.get("is_trustworthy", False))
    parts["provenance"] = reading.table("provenance", raw.get("provenance", {}), reading.text)
    parts["covariance"] = reading.matrix("covariance", raw.get("covariance", []))
    parts |= {name: reading.model(name, raw) for name in MODELS}
    reading.refuse()
    try:
        return Fit(**parts)
    except IdentificationError as error:
        raise IdentificationError(f"{file}: not a sound fit", error.faults) from None


class FitReading(JsonReader):
    """The parts of a fit, taken from a file."""

    def model(self, key: str, raw: dict[str, Any]) -> Model | None:
        """The model whose text stands under a key; None where something is wrong with it."""
        from freefloat.model.toml import read_toml_text

        if key not in raw:
            return None
        text = self.text(key, raw[key])
        if text is not raw[key]:
            return None
        try:
            return read_toml_text(text, file=f"{self.file}: {key}")
        except ModelError as error:
            self.faults += error.faults
            return None
