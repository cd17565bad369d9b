"""Closed-loop control of paper 001: the arm steadies the base, thrusters brake the whole.

The base's attitude angles obey dde + K_D de + K_P e = 0 (eq. 39) through the arm alone: joint
accelerations are the smallest that do it. Force and torque on the base are proportional to the
system's linear and angular momentum, saturated axis by axis (eqs 40, 41).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class CaptureControl:
    """Gains and limits of eqs 39-41 (paper 001).

    damping [1/s] and stiffness [1/s^2] of the attitude angles (yaw, pitch, roll for a floating
    root), force_gain and torque_gain [1/s], max_force [N], max_torque [N m]; the force acts at the
    root's origin, in world axes; momentum is about the system's centre of mass.
    """

    damping: float = 0.7071067811865476
    stiffness: float = 0.25
    force_gain: float = 1.0
    max_force: float = 10.0
    torque_gain: float = 1.0
    max_torque: float = 10.0
    kind: Literal["capture"] = "capture"
