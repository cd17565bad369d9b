"""What the data tell of all unknowns at the minimum: information, covariance, and encoders' share.

Where recorded joints drive the model, the noise of their encoders drives it too; a note says what
that costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.fit import Estimate
from freefloat.identification.output_error.alternative_minima import widen
from freefloat.identification.output_error.cost import stated_noise
from freefloat.identification.output_error.search import SearchResult
from freefloat.identification.output_error.starting_values import linear_fit
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.notes import Note
from freefloat.observability.visibility import ROUNDING
from freefloat.parameters.parameters import Parameters
from freefloat.telemetry.channel import Mask


def information_root(found: SearchResult) -> Array:
    """A square root (rows, unknowns) of the information of the data on theta."""
    problem, theta = found.problem, found.theta
    n = len(problem.unknowns.items)
    parts = []
    for r in range(len(problem.recordings)):
        rows, places = problem.physical_rows(r, theta)
        part = np.zeros((len(places), n))
        part[:, places] = triangle_of(rows)
        parts.append(part)
    return np.vstack(parts)


def estimate_covariance(found: SearchResult, J: Array, at_bound: Mask) -> Array:
    """Of all unknowns: by singular values, columns scaled; bounds hold what is at them."""
    unknowns = found.problem.unknowns
    rows = [
        np.eye(len(unknowns.items))[k] / u.parameter.prior[1]
        for k, u in enumerate(unknowns.items)
        if u.parameter.prior is not None
    ]
    A = np.vstack([J, *rows]) * unknowns.sizes
    A[:, at_bound] = 0.0
    length = np.linalg.norm(A, axis=0)
    length[length == 0.0] = 1.0
    _, s, Vt = np.linalg.svd(A / length, full_matrices=False)
    kept = s > ROUNDING * s[0] if len(s) else s > 0.0
    spread = Vt[kept].T / s[kept] / length[:, None] * unknowns.sizes[:, None]
    inputs = found.shifts @ found.shifts.T / max(found.shifts.shape[1], 1)
    return widen(spread @ spread.T + inputs, found.alternatives, found.theta)


def encoder_notes(
    parameters: Parameters, found: SearchResult, estimates: Sequence[Estimate]
) -> tuple[Note, ...]:
    """A note where the noise of the encoders makes standard deviations far larger, or none."""
    recordings = found.problem.recordings
    if all(recording.is_planned for recording in recordings):
        return ()
    quiet = replace(found.problem, noise=stated_noise(recordings))
    exact = replace(found, problem=quiet, shifts=np.zeros((len(found.theta), 0)), alternatives=())
    nothing = np.zeros(len(found.theta), dtype=bool)
    variance = np.diag(estimate_covariance(exact, information_root(exact), nothing))
    places = {u.label: k for k, u in enumerate(found.problem.unknowns.items)}
    wider = {
        e.name: float(e.std / np.sqrt(variance[places[e.name]]))
        for e in estimates
        if np.isfinite(e.std) and variance[places[e.name]] > 0.0
    }
    if not wider or max(wider.values()) < found.problem.options.encoder_ratio:
        return ()
    worst = max(wider, key=lambda name: wider[name])
    text = (
        f"the noise of the encoders that drive the joints makes standard deviations up to"
        f" {wider[worst]:.2g} times those of joints known exactly ({worst}); give the plan that was"
        f" flown (--plan){_other_method(parameters, found, estimates)}"
    )
    return (Note("inputs.encoder_noise", text),)


def _other_method(
    parameters: Parameters, found: SearchResult, estimates: Sequence[Estimate]
) -> str:
    """What a linear family makes of the same recordings, where that is clearly better."""
    try:
        fit = linear_fit(parameters, found.problem)
    except (FreefloatError, np.linalg.LinAlgError):
        return ""
    if fit is None or not fit.is_trustworthy or len(fit.estimates) < len(estimates):
        return ""
    pairs = [(e, fit[e.name]) for e in estimates if np.isfinite(e.std)]
    gains = [e.std / o.std if np.isfinite(o.std) else 0.0 for e, o in pairs]
    here, there = pairs[int(np.argmax(gains))]
    if max(gains) < found.problem.options.method_ratio:
        return ""
    return (
        f", or use --method {fit.method}, which has {here.name} to {there.std:.2g} {here.unit}"
        f" instead of {here.std:.2g}"
    )
