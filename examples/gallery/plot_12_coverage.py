"""
Does a 95 % interval hold the truth in 95 of 100 flights?
=========================================================

The same flight with other noise, forty times. Each line is the interval of one flight; orange
ones miss the true mass.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

import freefloat as ff
from freefloat.excitation import Pulses

model = ff.load_model("planar-capture")
pulse = Pulses(((5.0, 10.0, 5.0),))  # start, length [s], force [N]
plan = replace(ff.default_plan(model, duration=20.0, seed=1), thrusts={"thr_1": pulse})
wanted = ff.Parameters(model).free("bus.mass", "bus.izz", "target.mass", "target.izz")
truth = model.body("target").mass

# %%
# Forty fits by the momentum method; they are not assessed, which takes longer.
intervals = []
for seed in range(40):
    flight = ff.simulate(model, plan, seed=seed)
    fit = ff.identify(model, wanted, flight, method="momentum", assess=False)
    intervals.append(fit["target.mass"].interval95)
held = [low <= truth <= high for low, high in intervals]
print(f"{sum(held)} of {len(held)} intervals hold the truth")

# %%
figure, axis = plt.subplots(figsize=(8, 3), layout="constrained")
for seed, ((low, high), is_held) in enumerate(zip(intervals, held, strict=True)):
    axis.plot([seed, seed], [low, high], color="#0072b2" if is_held else "#d55e00", lw=2)
axis.axhline(truth, color="gray", lw=0.8)
axis.set_xlabel("seed of the noise [1]")
axis.set_ylabel("target.mass [kg]")
