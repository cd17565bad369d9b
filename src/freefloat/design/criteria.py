"""What makes a motion good: small numbers are better, whatever the criterion.

Information criteria (optimal experiment design: A-, D-, E-optimality, see Pukelsheim, Optimal
Design of Experiments, 1993) look at the covariance C that a flight's readings would leave, in
natural sizes of the parameters, with unknown initial states projected out. To every parameter
without a prior of its own belongs one of its natural size: what stays unknown whatever one does
counts as 100 % and no more. Directions of which no motion tells anything are left out altogether,
or they would drown what can be improved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.design.candidate_flights import (
    CandidateFlight,
    CandidateFlights,
    Criterion,
    DesignUnknowns,
)
from freefloat.design.motion_criteria import BaseExcursion, modal_energy
from freefloat.design.variables import Variables
from freefloat.dynamics.tree import System
from freefloat.errors import ExcitationError, Fault
from freefloat.model.parts import Sensor
from freefloat.observability.information import (
    at_model_values,
    column_mix,
    free_parameters,
    unknown_initial_states,
)
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.limit_monitors import LimitMonitor
from freefloat.text import did_you_mean

Optimality = Literal["a", "d", "e", "cond", "worst", "named"]

OPTIMALITIES: dict[str, Optimality] = {
    "a_optimal": "a", "d_optimal": "d", "e_optimal": "e", "condition": "cond",
    "worst_parameter": "worst",
}  # fmt: skip
MOTION_ONLY: dict[str, Callable[[System], Criterion]] = {
    "modal_energy": modal_energy,
    "base_motion": lambda _: BaseExcursion("corrected", size=0.1),
}
# theory: the p-norm of n equal variances is n^(1/p) times their maximum: of 20 parameters 1.45 at
# p = 8, which is a fifth in standard deviation
SHARP = 8.0  # power p of the norm that stands for a maximum
# theory: information grows with amplitude squared; limits leave no motion a thousand times larger
NOTHING_TOLD = 1e-6  # of the variance beforehand: gained less, a direction is left out
# theory: adds 1e-12 to the information on a state that is seen, but is far above the rounding of a
# QR (1e-16), so that a matrix with an unseen one stays regular
RIDGE = 1e-6  # of its effect: what is known of an initial state, so that unseen ones do no harm
# theory: a prior so wide that it holds a millionth of a natural size's information
VAGUE = 1e3  # natural sizes: prior for the worst parameter, which must not be hidden by it
# theory: at 0.9 the data hold 1 / 0.9 - 1, a ninth, of the prior's information (compare PRIOR_ONLY
# of `observability.visibility`, which judges deviations after a flight)
PRIOR_SHARE = 0.9  # of the variance beforehand: above, a motion told nothing


@dataclass(frozen=True)
class Information:
    """A-, D-, E-optimality, condition number, worst parameter or named ones.

    scales (columns,): natural sizes of the wanted parameters, then sizes of the nuisance columns;
    weights (columns,): one over what is known beforehand, in those sizes. `chosen`: which wanted
    parameters count for "named" and "worst". seen (directions, wanted): what of the wanted ones
    counts for the others, all of it unless given.
    """

    kind: Optimality
    n_wanted: int
    scales: Array
    weights: Array
    chosen: tuple[int, ...] = ()
    seen: Array | None = None

    def covariance(self, J: Array) -> Array:
        """What is left unknown of all columns, in their scales."""
        table = np.vstack([J * self.scales, np.diag(self.weights)])
        R = np.asarray(np.linalg.qr(table, mode="r"))
        inverse = np.linalg.inv(R)
        return inverse @ inverse.T

    def rows(self, flight: CandidateFlight) -> Array:
        """Derivatives of all readings, in units of their noise."""
        return flight.rows

    def value(self, rows: Array) -> tuple[float, Array]:
        """The logarithm of the criterion and its derivative by J = rows.

        With C = (J^T J)^-1: dc = <dc/dC, dC> = -2 <J C dc/dC C, dJ>.
        """
        n, C = self.n_wanted, self.covariance(rows)
        if self.seen is None:
            value, slope = self.of_covariance(C[:n, :n])
        else:
            value, own = self.of_covariance(self.seen @ C[:n, :n] @ self.seen.T)
            slope = self.seen.T @ own @ self.seen
        inner = C[:, :n] @ slope @ C[:n]
        return value, -2.0 * ((rows * self.scales) @ inner) * self.scales

    def of_covariance(self, C: Array) -> tuple[float, Array]:
        """The logarithm of the criterion and its derivative by C."""
        if self.kind == "a":
            trace = float(np.trace(C))
            return float(np.log(trace)), np.eye(len(C)) / trace
        if self.kind == "named":
            picked = np.zeros(len(C))
            picked[list(self.chosen)] = 1.0
            total = float(picked @ np.diag(C))
            return float(np.log(total)), np.diag(picked) / total
        if self.kind == "worst":
            picked = list(self.chosen)
            slopes = np.zeros(len(C))
            value, slopes[picked] = _smooth_top(np.diag(C)[picked])
            return value, np.diag(slopes)
        if self.kind == "d":
            L = np.linalg.cholesky(C)
            half = np.linalg.inv(L)
            return 2.0 * float(np.mean(np.log(np.diag(L)))), half.T @ half / len(C)
        values, V = np.linalg.eigh(C)
        values = np.maximum(values, np.finfo(float).tiny)
        top, slope = _smooth_top(values)
        if self.kind == "e":
            return top, (V * slope) @ V.T
        low, down = _smooth_top(1.0 / values)
        return 0.5 * (top + low), 0.5 * (V * (slope - down / values**2)) @ V.T

    def describe(self, value: float) -> tuple[str, float]:
        """A standard deviation in % of the natural size, or the condition number."""
        n, what = self.n_wanted, "all parameters"
        if self.seen is not None:
            n, what = len(self.seen), "all that can be seen"
        if self.kind == "cond":
            return "condition number", float(np.exp(value))
        words, count = {
            "a": (f"rms deviation of {what} [%]", n),
            "d": ("geometric mean deviation of all directions [%]", 1),
            "e": ("deviation of the worst direction [%]", 1),
            "worst": ("deviation of the worst parameter [%]", 1),
            "named": ("rms deviation of the named parameters [%]", len(self.chosen)),
        }[self.kind]
        return words, float(100.0 * np.exp(0.5 * value) / np.sqrt(count))


def _smooth_top(values: Array) -> tuple[float, Array]:
    """The logarithm of about the largest of some positive values, and its derivative by them."""
    level = values.max()
    powers = (values / level) ** (SHARP - 1.0)
    total = float(powers @ values / level)
    return float(np.log(level * total ** (1.0 / SHARP))), powers / total / level


def information(
    kind: Optimality,
    sizes: Array,
    reference: Array,
    *,
    prior_std: Array,
    chosen: Sequence[int] = (),
    natural_prior: float = 1.0,
) -> Information:
    """The criterion for wanted parameters of natural `sizes`; further columns are nuisance.

    reference (rows, columns): rows of some flight, which say how large nuisance columns are;
    prior_std (wanted,): NaN where there is none, which counts as so many natural sizes.
    """
    n = len(sizes)
    effect = np.linalg.norm(reference[:, n:], axis=0)
    nuisance = 1.0 / np.where(effect > 0.0, effect, 1.0)
    given = np.where(np.isfinite(prior_std), sizes / prior_std, 1.0 / natural_prior)
    scales = np.concatenate([sizes, nuisance])
    weights = np.concatenate([given, np.full(len(nuisance), RIDGE)])
    return Information(kind, n, scales, weights, tuple(chosen))


def observable_part(judge: Information, reference: Array) -> Information:
    """The criterion without directions of which a flight, and so any, tells nothing.

    In units of what is known beforehand, errors along them stay as they are; what is left of an
    error without them counts, in the natural sizes.
    """
    n = judge.n_wanted
    W = judge.weights[:n]
    values, V = np.linalg.eigh(W[:, None] * judge.covariance(reference)[:n, :n] * W)
    V = V[:, values < 1.0 - NOTHING_TOLD]
    if V.shape[1] in (0, n):
        return judge
    Q, _ = np.linalg.qr(V / W[:, None])
    return replace(judge, seen=Q.T @ ((V / W[:, None]) @ (V * W[:, None]).T))


def flights_and_criterion(
    system: System,
    parameters: Parameters,
    variables: Variables,
    monitors: Sequence[LimitMonitor],
    suite: Sequence[Sensor],
    criterion: str,
) -> tuple[CandidateFlights, Criterion]:
    """The flights of a system, with what the criterion of that name looks at, and the criterion.

    Args:
        system: what flies.
        parameters: of its model; the free ones count for criteria of information.
        variables: the unknowns of the design.
        monitors: the limits that a flight shows.
        suite: the sensors whose readings are differentiated.
        criterion: a key of OPTIMALITIES or MOTION_ONLY, or names of free parameters (globs).

    Raises:
        ExcitationError: there is no such criterion, or nothing to judge by it.
    """
    if criterion in MOTION_ONLY:
        return CandidateFlights(system, variables, monitors), MOTION_ONLY[criterion](system)
    parameters = at_model_values(system, parameters)
    wanted = free_parameters(parameters)
    states = unknown_initial_states(system, parameters, True)
    names, mix = column_mix(parameters, wanted, states, {})
    flights = CandidateFlights(
        system, variables, monitors, sensors=suite,
        unknowns=DesignUnknowns(tuple(names), mix),
    )  # fmt: skip
    sizes = natural_sizes(system, [p.name for p in wanted])
    prior = np.array([p.prior[1] if p.prior else np.nan for p in wanted])
    kind, chosen = parse_criterion(criterion, [p.name for p in wanted])
    reference = flights.fly(_typical_motion(variables)).rows
    vague = VAGUE if kind == "worst" else 1.0
    judge = information(kind, sizes, reference, prior_std=prior, chosen=chosen, natural_prior=vague)
    if kind == "worst":  # what a motion tells nothing of has no part in it
        variances = np.diag(judge.covariance(reference))[: len(wanted)]
        before = judge.weights[: len(wanted)] ** -2.0
        shown = np.flatnonzero(variances < np.minimum(1.0, PRIOR_SHARE * before))
        if not len(shown):
            raise ExcitationError(
                "none of the parameters is seen alone; choose d_optimal",
                code="parameters.invisible",
            )
        judge = replace(judge, chosen=tuple(shown.tolist()))
    return flights, judge if kind in ("named", "worst") else observable_part(judge, reference)


def _typical_motion(variables: Variables) -> Array:
    rng = np.random.default_rng(1)
    x = rng.normal(size=variables.n) / np.sqrt(max(1, variables.n))
    x[variables.n_motion :] = 0.5
    return x


def parse_criterion(criterion: str, names: Sequence[str]) -> tuple[Optimality, list[int]]:
    """The kind of a criterion of information, and which of the free parameters it names.

    Raises:
        ExcitationError: there is no such criterion.
    """
    if criterion in OPTIMALITIES:
        return OPTIMALITIES[criterion], []
    globs = [word for word in criterion.replace(",", " ").split() if word]
    chosen = [k for k, name in enumerate(names) if any(fnmatchcase(name, g) for g in globs)]
    if not chosen:
        known = [*OPTIMALITIES, *MOTION_ONLY]
        expected = ", ".join(known) + ", or names of free parameters"
        remedy = did_you_mean(criterion, known, otherwise="choose one")
        fault = Fault("criterion", criterion, expected, remedy, "value.choice")
        raise ExcitationError("there is no such criterion", [fault])
    return "named", chosen
