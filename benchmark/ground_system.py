"""A seven-joint arm on the ground that holds something heavy, flown by MuJoCo with its torques."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import ground_arm
import numpy as np

import freefloat as ff
from freefloat.excitation.motions import Table
from freefloat.excitation.plan import Plan

FREE = ("link_7.*", "*.friction", "*.damping")
DURATION = 20.0  # [s]


def true_arm() -> ff.Model:
    """The arm that MuJoCo flies."""
    with tempfile.TemporaryDirectory() as folder:
        return ground_arm.arm(Path(folder))


def believed_arm(truth: ff.Model, seed: int) -> ff.Model:
    """What is known before: all links but the last, which carries the tool; friction roughly."""
    wrong = ground_arm.wrong(truth, seed)
    joints = (
        replace(joint, friction=rough.friction, damping=rough.damping)
        for joint, rough in zip(truth.joints, wrong.joints, strict=True)
    )
    return replace(truth, joints=tuple(joints)).with_body(wrong.body("link_7"))


def plan_of_arm(truth: ff.Model, seed: int) -> Plan:
    """The motion that the controller is told to follow, for the bound."""
    every = round(1.0 / (ground_arm.RATE * ground_arm.STEP))
    wanted = ground_arm.motion(seed, DURATION, len(truth.joints))[::every, :, 0]
    time = tuple((np.arange(len(wanted)) / ground_arm.RATE).tolist())
    motions = {
        joint.name: Table(time, tuple(q)) for joint, q in
        zip(truth.joints, wanted.T.tolist(), strict=True)
    }  # fmt: skip
    return Plan(DURATION, motions=motions, name="ground")
