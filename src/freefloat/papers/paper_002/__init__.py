"""Paper 002: base and load of ETS-VII identified in orbit from accelerometer and gyro.

Each study rebuilds a part of the paper, or answers a question it leaves open.
"""

from __future__ import annotations

from freefloat.papers.paper_002.figures import FIGURES
from freefloat.papers.paper_002.model import count_rows, excitation_rows, model_rows
from freefloat.papers.paper_002.published import PUBLISHED
from freefloat.papers.paper_002.studies import design_rows, gradient_rows, noise_rows, wheel_rows
from freefloat.papers.paper_002.tables import base_rows, load_rows, loop_rows

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
    design_rows,
)

FINDINGS = (
    "Eq. 26 is no balance of the axes: it rewards the third, punishes the first, and changes"
    " when axes are renamed. The paper's own motion leaves its joint limits.",
    "Gravity gradient left out costs little in a fast motion and several per cent of the mass"
    " at the speed that was flown; put in, it costs nothing.",
    "It is the accelerometer that shows the mass: with the gyro alone it stays uncertain by"
    " more than a tenth.",
    "One pass from the paper's wrong guesses ends at the truth, with the poor motion as well;"
    " noise then decides between motions.",
    "What a wheel's momentum or the gravity gradient costs when left out depends on how the"
    " satellite stands and whether it turns with the orbit: by a factor of ten and more.",
)

__all__ = ["FIGURES", "FINDINGS", "PUBLISHED", "STUDIES"]
