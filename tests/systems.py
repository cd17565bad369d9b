"""Systems the code was not written for: random trees, and spacecraft of realistic proportions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from freefloat.dynamics import Start, System, flatten, mass_matrix
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, Placement, Root, Tank, Vector, Wheel


def direction(rng: np.random.Generator) -> Vector:
    """A random unit vector."""
    v = rng.normal(size=3)
    return tuple((v / np.linalg.norm(v)).tolist())


def vector(rng: np.random.Generator, low: float, high: float) -> Vector:
    return tuple(rng.uniform(low, high, 3).tolist())


def random_body(rng: np.random.Generator, name: str, *, scale: float = 1.0) -> Body:
    """A physical body: a few point masses thrown at random."""
    points, masses = rng.normal(size=(6, 3)) * 0.4 * scale, rng.uniform(0.2, 2.0, 6) * scale
    m = masses.sum()
    c = masses @ points / m
    d = points - c
    tensor = sum(w * (r @ r * np.eye(3) - np.outer(r, r)) for w, r in zip(masses, d, strict=True))
    six = tuple(float(tensor[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    return Body(name, float(m), tuple(c.tolist()), six)


# ---- Random trees: nothing about them is convenient ----------------------------------------------


def random_model(
    seed: int,
    *,
    n_joints: int | None = None,
    root: str = "floating",
    roles: tuple[str, ...] = ("torque",),
    prismatic: float = 0.3,
    massless: bool = True,
    springs: bool = False,
) -> Model:
    """A random branched tree with rotated placements, prismatic joints and a massless link."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9)) if n_joints is None else n_joints
    bodies = [random_body(rng, "bus", scale=3.0)]
    joints: list[Joint] = []
    for i in range(1, n + 1):
        parent = bodies[int(rng.integers(max(0, i - 3), i))].name
        role = roles[i % len(roles)]
        bodies.append(random_body(rng, f"link_{i}"))
        joints.append(_random_joint(rng, i, parent, role, root == "planar", prismatic))
    if springs:
        joints = [
            replace(
                joint,
                stiffness=float(rng.uniform(0.5, 5.0)),
                damping=float(rng.uniform(0.1, 0.5)),
                rest=float(rng.uniform(-0.3, 0.3)),
                friction=float(rng.uniform(0.05, 0.2)),
                friction_speed=0.3,
            )
            for joint in joints
        ]
    if massless and n >= 3 and root != "planar":
        # an inner link without mass is legal as long as something heavy hangs on it by a
        # joint that does not leave it a free motion of its own
        parents = [joint.parent for joint in joints]
        inner = [k for k in range(1, n) if parents.count(f"link_{k}") > 0]
        if inner:
            bodies[inner[0]] = Body(bodies[inner[0]].name)
    return Model(f"random_{seed}", Root("bus", root), tuple(bodies), tuple(joints))


def _random_joint(
    rng: np.random.Generator, i: int, parent: str, role: str, is_planar: bool, prismatic: float
) -> Joint:
    axis = (0.0, 0.0, 1.0) if is_planar else direction(rng)
    rpy = (0.0, 0.0, float(rng.uniform(-3.0, 3.0))) if is_planar else vector(rng, -1.4, 1.4)
    x, y, z = (rng.normal(size=3) * 0.5).tolist()
    kind = "prismatic" if rng.random() < prismatic and not is_planar else "revolute"
    place = Placement((x, y, 0.0 if is_planar else z), rpy)
    return Joint(f"joint_{i}", kind, parent, f"link_{i}", place, axis, role=role)


def has_massless_link(model: Model) -> bool:
    return any(body.mass == 0.0 for body in model.assembly.bodies)


def with_armature(model: Model, seed: int) -> Model:
    """The model with rotors behind stiff gears, about as heavy to turn as the links."""
    rng = np.random.default_rng([seed, 5])
    return replace(
        model,
        joints=tuple(
            j if j.drive else replace(j, armature=float(rng.uniform(0.05, 0.5)))
            for j in model.joints
        ),
    )


