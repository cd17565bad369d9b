"""Excitation: the Plan, and the ways a robot can be moved and pushed."""

from freefloat.excitation.commands import Pulses, Steps, Wave
from freefloat.excitation.default import default_plan
from freefloat.excitation.motions import (
    Accelerate,
    Bangs,
    Fourier,
    Hold,
    Moves,
    Multisine,
    Sinusoid,
    Speeds,
    Spline,
    Table,
)
from freefloat.excitation.plan import CaptureControl, Feedback, Plan
from freefloat.excitation.plan_file import load_plan
from freefloat.excitation.plan_write import save_plan, save_table

__all__ = [
    "Accelerate",
    "Bangs",
    "CaptureControl",
    "Feedback",
    "Fourier",
    "Hold",
    "Moves",
    "Multisine",
    "Plan",
    "Pulses",
    "Sinusoid",
    "Speeds",
    "Spline",
    "Steps",
    "Table",
    "Wave",
    "default_plan",
    "load_plan",
    "save_plan",
    "save_table",
]
