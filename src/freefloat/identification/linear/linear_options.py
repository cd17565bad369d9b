"""How the linear methods solve their equations: what a user may set, with defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from freefloat.errors import IdentificationError
from freefloat.identification.fit_assembly import TrustLimits
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Natural, Positive, Share

Solver = Literal["corrected", "ls", "iv"]
Loss = Literal["huber", "tukey"]
Clock = Literal["base", "joints", "torques"]


@dataclass(frozen=True)
class LinearOptions(CheckedOptions, error=IdentificationError):
    """Options of every linear method; nothing needs to be given.

    Args:
        solver: "corrected" least squares (free of the bias that noise in the regressor causes),
            plain "ls", or "iv" (instrumental variables).
        robust: "huber" or "tukey" against outliers.
        physical: whether the estimates are moved to the closest physically consistent ones.
        momentum: known angular momentum about the centre of mass [N m s], world axes (angular).
        drag: whether an air bearing brakes the root, by an unknown factor (angular).
        clock: "base", "joints" or "torques" when those channels may be late by an unknown time.
        seed: of the noise that "corrected" adds to find the bias.
        passes: how often rows are made anew with weights for the latest estimates.
        most_passes: the same while residuals that exceed the noise still get smaller.
        settled: relative change of the estimates below which weights need no further pass.
        improved: ratio of mean square residuals below which another pass is worth it.
        first_noise_pairs: pairs of opposite noise samples added in a pass before the last.
        noise_pairs: the same in the last pass; more make "corrected" less noisy itself.
        noise_instants: instants of drawn noise that are enough; longer recordings need fewer pairs.
        instrument_lag: instants between a row and its instruments, for "iv".
        half_width: half the width of the test functions [samples] (weak, energy).
        gap: of an interval between samples, in median intervals: longer ones say nothing of
            angular momentum (momentum).
        window_misfit: mean square residual over noise up to which a polynomial describes a window
            (force, torque, reduced and wherever rates come from angles).
        spike_sigmas: how far a lone sample must be off its neighbours to be dropped when `robust`.
        clock_rounds: how often a delay is found and taken out before giving up.
        clock_tolerance: of the standard deviation of a delay: smaller steps end the rounds.
        buried_size: how far a direction that noise hides may be off [natural sizes].
        trust: when residuals are noted, and when the fit is not to be trusted.
    """

    solver: Solver = "corrected"
    robust: Loss | None = None
    physical: bool = True
    momentum: tuple[float, float, float] | None = None
    drag: bool = False
    clock: Clock | None = None
    seed: Natural = 0
    passes: Count = 4
    most_passes: Count = 12
    settled: Positive = 0.05
    improved: Share = 0.8
    first_noise_pairs: Count = 2
    noise_pairs: Count = 6
    noise_instants: Count = 6000
    instrument_lag: Count = 3
    half_width: Count = 8
    gap: Positive = 2.5
    window_misfit: Positive = 1.1
    spike_sigmas: Positive = 8.0
    clock_rounds: Count = 8
    clock_tolerance: Positive = 0.1
    buried_size: Positive = 10.0
    trust: TrustLimits = field(default_factory=TrustLimits)


DEFAULTS = LinearOptions()
