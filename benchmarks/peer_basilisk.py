"""Basilisk: a spacecraft with panels, in free space or in orbit. Runs in the peers' interpreter.

A problem is JSON: a hub with mass [kg], centre [m] and inertia about it [kg m^2], `panels` on
hinges, and `orbit`, the mu [m^3/s^2] of what pulls, or none. The wrench on the hub about its
origin, in its axes, stands in an .npz file, a row a step, held until the next. What ideal sensors
read at the hub's origin is written into another one.
"""

from __future__ import annotations

import json
from importlib.metadata import version

import numpy as np
from Basilisk.simulation import (
    GravityGradientEffector,
    extForceTorque,
    gravityEffector,
    hingedRigidBodyStateEffector,
    spacecraft,
)
from Basilisk.utilities import SimulationBaseClass, macros
from peer_loop import serve


def column(values) -> list[list[float]]:
    """A vector as Basilisk takes it."""
    return [[float(x)] for x in values]


def hub_of(problem: dict) -> spacecraft.Spacecraft:
    """The rigid part, and how it starts."""
    craft, hub = spacecraft.Spacecraft(), problem["hub"]
    craft.ModelTag = "craft"
    craft.hub.mHub = hub["mass"]
    craft.hub.r_BcB_B = column(hub["com"])
    craft.hub.IHubPntBc_B = hub["inertia"]
    craft.hub.r_CN_NInit = column(problem["start"]["position"])
    craft.hub.v_CN_NInit = column(problem["start"]["velocity"])
    craft.hub.sigma_BNInit = column((0.0, 0.0, 0.0))
    craft.hub.omega_BN_BInit = column(problem["start"]["rate"])
    return craft


def add_panel(craft, task, panel: dict, k: int) -> None:
    """A rigid panel on a hinge about its y axis; its centre lies at -distance along x."""
    part = hingedRigidBodyStateEffector.HingedRigidBodyStateEffector()
    part.mass, part.d = panel["mass"], panel["distance"]
    part.IPntS_S = panel["inertia"]
    part.k, part.c = panel["stiffness"], panel["damping"]
    part.r_HB_B = column(panel["place"])
    part.dcm_HB = panel["axes"]
    part.nameOfThetaState, part.nameOfThetaDotState = f"theta{k}", f"thetaDot{k}"
    part.ModelTag = f"panel{k}"
    craft.addStateEffector(part)
    task(part)


def add_orbit(craft, task, orbit: dict) -> None:
    """The pull of a point mass, and the torque of its gradient."""
    planet = gravityEffector.GravBodyData()
    planet.planetName, planet.mu, planet.isCentralBody = "earth_planet_data", orbit["mu"], True
    craft.gravField.gravBodies = spacecraft.GravBodyVector([planet])
    gradient = GravityGradientEffector.GravityGradientEffector()
    gradient.ModelTag = "gradient"
    gradient.addPlanetName(planet.planetName)
    craft.addDynamicEffector(gradient)
    task(gradient)


def fly(problem: str, wrench: str, out: str) -> dict:
    """Fly it; a row a step of `wrench`, and one for the end."""
    told = json.loads(problem)
    with np.load(wrench) as found:
        table = found["wrench"]
    simulation = SimulationBaseClass.SimBaseClass()
    process = simulation.CreateNewProcess("process")
    step = macros.sec2nano(told["fine"])
    process.addTask(simulation.CreateNewTask("task", step))
    craft = hub_of(told)

    def task(module) -> None:
        simulation.AddModelToTask("task", module)

    task(craft)
    for k, panel in enumerate(told["panels"]):
        add_panel(craft, task, panel, k)
    if told["orbit"]:
        add_orbit(craft, task, told["orbit"])
    push = extForceTorque.ExtForceTorque()
    push.ModelTag = "push"
    craft.addDynamicEffector(push)
    task(push)
    simulation.InitializeSimulation()
    rows = []
    for k, row in enumerate(np.vstack([table, table[-1:]])):
        simulation.ConfigureStopTime(macros.sec2nano(k * told["step"]))
        simulation.ExecuteSimulation()
        rows.append(state_of(craft.scStateOutMsg.read()))
        push.extForce_B, push.extTorquePntB_B = column(row[:3]), column(row[3:])
    np.savez(out, states=np.array(rows))
    return {"version": version("bsk")}


def state_of(now) -> np.ndarray:
    """Position, velocity, modified Rodrigues parameters, rate."""
    return np.concatenate([now.r_BN_N, now.v_BN_N, now.sigma_BN, now.omega_BN_B])


if __name__ == "__main__":
    serve({"fly": fly})
