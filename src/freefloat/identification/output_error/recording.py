"""One recording to be explained: a predictor of it, with the telemetry behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.errors import IdentificationError
from freefloat.excitation.commands import SAME_INSTANT
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.prediction.inputs import open_thrust
from freefloat.prediction.predictor import Predictor, predictor_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing


@dataclass(frozen=True)
class Recording(Predictor):
    """A predictor that knows its telemetry.

    is_planned: a plan drives it, rather than the telemetry; place: "recording 2: " where there are
    several, for messages.
    """

    telemetry: Telemetry
    is_planned: bool
    place: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed of the inputs and of the noise."""
        guessed = [name for m in self.measurements if not m.is_noise_known for name in m.rows]
        if not guessed:
            return self.source.notes
        text = f"noise estimated from the residuals, none was given: {listing(guessed, most=3)}"
        return (*self.source.notes, Note("noise.estimated", text))


def recording_of(
    model: Model,
    telemetry: Telemetry,
    *,
    plan: Plan | None = None,
    step: float,
    has_delays: bool = False,
    trims: tuple[bool, bool] = (True, True),
    place: str = "",
) -> Recording:
    """The recording of a flight; see `predictor_of`. IdentificationErrors begin with its place."""
    try:
        predictor = predictor_of(
            model, telemetry, plan=plan, step=step, has_delays=has_delays, trims=trims
        )
    except IdentificationError as error:
        raise IdentificationError(f"{place}{error.message}", error.faults, error.code) from None
    return Recording(
        predictor.source, predictor.measurements, predictor.start, predictor.grid, telemetry,
        plan is not None, place,
    )  # fmt: skip


def between_switches(recording: Recording) -> Recording:
    """The recording without readings of forces while a thruster switches.

    Between two samples of different thrust nobody knows the force: an accelerometer may have read
    either.
    """
    spans = [
        (time[k] - SAME_INSTANT, time[k + 1] + SAME_INSTANT)
        for thruster in recording.model.thrusters
        if (thrust := open_thrust(recording.telemetry, thruster.name)) is not None
        for time in [thrust[0]]
        for k in np.flatnonzero(np.diff(thrust[1]))
    ]
    if not spans or not recording.needs_forces or recording.is_planned:
        return recording
    kept = []
    for m in recording.measurements:
        if m.needs_forces:
            unclear = np.zeros(len(m.times), dtype=bool)
            for first, last in spans:
                unclear |= (m.times >= first) & (m.times <= last)
            m = m.select(~unclear)
        if len(m.times):
            kept.append(m)
    return replace(recording, measurements=tuple(kept))
