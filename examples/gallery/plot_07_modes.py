"""
At what frequencies do the wings swing?
=======================================

The arm stops, the wings ring down. Peaks of the spectra are told apart: modes of the structure,
harmonics, what the motion itself drives.
"""

from dataclasses import replace

import freefloat as ff
from freefloat.excitation import Moves
from freefloat.identification.modes.modal import identify_modes
from freefloat.report.plots import plot_spectrum

model = ff.load_model("servicer-wings")
for mode in ff.modes(model):
    print(mode)

# %%
# Every joint of the arm makes one quick move; then nothing is driven any more.
driven = [joint for joint in model.joints if joint.role == "motion"]
motions = {
    joint.name: Moves((0.0, 2.0), (joint.home, joint.home + 0.05)) for joint in driven
}
plan = replace(ff.default_plan(model, duration=90.0), motions=motions)
flight = ff.simulate(model, plan, seed=1)

# %%
# The modes of what rings after the move.
found = identify_modes(flight.between(3.0, 90.0), model=model)
print(found)
figure = plot_spectrum(found, title="wings of a servicer, free decay")
