"""One page of HTML from a fit or a verdict: verdict first, everything inside, nothing loaded.

The page holds its styles, its script and its data; a browser without a network shows all of it,
and a printer too. Whatever comes from a file is escaped.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from freefloat.digits import (
    DASH,
    amount_text,
    error_size,
    interval,
    number_text,
    percent_change,
    printed_unit,
    with_uncertainty,
)
from freefloat.errors import Fault, FreefloatError
from freefloat.files import atomic_write
from freefloat.identification.assessment import NOT_ASSESSED
from freefloat.identification.fit import Estimate, Fit
from freefloat.identification.fit_text import (
    ASSESS,
    LIMIT_HEAD,
    MASS_HEAD,
    UNASSESSED,
    deviation_words,
    frame_words,
    limit_rows,
    mass_property_rows,
)
from freefloat.identification.fit_text import verdict as fit_headline
from freefloat.notes import Note
from freefloat.report.charts import verdict_charts
from freefloat.report.svg import correlation_matrix, whisker
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.verdict import Verdict, fit_words, percent
from freefloat.validation.verdict import headline as verdict_headline

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
SUFFIXES = (".html", ".htm")
HEAD = ("title", "is_positive", "headline", "headline_of", "status")  # what is said first
MARKS = {True: ("met", "✓"), False: ("not met", "✗"), None: ("not judged", "–")}
MOST_DOUBTS = 10  # format: rows; the saved fit has all
MOST_CORRELATED = 40  # format: beyond, the cells are too small to be told apart

STATUS_WORDS = {
    "seen": "observable: standard deviation below a tenth of its natural size",
    "weak": "observable, with a larger standard deviation",
    "only in combination": "only linear combinations with others are observable; they are listed",
    "invisible": "not observable with this motion and these sensors; the model's value is kept",
    "at bound": "the data ask for a value beyond the bound",
    "fixed": "held, not estimated",
}


def save_fit_report(
    fit: Fit,
    path: str | Path,
    *,
    flights: Sequence[Telemetry] = (),
    verdicts: Sequence[Verdict] = (),
) -> None:
    """Write a fit as one page of HTML, with verdicts on flights where there are any.

    `flights` are those to be predicted and drawn, most often the ones the fit was made from; the
    page says which they are. Raises FreefloatError where the file cannot be written.
    """
    require_html(path)
    found, notes = [*verdicts], []
    for number, flight in enumerate(flights, start=1):
        from freefloat.validation.validate import validate

        try:
            found.append(validate(fit, flight))
        except FreefloatError as error:
            text = f"flight {number} could not be predicted: {error.message}"
            notes.append(Note("report.flight_not_predicted", text))
    atomic_write(path, fit_page(fit, found, notes=notes))


def save_verdict_report(verdict: Verdict, path: str | Path, fit: Fit | None = None) -> None:
    """Write a verdict as one page of HTML, with the parameters of the fit that it judges."""
    require_html(path)
    text = verdict_page(verdict) if fit is None else fit_page(fit, [verdict])
    atomic_write(path, text)


def fit_page(fit: Fit, verdicts: Sequence[Verdict] = (), *, notes: Sequence[str] = ()) -> str:
    """The text of a fit's page."""
    content = fit_content(fit)
    held_out = [v for v in verdicts if _is_held_out(v)]
    if held_out:
        head = verdict_content(held_out[0])
        content |= {key: head[key] for key in HEAD}
    content["notes"] = [*fit.notes, *notes]
    return _page(content, verdicts, credibility(fit, verdicts))


def verdict_page(verdict: Verdict) -> str:
    """The text of a verdict's page."""
    return _page(verdict_content(verdict), [verdict], credibility(None, [verdict]))


def _page(
    content: Mapping[str, object], verdicts: Sequence[Verdict], factors: Sequence[object]
) -> str:
    judged = [verdict_content(verdict) for verdict in verdicts]
    drawn = [verdict_charts(verdict, number) for number, verdict in enumerate(verdicts)]
    pages = [{**told, **charts} for told, charts in zip(judged, drawn, strict=True)]
    charts = [chart for each in drawn for chart in each["charts"]]
    return render(
        "report.html.j2", {**content, "verdicts": pages, "factors": factors}, charts=charts
    )


def render(
    template: str, content: Mapping[str, object], *, charts: Sequence[Mapping[str, object]] = ()
) -> str:
    """A template with the page's own styles, script and data inside."""
    parts = {
        "style": _text("templates/page.css"),
        "plot_style": _text("vendored/uPlot.min.css"),
        "plot_script": _text("vendored/uPlot.iife.min.js"),
        "script": _text("templates/page.js"),
        # escaped so that nothing in it ends its element
        "data": json.dumps(charts, allow_nan=False).replace("<", "\\u003c"),
    }
    return _environment().get_template(template).render(**content, **parts)


