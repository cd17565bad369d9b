"""Paper 002: base and load of ETS-VII identified in orbit from accelerometer and gyro.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.reproduce.paper_002_effects import gradient_rows, noise_rows, wheel_rows
from freefloat.reproduce.paper_002_model import count_rows, excitation_rows, model_rows
from freefloat.reproduce.paper_002_problems import base_rows, load_rows, loop_rows
from freefloat.reproduce.paper_002_published import PUBLISHED

STUDIES = (
    model_rows,
    excitation_rows,
    base_rows,
    load_rows,
    count_rows,
    gradient_rows,
    wheel_rows,
    noise_rows,
    loop_rows,
)

__all__ = ["PUBLISHED", "STUDIES"]
