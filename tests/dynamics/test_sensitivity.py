"""Every derivative beside central differences of a model changed by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from motions import Array, inputs_of, integrate, on_the_swing, random_swing
from systems import (
    damped,
    direction,
    random_model,
    random_states,
    spacecraft,
    with_armature,
)

from freefloat.dynamics import System, flatten, observe
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.named_parameters import parameter_names
from freefloat.dynamics.sensitivity import integrate_with_sensitivity
from freefloat.dynamics.tree import ParameterArrays, with_friction
from freefloat.errors import ModelError
from freefloat.model import load_model
from freefloat.model.inertia import NAMES, com_from_phi
from freefloat.model.model import Model
from freefloat.model.parts import Body, Drive, Orbit, Thruster, Wheel
from freefloat.model.rotations import (
    conjugate,
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_vector_from_quaternion,
)

STEP, N_STEPS, EVERY = 0.01, 200, 50
SPRING = ("stiffness", "damping", "rest", "friction", "armature")


# ---- A model with one named number changed -------------------------------------------------------


def changed_model(model: Model, name: str, delta: float) -> Model:
    """The model with the parameter `name` larger by delta, by model parts alone."""
    owner, _, field = name.rpartition(".")
    tanks = {tank.name: tank for tank in model.tanks}
    wheels = {wheel.name: wheel for wheel in model.wheels}
    if owner in tanks:
        tank = replace(tanks[owner], **{field: getattr(tanks[owner], field) + delta})
        return replace(model, tanks=tuple(tank if t.name == owner else t for t in model.tanks))
    if owner in wheels:
        wheel = replace(wheels[owner], inertia=wheels[owner].inertia + delta)
        return replace(model, wheels=tuple(wheel if w.name == owner else w for w in model.wheels))
    if field in NAMES:
        phi = model.body(owner).phi
        phi[NAMES.index(field)] += delta
        mass, com, inertia = com_from_phi(phi)
        return model.with_body(Body(owner, mass, tuple(com.tolist()), tuple(inertia.tolist())))
    joint, _, is_drive = owner.partition(".")
    if is_drive and field == "rest":
        raise ModelError("a Model has no rest angle for the spring of a drive")
    if is_drive:
        drive = model.joint(joint).drive
        drive = replace(drive, **{field: getattr(drive, field) + delta})
        return model.with_joint(joint, drive=drive)
    if joint[:-2] in tanks and field in ("stiffness", "damping"):
        tank, axis = tanks[joint[:-2]], int(joint[-1]) - 1
        pair = list(getattr(tank, field))
        pair[axis] += delta
        tank = replace(tank, **{field: tuple(pair)})
        return replace(model, tanks=tuple(tank if t.name == tank.name else t for t in model.tanks))
    value = getattr(model.joint(joint), field)
    return model.with_joint(joint, **{field: value + delta})


def changed_arrays(system: System, name: str, delta: float) -> System:
    """The same in the arrays, for values no Model admits (a plate that lost inertia, ...)."""
    owner, _, field = name.rpartition(".")
    system = with_friction(system)  # or friction is not looked at where there is none
    numbers = ParameterArrays(*(array.copy() for array in system.parameters))
    if field in NAMES:
        column = system.phi_map[owner][:, NAMES.index(field)]
        numbers.phi[system.body_link[owner]] += delta * column
    else:
        owners = [spring.owner for spring in system.model.assembly.springs]
        numbers.spring[owners.index(owner), SPRING.index(field)] += delta
    return System(**{**vars(system), "parameters": numbers})


def changed(system: System, name: str, delta: float) -> System:
    try:
        return flatten(changed_model(system.model, name, delta))
    except ModelError:
        return changed_arrays(system, name, delta)


def changed_start(system: System, start: Array, name: str, delta: float) -> Array:
    """The start with `start.<what>.<which>` larger by delta."""
    x, n = start.copy(), system.n_coordinates
    _, what, which = name.split(".", 2)
    if what in ("position", "velocity", "rate"):
        x[{"position": 0, "velocity": 7, "rate": 10}[what] + "xyz".index(which)] += delta
    elif what == "attitude":
        turn = quaternion_from_rotation_vector(delta * np.eye(3)["xyz".index(which)])
        x[3:7] = quaternion_product(x[3:7], turn)
    else:
        coordinate, _, field = name.removeprefix("start.").rpartition(".")
        place = 13 + system.coordinates.index(coordinate)
        x[place + (n if field == "velocity" else 0)] += delta
    return x


def difference_step(system: System, name: str) -> float:
    """About a thousandth of the parameter; Richardson's second step halves it."""
    owner, _, field = name.rpartition(".")
    if name.startswith(("start.position", "start.velocity")):
        return 1.0  # nothing but drag and the orbit's gradient feels them, linearly
    if name.startswith("start."):
        return 1e-3
    part = [p for p in (*system.model.tanks, *system.model.wheels) if p.name == owner]
    if part:
        return 1e-3 * getattr(part[0], field)
    if field in NAMES and owner in system.body_link:
        phi = system.phi_map[owner] @ system.model.body(owner).phi
        size = phi[0] if field == "mass" else 0.5 * phi[0] if field[0] == "m" else phi[4:].max()
        return 1e-3 * size
    if field in SPRING:
        owners = [spring.owner for spring in system.model.assembly.springs]
        value = system.parameters.spring[owners.index(owner), SPRING.index(field)]
        return 1e-3 * max(abs(value), {"stiffness": 10.0, "rest": 1.0}.get(field, 0.1))
    return 1e-3 * system.model.joint(owner.removesuffix(".drive")).drive.inertia


