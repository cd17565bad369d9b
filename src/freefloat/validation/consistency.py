"""Do noise and what is known to be uncertain explain what a prediction leaves of a flight?

The tests are those that grade a fit (`identification/trust`), with nothing free but the initial
state: residuals of every channel by noise known beforehand, against draws of that noise. A right
model is off by more than noise in two ways. Its parameters are known to their stated total
deviations only: they are moved to where this flight, and what the fit says of them, are together
most probable. And what is taken for exact (thrust, mounting, known bodies) may be off by its
doubt. What is then left must be noise, and nothing may have to move further than it is uncertain.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import fdtrc

from freefloat.arrays import Array
from freefloat.dynamics.named_parameters import parameter_names
from freefloat.dynamics.tree import System
from freefloat.identification.assessment import Cause
from freefloat.identification.fit import Fit
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.unknowns import unknowns_of
from freefloat.identification.trust.assumption_columns import (
    AssumptionColumns,
    assumption_columns,
)
from freefloat.identification.trust.causes import Explanation, Reported, explain, is_noise
from freefloat.identification.trust.joint_point import approach_straight
from freefloat.identification.trust.misfit import BandTest, band_tests
from freefloat.identification.trust.trust_options import USUAL_TRUST, TrustOptions
from freefloat.identification.trust.white_rows import WhiteRows, white_rows
from freefloat.model.model import Model
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.assumptions import Assumption
from freefloat.text import listing
from freefloat.validation.start_search import StartSearch

# theory: Gauss-Newton squares the error; the first steps may have to be shortened
MOST_STEPS = 8
SETTLED = 1e-2  # theory: standard deviations; it adds half its square, 5e-5, to a sum of squares
# theory: slow components tell a wrong model; a sensor's statistics are good to 2 % with as many
MOST_SAMPLES = 4000  # of a sensor, in the tests
COMBINATION_UNIT = "standard deviations"


@dataclass(frozen=True)
class StatedParameters:
    """Parameters that a fit is uncertain of: names, a factor of their total covariance, its root.

    factor (names, combinations): times its transpose it is the covariance.
    """

    names: tuple[str, ...]
    std: Array
    factor: Array

    def label(self, combination: int) -> str:
        """The parameters that a combination of the factor moves most, in their deviations."""
        moved = np.abs(self.factor[:, combination]) / self.std
        order = np.argsort(-moved)
        return listing([self.names[k] for k in order if moved[k] > 0.5 * np.max(moved)], most=3)


@dataclass(frozen=True)
class Consistency:
    """What the tests say.

    tests: of what noise alone must explain. causes: what has to move further than it is uncertain;
    a combination of the fit's parameters is in units of its standard deviation. healed: whether
    one of them explains all that is left.
    """

    tests: tuple[BandTest, ...]
    causes: tuple[Cause, ...]
    is_healed: bool
    has_doubts: bool
    options: TrustOptions

    @property
    def large(self) -> tuple[BandTest, ...]:
        """Tests in which residuals are larger than noise."""
        n = len(self.tests)
        return tuple(t for t in self.tests if t.chance * n < self.options.significance)

    @property
    def is_met(self) -> bool:
        """Whether everything is explained."""
        return not self.large and not self.causes


def judge_consistency(
    source: Fit | Model, search: StartSearch, *, options: TrustOptions = USUAL_TRUST, seed: int = 0
) -> Consistency:
    """Whether noise, stated deviations and doubts explain the flight from its start on.

    Assumptions are asked only where the first two do not suffice: each takes a simulation.
    """
    problem = _thin(search.problem)
    rows = white_rows(problem, search.theta, options=options, seed=seed)
    stated = parameter_deviations(problem.recordings[0].system, source)
    rows, wide, moves = _most_probable(rows, stated, search.held)
    own = AssumptionColumns(tuple(_assumption(stated, k) for k in range(moves.shape[1])), moves)
    found = _explain(rows, own, options)
    if found.causes or not is_noise(found.rows, options):
        found = _explain(rows, assumption_columns(wide).after(own), options)
        return _consistency(found, options, has_doubts=True)
    return _consistency(found, options, has_doubts=False)


def _consistency(found: Explanation, options: TrustOptions, *, has_doubts: bool) -> Consistency:
    measurements = found.rows.problem.recordings[0].measurements
    guessed = {name for m in measurements if not m.is_noise_known for name in m.rows}
    each: dict[str, list[BandTest]] = {}
    for test in band_tests(found.rows, options):
        each.setdefault(test.channel, []).append(test)
    tests = [
        test
        for channel, own in each.items()
        for test in (_by_fastest(own) if channel in guessed else own)
    ]
    is_healed = found.is_noise and bool(found.causes)
    return Consistency(tuple(tests), found.causes, is_healed, has_doubts, options)


def _by_fastest(tests: Sequence[BandTest]) -> list[BandTest]:
    """Tests of a channel whose noise nobody stated, held against its fastest band.

    How large such noise is was guessed; that it is as large at all frequencies is still a test. A
    single component cannot be told from a guess that is off.
    """
    fastest = tests[-1]
    level = max(fastest.ratio, 1.0)
    return [
        replace(
            test, ratio=test.ratio / level, too_pure=1.0,
            too_large=float(fdtrc(test.n, fastest.n, test.ratio / level)),
        )
        for test in tests[:-1]
    ]  # fmt: skip


def _explain(rows: WhiteRows, taken: AssumptionColumns, options: TrustOptions) -> Explanation:
    nothing = Reported((), (), np.zeros(0), np.zeros(0))
    return explain(rows, taken, nothing, options, advance=approach_straight)


def _assumption(stated: StatedParameters, k: int) -> Assumption:
    return Assumption(stated.label(k), 0.0, COMBINATION_UNIT, 1.0, 1.0, True, "stated by the fit")


def _thin(problem: OutputErrorProblem) -> OutputErrorProblem:
    """The problem with fewer samples of every sensor, enough for its statistics."""
    recording = problem.recordings[0]
    parts = []
    for m in recording.measurements:
        every = max(1, len(m.times) // MOST_SAMPLES)
        parts.append(m.select(np.arange(len(m.times)) % every == 0) if every > 1 else m)
    return replace(problem, recordings=(replace(recording, measurements=tuple(parts)),))


def parameter_deviations(system: System, source: Fit | Model) -> StatedParameters:
    """The parameters of a fit that act in a system, with their total covariance.

    What the fit's own flights did not show may be off by its natural size.
    """
    none = StatedParameters((), np.zeros(0), np.zeros((0, 0)))
    if isinstance(source, Model):
        return none
    there = set(parameter_names(system))
    chosen = [
        k
        for k, e in enumerate(source.estimates)
        if e.name in there and e.status not in ("fixed", "at bound")
    ]
    if not chosen:
        return none
    names = [source.estimates[k].name for k in chosen]
    sizes = natural_sizes(system, names)
    C = source.covariance[np.ix_(chosen, chosen)].copy()
    total = np.array([source.estimates[k].total_std for k in chosen])
    for i, size in enumerate(sizes):
        if not np.isfinite(C[i, i]):
            C[i, :] = C[:, i] = 0.0
            C[i, i] = size**2
        elif np.isfinite(total[i]):
            C[i, i] += max(total[i] ** 2 - C[i, i], 0.0)
    C = np.nan_to_num(C)
    std = np.sqrt(np.maximum(np.diag(C), 1e-300))
    return StatedParameters(tuple(names), std, _factor(C, std))


def _factor(covariance: Array, std: Array) -> Array:
    """L with L L^T the covariance, by the principal axes of the correlations."""
    values, vectors = np.linalg.eigh(covariance / np.outer(std, std))
    return std[:, None] * vectors * np.sqrt(np.clip(values, 0.0, None))


def _most_probable(
    rows: WhiteRows, stated: StatedParameters, held: Collection[str] | None
) -> tuple[WhiteRows, WhiteRows, Array]:
    """The rows about the most probable parameters, the same with these as unknowns, and columns.

    Residuals are those the model as stated would leave if predictions were linear from there on:
    over long flights they are not linear over a parameter's whole interval.
    """
    problem = rows.problem
    own = [unknown.name for unknown in problem.unknowns.items]
    wide = _with_parameters(problem, stated.names, held)
    names = [unknown.name for unknown in wide.unknowns.items]
    state = [names.index(name) for name in own]
    free = [names.index(name) for name in stated.names]
    theta = wide.unknowns.start.copy()
    theta[state] = rows.descent.at.theta
    centre = theta[free]
    z, scale = np.zeros(stated.factor.shape[1]), wide.unknowns.sizes
    left, J = _linearise(wide, theta)
    assert left is not None  # it was simulated here before
    cost, shrink = float(left @ left), 1.0
    change = _step(left, J[:, state], J[:, free] @ stated.factor, z)
    for _ in range(MOST_STEPS if stated.names else 0):
        new, new_z = theta.copy(), z + shrink * change[len(state) :]
        new[state] += shrink * change[: len(state)]
        new[free] = centre + stated.factor @ new_z
        trial, slopes = _linearise(wide, new)
        worth = np.inf if trial is None else float(trial @ trial + new_z @ new_z)
        if trial is None or not worth < cost:
            shrink *= 0.3
            if shrink < 0.01:
                break
            continue
        theta, z, left, J, cost, shrink = new, new_z, trial, slopes, worth, 1.0
        change = _step(left, J[:, state], J[:, free] @ stated.factor, z)
        if float(np.max(np.abs(change[len(state) :]), initial=0.0)) < SETTLED:
            break
    columns = J[:, free] @ stated.factor
    about = replace(rows, residual=left - columns @ z, jacobian=J[:, state] * scale[state])
    about = replace(about, draws=about.project_out(rows.draws))
    at = replace(rows.descent, at=replace(rows.descent.at, theta=theta))
    return about, replace(about, problem=wide, descent=at, jacobian=J * scale), columns


def _with_parameters(
    problem: OutputErrorProblem, names: Sequence[str], held: Collection[str] | None
) -> OutputErrorProblem:
    """The problem with parameters of the model among the unknowns."""
    recording = problem.recordings[0]
    free = Parameters(recording.model)
    free = free.free(*names) if names else free
    found = unknowns_of(free, [recording], is_start_known=held is None, held=held or ())
    return replace(problem, unknowns=found, origin=None)


def _linearise(problem: OutputErrorProblem, theta: Array) -> tuple[Array | None, Array]:
    """Whitened residuals and their slopes (rows, unknowns); none where nothing is finite."""
    values = problem.unknowns.values(theta, 0)
    prediction = problem.recordings[0].at(values)
    if prediction is None:
        return None, np.zeros((0, len(theta)))
    rows, places = problem.physical_rows(0, theta)
    J = np.zeros((len(rows), len(theta)))
    J[:, places] = rows
    return problem.whiten(0, list(prediction.residuals)), J


def _step(left: Array, state: Array, columns: Array, z: Array) -> Array:
    """Change of the initial state and of the combinations z, whose prior is the unit normal."""
    J = np.hstack([state, columns])
    rows = np.vstack([J, np.eye(J.shape[1])[state.shape[1] :]])
    length = np.linalg.norm(rows, axis=0)
    length = np.where(length > 0.0, length, 1.0)
    right = np.concatenate([-left, -z])
    return np.linalg.lstsq(rows / length, right, rcond=1e-10)[0] / length
