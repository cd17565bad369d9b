"""Paper 003: the minimal parameters of a free-floating robot from its angular momentum.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.papers.paper_003.figures import FIGURES
from freefloat.papers.paper_003.model import experiment_rows
from freefloat.papers.paper_003.published import PUBLISHED
from freefloat.papers.paper_003.studies import design_rows, systematic_rows
from freefloat.papers.paper_003.tables import motion_rows, noise_rows, true_value_rows
from freefloat.papers.paper_003.trees import dynamics_rows, tree_rows

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

FINDINGS = (
    "The position of the first joint is printed with one digit too few for four of the eight true"
    " values of Table 3; one digit more gives all of them.",
    "Eq. 10 scales the remaining parameter where a dependent column must be added to it.",
    "Eq. 13 lacks a sign: a body that was at rest carries the opposite of the momentum of the wheel"
    " that was spun up in it.",
    "The noise that Table 3's errors stand for is not stated; the noise study finds it.",
    "What the paper leaves out costs more than noise: drag of the air bearings, a lag between base"
    " and joints, ripple of the wheel. Each is removed by a column, a shift or a measured speed.",
    "The same procedure runs unchanged on spatial arms and on branched trees, given a model file.",
)

__all__ = ["FIGURES", "FINDINGS", "PUBLISHED", "STUDIES"]