# ---- The two derivatives -------------------------------------------------------------------------


def trajectory(system: System, start: Array, inputs: Callable[[Array], Inputs]) -> Array:
    """Rows: everything a Sensitivity differentiates, attitude left as a quaternion (first 4)."""
    times, states = integrate(
        system, start, seconds=STEP * N_STEPS, step=STEP, every=EVERY, inputs=inputs
    )
    motion = observe(system, states, inputs=inputs(np.repeat(times[:, None], 3, 1)), times=times)
    n, free = system.n_coordinates, system.tree.free[system.tree.free >= 6] - 6
    accelerations = motion.accelerations.copy()
    accelerations[:, 6 + system.tree.given] = 0.0  # they do not depend on anything
    columns = [states[:, 3:7], states[:, :3], states[:, 7:13], states[:, 13 + free]]
    return np.hstack([*columns, states[:, 13 + n + free], accelerations, motion.forces])


def central(ahead: Array, behind: Array, step: float) -> Array:
    turn = quaternion_product(conjugate(behind[:, :4]), ahead[:, :4])
    rest = (ahead - behind)[:, 4:]
    return np.hstack([rotation_vector_from_quaternion(turn), rest]) / (2.0 * step)


def by_differences(system: System, start: Array, inputs, name: str) -> Array:
    """Central differences of two steps, extrapolated: the error goes with the fourth power."""
    step, slopes = difference_step(system, name), []
    for size in (step, step / 2.0):
        ends = []
        for delta in (size, -size):
            if name.startswith("start."):
                ends.append((system, changed_start(system, start, name, delta)))
            else:
                ends.append((changed(system, name, delta), start))
        slopes.append(central(*(trajectory(s, x, inputs) for s, x in ends), size))
    return (4.0 * slopes[1] - slopes[0]) / 3.0


def errors(system: System, start: Array, inputs, names: list[str]) -> dict[str, float]:
    """Per parameter the worst block error, relative to the block's largest entry."""
    stages = (np.arange(N_STEPS)[:, None] + np.array([0.0, 0.5, 1.0])) * STEP
    found = integrate_with_sensitivity(
        system, start, names, inputs=inputs(stages), step=STEP, n_steps=N_STEPS, every=EVERY
    )
    n, f = system.n_coordinates, len(found.free)
    T = found.tangents
    analytic = np.concatenate([T[:, 3:6], T[:, :3], T[:, 6:], found.efforts], axis=1)
    sizes = (3, 3, 3, 3, f, f, 3, 3, n, n)  # attitude, position, velocity, rate, q, dq, efforts
    edges = np.cumsum((0, *sizes))
    worst = {}
    for p, name in enumerate(names):
        numeric = by_differences(system, start, inputs, name)
        blocks = [(numeric[:, a:b], analytic[:, a:b, p]) for a, b in pairwise(edges)]
        # What moves by less than 1e-8 over the step, or a million times less than the rest of
        # the column, drowns in the rounding of the differences.
        least = max(1e-8 / difference_step(system, name), 1e-6 * np.abs(numeric).max())
        worst[name] = max(
            np.abs(x - y).max() / max(np.abs(x).max(), least) for x, y in blocks if x.size
        )
    return worst


# ---- What is differentiated ----------------------------------------------------------------------


def shaken(system: System, seed: int, *, limit: float | None = None) -> Callable[[Array], Inputs]:
    """Swinging joints, pulsing thrusters and a wrench on the bus.

    With a limit [N m], a loop is closed around the torque joints, whose torque is clipped there.
    """
    rng = np.random.default_rng([seed, 8])
    swing = random_swing(system, seed, fastest=3.0)
    width = len(system.tree.thruster_link) + 6
    size, pace = rng.uniform(0.5, 2.0, width), rng.uniform(0.5, 3.0, width)
    if system.model.root.type == "planar":
        size[[-6, -5, -1]] = 0.0

    def inputs(time: Array) -> Inputs:
        table = inputs_of(system, swing, time)
        table.push[:] = size * (1.0 + 0.5 * np.sin(np.multiply.outer(time, pace)))
        if limit is not None:
            driven = [c.role == "torque" for c in system.model.assembly.coordinates]
            table.gains[driven] = 8.0, 3.0, limit
            table.effort[..., 1] = 0.2 * np.sin(time)[..., None]
            table.effort[..., 2] = 0.2 * np.cos(time)[..., None]
        return table

    return inputs


