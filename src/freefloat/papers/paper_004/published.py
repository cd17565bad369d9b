"""What paper 004 printed, what it leaves open and we chose, and what ours is held to.

M. Wojtunik, F. L. Basmadji, G. Granosik, K. Seweryn, "Parameter Identification of Space
Manipulator's Flexible Joint", JAMRIS 2023, doi:10.14313/JAMRIS/3-2023/24.
"""

from __future__ import annotations

from typing import Any, Final

PUBLISHED: Final[dict[str, Any]] = {
    # Table 2: motor inertia [kg m^2], stiffness [N m/rad], damping [N m s/rad] of five tests
    "inertia": (6.9, 3.3, 5.6, 7.6, 4.5),
    "stiffness": (12.8, 5.1, 9.2, 5.1, 8.3),
    "damping": (1.3, 0.4, 0.5, 0.0, 0.1),
    "average": (5.6, 8.1, 0.5),
    "deviation": (1.8, 3.2, 0.5),
    # Table 3: initial spring offsets [deg]
    "offsets": (-1.3, 2.8, -0.2, -0.4, -1.1),
    # Section 5: the compliant component's stiffness by CAD [N m/rad]
    "cad_stiffness": 5.47,
    # Section 3.2: duration [s]; section 4: bounds of inertia, stiffness, damping and offset [rad]
    "duration": 10.0,
    "bounds": ((0.001, 100.0), (0.01, 100.0), (0.0, 10.0), (-0.1, 0.1)),
}

# "Each joint accelerating with a constant acceleration": the paper does not say which.
ACCELERATIONS: Final = {"arm_1": 0.3, "arm_2": -0.6, "arm_3": -0.9}  # [deg/s^2]
# The truth that our five flights are flown with: Table 2's means, and the CAD stiffness.
TRUTH: Final = {"inertia": 5.6, "stiffness": 5.47, "damping": 0.5}

BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "lagrangian": (0.0, 1e-11),  # [rad]: rounding over 10 s; 4e-13 was reached elsewhere
    "effective inertia": (1.15435, 1.15445),  # [kg m^2]
    "held mode": (2.1765, 2.1775),  # [rad/s]
    "equivalent inertia": (7.545, 7.555),  # [kg m^2] of a free disc that rings like a held motor
    "stiffness ratio": (2.3675, 2.3685),
    "closed form": (0.0, 1e-12),  # [rad]: eq. 21 undone, rounding
    "vision": (0.145, 0.153),  # [deg] of q1 when vision has 1 mm and 0.1 degree
}  # fmt: skip
