"""Textbook identification: smooth, differentiate, least squares of Pinocchio's regressors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

import freefloat as ff

RATE = 25.0  # [Hz] of the common grid
WINDOW, ORDER = 15, 3  # samples and degree of the smoothing
PINOCCHIO = ("mass", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")


def solve(folder: Path) -> dict[str, list[float]]:
    """Estimates with their deviations; LookupError says what the method lacks."""
    plain = json.loads((folder / "task.json").read_text())
    rows, right, _ = force_rows(folder, plain)
    return estimates_of(plain["unknown"], rows, right)


def estimates_of(names: list[str], a: np.ndarray, b: np.ndarray) -> dict[str, list[float]]:
    """Ordinary least squares; columns beyond those of the names are unknowns of no interest."""
    scale = np.linalg.norm(a, axis=0)
    found, _, rank, _ = np.linalg.lstsq(a / scale, b, rcond=None)
    if rank < a.shape[1]:
        raise LookupError(f"only {rank} of {a.shape[1]} unknowns show in the equations")
    left = b - a @ (found / scale)
    variance = float(left @ left) / (len(b) - a.shape[1])
    std = np.sqrt(variance * np.diag(np.linalg.inv((a / scale).T @ (a / scale)))) / scale
    pairs = zip(names, found / scale, std, strict=False)
    return {name: [float(v), float(s), float(s)] for name, v, s in pairs}


def force_rows(folder: Path, plain: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (6 n, unknowns) of forces and torques, their right-hand side, and times (n)."""
    if any(joint["role"] == "passive" for joint in plain["joints"]):
        raise LookupError("the textbook's equations are those of rigid bodies")
    if plain["orbit"] or any(plain["gravity"]) or plain["root"]["type"] == "fixed":
        raise LookupError("its equations are those of free flight")
    model = ff.load_model(folder / "model.toml")
    signals = Signals(folder)
    bodies = {b.name: b for b in model.assembly.bodies}
    unknown = plain["unknown"]
    chain = Chain(model)
    rows, right = [], []
    for k in range(len(signals.time)):
        columns = chain.columns(signals, k)
        outside = signals.wrench(plain, k)
        for name, table in columns.items():
            free = {n.rpartition(".")[2] for n in unknown if n.startswith(f"{name}.")}
            phi = dict(zip(FREEFLOAT, bodies[name].phi, strict=True))
            for j, field in enumerate(PINOCCHIO):
                if field not in free:
                    outside = outside - table[:, j] * phi[field]
        rows.append(np.column_stack([
            columns[n.rpartition(".")[0]][:, PINOCCHIO.index(n.rpartition(".")[2])] for n in unknown
        ]))  # fmt: skip
        right.append(outside)
    return np.vstack(rows), np.concatenate(right), signals.time


FREEFLOAT = ("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")


