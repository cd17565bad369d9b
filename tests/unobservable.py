"""Cases in which given parameters cannot be found, by construction, each with its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from systems import direction, random_body, random_model

from freefloat.dynamics.state import Start
from freefloat.excitation import Fourier, Plan, Wave
from freefloat.model import Body, Joint, Model, Placement, Root, Sensor, Wheel
from freefloat.parameters.parameters import Parameters

TEN = ("mass", "mx", "my", "mz", "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
DURATION = 2.0  # [s]
NOISE = {"gyro": 1e-6, "attitude": 1e-6, "position": 1e-6, "velocity": 1e-6,
         "accelerometer": 1e-6, "joint_torque": 1e-5}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model, a plan, what is asked for, and what of it nobody can know."""

    model: Model
    plan: Plan
    parameters: Parameters
    hidden: tuple[str, ...]
    has_scale: bool = True


def cases(n: int) -> Iterator[Case]:
    """n cases, every kind in turn."""
    for k in range(n):
        rng = np.random.default_rng([k, 77])
        yield KINDS[k % len(KINDS)](rng, k)


def suite(rng: np.random.Generator, *kinds: str) -> tuple[Sensor, ...]:
    """Excellent sensors on the bus: some of the kinds, one at least."""
    chosen = [kind for kind in kinds if rng.random() < 0.6] or [kinds[0]]
    return tuple(Sensor(kind, "bus", 10.0, noise=NOISE[kind]) for kind in chosen)  # type: ignore[arg-type]


BASE = ("gyro", "attitude", "position", "velocity", "accelerometer")


def shaken(rng: np.random.Generator, model: Model, **more: object) -> Plan:
    """Every motion-driven joint on a random series, the bus tumbling."""
    motions = {
        joint.name: Fourier(DURATION, *map(tuple, 0.2 * rng.normal(size=(2, 2))), 0.0, 0.0)
        for joint in model.joints
        if joint.role == "motion" and joint.type != "fixed"
    }
    planar = model.root.type == "planar"
    rate = (0.0, 0.0, 0.1) if planar else tuple(0.1 * rng.normal(size=3))
    start = {"start": Start(rate=rate), "motions": motions, **more}
    return Plan(DURATION, **start)  # type: ignore[arg-type]


def pushed(rng: np.random.Generator) -> dict[str, Wave]:
    """A known wrench in all six directions."""
    names = [f"{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz"]
    return {name: Wave(*rng.uniform(0.5, 2.0, 2), phase=float(rng.uniform(0, 6))) for name in names}


def inertials(model: Model) -> list[str]:
    return [f"{body.name}.{field}" for body in model.bodies for field in TEN]


def without_force(rng: np.random.Generator, seed: int) -> Case:
    """No force, no torque measured, everything free: theta itself is the unseen direction."""
    n = int(rng.integers(1, 4))
    model = random_model(seed, n_joints=n, roles=("motion",), massless=False)
    if rng.random() < 0.3:
        wheel = Wheel("rw", "bus", direction(rng), 0.2, speed=50.0)
        model = replace(model, wheels=(wheel,))
    model = replace(model, sensors=suite(rng, *BASE))
    wheels = [f"{wheel.name}.inertia" for wheel in model.wheels]
    parameters = Parameters.of(model).free(*inertials(model), *wheels)
    hidden = tuple(p.name for p in parameters.free_ones if p.value != 0.0)
    return Case(model, shaken(rng, model), parameters, hidden, has_scale=False)


def without_force_flexible(rng: np.random.Generator, seed: int) -> Case:
    """The same with springs, dampers and friction free as well."""
    model = random_model(
        seed, n_joints=2, roles=("motion", "passive"), massless=False, springs=True
    )
    loose = [joint.name for joint in model.joints if joint.role == "passive"]
    model = replace(model, sensors=suite(rng, *BASE))
    globs = [f"{name}.{field}" for name in loose for field in ("stiffness", "damping", "friction")]
    parameters = Parameters.of(model).free(*inertials(model), *globs)
    hidden = tuple(p.name for p in parameters.free_ones if p.value != 0.0)
    return Case(model, shaken(rng, model), parameters, hidden, has_scale=False)


def locked(rng: np.random.Generator, seed: int) -> Case:
    """A locked joint makes one body of two: all twenty parameters trade, whatever pushes."""
    model = random_model(seed, n_joints=int(rng.integers(2, 4)), roles=("motion",), massless=False)
    joint = model.joints[int(rng.integers(len(model.joints)))]
    model = model.with_joint(joint.name, role="locked", home=float(rng.uniform(-1, 1)))
    model = replace(model, sensors=suite(rng, *BASE))
    both = [f"{name}.{field}" for name in (joint.parent, joint.child) for field in TEN]
    plan = shaken(rng, model, wrench=pushed(rng))
    return Case(model, plan, Parameters.of(model).free(*both), tuple(both))


def grasped(rng: np.random.Generator, seed: int) -> Case:
    """A held target is one body with the link that holds it."""
    model = random_model(seed, n_joints=2, roles=("motion",), massless=False)
    place = Placement(tuple(rng.normal(size=3)), tuple(rng.uniform(-1, 1, 3)))
    model = model.grasp(random_body(rng, "target"), on="link_2", placement=place)
    model = replace(model, sensors=suite(rng, *BASE))
    both = [f"{name}.{field}" for name in ("link_2", "target") for field in TEN]
    plan = shaken(rng, model, wrench=pushed(rng))
    return Case(model, plan, Parameters.of(model).free(*both), tuple(both))


