"""What it costs that recorded joints drive the model: the noise of their encoders drives it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.errors import FreefloatError
from freefloat.identification.fit import Estimate
from freefloat.identification.output_error.cost import stated_noise
from freefloat.identification.output_error.covariance import covariance_of, information_root
from freefloat.identification.output_error.linear_start import linear_fit
from freefloat.identification.output_error.search import SearchResult
from freefloat.parameters.parameters import Parameters

DEAR = 10.0  # times wider than with joints known exactly: worth a note
BETTER = 2.0  # times narrower: worth another method


def cost_of_encoders(
    parameters: Parameters, found: SearchResult, estimates: Sequence[Estimate]
) -> tuple[str, ...]:
    """A note on deviations that the noise of the driving encoders makes far larger, or none."""
    recordings = found.problem.recordings
    if all(recording.is_planned for recording in recordings):
        return ()
    quiet = replace(found.problem, noise=stated_noise(recordings))
    exact = replace(found, problem=quiet, shifts=np.zeros((len(found.theta), 0)), rivals=())
    nothing = np.zeros(len(found.theta), dtype=bool)
    variance = np.diag(covariance_of(exact, information_root(exact), nothing))
    places = {u.label: k for k, u in enumerate(found.problem.unknowns.items)}
    wider = {
        e.name: float(e.std / np.sqrt(variance[places[e.name]]))
        for e in estimates
        if np.isfinite(e.std) and variance[places[e.name]] > 0.0
    }
    if not wider or max(wider.values()) < DEAR:
        return ()
    worst = max(wider, key=lambda name: wider[name])
    return (
        f"the noise of the encoders that drive the joints makes deviations up to"
        f" {wider[worst]:.2g} times those of joints known exactly ({worst}); give the plan that was"
        f" flown (--plan){_other_way(parameters, found, estimates)}",
    )


def _other_way(parameters: Parameters, found: SearchResult, estimates: Sequence[Estimate]) -> str:
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
    if max(gains) < BETTER:
        return ""
    return (
        f", or use --method {fit.method}, which has {here.name} to {there.std:.2g} {here.unit}"
        f" instead of {here.std:.2g}"
    )
