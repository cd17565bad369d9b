"""Whether the innovations so far are noise: read at any time, with one chance of a false alarm.

The sums are those of `kernels/innovation_tests.py`. Of n squares with the sum S, which are those of
normal numbers of unit variance where model and noise are right, the likelihood of a larger
variance, with the density of its inverse proportional to exp(-1/v) between 0 and 1, over that of
unit variance is, with h = 1 + n/2 and P the regularised incomplete gamma function,

    e = Gamma(h) P(h, 1 + S/2) (1 + S/2)^-h exp(S/2) / (1 - 1/exp(1)).

In a right world e is a martingale of mean one, and so is the mean of such e over octaves and rows:
that it ever passes 1 / p has the chance p at most, however often one looks (Ville 1939). Rows are
weighted by bounds where impulses are integrated, so innovations may be smaller than one, and
nothing follows from that. Half of the significance is for octaves, half for the windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln

from freefloat.arrays import Array
from freefloat.digits import amount_text
from freefloat.identification.assessment import Evidence
from freefloat.identification.trust.evidence import grade_of_shift
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.online.kernels.codes import N_INNOVATIONS
from freefloat.telemetry.names import XYZ

if TYPE_CHECKING:
    from freefloat.online.kernels.memory import FilterMemory


class InnovationSums(NamedTuple):
    """The sums of a filter: samples (rows,), power (octaves, rows), oddest windows (octaves, 2)."""

    counts: NDArray[np.int64]
    power: Array
    worst: Array
    rows: tuple[str, ...]
    step: float  # [s] between samples

    @property
    def numbers(self) -> Array:
        """How many squares the power (octaves, rows) is the sum of."""
        last = len(self.power) - 1
        return np.array([self.counts >> min(o + 1, last) for o in range(last + 1)], dtype=float)


@dataclass(frozen=True)
class Octave:
    """The power of a row's innovations in one octave, over that of noise; likely: ln e."""

    row: str
    samples: int
    number: float
    ratio: float
    likely: float


def octaves_of(sums: InnovationSums) -> list[Octave]:
    """All that have any samples."""
    n = sums.numbers
    likely = log_evidence(n, sums.power)
    return [
        Octave(
            sums.rows[r],
            2 ** (o + 1),
            float(n[o, r]),
            float(sums.power[o, r] / n[o, r]),
            float(likely[o, r]),
        )
        for o, r in np.ndindex(n.shape)
        if n[o, r] > 0.0
    ]


def log_evidence(n: Array, total: Array) -> Array:
    """ln e of n squares with this sum; nought where there is none.

    >>> log_evidence(np.array([0.0, 100.0, 100.0]), np.array([0.0, 100.0, 200.0])).round(1).tolist()
    [0.0, -2.2, 13.6]
    """
    h, x = 1.0 + 0.5 * n, 1.0 + 0.5 * total
    share = np.log(np.maximum(gammainc(h, x), 1e-300)) - log(1.0 - exp(-1.0))
    return np.asarray(gammaln(h) + share - h * np.log(x) + 0.5 * total)


def _log_mean(logs: list[float]) -> float:
    """ln of the mean of numbers whose logarithms these are."""
    return float(np.logaddexp.reduce(logs)) - log(len(logs))


def innovation_evidence(
    sums: InnovationSums, ratio: float, options: TrustOptions
) -> tuple[Evidence, ...]:
    """What the innovations say against the model; ratio: of statistical to total deviations."""
    found = []
    octaves = octaves_of(sums)
    limit = log(2.0 / options.significance)
    if octaves and _log_mean([o.likely for o in octaves]) > limit:
        found.append(_octave_evidence(octaves, sums, ratio, options))
    oddest = int(np.argmax(sums.worst[:, 0]))
    unlikely, excess = sums.worst[oddest].tolist()
    if unlikely > limit + log(len(sums.worst)):
        length = 2 ** (oddest + 1)
        shift = sqrt(max(excess - 1.0, 0.0)) * ratio
        text = (
            f"over {length} samples in a row the innovations have {excess:.3g} times the variance"
            " of noise"
        )
        found.append(
            Evidence(
                "innovations.burst", text, grade_of_shift(shift, options, best="with reservations"),
                unlikely, limit, shift,
                "something happened then that the model does not have: look at the events, or track"
                " the parts before and after by themselves",
            )
        )  # fmt: skip
    return tuple(found)


def _octave_evidence(
    octaves: list[Octave], sums: InnovationSums, ratio: float, options: TrustOptions
) -> Evidence:
    limit = log(2.0 * len(octaves) / options.significance)
    worst = max(octaves, key=lambda o: o.likely)
    span = amount_text(worst.samples * sums.step, "s")
    large = [o.ratio - 1.0 for o in octaves if o.likely > limit and o.ratio > 1.0]
    shift = sqrt(max(large, default=0.0)) * ratio
    text = (
        f"innovations of {worst.row} are not noise: over {span} they have {worst.ratio:.3g} times"
        " its power"
    )
    return Evidence(
        "innovations.too_large", text, grade_of_shift(shift, options, best="with reservations"),
        worst.ratio, 1.0, shift,
        "something is missing in the model, or noise is understated: identify from the recording,"
        " which names causes",
    )  # fmt: skip


def row_names(rows: Array) -> tuple[str, ...]:
    """What the rows of a sample are, for a person.

    >>> row_names(np.array([0, 5]))
    ('linear momentum x', 'angular momentum z')
    """
    kinds = ("linear", "angular")
    return tuple(f"{kinds[r // 3]} momentum {XYZ[r % 3]}" for r in rows.tolist())


def forget_innovations(m: FilterMemory) -> None:
    """Begin all sums anew."""
    for array in (m.octave_half, m.octave_power, m.window_half, m.window_worst):
        array[:] = 0.0
    m.counts[N_INNOVATIONS] = 0