class Signals:
    """All channels on one grid, smoothed, with derivatives."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "recording.npz") as arrays:
            names = {key.partition(":")[0] for key in arrays.files}
            self.raw = {n: (arrays[f"{n}:time"], arrays[f"{n}:values"]) for n in names}
        start = max(t[0] for t, _ in self.raw.values())
        end = min(t[-1] for t, _ in self.raw.values())
        self.whole = self.time = np.arange(start, end, 1.0 / RATE)
        self.cut = slice(WINDOW, len(self.whole) - WINDOW)
        self.rotation = self._rotation()
        self.rate = self._group("base.rate")
        self.turn = self._group("base.rate", derivative=1)
        self.acceleration = self._acceleration()
        self.time = self.time[self.cut]

    def _of(self, name: str, derivative: int = 0) -> np.ndarray:
        time, values = self.raw[name]
        is_good = np.isfinite(values)
        grid = np.interp(self.whole, time[is_good], values[is_good])
        return savgol_filter(grid, WINDOW, ORDER, deriv=derivative, delta=1.0 / RATE)

    def _group(self, name: str, derivative: int = 0) -> np.ndarray:
        columns = [
            self._of(f"{name}.{axis}", derivative) if f"{name}.{axis}" in self.raw
            else np.zeros(len(self.whole)) for axis in "xyz"
        ]  # fmt: skip
        return np.column_stack(columns)[self.cut]

    def _rotation(self) -> np.ndarray:
        if "base.angle" in self.raw:
            angle = self._of("base.angle")[self.cut]
            return Rotation.from_euler("z", angle[:, None]).as_matrix()
        if "base.attitude.w" not in self.raw:
            raise LookupError("it needs an attitude")
        q = np.column_stack([self._of(f"base.attitude.{c}") for c in "xyzw"])[self.cut]
        return Rotation.from_quat(q).as_matrix()

    def _acceleration(self) -> np.ndarray:
        """Of the origin of the base, in base axes."""
        if "base.velocity.x" in self.raw:
            world = self._group("base.velocity", derivative=1)
            return np.einsum("nji,nj->ni", self.rotation, world)
        if "base.acceleration.x" in self.raw:
            return self._group("base.acceleration")
        raise LookupError("it needs a velocity or an accelerometer")

    def joint(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration of a joint."""
        return tuple(self._of(f"{name}.position", d)[self.cut] for d in range(3))  # type: ignore[return-value]

    def wrench(self, plain: dict, k: int) -> np.ndarray:
        """Thrust, less what wheels take, about the base's origin in its axes: force, torque."""
        total = np.zeros(6)
        for one in plain["thrusters"]:
            name = f"{one['name']}.force"
            if name in self.raw:
                mean = float(self._thrust(name)[k])
                force = mean * np.array(one["direction"])
                total += np.concatenate([force, np.cross(one["position"], force)])
        for one in plain["wheels"]:
            name = f"{one['name']}.speed"
            if name in self.raw:
                axis = np.array(one["axis"]) / np.linalg.norm(one["axis"])
                spin = one["inertia"] * axis
                total[3:] -= self._cached(name, 1)[k] * spin
                total[3:] -= np.cross(self.rate[k], self._cached(name, 0)[k] * spin)
        return total

    def _thrust(self, name: str) -> np.ndarray:
        """The mean thrust until the next sample, smoothed as rates are: by their derivative."""
        kept = self.__dict__.setdefault("_thrusts", {})
        if name not in kept:
            time, values = self.raw[name]
            impulse = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(time))])
            grid = np.interp(self.whole, time, impulse)
            kept[name] = savgol_filter(grid, WINDOW, ORDER, deriv=1, delta=1.0 / RATE)[
                WINDOW:-WINDOW
            ]
        return kept[name]

    def _cached(self, name: str, derivative: int) -> np.ndarray:
        kept = self.__dict__.setdefault("_kept", {})
        if (name, derivative) not in kept:
            time, values = self.raw[name]
            grid = np.interp(self.whole, time, values)
            smooth = savgol_filter(grid, WINDOW, ORDER, deriv=derivative, delta=1.0 / RATE)
            kept[name, derivative] = smooth[self.cut]
        return kept[name, derivative]


class Chain:
    """The kinematics of all bodies, from joints, by recursion from the base."""

    def __init__(self, model: ff.Model) -> None:
        self.root = model.root.body
        self.joints = model.assembly.joints
        self.courses: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def columns(self, signals: Signals, k: int) -> dict[str, np.ndarray]:
        """Wrench about the base's origin (6, 10) that each body's parameters take."""
        zero = np.zeros(3)
        v = {self.root: pin.Motion(zero, signals.rate[k])}
        a = {self.root: pin.Motion(signals.acceleration[k], signals.turn[k])}
        place = {self.root: pin.SE3.Identity()}
        found = {self.root: pin.bodyRegressor(v[self.root], a[self.root])}
        for joint in self.joints:
            fixed = pin.SE3(joint.placement.rotation, np.array(joint.placement.xyz))
            q = dq = ddq = 0.0
            axis = np.array(joint.axis, dtype=float)
            if joint.type != "fixed":
                if joint.name not in self.courses:
                    self.courses[joint.name] = signals.joint(joint.name)
                q, dq, ddq = (float(one[k]) for one in self.courses[joint.name])
            turn = pin.SE3(Rotation.from_rotvec(q * axis).as_matrix(), zero)
            step = fixed * turn
            own, more = pin.Motion(zero, dq * axis), pin.Motion(zero, ddq * axis)
            v[joint.child] = step.actInv(v[joint.parent]) + own
            a[joint.child] = step.actInv(a[joint.parent]) + more + v[joint.child].cross(own)
            place[joint.child] = place[joint.parent] * step
            body = pin.bodyRegressor(v[joint.child], a[joint.child])
            found[joint.child] = place[joint.child].toDualActionMatrix() @ body
        return found
