"""A planar robot on air bearings whose first joint has a flexible drive, flown by MuJoCo.

For MuJoCo the rotor is a body of its own: the motor turns it on the bus, and a spring and a damper
join it to the link. Entrants get a drive: encoders on both sides of the spring.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from worlds import robots
from worlds.mechanism import Readings
from worlds.world import World, right_world

import freefloat as ff
from freefloat.model.parts import Body, Drive, Joint, Sensor

DRIVE = Drive(inertia=0.02, stiffness=22.0, damping=0.06)  # 1.6 Hz with the arm stretched
SOFT = "arm_1_spring"
KNOWN = 0.8  # what is believed of the stiffness over the truth


def puck() -> robots.Robot:
    """The planar robot of three joints, its first motor measured too."""
    made = robots.puck()
    suite = (
        *made.suites["tracked"],
        Sensor("motor_encoder", "arm_1", 50.0, noise=8e-5),
        Sensor("motor_rate", "arm_1", 50.0, noise=4e-4),
    )
    free = (*made.free, "arm_1.drive.stiffness", "arm_1.drive.damping")
    return replace(made, name="flexible puck", suites={"tracked": suite}, free=free)


def with_drive(model: ff.Model, softness: float) -> ff.Model:
    """The model with the drive at its first joint."""
    first, *others = model.joints
    drive = replace(DRIVE, stiffness=softness * DRIVE.stiffness)
    return replace(model, joints=(replace(first, role="passive", drive=drive), *others))


def with_rotor(model: ff.Model) -> ff.Model:
    """The same as two joints, for MuJoCo: the motor's, which is driven, and the spring's."""
    first, *others = model.joints
    about = DRIVE.inertia
    # its mass is part of the bus; flat, so that it adds nothing but its spin inertia in the plane
    rotor = Body("rotor", 1e-6, inertia=(0.6 * about, 0.0, 0.0, 0.6 * about, 0.0, about))
    motor = replace(first, child=rotor.name)
    spring = Joint(SOFT, "revolute", rotor.name, first.child, axis=first.axis, role="passive",
                   stiffness=DRIVE.stiffness, damping=DRIVE.damping)  # fmt: skip
    return replace(model, bodies=(*model.bodies, rotor), joints=(motor, spring, *others))


def flexible_world(seed: int) -> World:
    """The robot in flight; what an engineer believes of it has a drive."""
    robots.ROBOTS.setdefault("flexible puck", puck)
    world = right_world("flexible puck", seed, "tracked")
    world.believed = with_drive(world.believed, KNOWN)
    world.model = with_rotor(world.model)
    world.readings.append(at_both_sides)
    return world


def at_both_sides(world: World, readings: Readings) -> None:
    """The joint's encoder reads the link, the motor's the rotor."""
    motor, link = world.believed.joints[0].name, readings.groups
    for what in ("position", "velocity"):
        turned = link[f"{motor}.{what}"]
        link[f"{motor}.motor_{what}"] = turned
        link[f"{motor}.{what}"] = np.asarray(turned + link[f"{SOFT}.{what}"])
