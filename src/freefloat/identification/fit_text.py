"""A fit in words: the sentence a person can act on, and what the residuals show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.identification.fit import Estimate
from freefloat.identification.solution import NOISY, Solved
from freefloat.observability.scale import REMEDY
from freefloat.observability.visibility import Visibility

COARSE = 0.01  # of the impulse of thrust
USELESS = 9.0  # chi-square per row from which an answer is not to be trusted


def remarks(finding: Solved) -> list[str]:
    """What a reader should know of the residuals."""
    found = finding.estimate
    told = []
    misfit = finding.misfit
    if finding.memory > 1.0:
        told.append(
            "residuals go on as they begin (coloured noise, a bias, a delay or something the model"
            f" lacks); intervals were widened by {np.sqrt(finding.memory):.2g}"
        )
    if misfit > NOISY and finding.is_noise_known:
        told.append(
            f"residuals are {np.sqrt(misfit):.2g} times the stated noise: the model lacks"
            " something, or the noise is larger; intervals were widened by that factor"
        )
    if finding.timing > 0.0:
        told.append(
            "thrust is taken to switch at the recorded instants; if it does so in between, impulses"
            f" and with them all masses may be off by about {100.0 * finding.timing:.1g} %"
        )
    if found.n_outliers:
        told.append(f"{found.n_outliers} rows were given less than half their weight: outliers")
    return told


def status_of(estimates: Sequence[Estimate], seen: Visibility, finding: Solved) -> tuple[str, bool]:
    """A sentence a person can act on, and whether to trust the numbers."""
    misfit, n_rows = finding.misfit, finding.estimate.solution.n_rows
    if finding.estimate.n_outliers > 0.1 * n_rows:
        return (
            f"Not to be trusted: {finding.estimate.n_outliers} of {n_rows} rows count as outliers;"
            " the noise is larger than stated, or the model lacks something.",
            False,
        )
    if finding.timing > COARSE:
        return (
            f"Not to be trusted: thrusters switch so often that impulses are uncertain by"
            f" {100.0 * finding.timing:.1g} %; record them faster, or use the weak form.",
            False,
        )
    if finding.memory > USELESS:
        return (
            "Not to be trusted: residuals follow each other; look for a bias, a delay between"
            " channels, or something the model lacks.",
            False,
        )
    if misfit > USELESS:
        return (
            f"Not to be trusted: residuals are {np.sqrt(misfit):.2g} times the noise; check the"
            " model, the channels and their units.",
            False,
        )
    if seen.scale is not None and not seen.scale.is_fixed:
        return (f"Only ratios are known; {REMEDY}.", False)
    if finding.is_start_only:
        return (
            "A starting point, not an answer: gyro noise biases the reduced dynamics, and nothing"
            " unmodelled shows in it; measure the base velocity or use output error.",
            False,
        )
    return tally(estimates, seen)


def tally(estimates: Sequence[Estimate], seen: Visibility) -> tuple[str, bool]:
    """How many parameters are known how well, and whether any is."""
    n, good = len(estimates), sum(e.status == "seen" for e in estimates)
    weak = sum(e.status == "weak" for e in estimates)
    if good == n:
        all_of = f"All {n} parameters" if n > 1 else "The parameter"
        return f"{all_of} known to better than a tenth of their natural size.", True
    if good + weak == 0:
        sums = len(seen.combinations)
        told = f"only {sums} combinations" if sums else "nor any combination"
        return f"No parameter is seen on its own, {told}: move more joints.", False
    invisible = sum(e.status == "invisible" for e in estimates)
    mixed = n - good - weak - invisible
    parts = [f"{good} of {n} parameters known to a tenth of their natural size"]
    parts += [f"{weak} weakly"] * bool(weak)
    parts += [f"{mixed} only in combination"] * bool(mixed)
    parts += [f"{invisible} invisible in this motion"] * bool(invisible)
    return ", ".join(parts) + ".", good > 0
