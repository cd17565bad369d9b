"""How far the end-effectors are from where the prediction has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.frames import frame_motion
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.model.model import Model
from freefloat.prediction.true_states import true_states
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.measurement_points import Look, between
from freefloat.validation.prediction import Predicted


@dataclass(frozen=True)
class EndEffector:
    """The error of one end-effector over a flight [m].

    reference says what the prediction is compared with: "measured" (the measured base pose and
    encoders), "measured attitude" (the base's position is not measured: the arm about the base
    alone) or "truth" (of a simulated flight; a straight drift of the base, which comes from the
    start as its sensors let it be fitted and not from the model, is taken off). expected is what
    the noise of the base sensors makes of a perfect prediction.
    """

    frame: str
    reference: str
    mean: float
    largest: float
    expected: float


def end_effectors(predicted: Predicted, telemetry: Telemetry) -> tuple[EndEffector, ...]:
    """The errors of all end-effectors, against the measurement and against truth if it is there."""
    system, model = predicted.drive.system, predicted.drive.system.model
    names = tips_of(model)
    found = [*_against_measured(predicted, names)]
    if telemetry.truth is not None:
        try:
            times, states = true_states(system, telemetry)
        except FreefloatError:
            return tuple(found)
        inside = (times >= predicted.at.times[0]) & (times <= predicted.at.times[-1])
        if inside.any():
            ours, true = _states_at(predicted, times[inside]), states[inside]
            ours[:, :3] -= _drift(times[inside], ours[:, :3] - true[:, :3])
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


def _drift(times: Array, error: Array) -> Array:
    """The straight line through the error of a position (N, 3)."""
    columns = np.column_stack([np.ones_like(times), times - times.mean()])
    return columns @ np.linalg.lstsq(columns, error, rcond=None)[0]


def _against_measured(predicted: Predicted, names: list[str]) -> list[EndEffector]:
    system = predicted.drive.system
    root = system.model.root.body
    own = {look.sensor.kind: look for look in predicted.looks if look.target == root}
    attitude, position = own.get("attitude"), own.get("position")
    if attitude is None or not names:
        return []
    times = attitude.times - attitude.sensor.delay
    times = np.clip(times, predicted.at.times[0], predicted.at.times[-1])
    ours = _states_at(predicted, times)
    seen = ours.copy()
    seen[:, 3:7] = _quaternions(attitude)
    noise = float(np.sqrt(2.0)) * float(np.max(attitude.noise))
    still = 0.0
    if position is not None:
        steps = np.clip(attitude.times, position.times[0], position.times[-1])
        columns = list(position.stream.columns)
        seen[:, columns] = between(position.times, position.measured, steps, is_smooth=False)
        still = float(np.linalg.norm(position.noise))
    reference = "measured" if position is not None else "measured attitude"
    found = []
    for name in names:
        arm = frame_motion(system, name, ours).position - ours[:, :3]
        reach = float(np.sqrt(np.mean(np.sum(arm**2, axis=1))))
        expected = float(np.hypot(noise * reach, still))
        found.append(EndEffector(name, reference, *_distance(system, name, ours, seen), expected))
    return found


def _quaternions(look: Look) -> Array:
    if look.is_attitude:
        return look.measured
    half = 0.5 * look.measured[:, 0]
    zero = np.zeros_like(half)
    return np.column_stack([zero, zero, np.sin(half), np.cos(half)])


def _states_at(predicted: Predicted, times: Array) -> Array:
    states = between(predicted.at.times, predicted.at.states, times, is_smooth=True)
    states[:, 3:7] /= np.linalg.norm(states[:, 3:7], axis=1, keepdims=True)
    return states


def _distance(system: System, name: str, a: Array, b: Array) -> tuple[float, float]:
    """Mean and largest distance of a frame in two histories of states [m]."""
    apart = frame_motion(system, name, a).position - frame_motion(system, name, b).position
    length = np.linalg.norm(apart, axis=1)
    return float(np.mean(length)), float(np.max(length))
