"""A Model spelt out mechanically: bodies in tree order, coordinates, springs and rotors.

Tanks become two massless-linked joints with a point mass, targets fixed bodies, drives and wheels
rotors. Nothing is numerical here yet; `dynamics.tree` turns an Assembly into arrays.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from freefloat.errors import Fault, ModelError
from freefloat.model.checks import structure_faults
from freefloat.model.parts import Body, Joint, Placement, Role, Tank, Vector
from freefloat.model.rotations import frame_with_z
from freefloat.text import did_you_mean, listing

if TYPE_CHECKING:
    from freefloat.model.model import Model


@dataclass(frozen=True)
class Coordinate:
    """One generalised coordinate beyond the root: its name, role and starting value."""

    name: str
    role: Role
    home: float
    type: str  # "revolute", "prismatic" or "rotor"
    speed: float = 0.0  # initial rate [rad/s]; only wheels start with one


@dataclass(frozen=True)
class Spring:
    """Stiffness, damping and friction on a coordinate, or between it and another (`other`).

    The generalised force on `coordinate` is -k (q - q_other - rest) - d (dq - dq_other)
    - friction tanh((dq - dq_other) / friction_speed), and the opposite on `other`. A coordinate by
    itself also has -armature ddq of the rotor that turns with it. `owner` is the part whose
    parameters these are. The springs of joints come first, in the order of their coordinates. The
    uncertainties are relative, None where nobody states them.
    """

    owner: str
    coordinate: str
    stiffness: float
    damping: float
    rest: float = 0.0
    friction: float = 0.0
    friction_speed: float = 1e-3
    other: str | None = None
    stiffness_uncertainty: float | None = None
    damping_uncertainty: float | None = None
    armature: float = 0.0


@dataclass(frozen=True)
class Rotor:
    """An axisymmetric spinner: kinetic energy J (a.w + N dq)^2 / 2 on its carrier body.

    `is_included` says that the carrier's own inertia already holds J a a^T (wheels).
    """

    owner: str
    body: str
    axis: Vector
    inertia: float
    ratio: float
    is_included: bool
    coordinate: str


@dataclass(frozen=True)
class Assembly:
    """Bodies with the root first and parents before children; joints[i] carries bodies[i + 1]."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    coordinates: tuple[Coordinate, ...]
    springs: tuple[Spring, ...]
    rotors: tuple[Rotor, ...]

    def index(self, coordinate: str) -> int:
        """The position of a coordinate in the order used everywhere."""
        for i, known in enumerate(self.coordinates):
            if known.name == coordinate:
                return i
        names = [known.name for known in self.coordinates]
        remedy = did_you_mean(coordinate, names, otherwise="name a coordinate of the model")
        expected = f"one of {listing(names)}"
        fault = Fault("coordinate", repr(coordinate), expected, remedy, "name.unknown")
        raise ModelError(f"there is no coordinate called {coordinate!r}", [fault])


def assemble(model: Model, *, is_sound: bool = False) -> Assembly:
    """Spell out a model; raises ModelError listing every fault if it does not hold together.

    is_sound: known already, which saves most of the time.
    """
    faults = [] if is_sound else structure_faults(model)
    if faults:
        raise ModelError(f"the model {model.name!r} does not hold together", faults)
    bodies = {body.name: body for body in model.bodies}
    joints = list(model.joints)
    for target in model.targets:
        bodies[target.name] = target.body
        joints.append(Joint(target.name, "fixed", target.on, target.name, target.placement))
    for tank in model.tanks:
        for body, joint in _pendulum(tank):
            bodies[body.name] = body
            joints.append(joint)
    ordered = _tree_order(model.root.body, joints)
    moving = [joint for joint in ordered if joint.type != "fixed"]
    rotors, motors = _rotors(model)
    coordinates = [Coordinate(j.name, _link_role(j), j.home, j.type) for j in moving] + motors
    return Assembly(
        bodies=(bodies[model.root.body], *(bodies[joint.child] for joint in ordered)),
        joints=tuple(ordered),
        coordinates=tuple(coordinates),
        springs=tuple(_springs(moving, model)),
        rotors=tuple(rotors),
    )


def _link_role(joint: Joint) -> Role:
    return "passive" if joint.drive is not None else joint.role


