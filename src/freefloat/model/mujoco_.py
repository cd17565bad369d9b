"""MJCF, read by MuJoCo's own compiler: defaults, includes and inertias from geoms are its work.

A body with several joints becomes a chain of massless links, each with one joint; a joint whose
anchor is not the origin of its body stays where it is. The numbers are those of the compiled model.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, ModelError, shorten
from freefloat.model import inertia as inertial
from freefloat.model.checks import LONGEST_NAME, structure_faults
from freefloat.model.model import Model
from freefloat.model.parts import Body, Joint, JointLimits, Placement, Role, Root, Six, Vector
from freefloat.model.rotations import matrix_from_quaternion, matrix_from_rotation_vector
from freefloat.model.rotations import rpy_from_matrix as rpy
from freefloat.notes import Note
from freefloat.records.bounded_read import FileKind, read_bytes
from freefloat.text import count_noun, listing

# format: 16 MB; meshes and pictures are files of their own
MJCF_FILE = FileKind("model", ModelError, ".xml", 16 * 2**20, "check that this is an MJCF file")
WORLD = 0  # format: MuJoCo's first body
JOINT, JOINT_IN_PARENT, AT_SITE, AT_BODY = 0, 1, 4, 5  # format: what an actuator moves
JOINT_EQUALITY = 2  # format: the equality constraint of one joint, or of two
FREE, BALL, SLIDE = 0, 1, 2  # format: MuJoCo's kinds of joints; a hinge is the fourth


def read_mjcf(path: str | Path, *, strict: bool = False) -> Model:
    """The model of an MJCF file, as MuJoCo compiles it (freefloat[engines]).

    One body with a free joint is a floating root; otherwise the root is the fixed world. Where
    there are actuators, joints without one are passive. `notes` say what of the file is not used:
    equality constraints, tendons, contact; `strict` refuses what would change the motion.
    """
    path = Path(path)
    read_bytes(path, MJCF_FILE)
    compiled = compile_mjcf(path)
    names = Names.of(compiled)
    tops = _robot_tops(compiled)
    balls = [names.joints[j] for j in range(compiled.njnt) if compiled.jnt_type[j] == BALL]
    if balls or not tops:
        raise _unreadable(path.name, balls)
    model = _Reader(compiled, names).read(path, tops)
    unused = list(_unmodelled_parts(compiled))
    if strict and unused:
        remedy = "delete it, or read the file without strict"
        faults = [Fault(path.name, what, "what a tree of bodies and joints can say", remedy,
                        "mjcf.unused") for what in unused]  # fmt: skip
        raise ModelError(f"{path.name}: not all of it can be used", faults)
    if faults := structure_faults(model):
        placed = [Fault(f"{path.name}: {f.place}", f.value, f.expected, f.remedy, f.code)
                  for f in faults]  # fmt: skip
        raise ModelError(f"{path.name}: {count_noun(len(faults), 'fault')} found", placed)
    return model


def is_mjcf(path: Path) -> bool:
    """Whether an .xml file is MJCF, by its first element."""
    head = read_bytes(path, MJCF_FILE)[:100_000]
    return b"<mujoco" in head


@contextmanager
def mujoco_of(file: str) -> Iterator[Any]:
    """MuJoCo, about to do something with a file; what it raises becomes a ModelError.

    It would write warnings to a file of its own in the folder that one happens to be in; they are
    about MJCF itself, such as what is deprecated, and no loss.
    """
    try:
        mujoco: Any = import_module("mujoco")
    except ImportError:
        expected, remedy = "MuJoCo, which compiles them", "pip install 'freefloat[engines]'"
        fault = Fault(file, "an MJCF file", expected, remedy, "file.package")
        raise ModelError(f"{file}: cannot be compiled", [fault]) from None
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield mujoco
    except (ValueError, mujoco.FatalError) as error:
        value = shorten(" ".join(str(error).split()), 300)
        fault = Fault(file, value, "MJCF that MuJoCo compiles", "correct it", "mjcf.compile")
        raise ModelError(f"{file}: MuJoCo refuses it", [fault]) from None
    finally:
        mujoco.set_mju_user_warning(handler)


def compile_mjcf(path: Path) -> Any:
    """MuJoCo's compiled model of a file; ModelError with its message, or where it is missing."""
    with mujoco_of(path.name) as mujoco:
        compiled = mujoco.MjModel.from_xml_path(str(path))
        compiled.names.decode()  # MuJoCo takes any bytes for a name; what is no text is refused
        return compiled


def _unreadable(file: str, balls: list[str]) -> ModelError:
    if balls:
        expected, remedy = "hinges and slides", "use three hinges in place of each ball"
        fault = Fault(file, f"ball joints {listing(balls, most=8)}", expected, remedy, "mjcf.ball")
    else:
        fault = Fault(file, "no joint", "a body that can move", "add joints", "model.massless")
    return ModelError(f"{file}: not a robot that can be used", [fault])


