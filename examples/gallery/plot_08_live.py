"""
How fast does a live estimate settle?
=====================================

The same parameters while samples arrive one by one: values with their 95 % bands. Dotted is
what a parameter was taken for while the data did not show it yet.
"""

from dataclasses import replace

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.report.result_plots import plot_live

model = ff.load_model("planar-capture")
pushed = {f"thr_{k}": Pulses(((3.0 * k, 2.0, 5.0),)) for k in (1, 2, 3, 4)}
plan = replace(ff.default_plan(model, duration=40.0, seed=1), thrusts=pushed)
flight = ff.simulate(model, plan, seed=1)

# %%
# One call a sample; here every fifth estimate is kept.
wanted = ff.Parameters(model).free("bus.mass", "bus.izz", "target.mass", "target.izz")
tracker = ff.OnlineEstimator(model, wanted, like=flight)
estimates = [tracker.update(sample) for sample in flight]
print(estimates[-1].health.sentence)

# %%
figure = plot_live(estimates[::5])