def turning_about_z(rng: np.random.Generator, seed: int) -> Case:
    """What turns about its z axis gives mass, first moment along z and ixx + iyy to its carrier."""
    model = random_model(seed, n_joints=2, roles=("motion",), prismatic=0.0, massless=False)
    child = model.joints[0].child
    model = model.with_joint(model.joints[0].name, axis=(0.0, 0.0, 1.0))
    model = replace(model, sensors=suite(rng, *BASE))
    if rng.random() < 0.5:
        torque = Sensor("joint_torque", "joint_*", 10.0, noise=NOISE["joint_torque"])
        model = replace(model, sensors=(*model.sensors, torque))
    both = [f"{name}.{field}" for name in ("bus", child) for field in TEN]
    hidden = [f"{child}.{field}" for field in ("mass", "mz", "ixx", "iyy")] + ["bus.mass"]
    plan = shaken(rng, model, wrench=pushed(rng))
    return Case(model, plan, Parameters.of(model).free(*both), tuple(hidden))


def planar(rng: np.random.Generator, seed: int) -> Case:
    """On a table nothing out of the plane does anything."""
    model = random_model(seed, n_joints=2, root="planar", roles=("motion",))
    model = replace(model, sensors=suite(rng, *BASE))
    hidden = [f"{b.name}.{f}" for b in model.bodies for f in TEN if f in OUT_OF_PLANE]
    wrench = {name: Wave(1.0, 1.5) for name in ("force.x", "force.y", "torque.z")}
    plan = shaken(rng, model, wrench=wrench)
    return Case(model, plan, Parameters.of(model).free(*inertials(model)), tuple(hidden))


OUT_OF_PLANE = ("mz", "ixx", "ixy", "ixz", "iyy", "iyz")


def one_axis(rng: np.random.Generator, seed: int) -> Case:
    """Floating, but made to turn about z only: inertias about x and y never act."""
    bodies = [_flat(rng, name) for name in ("bus", "link_1", "link_2")]
    joints = [
        Joint(f"joint_{i}", "revolute", bodies[i - 1].name, bodies[i].name,
              Placement((*rng.normal(size=2), 0.0)))
        for i in (1, 2)
    ]  # fmt: skip
    model = Model("flat", Root("bus"), tuple(bodies), tuple(joints), sensors=suite(rng, *BASE))
    hidden = [f"{body.name}.{field}" for body in bodies for field in ("ixx", "ixy", "iyy")]
    plan = replace(shaken(rng, model), start=Start(rate=(0.0, 0.0, 0.1)))
    parameters = Parameters.of(model).free("*.ixx", "*.ixy", "*.iyy", "*.izz", "bus.mass")
    return Case(model, plan, parameters, tuple(hidden))


def _flat(rng: np.random.Generator, name: str) -> Body:
    ixx, iyy = rng.uniform(1.5, 2.0, 2)
    x, y = 0.3 * rng.normal(size=2)
    return Body(name, float(rng.uniform(1, 9)), (x, y, 0.0), (ixx, 0.1, 0.0, iyy, 0.0, 2.5))


def at_rest(rng: np.random.Generator, seed: int) -> Case:
    """Nothing moves and nothing pushes: no reading depends on any parameter."""
    model = random_model(seed, n_joints=2, roles=("motion",), massless=False)
    torque = Sensor("joint_torque", "joint_*", 10.0, noise=NOISE["joint_torque"])
    model = replace(model, sensors=(*suite(rng, *BASE), torque))
    asked = inertials(model)
    return Case(model, Plan(DURATION), Parameters.of(model).free(*asked), tuple(asked), False)


def turned_only(rng: np.random.Generator, seed: int) -> Case:
    """A rigid body turned by a torque, watched by how it turns: only the inertia about its CoM."""
    body = random_body(rng, "bus", scale=2.0)
    model = Model("rigid", Root("bus"), (body,), (), sensors=suite(rng, "gyro", "attitude"))
    wrench = {f"torque.{axis}": Wave(1.0, float(rng.uniform(1, 3))) for axis in "xyz"}
    parameters = Parameters.of(model).free("bus.*")
    hidden = tuple(f"bus.{field}" for field in ("mass", "mx", "my", "mz", "ixx", "iyy", "izz"))
    return Case(model, shaken(rng, model, wrench=wrench), parameters, hidden)


def blind(rng: np.random.Generator, seed: int) -> Case:
    """Encoders of joints that follow their motion exactly say nothing of what they carry."""
    model = random_model(seed, n_joints=2, roles=("motion",), massless=False)
    sensor = Sensor("encoder", "joint_*", 10.0, noise=1e-6)
    model = replace(model, sensors=(sensor,))
    plan = shaken(rng, model, wrench=pushed(rng))
    asked = inertials(model)
    return Case(model, plan, Parameters.of(model).free(*asked), tuple(asked), False)


KINDS: tuple[Callable[[np.random.Generator, int], Case], ...] = (
    without_force, locked, turning_about_z, planar, without_force_flexible,
    grasped, one_axis, turned_only, at_rest, blind,
)  # fmt: skip
