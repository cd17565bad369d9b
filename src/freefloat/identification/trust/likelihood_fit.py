"""The maximum of the likelihood of all channels as a Fit: what `auto` ends at.

A linear method uses the channels its equations need; the likelihood uses all that were recorded,
weighed by noise that is known beforehand, with what noise in the recorded inputs adds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from freefloat.identification.fit import Estimate, Fit
from freefloat.identification.fit_assembly import Solution, assemble_fit
from freefloat.identification.output_error.output_error_fit import solution_of
from freefloat.identification.output_error.search import SearchResult
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters

# objections to residuals against fixed multiples of the noise, however many samples there are
SUPERSEDED = (
    "not_trusted.residuals", "not_trusted.autocorrelated", "not_trusted.not_converged",
)  # fmt: skip


def likelihood_fit(
    start: Fit, rows: WhiteRows, parameters: Parameters, *, is_joint: bool = False
) -> Fit | None:
    """The fit at the maximum, begun at `start`; None where none was found.

    is_joint: assumptions are adjusted as well.
    """
    if rows.descent.ending != "converged":
        return None
    problem, errors = rows.problem, rows.descent.at.errors
    misfit, colour = {}, []
    for r, recording in enumerate(problem.recordings):
        for m, measurement in enumerate(recording.measurements):
            for c, name in enumerate(measurement.rows):
                mean = float(np.mean(errors[r][m][:, c] ** 2))
                misfit[recording.place + name] = mean / problem.noise[r][m][c].size ** 2
                colour += [recording.place + name] * (not problem.noise[r][m][c].is_white)
    none = np.zeros((len(rows.descent.at.theta), 0))
    n = rows.descent.n_evaluations
    found = SearchResult(problem, rows.descent, misfit, tuple(colour), n, none)
    notes = [note for recording in problem.recordings for note in recording.notes]
    solution = _widen(solution_of(parameters, found, notes, ()), rows)
    if solution.objection is not None and solution.objection.code in SUPERSEDED:
        solution = replace(solution, objection=None)  # the assessment judges residuals better
    reason = Note(
        "choice.likelihood",
        f"all channels together, from the values of {start.method} ({start.reason})",
    )
    if is_joint:
        text = "all channels together; what is taken as exact is adjusted, held by its doubt"
        reason = Note("choice.joint", text)
    fit = assemble_fit(
        solution, method="output_error", reason=reason,
        prior_model=start.prior_model, provenance={**start.provenance, "method": "output_error"},
    )  # fmt: skip
    before = {e.name: e.prior for e in start.estimates}
    own = tuple(_with_prior(e, before.get(e.name, e.prior)) for e in fit.estimates)
    # what a search says of itself holds of the last one only
    kept = [note for note in start.notes if not _is_of_search(note)]
    notes = tuple(dict.fromkeys((*kept, *fit.notes)))
    return replace(fit, estimates=own, notes=notes)


def _is_of_search(note: str) -> bool:
    return isinstance(note, Note) and note.code.partition(".")[0] in ("search", "residuals")


def _with_prior(estimate: Estimate, prior: float) -> Estimate:
    """The estimate with what the model said at first; where the data say nothing, that counts."""
    value = prior if estimate.status == "invisible" else estimate.value
    return replace(estimate, value=value, prior=prior)


def is_sharper(fit: Fit, other: Fit) -> bool:
    """Whether a fit knows its parameters better than another, on the whole (geometric mean)."""
    pairs = [
        (e.std, other[e.name].std)
        for e in fit.estimates
        if any(o.name == e.name for o in other.estimates)
    ]
    known = [(a, b) for a, b in pairs if np.isfinite(a) and np.isfinite(b) and a > 0.0 < b]
    lost = sum(np.isfinite(b) and not np.isfinite(a) for a, b in pairs)
    gained = sum(np.isfinite(a) and not np.isfinite(b) for a, b in pairs)
    if lost != gained:
        return gained > lost
    return bool(known) and float(np.mean([np.log(a / b) for a, b in known])) < 0.0


def _widen(solution: Solution, rows: WhiteRows) -> Solution:
    """The solution with deviations as wide as draws of the noise scatter, where that is more.

    What noise of the inputs does to several channels at once, noise row by row does not tell.
    """
    J = rows.jacobian
    covariance = np.linalg.pinv(J.T @ J, rcond=1e-14, hermitian=True)
    places = [k for k, u in enumerate(rows.problem.unknowns.items) if u.is_reported]
    known = [i for i, k in enumerate(places) if np.isfinite(solution.std[i])]
    variance = np.diag(covariance)[[places[i] for i in known]]
    if not known:
        return solution
    scatter = rows.scatter[[places[i] for i in known]]
    wider = max(1.0, float(np.sqrt(np.mean(scatter / np.maximum(variance, 1e-300)))))
    return replace(solution, std=solution.std * wider, covariance=solution.covariance * wider**2)
