"""How the robot moved on a flight, instant by instant, ready to be drawn.

Made in a worker, from the truth of a simulated flight, from what a recording measured, or from
states that a model predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.model.model import Model
from freefloat.model.rotations import matrix_from_rotation_vector, quaternion_from_matrix
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing

MOST_FRAMES = 24_000  # format: four minutes at 100 Hz; longer flights are thinned
N_ROOT = 13  # format: numbers of the root in a state vector


@dataclass(frozen=True, eq=False)
class Moment:
    """One instant: the root's position [m] and attitude (x, y, z, w), coordinates by name.

    thrust [N] by thruster; momentum [N s] and spin [N m s], about the centre of mass, in world
    axes.
    """

    time: float
    position: Array
    attitude: Array
    posture: Mapping[str, float]
    thrust: Mapping[str, float]
    momentum: Array
    spin: Array


@dataclass(frozen=True, eq=False)
class FlightMotion:
    """States (n, 13 + 2 c) at times (n,) [s] with thrust [N], momentum and spin beside them.

    note: what is not known of the motion, and how it is drawn instead.
    """

    times: Array
    states: Array
    coordinates: tuple[str, ...]
    thrust: Mapping[str, Array]
    momentum: Array
    spin: Array
    note: str = ""

    @property
    def start(self) -> float:
        """The first instant [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """The last instant [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> Moment:
        """The motion at a time [s], between its frames where these are far apart."""
        k = int(np.searchsorted(self.times, time, side="right")) - 1
        k = min(max(k, 0), max(len(self.times) - 2, 0))
        after = min(k + 1, len(self.times) - 1)
        span = float(self.times[after] - self.times[k])
        share = min(max((time - self.times[k]) / span, 0.0), 1.0) if span > 0.0 else 0.0
        x = (1.0 - share) * self.states[k] + share * self.states[after]
        q = x[3:7] if x[3:7].any() else np.array([0.0, 0.0, 0.0, 1.0])
        c = len(self.coordinates)
        nearest = after if share > 0.5 else k
        return Moment(
            time, x[:3], q / np.linalg.norm(q),
            dict(zip(self.coordinates, x[N_ROOT : N_ROOT + c].tolist(), strict=True)),
            {name: float(row[k]) for name, row in self.thrust.items()},
            self.momentum[nearest], self.spin[nearest],
        )  # fmt: skip


def motion_of_states(
    model: Model, times: Array, states: Array, *, thrust: Mapping[str, Array] | None = None,
    note: str = "",
) -> FlightMotion:  # fmt: skip
    """The motion with its momentum, thinned where it is very long; wheels are turned by speed."""
    from freefloat.dynamics.system_inertia import system_inertia
    from freefloat.dynamics.tree import flatten

    every = max(1, -(-len(times) // MOST_FRAMES))
    times, states = np.asarray(times)[::every], np.array(states[::every])
    given = {name: np.asarray(row)[::every] for name, row in (thrust or {}).items()}
    system = flatten(model)
    # the sign of a quaternion means nothing, and in between two signs there is no attitude
    flips = np.cumprod(np.where(np.sum(states[1:, 3:7] * states[:-1, 3:7], axis=1) < 0.0, -1, 1))
    states[1:, 3:7] *= flips[:, None]
    n, c = len(times), system.n_coordinates
    for wheel in model.wheels:
        k = system.coordinates.index(wheel.name)
        speed = states[:, N_ROOT + c + k]
        means = 0.5 * (speed[1:] + speed[:-1])
        states[1:, N_ROOT + k] = np.cumsum(means * np.diff(times)) if n > 1 else 0.0
    at = system_inertia(system, states)
    return FlightMotion(times, states, system.coordinates, given, at.momentum, at.spin, note)


def motion_of_flight(model: Model, flight: Telemetry) -> FlightMotion:
    """The motion of a recording: its truth, if it has one, else what was measured."""
    from freefloat.dynamics.tree import flatten
    from freefloat.errors import FreefloatError
    from freefloat.prediction.flight_summary import true_states

    if flight.truth is not None:
        try:
            times, states = true_states(flatten(model), flight)
        except FreefloatError:  # of a robot with other joints
            pass
        else:
            return motion_of_states(model, times, states, thrust=_thrust(model, flight, times))
    return _measured_motion(model, flight)


def _measured_motion(model: Model, flight: Telemetry) -> FlightMotion:
    """What was measured of the motion; the rest is drawn at rest, and named."""
    from freefloat.dynamics.state import Start
    from freefloat.dynamics.tree import flatten

    system, missing = flatten(model), []
    times = _grid(flight)
    states = np.repeat(Start().vector(system)[None], len(times), axis=0)
    names = tuple(dict.fromkeys(("base", model.root.body, model.bus)))
    found = {kind: _columns(flight, names, kind, times) for kind in ("position", "rate")}
    if (place := found["position"]) is not None:
        states[:, :3] = place
    else:
        missing.append("base.position")
    attitude = _columns(flight, names, "attitude", times, axes="xyzw")
    if attitude is not None:
        norms = np.linalg.norm(attitude, axis=1, keepdims=True)
        states[:, 3:7] = np.where(norms > 0.1, attitude / np.maximum(norms, 0.1), [0, 0, 0, 1])
    elif (angle := _heading(flight, names, times)) is not None:
        states[:, 5:7] = np.column_stack([np.sin(0.5 * angle), np.cos(0.5 * angle)])
    elif (rate := found["rate"]) is not None:
        states[:, 3:7] = _attitudes_of_rates(times, rate)
    else:
        missing.append("base.attitude")
    c = system.n_coordinates
    for k, name in enumerate(system.coordinates):
        q = _column(flight, f"{name}.position", times)
        dq = _column(flight, f"{name}.velocity", times)
        dq = _column(flight, f"{name}.speed", times) if dq is None else dq
        if q is not None:
            states[:, N_ROOT + k] = q
        if dq is not None:
            states[:, N_ROOT + c + k] = dq
        elif q is None:
            missing.append(name)
    note = f"not measured, drawn at rest: {listing(missing, most=6)}" if missing else ""
    return motion_of_states(model, times, states, thrust=_thrust(model, flight, times), note=note)


def _grid(flight: Telemetry) -> Array:
    """Instants of a recording, never more than are drawn."""
    instants = np.asarray(flight.instants)
    return instants[:: max(1, -(-len(instants) // MOST_FRAMES))]


def _columns(
    flight: Telemetry, owners: tuple[str, ...], kind: str, times: Array, axes: str = "xyz"
) -> Array | None:
    for owner in owners:
        columns = [_column(flight, f"{owner}.{kind}.{axis}", times) for axis in axes]
        if all(column is not None for column in columns):
            return np.column_stack(columns)  # type: ignore[arg-type]
    return None


def _column(flight: Telemetry, name: str, times: Array) -> Array | None:
    if name not in flight:
        return None
    time, values = flight[name].usable()
    return np.interp(times, time, values) if len(time) else None


def _heading(flight: Telemetry, owners: tuple[str, ...], times: Array) -> Array | None:
    """The angle of a planar base about z [rad], as far as it is measured."""
    found = (_column(flight, f"{owner}.angle", times) for owner in owners)
    return next((column for column in found if column is not None), None)


def _thrust(model: Model, flight: Telemetry, times: Array) -> dict[str, Array]:
    found = {}
    for thruster in model.thrusters:
        column = _column(flight, f"{thruster.name}.force", times)
        if column is not None and np.any(column > 0.0):
            found[thruster.name] = column
    return found


def _attitudes_of_rates(times: Array, rate: Array) -> Array:
    """Attitudes (n, 4) by adding up the turns of a gyro (n, 3) [rad/s]."""
    R, found = np.eye(3), np.zeros((len(times), 4))
    found[0, 3] = 1.0
    steps = np.diff(times)[:, None] * 0.5 * (rate[1:] + rate[:-1])
    for k, turn in enumerate(steps):
        R = R @ matrix_from_rotation_vector(turn)
        found[k + 1] = quaternion_from_matrix(R)
    return found
