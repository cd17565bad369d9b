"""Paper 004: stiffness and damping of a flexible joint on an air-bearing test bed.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.reproduce.paper_004_better import (
    better_rows,
    friction_rows,
    rate_rows,
    sine_rows,
)
from freefloat.reproduce.paper_004_fits import fit_rows, held_rows
from freefloat.reproduce.paper_004_model import average_rows, model_rows, vision_rows
from freefloat.reproduce.paper_004_published import PUBLISHED

STUDIES = (
    model_rows,
    vision_rows,
    average_rows,
    fit_rows,
    held_rows,
    better_rows,
    rate_rows,
    sine_rows,
    friction_rows,
)

__all__ = ["PUBLISHED", "STUDIES"]