@dataclass(frozen=True)
class Names:
    """What bodies and joints are called here: as in the file, where that can be a name of ours."""

    bodies: list[str]
    joints: list[str]
    changed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, compiled: Any) -> Names:
        """The names of a compiled model; a part without one is called after its number."""
        from freefloat.model.urdf_substitutes import NOT_IN_NAMES

        changed: dict[str, str] = {}

        def name_all(number: int, kind: str) -> list[str]:
            given = [getattr(compiled, kind)(i).name for i in range(number)]
            found: list[str] = []
            for i, old in enumerate(given):
                new = NOT_IN_NAMES.sub(b"_", old.encode()).decode() or f"{kind}_{i}"
                while new in found or (new != old and new in given):
                    new += "_"
                if old and new != old:
                    changed[old] = new
                found.append(new)
            return found

        return cls(name_all(compiled.nbody, "body"), name_all(compiled.njnt, "jnt"), changed)


def _robot_tops(m: Any) -> list[int]:
    """The bodies on the world that the robot begins with: one that is free, or all that are not.

    Where there are both, or several that are free, the one with the most joints is the robot.
    """
    tops = [i for i in range(1, m.nbody) if m.body_parentid[i] == WORLD]
    dofs = dict.fromkeys(tops, 0)
    for i in range(1, m.nbody):
        dofs[_top(m, i)] += int(m.body_dofnum[i])
    free = [i for i in tops if _is_free(m, i)]
    held = [i for i in tops if i not in free and dofs[i]]
    if not free:
        return held
    largest = max(free, key=lambda i: dofs[i])
    return held if sum(dofs[i] for i in held) > dofs[largest] else [largest]


def _top(m: Any, i: int) -> int:
    while m.body_parentid[i] != WORLD:
        i = int(m.body_parentid[i])
    return i


def _is_free(m: Any, i: int) -> bool:
    return bool(m.body_jntnum[i]) and m.jnt_type[m.body_jntadr[i]] == FREE


class _Reader:
    """Bodies and joints of a compiled model, one body after the other."""

    def __init__(self, compiled: Any, names: Names) -> None:
        self.m, self.names = compiled, names
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.driven = set(_driven_joints(compiled))
        self.held = set(_held_joints(compiled))

    def read(self, path: Path, tops: list[int]) -> Model:
        m = self.m
        is_floating = _is_free(m, tops[0])
        root = self.names.bodies[tops[0]] if is_floating else self.names.bodies[WORLD]
        if not is_floating:
            self.bodies.append(Body(root))
        used = [i for i in range(1, m.nbody) if _top(m, i) in tops]
        for i in used:
            self._add(i)
        x, y, z = m.opt.gravity.tolist()
        name = bytes(m.names).partition(b"\0")[0].decode(errors="replace").strip()
        name = path.stem if not name or name == "MuJoCo Model" else name[:LONGEST_NAME]
        return Model(
            name=name,
            root=Root(root, "floating" if is_floating else "fixed"),
            bodies=tuple(self.bodies),
            joints=tuple(self.joints),
            gravity=(x, y, z),
            notes=tuple(self._notes(used)),
        )

    def _add(self, i: int) -> None:
        m, name = self.m, self.names.bodies[i]
        joints = range(m.body_jntadr[i], m.body_jntadr[i] + m.body_jntnum[i])
        if not _is_free(m, i):
            R, p = _rotation(m.body_quat[i]), np.array(m.body_pos[i])
            parent = self.names.bodies[m.body_parentid[i]]
            for j in joints:
                anchor = np.array(m.jnt_pos[j]) * (m.jnt_type[j] != SLIDE)
                is_last = j == joints[-1] and not np.any(anchor)
                child = name if is_last else f"{name}_{self.names.joints[j]}"
                self.joints.append(self._joint(j, parent, child, (R, p + R @ anchor)))
                if not is_last:
                    self.bodies.append(Body(child))
                parent, R, p = child, np.eye(3), -anchor
            if parent != name:  # without joints, or away from the anchor of the last
                self.joints.append(Joint(_fixed_name(name, self.names), "fixed", parent, name,
                                         _placement(R, p)))  # fmt: skip
        R = _rotation(m.body_iquat[i])
        mass = float(m.body_mass[i])
        tensor = R @ np.diag(m.body_inertia[i]) @ R.T if mass else np.zeros((3, 3))
        self.bodies.append(Body(name, mass, _vector(m.body_ipos[i] * bool(mass)), _six(tensor)))

    def _joint(self, j: int, parent: str, child: str, pose: tuple[Array, Array]) -> Joint:
        m, (R, p) = self.m, pose
        dof, at = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
        axis, ref = np.array(m.jnt_axis[j]), float(m.qpos0[at])
        slides = m.jnt_type[j] == SLIDE
        if slides:  # a file may call the place it was drawn in something else than zero
            p = p - R @ axis * ref
        else:
            R = R @ matrix_from_rotation_vector(-ref * axis)
        low, high = m.jnt_range[j].tolist() if m.jnt_limited[j] else (None, None)
        effort = float(np.abs(m.jnt_actfrcrange[j]).max()) if m.jnt_actfrclimited[j] else None
        role: Role = "motion" if not self.driven or j in self.driven else "passive"
        role = "locked" if j in self.held else role
        return Joint(
            self.names.joints[j],
            "prismatic" if slides else "revolute",
            parent,
            child,
            _placement(R, p),
            _vector(axis),
            role=role,
            home=ref,
            stiffness=float(np.ravel(m.jnt_stiffness[j])[0]),
            damping=float(np.ravel(m.dof_damping[dof])[0]),
            rest=float(m.qpos_spring[at]) if np.any(m.jnt_stiffness[j]) else 0.0,
            friction=float(m.dof_frictionloss[dof]),
            armature=float(m.dof_armature[dof]),
            limits=JointLimits(low, high, effort=effort),
        )

    def _notes(self, used: list[int]) -> Iterator[Note]:
        m = self.m
        if self.names.changed:
            each = (f"{old!r} is {new!r}" for old, new in self.names.changed.items())
            text = f"names that could not be used, {len(self.names.changed)} in all"
            yield Note("substituted.part_name", f"{text}: {listing(each, most=4)}")
        for what in _unmodelled_parts(m):
            yield Note("substituted.not_modelled", f"not used: {what}")
        beside = [self.names.bodies[i] for i in range(1, m.nbody) if i not in used]
        if beside:
            yield Note("mjcf.beside", f"beside the robot, not used: {listing(beside, most=8)}")
        if np.any(m.geom_contype) or np.any(m.geom_conaffinity):
            yield Note("mjcf.contact", "contact is not used")
        if np.any(m.opt.gravity):
            yield Note("mjcf.gravity", f"gravity {m.opt.gravity.tolist()} m/s^2, as the file says")
        passive = [joint.name for joint in self.joints if joint.role == "passive"]
        if passive:
            yield Note("mjcf.passive", f"no actuator, so passive: {listing(passive, most=8)}")


