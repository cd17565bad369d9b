"""Paper 000: flexible wings and sloshing fuel, identified with the arm alone.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.papers.paper_000.figures import FIGURES
from freefloat.papers.paper_000.model import (
    equation_rows,
    mode_rows,
    rank_rows,
    slosh_rows,
    spectrum_rows,
)
from freefloat.papers.paper_000.published import PUBLISHED
from freefloat.papers.paper_000.studies import design_rows
from freefloat.papers.paper_000.tables import fuel_rows, reduced_rows, start_rows, wing_rows

STUDIES = (
    mode_rows,
    slosh_rows,
    equation_rows,
    spectrum_rows,
    rank_rows,
    reduced_rows,
    wing_rows,
    fuel_rows,
    start_rows,
    design_rows,
)

FINDINGS = (
    "Slosh at 0.06 Hz cannot come from Table I: its own eq. 16 gives 0.089 Hz on a fixed base,"
    " and the free-floating system swings faster still.",
    "Tables II and III judge a flexible model against a rigid reference: the true model scores"
    " centimetres, and a rigid one scores better than the truth.",
    "Eq. 10's signed sum vanishes for every motion from rest to rest, eq. 11 has no minimum,"
    " and eqs 1 and 4 together push springs away from rest.",
    "What a motion can leave in the modes is bounded by how far hinges may bend: all good"
    " criteria come near that bound, and none leaves a hundred times what another does.",
    "Of bus and panels with all their parameters some combinations alone can be found: first"
    " moments and hinge inertias of panels, not their masses.",
)

__all__ = ["FIGURES", "FINDINGS", "PUBLISHED", "STUDIES"]
