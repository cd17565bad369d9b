"""
What will my sensors show, before anything flies?
=================================================

A spacecraft has grasped an unknown target. Is a gyro enough to weigh it, or do we need the
position of the base and thrust of a known force?
"""

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.report.result_plots import plot_visibility

model = ff.load_model("planar-capture")
wanted = ff.Parameters(model).free("bus.*", "target.*")

# %%
# With the gyro and the encoders alone not even the known arm fixes everything.
gyro_alone = ff.identifiability(model, wanted, sensors="gyro encoders")
print(gyro_alone)

# %%
# With all sensors and thrusters that push for a few seconds, all is seen that a planar flight
# can show.
plan = ff.default_plan(model, duration=60.0, seed=1)
pushed = {f"thr_{k}": Pulses(((4.0 * k, 2.0, 5.0),)) for k in range(1, 9)}
plan = ff.Plan(60.0, motions=plan.motions, thrusts=pushed)
everything = ff.identifiability(model, wanted, plan=plan)
figure = plot_visibility(everything)
