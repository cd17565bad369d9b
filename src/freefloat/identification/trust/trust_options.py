"""What the assessment of a fit can be set to; every limit is a probability or a shift in sigma."""

from __future__ import annotations

from dataclasses import dataclass

from freefloat.errors import IdentificationError
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, NotNegative, Positive, Share


@dataclass(frozen=True)
class TrustOptions(CheckedOptions, error=IdentificationError):
    """Options of the assessment; nothing needs to be given.

    Args:
        significance: chance that all tests together call a right model wrong.
        draws: simulations with fresh noise in recorded inputs, against which residuals are held.
        quiet_draws: the same where input noise hardly matters.
        sensor_draws: draws of the sensors' noise where that is all that matters.
        input_share: share of a row's variance by input noise from which it matters.
        pulses: errors of thrust that are told apart, at most, where its readings have noise.
        blocks: stretches of the recordings that must agree.
        band: slowest components of a row that are tested together; each later band is as wide as
            all before it.
        reserve: shift of an estimate [total standard deviations] that is worth a reservation.
        refuse: shift from which the fit is not trusted.
        alike: cosine from which two assumptions are one to the data.
        causes_named: causes listed at most.
        evaluations: of all recordings on the way to the maximum of the likelihood, at most.
        joint_evaluations: on the way to a joint maximum with the assumptions, at most.
    """

    significance: Share = 1e-3
    draws: Count = 8
    quiet_draws: Count = 2
    sensor_draws: Count = 32
    input_share: NotNegative = 0.05
    pulses: Count = 32
    blocks: Count = 8
    band: Count = 16
    reserve: Positive = 1.0
    refuse: Positive = 3.0
    alike: Share = 0.95
    causes_named: Count = 8
    evaluations: Count = 60
    joint_evaluations: Count = 20


USUAL_TRUST = TrustOptions()
