"""What paper 003 printed, and what ours is held to where it printed nothing.

O.-O. Christidi-Loumpasefski, C. Ntinos, E. Papadopoulos, "Analytical and Experimental Parameter
Estimation for Free-Floating Space Manipulator Systems", ASTRA 2017.
"""

from __future__ import annotations

from typing import Any, Final

PUBLISHED: Final[dict[str, Any]] = {
    # Table 1: r_0, from the base's centre of mass to joint 1 [m]
    "r_0": (0.17, 0.09),
    # Table 2: coefficients of eq. 12 [rad/s], joint 1 and joint 2
    "a": ((-0.1642, 0.2786, 0.3582), (0.0846, -0.1692, 0.0498)),
    "b": ((0.0010, 0.2090, -0.1000), (0.3682, 0.0597, -0.32835)),
    # Section 4, under eq. 12: duration [s], number of measurements, and its first paragraph:
    # angular momentum [N m s]
    "duration": 5.0,
    "n_samples": 35,
    "momentum": 0.4934,
    # Table 3: true values [kg m^2] of pi1 ... pi8 and the relative errors found [%]
    "pi": (0.0074, 0.0046, 0.0039, 0.0024, 0.1314, 0.0048, 0.0075, 0.0046),
    "errors": (0.5162, 0.4071, 0.3191, 1.2574, 0.0432, 0.7286, 1.3010, 0.6634),
    # Section 5, around eq. 13: wheel speed [rad/s], angular momentum [N m s]
    "experiment_speed": 170.0,
    "experiment_momentum": 0.3355,
}

# Bounds for numbers the paper does not print: an independent computation gave the figure named in
# the row's note, or the bound is what double precision should leave.
BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "max q1": (37.85, 37.95), "max q2": (61.35, 61.45),  # [deg]
    "max dq1": (57.95, 58.05), "max dq2": (66.35, 66.45),  # [deg/s]
    "max ddq1": (158.85, 158.95), "max ddq2": (131.85, 131.95),  # [deg/s^2]
    "cond": (143.5, 143.7),  # of Table 2's motion, r_0 as printed
    "noise-free": (0.0, 1e-8),  # [%], that is 1e-10
    "gyro noise": (2.2e-4, 2.6e-4),  # [rad/s] that explains Table 3
    "noise": (0.0, 4.4),  # [%] at q 1e-4, dq 1e-3, omega 1e-3, about 4.2
    "drag": (17.0, 21.0), "drag column": (0.0, 0.2),  # [%], worst parameter
    "ripple": (40.0, 100.0),
    "lag": (31.0, 35.0), "lag corrected": (0.0, 1.0),
    "torque": (0.0, 7e-10),
}  # fmt: skip
