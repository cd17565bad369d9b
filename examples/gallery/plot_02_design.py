"""
Which motion shows the target best?
===================================

Thirty seconds of motion, within the limits of every joint, designed so that mass, centre of mass
and inertia of a grasped target become as certain as they can.
"""

import freefloat as ff
from freefloat.design import Effort, design
from freefloat.report.design_plot import plot_design

model = ff.load_model("planar-capture")
wanted = ff.Parameters(model).free("target.mass", "target.m[xy]", "target.izz")

# %%
# A short search is enough for a picture; leave ``effort`` out for a real design.
short = Effort(random=8, starts=1, rounds=3)
found = design(model, wanted, duration=30.0, harmonics=3, seed=1, effort=short)
print(found)

# %%
# Positions, rates and accelerations of the joints, and the deviations of the default motion and
# of the designed one.
figure = plot_design(model, found)
