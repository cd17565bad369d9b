"""The estimates of a fit as a table for other programs: CSV, JSON and LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math

from freefloat.digits import with_uncertainty
from freefloat.identification.fit import Estimate, Fit

HEAD = ("name", "unit", "value", "std", "total_std", "lower95", "upper95", "status", "prior")
_LATEX = {
    "\\": r"\textbackslash{}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def fit_rows(fit: Fit) -> list[dict[str, object]]:
    """One row a parameter, all digits; None where a number is not known."""
    return [dict(zip(HEAD, _row(one), strict=True)) for one in fit.estimates]


def _row(one: Estimate) -> tuple[object, ...]:
    low, high = one.interval95 or (math.nan, math.nan)
    numbers = (one.value, one.std, one.total_std, low, high)
    known = (number if math.isfinite(number) else None for number in numbers)
    prior = one.prior if math.isfinite(one.prior) else None
    return (one.name, one.unit, *known, one.status, prior)


def fit_csv(fit: Fit) -> str:
    """The table with a row of labels; a number that is not known is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(row.values() for row in fit_rows(fit))
    return out.getvalue()


def fit_json(fit: Fit) -> str:
    """The table as JSON, with what was fitted and how it ended."""
    about = {
        "model": fit.model.name,
        "method": fit.method,
        "status": fit.status,
        "status_code": fit.status_code,
        "is_trustworthy": fit.is_trustworthy,
    }
    return json.dumps({**about, "parameters": fit_rows(fit)}, indent=2) + "\n"


def fit_latex(fit: Fit) -> str:
    """The table as LaTeX (booktabs): value and standard deviation to the digits that count."""
    lines = [
        f"% {fit.model.name}, {fit.method}: {fit.status}".replace("\n", " "),
        r"\begin{tabular}{llrrl}",
        r"\toprule",
        r"parameter & unit & value & std & status \\",
        r"\midrule",
    ]
    for one in fit.estimates:
        std = one.total_std if math.isfinite(one.total_std) else one.std
        value, spread = with_uncertainty(one.value, std)
        cells = (_escape(one.name), _unit(one.unit), _number(value), _number(spread))
        lines.append(" & ".join([*cells, _escape(one.status)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _escape(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _unit(unit: str) -> str:
    """A unit in roman type, with thin spaces."""
    spaced = unit.replace(" ", r"\,")
    return "" if unit in ("1", "-") else rf"$\mathrm{{{spaced}}}$"


def _number(text: str) -> str:
    mantissa, mark, power = text.partition("e")
    if not mark:
        return f"${text}$" if text != "-" else "--"
    return rf"${mantissa}\cdot 10^{{{int(power)}}}$"
