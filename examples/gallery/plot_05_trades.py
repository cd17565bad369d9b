"""
Which parameters trade against each other?
==========================================

Estimates are not independent: what is given to one is taken from another. Blue pairs err
together, orange ones against each other.
"""

from dataclasses import replace

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.report.result_plots import plot_correlation

model = ff.load_model("planar-capture")
pulse = Pulses(((5.0, 10.0, 5.0),))  # start, length [s], force [N]
plan = replace(ff.default_plan(model, duration=30.0, seed=3), thrusts={"thr_2": pulse})
flight = ff.simulate(model, plan, seed=3)
wanted = ff.Parameters(model).free("bus.mass", "bus.m[xy]", "bus.izz", "target.*")
fit = ff.identify(model, wanted, flight, assess=False)

# %%
# A planar flight shows nothing of a body across the plane; the fit says so of each parameter.
print([estimate.name for estimate in fit.estimates if estimate.status == "invisible"])
figure = plot_correlation(fit)
