"""Numbers of the compiled momentum filter that a user may set, with their defaults."""

from __future__ import annotations

from typing import NamedTuple

from freefloat.records.values import Positive


class KernelLimits(NamedTuple):
    """Numbers that the compiled momentum filter reads: the gate, changes, spikes, doubt.

    Floats, all of them: kernels take them as they are.
    """

    unsettled_gate: Positive = 30.0
    """Factor on the gate while rows are weighted by the model's parameters, which may be wrong."""

    rows_each: Positive = 8.0
    """Rows for every unknown before the estimate weighs the rows; fewer may hide an outlier."""

    rows_each_ungated: Positive = 4.0
    """The same without a gate (`gate=0`), when nobody looks for outliers."""

    long_gap: Positive = 10.0
    """Usual steps without a sample after which momentum is found anew, if any force may act."""

    displacement_gap: Positive = 6.5
    """Usual steps from which on the root's displacement is not known: only linear rows count."""

    gated_of_ten: Positive = 6.0
    """So many of the last ten samples gated are a change of the robot, not outliers."""

    surprise_allowance: Positive = 1.0
    """Taken off every normalised NIS before it is cumulated (CUSUM), in standard deviations."""

    surprise_limit: Positive = 25.0
    """A cumulated NIS above is a change; false alarms: one in 1e11 samples (docs/live.md)."""

    surprise_after: Positive = 20.0
    """Samples after a change before NIS is cumulated; with the model's weights see below."""

    surprise_after_model: Positive = 100.0
    """The same while rows are weighted by the model's parameters."""

    fitting: Positive = 1.3
    """Mean NIS per row below which the model's weights can be trusted with that."""

    frozen_after: Positive = 25.0
    """Samples with the very same bits that make a channel frozen."""

    stuck_after: Positive = 3.0
    """Time [s] at rest after which a joint that moved is called stuck while others move."""

    rest: Positive = 5.0
    """Standard deviations of its rate within which a joint rests."""

    moved: Positive = 50.0
    """Standard deviations of its rate above which a joint has moved."""

    spike: Positive = 6.0
    """Times the usual deviation from a straight line that make a lone reading a spike."""

    spike_noise: Positive = 50.0
    """Standard deviations that any reading may be off the line: finer outliers are the gate's."""

    spike_fresh: Positive = 10.0
    """Samples during which the curvature of the readings is not known yet."""

    spike_fresh_factor: Positive = 20.0
    """Factor on `spike_noise` during these."""

    spikes_in_a_row: Positive = 3.0
    """So many spikes in a row are a real motion."""

    model_error: Positive = 1.0
    """Relative error of the centre of mass while it is computed from the model's parameters."""

    doubt: Positive = 5.0
    """Standard deviations within which a direction may be nothing but noise in the columns."""

    misled: Positive = 3.0
    """Natural sizes by which the truth may be away from the model in such a direction."""
