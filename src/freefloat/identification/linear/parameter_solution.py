"""From a family's unknowns to a Solution in the parameters asked for, physical and judged.

Families whose unknowns are the parameters need only be made physically consistent; for the others
(angular, reduced) the parameters are those whose unknowns explain the estimates best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.identification.fit import FittedCombination, Residual
from freefloat.identification.fit_assembly import KNOWN, Solution, combination_of, name_sources
from freefloat.identification.linear.family import Family, LinearForm
from freefloat.identification.linear.linear_estimate import LinearEstimate
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.identification.linear.parameter_columns import SPRINGS, update_system
from freefloat.identification.linear.samples import Samples
from freefloat.identification.physical.consistent_fit import (
    ConsistencyOptions,
    Physical,
    fit_realisable,
)
from freefloat.identification.physical.consistent_joints import closest_physical_joints
from freefloat.least_squares.tall_tables import eliminate
from freefloat.model.model import Model
from freefloat.model.parameter_name import field_of
from freefloat.notes import Note
from freefloat.observability.scale import is_scaled, scale_of, scale_remedy
from freefloat.observability.visibility import ParameterVisibility, Visibility, visibility
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters

# theory: a parameter less than a thousandth of its natural size is zero as far as ratios go
NOTHING = 1e-3
STEP = 1e-4  # theory: of a central difference in natural sizes; its error is of the order of 1e-8


@dataclass(frozen=True)
class LinearFinding:
    """What a family found in its own unknowns.

    sources: what could fix the scale; samples: the recordings as the family took them.
    """

    family: Family
    form: LinearForm
    estimate: LinearEstimate
    samples: tuple[Samples, ...]
    system: System
    sources: tuple[str, ...]
    options: LinearOptions

    def root(self, sizes: Array) -> Array:
        """A square root of the information on the unknowns, nuisance eliminated.

        Directions buried in noise are not unseen for sure: they count as known to `buried_size`
        natural sizes, so that a parameter that hardly takes part in them is still known.
        """
        n, found = self.estimate.n_parameters, self.estimate.solution
        rows = eliminate(found.root, n)
        if not found.buried.shape[1]:
            return rows
        directions = np.linalg.qr(found.buried[:n] / sizes[:, None])[0]
        return np.vstack([rows, directions.T / sizes / self.options.buried_size])

    @property
    def n_buried(self) -> int:
        """How many combinations noise hides; without a source there is no scale to hide."""
        return self.estimate.solution.buried.shape[1] if self.sources else 0

    @property
    def is_noise_known(self) -> bool:
        """Whether the noise of every channel was stated."""
        return all(samples.is_noise_known for samples in self.samples)

    @property
    def misfit(self) -> float:
        """Mean square residual in units of the noise, of the worst kind of row."""
        scale = self.estimate.robust_scale
        return self.estimate.misfit if scale is None else scale**2

    @property
    def autocorrelation(self) -> float:
        """(1 + r) / (1 - r) for the worst lag-one correlation r of residuals: variance inflation.

        That of an AR(1) process (Bartlett 1946); correlations within what white noise shows by
        chance (1 / sqrt(n), four times) count as none.
        """
        found = [1.0]
        for left in self.estimate.residuals.values():
            r = float(left[1:] @ left[:-1] / max(float(left @ left), 1e-300))
            if r > max(0.15, 4.0 / np.sqrt(len(left))):
                found.append((1.0 + r) / max(1.0 - r, 1e-3))
        return max(found)

    @property
    def widening(self) -> float:
        """How much wider intervals are than white noise as stated makes them."""
        is_wide = self.misfit > self.options.trust.noisy or not self.is_noise_known
        return float(np.sqrt((self.misfit if is_wide else 1.0) * self.autocorrelation))

    @property
    def timing(self) -> float:
        """How far the impulse of thrust may be off, relative, if it switches between samples.

        Only where impulses are integrated (rows of linear momentum).
        """
        if "linear.x" not in self.estimate.residuals:
            return 0.0
        total = 0.0
        for samples in self.samples:
            step = float(np.median(np.diff(samples.time)))
            total += step * float(np.sum(np.abs(samples.thrust)))
        doubt = np.linalg.norm([samples.switching for samples in self.samples])
        return float(doubt) / total if total > 0.0 else 0.0


@dataclass(frozen=True)
class _Answer:
    """Values of the free parameters, and J (rows, names): root of the information on them."""

    values: Array
    J: Array
    physical: Physical | None
    J_start: Array | None = None  # where J depends on the values: at those of the model


def solution_of(parameters: Parameters, finding: LinearFinding, notes: tuple[str, ...]) -> Solution:
    """The finding in the free parameters, of physically consistent bodies if asked for."""
    answer = _answer(parameters, finding)
    seen = _visibility(parameters, finding, answer)
    n = len(answer.values)
    has_std = np.array([s.status in KNOWN for s in seen.parameters], dtype=bool)
    covariance = np.full((n, n), np.nan)
    if has_std.any():
        spread = np.linalg.pinv(answer.J) * finding.widening
        whole = spread @ spread.T
        covariance[np.ix_(has_std, has_std)] = whole[np.ix_(has_std, has_std)]
    model, trouble = _model(parameters, answer)
    physical = answer.physical.notes if answer.physical is not None else ()
    return Solution(
        parameters=tuple(parameters.free_ones), values=answer.values,
        std=np.where(has_std, [s.std for s in seen.parameters], np.nan), covariance=covariance,
        visibility=seen, at_bound=np.zeros(n, dtype=bool), model=model,
        residuals=_residuals(finding.estimate),
        notes=(*notes, *physical, *trouble, *_residual_notes(finding)),
        objection=_objection(finding, seen), combinations=_own_unknowns(finding),
    )  # fmt: skip


def _answer(parameters: Parameters, finding: LinearFinding) -> _Answer:
    """The free parameters that explain the finding best."""
    names = parameters.names
    if finding.form.unknowns_of is not None:
        residual = _residual_of(parameters, finding, finding.form.unknowns_of)
        found = fit_realisable(parameters, names, residual)
        kept = {name: value for name, value in zip(found.names, found.values, strict=True)}
        values = np.array([kept.get(p.name, p.value) for p in parameters.free_ones])
        start = np.array([p.value for p in parameters.free_ones])
        return _Answer(values, residual(values)[1], found, residual(start)[1])
    values = finding.estimate.values[: len(names)]
    J = finding.root(natural_sizes(finding.system, names))
    if not finding.options.physical or any(p.status == "tied" for p in parameters):
        return _Answer(values, J, None)
    in_joint = np.array([field_of(name) in SPRINGS for name in names])
    moved, found = closest_physical_joints(
        parameters, names, values, J, in_joint, options=_consistency(finding)
    )
    return _Answer(moved, J, found)


def _consistency(finding: LinearFinding) -> ConsistencyOptions:
    """How strongly the model counts where bodies are made physical.

    An arm on the ground shows in sums only, and bodies at the edge of what sums allow may have
    infinite mass: the model counts for what is known no better than to `buried_size`.

    theory: to second order the divergence is half the square of a relative change, so that its
    weight is the precision of a prior; this one is as wide as that of directions buried in noise
    (`LinearFinding.root`) and of output error (`SearchOptions.reach`). What sums show hardly
    depends on it, the largest mass grows with it: `tests/ground_arm_bound.py --method torque
    --buried 100`.
    """
    if finding.system.model.root.type != "fixed":
        return ConsistencyOptions()
    return ConsistencyOptions(prior_weight=finding.options.buried_size**-2)


def _residual_of(
    parameters: Parameters, finding: LinearFinding, unknowns_of: Callable[[System], Array]
) -> Callable[[Array], tuple[Array, Array]]:
    """Whitened misfit of the unknowns and its slope, as functions of the free parameters."""
    system, names = finding.system, parameters.names
    before = np.array([p.value for p in parameters.free_ones])
    sizes = natural_sizes(system, names)
    n = finding.estimate.n_parameters
    target = finding.estimate.values[:n]
    root = finding.root(np.full(n, np.max(np.abs(unknowns_of(system)))))

    def at(theta: Array) -> Array:
        return unknowns_of(update_system(system, names, before, theta))

    priors = [(k, *p.prior) for k, p in enumerate(parameters.free_ones) if p.prior]

    def residual(theta: Array) -> tuple[Array, Array]:
        steps = STEP * sizes * np.eye(len(names))
        slopes = [(at(theta + h) - at(theta - h)) / (2.0 * h[k]) for k, h in enumerate(steps)]
        known = [(theta[k] - mean) / std for k, mean, std in priors]
        rows = [np.eye(len(names))[k] / std for k, _, std in priors]
        J = np.vstack([root @ np.column_stack(slopes), *rows])
        return np.concatenate([root @ (at(theta) - target), known]), J

    return residual


def _visibility(parameters: Parameters, finding: LinearFinding, answer: _Answer) -> Visibility:
    """What the data tell of every free parameter."""
    names, free = parameters.names, parameters.free_ones
    sizes = natural_sizes(finding.system, names)
    priors = np.array([p.prior[1] if p.prior else np.inf for p in free])
    theta = np.array([v * is_scaled(n) for n, v in zip(names, answer.values, strict=True)])
    J = _without_priors(answer.J, priors) / finding.widening
    remedy = scale_remedy(parameters.model, finding.sources)
    scale = scale_of(J * sizes, theta / sizes, {}, remedy=remedy)
    scale = name_sources(scale, finding.sources, remedy=remedy)
    seen = visibility(
        J, names, sizes, prior_std=priors if np.any(np.isfinite(priors)) else None,
        values=answer.values, units=[p.unit for p in free], scale=scale,
    )  # fmt: skip
    if answer.J_start is not None:
        start = _without_priors(answer.J_start, priors) / finding.widening
        other = visibility(start, names, sizes)
        seen = replace(seen, parameters=tuple(map(_worse, seen.parameters, other.parameters)))
    return seen if scale is None or scale.is_fixed else _only_ratios(seen)


def _worse(one: ParameterVisibility, other: ParameterVisibility) -> ParameterVisibility:
    """The less favourable of two views: where they differ, a linear deviation means little."""
    if one.status not in KNOWN or other.status not in KNOWN:
        worst = one.status if one.status not in KNOWN else other.status
        return replace(one, status=worst, std=float("nan"))
    status = "weak" if "weak" in (one.status, other.status) else "seen"
    return replace(one, std=max(one.std, other.std), status=status)


def _without_priors(J: Array, priors: Array) -> Array:
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
        if is_scaled(sight.name) and abs(sight.value) > NOTHING * sight.size
        and sight.status in KNOWN
        else sight
        for sight in seen.parameters
    ]  # fmt: skip
    return replace(seen, parameters=tuple(sights))


def _own_unknowns(finding: LinearFinding) -> tuple[FittedCombination, ...] | None:
    """The family's own unknowns as combinations, where they are not the parameters."""
    if finding.form.unknowns_of is None:
        return None
    estimate, unknowns = finding.estimate, finding.form.unknowns
    std = estimate.solution.std[: estimate.n_parameters] * finding.widening
    rows = zip(unknowns, estimate.values, std, strict=False)
    return tuple(
        combination_of(p.name, p.unit, float(v), float(s)) for p, v, s in rows if np.isfinite(s)
    )


