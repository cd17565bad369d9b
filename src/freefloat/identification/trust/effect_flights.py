"""Recordings simulated at a joint point, and columns of setups that differ from theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.trust.assumption_columns import coarse_recording
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.prediction.flight_setup import FlightSetup
from freefloat.prediction.predictor import Prediction
from freefloat.prediction.sensor_errors import reading_change


@dataclass(frozen=True)
class FlownRecording:
    """A recording that was simulated as it is, for differences from it."""

    recording: Recording
    setup: FlightSetup
    prediction: Prediction
    values: Mapping[str, float]


def base_flights(rows: WhiteRows) -> list[FlownRecording]:
    """Every recording simulated as it is; none where one cannot be."""
    found = []
    for r, one in enumerate(rows.problem.recordings):
        recording = coarse_recording(one)
        values = rows.problem.unknowns.values(rows.descent.at.theta, r)
        setup = recording.setup_at(values)
        prediction = recording.predict_with(values, (), setup)
        if prediction is None:
            return []
        found.append(FlownRecording(recording, setup, prediction, values))
    return found


def setup_column(
    rows: WhiteRows,
    flown: Sequence[FlownRecording],
    change: Callable[[FlownRecording], FlightSetup],
    step: float,
) -> Array | None:
    """The whitened column (rows,) of a setup that differs by a step; None where it fails."""
    parts = []
    for r, one in enumerate(flown):
        moved = one.recording.predict_with(one.values, (), change(one))
        if moved is None:
            return None
        before, residuals = one.prediction.values, one.prediction.residuals
        changes = [
            reading_change(m, before[k], moved.values[k], residuals[k]) / step
            for k, m in enumerate(one.recording.measurements)
        ]
        parts.append(rows.problem.whiten(r, changes))
    return np.concatenate(parts)
