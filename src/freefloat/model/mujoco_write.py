"""A Model written back into the MJCF it was read from: new inertials, all else as it was.

The source is edited, not rendered anew, so that meshes, defaults, comments and whatever MuJoCo
knows and freefloat does not stay word for word. Where bodies come from included files or are made
by the compiler, MuJoCo writes the file itself and comments are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.errors import Fault, ModelError
from freefloat.model import inertia as inertial
from freefloat.model.checks import structure_faults
from freefloat.model.model import Model
from freefloat.model.mujoco_ import MJCF_FILE, Names, compile_mjcf, mujoco_of, read_mjcf
from freefloat.model.parts import Body, Joint
from freefloat.model.rotations import quaternion_from_matrix
from freefloat.model.urdf_xml import Element, parse_xml
from freefloat.records.bounded_read import decode, read_bytes

# what a joint of ours is called in MJCF, where identification may change it
JOINT_NUMBERS = {
    "stiffness": "stiffness", "damping": "damping", "rest": "springref", "friction": "frictionloss",
    "armature": "armature",
}  # fmt: skip
_TAG_END = re.compile(rb"""(?:[^"'>]|"[^"]*"|'[^']*')*?(/?>)""")


def write_mjcf(model: Model, like: str | Path) -> str:
    """The text of the MJCF `like` with the bodies and springs of `model`; MuJoCo has compiled it.

    Raises ModelError for a model that does not hold together, for one with other bodies than the
    file, and for one that MuJoCo refuses.
    """
    like = Path(like)
    before = read_mjcf(like)
    faults = [*structure_faults(model), *_strange_parts(model, before, like.name)]
    if faults:
        raise ModelError(f"the model {model.name!r} cannot be written", faults)
    names = Names.of(compile_mjcf(like))
    data = decode(read_bytes(like, MJCF_FILE), like.name, MJCF_FILE).encode()
    source = _Source(data, like.name)
    text = source.edit(model, before, names) if source.holds(names) else None
    text = _render(model, before, names, like) if text is None else text
    _require_same(text, model, like)
    return text


def _strange_parts(model: Model, before: Model, file: str) -> Iterator[Fault]:
    known = {body.name for body in before.bodies}
    own = {body.name for body in (*model.bodies, *(target.body for target in model.targets))}
    for name in sorted(own ^ known):
        value = "not in the model" if name in known else f"not in {file}"
        remedy = "release what is grasped, or save the model as .toml"
        yield Fault(f"body {name!r}", value, f"the bodies of {file}", remedy, "mjcf.bodies")


def _inertial(body: Body) -> str:
    xx, xy, xz, yy, yz, zz = body.inertia
    place, moments = _numbers(*body.com), _numbers(xx, yy, zz, xy, xz, yz)
    return f'<inertial pos="{place}" mass="{body.mass!r}" fullinertia="{moments}"/>'


def _numbers(*values: float) -> str:
    return " ".join(repr(float(value)) for value in values)


def _is_changed(new: Body, old: Body) -> bool:
    return (new.mass, new.com, new.inertia) != (old.mass, old.com, old.inertia)


def _joint_changes(new: Joint, old: Joint) -> dict[str, str]:
    return {
        word: repr(float(getattr(new, field)))
        for field, word in JOINT_NUMBERS.items()
        if getattr(new, field) != getattr(old, field)
    }


class _Source:
    """The text of an MJCF file, with the elements of its bodies in the compiler's order."""

    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.root = parse_xml(data, file)
        worlds = [child for child in self.root.children if child.tag == "worldbody"]
        self.bodies = [e for world in worlds for e in _descendants(world)]
        self.edits: list[tuple[int, int, str]] = []

    def holds(self, names: Names) -> bool:
        """Whether every body of the compiled model is an element of this very file, in order."""
        listed = [element.attributes.get("name") for element in self.bodies]
        made = [names.bodies[k + 1] for k in range(len(names.bodies) - 1)]
        pairs = zip(listed, made, strict=False)
        return len(listed) == len(made) and all(
            name is None or name in (new, *(o for o, n in names.changed.items() if n == new))
            for name, new in pairs
        )

    def edit(self, model: Model, before: Model, names: Names) -> str | None:
        """The text with what is new; None where the compiler changes masses itself."""
        if any("settotalmass" in c.attributes for c in self.root.children):
            return None
        compilers = [child for child in self.root.children if child.tag == "compiler"]
        forced = [c for c in compilers if c.attributes.get("inertiafromgeom") == "true"]
        for compiler in forced:  # it would put what is written here aside
            self._set(compiler, {"inertiafromgeom": "auto"})
        joint = 0
        own = {body.name for body in before.bodies}
        for element, name in zip(self.bodies, names.bodies[1:], strict=True):
            is_used = name in own
            if is_used and (forced or _is_changed(model.body(name), before.body(name))):
                self._put_inertial(element, model.body(name))
            for child in element.children:
                if child.tag in ("joint", "freejoint"):
                    key, joint = names.joints[joint], joint + 1
                    if is_used and key in {j.name for j in before.joints}:
                        changes = _joint_changes(model.joint(key), before.joint(key))
                        self._set(child, changes)
        text = self.data
        for start, end, new in sorted(self.edits, reverse=True):
            text = text[:start] + new.encode() + text[end:]
        return text.decode()

    def _put_inertial(self, element: Element, body: Body) -> None:
        for child in element.children:
            if child.tag == "inertial":
                end = child.start + len(child.source(self.data).encode())
                self.edits.append((child.start, end, _inertial(body)))
                return
        found = _TAG_END.match(self.data, element.start)
        assert found is not None  # the parser has accepted it
        start = found.start(1)
        if found[1] == b"/>":
            self.edits.append((start, found.end(), f">{_inertial(body)}</body>"))
        else:
            self.edits.append((found.end(), found.end(), _inertial(body)))

    def _set(self, element: Element, values: dict[str, str]) -> None:
        found = _TAG_END.match(self.data, element.start)
        assert found is not None  # likewise
        tag = found[0].decode()
        for name, value in values.items():
            there = re.compile(rf"""(\s{name}\s*=\s*)("[^"]*"|'[^']*')""")
            if there.search(tag):
                tag = there.sub(rf'\g<1>"{value}"', tag)
            else:
                end = -2 if tag.endswith("/>") else -1
                tag = f'{tag[:end]} {name}="{value}"{tag[end:]}'
        if values:
            self.edits.append((element.start, found.end(), tag))


def _descendants(element: Element) -> Iterator[Element]:
    """Every <body> below, those of frames included, depth first as MuJoCo numbers them."""
    for child in element.children:
        if child.tag == "body":
            yield child
        if child.tag in ("body", "frame"):
            yield from _descendants(child)


def _render(model: Model, before: Model, names: Names, like: Path) -> str:
    """The file as MuJoCo writes it, with the new bodies and springs in it."""
    with mujoco_of(like.name) as mujoco:
        spec = mujoco.MjSpec.from_file(str(like))
        spec.compile()
        _change(spec, model, before, names)
        spec.compile()
        return spec.to_xml()


def _change(spec: Any, model: Model, before: Model, names: Names) -> None:
    """Put the new bodies and springs into MuJoCo's own description of the file."""
    own = {body.name for body in before.bodies}
    # all of them: the total that a compiler is told to scale masses to would change them again
    spec.compiler.settotalmass = -1.0
    spec.compiler.inertiafromgeom = 2
    for body in spec.bodies[1:]:
        name = names.bodies[body.id]
        if name in own:
            new = model.body(name)
            moments, axes = np.linalg.eigh(inertial.tensor(new.inertia))
            axes[:, 0] *= np.linalg.det(axes)  # a rotation, not a reflection
            x, y, z, w = quaternion_from_matrix(axes)
            body.explicitinertial = True
            body.mass, body.ipos = new.mass, new.com
            body.inertia, body.iquat = moments, [w, x, y, z]
    known = {joint.name for joint in before.joints}
    for joint in spec.joints:
        name = names.joints[joint.id]
        if name in known:
            for word, value in _joint_changes(model.joint(name), before.joint(name)).items():
                old = getattr(joint, word)
                # damping and stiffness are polynomials since MuJoCo 3.5, the linear term first
                new = [float(value), *old[1:]] if np.ndim(old) else float(value)
                setattr(joint, word, new)


def _require_same(text: str, model: Model, like: Path) -> None:
    """Raise ModelError unless MuJoCo compiles the text to the masses of the model."""
    with mujoco_of(like.name) as mujoco:
        spec = mujoco.MjSpec.from_string(text)
        spec.modelfiledir = str(like.parent.absolute())
        compiled = spec.compile()
    names = Names.of(compiled)
    for body in model.bodies:
        if body.name in names.bodies[1:]:
            mass = compiled.body_mass[names.bodies.index(body.name)]
            # MuJoCo writes six digits where it writes the file itself
            if abs(mass - body.mass) > 1e-5 * abs(body.mass):
                value, remedy = f"{mass:g} kg once compiled", "delete settings that change masses"
                fault = Fault(f"body {body.name!r}", value, f"{body.mass:g} kg", remedy,
                              "mjcf.compile")  # fmt: skip
                raise ModelError(f"the model {model.name!r} cannot be written", [fault])
