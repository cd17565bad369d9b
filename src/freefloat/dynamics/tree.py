"""The Model flattened to arrays: what the kernels read.

A **link** is a moving body with everything fixed to it. Link 0 is the root. Inside, every link
frame is turned so that its joint axis is z, which spares the kernels the general axis. A
**coordinate** is a joint (coordinate c moves link c + 1) or, after all joints, a rotor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.environment import Environment, environment_array, environment_of
from freefloat.dynamics.kernels.mechanism import Index, ParameterArrays, Tree
from freefloat.dynamics.state import StateLayout
from freefloat.errors import ModelError
from freefloat.model import inertia as inertial
from freefloat.model.assembly import Assembly, joint_frame
from freefloat.model.model import Model
from freefloat.model.rotations import frame_with_z

ROOT_FREE = {"floating": (0, 1, 2, 3, 4, 5), "planar": (2, 3, 4), "fixed": ()}
REVOLUTE, PRISMATIC = 1, 2
# the columns of `ParameterArrays.spring`
SPRING_FIELDS = ("stiffness", "damping", "rest", "friction", "armature")
ARMATURE = SPRING_FIELDS.index("armature")


@dataclass(frozen=True)
class System:
    """A model ready to compute with: its arrays and the names that belong to them.

    body_phi: the ten parameters of every body in its own frame, as they are now but for the factor
    in `scales`, which says of bodies by how much all ten are off together, and for the displacement
    [m] of all their mass in `displacements`.
    """

    model: Model
    tree: Tree
    parameters: ParameterArrays
    coordinates: tuple[str, ...]
    body_link: dict[str, int]
    body_pose: dict[str, tuple[Array, Array]]  # R, p of a body frame in its link
    phi_map: dict[str, Array]  # 10x10: phi of the body -> phi of its link
    body_phi: dict[str, Array] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)
    displacements: dict[str, Array] = field(default_factory=dict)

    @property
    def n_links(self) -> int:
        """How many links move, the root included."""
        return len(self.tree.links)

    @property
    def n_coordinates(self) -> int:
        """How many coordinates there are beyond the root."""
        return len(self.coordinates)

    @property
    def layout(self) -> StateLayout:
        """Where the coordinates are in state vectors and tangents."""
        return StateLayout(self.n_coordinates, int(np.count_nonzero(self.tree.free >= 6)))

    @property
    def environment(self) -> Environment:
        """Gravity, its gradient along the orbit, and drag."""
        return environment_of(self.tree.field)

    def body_of(self, name: str) -> str:
        """The body that a named frame is on; a body is on itself."""
        return next((f.body for f in self.model.frames if f.name == name), name)

    def frame_pose(self, name: str) -> tuple[int, Array, Array]:
        """Link, rotation and position [m] of a named frame or body."""
        if name not in self._poses:
            self._poses[name] = self._find_pose(name)
        return self._poses[name]

    @cached_property
    def _poses(self) -> dict[str, tuple[int, Array, Array]]:
        return {}

    def _find_pose(self, name: str) -> tuple[int, Array, Array]:
        for frame in self.model.frames:
            if frame.name == name:
                R, p = self.body_pose[frame.body]
                place = frame.placement
                return self.body_link[frame.body], R @ place.rotation, R @ place.position + p
        if name in self.body_link:
            return (self.body_link[name], *self.body_pose[name])
        known = ", ".join([*self.body_link, *(frame.name for frame in self.model.frames)])
        raise ModelError(
            f"there is no body or frame called {name!r}; known: {known}", code="name.unknown"
        )


def _floats(values: object) -> Array:
    # Writeable on purpose: Numba compiles a kernel anew for read-only arrays.
    return np.ascontiguousarray(values, dtype=np.float64)


def flatten(model: Model) -> System:
    """The arrays of a model.

    >>> from freefloat.model import load_model
    >>> flatten(load_model("cepheus")).coordinates
    ('arm_1', 'arm_2', 'rw_z')
    """
    assembly = model.assembly
    links, poses, geometry = _links(assembly)
    phi_map = {name: inertial.phi_transform(*poses[name]) for name in poses}
    names = tuple(coordinate.name for coordinate in assembly.coordinates)
    rotors = _rotor_arrays(assembly, links, poses)
    tree = Tree(
        **geometry,
        **rotors,
        **_spring_arrays(assembly),
        **_thruster_arrays(model, links, poses),
        field=_floats(environment_array(model)),
        **_roles(model, assembly, geometry["links"], rotors["rotor_link"]),
    )
    system = System(model, tree, _no_parameters(tree), names, links, poses, phi_map)
    return _with_parameters(system, assembly)


def _links(assembly: Assembly) -> tuple[dict[str, int], dict[str, tuple[Array, Array]], dict]:
    """Which link each body belongs to and where its frame sits in it; the joint placements."""
    root = assembly.bodies[0].name
    links = {root: 0}
    poses: dict[str, tuple[Array, Array]] = {root: (np.eye(3), np.zeros(3))}
    parent, kind = [-1], [0]
    R0: list[Array] = [np.eye(3)]
    p0: list[Array] = [np.zeros(3)]
    for joint, body in zip(assembly.joints, assembly.bodies[1:], strict=True):
        R, p = poses[joint.parent]
        if joint.type == "fixed":
            links[body.name] = links[joint.parent]
            place = joint.placement
            poses[body.name] = (R @ place.rotation, R @ place.position + p)
            continue
        R_joint, p_joint = joint_frame(joint)
        parent.append(links[joint.parent])
        kind.append(REVOLUTE if joint.type == "revolute" else PRISMATIC)
        R0.append(R @ R_joint)
        p0.append(R @ p_joint + p)
        links[body.name] = len(parent) - 1
        poses[body.name] = (frame_with_z(joint.axis).T, np.zeros(3))
    geometry = {
        "links": np.column_stack([parent, kind]).astype(np.int64),
        "place": _floats(np.column_stack([np.reshape(R0, (-1, 9)), np.reshape(p0, (-1, 3))])),
    }
    return links, poses, geometry


def _rotor_arrays(assembly: Assembly, links: dict, poses: dict) -> dict:
    rows = [
        [*(poses[rotor.body][0] @ np.array(rotor.axis)), rotor.ratio] for rotor in assembly.rotors
    ]
    return {
        "rotor_link": np.array([links[rotor.body] for rotor in assembly.rotors], dtype=np.int64),
        "rotors": _floats(np.reshape(rows, (-1, 4))),
    }


def _spring_arrays(assembly: Assembly) -> dict:
    ends = [
        [assembly.index(s.coordinate), -1 if s.other is None else assembly.index(s.other)]
        for s in assembly.springs
    ]
    return {
        "spring_ends": np.reshape(np.array(ends, dtype=np.int64), (-1, 2)),
        # zero spares the kernels a tanh where there is no friction
        "friction_speed": _floats([s.friction_speed * (s.friction > 0) for s in assembly.springs]),
    }


def _thruster_arrays(model: Model, links: dict, poses: dict) -> dict:
    wrenches = []
    for thruster in model.thrusters:
        R, p = poses[thruster.body]
        force = R @ np.array(thruster.direction)
        wrenches.append([*np.cross(R @ np.array(thruster.position) + p, force), *force])
    return {
        "thruster_link": np.array([links[t.body] for t in model.thrusters], dtype=np.int64),
        "thrusters": _floats(np.reshape(wrenches, (-1, 6))),
    }


def _roles(model: Model, assembly: Assembly, links: Index, carriers: Index) -> dict:
    moved_by_force = [c.role in ("torque", "passive") for c in assembly.coordinates]
    free = [6 + i for i, is_free in enumerate(moved_by_force) if is_free]
    rows = np.array([*ROOT_FREE[model.root.type], *free], dtype=np.int64)
    return {
        "free": rows,
        "above": _above(rows, links[:, 0], carriers),
        "given": np.array([i for i, f in enumerate(moved_by_force) if not f], dtype=np.int64),
    }


def _above(free: Index, parents: Index, carriers: Index) -> Index:
    """For every free acceleration the place in `free` of the next one inboard, -1 for none."""
    place = {int(g): m for m, g in enumerate(free)}
    n_root = int(np.sum(free < 6))
    above = np.arange(len(free)) - 1
    for m in range(n_root, len(free)):
        link = int(free[m]) - 5
        is_joint = link < len(parents)
        link = int(parents[link] if is_joint else carriers[link - len(parents)])
        while link > 0 and link + 5 not in place:
            link = int(parents[link])
        above[m] = place[link + 5] if link > 0 else n_root - 1
    return above


def _no_parameters(tree: Tree) -> ParameterArrays:
    springs = np.zeros((len(tree.spring_ends), len(SPRING_FIELDS)))
    return ParameterArrays(np.zeros((len(tree.links), 10)), np.zeros(len(tree.rotor_link)), springs)


def _with_parameters(system: System, assembly: Assembly) -> System:
    """The system with the numbers of the assembly's bodies, rotors and springs."""
    phi = np.zeros((system.n_links, 10))
    for body in assembly.bodies:
        phi[system.body_link[body.name]] += system.phi_map[body.name] @ body.phi
    for rotor in assembly.rotors:
        if not rotor.is_included:  # a drive's rotor also turns with its carrier
            share = system.phi_map[rotor.body] @ rotor_phi(rotor.axis)
            phi[system.body_link[rotor.body]] += rotor.inertia * share
    springs = [[getattr(s, field) for field in SPRING_FIELDS] for s in assembly.springs]
    parameters = ParameterArrays(
        _floats(phi),
        _floats([rotor.inertia for rotor in assembly.rotors]),
        _floats(np.reshape(springs, (-1, len(SPRING_FIELDS)))),
    )
    body_phi = {body.name: body.phi for body in assembly.bodies}
    return replace(system, parameters=parameters, body_phi=body_phi)


def without_environment(system: System) -> System:
    """The system where there is neither gravity nor drag."""
    tree = system.tree._replace(field=np.zeros_like(system.tree.field))
    return replace(system, tree=tree)


def with_friction(system: System) -> System:
    """The system with friction looked at everywhere, also where it is zero now."""
    speeds = _floats([spring.friction_speed for spring in system.model.assembly.springs])
    return replace(system, tree=system.tree._replace(friction_speed=speeds))


def rotor_phi(axis: Sequence[float]) -> Array:
    """phi of a massless rotor of unit spin inertia about `axis` (its carrier's share)."""
    a = np.asarray(axis, dtype=float)
    return np.concatenate([np.zeros(4), inertial.six(np.outer(a, a))])
