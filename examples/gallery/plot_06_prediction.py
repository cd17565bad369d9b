"""
Does the new model predict a flight it has not seen?
====================================================

A model that fits its own data has shown little. Here it predicts another flight, beside the
model from before the identification.
"""

from dataclasses import replace

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.report.result_plots import plot_prediction

model = ff.load_model("planar-capture")
pushed = {"thr_1": Pulses(((5.0, 10.0, 5.0),))}
usual = [ff.default_plan(model, duration=30.0, seed=seed) for seed in (1, 2)]
plans = [replace(plan, thrusts=pushed) for plan in usual]
first, second = (ff.simulate(model, plan, seed=k) for k, plan in enumerate(plans))

# %%
# Identified from the first flight, with a start that is off by a third.
guess = model.with_body("target", mass=1.35 * model.body("target").mass)
names = ("bus.mass", "bus.izz", "target.mass", "target.m[xy]", "target.izz")
wanted = ff.Parameters(guess).free(*names)
fit = ff.identify(guess, wanted, first, assess=False)

# %%
# Held against the second flight. What is left must be noise.
verdict = ff.validate(fit, second)
print(verdict.status)
figure = plot_prediction(verdict)