ROLES = ("torque", "passive", "motion")


def tree(seed: int, **parts) -> Model:
    model = random_model(seed, n_joints=4, roles=ROLES, massless=False, springs=True)
    return replace(model, **parts)


def with_wheels() -> Model:
    wheels = (
        Wheel("rw", "bus", (0.0, 0.0, 1.0), 0.2, role="torque", speed=30.0),
        Wheel("rw_2", "link_1", (0.0, 1.0, 0.0), 0.02, role="motion"),
    )
    return tree(1, wheels=wheels)


def with_thrusters() -> Model:
    rng = np.random.default_rng(9)
    thrusters = tuple(
        Thruster(f"t{i}", body, direction(rng), (0.1, -0.3, 0.2))
        for i, body in enumerate(("bus", "link_1", "link_4"))
    )
    model = tree(2, thrusters=thrusters)
    return replace(model, root=replace(model.root, linear_drag=0.5, angular_drag=0.3))


def with_drive(form: str) -> Model:
    model = tree(4, orbit=Orbit(radius=4e5))  # n = 0.08 rad/s: the gradient is felt
    drive = Drive(0.02, 20.0, 0.2, friction=0.1, ratio=5.0, form=form, role="torque")
    joint = next(j for j in model.joints if j.type == "revolute")
    return model.with_joint(joint.name, role="passive", drive=drive)


MODELS = {
    "wings": lambda: damped(spacecraft("flexible", 2)),
    "slosh": lambda: damped(spacecraft("slosh", 2)),
    "wheels": with_wheels,
    "thrusters, drag": with_thrusters,
    "gravity, armature": lambda: with_armature(tree(3, gravity=(0.3, -0.2, 0.4)), 3),
    "orbit, gravity": lambda: tree(5, orbit=Orbit(radius=4e5), gravity=(0.1, 0.2, -0.1)),
    "geared drive, orbit": lambda: with_drive("geared"),
    "disc drive, orbit": lambda: with_drive("disc"),
    "planar": lambda: load_model("cbk-arm-geared").with_joint("arm_2", role="torque"),
    "fixed": lambda: with_armature(
        random_model(6, n_joints=4, root="fixed", roles=ROLES, massless=False, springs=True), 6
    ),
}


def named(system: System) -> list[str]:
    """All names, less the root motions a planar or fixed root does not have."""
    out = {"planar": ("position.z", "attitude.x", "attitude.y", "velocity.z", "rate.x", "rate.y")}
    gone = [f"start.{name}" for name in out.get(system.model.root.type, ())]
    names = [name for name in parameter_names(system) if name not in gone]
    if system.model.root.type == "fixed":
        root = ("start.position", "start.attitude", "start.velocity", "start.rate")
        names = [name for name in names if not name.startswith(root)]
    return names


def start_of(system: System, seed: int) -> Array:
    states = random_states(system, seed, 1, speed=0.3)[0]
    n = system.n_coordinates
    states[13 : 13 + n] *= 0.2
    return on_the_swing(system, random_swing(system, seed, fastest=3.0), states)


@pytest.mark.promise("P7")
@pytest.mark.parametrize("kind", MODELS)
def test_every_sensitivity_is_a_central_difference(kind, figure):
    model = MODELS[kind]()
    system, seed = flatten(model), 11
    names = named(system)
    found = errors(system, start_of(system, seed), shaken(system, seed), names)
    worst = max(found, key=found.get)
    figure("P7", f"{kind}: {found[worst]:.1e} relative ({worst}), {len(names)} parameters")
    assert np.all(np.isfinite(list(found.values())))
    assert found[worst] <= 1e-6


def errors_under_feedback(limit: float) -> dict[str, float]:
    system, seed = flatten(tree(7)), 12
    names = ["bus.mass", "bus.ixx", "link_1.mass", "joint_3.stiffness", "start.rate.x"]
    names += ["start.joint_3.position", "start.joint_3.velocity"]  # the joint under feedback
    return errors(system, start_of(system, seed), shaken(system, seed, limit=limit), names)


@pytest.mark.promise("P7")
def test_sensitivities_under_feedback(figure):
    """A control loop acts like stiffness and damping."""
    worst = max(errors_under_feedback(np.inf).values())
    figure("P7", f"under feedback: {worst:.1e} relative")
    assert worst <= 1e-6


def test_sensitivities_at_the_torque_limit():
    """The loop asks for 0.18 to 0.37 N m; at a limit of 0.1 N m it acts like nothing at all."""
    assert max(errors_under_feedback(0.1).values()) <= 1e-6
