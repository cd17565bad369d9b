"""How far the end-effectors are from where the prediction has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.frames import frame_motion
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.model.model import Model
from freefloat.prediction.flight_summary import true_states
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.flight_prediction import ComparedSensor, FlightPrediction, between


@dataclass(frozen=True)
class EndEffector:
    """The error of one end-effector over a flight [m].

    reference says what the prediction is compared with: "measured" (the measured base pose and
    encoders), "measured attitude" (the base's position is not measured: the arm about the base
    alone) or "truth" (of a simulated flight; a straight drift of the base, which comes from the
    fitted initial state and not from the model, is taken off). expected is what the noise of the
    base sensors makes of a perfect prediction.
    """

    frame: str
    reference: str
    mean: float
    largest: float
    expected: float


def end_effectors(prediction: FlightPrediction, telemetry: Telemetry) -> tuple[EndEffector, ...]:
    """The errors of all end-effectors, against the measurement and against truth if it is there."""
    system = prediction.system
    names = tips_of(system.model)
    found = [*_against_measured(prediction, names)]
    if telemetry.truth is not None:
        try:
            times, states = true_states(system, telemetry)
        except FreefloatError:
            return tuple(found)
        span = prediction.segment.times
        inside = (times >= span[0]) & (times <= span[-1])
        if inside.any():
            ours, true = _states_at(prediction, times[inside]), states[inside]
            ours[:, :3] -= straight_drift(times[inside], ours[:, :3] - true[:, :3])
            found += [
                EndEffector(name, "truth", *_distance(system, name, ours, true), 0.0)
                for name in names
            ]
    return tuple(found)


def tips_of(model: Model) -> list[str]:
    """The frames of a model beyond its root; without any, the last bodies of moved chains."""
    frames = [frame.name for frame in model.frames if frame.body != model.root.body]
    if frames:
        return frames
    driven = [j for j in model.joints if j.role in ("motion", "torque") and j.type != "fixed"]
    parents = {joint.parent for joint in driven}
    return [joint.child for joint in driven if joint.child not in parents]


def straight_drift(times: Array, error: Array) -> Array:
    """The straight line through the error of a position (N, 3)."""
    columns = np.column_stack([np.ones_like(times), times - times.mean()])
    return columns @ np.linalg.lstsq(columns, error, rcond=None)[0]


def _against_measured(prediction: FlightPrediction, names: list[str]) -> list[EndEffector]:
    system, span = prediction.system, prediction.segment.times
    root = system.model.root.body
    own = {
        sensor.measurement.sensor.kind: sensor
        for sensor in prediction.sensors
        if sensor.measurement.target == root
    }
    attitude, position = own.get("attitude"), own.get("position")
    if attitude is None or not names:
        return []
    m = attitude.measurement
    ours = _states_at(prediction, np.clip(m.times - m.sensor.delay, span[0], span[-1]))
    seen = ours.copy()
    seen[:, 3:7] = _quaternions(attitude)
    noise = float(np.sqrt(2.0)) * float(np.max(m.noise))
    still = 0.0
    if position is not None:
        fixes = position.measurement
        for column, values in zip(fixes.columns, position.samples.T, strict=True):
            seen[:, column] = np.interp(m.times, fixes.times, values)  # held at either end
        still = float(np.linalg.norm(fixes.noise))
    reference = "measured" if position is not None else "measured attitude"
    found = []
    for name in names:
        arm = frame_motion(system, name, ours).position - ours[:, :3]
        reach = float(np.sqrt(np.mean(np.sum(arm**2, axis=1))))
        expected = float(np.hypot(noise * reach, still))
        found.append(EndEffector(name, reference, *_distance(system, name, ours, seen), expected))
    return found


def _quaternions(sensor: ComparedSensor) -> Array:
    if sensor.measurement.is_attitude:
        return sensor.samples
    half = 0.5 * sensor.samples[:, 0]
    zero = np.zeros_like(half)
    return np.column_stack([zero, zero, np.sin(half), np.cos(half)])


def _states_at(prediction: FlightPrediction, times: Array) -> Array:
    states = between(prediction.segment.times, prediction.segment.states, times)
    states[:, 3:7] /= np.linalg.norm(states[:, 3:7], axis=1, keepdims=True)
    return states


def _distance(system: System, name: str, a: Array, b: Array) -> tuple[float, float]:
    """Mean and largest distance of a frame in two histories of states [m]."""
    apart = frame_motion(system, name, a).position - frame_motion(system, name, b).position
    length = np.linalg.norm(apart, axis=1)
    return float(np.mean(length)), float(np.max(length))
