"""
How heavy is what we caught?
============================

One flight with thrust, and nothing known of the target. Every estimate has two deviations: that
of the noise alone, and the total one with what was taken as exact, such as the force of the
thrusters.
"""

from dataclasses import replace

import freefloat as ff
from freefloat.excitation import Pulses
from freefloat.report.result_plots import plot_estimates

model = ff.load_model("planar-capture")
pulse = Pulses(((5.0, 10.0, 5.0),))  # start, length [s], force [N]
plan = replace(ff.default_plan(model, duration=30.0, seed=1), thrusts={"thr_1": pulse})
flight = ff.simulate(model, plan, seed=1)

# %%
# The model that we start from is wrong about the target by a third.
guess = model.with_body("target", mass=1.35 * model.body("target").mass)
names = ("bus.mass", "bus.izz", "target.mass", "target.m[xy]", "target.izz")
wanted = ff.Parameters(guess).free(*names)
fit = ff.identify(guess, wanted, flight)
print(fit)

# %%
# How far the values before were off, in standard deviations.
figure = plot_estimates(fit)
print(f"true mass {model.body('target').mass:.2f} kg")
