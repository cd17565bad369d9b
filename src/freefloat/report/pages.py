"""One page of HTML from a fit or a verdict: verdict first, everything inside, nothing loaded.

The page holds its styles, its script and its data; a browser without a network shows all of it,
and a printer too. Whatever comes from a file is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.digits import printed_unit
from freefloat.errors import Fault, FreefloatError
from freefloat.files import atomic_write
from freefloat.identification.fit import Fit
from freefloat.notes import Note
from freefloat.report.charts import verdict_charts
from freefloat.report.page_content import credibility, fit_content, verdict_content
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.verdict import Verdict

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent
SUFFIXES = (".html", ".htm")
HEAD = ("title", "is_positive", "headline", "headline_of", "status")  # what is said first


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
