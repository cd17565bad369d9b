"""The table [uncertainty] of a model: how well what it takes as exact is known, by name.

Keys are names of assumptions or globs, values standard deviations in their unit. Of several that
match a name the last one counts. Which names a model has is known to `prediction`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from freefloat.errors import Fault, ModelError
from freefloat.model.inertia import NAMES
from freefloat.records import values
from freefloat.records.values import LARGEST, refusal
from freefloat.text import closest
from freefloat.wiring import service

if TYPE_CHECKING:
    from freefloat.model.model import Model

DEVIATION = f"a standard deviation, 0 to {LARGEST:g}"
REMEDY = "give it in SI units and radians; 0 means exact"


def stated_uncertainty(table: Mapping[str, float], name: str) -> float | None:
    """What a table says of a name; None where it says nothing.

    >>> stated_uncertainty({"*.zero": 1e-3, "arm_1.zero": 2e-4}, "arm_1.zero")
    0.0002
    """
    matching = [std for glob, std in table.items() if fnmatchcase(name, glob)]
    return matching[-1] if matching else None


def uncertainty_table(value: Any) -> dict[str, float]:
    """The table as a file gives it; a name without quotes, which TOML takes apart, is one again.

    >>> uncertainty_table({"arm_1": {"zero": 2e-4}, "thr_*.offset.*": 1e-3})
    {'arm_1.zero': 0.0002, 'thr_*.offset.*': 0.001}
    """
    remedy = 'write [uncertainty], and below it "arm_*.zero" = 2e-4'
    check = values.dict_of(_deviation, expected="a table [uncertainty]", remedy=remedy)
    return check(dict(entries_of(value)) if isinstance(value, Mapping) else value)


def _deviation(value: Any) -> float:
    std = values.number(value)
    if std < 0.0:
        raise refusal(value, DEVIATION, REMEDY, "value.range")
    return std


def entries_of(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values of a table, those of tables in it as well."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from entries_of(value, f"{before}{key}.")
        else:
            yield before + key, value


def deviation_faults(table: Mapping[str, float]) -> Iterator[Fault]:
    """Entries that are no standard deviation."""
    for glob, std in table.items():
        if not 0.0 <= std <= LARGEST:  # written so that nan is a fault too
            yield Fault(place_of(glob), repr(float(std)), DEVIATION, REMEDY, "value.range")


def name_faults(model: Model, table: Collection[str]) -> Iterator[Fault]:
    """Names and globs of a table that match nothing a sound model takes as exact."""
    names = _names(model) if table else []
    for glob in table:
        if not any(fnmatchcase(name, glob) for name in names):
            close = _same_owner(glob, names) or closest(glob, names, most=3, likeness=0.5)
            remedy = f"did you mean {', '.join(close)}?" if close else "delete it"
            expected = "a name or glob of what the model takes as exact (docs/assumptions.md)"
            yield Fault(place_of(glob), "matches nothing", expected, remedy, "name.unknown")


def _same_owner(glob: str, names: Collection[str]) -> list[str]:
    """The factor of a body, for a name that is one of its inertial parameters; else nothing."""
    owner, _, field = glob.rpartition(".")
    scale = f"{owner}.scale"
    return [scale] if field in NAMES and any(fnmatchcase(name, scale) for name in names) else []


def with_uncertainty(model: Model, table: Mapping[str, float]) -> Model:
    """The model with further uncertainties, which count before its own.

    >>> from freefloat.model import load_model
    >>> with_uncertainty(load_model("cepheus"), {"arm_*.zero": 2e-4}).uncertainty
    {'arm_*.zero': 0.0002}

    Raises:
        ModelError: a name matches nothing, or a value is no standard deviation.
    """
    faults = [*deviation_faults(table), *name_faults(model, table)]
    if faults:
        raise ModelError(f"{model.name!r}: these uncertainties cannot be stated", faults)
    own = {glob: std for glob, std in model.uncertainty.items() if glob not in table}
    return replace(model, uncertainty={**own, **table}) if table else model


def place_of(glob: str) -> str:
    """How faults call an entry."""
    return f"uncertainty {glob!r}"


def without_idle_uncertainty(model: Model) -> Model:
    """The model without entries that match nothing, once parts of it are gone."""
    if not model.uncertainty:
        return model
    names = _names(model)
    kept = {
        glob: std
        for glob, std in model.uncertainty.items()
        if any(fnmatchcase(name, glob) for name in names)
    }
    return replace(model, uncertainty=kept)


def rename_owner(table: Mapping[str, float], old: str, new: str) -> dict[str, float]:
    """The table with a part by its new name.

    >>> rename_owner({"target.scale": 0.1, "bias.target.rate.*": 0.01}, "target", "debris")
    {'debris.scale': 0.1, 'bias.debris.rate.*': 0.01}
    """
    return {
        ".".join(new if word == old else word for word in glob.split(".")): std
        for glob, std in table.items()
    }


def _names(model: Model) -> list[str]:
    # without the table, or the model would ask for its names to be sure that it has some
    return service("assumption_names")(replace(model, uncertainty={}))
