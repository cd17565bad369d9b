"""The numbers of the live filters that a user may want to set, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from freefloat.errors import IdentificationError
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.online.kernels.kernel_limits import KernelLimits
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Natural, NotNegative, Positive, Share


@dataclass(frozen=True)
class StartupOptions(CheckedOptions, error=IdentificationError):
    """How the momentum filter treats the first samples, which it takes twice (docs/live.md)."""

    most_samples: Count = 600
    """Samples that are kept; after so many without a clear estimate the model's weights stay."""

    most_inputs: Count = 60_000
    """Thrust levels and wrenches that are kept between them."""

    outliers: Natural = 3
    """Outliers that any start may have, besides one in `outlier_share` samples."""

    outlier_share: Count = 20
    """One in so many of the first samples may be left out as an outlier."""

    agreeing: Positive = 2.0
    """Chi-square per row below which the first samples agree with each other."""

    patience: Count = 200
    """Samples after which a larger chi-square is blamed on model or noise, not on the samples."""

    probation: Count = 50
    """Samples after which a settled filter can no longer go back to its start."""

    relinearisations: Natural = 2
    """Times that noise-free samples are taken again about the parameters just found."""


@dataclass(frozen=True)
class FrameOptions(CheckedOptions, error=IdentificationError):
    """How channels of different rates are brought to common instants."""

    most_readings: Count = 4096
    """Readings of a channel that are kept."""

    patience: Positive = 1.5
    """Periods of the slowest channel that a frame waits for readings."""

    faster: Positive = 1.5
    """Times the slowest rate from which on a channel is waited for half a period more."""

    kept: Positive = 3.0
    """Periods of the slowest channel that readings are kept for."""

    widest: Positive = 0.1
    """Time [s] to each side that a parabola is fitted over: arms move below 1 Hz."""

    missing_after: Positive = 2.0
    """Time [s] without a frame, while samples come, after which a channel is reported missing."""

    lagging: Positive = 1.5
    """Times the stated period of the slowest channel that dropped samples do not explain."""


@dataclass(frozen=True)
class KalmanOptions(CheckedOptions, error=IdentificationError):
    """Priors, process noise and start of the error-state Kalman filter."""

    jerk: Positive = 3.0
    """Random walk of the driven joints' jerk [rad/s^3 per root second]: how briskly they move."""

    start_window: NotNegative | None = None
    """The first seconds [s], solved at once by output error; 0: none. Unless said 6 s, and twice as
    many again and again until masses and springs are known to `vague`."""

    first_window: Positive = 6.0
    """The window [s] that `start_window=None` begins with."""

    shortest_window: Positive = 3.0
    """Time [s] worth solving when no more samples come."""

    failed_window: Positive = 20.0
    """Where output error does not converge, the window doubles while it is shorter [s]."""

    vague_window: Positive = 40.0
    """Where it leaves masses or springs vague, the window doubles while it is shorter [s]."""

    most_kept: Count = 6000
    """Samples of the window that are kept."""

    start_step: Positive = 0.01
    """Simulation step [s] of that output error."""

    vague: Positive = 0.1
    """Relative deviation of masses and springs above which linearising misleads the filter."""

    large: Positive = 0.3
    """Natural sizes: masses and inertias below say little of that."""

    gap: Positive = 2.0
    """Time [s] without a sample after which the states are found anew."""

    bad_in_a_row: Count = 10
    """Samples in a row with most sensors gated: the robot has changed."""

    parameter_spread: Positive = 0.5
    """Natural sizes: how well a parameter without a prior is known."""

    bias_spread: Positive = 100.0
    """The same of a sensor's bias, in standard deviations of its noise."""

    still_prior: Share = 0.95
    """Share of the prior's standard deviation above which the data have said nothing."""

    position_spread: Positive = 10.0
    """Standard deviations before the first sample: of the root's position [m] ..."""

    attitude_spread: Positive = 0.3
    """... attitude [rad] ..."""

    velocity_spread: Positive = 1.0
    """... velocity [m/s] ..."""

    rate_spread: Positive = 0.3
    """... and rate [rad/s];"""

    swing_spread: Positive = 0.03
    """of passive coordinates [rad, rad/s];"""

    joint_spread: tuple[Positive, Positive, Positive, Positive] = (0.1, 1.0, 2.0, 10.0)
    """of driven joints: position, rate, acceleration, jerk [rad, s]."""

    end_spread: tuple[Positive, Positive, Positive] = (0.01, 0.3, 3.0)
    """How well smoothing knows rate, acceleration and jerk of the joints at its end [rad, s]."""

    step: Positive = 0.02
    """Longest simulation step [s] between samples."""

    iterations: Count = 6
    """Gauss-Newton iterations on one sample."""

    draws: Count = 6
    """Pairs of opposite draws from the covariance that measure the curvature of force readings."""

    shrink: Positive = 0.3
    """Length of these draws, in standard deviations; the curvature grows with its square."""

    sure: Positive = 0.03
    """Natural sizes: with smaller deviations the curvature is not looked for."""

    large_parameter: Positive = 0.003
    """A correction of a parameter above, in natural sizes, is linearised again where it ended."""

    large_acceleration: Positive = 0.1
    """The same of a joint's acceleration [rad/s^2]."""


@dataclass(frozen=True)
class FilterOptions(CheckedOptions, error=IdentificationError):
    """Numbers of the live filters, by part.

    >>> FilterOptions(kalman=KalmanOptions(start_window=4.0)).clock_jump
    30.0
    """

    clock_jump: Positive = 30.0
    """Time [s] away from the last sample from which on a time stamp is doubted."""

    solve_every: Count = 1
    """Samples between estimates of the momentum filter."""

    weigh_every: Count = 8
    """Samples between new weights of its rows."""

    correct_every: Count = 4
    """Estimates between new computations of the noise in its columns. That part of the information
    moves by one in n after n samples; until it moves by 3 % at most, it is found with each."""

    slowest_rate: Positive = 5.0
    """Rate [Hz] down to which deviations are tested to be honest; below, arms move unmeasured."""

    limits: KernelLimits = KernelLimits()
    startup: StartupOptions = field(default_factory=StartupOptions)
    frames: FrameOptions = field(default_factory=FrameOptions)
    kalman: KalmanOptions = field(default_factory=KalmanOptions)
    trust: TrustOptions = field(default_factory=TrustOptions)
