"""
How does a search find the stiffness of a flexible joint?
=========================================================

A flexible joint is not measured behind its gear, so no linear method applies. Output error
simulates the flight again and again, and moves stiffness and damping until the simulated sensors
read what was recorded.
"""

from dataclasses import replace

import freefloat as ff
from freefloat.progress import SearchHistory
from freefloat.report.result_plots import plot_convergence

model = ff.load_model("cbk-arm")
flight = ff.simulate(model, ff.default_plan(model, duration=15.0, seed=1), seed=1)

# %%
# The model that the search starts from is half as stiff again.
drive = model.joint("arm_1").drive
stiffer = replace(drive, stiffness=1.5 * drive.stiffness)
guess = model.with_joint("arm_1", drive=stiffer)

# %%
# Whoever watches a search is told every better point.
history = SearchHistory()
wanted = ff.Parameters(guess).free("arm_1.drive.stiffness", "arm_1.drive.damping")
fit = ff.identify(
    guess, wanted, flight, method="output_error", assess=False, progress=history
)
for name in ("stiffness", "damping"):
    found, true = fit[f"arm_1.drive.{name}"], getattr(drive, name)
    print(f"{name}: {found.value:.4f} +- {found.std:.4f} {found.unit}, true {true:.4f}")

# %%
# Cost and values at every better point, with their 95 % bands.
figure = plot_convergence(history.steps)
