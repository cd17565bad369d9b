"""The Fit: what an identification learned, and how far to believe it, as one frozen noun.

It computes nothing: whoever made it has decided on intervals, words and verdict. It is laid out by
`fit_text`. On disk it is a JSON file with both models inside that comes back bit for bit, one key a
line: `format` and `version`, the verdict, the estimates, the covariance, and both models as the
text of model files. Numbers have all their digits; NaN travels as null, infinity as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from freefloat.arrays import Array, read_only_copy
from freefloat.errors import Fault, FreefloatError, IdentificationError, ModelError
from freefloat.files import atomic_write
from freefloat.identification.assessment import NOT_ASSESSED, Assessment
from freefloat.identification.fit_text import as_html, as_text
from freefloat.identification.fitted_mass_properties import (
    SIGMAS,
    FittedMassProperties,
    mass_properties_of,
)
from freefloat.model.model import Model
from freefloat.model.model_file import read_model_text
from freefloat.model.model_write import write_model_text
from freefloat.records import json_text
from freefloat.records.bounded_read import FileKind, read_text
from freefloat.records.json_text import JSON, read_json, write_json
from freefloat.records.schema import Schema, table_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import did_you_mean
from freefloat.wiring import service

EstimateStatus = Literal["seen", "weak", "only in combination", "invisible", "at bound", "fixed"]
Interval = tuple[float, float]
# format: 64 MB are the covariance of 1700 parameters; the parser reads 50 megabytes a second
FIT_FILE = FileKind(
    "fit", IdentificationError, ".json", 64 * 2**20, "identify fewer parameters at once"
)
MODELS = ("model", "prior_model")
# In this order in the file: what a person looks for comes first.
KEYS = (
    "status", "status_code", "is_trustworthy", "assessment", "method", "reason", "scale",
    "estimates", "combinations", "trades", "residuals", "notes", "provenance", "adjusted",
    "covariance", "total_covariance", "whole_covariance",
)  # fmt: skip
COVARIANCES = ("covariance", "total_covariance", "whole_covariance")


@dataclass(frozen=True)
class Estimate:
    """One parameter: what the data say of it, and what the model said before (`prior`).

    std is NaN where there is none; interval95 holds the true value with 95 % probability where
    everything taken as exact is, total_interval95 where it is off by its uncertainty.
    """

    name: str
    unit: str
    value: float
    std: float
    interval95: Interval | None
    status: EstimateStatus
    prior: float
    note: str = ""
    total_std: float = float("nan")

    def __post_init__(self) -> None:
        _set_floats(self, "value", "std", "prior", "total_std")
        faults = [*_spread_faults(self.name, self.std, self.interval95)]
        if self.status not in get_args(EstimateStatus):
            expected = "one of " + ", ".join(get_args(EstimateStatus))
            place, value = f"{self.name}.status", repr(self.status)
            faults.append(Fault(place, value, expected, "correct it", "value.choice"))
        _refuse(self.name, faults)

    @property
    def total_interval95(self) -> Interval | None:
        """The interval by `total_std`; None where one of them is not known."""
        if self.interval95 is None or not np.isfinite(self.total_std):
            return None
        half = SIGMAS * self.total_std
        return (self.value - half, self.value + half)

    @property
    def widest95(self) -> tuple[Interval | None, float]:
        """The total interval and deviation, or the statistical ones where no others are known."""
        total = self.total_interval95
        return (self.interval95, self.std) if total is None else (total, self.total_std)


@dataclass(frozen=True)
class FittedCombination:
    """A sum of parameters that is known better than its terms, such as bus.izz + 2 arm_1.mass."""

    words: str
    unit: str
    value: float
    std: float
    interval95: Interval | None = None

    def __post_init__(self) -> None:
        _set_floats(self, "value", "std")
        _refuse(self.words, [*_spread_faults(self.words, self.std, self.interval95)])


@dataclass(frozen=True)
class Residual:
    """What one channel of the equations leaves unexplained, over `n` rows.

    rms is in units of the expected noise, so 1 is perfect; rms_raw is in `unit`, or NaN.
    """

    channel: str
    unit: str
    n: int
    rms: float
    rms_raw: float = float("nan")

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", int(self.n))
        _set_floats(self, "rms", "rms_raw")


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """What an identification learned; `print(fit)` shows the values and how far to believe them.

    model has the estimates written in, prior_model is the one before; method and reason say how
    and why so; covariance is that of the estimates in their order, with NaN rows where a std is
    NaN; total_covariance is the same with what may be off in what is taken as exact, empty where
    that was not assessed; whole_covariance that of the ten inertial parameters of the whole, its
    joints at home; scale says what fixes the scale, or that only ratios are known; status is one
    sentence a person can act on, status_code the same for programs (such as "seen.all",
    "scale.not_fixed" or "not_trusted.residuals"; empty in files of earlier versions); provenance
    has versions, seed and the sha256 of the inputs; adjusted has what is taken as exact, by name,
    where the estimates were fitted together with it: its most probable value, in its unit
    (docs/assumptions.md).
    is_trustworthy: not "not trusted"; of a fit that was not assessed, that its own method objects
    to nothing. `grade` tells these apart.
    """

    model: Model
    prior_model: Model
    method: str
    reason: str
    estimates: tuple[Estimate, ...]
    covariance: Array
    combinations: tuple[FittedCombination, ...]
    trades: tuple[str, ...]
    scale: str
    residuals: tuple[Residual, ...]
    status: str
    is_trustworthy: bool
    notes: tuple[str, ...]
    provenance: Mapping[str, str]
    status_code: str = ""
    assessment: Assessment | None = None
    adjusted: Mapping[str, float] = field(default_factory=dict)
    total_covariance: Array = field(default_factory=lambda: np.zeros((0, 0)))
    whole_covariance: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        for name in ("estimates", "combinations", "trades", "residuals", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in COVARIANCES:
            given = getattr(self, name)
            square = given if np.size(given) else np.reshape(given, (0, 0))
            object.__setattr__(self, name, read_only_copy(square))
        object.__setattr__(self, "is_trustworthy", bool(self.is_trustworthy))
        record = {str(name): str(value) for name, value in self.provenance.items()}
        object.__setattr__(self, "provenance", record)
        adjusted = {str(name): float(value) for name, value in self.adjusted.items()}
        object.__setattr__(self, "adjusted", adjusted)
        _refuse("the fit", [*_shape_faults(self)])

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of the parameter of that name."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        hint = did_you_mean(str(name), self.values, otherwise="fit.values lists them all", most=3)
        raise IdentificationError(
            f"this fit has no estimate of {name!r}; {hint}", code="name.unknown"
        )

    @property
    def values(self) -> dict[str, float]:
        """The value of every parameter by name, in its unit."""
        return {estimate.name: estimate.value for estimate in self.estimates}

    @cached_property
    def mass_properties(self) -> tuple[FittedMassProperties, ...]:
        """Mass, centre of mass, inertia about it, principal moments and axes, with deviations.

        Of every body with estimates, and last of the whole with its joints at home.
        """
        return mass_properties_of(self)

    @property
    def grade(self) -> str:
        """The grade of the assessment; "not assessed", unless the method itself objects."""
        if self.assessment is not None:
            return self.assessment.grade
        return NOT_ASSESSED if self.is_trustworthy else "not trusted"

    def save(self, path: str | Path) -> None:
        """Write the fit as .json, whole or not at all; `load_fit` gives the same bits back."""
        FIT_FILE.require_suffix(path)
        data = self.to_json().encode("ascii")
        FIT_FILE.require_size(len(data), str(path))
        atomic_write(path, data)

    def save_report(self, path: str | Path, *flights: Telemetry) -> None:
        """Write the fit as one page of HTML; `flights` are predicted and drawn in it."""
        service("save_fit_report")(self, path, flights=flights)

    @classmethod
    def load(cls, path: str | Path) -> Fit:
        """The fit in a .json file; raises IdentificationError listing everything wrong with it."""
        FIT_FILE.require_suffix(path)
        return _read_fit(read_text(Path(path), FIT_FILE), file=Path(path).name)

    def to_json(self) -> str:
        """The text of a fit file; raises ModelError for a model no file can hold."""
        models = {key: write_model_text(getattr(self, key)) for key in MODELS}
        own = {key: getattr(self, key) for key in KEYS if getattr(self, key) is not None}
        return write_json(own | models, FIT_FILE)

    @classmethod
    def from_json(cls, text: str) -> Fit:
        """The fit of the text of a fit file."""
        return _read_fit(text, file="JSON text")

    def __str__(self) -> str:
        """The values and how far to believe them, within 80 columns."""
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __repr__(self) -> str:
        n = len(self.estimates)
        return f"Fit({self.model.name!r}, {self.method}, {n} estimates, {self.grade})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fit):
            return NotImplemented
        # As text: NaN equals NaN here and -0.0 differs from 0.0.
        return (
            self._text() == other._text()
            and all(
                getattr(self, name).tobytes() == getattr(other, name).tobytes()
                for name in COVARIANCES
            )
            and (self.model, self.prior_model) == (other.model, other.prior_model)
        )

    __hash__ = None  # type: ignore[assignment]

    def _text(self) -> str:
        apart = (*MODELS, *COVARIANCES)
        return repr([getattr(self, name) for name in self.__match_args__ if name not in apart])


def load_fit(path: str | Path) -> Fit:
    """The fit in a fit file (.json).

    Raises IdentificationError listing every fault: file, place, value, expectation, remedy.
    """
    return Fit.load(path)


@cache
def _schema() -> Schema:
    instead = {
        **dict.fromkeys(COVARIANCES, json_text.matrix),
        **dict.fromkeys(MODELS, json_text.text),
    }
    table = table_of(Fit, JSON, instead=instead, is_built=True)
    return Schema(replace(table, record=None), JSON)


def _read_fit(text: str, *, file: str) -> Fit:
    given = read_json(text, _schema(), file=file, kind=FIT_FILE)
    faults: list[Fault] = []
    for key in MODELS:
        try:
            given[key] = read_model_text(given[key], file=f"{file}: {key}")
        except ModelError as error:
            faults += error.faults
    if faults:
        raise IdentificationError(f"{file}: a model in it cannot be read", faults)
    try:
        fit = Fit(**given)
        _refuse(file, [*_number_faults(fit)])
    except FreefloatError as error:
        raise IdentificationError(f"{file}: not a sound fit", error.faults) from None
    return fit


def _set_floats(part: Estimate | FittedCombination | Residual, *names: str) -> None:
    """Python's own floats: NumPy's would not be written, nor compared, the same way."""
    for name in names:
        object.__setattr__(part, name, float(getattr(part, name)))
    interval = getattr(part, "interval95", None)
    if interval is not None:
        object.__setattr__(part, "interval95", tuple(map(float, interval)))


def _spread_faults(name: str, std: float, interval: Interval | None) -> Iterator[Fault]:
    if std < 0.0:
        yield Fault(f"{name}.std", f"{std:g}", "0 or more", "give the magnitude", "value.range")
    if interval is not None and not (len(interval) == 2 and interval[0] <= interval[1]):
        place, expected = f"{name}.interval95", "lower <= upper"
        yield Fault(place, str(interval), expected, "swap them", "value.order")


def _number_faults(fit: Fit) -> Iterator[Fault]:
    """Values that no identification gives: those that are not finite."""
    numbers = {f"{e.name}.value": e.value for e in fit.estimates}
    numbers |= {f"{e.name}.prior": e.prior for e in fit.estimates}
    numbers |= {f"{c.words}.value": c.value for c in fit.combinations}
    for place, number in numbers.items():
        if not np.isfinite(number):
            yield Fault(place, f"{number:g}", "a finite number", json_text.REMEDY, "value.range")


def _shape_faults(fit: Fit) -> Iterator[Fault]:
    counts = Counter(estimate.name for estimate in fit.estimates)
    for name, count in counts.items():
        if count > 1:
            value, expected = f"{count} estimates", "one of each parameter"
            yield Fault(name, value, expected, "delete the others", "name.duplicate")
    n = len(fit.estimates)
    of_each = "give one row and one column per estimate, in their order"
    of_ten = "give one row and one column per inertial parameter"
    sizes = ((n, of_each), (n, of_each), (10, of_ten))
    for name, (size, remedy) in zip(COVARIANCES, sizes, strict=True):
        shape = getattr(fit, name).shape
        if shape != (size, size) and not (name != "covariance" and shape == (0, 0)):
            expected = f"shape ({size}, {size})"
            yield Fault(name, f"shape {shape}", expected, remedy, "value.count")


def _refuse(what: str, faults: list[Fault]) -> None:
    if faults:
        raise IdentificationError(f"{what}: this cannot be part of a fit", faults)
