"""How output error looks for its minimum: what a user may set, with defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from freefloat.errors import IdentificationError
from freefloat.identification.fit_assembly import TrustLimits
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Natural, NotNegative, Positive, Share


@dataclass(frozen=True)
class SearchOptions(CheckedOptions, error=IdentificationError):
    """Options of the search; nothing needs to be given.

    Args:
        step: of the integration, at most [s].
        horizons: growing stretches of the recordings [s] that are fitted one after another before
            the whole; none: `flexible_horizons` where springs or pendulums are free.
        starts: starts that are tried: the model's own and random ones around it.
        spread: standard deviation of random starts [natural sizes].
        profile: parameters (globs) whose intervals are found by profile likelihood.
        flexible_horizons: horizons [s] of models with free springs, pendulums or friction, whose
            cost has false minima over long stretches.
        horizon_share: of the longest recording; longer horizons are left out.
        integration_error: root mean square change of a reading by a halved step [standard
            deviations of its noise] from which the step is halved.
        step_halvings: how often the step is halved at most.
        simulations: evaluations of a descent at most.
        tolerance: relative decrease of the cost that ends a descent.
        start_tolerance: the same for the descent from one of several starts.
        horizon_simulations: evaluations of a descent over a horizon at most.
        horizon_tolerance: relative decrease of the cost that ends a descent over a horizon.
        first_damping: of a descent, as a part of the squared lengths of the Jacobian's columns.
        next_damping: the same, at the least, of a descent that goes on from the end of another.
        least_damping: the same, at the least: it keeps the damped factor regular.
        most_damping: the same, where a descent without a lower cost is given up.
        damping_cut: factor on the damping after a step whose decrease was foreseen exactly.
        least_gain: of the foreseen decrease that a step must bring to be taken.
        stuck_decrease: foreseen decrease of the cost up to which a descent that finds no lower
            point has converged rather than stuck; 0.001 is 0.045 standard deviations.
        stuck_share: the same as a share of the cost, of which that much is rounding.
        reach: standard deviation of the weak prior about the start that keeps unobservable
            directions from running away [natural sizes].
        horizon_reach: the same over a horizon, where the data tell little.
        least_room: of a body's pseudo-inertia, or of a positive parameter, that a straight step
            must leave in every direction; else the step is made in logarithms.
        log_step: longest step in logarithms.
        position_size: natural size of an initial position [m].
        velocity_size: natural size of an initial velocity [m/s].
        attitude_size: natural size of an initial attitude or joint position [rad].
        rate_size: natural size of an initial angular rate or joint rate [rad/s].
        delay_size: natural size of a sensor's delay [s].
        gain_size: natural size of a sensor's gain error.
        drift_size: natural size of the drift of a channel without noise [unit of the channel / s];
            with noise that of a bias over the recording.
        tilt_size: natural size of a rotation of a sensor's axes [rad].
        offset_size: natural size of a sensor's displacement [m].
        bias_size: natural size of a bias of a channel without noise [unit of the channel].
        bias_noise: the same of a channel with noise [standard deviations of a sample].
        friction_size: natural size of friction and damping at 1 rad/s, as a deflection of their
            spring [rad].
        linear_start_misfit: mean square residual over noise from which a linear method is asked
            for a start.
        linear_start_gain: share of the model's mean square residual that a linear start may leave
            to be tried first.
        linear_start_pull: share of the way back to the model's values by which a linear start that
            is barely physical is moved inside.
        spring_octaves: how much stiffer and softer springs are tried together [octaves] before
            their modes are matched to those of the recording.
        mode_periods: periods that a free response must last for its frequency to be used.
        mode_std: relative standard deviation of a frequency from which it is not used.
        modal_start_change: change of the logarithm of a stiffness from which the modes' springs
            are a start of their own.
        noise_rounds: how often the noise is estimated from the residuals at most.
        noise_settled: relative change of a standard deviation that needs no further round.
        least_noise: of the stated noise that an estimated one is at the least.
        noise_lags: order of the autoregression of a residual at most.
        samples_per_lag: samples needed for each of them.
        least_innovation: of the variance of a residual: with a smaller innovation it is an offset
            rather than autocorrelated noise.
        input_noise_draws: simulations with fresh noise in recorded inputs, for their share of the
            covariance.
        encoder_ratio: of a standard deviation to that with joint motion known exactly: from here
            on the encoders' share is noted.
        method_ratio: of a standard deviation to that of a linear method, from which the note
            recommends the method.
        soft_spring: relative standard deviation of a stiffness from which alternative minima are
            looked for.
        faint_spring: relative standard deviation from which they are not: it is warning enough.
        springs_tried: springs along which alternative minima are looked for, at most.
        aside: how far from the minimum that begins [standard deviations].
        same_minimum: distance up to which two minima are one [standard deviations].
        alternative_simulations: evaluations of a descent to an alternative minimum at most.
        alternative_tolerance: relative decrease of the cost that ends it.
        alternative_pairs: sums of two alternatives that are tried at most.
        profile_tolerance: of 1.96 standard deviations, at an end of a profile interval.
        profile_fits: fits for an end at most.
        profile_simulations: evaluations of such a fit at most.
        profile_decrease: relative decrease of the cost that ends it.
        profile_reach: standard deviations beyond which a profile interval has no end.
        profile_first_step: to an end [natural sizes] where there is no standard deviation.
        profile_growth: how many times further the next fit for an end goes at most.
        profile_bracket: share of a bracket by which the next fit keeps off its ends.
        whole_rows: rows of a recording up to which every sample is one of them; longer recordings
            are taken block by block.
        information_loss: share of what the samples say of any combination of unknowns that may be
            lost by that.
        trust: when residuals count as noise, are noted, and are not to be trusted.
    """

    step: Positive = 1e-2
    horizons: Sequence[Positive] | None = None
    starts: Count = 1
    spread: NotNegative = 0.3
    profile: Sequence[str] = ()
    flexible_horizons: Sequence[Positive] = (4.0, 8.0, 16.0)
    horizon_share: Share = 0.8
    integration_error: Positive = 0.05
    step_halvings: Natural = 4
    # descents
    simulations: Count = 60
    tolerance: Positive = 1e-8
    start_tolerance: Positive = 1e-4
    horizon_simulations: Count = 20
    horizon_tolerance: Positive = 0.01
    first_damping: Positive = 1e-3
    next_damping: Positive = 1e-8
    least_damping: Positive = 1e-12
    most_damping: Positive = 1e12
    damping_cut: Share = 0.05
    least_gain: Share = 1e-4
    stuck_decrease: Share = 1e-3
    stuck_share: Share = 1e-7
    reach: Positive = 10.0
    horizon_reach: Positive = 0.5
    least_room: Share = 0.2
    log_step: Positive = 1.0
    # natural sizes
    position_size: Positive = 0.1
    velocity_size: Positive = 0.01
    attitude_size: Positive = 0.1
    rate_size: Positive = 0.01
    delay_size: Positive = 0.01
    gain_size: Positive = 0.1
    drift_size: Positive = 0.01
    tilt_size: Positive = 0.1
    offset_size: Positive = 0.1
    bias_size: Positive = 1.0
    bias_noise: Positive = 10.0
    friction_size: Positive = 0.01
    # starting values
    linear_start_misfit: Positive = 1000.0
    linear_start_gain: Share = 0.1
    linear_start_pull: Share = 0.1
    spring_octaves: Positive = 5.0
    mode_periods: Positive = 2.0
    mode_std: Positive = 0.03
    modal_start_change: Positive = 0.15
    # noise
    noise_rounds: Count = 3
    noise_settled: Positive = 0.02
    least_noise: Positive = 1e-3
    noise_lags: Count = 24
    samples_per_lag: Count = 25
    least_innovation: Share = 1e-6
    input_noise_draws: Count = 6
    encoder_ratio: Positive = 10.0
    method_ratio: Positive = 2.0
    # alternative minima
    soft_spring: Positive = 0.01
    faint_spring: Positive = 0.3
    springs_tried: Natural = 3
    aside: Positive = 6.0
    same_minimum: Positive = 3.0
    alternative_simulations: Count = 12
    alternative_tolerance: Positive = 1e-6
    alternative_pairs: Natural = 4
    # profile likelihood
    profile_tolerance: Positive = 0.02
    profile_fits: Count = 12
    profile_simulations: Count = 20
    profile_decrease: Positive = 1e-6
    profile_reach: Positive = 1e3
    profile_first_step: Positive = 0.1
    profile_growth: Positive = 4.0
    profile_bracket: Share = 0.1
    # long recordings
    whole_rows: Count = 20_000
    information_loss: Share = 0.01
    trust: TrustLimits = field(default_factory=TrustLimits)


USUAL = SearchOptions()
