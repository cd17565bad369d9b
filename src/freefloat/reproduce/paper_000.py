"""Paper 000: flexible wings and sloshing fuel, identified with the arm alone.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.reproduce.paper_000_model import equation_rows, mode_rows, slosh_rows
from freefloat.reproduce.paper_000_published import PUBLISHED
from freefloat.reproduce.paper_000_spectra import rank_rows, spectrum_rows
from freefloat.reproduce.paper_000_tables import fuel_rows, start_rows, wing_rows

STUDIES = (
    mode_rows,
    slosh_rows,
    equation_rows,
    spectrum_rows,
    rank_rows,
    wing_rows,
    fuel_rows,
    start_rows,
)

__all__ = ["PUBLISHED", "STUDIES"]
