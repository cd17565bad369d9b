"""How sensor readings change with the trajectory: the last link of the chain rule.

For a frame on a link, changes are followed in axes that move with the link: its motion v changes
by s1 dq + S ddq summed over the free joints on the way (s1 = v_parent x S), its acceleration by
(s2 - v x s1) dq + (2 s1 - v x S) d(dq) + S d(ddq), with s2 = a_parent x S + v_parent x s1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.kernels.spatial import A, P, S, V
from freefloat.dynamics.sensitivity import Sensitivity
from freefloat.dynamics.state import rates
from freefloat.dynamics.tree import System
from freefloat.model.parts import Sensor
from freefloat.prediction.sensor_models import FlightSegment, drive_spring, gravity

# rows of the tangent that a sensor at the root's origin reads
ROOT_ROWS = {"position": slice(0, 3), "velocity": slice(6, 9), "gyro": slice(9, 12)}


@dataclass(frozen=True)
class LinkChange:
    """Change of a link's placement and motion per parameter, in axes moving with it.

    turn (N, 3, p): rotation; shift (N, 3, p): displacement of the point now at the root's origin
    and fixed to the link; motion and acceleration (N, 6, p), the latter empty where the flight was
    followed without forces. All in root axes.
    """

    turn: Array
    shift: Array
    motion: Array
    acceleration: Array


def reading_slopes(
    system: System, sensor: Sensor, target: str, at: FlightSegment, slopes: Sensitivity
) -> Array:
    """d reading / d parameter (N, r, parameters) of one sensor on one target."""
    c = system.n_coordinates
    if sensor.kind in ("encoder", "joint_rate", "wheel_speed"):
        order = 0 if sensor.kind == "encoder" else 1
        return _coordinate(system, target, slopes, order)[:, None]
    if sensor.kind in ("motor_encoder", "motor_rate"):
        order = 0 if sensor.kind == "motor_encoder" else 1
        return _coordinate(system, f"{target}.motor", slopes, order)[:, None]
    if sensor.kind in ("joint_torque", "wheel_torque"):
        return slopes.efforts[:, 6 + c + system.coordinates.index(target)][:, None]
    if sensor.kind == "motor_torque":
        return _motor_torque(system, target, at, slopes)[:, None]
    if sensor.kind == "thruster":
        return np.zeros((len(at.times), 1, len(slopes.names)))
    return _frame(system, sensor.kind, target, at, slopes)


def _coordinate(system: System, name: str, slopes: Sensitivity, order: int) -> Array:
    """Change of a coordinate (order 0) or its rate (1); zero when it is prescribed."""
    if name not in slopes.free:
        return np.zeros((len(slopes.states), len(slopes.names)))
    place = 12 + slopes.free.index(name) + order * len(slopes.free)
    return slopes.tangents[:, place]


def _motor_torque(system: System, joint: str, at: FlightSegment, slopes: Sensitivity) -> Array:
    """Rotor torque plus the spring it winds up; see truths."""
    c, motor = system.n_coordinates, f"{joint}.motor"
    change = slopes.efforts[:, 6 + c + system.coordinates.index(motor)].copy()
    stiffness, damping, rest, friction, speed = drive_spring(system, joint)
    a, b = system.coordinates.index(joint), system.coordinates.index(motor)
    x = at.states[:, 13 + a] - at.states[:, 13 + b]
    u = rates(at.states)[:, a] - rates(at.states)[:, b]
    t = np.tanh(u / speed)
    braking = damping + friction * (1.0 - t**2) / speed
    dx = _coordinate(system, joint, slopes, 0) - _coordinate(system, motor, slopes, 0)
    du = _coordinate(system, joint, slopes, 1) - _coordinate(system, motor, slopes, 1)
    change -= stiffness * dx + braking[:, None] * du
    own = {"stiffness": x - rest, "damping": u, "friction": t,
           "rest": np.full_like(x, -stiffness)}  # fmt: skip
    for p, name in enumerate(slopes.names):
        owner, _, field = name.rpartition(".")
        if owner == f"{joint}.drive" and field in own:
            change[:, p] -= own[field]
    return change


def _frame(system: System, kind: str, target: str, at: FlightSegment, slopes: Sensitivity) -> Array:
    link, R_LF, p_LF = system.frame_pose(target)
    if link == 0 and kind in ROOT_ROWS and not p_LF.any():
        # at the root's own origin the state itself is read; most base sensors are there
        change = slopes.tangents[:, ROOT_ROWS[kind]]
        is_turned = kind == "gyro" and not np.array_equal(R_LF, np.eye(3))
        return R_LF.T @ change if is_turned else change
    change = link_change(system, link, at, slopes, with_acceleration=kind == "accelerometer")
    rows = at.motion.links[:, link]
    R_BL = rows[:, :9].reshape(-1, 3, 3)
    to_frame = np.swapaxes(R_BL @ R_LF, 1, 2)
    if kind == "gyro":
        return to_frame @ change.motion[:, :3]
    if kind == "attitude":
        turned = to_frame @ change.turn
        is_planar_root = system.model.root.type == "planar" and link == 0
        return turned[:, 2:] if is_planar_root else turned
    p = rows[:, P : P + 3] + R_BL @ p_LF
    R_WB = rotations(at.states)
    w = rows[:, V : V + 3]
    v = rows[:, V + 3 : V + 6] + np.cross(w, p)
    if kind == "velocity":
        dv = change.motion[:, 3:] + _cross(change.motion[:, :3], p) + _cross(change.turn, v)
        return slopes.tangents[:, 6:9] + R_WB @ dv
    moved = slopes.tangents[:, 0:3] + R_WB @ (change.shift + _cross(change.turn, p))
    if kind == "position":
        return moved
    dv = change.motion[:, 3:] + _cross(change.motion[:, :3], p)
    dw = change.motion[:, :3]
    da = change.acceleration[:, 3:] + _cross(change.acceleration[:, :3], p)
    da = da + _cross(dw, v) - _cross(dv, w)
    frame = at.frame(system, target)
    felt = gravity(system, frame.position, at.times)
    R_FW = np.swapaxes(frame.rotation, 1, 2)
    pull = np.einsum("nij,nj->ni", R_FW, felt)
    turned = to_frame @ change.turn
    return to_frame @ da - R_FW @ _gravity_change(system, at.times, moved) + _cross(turned, pull)


def _gravity_change(system: System, times: Array, moved: Array) -> Array:
    T = system.tree.field
    angle = T[10] * times
    r = np.cos(angle)[:, None] * T[4:7] + np.sin(angle)[:, None] * T[7:10]
    along = 3.0 * np.einsum("ni,nip->np", r, moved)
    return T[3] * (r[:, :, None] * along[:, None] - moved)


def link_change(
    system: System,
    link: int,
    at: FlightSegment,
    slopes: Sensitivity,
    *,
    with_acceleration: bool = True,
) -> LinkChange:
    """How a link's placement and motion change with the parameters."""
    links, T, E = at.motion.links, slopes.tangents, slopes.efforts
    v = links[:, link, V : V + 6]
    w_root = links[:, 0, V : V + 3]
    dw = T[:, 9:12]
    turn, shift = T[:, 3:6].copy(), np.zeros_like(T[:, :3])
    motion = np.concatenate([dw, np.zeros_like(dw)], axis=1)
    # a flight may have been followed without; most sensors do not ask for it
    has_acceleration = with_acceleration and len(E) > 0
    acceleration = E[:, :6].copy() if has_acceleration else np.zeros((0, 6, T.shape[2]))
    if has_acceleration:
        # the root's rate carries everything along: (w x dw, 0) - v x (dw, 0)
        acceleration[:, :3] += -_cross(dw, w_root)
        acceleration -= _motion_cross(v, motion)
    while link > 0:
        name = system.coordinates[link - 1]
        parent = int(system.tree.links[link, 0])
        if name in slopes.free:
            s = links[:, link, S : S + 6]
            s1 = _cross6(links[:, parent, V : V + 6], s)
            dq = _coordinate(system, name, slopes, 0)[:, None]
            du = _coordinate(system, name, slopes, 1)[:, None]
            turn += s[:, :3, None] * dq
            shift += s[:, 3:, None] * dq
            motion += s1[:, :, None] * dq + s[:, :, None] * du
            if has_acceleration:
                inboard = links[:, parent]
                s2 = _cross6(inboard[:, A : A + 6], s) + _cross6(inboard[:, V : V + 6], s1)
                da = E[:, 6 + link - 1][:, None]
                acceleration += (s2 - _cross6(v, s1))[:, :, None] * dq
                acceleration += (2.0 * s1 - _cross6(v, s))[:, :, None] * du + s[:, :, None] * da
        link = parent
    return LinkChange(turn, shift, motion, acceleration)


def _cross(a: Array, b: Array) -> Array:
    """a (N, 3, p) x b (N, 3), column by column: several times faster than numpy's."""
    out = np.empty_like(a)
    b = b[:, :, None]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.multiply(a[:, j], b[:, k], out=out[:, i])
        out[:, i] -= a[:, k] * b[:, j]
    return out


def _cross6(a: Array, b: Array) -> Array:
    """Motion a x motion b, rows of six."""
    angular = np.cross(a[:, :3], b[:, :3])
    return np.hstack([angular, np.cross(a[:, :3], b[:, 3:]) + np.cross(a[:, 3:], b[:, :3])])


def _motion_cross(a: Array, b: Array) -> Array:
    """Motion a (N, 6) x motions b (N, 6, p)."""
    angular = -_cross(b[:, :3], a[:, :3])
    linear = -_cross(b[:, 3:], a[:, :3]) - _cross(b[:, :3], a[:, 3:])
    return np.concatenate([angular, linear], axis=1)
