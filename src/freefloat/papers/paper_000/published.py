"""What paper 000 printed, what it leaves open and we chose, and what ours is held to.

W. Rackl, R. Lampariello, "Parameter Identification of Free-Floating Robots with Flexible Appendages
and Fuel Sloshing", DLR.
"""

from __future__ import annotations

from typing import Any, Final

PUBLISHED: Final[dict[str, Any]] = {
    # Section III: frequencies [Hz] read off Figs 5 and 7
    "wings": (0.23, 0.68),
    "slosh": 0.06,
    # Tables II and III: end-effector errors, mean and max position [m], mean and max turn [rad]
    "rigid_wings": (0.0181, 0.0210, 0.1542, 0.2032),
    "flexible_wings": (0.0094, 0.0192, 0.0584, 0.0921),
    "rigid_slosh": (0.0367, 0.1242, 0.2319, 0.4291),
    "flexible_slosh": (0.0214, 0.0924, 0.1154, 0.3299),
    # Table I: the pendulum [kg, m, N m/rad]
    "pendulum": (100.0, 0.8, 20.0),
}

# The motion that excites, a B-spline as in the paper: so long [s], then so long at rest [s], so far
# from home [rad], so many control points; and the one whose end-effector path is judged.
EXCITATION: Final = {"duration": 15.0, "rest": 30.0, "reach": 0.8, "points": 10, "seed": 3}
REFERENCE: Final = {"duration": 20.0, "rest": 0.0, "reach": 0.15, "points": 6, "seed": 7}
# How wrong the search begins: stiffness 40 % up, mass and inertia of the bus 25 % down.
STIFFER, LIGHTER = 1.4, 0.75

BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "mode 1": (0.1395, 0.1405), "mode 3": (0.6630, 0.6642),  # [Hz]
    "eq. 16": (0.08895, 0.08905), "slosh 1": (0.0984, 0.0986), "slosh 2": (0.0988, 0.0990),
    "needed k": (7.3, 7.5), "needed l": (1.42, 1.46), "needed m": (425.0, 443.0),
    "lowest .230": (0.215, 0.225), "highest .230": (0.285, 0.305),  # [Hz] over postures
    "eq. 10": (0.0, 1e-3),  # of the sum of absolute values
}  # fmt: skip
