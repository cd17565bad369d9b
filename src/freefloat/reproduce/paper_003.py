"""Paper 003: the minimal parameters of a free-floating robot from its angular momentum.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.reproduce.paper_003_design import design_rows
from freefloat.reproduce.paper_003_dynamics import dynamics_rows
from freefloat.reproduce.paper_003_experiment import experiment_rows
from freefloat.reproduce.paper_003_noise import noise_rows
from freefloat.reproduce.paper_003_published import PUBLISHED
from freefloat.reproduce.paper_003_systematic import systematic_rows
from freefloat.reproduce.paper_003_tables import motion_rows, true_value_rows
from freefloat.reproduce.paper_003_trees import tree_rows

STUDIES = (
    true_value_rows,
    motion_rows,
    noise_rows,
    design_rows,
    experiment_rows,
    systematic_rows,
    dynamics_rows,
    tree_rows,
)

__all__ = ["PUBLISHED", "STUDIES"]
