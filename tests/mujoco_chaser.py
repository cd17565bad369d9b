"""A chaser as it really is, in MuJoCo with RK4, and a recorder that writes CSV as recorders do.

It knows nothing of freefloat: the mechanism is written by hand as MJCF, and differs from the URDF
of docs/own_robot.md in the bus only.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np

TRUTH = {"mass": 66.0, "com": (0.04, -0.03, 0.06), "inertia": (4.6, 5.3, 5.6, 0.15, -0.1, 0.08)}

MJCF = f"""
<mujoco>
  <compiler angle="radian" inertiafromgeom="false"/>
  <option timestep="0.001" gravity="0 0 0" integrator="RK4"/>
  <worldbody>
    <body name="bus">
      <freejoint/>
      <inertial pos="{" ".join(map(str, TRUTH["com"]))}" mass="{TRUTH["mass"]}"
                fullinertia="{" ".join(map(str, TRUTH["inertia"]))}"/>
      <body name="upper" pos="0.35 0.1 0.2">
        <joint name="shoulder" axis="0 0 1"/>
        <inertial pos="0.3 0 0" mass="9" diaginertia="0.02 0.30 0.30"/>
        <body name="fore" pos="0.6 0 0">
          <joint name="elbow" axis="0 1 0"/>
          <inertial pos="0.25 0 0" mass="7" diaginertia="0.015 0.18 0.18"/>
          <body name="tool" pos="0.5 0 0">
            <joint name="wrist" axis="1 0 0"/>
            <inertial pos="0.1 0 0.02" mass="5" diaginertia="0.02 0.03 0.03"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="shoulder"/><motor joint="elbow"/><motor joint="wrist"/>
  </actuator>
</mujoco>
"""
JOINTS = ("shoulder", "elbow", "wrist")
STIFF, BRAKE = np.array([200.0, 200.0, 4.0]), np.array([60.0, 50.0, 0.8])  # of the joints
STEPS = 50  # of 1 ms between two rows
NOISE = {
    "base.rate": 0.003,
    "base.attitude": 2e-5,
    "base.velocity": 0.1,
    "position": 5e-4,
    "velocity": 3e-3,
    "base.position": 0.2,
}  # fmt: skip  (deg/s, rad, mm/s, deg, deg/s, mm)


def record(path: Path, *, seed: int, duration: float = 60.0, has_position: bool = False) -> None:
    """Fly the chaser with feedback on three different swings, and write what sensors say."""
    rng = np.random.default_rng(seed)
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    periods = rng.uniform(6.0, 14.0, (3, 3))
    sizes = rng.uniform(0.3, 0.6, (3, 3)) * rng.choice([-1.0, 1.0], (3, 3))
    rows = []
    for n in range(int(duration / 0.001) + 1):
        if n % STEPS == 0:
            rows.append(_row(data, rng, has_position))
        grown = min(1.0, data.time / 5.0) ** 2 * (3.0 - 2.0 * min(1.0, data.time / 5.0))
        wanted = grown * np.sum(sizes * np.sin(2.0 * np.pi * data.time / periods), axis=1)
        data.ctrl[:] = STIFF * (wanted - data.qpos[7:]) - BRAKE * data.qvel[6:]
        mujoco.mj_step(model, data)
    path.write_text("\n".join([*_head(has_position), *rows]) + "\n", encoding="utf-8")


def _head(has_position: bool) -> list[str]:
    names = [f"base.rate.{axis} [deg/s]" for axis in "xyz"]
    names += [f"base.attitude.{axis}" for axis in "xyzw"]
    names += [f"base.velocity.{axis} [mm/s]" for axis in "xyz"]
    names += [
        f"{joint}.{what}" for joint in JOINTS for what in ("position [deg]", "velocity [deg/s]")
    ]
    names += [f"base.position.{axis} [mm]" for axis in "xyz" if has_position]
    lines = ["# recorder: hand-made"]
    for name in names:
        channel = name.partition(" [")[0]
        kind = channel if channel.startswith("base") else channel.rpartition(".")[2]
        size = NOISE[kind.rpartition(".")[0] if kind.startswith("base") else kind]
        lines.append(f"# noise: {channel} {size:g}")
    return [*lines, ",".join(["time [s]", *names])]


def _row(data: mujoco.MjData, rng: np.random.Generator, has_position: bool) -> str:
    """MuJoCo: quaternion w first, velocity in world axes, rate in body axes."""
    rate = np.rad2deg(data.qvel[3:6]) + NOISE["base.rate"] * rng.normal(size=3)
    half = 0.5 * NOISE["base.attitude"] * rng.normal(size=3)
    turned = np.empty(4)
    mujoco.mju_mulQuat(turned, data.qpos[3:7], np.array([1.0, *half]))
    w, x, y, z = turned / np.linalg.norm(turned)
    velocity = 1e3 * data.qvel[:3] + NOISE["base.velocity"] * rng.normal(size=3)
    joints = np.column_stack([
        np.rad2deg(data.qpos[7:]) + NOISE["position"] * rng.normal(size=3),
        np.rad2deg(data.qvel[6:]) + NOISE["velocity"] * rng.normal(size=3),
    ])  # fmt: skip
    numbers = [*rate, x, y, z, w, *velocity, *joints.ravel()]
    if has_position:
        numbers += [*(1e3 * data.qpos[:3] + NOISE["base.position"] * rng.normal(size=3))]
    return ",".join([f"{data.time:.3f}", *(f"{v:.12g}" for v in numbers)])
