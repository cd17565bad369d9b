"""The Verdict: whether to believe a model, as one frozen noun that shows itself in 80 columns.

It computes nothing: whoever made it has judged. On disk it is a JSON file that comes back bit for
bit and is read strictly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from math import isnan
from pathlib import Path

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, IdentificationError, shorten
from freefloat.files import atomic_write
from freefloat.identification.fit import Fit
from freefloat.notebook import html_list, html_table, html_text, html_view
from freefloat.records.bounded_read import FileKind, read_text
from freefloat.records.json_text import JSON, REMEDY, read_json, write_json
from freefloat.records.schema import Schema, table_of
from freefloat.records.values import LARGEST
from freefloat.text import did_you_mean, table_lines
from freefloat.validation.acceptance import AcceptanceCriterion
from freefloat.validation.end_effectors import EndEffector
from freefloat.validation.momentum_balance import MomentumBalance
from freefloat.validation.residual_tests import ResidualSpectrum, Whiteness
from freefloat.validation.scores import Score, Trace
from freefloat.wiring import service

# format: 64 MB, as a fit; traces are thinned for a page, so that a megabyte is usual
VERDICT_FILE = FileKind(
    "verdict", IdentificationError, ".json", 64 * 2**20, "validate on a shorter flight"
)
WIDTH = 80  # format: columns of a terminal
MOST_NOTES = 12  # format: notes that are shown
STATES = {True: "met", False: "NOT MET", None: "not judged"}


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """Whether a model predicts a flight, and why it is or is not to be believed.

    is_positive: every criterion that could be judged is met. has_run and execution: whether the
    prediction could be made at all and what happened, which is not yet success. status is one
    sentence a person can act on, status_code the same for programs: "predicts", "rejected" (a
    criterion on the prediction is not met), "start_unknown" (the initial state was not found, or is
    not what was said, and nothing else speaks against the model), "unproven" (only the flight or
    the fit speaks against it: not held out, or not trustworthy), "no_prediction" (the simulation
    does not run). quality is what `ff.quality` found in the recording.
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
    status_code: str = ""

    def __post_init__(self) -> None:
        parts = ("criteria", "scores", "balances", "end_effectors", "whiteness", "spectra")
        for name in (*parts, "traces", "quality", "notes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        record = {str(name): str(value) for name, value in self.provenance.items()}
        object.__setattr__(self, "provenance", record)

    def __getitem__(self, name: str) -> AcceptanceCriterion:
        """The criterion of that name."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        known = [criterion.name for criterion in self.criteria]
        hint = did_you_mean(name, known, otherwise=f"it has: {', '.join(known)}")
        raise IdentificationError(
            f"this verdict has no criterion {name!r}; {hint}", code="name.unknown"
        )

    def save(self, path: str | Path) -> None:
        """Write the verdict as .json, whole or not at all; `load_verdict` gives the bits back."""
        VERDICT_FILE.require_suffix(path)
        atomic_write(path, self.to_json().encode("ascii"))

    @classmethod
    def load(cls, path: str | Path) -> Verdict:
        """The verdict in a .json file; raises IdentificationError listing what is wrong with it."""
        return load_verdict(path)

    def to_json(self) -> str:
        """The text of a verdict file."""
        content = {field.name: getattr(self, field.name) for field in fields(self)}
        return write_json(content, VERDICT_FILE)

    def save_report(self, path: str | Path, fit: Fit | None = None) -> None:
        """Write the verdict as one page of HTML; with its fit, the parameters are on it too."""
        service("save_verdict_report")(self, path, fit)

    def __str__(self) -> str:
        """The verdict and its reasons, within 80 columns."""
        return as_text(self)

    def _repr_html_(self) -> str:
        criteria = [(STATES[one.is_met], one.name, one.reason) for one in self.criteria]
        parts = [html_text("p", self.status), html_table(("", "criterion", "reason"), criteria)]
        if self.scores:
            head, *rows = score_table(self.scores)
            parts.append(html_table(head, rows))
        return html_view(headline(self), *parts, html_list([*self.quality, *self.notes]))

    def __repr__(self) -> str:
        return f"Verdict({self.model!r}, {'positive' if self.is_positive else 'negative'})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Verdict):
            return NotImplemented
        return self.to_json() == other.to_json()  # NaN equals NaN here

    __hash__ = None  # type: ignore[assignment]


@cache
def _schema() -> Schema:
    return Schema(replace(table_of(Verdict, JSON, is_built=True), record=None), JSON)


def load_verdict(path: str | Path) -> Verdict:
    """The verdict in a file (.json); raises IdentificationError listing every fault."""
    VERDICT_FILE.require_suffix(path)
    return read_verdict_text(read_text(Path(path), VERDICT_FILE), file=Path(path).name)


def read_verdict_text(text: str, *, file: str = "JSON text") -> Verdict:
    """The verdict of the text of a verdict file."""
    verdict = Verdict(**read_json(text, _schema(), file=file, kind=VERDICT_FILE))
    if faults := [*_curve_faults(verdict)]:
        raise IdentificationError(f"{file}: not a sound verdict", faults)
    return verdict


def _curve_faults(verdict: Verdict) -> Iterator[Fault]:
    """Curves that cannot be drawn: of different lengths, not finite, or not in order."""
    for number, spectrum in enumerate(verdict.spectra):
        place = f"spectra[{number}]"
        yield from _axis_faults(f"{place}.frequency", spectrum.frequency, above=0.0)
        for name in ("density", "before"):
            may_miss = name == "before"
            curve = getattr(spectrum, name)
            yield from _length_faults(f"{place}.{name}", curve, spectrum.frequency, may_miss)
    for number, trace in enumerate(verdict.traces):
        place = f"traces[{number}]"
        yield from _axis_faults(f"{place}.time", trace.time, above=-LARGEST)
        for name in ("measured", "predicted", "before"):
            yield from _length_faults(f"{place}.{name}", getattr(trace, name), trace.time, True)
    for number, white in enumerate(verdict.whiteness):
        if not 0.0 < white.step <= LARGEST:
            place, value = f"whiteness[{number}].step", f"{white.step:g}"
            yield Fault(place, value, "a finite number > 0", REMEDY, "value.range")


def _axis_faults(place: str, axis: Array, *, above: float) -> Iterator[Fault]:
    if not (np.all(axis > above) and np.all(axis <= LARGEST) and np.all(np.diff(axis) >= 0.0)):
        expected = f"finite numbers in order, above {above:g}"
        yield Fault(place, shorten(str(axis.tolist())), expected, REMEDY, "value.order")


def _length_faults(place: str, curve: Array, axis: Array, may_miss: bool) -> Iterator[Fault]:
    if len(curve) != len(axis) and not (may_miss and not len(curve)):
        expected = f"{len(axis)} numbers, one for each of the axis"
        yield Fault(place, f"{len(curve)} numbers", expected, REMEDY, "value.count")
    if np.isinf(curve).any():  # NaN is a gap
        yield Fault(place, "inf", "finite numbers, null for none", REMEDY, "value.range")


def as_text(verdict: Verdict) -> str:
    """The verdict as plain text: the answer and its reasons first, then what they rest on."""
    lines = [headline(verdict), *_wrap(verdict.status), "", *_wrap(verdict.execution), ""]
    for criterion in verdict.criteria:
        lead = f"{STATES[criterion.is_met]:<10}  {criterion.name:<12}  "
        lines += _wrap(shorten(criterion.reason, 300), lead, " " * len(lead))
    if verdict.scores:
        lines += ["", "Channels: prediction against measurement"]
        lines += table_lines(score_table(verdict.scores))
    if verdict.balances:
        head = ("momentum", "rms/noise", "rms", "unit", "of exchange")
        rows = [
            (b.component, f"{b.rms:.3g}", f"{b.rms_raw:.2g}", b.unit, percent(b.share))
            for b in verdict.balances
        ]
        lines += ["", *table_lines([head, *rows])]
    if verdict.end_effectors:
        head = ("end-effector", "mean [mm]", "largest [mm]", "noise [mm]", "against")
        rows = [
            (e.frame, f"{1e3 * e.mean:.3g}", f"{1e3 * e.largest:.3g}", f"{1e3 * e.expected:.2g}",
             e.reference)
            for e in verdict.end_effectors
        ]  # fmt: skip
        lines += ["", *table_lines([head, *rows])]
    lines += _section("Recording", verdict.quality)
    lines += _section("Notes", verdict.notes)
    return "\n".join(line.rstrip() for line in lines)


def headline(verdict: Verdict) -> str:
    """One line: the model, and whether it predicts."""
    words = "predicts this flight" if verdict.is_positive else "is NOT to be believed yet"
    if verdict.status_code == "start_unknown":
        words = "cannot be judged yet: it is not known how the flight begins"
    return f"{shorten(verdict.model, 50)}: the model {words}"


def score_table(scores: Sequence[Score]) -> list[tuple[str, ...]]:
    """A row of titles and one for each channel."""
    has_before = any(not isnan(score.rmse_before) for score in scores)
    head: tuple[str, ...] = ("channel", "fit [%]", "rmse", "unit", "/expected", "largest")
    more = ("fit before",) if has_before else ()
    rows: list[tuple[str, ...]] = [(*head, *more)]
    for s in scores:
        size, largest = f"{s.rmse:.2e}", f"{s.largest:.1e}"
        row = (s.channel, fit_words(s.fit), size, s.unit, f"{s.ratio:.3g}", largest)
        rows.append((*row, *([fit_words(s.fit_before)] if has_before else [])))
    return rows


def fit_words(fit: float) -> str:
    """A fit in per cent; far below zero it says no more than that."""
    return (
        "-"
        if isnan(fit)
        else f"{fit + 0.0:.1f}".replace("-0.0", "0.0")
        if fit > -100.0
        else "< -100"
    )


def percent(share: float) -> str:
    """A share in per cent."""
    return "-" if isnan(share) else f"{100.0 * share:.2g} %"


def _section(title: str, texts: Iterable[str]) -> Iterator[str]:
    texts = list(texts)
    for n, text in enumerate(texts[:MOST_NOTES]):
        if not n:
            yield from ("", title)
        yield from _wrap(text, "  · ", "    ")
    if len(texts) > MOST_NOTES:
        yield f"    and {len(texts) - MOST_NOTES} more"


def _wrap(text: str, first: str = "", later: str = "") -> list[str]:
    """Lines of at most WIDTH columns; a name with a hyphen stays whole."""
    from textwrap import wrap

    shown = " ".join(text.split())
    return wrap(shown, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
