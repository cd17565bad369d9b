"""How a Verdict shows itself: plain text of 80 columns, the answer first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from textwrap import wrap

from freefloat.errors import shortened
from freefloat.text import table_lines
from freefloat.validation.metrics import Score
from freefloat.validation.verdict import Verdict

WIDTH = 80
WORDS = {True: "met", False: "NOT MET", None: "not judged"}
MOST_NOTES = 12


def as_text(verdict: Verdict) -> str:
    """The verdict as plain text: the answer and its reasons first, then what they rest on."""
    lines = [headline(verdict), *_wrapped(verdict.status), "", *_wrapped(verdict.execution), ""]
    for criterion in verdict.criteria:
        lead = f"{WORDS[criterion.is_met]:<10}  {criterion.name:<12}  "
        lines += _wrapped(shortened(criterion.reason, 300), lead, " " * len(lead))
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
    return f"{shortened(verdict.model, 50)}: the model {words}"


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
        yield from _wrapped(text, "  · ", "    ")
    if len(texts) > MOST_NOTES:
        yield f"    and {len(texts) - MOST_NOTES} more"


def _wrapped(text: str, first: str = "", later: str = "") -> list[str]:
    shown = " ".join(text.split())
    return wrap(shown, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)
