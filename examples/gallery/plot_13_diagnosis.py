"""
Which of my assumptions is wrong?
=================================

An encoder was set to zero at the wrong place, by three degrees. The fit does not explain what
was measured, and the diagnosis names what would.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import freefloat as ff
from freefloat.excitation import Pulses

model = ff.load_model("planar-capture")
pulse = Pulses(((5.0, 10.0, 5.0),))  # start, length [s], force [N]
plan = replace(ff.default_plan(model, duration=30.0, seed=1), thrusts={"thr_1": pulse})
flight = ff.simulate(model, plan, seed=1)

# %%
# The encoder of the second joint reads three degrees too much.
time = flight["base.rate.z"].time
arrays = {name: flight[name].values for name in flight.names}
arrays["arm_2.position"] = arrays["arm_2.position"] + np.deg2rad(3.0)
noise = {name: flight[name].noise for name in flight.names}
turned = ff.Telemetry.from_arrays(time, arrays, noise=noise)

# %%
# Every assumption is tried as the thing that is wrong, without a new fit for each.
wanted = ff.Parameters(model).free("bus.mass", "target.mass", "target.izz")
fit = ff.identify(model, wanted, turned)
print(fit.status)
for cause in fit.assessment.causes:
    print(f"{' or '.join(cause.names)}: {cause.amplitude:.3g} {cause.unit}")

# %%
# What freeing each would explain.
figure, axis = plt.subplots(figsize=(7, 2.5), layout="constrained")
names = [cause.names[0] for cause in fit.assessment.causes]
axis.barh(names, [cause.chi_square for cause in fit.assessment.causes], color="#0072b2")
axis.set_xlabel("chi-square that it explains [1]")
axis.invert_yaxis()
