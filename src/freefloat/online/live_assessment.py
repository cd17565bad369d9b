"""The grade of a live estimate, by the same tests as a fit's: `identification/trust`.

Rows are the whitened innovations of the kept flight, columns what every assumption does to them
(`trials.py`), and draws what fresh noise, with its colour, leaves in them. Runs take a second or
so: they are made when somebody asks for a grade or a total deviation, and again when there is twice
as much of the flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.assessment import Evidence
from freefloat.identification.trust.assumption_columns import (
    AssumptionColumns,
    carries_scale,
    with_common,
    without_repetition,
)
from freefloat.identification.trust.assumption_scores import noise_level
from freefloat.identification.trust.causes import Explanation, Reported, is_noise
from freefloat.identification.trust.consider import (
    Consideration,
    doubt_shares,
    posterior_root,
    total_deviations,
)
from freefloat.identification.trust.evidence import (
    cause_evidence,
    misfit_evidence,
    scale_evidence,
)
from freefloat.identification.trust.scale_carriers import scale_carriers
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import ChannelRows, WhiteRows
from freefloat.model.model import Model
from freefloat.online.innovations import row_names
from freefloat.online.judgement import Judgement, largest_ratio
from freefloat.online.kept_flight import SAMPLE, FlightTable
from freefloat.online.trials import SMALL, Trial, Trials, colours_of
from freefloat.prediction.assumptions import Assumption, list_assumptions
from freefloat.prediction.doubts import is_exact
from freefloat.telemetry.channel import Channel
from freefloat.telemetry.names import unit_of
from freefloat.telemetry.telemetry import Telemetry

if TYPE_CHECKING:
    from freefloat.online.live_estimate import LiveEstimate
    from freefloat.online.momentum_filter import MomentumFilter

# theory: fewer say nothing of how residuals are distributed
FEWEST = 16
NEXT = "`freefloat diagnose` names the cause from the recording; then free or correct it"
# theory: F tests of residuals over draws hold if both are noise put through the same map; one that
# changes the power by a quarter is not the same for both
LINEAR = 0.25
GROWTH = 2.0  # format: times as many samples for which trials are run anew


@dataclass(frozen=True)
class LiveTrust:
    """What trials of a flight say.

    considered: in natural sizes of the free parameters, from all samples; rows and their columns:
    of those after the estimate was clear of noise. widening: standard deviation of every
    estimate by draws of the noise as it is stated, over that of white noise as large; at least one.
    is_tested: the rows can be told from noise, because draws of it behave as they should.
    is_noise_free: channels are stated to have no noise.
    """

    rows: WhiteRows
    considered: Consideration
    columns: Array
    widening: Array
    is_tested: bool
    is_coloured: bool
    is_noise_free: bool

    def total(self, std: Array, sizes: Array) -> Array:
        """Total standard deviations of estimates with these statistical ones."""
        return total_deviations(self.considered, range(len(std)), self.widening * std, sizes)


def judge_flight(
    own: MomentumFilter, std: Array, options: TrustOptions, *, seed: int = 0
) -> LiveTrust | None:
    """The trials of what a filter has kept; None where that is too little."""
    if own.kept.n_samples < FEWEST:
        return None
    trials = Trials(own, own.kept.table())
    nominal = trials.begin()
    first, n = nominal.clear, own.problem.n_nuisance
    if len(nominal.innovations) - first < FEWEST:  # then nothing is told by residuals
        first = len(nominal.innovations)
    taken, columns, moves = [], [], []
    for assumption in live_assumptions(own, trials.nominal.flight):
        other = trials.run_assumption(assumption)
        if other is None:
            continue
        column = _residuals(other, 0) - _residuals(nominal, 0)
        moved = other.x[n:] - nominal.x[n:]
        if np.isfinite(column).all() and (column.any() or moved.any()):
            taken.append(assumption)
            columns.append(column)
            moves.append(moved)
    rng, colours = np.random.default_rng([seed, 0x11E]), colours_of(own)
    n_draws = 2 * options.draws if any(colours) else options.draws
    runs = [trials.with_noise(rng, colours) for _ in range(n_draws)]
    each = [_residuals(run, first) - _residuals(nominal, first) for run in runs]
    rows = _rows(own, trials, nominal, np.column_stack(each) / SMALL, first)
    widening = np.ones(len(std))
    if any(colours):
        shifts = np.array([(run.x - nominal.x)[n:] / SMALL for run in runs])
        spread = np.sqrt(np.mean(shifts**2, axis=0)) * own.unknowns.sizes[n:]
        widening = np.where(std > 0.0, np.maximum(spread / std, 1.0), 1.0)
    model = own.system.model
    sizes = {"n_rows": nominal.innovations.size, "n": len(std)}
    considered = _consider(model, taken, columns, moves, **sizes)
    is_linear = any(colours) or (len(rows.residual) > 0 and _is_linear(rows.draws))
    if any(colours) and len(
        rows.residual
    ):  # rows are white only on the whole: what they say counts by so much less
        noise = noise_level(
            rows, replace(considered, columns=_from(considered.columns, own, first))
        )
        rows = replace(rows, residual=rows.residual / noise, draws=rows.draws / noise)
        considered = _consider(model, taken, [c / noise for c in columns], moves, **sizes)
    return LiveTrust(
        rows, considered, _from(considered.columns, own, first), widening,
        is_tested=is_linear and len(rows.residual) > 0, is_coloured=any(colours),
        is_noise_free=bool(own.layout.notes),
    )  # fmt: skip


def _is_linear(draws: Array) -> bool:
    """Whether noise passes through the filter as through a linear one: with unit variance.

    Where a direction of the unknowns is hardly more than noise in the columns, it does not.
    """
    return abs(float(np.mean(draws**2)) - 1.0) < LINEAR


def _residuals(trial: Trial, first: int) -> Array:
    """Predicted minus measured, row by row, from that sample on."""
    return -trial.innovations[first:].T.ravel()


def live_assumptions(own: MomentumFilter, flight: FlightTable) -> list[Assumption]:
    """Everything that the model and the channels that the filter uses take as exact."""
    free = {p.name for p in own.request.parameters.free_ones}
    found = list_assumptions(own.system.model, recording_of_flight(own, flight))
    doubtful = [a for a in found if a.name not in free and not is_exact(a.std, a.size)]
    return without_repetition(doubtful, free)


def recording_of_flight(own: MomentumFilter, flight: FlightTable) -> Telemetry:
    """The kept samples as a recording of the channels that the filter uses."""
    here = (flight.flags & SAMPLE) > 0
    time, layout = flight.time[here], own.layout
    channels = []
    for name, place, source in zip(layout.names, layout.places, layout.sources, strict=True):
        noise = float(np.max(own.problem.sigma[source]))
        values = flight.vector[here][:, int(place)]
        if name == "base.angle":
            values = 2.0 * np.arctan2(flight.vector[here][:, 5], flight.vector[here][:, 6])
        channels.append(Channel(name, unit_of(name)[0], time, values, noise=noise))
    inputs = [(layout.thrusters, flight.levels), (layout.wrench, flight.wrench)]
    for names, table in inputs:
        for name, k in names.items():
            if table[:, k].any():
                channels.append(Channel(name, unit_of(name)[0], flight.time, table[:, k]))
    return Telemetry.of(channels)


def _rows(
    own: MomentumFilter, trials: Trials, nominal: Trial, draws: Array, first: int
) -> WhiteRows:
    times = trials.nominal.flight.time[trials.is_sample][first:]
    n, residual = len(times), _residuals(nominal, first)
    channels = tuple(
        ChannelRows(name, 0, slice(k * n, (k + 1) * n), times)
        for k, name in enumerate(row_names(own.problem.rows))
    )
    unused = cast(Any, None)  # innovations are without what the unknowns explain already
    nothing = np.zeros((len(residual), 0))
    return WhiteRows(unused, unused, channels, residual, nothing, draws, np.zeros(0))


def _from(columns: Array, own: MomentumFilter, first: int) -> Array:
    """Columns, row by row of a sample, without the samples before the first."""
    m, k = len(own.problem.rows), columns.shape[1]
    n = len(columns) // m  # written out: of no columns, where nothing is in doubt, -1 finds none
    return columns.reshape(m, n, k)[:, first:].reshape(m * (n - first), k)


def _consider(
    model: Model, taken: Sequence[Assumption], columns: Sequence[Array], moves: Sequence[Array],
    *, n_rows: int, n: int,
) -> Consideration:  # fmt: skip
    if not taken:
        empty, square = np.zeros((n_rows, 0)), np.zeros((0, 0))
        return Consideration((), np.zeros(0, bool), empty, np.zeros((n, 0)), square, square)
    both = np.vstack([np.column_stack(columns), np.column_stack(moves)])
    all_ = with_common(AssumptionColumns(tuple(taken), both), model)
    G, moved = all_.columns[:-n], all_.columns[-n:]
    F = G.T @ G
    is_scale = np.array([carries_scale(a.name) for a in all_.assumptions], dtype=bool)
    return Consideration(
        all_.assumptions, is_scale, G, moved, F, posterior_root(G, np.ones(len(F)))
    )


def judge_estimate(trust: LiveTrust, estimate: LiveEstimate, options: TrustOptions) -> Judgement:
    """What the trials say of an estimate."""
    names, std, sizes = estimate.names, estimate.std, estimate.sizes
    places = range(len(names))
    total = trust.total(std, sizes)
    ratio = largest_ratio(std * trust.widening, total)
    evidence: list[Evidence] = []
    if trust.is_noise_free:
        text = "channels without noise: whether residuals are noise cannot be told"
        evidence = [Evidence("noise.none", text, "with reservations", remedy="state their noise")]
    elif trust.is_tested:
        found = adjust_assumptions(trust, Reported(tuple(places), names, sizes, std), options)
        both = (
            *misfit_evidence(found, ratio, options),
            *cause_evidence(found, options, is_adjusted=False),
        )
        evidence = [replace(e, remedy=NEXT) for e in both]
    elif trust.is_coloured or estimate.n_tested < FEWEST:
        text = "the estimate is hardly clear of noise: whether residuals are noise cannot be told"
        remedy = "larger or longer motion, more thrust, or fewer free parameters"
        evidence = [Evidence("innovations.not_tested", text, "with reservations", remedy=remedy)]
    doubts = doubt_shares(trust.considered, places, names, total, sizes)
    reported = Reported(tuple(places), names, sizes, std * trust.widening)
    values = dict(zip(names, map(float, estimate.values), strict=True))
    carriers = scale_carriers(trust.considered, reported, values, options)
    return Judgement(total, (*evidence, *scale_evidence(carriers)), doubts)


def adjust_assumptions(trust: LiveTrust, reported: Reported, options: TrustOptions) -> Explanation:
    """The rows, with what carries no scale adjusted to them within its doubt; causes by no name.

    Noise is in the columns of momentum, too: what moves all masses by a percent makes that of the
    residuals a percent larger, and would look like evidence. So scale is not adjusted, and to tell
    which assumption is wrong is left to `diagnose`, which predicts every sensor by itself.
    """
    rows, considered = trust.rows, trust.considered
    fixed = ~considered.is_scale
    G = trust.columns[:, fixed]
    inverse = np.linalg.inv(np.eye(G.shape[1]) + G.T @ G)
    share = inverse @ (G.T @ np.column_stack([rows.residual, rows.draws]))
    explained = G @ share
    left = replace(
        rows, residual=rows.residual - explained[:, 0], draws=rows.draws - explained[:, 1:]
    )
    moves = considered.moves[:, fixed] @ share[:, 0]
    shift, name = reported.largest_shift(moves, trust.total(reported.std, reported.sizes))
    return Explanation(left, (), considered, None, shift, name, is_noise(left, options))