def require_html(path: str | Path) -> None:
    """Raise FreefloatError unless the name ends in .html."""
    if Path(path).suffix.lower() not in SUFFIXES:
        suffix = Path(path).suffix or "no suffix"
        fault = Fault(str(path), suffix, ".html", "end it in .html", "file.suffix")
        raise FreefloatError("a report is a page of HTML", [fault])


def _is_held_out(verdict: Verdict) -> bool:
    return any(c.name == "held out" and c.is_met for c in verdict.criteria)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["units"] = printed_unit
    return made


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


# -- what a page says: words, and numbers with the digits they deserve; the template lays it out ---


def fit_content(fit: Fit) -> dict[str, object]:
    """Everything the template asks for of a fit."""
    sought = [e for e in fit.estimates if e.status != "fixed"]
    return {
        "title": fit.model.name,
        "kind": "identification",
        "headline_of": "fit",
        "is_positive": fit.is_trustworthy,
        "headline": fit_headline(fit).partition(": ")[2].capitalize(),
        "status": fit.status,
        "method": fit.method,
        "reason": fit.reason,
        "parameters": [_row(estimate) for estimate in sought],
        "has_totals": any(not isnan(e.total_std) for e in sought),
        "deviations": deviation_words(fit),
        **_assessment_content(fit),
        "mass_head": MASS_HEAD,
        "mass_properties": [
            (one.of, frame_words(one), *mass_property_rows(one)) for one in fit.mass_properties
        ],
        "held": [
            (e.name, number_text(e.value), printed_unit(e.unit))
            for e in fit.estimates
            if e.status == "fixed"
        ],
        "combinations": [
            (c.words, *with_uncertainty(c.value, c.std), interval(c.interval95, c.std), c.unit)
            for c in fit.combinations
        ],
        "trades": fit.trades,
        "scale": fit.scale,
        "equations": [(r.channel, f"{r.rms:.3g}", r.n) for r in fit.residuals],
        "identifiability": [
            (status, n, STATUS_WORDS[status], _names(fit, status))
            for status, n in Counter(e.status for e in fit.estimates).items()
        ],
        "correlation": _correlation(fit),
        "notes": fit.notes,
        "provenance": {k: text for k, text in fit.provenance.items() if k != "samples"},
        "is_fit": True,
    }


def _assessment_content(fit: Fit) -> dict[str, object]:
    """Why the grade is what it is, causes, and the assumptions behind the total deviations."""
    found = fit.assessment
    if found is None:
        reasons = [("assessment.none", UNASSESSED, ASSESS)] * (fit.grade == NOT_ASSESSED)
        return {"grade": fit.grade if reasons else "", "reasons": reasons, "causes": (),
                "doubts": (), "limits": ()}  # fmt: skip
    return {
        "grade": found.grade,
        "reasons": [(e.code, e.text, e.remedy) for e in found.reasons],
        "causes": [
            (" or ".join(c.names[:3]), amount_text(c.amplitude, c.unit, c.std),
             f"{c.chi_square:.3g}", c.moves, f"{c.shift:.2g}", "yes" if c.heals else "no")
            for c in found.causes
        ],
        "doubts": [
            (d.name, f"± {amount_text(d.deviation, d.unit)}",
             "stated" if d.is_stated else "assumed", f"{100.0 * d.share:.3g} %", d.moves)
            for d in found.doubts[:MOST_DOUBTS]
        ],
        "limit_head": LIMIT_HEAD,
        "limits": limit_rows(fit, MOST_DOUBTS),
    }  # fmt: skip


def _row(estimate: Estimate) -> dict[str, str]:
    value, std = with_uncertainty(estimate.value, estimate.std)
    interval95, widest = estimate.widest95
    return {
        "name": estimate.name,
        "value": value,
        "std": std,
        "total": with_uncertainty(estimate.value, estimate.total_std)[1],
        "interval": interval(interval95, widest),
        "unit": estimate.unit,
        "prior": number_text(estimate.prior),
        "change": _change(estimate),
        "whisker": whisker(estimate.value, interval95, estimate.prior) if interval95 else "",
        "status": estimate.status,
        "kind": estimate.status.replace(" ", "-"),
        "note": estimate.note,
    }


def _change(estimate: Estimate) -> str:
    """How far the estimate moved, relative to what it was."""
    if estimate.prior == 0.0 or not np.isfinite(estimate.value) or np.isnan(estimate.std):
        return "-"
    return f"{percent_change(estimate.value / estimate.prior - 1.0)} %"


