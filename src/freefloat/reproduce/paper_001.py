"""Paper 001: inertial parameters of base and target, found while they move after a capture."""

from __future__ import annotations

from freefloat.reproduce.paper_001_exact import closed_form_rows, rank_rows
from freefloat.reproduce.paper_001_faults import fault_rows
from freefloat.reproduce.paper_001_figures import FIGURES
from freefloat.reproduce.paper_001_fuel import fuel_rows
from freefloat.reproduce.paper_001_studies import noise_rows, velocity_rows
from freefloat.reproduce.paper_001_tables import planar_rows, spatial_rows

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
