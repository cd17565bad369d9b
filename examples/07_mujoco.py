"""From a MuJoCo simulation to a fit: how heavy is the bus that an arm moves?

    python examples/07_mujoco.py

The simulation is yours; freefloat gets the MJCF file as you believe it, and what sensors read.
"""

from pathlib import Path

import mujoco
import numpy as np

import freefloat as ff

XML = """<mujoco><option timestep="0.002" gravity="0 0 0" integrator="RK4"/><worldbody>
 <body name="bus"><freejoint/>
  <inertial pos="{com} -0.03 0.06" mass="{mass}" fullinertia="4.6 5.3 5.6 0.1 -0.1 0.1"/>
  <body name="upper" pos="0.35 0.1 0.2"><joint name="shoulder" axis="0 0 1"/>
   <inertial pos="0.3 0 0" mass="9" diaginertia="0.02 0.3 0.3"/>
   <body name="fore" pos="0.6 0 0"><joint name="elbow" axis="0 1 0"/>
    <inertial pos="0.25 0 0" mass="7" diaginertia="0.02 0.2 0.2"/></body></body></body>
 </worldbody><actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>"""

# Your simulation: two motors with feedback; every 20 ms a row of what ideal sensors would read.
robot = mujoco.MjModel.from_xml_string(XML.format(mass=66.0, com=0.04))
data, rows = mujoco.MjData(robot), []
for n in range(15000):
    if n % 10 == 0:
        rows.append(np.concatenate([data.qvel[3:6], data.qpos[[4, 5, 6, 3]], data.qvel[:3],
                                    data.qpos[7:], data.qvel[6:]]))  # fmt: skip
    wanted = np.array([0.5, 0.7]) * np.sin(np.array([0.9, 1.3]) * data.time) ** 3
    data.ctrl[:] = 200.0 * (wanted - data.qpos[7:]) - 60.0 * data.qvel[6:]
    mujoco.mj_step(robot, data)

# What freefloat needs: channels by name in SI units, and how noisy each is. MuJoCo's quaternion
# has the scalar first, its velocity is in world axes, its rate in body axes: as freefloat's are.
noise = {f"base.rate.{x}": 5e-5 for x in "xyz"} | {f"base.attitude.{x}": 4e-5 for x in "xyzw"}
noise |= {f"base.velocity.{x}": 1e-4 for x in "xyz"}
noise |= {"shoulder.position": 2e-5, "elbow.position": 2e-5}
noise |= {"shoulder.velocity": 1e-4, "elbow.velocity": 1e-4}
size = [0.5 * s if "attitude" in name else s for name, s in noise.items()]  # of an angle [rad]
table = np.array(rows) + np.random.default_rng(1).normal(size=(len(rows), 14)) * size
channels = dict(zip(noise, table.T, strict=True))
flight = ff.Telemetry.from_arrays(0.02 * np.arange(len(rows)), channels, noise=noise)

# The robot as you believe it: 50 kg instead of 66, its centre 4 cm off.
folder = Path("build/examples")
folder.mkdir(parents=True, exist_ok=True)
(folder / "believed.xml").write_text(XML.format(mass=50.0, com=0.0))
model = ff.load_model(folder / "believed.xml")
fit = ff.identify(model, ff.Parameters(model).free("bus.*"), flight)
print(fit)
print(f"mass: {fit['bus.mass'].value:.2f} kg, the simulation's is 66 kg")