def _names(fit: Fit, status: str) -> str:
    return ", ".join(e.name for e in fit.estimates if e.status == status)


def _correlation(fit: Fit) -> str:
    """The correlations of what is known; nothing where there are fewer than two, or too many."""
    diagonal = np.diag(fit.covariance) if fit.covariance.size else np.zeros(0)
    known = np.flatnonzero(np.isfinite(diagonal) & (diagonal > 0.0))
    if not 2 <= len(known) <= MOST_CORRELATED:
        return ""
    names = [fit.estimates[k].name for k in known]
    return correlation_matrix(names, np.nan_to_num(fit.covariance[np.ix_(known, known)]))


def verdict_content(verdict: Verdict) -> dict[str, object]:
    """Everything the template asks for of a verdict."""
    return {
        "title": verdict.model,
        "kind": "verdict",
        "headline_of": "verdict",
        "is_positive": verdict.is_positive,
        "headline": verdict_headline(verdict).rpartition(": ")[2].capitalize(),
        "status": verdict.status,
        "execution": verdict.execution,
        "has_run": verdict.has_run,
        "criteria": [
            {
                "name": c.name,
                "words": MARKS[c.is_met][0],
                "mark": MARKS[c.is_met][1],
                "kind": MARKS[c.is_met][0].replace(" ", "-"),
                "value": number_text(c.value, digits=3, none=DASH),
                "limit": number_text(c.limit, digits=3, none=DASH),
                "reason": c.reason,
            }
            for c in verdict.criteria
        ],
        "scores": [
            (s.channel, printed_unit(s.unit), fit_words(s.fit), fit_words(s.fit_before),
             error_size(s.rmse), f"{s.ratio:.2f}", error_size(s.largest),
             error_size(s.mean, beside=s.rmse),
             error_size(s.noise) + ("" if s.is_noise_known else " (estimated)"))
            for s in verdict.scores
        ],
        "balances": [
            (b.component, printed_unit(b.unit), f"{b.rms:.2f}", f"{b.rms_raw:.2g}",
             percent(b.share))
            for b in verdict.balances
        ],
        "tips": [
            (e.frame, e.reference, f"{1e3 * e.mean:.3g}", f"{1e3 * e.largest:.3g}",
             f"{1e3 * e.expected:.2g}" if e.expected else "-")
            for e in verdict.end_effectors
        ],
        "quality": verdict.quality,
        "notes": verdict.notes,
        "provenance": dict(verdict.provenance),
        "is_fit": False, "grade": "",
        "is_held_out": next((c.is_met for c in verdict.criteria if c.name == "held out"), None),
    }  # fmt: skip


def credibility(fit: Fit | None, verdicts: Sequence[Verdict]) -> list[tuple[str, str, str]]:
    """The eight factors by which a simulation's credibility is rated (after NASA-STD-7009).

    Each with what is known of it here and a word: shown, partly or open. What nobody has looked
    into is open, not good.
    """
    held_out = [
        v for v in verdicts for c in v.criteria if c.name == "held out" and c.is_met
    ]  # fmt: skip
    n_good = sum(v.is_positive for v in held_out)
    told = fit.provenance if fit is not None else verdicts[0].provenance if verdicts else {}
    version = told.get("freefloat", "?")
    known = [] if fit is None else [e for e in fit.estimates if not isnan(e.std)]
    has_hash = any("sha256" in name or name in ("data", "recordings") for name in told)
    return [
        ("Verification", f"freefloat {version}; its CREDIBILITY.md lists promises, tests and"
         " figures. Not repeated for this page.", "partly"),
        ("Validation", f"{n_good} of {len(held_out)} flights that took no part in the fit are"
         " predicted." if held_out else "No flight that took no part in the fit was predicted.",
         "shown" if n_good and n_good == len(held_out) else "open"),
        ("Input pedigree", "Recordings are named by their sha256, below; who took them, and how"
         " sensors were calibrated, is not known here." if has_hash else
         "Nothing is known of where the recording came from.", "partly" if has_hash else "open"),
        ("Uncertainty of results", f"{len(known)} parameters have intervals that include noise of"
         " all channels as stated or estimated." if known else "No uncertainty is stated.",
         "shown" if known else "open"),
        ("Robustness of results", "Correlations and combinations say what trades against what;"
         " other motions, postures and temperatures were not varied." if fit is not None else
         "Not varied.", "partly" if fit is not None else "open"),
        ("Use history", "Not known here.", "open"),
        ("Management", "Versions, platform, seed and time are recorded below.", "partly"),
        ("People", "Who made the choices, and who reviewed them, is not known here.", "open"),
    ]  # fmt: skip