def _residuals(estimate: LinearEstimate) -> tuple[Residual, ...]:
    return tuple(
        Residual(label, estimate.units[label], len(left), float(np.sqrt(np.mean(left**2))))
        for label, left in estimate.residuals.items()
    )


def _model(parameters: Parameters, answer: _Answer) -> tuple[Model, tuple[Note, ...]]:
    """The model with the answer written in; the old one where no robot could have it."""
    free = dict(zip(parameters.names, map(float, answer.values), strict=True))
    if answer.physical is not None:
        springs = {n: max(v, 0.0) for n, v in free.items() if field_of(n) in SPRINGS}
        return with_parameters(answer.physical.model, springs), ()
    tied = {
        p.name: p.tied_to[1] * free.get(p.tied_to[0], parameters[p.tied_to[0]].value)
        for p in parameters
        if p.tied_to is not None
    }
    try:
        return with_parameters(parameters.model, {**free, **tied}), ()
    except FreefloatError as error:
        text = "the estimates were not written into the model, no robot could have them: "
        return parameters.model, (Note("model.not_written", text + str(error).splitlines()[0]),)


def _residual_notes(finding: LinearFinding) -> list[Note]:
    """What a reader should know of the residuals."""
    notes = []
    if finding.autocorrelation > 1.0:
        text = (
            "residuals are autocorrelated (coloured noise, a bias, a delay or an unmodelled"
            f" effect); intervals were widened by {np.sqrt(finding.autocorrelation):.2g}"
        )
        notes.append(Note("residuals.autocorrelated", text))
    if finding.misfit > finding.options.trust.noisy and finding.is_noise_known:
        text = (
            f"residuals are {np.sqrt(finding.misfit):.2g} times the stated noise: an unmodelled"
            " effect, or larger noise; intervals were widened by that factor"
        )
        notes.append(Note("residuals.large", text))
    if finding.timing > 0.0:
        text = (
            "thrust is taken to switch at the recorded instants; if it switches in between,"
            f" impulses and all masses may be off by about {100.0 * finding.timing:.1g} %"
        )
        notes.append(Note("thrust.timing", text))
    if finding.estimate.n_outliers:
        text = f"{finding.estimate.n_outliers} rows got less than half their weight: outliers"
        notes.append(Note("rows.outliers", text))
    return notes


