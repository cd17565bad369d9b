"""Paper 001: inertial parameters of base and target, found while they move after a capture."""

from __future__ import annotations

from freefloat.papers.paper_001.closed_forms import closed_form_rows, fault_rows, rank_rows
from freefloat.papers.paper_001.figures import FIGURES
from freefloat.papers.paper_001.studies import fuel_rows, noise_rows, velocity_rows
from freefloat.papers.paper_001.tables import planar_rows, spatial_rows

STUDIES = (
    closed_form_rows,
    rank_rows,
    fault_rows,
    planar_rows,
    spatial_rows,
    velocity_rows,
    noise_rows,
    fuel_rows,
)

__all__ = ["FIGURES", "STUDIES"]
