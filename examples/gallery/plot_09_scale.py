"""
What fixes the scale of the masses?
===================================

Motion alone gives ratios of masses. Something of known size must set the scale: a thruster, a
wheel, a known arm. Whatever that carrier is wrong by, all masses are wrong by.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

import freefloat as ff
from freefloat.excitation import Pulses

model = ff.load_model("planar-capture")
wanted = ff.Parameters(model).free("bus.mass", "bus.izz", "target.mass", "target.izz")
calm = ff.default_plan(model, duration=30.0, seed=1)
pushed = replace(calm, thrusts={"thr_1": Pulses(((5.0, 10.0, 5.0),))})

# %%
# Once without thrust, when the known links of the arm fix the scale, and once with it.
fits = {}
for name, plan in {"known arm": calm, "thrust": pushed}.items():
    fits[name] = ff.identify(model, wanted, ff.simulate(model, plan, seed=1))
    print(f"{name}: {fits[name].scale}")

# %%
# The deviation of the target's mass: from noise alone, and in total.
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
for row, fit in enumerate(fits.values()):
    mass = fit["target.mass"]
    axis.barh(row, 100 * mass.total_std / mass.value, color="#56b4e9", label="total")
    share = 100 * mass.std / mass.value
    axis.barh(row, share, height=0.4, color="#0072b2", label="noise alone")
axis.set_yticks(range(len(fits)), fits)
axis.set_xlabel("standard deviation of the target's mass [%]")
axis.legend(*(pair[:2] for pair in axis.get_legend_handles_labels()))
