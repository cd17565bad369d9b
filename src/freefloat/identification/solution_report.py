"""From a method's unknowns to the parameters: values, information, and what is seen of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.linear.parameter_columns import SPRINGS, updated
from freefloat.identification.physical.consistent_fit import Physical, closest_physical, realise
from freefloat.identification.solution import Solved
from freefloat.linear_algebra import eliminate
from freefloat.observability.scale import REMEDY, Scale, is_scaled, scale_of
from freefloat.observability.visibility import ParameterVisibility, Visibility, visibility
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters

KNOWN = ("seen", "weak")


@dataclass(frozen=True)
class Answer:
    """Values of the free parameters, and J (rows, names): root of the information on them."""

    values: Array
    J: Array
    physical: Physical | None
    notes: tuple[str, ...]
    J_start: Array | None = None  # where J depends on the values: at those of the model


def answer_of(parameters: Parameters, finding: Solved, *, is_physical: bool) -> Answer:
    """The free parameters that explain the finding best, of bodies that could be real if asked."""
    names = parameters.names
    if finding.unknowns_of is not None:
        residual = _residual_of(parameters, finding)
        found = realise(parameters, names, residual)
        kept = {name: value for name, value in zip(found.names, found.values, strict=True)}
        values = np.array([kept.get(p.name, p.value) for p in parameters.free_ones])
        start = np.array([p.value for p in parameters.free_ones])
        return Answer(values, residual(values)[1], found, found.notes, residual(start)[1])
    values = finding.estimate.values[: len(names)]
    J = finding.root(natural_sizes(finding.system, names))
    if not is_physical or any(p.status == "tied" for p in parameters):
        return Answer(values, J, None, ())
    is_inertial = np.array([name.rpartition(".")[2] not in SPRINGS for name in names])
    order = np.argsort(~is_inertial, kind="stable")  # springs last, to be eliminated
    n = int(is_inertial.sum())
    rows = eliminate(J[:, order], n)
    chosen = [names[k] for k in order[:n]]
    found = closest_physical(parameters, chosen, values[order[:n]], rows.T @ rows)
    kept = {name: value for name, value in zip(found.names, found.values, strict=True)}
    moved = np.array([kept.get(n, v) for n, v in zip(names, values, strict=True)])
    return Answer(moved if found.is_moved else values, J, found, found.notes)


def _residual_of(parameters: Parameters, finding: Solved) -> Callable[[Array], tuple[Array, Array]]:
    """Whitened misfit of the unknowns and its slope, as functions of the free parameters."""
    assert finding.unknowns_of is not None
    system, names, unknowns_of = finding.system, parameters.names, finding.unknowns_of
    before = np.array([p.value for p in parameters.free_ones])
    sizes = natural_sizes(system, names)
    n = finding.estimate.n_parameters
    target = finding.estimate.values[:n]
    root = finding.root(np.full(n, np.max(np.abs(unknowns_of(system)))))

    def at(theta: Array) -> Array:
        return unknowns_of(updated(system, names, before, theta))

    priors = [(k, *p.prior) for k, p in enumerate(parameters.free_ones) if p.prior]

    def residual(theta: Array) -> tuple[Array, Array]:
        steps = 1e-4 * sizes * np.eye(len(names))
        slopes = [(at(theta + h) - at(theta - h)) / (2.0 * h[k]) for k, h in enumerate(steps)]
        known = [(theta[k] - mean) / std for k, mean, std in priors]
        rows = [np.eye(len(names))[k] / std for k, _, std in priors]
        J = np.vstack([root @ np.column_stack(slopes), *rows])
        return np.concatenate([root @ (at(theta) - target), known]), J

    return residual


def seen_of(parameters: Parameters, finding: Solved, answer: Answer) -> Visibility:
    """What the data tell of every free parameter."""
    names, free = parameters.names, parameters.free_ones
    sizes = natural_sizes(finding.system, names)
    priors = np.array([p.prior[1] if p.prior else np.inf for p in free])
    theta = np.array([v * is_scaled(n) for n, v in zip(names, answer.values, strict=True)])
    J = _data_alone(answer.J, priors) / finding.widening
    scale = _scale_words(scale_of(J * sizes, theta / sizes, {}), finding)
    seen = visibility(
        J, names, sizes, prior_std=priors if np.any(np.isfinite(priors)) else None,
        values=answer.values, units=[p.unit for p in free], scale=scale,
    )  # fmt: skip
    if answer.J_start is not None:
        other = visibility(_data_alone(answer.J_start, priors) / finding.widening, names, sizes)
        seen = replace(seen, parameters=tuple(map(_worse, seen.parameters, other.parameters)))
    return seen if scale is None or scale.is_fixed else _only_ratios(seen)


def _worse(one: ParameterVisibility, other: ParameterVisibility) -> ParameterVisibility:
    """The less favourable of two views: where they differ, a linear deviation means little."""
    if one.status not in KNOWN or other.status not in KNOWN:
        worst = one.status if one.status not in KNOWN else other.status
        return replace(one, status=worst, std=float("nan"))
    status = "weak" if "weak" in (one.status, other.status) else "seen"
    return replace(one, std=max(one.std, other.std), status=status)


def _data_alone(J: Array, priors: Array) -> Array:
    """The root of the information with that of the priors taken off; `visibility` adds it again."""
    if not np.any(np.isfinite(priors)):
        return J
    size = np.where(
        np.isfinite(priors), priors, 1.0 / np.maximum(np.linalg.norm(J, axis=0), 1e-300)
    )
    information = (J * size).T @ (J * size) - np.diag(np.where(np.isfinite(priors), 1.0, 0.0))
    values, V = np.linalg.eigh(information)
    return np.sqrt(np.maximum(values, 0.0))[:, None] * V.T / size


def _only_ratios(seen: Visibility) -> Visibility:
    """Without a scale nothing that grows with it is known, however small its part in it."""
    sights = [
        replace(sight, status="only in combination", std=float("nan"))
        if is_scaled(sight.name) and abs(sight.value) > 1e-3 * sight.size and sight.status in KNOWN
        else sight
        for sight in seen.parameters
    ]
    return replace(seen, parameters=tuple(sights))


def _scale_words(scale: Scale | None, finding: Solved) -> Scale | None:
    if scale is None or not scale.is_fixed:
        return scale
    if not finding.sources:
        return Scale(False, float("nan"), f"not fixed: only ratios; {REMEDY}")
    return Scale(True, scale.std, f"fixed by {' and '.join(finding.sources)}")
