"""Carriers of the scale that are off by as much as the model file says they may be (T5).

Total intervals must hold the truth then: it is the world that the engineer described.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from worlds.kinds import Kind
from worlds.model_kinds import known_bodies, scale_body
from worlds.world import World


def state_arm(world: World, size: float, rng: np.random.Generator) -> None:
    """Every known link by its own factor, as uncertain as stated."""
    for name in known_bodies(world):
        stated = replace(world.believed.body(name), uncertainty=size)
        world.believed = world.believed.with_body(stated)
        scale_body(world, name, 1.0 + size * float(rng.normal()))


def state_common_arm(world: World, size: float, rng: np.random.Generator) -> None:
    """All known links by one factor of the size that is stated for each."""
    sign = float(rng.choice([-1.0, 1.0]))
    for name in known_bodies(world):
        stated = replace(world.believed.body(name), uncertainty=size)
        world.believed = world.believed.with_body(stated)
        scale_body(world, name, 1.0 + sign * size)


def state_thrust(world: World, size: float, rng: np.random.Generator) -> None:
    """Every thruster by its own factor."""
    _state_thrusters(world, size, 1.0 + size * rng.normal(size=len(world.model.thrusters)))


def state_common_thrust(world: World, size: float, rng: np.random.Generator) -> None:
    """All thrusters by one factor of the size that is stated for each."""
    sign = float(rng.choice([-1.0, 1.0]))
    _state_thrusters(world, size, np.full(len(world.model.thrusters), 1.0 + sign * size))


def _state_thrusters(world: World, size: float, factors: np.ndarray) -> None:
    stated = tuple(replace(t, uncertainty=size) for t in world.believed.thrusters)
    world.believed = replace(world.believed, thrusters=stated)
    for thruster, factor in zip(world.model.thrusters, factors.tolist(), strict=True):
        world.valves[thruster.name] = lambda t, level, factor=factor: factor * level


def state_wheels(world: World, size: float, rng: np.random.Generator) -> None:
    """Wheels with another spin inertia."""
    stated = tuple(replace(w, uncertainty=size) for w in world.believed.wheels)
    world.believed = replace(world.believed, wheels=stated)
    wheels = (
        replace(w, inertia=w.inertia * (1.0 + size * float(rng.normal())))
        for w in world.model.wheels
    )
    world.model = replace(world.model, wheels=tuple(wheels))


def state_torques(world: World, size: float, rng: np.random.Generator) -> None:
    """Torque sensors of every joint by their own factors."""
    sensors = tuple(
        replace(s, gain_uncertainty=size) if s.kind == "joint_torque" else s
        for s in world.believed.sensors
    )
    world.believed = replace(world.believed, sensors=sensors)
    factors = {j.name: 1.0 + size * float(rng.normal()) for j in world.model.joints}

    def act(world: World, readings) -> None:
        for name, factor in factors.items():
            readings.groups[f"{name}.torque"] = factor * readings.groups[f"{name}.torque"]

    world.readings.append(act)


KINDS = (
    Kind("stated: arm, each link", (), (0.03,), "1", state_arm, part="joints"),
    Kind("stated: arm, all links alike", (), (0.03,), "1", state_common_arm, part="joints"),
    Kind("stated: thrust, each", (), (0.05,), "1", state_thrust, part="thrusters"),
    Kind("stated: thrust, all alike", (), (0.05,), "1", state_common_thrust, part="thrusters"),
    Kind("stated: wheels", (), (0.02,), "1", state_wheels, part="wheels"),
    Kind("stated: torques", (), (0.05,), "1", state_torques, part="joints",
         sensor="joint_torque"),
)  # fmt: skip