def _pendulum(tank: Tank) -> list[tuple[Body, Joint]]:
    """The massless link and the point mass of a slosh pendulum, with their two joints."""
    # Both joints sit at the pivot with body axes: the point mass is at `direction` * length.
    direction = np.array(tank.direction) / np.linalg.norm(tank.direction)
    x, y, z = (tank.length * direction).tolist()
    names = [f"{tank.name}_{i}" for i in (1, 2)]
    bodies = [Body(f"{tank.name}_link"), Body(tank.name, tank.mass, (x, y, z))]
    parents = [tank.body, bodies[0].name]
    places = [Placement(tank.pivot), Placement()]
    return [
        (
            bodies[i],
            Joint(
                names[i],
                "revolute",
                parents[i],
                bodies[i].name,
                places[i],
                tank.axes[i],
                role="passive",
                stiffness=tank.stiffness[i],
                damping=tank.damping[i],
                stiffness_uncertainty=tank.stiffness_uncertainty,
                damping_uncertainty=tank.damping_uncertainty,
            ),
        )
        for i in (0, 1)
    ]


def _tree_order(root: str, joints: list[Joint]) -> list[Joint]:
    """Joints sorted so that every parent comes before its children, file order kept otherwise."""
    carried = defaultdict(list)
    for place, joint in enumerate(joints):
        carried[joint.parent].append(place)
    ready, ordered = list(carried[root]), []
    while ready:
        first = joints[heappop(ready)]
        ordered.append(first)
        for place in carried[first.child]:
            heappush(ready, place)
    return ordered


def _rotors(model: Model) -> tuple[list[Rotor], list[Coordinate]]:
    rotors, coordinates = [], []
    for wheel in model.wheels:
        rotors.append(
            Rotor(wheel.name, wheel.body, wheel.axis, wheel.inertia, 1.0, True, wheel.name)
        )
        coordinates.append(Coordinate(wheel.name, wheel.role, 0.0, "rotor", wheel.speed))
    for joint in model.joints:
        if joint.drive is None:
            continue
        axis = joint.placement.rotation @ np.array(joint.axis)
        ratio = joint.drive.ratio if joint.drive.form == "geared" else 1.0
        motor = f"{joint.name}.motor"
        rotors.append(
            Rotor(
                joint.name,
                joint.parent,
                tuple(axis.tolist()),  # type: ignore[arg-type]
                joint.drive.inertia,
                ratio,
                False,
                motor,
            )
        )
        coordinates.append(Coordinate(motor, joint.drive.role, joint.home, "rotor"))
    return rotors, coordinates


def _springs(moving: list[Joint], model: Model) -> list[Spring]:
    """One spring per joint coordinate, plus one between motor and link for every drive."""
    springs = [
        Spring(
            joint.name,
            joint.name,
            joint.stiffness,
            joint.damping,
            joint.rest,
            joint.friction,
            joint.friction_speed,
            stiffness_uncertainty=joint.stiffness_uncertainty,
            damping_uncertainty=joint.damping_uncertainty,
            armature=joint.armature,
        )
        for joint in moving
    ]
    for joint in model.joints:
        if joint.drive is not None:
            drive = joint.drive
            springs.append(
                Spring(
                    f"{joint.name}.drive",
                    joint.name,
                    drive.stiffness,
                    drive.damping,
                    friction=drive.friction,
                    friction_speed=joint.friction_speed,
                    other=f"{joint.name}.motor",
                    stiffness_uncertainty=drive.stiffness_uncertainty,
                    damping_uncertainty=drive.damping_uncertainty,
                )
            )
    return springs


def rigid(model: Model) -> Model:
    """The model with every passive joint locked, tanks frozen and drives stiff.

    What a rigid-body identification believes: the fuel becomes part of the body that carries it.
    """
    joints = tuple(
        replace(joint, role="motion" if joint.drive else "locked", drive=None)
        if joint.role == "passive" or joint.drive
        else joint
        for joint in model.joints
    )
    frozen = [(tank, _frozen_fuel(tank)) for tank in model.tanks]
    fuel = tuple(body for _, body in frozen)
    held = tuple(
        Joint(f"{tank.name}_fixed", "fixed", tank.body, body.name, Placement(tank.pivot))
        for tank, body in frozen
    )
    return replace(model, bodies=model.bodies + fuel, joints=joints + held, tanks=())


def _frozen_fuel(tank: Tank) -> Body:
    direction = np.array(tank.direction) / np.linalg.norm(tank.direction)
    x, y, z = (tank.length * direction).tolist()
    return Body(tank.name, tank.mass, (x, y, z))


def joint_frame(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of the internal joint frame, whose z axis is the joint axis."""
    return joint.placement.rotation @ frame_with_z(joint.axis), joint.placement.position
