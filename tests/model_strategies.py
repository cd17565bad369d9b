"""Hypothesis strategies: models with everything a file can say, awkward numbers and names."""

from __future__ import annotations

from itertools import count

import numpy as np
from hypothesis import strategies as st

from freefloat.model import (
    Body,
    Capsule,
    Coloured,
    Drive,
    Frame,
    Joint,
    JointLimits,
    Limits,
    Model,
    Orbit,
    Placement,
    Root,
    Sensor,
    Tank,
    Target,
    Thruster,
    Wheel,
)

numbers = st.floats(-1e6, 1e6)  # minus zero and subnormal numbers included
positive = st.floats(1e-9, 1e6)
not_negative = st.floats(0.0, 1e6)
vectors = st.tuples(numbers, numbers, numbers)
placements = st.builds(Placement, vectors, vectors)
letters = st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters=".[]*?")
labels = st.text(letters, min_size=1, max_size=8)
prose = st.text(st.characters(codec="utf-8"), max_size=40)


@st.composite
def units(draw) -> tuple[float, float, float]:
    vector = np.array(draw(st.tuples(*[st.floats(-1, 1)] * 3)))
    length = np.linalg.norm(vector)
    vector = vector / length if length > 1e-3 else np.array([0.0, 0.0, -1.0])
    return tuple(vector.tolist())


def optional(strategy):
    return st.none() | strategy


extras = st.sampled_from(
    [
        (),
        ("<visual/>",),
        ('<visual name="a&amp;b">\n  <geometry/>\r\n</visual>',),
        ('version="1.0"', '<gazebo><x>it\'s "so"</x></gazebo>', "<a:b/>"),
    ]
)


@st.composite
def bodies(draw, name: str) -> Body:
    """A massless body, a point mass, a rod or a body of three dimensions, turned anyhow."""
    if draw(st.booleans()) and draw(st.booleans()):
        return Body(name, extras=draw(extras))
    spread = np.array(draw(st.tuples(*[st.sampled_from([0.0, 1.0]) | positive] * 3)))
    principal = np.diag(spread.sum() - spread)
    axes = Placement(rpy=draw(vectors)).rotation
    if draw(st.booleans()):
        axes = np.eye(3)
    turned = axes @ principal @ axes.T
    six = [turned[i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    return Body(name, draw(positive), draw(vectors), tuple(map(float, six)), draw(extras))


@st.composite
def joint_limits(draw) -> JointLimits:
    low, high = draw(optional(numbers)), draw(optional(numbers))
    if low is not None and high is not None and low > high:
        low, high = high, low
    return JointLimits(low, high, *(draw(optional(not_negative)) for _ in range(4)))


@st.composite
def joints(draw, name: str, parent: str, child: str) -> Joint:
    kind = draw(st.sampled_from(["revolute", "prismatic", "fixed"]))
    drive = None
    if kind != "fixed" and draw(st.booleans()):
        drive = Drive(
            *(draw(positive), draw(positive), draw(not_negative), draw(not_negative)),
            draw(positive),
            draw(st.sampled_from(["disc", "geared"])),
            draw(st.sampled_from(["motion", "torque", "passive", "locked"])),
        )
    role = st.sampled_from(["motion", "torque", "passive", "locked"])
    return Joint(
        *(name, kind, parent, child, draw(placements), draw(units())),
        role="passive" if drive else draw(role),
        home=draw(numbers),
        stiffness=draw(not_negative),
        damping=draw(not_negative),
        rest=draw(numbers),
        friction=draw(not_negative),
        friction_speed=draw(positive),
        drive=drive,
        limits=draw(joint_limits()),
        extras=draw(extras),
    )


@st.composite
def plain_models(draw) -> Model:
    """Bodies and joints only, with all that a URDF can say and nothing more."""
    serial = count()
    names = [draw(labels) + f"_{next(serial)}" for _ in range(draw(st.integers(1, 4)))]
    parts = [Body(names[0], draw(positive), draw(vectors), (1.0, 0.0, -0.0, 1.0, 0.0, 1.0))]
    parts += [draw(bodies(name)) for name in names[1:]]
    links = []
    for i, child in enumerate(names[1:]):
        joint = draw(joints(f"j_{child}", draw(st.sampled_from(names[: i + 1])), child))
        plain = {"limits": joint.limits, "extras": joint.extras}
        plain |= {"damping": joint.damping, "friction": joint.friction}
        links.append(Joint(*_head(joint), **plain))
    name = draw(st.text(letters, min_size=1, max_size=20))
    kept = draw(extras)
    return Model(name, Root(names[0]), tuple(parts), tuple(links), extras=kept)


def _head(joint: Joint) -> tuple:
    return joint.name, joint.type, joint.parent, joint.child, joint.placement, joint.axis


@st.composite
def models(draw) -> Model:
    """Everything a model file can say."""
    base = draw(plain_models())
    names = [body.name for body in base.bodies]
    on = st.sampled_from(names)
    kind = draw(st.sampled_from(["floating", "planar", "fixed"]))
    links = [draw(joints(j.name, j.parent, j.child)) for j in base.joints]
    heavy = Body(names[0], 1e3, draw(vectors), (1e9, 0.0, 0.0, 1e9, 0.0, 1e9))
    pair = st.tuples(not_negative, not_negative)
    tanks = [
        Tank("fuel", draw(on), draw(positive), draw(positive), draw(vectors), stiffness=draw(pair))
    ]
    wheels = [
        Wheel("rw", names[0], draw(units()), draw(st.floats(1e-9, 1.0)), "torque", draw(numbers))
    ]
    jets = [Thruster("jet", draw(on), draw(units()), draw(vectors), draw(optional(positive)))]
    targets = [Target(draw(bodies("debris")), draw(on), draw(placements))]
    frames = [Frame("hand", draw(on), draw(placements))]
    sensors = [
        Sensor("gyro", names[0], draw(positive), draw(optional(st.just("imu"))), draw(positive)),
        Sensor("wheel_speed", "r*", draw(positive), bias=(draw(numbers),), dropout=0.5),
        Sensor("attitude", "hand", 1.0, bias=draw(vectors), coloured=Coloured(0.1, draw(positive))),
    ]
    some = st.booleans()
    return Model(
        name=draw(st.text(letters, min_size=1, max_size=20)),
        root=Root(names[0], kind, draw(not_negative), draw(not_negative)),
        bodies=(heavy, *base.bodies[1:]),
        joints=tuple(links),
        tanks=tuple(tanks) if draw(some) else (),
        wheels=tuple(wheels),
        thrusters=tuple(jets) if draw(some) else (),
        targets=tuple(targets) if draw(some) else (),
        frames=tuple(frames),
        sensors=tuple(sensors),
        capsules=(Capsule(names[0], draw(vectors), draw(vectors), draw(positive)),),
        orbit=Orbit(draw(positive)) if kind == "floating" and draw(some) else None,
        gravity=draw(vectors),
        limits=Limits(draw(optional(positive)), None, draw(optional(positive))),
        description=draw(prose),
        extras=draw(extras),
    )
