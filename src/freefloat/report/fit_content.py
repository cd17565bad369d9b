"""What a page says of a fit: words and numbers with the digits they deserve."""

from __future__ import annotations

from collections import Counter

import numpy as np

from freefloat.digits import (
    interval,
    percent_change,
    printed_unit,
    rounded,
    with_uncertainty,
)
from freefloat.identification.fit import Estimate, Fit
from freefloat.identification.fit_view import verdict as headline
from freefloat.report.svg import correlation, whisker

MOST_CORRELATED = 40  # beyond, the cells are too small to be told apart

STATUS_WORDS = {
    "seen": "known on its own, to better than a tenth of its natural size",
    "weak": "known on its own, but worse than that",
    "only in combination": "only sums with others are known; they are listed",
    "invisible": "this motion and these sensors do not show it; the model's value is kept",
    "at bound": "the data want to go beyond the bound",
    "fixed": "held, not looked for",
}


def fit_content(fit: Fit) -> dict[str, object]:
    """Everything the template asks for of a fit."""
    sought = [e for e in fit.estimates if e.status != "fixed"]
    return {
        "title": fit.model.name,
        "kind": "identification",
        "is_positive": fit.is_trustworthy,
        "headline": headline(fit).partition(": ")[2].capitalize(),
        "status": fit.status,
        "method": fit.method,
        "reason": fit.reason,
        "parameters": [_row(estimate) for estimate in sought],
        "held": [
            (e.name, rounded(e.value), printed_unit(e.unit))
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
        "provenance": dict(fit.provenance),
        "is_fit": True,
    }


def _row(estimate: Estimate) -> dict[str, str]:
    value, std = with_uncertainty(estimate.value, estimate.std)
    interval95 = estimate.interval95
    return {
        "name": estimate.name,
        "value": value,
        "std": std,
        "interval": interval(estimate.interval95, estimate.std),
        "unit": estimate.unit,
        "prior": rounded(estimate.prior),
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
    return correlation(names, np.nan_to_num(fit.covariance[np.ix_(known, known)]))
