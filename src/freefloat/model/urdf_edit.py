"""A Model written back into the URDF it was read from: new numbers, all else as it was.

The source is edited, not rendered anew, so that comments, meshes, transmissions, the order of
everything and numbers that did not change stay word for word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.errors import Fault, ModelError
from freefloat.model.checks import structure_faults
from freefloat.model.parts import Joint
from freefloat.model.urdf import draft_urdf
from freefloat.model.urdf_write import OMITTED, inertial_lines, joint_lines, omissions
from freefloat.model.urdf_xml import URDF_FILE, Element, parse_xml
from freefloat.records.bounded_read import decode, read_bytes

if TYPE_CHECKING:
    from freefloat.model.model import Model

DYNAMICS = ("damping", "friction")  # of a joint: in an element of their own


def edit_urdf(model: Model, like: str | Path) -> str:
    """The text of the URDF `like` with the bodies and joints of `model`.

    Raises ModelError for a model that does not hold together, for one with other bodies or joints
    than the file, and where something has changed that a URDF cannot say.
    """
    like = Path(like)
    data = decode(read_bytes(like, URDF_FILE), like.name, URDF_FILE).encode()
    before, reading = draft_urdf(data, like.name)
    if reading.faults:
        raise ModelError(f"{like.name}: cannot be read", reading.faults)
    faults = [*structure_faults(model), *_other_parts(model, before, like.name)]
    if faults:
        raise ModelError(f"the model {model.name!r} cannot be written", faults)
    # as it was read, where names were replaced: these are the names that the model has
    robot = parse_xml(reading.data, like.name)
    text = _Text(reading.data)
    elements = {(child.tag, child.attributes.get("name", "")): child for child in robot.children}
    frames = {frame.name for frame in model.frames}
    for body in before.bodies:
        if body.name in frames:
            continue
        new = model.body(body.name)
        if (new.mass, new.com, new.inertia) != (body.mass, body.com, body.inertia):
            text.put(elements["link", body.name], "inertial", inertial_lines(new))
    known = {joint.name for joint in model.joints}
    for joint in before.joints:
        if joint.name not in known:  # it carries a frame or a target
            continue
        new_joint = model.joint(joint.name)
        if _of_urdf(new_joint) == _of_urdf(joint):
            continue
        element = elements["joint", joint.name]
        if _of_urdf(replace(new_joint, **{n: getattr(joint, n) for n in DYNAMICS})) == _of_urdf(
            joint
        ):
            found = [line for line in joint_lines(new_joint) if line.strip().startswith("<dynam")]
            text.put(element, "dynamics", found)
        else:
            text.replace(element, joint_lines(new_joint))
    return text.result((robot.end, _remark(model, before, reading.data)))


def _of_urdf(joint: Joint) -> Joint:
    """What of a joint a URDF says."""
    plain = Joint(joint.name, joint.type, joint.parent, joint.child)
    kept = ("placement", "axis", "damping", "friction", "limits", "extras")
    return replace(plain, **{name: getattr(joint, name) for name in kept})


def _other_parts(model: Model, before: Model, file: str) -> Iterator[Fault]:
    """Bodies and joints that only one of both has; frames and targets are links in a file."""
    targets = {target.name for target in model.targets}
    frames = {frame.name for frame in model.frames} - targets
    held = {joint.name for joint in before.joints if joint.child in frames | targets}
    names = {
        "body": ({body.name for body in model.bodies} | targets,
                 {body.name for body in before.bodies} - frames),
        "joint": ({joint.name for joint in model.joints},
                  {joint.name for joint in before.joints} - held),
    }  # fmt: skip
    for kind, (ours, theirs) in names.items():
        for name in sorted(theirs ^ ours):
            value = "not in the model" if name in theirs else f"not in {file}"
            remedy = "write the URDF anew, without `like`"
            yield Fault(f"{kind} {name!r}", value, f"the parts of {file}", remedy, "urdf.parts")


def _remark(model: Model, before: Model, data: bytes) -> str:
    """A comment at the end that names what the model has and the file cannot say."""
    missing = [text for text in omissions(model) if text not in set(omissions(before))]
    if not missing or OMITTED.encode() in data:  # said already, where a model was written as URDF
        return ""
    text = "; ".join(missing).replace("--", "- -").replace("--", "- -")
    return f"  <!-- {OMITTED} {text}. -->\n"


class _Text:
    """The bytes of a URDF and what takes the place of some of them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.edits: list[tuple[int, int, str]] = []

    def put(self, parent: Element, tag: str, lines: Sequence[str]) -> None:
        """Replace the child called `tag` of an element, or add one; no lines delete it."""
        for child in parent.children:
            if child.tag == tag:
                self.replace(child, lines)
                return
        opening = parent.source(self.data).encode()
        if opening.endswith(b"/>") and not parent.children:
            end = parent.start + len(opening)
            inside = "".join(f"\n{line}" for line in lines)
            self.edits.append((end - 2, end, f">{inside}\n  </{parent.tag}>"))
        else:
            self.edits.append((parent.end, parent.end, "\n".join(["", *lines, "  "]).lstrip(" ")))

    def replace(self, element: Element, lines: Sequence[str]) -> None:
        """Put lines in the place of an element, with its own indentation."""
        end = element.start + len(element.source(self.data).encode())
        before = self.data[self.data.rfind(b"\n", 0, element.start) + 1 : element.start]
        own = before.decode() if not before.strip() else ""
        first = lines[0] if lines else ""
        shift = len(first) - len(first.lstrip())
        self.edits.append((element.start, end, f"\n{own}".join(li[shift:] for li in lines)))

    def result(self, last: tuple[int, str]) -> str:
        """The text with everything replaced, and a remark at a place."""
        text = self.data
        at, remark = last
        for start, end, new in sorted([*self.edits, (at, at, remark)], reverse=True):
            text = text[:start] + new.encode() + text[end:]
        return text.decode()
