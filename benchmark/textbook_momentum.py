"""Textbook identification by momentum: what thrusters push is what momentum gains.

At the instants at which the velocity of the base is read, linear momentum p, and angular momentum
L about the base's origin, are linear in the parameters (Pinocchio's regressor at no velocity, times
the body's motion). That origin moves, with v: what L + integral of v x p gains is the torque
impulse about it. Impulses are integrated, the momentum at the start is six unknowns more, and no
acceleration is needed. Rows are weighted by what a first solution leaves of each component.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp
from textbook_least_squares import FREEFLOAT, PINOCCHIO, estimates_of

import freefloat as ff


def solve(folder: Path) -> dict[str, list[float]]:
    """Estimates with their deviations; LookupError says what the method lacks."""
    plain = json.loads((folder / "task.json").read_text())
    rows, right = momentum_rows(folder, plain)
    n = rows.shape[0] // 6
    start = np.tile(np.eye(6), (n, 1))
    whole = np.hstack([rows, start])
    kind = np.tile(np.arange(6), n)
    is_used = np.abs(whole[:, : rows.shape[1]]).max(axis=0) > 0.0
    if not is_used.all():
        raise LookupError("some unknowns have no part in the momentum")
    left = right - whole @ np.linalg.lstsq(whole, right, rcond=None)[0]
    size = np.array([max(float(np.std(left[kind == k])), 1e-9) for k in range(6)])[kind]
    return estimates_of(plain["unknown"], whole / size[:, None], right / size)


def momentum_rows(folder: Path, plain: dict) -> tuple[np.ndarray, np.ndarray]:
    """Rows (6 n, unknowns) of momentum, and impulses less what known bodies have (6 n)."""
    if any(joint["role"] == "passive" for joint in plain["joints"]):
        raise LookupError("the momentum of what swings unseen is in no row")
    if plain["orbit"] or any(plain["gravity"]) or plain["root"]["type"] == "fixed":
        raise LookupError("its momentum is that of free flight")
    model, track = ff.load_model(folder / "model.toml"), Track(folder)
    bodies = {b.name: b for b in model.assembly.bodies}
    at = [(n.rpartition(".")[0], PINOCCHIO.index(n.rpartition(".")[2])) for n in plain["unknown"]]
    free = set(at)
    rows, known = [], []
    for k in range(len(track.time)):
        tables, of_known = _columns(model, track, k), np.zeros(6)
        for name, table in tables.items():
            phi = dict(zip(FREEFLOAT, bodies[name].phi, strict=True))
            for j, field in enumerate(PINOCCHIO):
                if (name, j) not in free:
                    of_known += table[:, j] * phi[field]
        rows.append(np.column_stack([tables[name][:, j] for name, j in at]))
        known.append(of_known[:, None])
    momentum = track.with_moving_origin(np.concatenate([rows, known], axis=2))
    right = track.impulses(plain) - track.wheels(plain) - momentum[:, :, -1]
    return momentum[:, :, :-1].reshape(len(right.ravel()), -1), right.ravel()


def _columns(model: ff.Model, track: Track, k: int) -> dict[str, np.ndarray]:
    """Momentum about the base's origin, in the world's axes, by body and parameter (6, 10)."""
    root, still = model.root.body, pin.Motion.Zero()
    place = {root: pin.SE3(track.rotation[k], np.zeros(3))}
    motion = {root: pin.Motion(track.rotation[k].T @ track.velocity[k], track.rate[k])}
    for joint in model.assembly.joints:
        step = pin.SE3(joint.placement.rotation, np.array(joint.placement.xyz))
        own = pin.Motion.Zero()
        if joint.type != "fixed":
            axis = np.array(joint.axis, dtype=float)
            q, dq = track.joint(joint.name)
            turn = Rotation.from_rotvec(q[k] * axis).as_matrix()
            step, own = step * pin.SE3(turn, np.zeros(3)), pin.Motion(np.zeros(3), dq[k] * axis)
        place[joint.child] = place[joint.parent] * step
        motion[joint.child] = step.actInv(motion[joint.parent]) + own
    # at no velocity the regressor of a wrench is that of inertia times motion
    return {
        name: place[name].toDualActionMatrix() @ pin.bodyRegressor(still, motion[name])
        for name in place
    }


class Track:
    """All that was read, at the instants of the velocity."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "recording.npz") as arrays:
            names = {key.partition(":")[0] for key in arrays.files}
            self.raw = {n: (arrays[f"{n}:time"], arrays[f"{n}:values"]) for n in names}
        if "base.velocity.x" not in self.raw:
            raise LookupError("it needs the velocity of the base")
        self.time = self.raw["base.velocity.x"][0]
        self.rate, self.velocity = self._three("base.rate"), self._three("base.velocity")
        self.turns = self._turns()
        self.rotation = self.turns(self.time).as_matrix()

    def with_moving_origin(self, momentum: np.ndarray) -> np.ndarray:
        """Columns of momentum (n, 6, m) with the integral of v x p added to L."""
        flow = np.cross(self.velocity[:, None], np.swapaxes(momentum[:, :3], 1, 2))
        step = np.diff(self.time)[:, None, None]
        summed = np.cumsum(0.5 * step * (flow[1:] + flow[:-1]), axis=0)
        out = momentum.copy()
        out[1:, 3:] += np.swapaxes(summed, 1, 2)
        return out

    def at(self, name: str, time: np.ndarray | None = None) -> np.ndarray:
        """A channel at times, by default those of the velocity; gaps are bridged."""
        own, values = self.raw[name]
        good = np.isfinite(values)
        return np.interp(self.time if time is None else time, own[good], values[good])

    def _three(self, group: str) -> np.ndarray:
        zero = np.zeros(len(self.time))
        return np.column_stack([
            self.at(f"{group}.{axis}") if f"{group}.{axis}" in self.raw else zero for axis in "xyz"
        ])  # fmt: skip

    def _turns(self):
        """From times to rotations, the attitude's samples joined along great circles."""
        if "base.angle" in self.raw:
            time, angle = self.raw["base.angle"]
            turn = Rotation.from_euler("z", angle[:, None])
        elif "base.attitude.w" in self.raw:
            time = self.raw["base.attitude.w"][0]
            q = np.column_stack([self.raw[f"base.attitude.{c}"][1] for c in "xyzw"])
            good = np.isfinite(q).all(axis=1)
            time, turn = time[good], Rotation.from_quat(q[good])
        else:
            raise LookupError("it needs an attitude")
        slerp = Slerp(time, turn)
        return lambda t: slerp(np.clip(t, time[0], time[-1]))

    def joint(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity of a joint."""
        if f"{name}.velocity" not in self.raw:
            raise LookupError("it needs the rates of joints")
        return self.at(f"{name}.position"), self.at(f"{name}.velocity")

    def impulses(self, plain: dict) -> np.ndarray:
        """What thrusters have given until each instant, about the base's origin."""
        total = np.zeros((len(self.time), 6))
        for one in plain["thrusters"]:
            if f"{one['name']}.force" not in self.raw:
                continue
            time, level = self.raw[f"{one['name']}.force"]
            step = np.diff(time)
            middle = time[:-1] + 0.5 * step
            turn = self.turns(middle)
            force = turn.apply(one["direction"]) * np.nan_to_num(level[:-1])[:, None]
            arm = turn.apply(one["position"])
            pushed = np.hstack([force, np.cross(arm, force)]) * step[:, None]
            summed = np.vstack([np.zeros(6), np.cumsum(pushed, axis=0)])
            total += np.column_stack([np.interp(self.time, time, x) for x in summed.T])
        return total

    def wheels(self, plain: dict) -> np.ndarray:
        """The angular momentum of wheels relative to their bus."""
        total = np.zeros((len(self.time), 6))
        for one in plain["wheels"]:
            axis = np.array(one["axis"]) / np.linalg.norm(one["axis"])
            spin = one["inertia"] * self.at(f"{one['name']}.speed")
            total[:, 3:] += np.einsum("nij,j->ni", self.rotation, axis) * spin[:, None]
        return total