def _objection(finding: LinearFinding, seen: Visibility) -> Note | None:
    """Why the numbers are not to be trusted, whatever their intervals; None if they are."""
    limits, estimate = finding.options.trust, finding.estimate
    n_rows = estimate.solution.n_rows
    if estimate.n_outliers > limits.outliers * n_rows:
        return _refuse(
            "outliers",
            f"{estimate.n_outliers} of {n_rows} rows count as outliers: the noise is larger than"
            " stated, or the model lacks something; state the noise, or look for what is missing"
            " (`freefloat structure`)",
        )
    if finding.timing > limits.timing:
        return _refuse(
            "thrust_timing",
            "thrusters switch so often that impulses are uncertain by"
            f" {100.0 * finding.timing:.1g} %; record them faster, or use the weak form",
        )
    if finding.autocorrelation > limits.useless:
        return _refuse(
            "autocorrelated",
            "residuals are strongly autocorrelated; look for a bias, a delay between channels, or"
            " an unmodelled effect",
        )
    if finding.misfit > limits.useless:
        return _refuse(
            "residuals",
            f"residuals are {np.sqrt(finding.misfit):.2g} times the noise; check the model, the"
            " channels and their units",
        )
    if finding.family.is_start_only and (seen.scale is None or seen.scale.is_fixed):
        text = (
            "A starting point, not an answer: gyro noise biases the reduced dynamics, and"
            " unmodelled effects do not show in it; measure the base velocity or use output error."
        )
        return Note("start_only", text)
    return None


def _refuse(code: str, why: str) -> Note:
    return Note(f"not_trusted.{code}", f"Not to be trusted: {why}.")
