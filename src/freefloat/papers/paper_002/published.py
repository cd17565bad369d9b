"""What paper 002 printed, what it leaves open and we chose, and what ours is held to.

R. Lampariello, G. Hirzinger, "Modeling and Experimental Design for the On-Orbit Inertial Parameter
Identification of Free-Flying Space Robots", ASME DETC2005-85242.
"""

from __future__ import annotations

from typing import Any, Final

PUBLISHED: Final[dict[str, Any]] = {
    # Section 4.1: mass [kg], centre of mass [m], inertia xx xy xz yy yz zz [kg m^2] of the base
    "mass": 2645.9,
    "com": (-0.532, -0.281, 1.499),
    "inertia": (5665.5, 54.2, 145.1, 3033.0, -123.2, 7067.2),
    "guess": (1000.0, (0.5, 0.5, 0.5), (1000.0, 10.0, 10.0, 1000.0, 10.0, 1000.0)),
    "found": (2645.7, (-0.53, -0.28, 1.50), (5667.25, 50.98, 148.39, 3037.73, -124.13, 7075.85)),
    "found_poorly": (
        2655.99, (-0.54, -0.23, 1.53), (5539.09, 42.70, 161.246, 3007.88, -57.47, 7070.54)
    ),
    # ... and the two excitations q = (q1_1, q1_2, q2_1, q2_2, q3_1, q3_2) [rad] of eq. 27
    "motion": (0.63, -1.87, -2.18, -0.15, 5.3e-2, -0.56),
    "poor_motion": (0.5, 0.5, 0.5, 0.5, 0.5, 0.5),
    "joint_limit": 1.5707963267948966,
    # Section 4.2: the load, the guess, and what two iterations gave
    "load": (370.0, (0.33, 0.50, 1.04), (700.0, 0.0, 0.0, 700.0, 0.0, 700.0)),
    "load_guess": (10.0, (0.1, 0.1, 0.1), (10.0, 1e-4, 1e-4, 10.0, 1e-4, 10.0)),
    "load_found": (377.90, 370.12),
    "load_izz": (710.9, 700.2),
    # Section 2.3: orbital radius [m]; torque error of 1 km [N m]; section 3.1: two joints
    "radius": 6916e3,
    "radius_error": 1e-6,
    "count": 24,
    # Section 1: the robot is 25 times lighter than the base
    "ratio": 25.0,
}  # fmt: skip

# Duration, period and ramps [s] of eq. 27's motion: fast, and at ETS-VII's speed.
FAST: Final = (90.0, 30.0, 10.0)
SLOW: Final = (360.0, 120.0, 40.0)
# Motions of ours within the limits the paper sets and breaks; the slow one within 3 deg/s.
GOOD_MOTION: Final = (0.3, -1.2, -0.6, -0.9, 0.2, -1.2)
SLOW_MOTION: Final = (0.3, -0.9, -0.4, -0.6, 0.2, -0.9)

BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "orbit rate": (1.09765e-3, 1.09775e-3),  # [rad/s]
    "radius": (1e-6, 5e-6),  # [N m] a kilometre
    "closed form": (0.0, 1e-11),  # relative: rounding
    "expansion": (0.0, 1e-12),
    "limit": (0.925, 0.935),  # [rad] beyond the paper's own limits
}  # fmt: skip