def random_states(system: System, seed: int, n: int, *, speed: float = 1.0) -> np.ndarray:
    """State vectors in every position and attitude the root allows, rates of order `speed`."""
    rng, c = np.random.default_rng(seed), system.n_coordinates
    q = rng.normal(size=(n, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    parts = [rng.normal(size=(n, 3)), q, speed * rng.normal(size=(n, 6))]
    states = np.hstack([*parts, rng.uniform(-2.0, 2.0, (n, c)), speed * rng.normal(size=(n, c))])
    if system.model.root.type == "planar":
        turn = rng.uniform(-3.0, 3.0, n)
        states[:, [2, 3, 4, 9, 10, 11]] = 0.0
        states[:, 5], states[:, 6] = np.sin(turn / 2.0), np.cos(turn / 2.0)
    if system.model.root.type == "fixed":
        states[:, :13] = 0.0
        states[:, 6] = 1.0
    return states


# ---- Spacecraft: kilograms, metres and hertz as they fly; undamped -------------------------------


def spacecraft(kind: str, seed: int, *, fastest: float = 2.0) -> Model:
    """A "rigid", "flexible" or "slosh" spacecraft, its highest mode at most `fastest` [Hz]."""
    model = {"rigid": _rigid, "flexible": _flexible, "slosh": _sloshing}[kind](seed)
    if kind == "rigid":
        return model
    return tuned(model, highest=fastest * np.random.default_rng([seed, 5]).uniform(0.25, 1.0))


def _bus(rng: np.random.Generator) -> Body:
    """A box of 200 to 1000 kg, its frame away from its centre of mass."""
    mass = float(rng.uniform(200.0, 1000.0))
    x, y, z = rng.uniform(1.0, 2.0, 3)
    inertia = mass / 12.0 * np.array([y * y + z * z, 0, 0, x * x + z * z, 0, x * x + y * y])
    return Body("bus", mass, vector(rng, -0.3, 0.3), tuple(inertia.tolist()))


def _chain(
    rng: np.random.Generator,
    name: str,
    *,
    n_links: int,
    mass: tuple[float, float],
    width: float,
    **joint: object,
) -> tuple[list[Body], list[Joint]]:
    """Plates of the given width, each 0.5 to 1.5 m long and hinged to the one before."""
    parent, place = "bus", vector(rng, -0.8, 0.8)
    bodies, joints = [], []
    for k in range(n_links):
        m, length = float(rng.uniform(*mass)), float(rng.uniform(0.5, 1.5))
        xx, yy = m * width**2 / 12.0, m * length**2 / 12.0
        bodies.append(
            Body(f"{name}_{k}", m, (length / 2, 0.0, 0.0), (xx, 0.0, 0.0, yy, 0.0, xx + yy))
        )
        turn = Placement(place, vector(rng, -1.5, 1.5) if k == 0 else (0.0, 0.0, 0.0))
        joints.append(Joint(f"{name}_{k}_hinge", "revolute", parent, f"{name}_{k}", turn, **joint))
        parent, place = f"{name}_{k}", (length, 0.0, 0.0)
    return bodies, joints


def _rigid(seed: int) -> Model:
    """Two arms of rigid links on loose joints."""
    rng = np.random.default_rng([seed, 1])
    bodies, joints = [_bus(rng)], []
    for arm in ("left", "right"):
        n_links = int(rng.integers(1, 4))
        links, hinges = _chain(
            rng, arm, n_links=n_links, mass=(5.0, 30.0), width=0.3, role="torque"
        )
        bodies += links
        joints += [replace(hinge, axis=direction(rng)) for hinge in hinges]
    return Model(f"rigid_{seed}", Root("bus"), tuple(bodies), tuple(joints))


def _flexible(seed: int) -> Model:
    """Two wings of one or two panels on springs."""
    rng = np.random.default_rng([seed, 2])
    bodies, joints = [_bus(rng)], []
    for wing in ("left", "right"):
        n_links = int(rng.integers(1, 3))
        links, hinges = _chain(
            rng, wing, n_links=n_links, mass=(10.0, 40.0), width=1.0, role="passive",
            axis=(0.0, 1.0, 0.0), stiffness=100.0,
        )  # fmt: skip
        bodies += links
        joints += hinges
    return Model(f"flexible_{seed}", Root("bus"), tuple(bodies), tuple(joints))


def _sloshing(seed: int) -> Model:
    """One or two tanks, and a wing on a spring."""
    rng = np.random.default_rng([seed, 3])
    panel, hinge = _chain(
        rng, "wing", n_links=1, mass=(10.0, 40.0), width=1.0, role="passive", axis=(0.0, 1.0, 0.0),
        stiffness=100.0,
    )  # fmt: skip
    tanks = tuple(
        Tank(
            f"tank_{k}",
            "bus",
            float(rng.uniform(20.0, 120.0)),
            float(rng.uniform(0.15, 0.5)),
            vector(rng, -0.5, 0.5),
            stiffness=tuple(rng.uniform(5.0, 30.0, 2).tolist()),
        )
        for k in range(int(rng.integers(1, 3)))
    )
    return Model(f"slosh_{seed}", Root("bus"), (_bus(rng), *panel), tuple(hinge), tanks=tanks)


def servicer(seed: int) -> Model:
    """Everything at once: an arm driven by motion and torque, a wing, a tank and two wheels.

    Damped, or minutes of swinging bring some mode to resonance and the fuel to 90 degrees, where
    the axis of its first joint passes through it and it has no inertia left.
    """
    rng = np.random.default_rng([seed, 6])
    arm, joints = _chain(rng, "arm", n_links=4, mass=(5.0, 20.0), width=0.3)
    joints = [replace(j, axis=direction(rng)) for j in joints]
    roles = ("motion", "torque") * 2
    joints = [replace(j, role=role, damping=1.0) for j, role in zip(joints, roles, strict=True)]
    fuel = _sloshing(seed)
    wheels = (
        Wheel("rw_x", "bus", (1.0, 0.0, 0.0), 0.05, role="torque", speed=20.0),
        Wheel("rw_y", "bus", (0.0, 1.0, 0.0), 0.05, role="motion"),
    )
    model = Model(
        f"servicer_{seed}",
        Root("bus"),
        (*fuel.bodies, *arm),
        (*fuel.joints, *joints),
        tanks=fuel.tanks[:1],
        wheels=wheels,
    )
    return damped(tuned(model, highest=1.0))


def frequencies(system: System) -> np.ndarray:
    """Free-floating modes [Hz] of the springs at rest, rigid ones left out."""
    q = np.array([c.home for c in system.model.assembly.coordinates])
    H, free = mass_matrix(system, q), system.tree.free
    K = np.zeros_like(H)
    for (a, _), (k, *_) in zip(system.tree.spring_ends, system.parameters.spring, strict=True):
        K[(free == 6 + a), (free == 6 + a)] += k
    squares = eigh(K, H, eigvals_only=True)
    return np.sqrt(squares[squares > 1e-6 * squares.max()]) / (2.0 * np.pi)


def tuned(model: Model, *, highest: float) -> Model:
    """The model with all its springs scaled so that its highest mode is `highest` [Hz]."""
    scale = float((highest / frequencies(flatten(model)).max()) ** 2)
    joints = tuple(replace(j, stiffness=j.stiffness * scale) for j in model.joints)
    tanks = tuple(replace(t, stiffness=tuple(k * scale for k in t.stiffness)) for t in model.tanks)
    return replace(model, joints=joints, tanks=tanks)


def damped(model: Model, *, ratio: float = 0.02) -> Model:
    """The model with a damper beside each spring, about `ratio` of critical at 0.5 Hz."""
    share = 2.0 * ratio / (2.0 * np.pi * 0.5)
    joints = tuple(replace(j, damping=j.damping + j.stiffness * share) for j in model.joints)
    tanks = tuple(replace(t, damping=tuple(k * share for k in t.stiffness)) for t in model.tanks)
    return replace(model, joints=joints, tanks=tanks)


def tumbling(system: System, seed: int) -> Start:
    """A tumble of 0.05 to 0.3 rad/s with everything that can swing swinging."""
    rng = np.random.default_rng([seed, 4])
    rate = rng.uniform(0.05, 0.3) * np.array(direction(rng))
    loose = [c for c in system.model.assembly.coordinates if c.role in ("torque", "passive")]
    return Start(
        velocity=vector(rng, -0.1, 0.1),
        rate=tuple(rate.tolist()),
        coordinates={c.name: c.home + float(rng.uniform(-0.1, 0.1)) for c in loose},
        speeds={c.name: float(rng.uniform(-0.1, 0.1)) for c in loose},
    )
