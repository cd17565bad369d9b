"""
What does a flight of a flexible spacecraft look like?
======================================================

A servicer with two wings, fuel and an arm moves its arm for half a minute. The base answers,
the wings bend and the fuel swings.
"""

import freefloat as ff
from freefloat.prediction.flight_summary import summarise_flight
from freefloat.report.plots import plot_flight

model = ff.load_model("servicer")
plan = ff.default_plan(model, duration=30.0, seed=1)
flight = ff.simulate(model, plan, seed=1)

# %%
# What happened, in numbers. The momentum that the integrator lost is nothing but rounding.
happened = summarise_flight(model, plan, flight)
print(f"the base turned by up to {happened.turn:.3f} rad")
print(f"the left wing bent by up to {1e3 * happened.deflections['hinge_l1']:.2f} mrad")
print(f"angular momentum lost: {happened.momentum.angular_drift:.1e} N m s")

# %%
# Dots are what sensors reported, lines are the truth, which only a simulation has.
figure = plot_flight(model, flight)
