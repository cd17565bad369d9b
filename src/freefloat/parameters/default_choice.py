"""Which parameters are looked for where nobody says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from freefloat.model.model import Model


def default_globs(model: Model) -> tuple[str, ...]:
    """The parameters that are free by default: those of the bus and of what is grasped.

    >>> from freefloat.model import load_model
    >>> default_globs(load_model("servicer"))
    ('bus.*', 'target.*')
    """
    return tuple(f"{name}.*" for name in (model.bus, *(t.name for t in model.targets)))


def live_globs(model: Model) -> tuple[str, ...]:
    """The same while samples arrive; in the plane without what no motion in it could show.

    >>> from freefloat.model import load_model
    >>> live_globs(load_model("planar-capture"))[:3]
    ('bus.mass', 'bus.m[xy]', 'bus.izz')
    """
    globs = default_globs(model)
    turns = [*(j.placement.rpy[:2] for j in model.joints), *(j.axis[:2] for j in model.joints)]
    turns += [t.placement.rpy[:2] for t in model.targets]
    if model.root.type != "planar" or any(x != 0.0 for turn in turns for x in turn):
        return globs
    bodies = [glob.removesuffix(".*") for glob in globs]
    return tuple(f"{body}.{name}" for body in bodies for name in ("mass", "m[xy]", "izz"))
