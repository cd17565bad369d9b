"""The Verdict: whether to believe a model, as one frozen noun.

It computes nothing: whoever made it has judged. It is laid out by `verdict_view` and written and
read by `verdict_files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from freefloat.arrays import Array, frozen
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Fit
from freefloat.validation.acceptance import AcceptanceCriterion
from freefloat.validation.balance import MomentumBalance
from freefloat.validation.end_effectors import EndEffector
from freefloat.validation.metrics import Score
from freefloat.validation.residual_tests import ResidualSpectrum, Whiteness


@dataclass(frozen=True, eq=False)
class Trace:
    """One channel over time, thinned for a page: measured, predicted, and predicted before.

    Empty where there is none; joints that were followed have no prediction.
    """

    channel: str
    unit: str
    time: Array
    measured: Array
    predicted: Array
    before: Array

    def __post_init__(self) -> None:
        for name in ("time", "measured", "predicted", "before"):
            object.__setattr__(self, name, frozen(getattr(self, name)))


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Whether a model predicts a flight, and why it is or is not to be believed.

    is_positive: every criterion that could be judged is met. has_run and execution: whether the
    prediction could be made at all and what happened, which is not yet success. status is one
    sentence a person can act on; quality what `ff.quality` found in the recording.
    """

    model: str
    method: str
    is_positive: bool
    has_run: bool
    execution: str
    status: str
    criteria: tuple[AcceptanceCriterion, ...]
    scores: tuple[Score, ...]
    balances: tuple[MomentumBalance, ...]
    end_effectors: tuple[EndEffector, ...]
    whiteness: tuple[Whiteness, ...]
    spectra: tuple[ResidualSpectrum, ...]
    traces: tuple[Trace, ...]
    quality: tuple[str, ...]
    notes: tuple[str, ...]
    provenance: Mapping[str, str]

    def __post_init__(self) -> None:
        parts = ("criteria", "scores", "balances", "end_effectors", "whiteness", "spectra")
        for name in (*parts, "traces", "quality", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        told = {str(name): str(value) for name, value in self.provenance.items()}
        object.__setattr__(self, "provenance", told)

    def __getitem__(self, name: str) -> AcceptanceCriterion:
        """The criterion of that name."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        known = ", ".join(criterion.name for criterion in self.criteria)
        raise IdentificationError(f"this verdict has no criterion {name!r}; it has: {known}")

    def save(self, path: str | Path) -> None:
        """Write the verdict as .json, whole or not at all; `load_verdict` gives the bits back."""
        from freefloat.validation.verdict_files import save_verdict

        save_verdict(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Verdict:
        """The verdict in a .json file; raises IdentificationError listing what is wrong with it."""
        from freefloat.validation.verdict_files import load_verdict

        return load_verdict(path)

    def to_json(self) -> str:
        """The text of a verdict file."""
        from freefloat.validation.verdict_files import write_verdict

        return write_verdict(self)

    def save_report(self, path: str | Path, fit: Fit | None = None) -> None:
        """Write the verdict as one page of HTML; with its fit, the parameters are on it too."""
        # By name and at the call: the report stands above this folder and knows it, not the other
        # way round; this is its doorbell.
        import_module("freefloat.report.pages").save_verdict_report(self, path, fit)

    def __str__(self) -> str:
        """The verdict and its reasons, within 80 columns."""
        from freefloat.validation.verdict_view import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return f"Verdict({self.model!r}, {'positive' if self.is_positive else 'negative'})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Verdict):
            return NotImplemented
        return self.to_json() == other.to_json()  # NaN equals NaN here

    __hash__ = None  # type: ignore[assignment]
