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
from freefloat.prediction.joint_motion import smooth_motion
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.predictor import Predictor, predictor_of
from freefloat.prediction.sensor_models import motor_place
from freefloat.prediction.time_grid import TAPS
from freefloat.telemetry.channel import MAD, Mask
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import CLOSED
from freefloat.text import listing

SURELY = 2.0  # theory: standard deviations; a joint is as slow once in forty samples
ROUNDING = 1e-6  # theory: of the thrust; files keep seven digits or more


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
    recording = Recording(
        predictor.source, predictor.measurements, predictor.start, predictor.grid, telemetry,
        plan is not None, place,
    )  # fmt: skip
    return recording if recording.is_planned else while_sliding(recording)


def while_sliding(recording: Recording) -> Recording:
    """The recording without torques of motors whose joint turns round or stands still.

    A joint that sticks holds any torque up to its friction, whatever its speed: samples are left
    out at which friction is not known to their noise, and those next to them.
    """
    kept = []
    for m in recording.measurements:
        if m.sensor.kind == "motor_torque":
            m = m.select(~_is_sticking(recording, m))
        if len(m.times):
            kept.append(m)
    same = len(kept) == len(recording.measurements)
    if same and all(a is b for a, b in zip(kept, recording.measurements, strict=True)):
        return recording
    return replace(recording, measurements=tuple(kept))


def _is_sticking(recording: Recording, m: Measurement) -> Mask:
    """At which samples of a motor's torque its joint may stick."""
    system, c = recording.system, motor_place(recording.system, m.target)
    found = np.zeros(len(m.times), dtype=bool)
    owners = [spring for spring in system.model.assembly.springs if spring.owner == m.target]
    if c not in system.tree.given or not owners or owners[0].friction == 0.0:
        return found
    spring, grid = owners[0], recording.grid
    speed = recording.record_inputs.given[:, 0, list(system.tree.given).index(c), 1]
    slowest = np.maximum(np.abs(speed) - SURELY * _speed_noise(recording, c), 0.0)
    open_ = spring.friction * (1.0 - np.tanh(slowest / spring.friction_speed))
    turns = np.flatnonzero(np.diff(np.sign(speed)) != 0.0)
    unclear = open_ > float(m.noise[0])
    unclear[turns] = unclear[turns + 1] = True
    at = m.times - m.sensor.delay
    beside = float(np.median(np.diff(m.times))) if len(m.times) > 1 else 0.0
    for shift in (-beside, 0.0, beside):
        near = np.round((at + shift - grid.first) / grid.interval).astype(np.int64)
        found |= unclear[np.clip(near, 0, len(unclear) - 1)]
    return found


def _speed_noise(recording: Recording, c: int) -> float:
    """How well a recorded joint's speed is known [rad/s]."""
    names = channel_names(recording.model.assembly.coordinates[c])
    if names[0] not in recording.telemetry:
        return 0.0
    return float(smooth_motion(recording.telemetry, *names).rate_noise[0])


def between_switches(recording: Recording) -> Recording:
    """The recording without readings of forces while a thruster switches.

    Between two samples of different thrust nobody knows the force: an accelerometer may have read
    either. A reading between records, or one that a delay moves there, is made of the records
    around it, of which none may lie beyond a switch.
    """
    reach = 0.5 * TAPS * recording.grid.interval
    spans = [
        (first - reach - SAME_INSTANT, last + reach + SAME_INSTANT)
        for thruster in recording.model.thrusters
        for first, last in _switches(recording.telemetry, thruster.name)
    ]
    if not spans or not recording.needs_forces or recording.is_planned:
        return recording
    kept = []
    for m in recording.measurements:
        if m.needs_forces:
            unclear = np.zeros(len(m.times), dtype=bool)
            for first, last in spans:
                at = m.times - m.sensor.delay
                unclear |= (at >= first) & (at <= last)
            m = m.select(~unclear)
        if len(m.times):
            kept.append(m)
    return replace(recording, measurements=tuple(kept))


def _switches(telemetry: Telemetry, thruster: str) -> list[tuple[float, float]]:
    """Samples [s] between which a thrust jumps, by more than the noise of its reading."""
    thrust = open_thrust(telemetry, thruster)
    if thrust is None:
        return []
    time, level = thrust
    noise = telemetry[f"{thruster}.force"].noise
    steps = np.abs(np.diff(level))
    inside = steps[(level[1:] != 0.0) & (level[:-1] != 0.0)]
    # a difference has the noise of both; most are of a valve that stays as it is
    spread = MAD * float(np.median(inside)) if len(inside) else 0.0
    spread = spread if noise is None else np.sqrt(2.0) * noise
    least = max(CLOSED * spread, ROUNDING * float(np.max(np.abs(level))))
    return [(float(time[k]), float(time[k + 1])) for k in np.flatnonzero(steps > least)]
