"""The finding of paper 004, drawn: a free disc fitted to a held motor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import positions
from freefloat.model import load_model
from freefloat.papers.paper_004.model import STEP, Bench, DriveValues, angle_from_vision
from freefloat.papers.paper_004.tables import by_least_squares, held_flights
from freefloat.report.paper_pages import PaperFigure


@dataclass(frozen=True)
class _Fitted:
    """Joint angle and base attitude [rad], measured and as the free disc has them."""

    stiffness: float
    time: Array
    angle: Array
    attitude: Array
    model_time: Array
    model_angle: Array
    model_attitude: Array


@cache
def _fit() -> _Fitted:
    bench, geared = Bench.of(), load_model("cbk-arm-geared")
    flight = held_flights(geared, seed=10)[1]
    seen = angle_from_vision(geared, flight)
    found = by_least_squares(bench, [seen])
    states = bench.states(DriveValues(*found.values[0]), float(found.offsets[0]))
    time, attitude = flight["base.angle"].usable()
    return _Fitted(
        float(found.values[0, 1]), time, seen, attitude, np.arange(len(states)) * STEP,
        positions(states)[:, 0], 2.0 * np.arctan2(states[:, 5], states[:, 6]),
    )  # fmt: skip


def joint_angle() -> PaperFigure:
    """The angle that the paper fits: both agree."""
    one = _fit()
    lines = [
        ("measured", one.time, np.rad2deg(one.angle)),
        ("free disc", one.model_time, np.rad2deg(one.model_angle)),
    ]
    title = f"A free disc fitted to a held motor, k = {one.stiffness:.1f} for 5.5 N m/rad: q1"
    return PaperFigure(title, "time [s]", "q1 [deg]", lines)


def base_attitude() -> PaperFigure:
    """The attitude that it leaves out: they do not."""
    one = _fit()
    lines = [
        ("measured", one.time, np.rad2deg(one.attitude)),
        ("free disc", one.model_time, np.rad2deg(one.model_attitude)),
    ]
    return PaperFigure("The same fit: attitude of the base", "time [s]", "attitude [deg]", lines)


FIGURES = (joint_angle, base_attitude)
