"""From a Basilisk simulation to a fit: a spacecraft with thrust, weighed from its own motion.

    python examples/08_basilisk.py

Basilisk comes by `pip install bsk`.
"""

import numpy as np
from Basilisk.simulation import extForceTorque, spacecraft
from Basilisk.utilities import SimulationBaseClass, macros
from scipy.spatial.transform import Rotation

import freefloat as ff
from freefloat.model import Body, Root, Thruster

STEP, N = 0.1, 600
PUSHES = {"main": ((1.0, 0.0, 0.0), (-0.8, 0.2, 0.1)), "side": ((0.0, 1.0, 0.0), (0.3, -0.7, 0.2)),
          "up": ((0.0, 0.0, 1.0), (0.4, 0.3, -0.6))}  # fmt: skip

# Your simulation: a hub that external forces push, each thruster for 4 s; a row every 0.1 s.
simulation = SimulationBaseClass.SimBaseClass()
simulation.CreateNewProcess("process").addTask(
    simulation.CreateNewTask("task", macros.sec2nano(STEP / 10))
)
craft, push = spacecraft.Spacecraft(), extForceTorque.ExtForceTorque()
craft.hub.mHub, craft.hub.r_BcB_B = 320.0, [[0.04], [-0.06], [0.1]]
craft.hub.IHubPntBc_B = [[95.0, 3.0, -4.0], [3.0, 120.0, 2.5], [-4.0, 2.5, 80.0]]
craft.hub.omega_BN_BInit = [[0.01], [0.02], [-0.01]]
craft.addDynamicEffector(push)
for module in (craft, push):
    simulation.AddModelToTask("task", module)
simulation.InitializeSimulation()
rows, levels = [], np.zeros((N, len(PUSHES)))
for k in range(len(PUSHES)):
    levels[50 + 150 * k : 90 + 150 * k, k] = 5.0
for n in range(N):
    simulation.ConfigureStopTime(macros.sec2nano(n * STEP))
    simulation.ExecuteSimulation()
    now = craft.scStateOutMsg.read()
    turn = Rotation.from_mrp(now.sigma_BN).as_quat()  # x, y, z, w
    rows.append([*now.omega_BN_B, *turn, *now.v_BN_N])
    forces = levels[n][:, None] * np.array([way for way, _ in PUSHES.values()])
    torques = np.cross([place for _, place in PUSHES.values()], forces)
    push.extForce_B = forces.sum(axis=0)[:, None].tolist()
    push.extTorquePntB_B = torques.sum(axis=0)[:, None].tolist()

# What freefloat needs: channels by name in SI units, how noisy each is, and the thrust.
noise = {f"base.rate.{x}": 5e-5 for x in "xyz"} | {f"base.attitude.{x}": 4e-5 for x in "xyzw"}
noise |= {f"base.velocity.{x}": 3e-4 for x in "xyz"}
size = [0.5 * s if "attitude" in name else s for name, s in noise.items()]  # of an angle [rad]
table = np.array(rows) + np.random.default_rng(1).normal(size=(N, 10)) * size
channels = dict(zip(noise, table.T, strict=True))
channels |= {f"{name}.force": levels[:, k] for k, name in enumerate(PUSHES)}
held = {"thrust": "mean until the next sample"}
flight = ff.Telemetry.from_arrays(STEP * np.arange(N), channels, noise=noise, metadata=held)

# The spacecraft as you believe it, and what the motion says.
bus = Body("bus", 250.0, (0.0, 0.0, 0.0), (80.0, 0.0, 0.0, 100.0, 0.0, 70.0))
thrusters = tuple(Thruster(name, "bus", way, place) for name, (way, place) in PUSHES.items())
model = ff.Model("craft", Root("bus"), (bus,), thrusters=thrusters)
fit = ff.identify(model, ff.Parameters(model).free("bus.*"), flight)
print(fit)
print(f"mass: {fit['bus.mass'].value:.2f} kg, Basilisk's is {craft.hub.mHub:.0f} kg")
