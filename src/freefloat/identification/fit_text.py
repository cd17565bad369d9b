"""How a Fit shows itself: plain text of 80 columns, and a small table of HTML.

The first screen answers: what are the values, and how far are they to be believed?
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from textwrap import wrap
from typing import TYPE_CHECKING

from freefloat.digits import NONE, amount_text, interval, number_text, with_uncertainty
from freefloat.errors import shorten
from freefloat.identification.assessment import NOT_ASSESSED
from freefloat.identification.fitted_mass_properties import UNSEEN, WHOLE, FittedMassProperties
from freefloat.notebook import html_list, html_table, html_text, html_view
from freefloat.text import table_lines

if TYPE_CHECKING:
    from freefloat.identification.fit import Estimate, Fit, FittedCombination

WIDTH = 80  # format: columns of a terminal
HEAD = ("parameter", "value", "± std", "unit", "was", "status")
IS_LEFT = (True, False, False, True, False, True)
FELT = 0.01  # format: total standard deviations; a smaller shift is not put into numbers
MOST_DOUBTS = 4  # format: of assumptions that carry variance; the saved fit has all
GRADE_WORDS = {
    "trusted": "can be trusted",
    "with reservations": "can be trusted with reservations",
    "not trusted": "CANNOT be trusted",
    NOT_ASSESSED: "was not assessed",
}
UNASSESSED = (
    "only the residuals of the method's own equations were judged: nobody knows yet whether the"
    " estimates can be trusted, and their total deviations are not known"
)
ASSESS = "leave out --no-assess or assess=False, or grade it by `freefloat diagnose --fit`"
MASS_HEAD = ("quantity", "value", "± std", "± total", "95 % interval", "unit")
LIMIT_HEAD = ("taken as exact", "doubt", "seen from", "harmful from", "moves")
NAMED = 4  # format: fixed parameters by name; the others are counted
MOST_SUMS = 20  # format: combinations shown; of a dual-arm spacecraft there are hundreds


def as_text(fit: Fit) -> str:
    """The fit as plain text: verdict and values first, then what explains them."""
    lines = [verdict(fit), *_wrap(fit.status), *_items(_reasons(fit)), ""]
    found = _free_estimates(fit)
    lines += _estimates(found)
    lines += _wrap(deviation_words(fit)) if fit.adjusted else []
    lines += [line for text in _fixed_line(fit) for line in _wrap(text)]
    lines += _items(_remarks(fit))
    sums = [_in_words(c) for c in fit.combinations[:MOST_SUMS]]
    more = len(fit.combinations) - len(sums)
    sums += [f"and {more} more, in the saved fit"] * bool(more)
    lines += _section("Known in combination", sums)
    lines += _section("Trade against each other", fit.trades)
    lines += _section("Scale", [fit.scale] if fit.scale else [])
    lines += _section("Assumptions behind the total deviations", _doubts(fit))
    lines += _section("What the data contradict", _causes(fit))
    lines += _residuals(fit)
    lines += _section("Method", [f"{fit.method}: {fit.reason}" if fit.reason else fit.method])
    lines += _section("Notes", fit.notes)
    return "\n".join(lines)


def verdict(fit: Fit) -> str:
    """One line: the model, and whether to believe the fit."""
    return f"{shorten(fit.model.name, 50)}: the fit {GRADE_WORDS[fit.grade]}"


def _reasons(fit: Fit) -> Iterator[str]:
    """Why the fit is not trusted, or not without reservations, and what to do."""
    if fit.grade == NOT_ASSESSED:
        yield f"{_sentence(UNASSESSED)} {_sentence(ASSESS)}"
    for reason in fit.assessment.reasons if fit.assessment else ():
        if not fit.status.startswith(reason.text):
            yield _sentence(reason.text) + (f" {_sentence(reason.remedy)}" if reason.remedy else "")


def deviation_words(fit: Fit) -> str:
    """What the two deviations of the estimates mean."""
    also = ", which has moved what is adjusted, too" if fit.adjusted else ""
    if all(isnan(e.total_std) for e in fit.estimates):
        return f"± std: noise alone{also}"
    return f"± std: noise alone{also}; ± total: with what may be off in what is taken as exact"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _estimates(found: Sequence[Estimate]) -> Iterator[str]:
    """The table of estimates; with total deviations where they are known."""
    if not found:
        return
    if all(isnan(e.total_std) for e in found):
        yield from _table([HEAD, *map(_row, found)], IS_LEFT)
        return
    head, is_left = (*HEAD[:3], "± total", *HEAD[3:]), (*IS_LEFT[:3], False, *IS_LEFT[3:])
    rows = [
        (*(row := _row(e))[:3], with_uncertainty(e.value, e.total_std)[1], *row[3:]) for e in found
    ]
    yield from _table([head, *rows], is_left)


def _doubts(fit: Fit) -> Iterator[str]:
    """What is taken for exact, and what its doubt does to the estimates."""
    doubts = fit.assessment.doubts if fit.assessment else ()
    for doubt in doubts[:MOST_DOUBTS]:
        origin = "stated" if doubt.is_stated else "assumed"
        yield (
            f"{doubt.name} ± {amount_text(doubt.deviation, doubt.unit)} ({origin}):"
            f" known exactly, {100.0 * doubt.share:.3g} % less variance of {doubt.moves}"
        )


def _causes(fit: Fit) -> Iterator[str]:
    """Assumptions that the data contradict, by what freeing each would explain."""
    for cause in fit.assessment.causes if fit.assessment else ():
        others = f" (or {', '.join(cause.names[1:4])})" if cause.names[1:] else ""
        healed = "explains the residuals" if cause.heals else "does not explain all"
        yield (
            f"{cause.names[0]}{others}: {amount_text(cause.amplitude, cause.unit, cause.std)},"
            f" chi-square {cause.chi_square:.3g}, {shift_text(cause.moves, cause.shift)}; {healed}"
        )


def shift_text(estimate: str, shift: float) -> str:
    """By how much something moves an estimate, as a verb and what follows it.

    >>> shift_text("bus.mass", 2.5), shift_text("bus.mass", 1e-9)
    ('moves bus.mass by 2.5 total standard deviations', 'moves no estimate noticeably')
    """
    if isnan(shift):
        return "moves the estimates by an unknown amount"
    if shift < FELT:
        return "moves no estimate noticeably"
    return f"moves {estimate} by {shift:.3g} total standard deviations"


def limit_rows(fit: Fit, most: int = 10) -> list[tuple[str, ...]]:
    """What would do harm before it is seen, the most likely first, as rows for a table."""
    limits = fit.assessment.limits if fit.assessment else ()
    harmful = [limit for limit in limits if limit.harmful_at < limit.visible_at]
    return [
        (limit.name, f"± {amount_text(limit.deviation, limit.unit)}",
         "never" if math.isinf(limit.visible_at) else amount_text(limit.visible_at, limit.unit),
         amount_text(limit.harmful_at, limit.unit), limit.moves)
        for limit in harmful[:most]
    ]  # fmt: skip


def mass_properties_text(fit: Fit) -> str:
    """The mass properties of bodies and of the whole: a table each, within 80 columns."""
    lines: list[str] = []
    for one in fit.mass_properties:
        rows, missing = mass_property_rows(one)
        lines += ["", f"Mass properties of {one.of}, {frame_words(one)}"]
        lines += _table([MASS_HEAD, *rows], (True, False, False, False, False, True))
        lines += _items(missing)
    return "\n".join(lines or ["", "No mass property: nothing of a body was estimated"])


def frame_words(one: FittedMassProperties) -> str:
    """The frame that mass properties are in."""
    return "root frame, joints at home" if one.of == WHOLE else "body frame"


def mass_property_rows(one: FittedMassProperties) -> tuple[list[tuple[str, ...]], list[str]]:
    """Rows of what is determined, by `MASS_HEAD`, and sentences on what is not."""
    rows, missing = [], defaultdict(list)
    for q in one.quantities:
        if q.note:
            why = q.note.partition(": ")[2]
            is_unseen = why.endswith(UNSEEN)
            missing["what they depend on is not seen" if is_unseen else why].append(q.name)
            continue
        widest = q.std if isnan(q.total_std) else q.total_std
        value, spread = with_uncertainty(q.value, widest)
        std = with_uncertainty(q.value, q.std)[1]
        total = NONE if isnan(q.total_std) else spread
        rows.append((q.name, value, std, total, interval(q.interval95, widest), q.unit))
    return rows, [f"{', '.join(names)} not determined: {why}" for why, names in missing.items()]


def as_html(fit: Fit) -> str:
    """The same as HTML for notebooks: everything escaped, nothing loaded from elsewhere."""
    head = ("parameter", "value", "± std", "95 % interval", "unit", "± total", "was", "status")
    rows = [
        (e.name, *with_uncertainty(e.value, e.std), interval(*e.widest95), e.unit,
         with_uncertainty(e.value, e.total_std)[1], number_text(e.prior), e.status)
        for e in _free_estimates(fit)
    ]  # fmt: skip
    sums = [
        (c.words, *with_uncertainty(c.value, c.std), interval(c.interval95, c.std), c.unit)
        for c in fit.combinations
    ]
    parts = [html_text("p", fit.status), html_table(head, rows)]
    if sums:
        parts.append(html_table(("known in combination", *head[1:5]), sums))
    items = [
        *_reasons(fit),
        deviation_words(fit) if fit.adjusted else "",
        *_fixed_line(fit),
        *_remarks(fit),
        *fit.trades,
        fit.scale,
        *_doubts(fit),
        *_causes(fit),
        f"{fit.method}: {fit.reason}",
        *fit.notes,
    ]
    return html_view(verdict(fit), *parts, html_list(items))


def _row(estimate: Estimate) -> tuple[str, ...]:
    value, std = with_uncertainty(estimate.value, estimate.std)
    was = number_text(estimate.prior)
    return (shorten(estimate.name, 200), value, std, _short(estimate.unit), was, estimate.status)


def _in_words(combination: FittedCombination) -> str:
    value, std = with_uncertainty(combination.value, combination.std)
    spread = "" if std == NONE else f" ± {std}"
    return f"{value}{spread} {combination.unit} = {combination.words}"


def _free_estimates(fit: Fit) -> list[Estimate]:
    return [estimate for estimate in fit.estimates if estimate.status != "fixed"]


def _fixed_line(fit: Fit) -> list[str]:
    names = [estimate.name for estimate in fit.estimates if estimate.status == "fixed"]
    others = f" and {len(names) - NAMED} others" if len(names) > NAMED else ""
    return [f"held fixed: {', '.join(names[:NAMED])}{others}"] if names else []


def _remarks(fit: Fit) -> Iterator[str]:
    for estimate in fit.estimates:
        if math.isnan(estimate.std) and estimate.interval95 is not None:
            bounds = interval(estimate.interval95, estimate.std)
            yield f"{estimate.name}: {bounds} {estimate.unit} with 95 % confidence"
        if estimate.note:
            yield f"{estimate.name}: {estimate.note}"


def _residuals(fit: Fit) -> Iterator[str]:
    if not fit.residuals:
        return
    yield from ("", "Residuals, in units of the expected noise (1 is perfect)")
    head, is_left = ["  channel", "rms", "rows"], [True, False, False]
    rows = [[f"  {shorten(r.channel, 200)}", f"{r.rms:.3g}", str(r.n)] for r in fit.residuals]
    if not all(isnan(r.rms_raw) for r in fit.residuals):
        head, is_left = [*head, "raw", "unit"], [*is_left, False, True]
        for row, r in zip(rows, fit.residuals, strict=True):
            row += [number_text(r.rms_raw), _short(r.unit)]
    yield from _table([tuple(head), *map(tuple, rows)], tuple(is_left))


def _section(title: str, texts: Iterable[str]) -> list[str]:
    lines = _items(texts)
    return ["", title, *lines] if lines else []


def _items(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in _wrap(text, first="  · ", later="    ")]


def _table(rows: Sequence[Sequence[str]], is_left: Sequence[bool]) -> Iterator[str]:
    """Aligned columns within the width; a name too long for its column has lines of its own."""
    others = [max(map(len, column)) + 2 for column in list(zip(*rows, strict=True))[1:]]
    # A long name must not push the numbers of all others to the far right.
    is_long = [len(name) > WIDTH - sum(others) for name, *_ in rows]
    short = [("" if long else row[0], *row[1:]) for row, long in zip(rows, is_long, strict=True)]
    for row, long, line in zip(rows, is_long, table_lines(short, left=is_left), strict=True):
        if long:
            yield from _wrap(row[0])
        yield line


def _wrap(text: str, first: str = "", later: str = "") -> list[str]:
    shown = shorten(" ".join(text.split()), 4000)
    return wrap(shown, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def _short(text: str) -> str:
    return shorten(text, 11)