def _unmodelled_parts(m: Any) -> Iterator[str]:
    """What of a compiled model moves it and has no words in a Model."""
    constraints = m.neq - len(list(_held_joints(m)))
    counts = {"equality constraint": constraints, "tendon": m.ntendon, "plugin": m.nplugin,
              "flexible body": m.nflex}  # fmt: skip
    yield from (count_noun(n, what) for what, n in counts.items() if n)
    compensated = int(np.count_nonzero(m.body_gravcomp))
    if compensated:
        yield f"gravity compensation of {count_noun(compensated, 'body', 'bodies')}"
    if m.opt.density or m.opt.viscosity or np.any(m.opt.wind):
        yield "a medium that the robot moves in"
    polynomials = [getattr(m, name) for name in ("jnt_stiffnesspoly", "dof_dampingpoly")
                   if hasattr(m, name)]  # fmt: skip
    if any(np.any(table) for table in polynomials):
        yield "springs or dampers that are not linear"
    free = [j for j in range(m.njnt) if m.jnt_type[j] == FREE]
    if any(np.any(m.dof_damping[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 6]) for j in free):
        yield "damping of a free joint"
    if any(np.any(m.dof_armature[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 6]) for j in free):
        yield "armature of a free joint"


def _held_joints(m: Any) -> Iterator[int]:
    """The joints that an equality constraint of their own holds where they are drawn."""
    for e in range(m.neq):
        is_alone = m.eq_type[e] == JOINT_EQUALITY and m.eq_obj2id[e] < 0
        if is_alone and m.eq_active0[e] and not m.eq_data[e, 0]:
            yield int(m.eq_obj1id[e])


def _driven_joints(m: Any) -> Iterator[int]:
    """The joints that an actuator moves, by itself or by a tendon; a site is where a force acts."""
    for a in range(m.nu):
        if m.actuator_trntype[a] in (JOINT, JOINT_IN_PARENT):
            yield int(m.actuator_trnid[a, 0])
        elif m.actuator_trntype[a] not in (AT_SITE, AT_BODY):
            # which joints it moves depends on where they are: none of them is passive
            yield from range(m.njnt)


def _fixed_name(body: str, names: Names) -> str:
    name = f"{body}_fixed"
    while name in names.joints:
        name += "_"
    return name


def _rotation(quaternion: Any) -> Array:
    """R of MuJoCo's quaternion, whose scalar comes first."""
    w, x, y, z = np.asarray(quaternion, dtype=float)
    return matrix_from_quaternion([x, y, z, w])


def _placement(R: Array, p: Array) -> Placement:
    return Placement(_vector(p), _vector(rpy(R)))


def _vector(numbers: Any) -> Vector:
    x, y, z = np.asarray(numbers, dtype=float).tolist()
    return x, y, z


def _six(tensor: Array) -> Six:
    xx, xy, xz, yy, yz, zz = inertial.six(tensor).tolist()
    return xx, xy, xz, yy, yz, zz
