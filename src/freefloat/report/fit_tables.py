"""The estimates of a fit, or its mass properties, as tables for other programs.

CSV, JSON and LaTeX; the JSON has both tables.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence

from freefloat.digits import with_uncertainty
from freefloat.identification.fit import Estimate, Fit
from freefloat.identification.fitted_mass_properties import FittedQuantity

HEAD = ("name", "unit", "value", "std", "total_std", "lower95", "upper95", "status", "prior")
MASS_HEAD = (
    "of", "quantity", "unit", "value", "std", "total_std", "lower95", "upper95", "note",
)  # fmt: skip
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


def mass_rows(fit: Fit) -> list[dict[str, object]]:
    """One row a mass property, all digits; None where a number is not known."""
    rows = []
    for one in fit.mass_properties:
        for q in one.quantities:
            low, high = q.interval95 or (math.nan, math.nan)
            numbers = (q.value, q.std, q.total_std, low, high)
            known = (number if math.isfinite(number) else None for number in numbers)
            rows.append(dict(zip(MASS_HEAD, (one.of, q.name, q.unit, *known, q.note), strict=True)))
    return rows


def fit_csv(fit: Fit) -> str:
    """The estimates with a row of labels; a number that is not known is an empty cell."""
    return _csv(HEAD, fit_rows(fit))


def mass_csv(fit: Fit) -> str:
    """The mass properties, as `fit_csv` has the estimates."""
    return _csv(MASS_HEAD, mass_rows(fit))


def _csv(head: Sequence[str], rows: Iterable[dict[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(row.values() for row in rows)
    return out.getvalue()


def fit_json(fit: Fit) -> str:
    """Both tables as JSON, with what was fitted and how it ended."""
    about = {
        "model": fit.model.name,
        "method": fit.method,
        "status": fit.status,
        "status_code": fit.status_code,
        "is_trustworthy": fit.is_trustworthy,
    }
    tables = {"parameters": fit_rows(fit), "mass_properties": mass_rows(fit)}
    return json.dumps({**about, **tables}, indent=2) + "\n"


def fit_latex(fit: Fit) -> str:
    """The estimates as LaTeX (booktabs): value and total deviation to the digits that count."""
    rows = [(_escape(one.name), *_value_cells(one), _escape(one.status)) for one in fit.estimates]
    return _latex(fit, ("parameter", "unit", "value", "std", "status"), rows)


def mass_latex(fit: Fit) -> str:
    """The mass properties that are determined, as `fit_latex` has the estimates."""
    rows = [
        (_escape(one.of), _escape(q.name), *_value_cells(q))
        for one in fit.mass_properties
        for q in one.quantities
        if not q.note
    ]
    return _latex(fit, ("of", "quantity", "unit", "value", "std"), rows)


def _value_cells(one: Estimate | FittedQuantity) -> tuple[str, str, str]:
    std = one.total_std if math.isfinite(one.total_std) else one.std
    value, spread = with_uncertainty(one.value, std)
    return _unit(one.unit), _number(value), _number(spread)


def _latex(fit: Fit, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    columns = "".join("r" if name in ("value", "std") else "l" for name in head)
    lines = [
        f"% {fit.model.name}, {fit.method}: {fit.status}".replace("\n", " "),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
        r"\midrule",
        *(" & ".join(cells) + r" \\" for cells in rows),
    ]
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
