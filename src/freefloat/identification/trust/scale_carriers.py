"""Which known forces and masses the scale of the estimates rests on.

theory: equations of motion do not change when all forces and all masses grow by one factor. So the
relative changes of an estimated mass with every carrier of the scale add up to one (Euler's theorem
on homogeneous functions): they are shares, and what did nothing in a flight has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freefloat.digits import amount_text
from freefloat.identification.assessment import ScaleCarrier
from freefloat.identification.trust.assumption_columns import COMMON, belongs
from freefloat.identification.trust.assumption_scores import surprise_limit
from freefloat.identification.trust.causes import Reported
from freefloat.identification.trust.consider import Consideration
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.notes import Note
from freefloat.observability.scale import is_scaled
from freefloat.prediction.assumptions import Assumption
from freefloat.text import listing

LEAST_SHARE = 0.01  # format: of the scale; less is not worth a line
MOST_NAMED = 4  # format: carriers in the sentence; the assessment has all
# theory: the mean of relative changes is not led by an estimate that is known to a tenth of itself
CLEAR = 10.0


def scale_carriers(
    considered: Consideration, reported: Reported, values: Mapping[str, float],
    options: TrustOptions,
) -> tuple[ScaleCarrier, ...]:  # fmt: skip
    """The carriers with a share, the most important first."""
    clear = [
        k
        for k, name in enumerate(reported.names)
        if is_scaled(name) and abs(values[name]) > CLEAR * reported.std[k]
    ]
    singles = [
        c
        for c, assumption in enumerate(considered.assumptions)
        if considered.is_scale[c] and assumption.name not in COMMON
        if assumption.value != 0.0 and assumption.std > 0.0
    ]
    if not clear or not singles:
        return ()
    places = [reported.places[k] for k in clear]
    sizes = np.array([reported.sizes[k] / values[reported.names[k]] for k in clear])
    spread = np.array([_relative(considered.assumptions[c]) for c in singles])
    each = np.mean(considered.moves[np.ix_(places, singles)] * sizes[:, None], axis=0) / spread
    classes: dict[str, list[int]] = {}
    for n, c in enumerate(singles):
        classes.setdefault(_class_of(considered.assumptions[c]), []).append(n)
    found = []
    for own in classes.values():
        share = float(np.sum(each[own]))
        own = [n for n in own if abs(each[n]) > LEAST_SHARE * abs(share)]
        if abs(share) > LEAST_SHARE:
            taken = [considered.assumptions[singles[n]] for n in own]
            found.append(
                ScaleCarrier(
                    tuple(assumption.name for assumption in taken), share,
                    float(np.max(spread[own])), all(a.is_stated for a in taken),
                    _is_checked(considered, reported, [singles[n] for n in own], options),
                )
            )  # fmt: skip
    return tuple(sorted(found, key=lambda carrier: -abs(carrier.share)))


def _is_checked(
    considered: Consideration, reported: Reported, own: Sequence[int], options: TrustOptions
) -> bool:
    """Whether the data contradict these assumptions before they spoil an estimate.

    theory: off by d (in units of doubts) they leave residuals G d, of which the others, within
    their own doubts, explain all but d'(1 - M) d of the sum of squares, M = (1 + G'G)^-1; they move
    the unknowns by `moves` d, or by `moves` M d where assumptions are adjusted.
    """
    d = np.zeros(len(considered.assumptions))
    d[list(own)] = [1.0 / _relative(considered.assumptions[c]) for c in own]
    left = considered.posterior @ d
    seen = float(np.sqrt(max(d @ (d - left), 0.0)))
    moved = considered.moves @ (left if considered.is_adjusted else d)
    harm, _ = reported.largest_shift(moved, reported.total(considered))
    return not options.refuse * seen < surprise_limit(len(d), options.significance) * harm


def scale_note(carriers: Sequence[ScaleCarrier]) -> Note:
    """The same as a sentence: what one per cent of each does to the estimates.

    Forces and masses that check each other may do much more than a per cent, or the opposite.
    """
    parts = []
    for carrier in carriers[:MOST_NAMED]:
        origin = "stated" if carrier.is_stated else "assumed"
        doing = "makes the estimated masses and inertias " if not parts else ""
        parts.append(
            f"1 % more of {listing(carrier.names, most=4)}"
            f" (known to {amount_text(carrier.deviation, '1')}, {origin}) {doing}{_change(carrier)}"
        )
    parts[0] += " on the average"
    more = len(carriers) - len(parts)
    parts += [f"{more} more that do less"] * bool(more)
    return Note("scale.fixed", "; ".join(parts))


def _change(carrier: ScaleCarrier) -> str:
    """What one per cent does.

    >>> _change(ScaleCarrier(("hinge.stiffness",), -6.798, 0.01, True, False))
    '6.8 % smaller'
    """
    size = float(f"{abs(carrier.share):.2g}")
    return f"{size:g} % {'larger' if carrier.share > 0.0 else 'smaller'}"


def _relative(assumption: Assumption) -> float:
    return assumption.std / abs(assumption.value)


def _class_of(assumption: Assumption) -> str:
    """What the assumption has in common with others; itself where nothing."""
    return next((common for common in COMMON if belongs(assumption, common)), assumption.name)
