"""The tree of bodies as lines to print: fuel and grasped targets included."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from freefloat.model.model import Model
from freefloat.model.parts import Joint

DEEPEST = 12  # format: levels of the tree drawn in full; beyond, lines to the left are left out


@dataclass(frozen=True)
class Branch:
    """A body in the tree: how deep it sits, and the joint that carries it."""

    body: str
    mass: float
    parent: str | None
    joint: str
    type: str
    role: str
    lines: str = ""


def branches(model: Model) -> list[Branch]:
    """Every body, fuel and grasped targets included, parents before children, lines drawn.

    >>> from freefloat.model import load_model
    >>> [branch.lines + branch.body for branch in branches(load_model("cepheus"))]
    ['bus', '└ link_1', '  └ link_2']
    """
    below = _below(model)
    root = model.body(model.root.body)
    drawn: list[Branch] = []
    first = Branch(root.name, root.mass, None, "", model.root.type, "")
    waiting: list[tuple[Branch, str]] = [(first, "")]
    while waiting:  # not by recursion: a chain may have a thousand links
        branch, margin = waiting.pop()
        drawn.append(branch)
        children = below[branch.body]
        for n, child in reversed(list(enumerate(children))):
            is_last = n == len(children) - 1
            lines = margin + ("└ " if is_last else "├ ")
            inner = margin + ("  " if is_last else "│ ")
            waiting.append((_with_lines(child, lines), inner))
    return drawn


def _below(model: Model) -> dict[str, list[Branch]]:
    below: dict[str, list[Branch]] = defaultdict(list)
    for joint in model.joints:
        mass = model.body(joint.child).mass
        role = "" if joint.type == "fixed" else _role(joint)
        below[joint.parent].append(
            Branch(joint.child, mass, joint.parent, joint.name, joint.type, role)
        )
    for target in model.targets:
        below[target.on].append(Branch(target.name, target.body.mass, target.on, "", "grasped", ""))
    for tank in model.tanks:
        joints = f"{tank.name}_1, {tank.name}_2"
        below[tank.body].append(
            Branch(tank.name, tank.mass, tank.body, joints, "pendulum", "passive")
        )
    return below


def _role(joint: Joint) -> str:
    return joint.role if joint.drive is None else f"drive, {joint.drive.role}"


def _with_lines(branch: Branch, lines: str) -> Branch:
    shown = lines if len(lines) <= 2 * DEEPEST else "… " + lines[-2 * DEEPEST + 2 :]
    return replace(branch, lines=shown)
