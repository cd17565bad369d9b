"""
Is my recording fit for use?
============================

A recording as they are: a stuck encoder, wild readings and a gap. Faults are found by their
cause, named with their place, and masked; nothing is deleted.
"""

import matplotlib.pyplot as plt
import numpy as np

import freefloat as ff
from freefloat.telemetry import examine, repair

model = ff.load_model("planar-capture")
flight = ff.simulate(model, ff.default_plan(model, duration=30.0, seed=1), seed=1)

# %%
# Damage it: the gyro has wild readings, an encoder sticks for two seconds.
rng = np.random.default_rng(0)
arrays = {name: flight[name].values.copy() for name in flight.names}
time = flight["base.rate.z"].time
arrays["base.rate.z"][rng.choice(len(time), 6, replace=False)] += 0.3
stuck = (flight["arm_2.position"].time > 12.0) & (flight["arm_2.position"].time < 14.0)
arrays["arm_2.position"][stuck] = arrays["arm_2.position"][stuck][0]
damaged = ff.Telemetry.from_arrays(time, arrays)

# %%
# What is found.
diagnosis = examine(damaged)
print(diagnosis)

# %%
# What is left to work with.
sound = repair(damaged, diagnosis)
figure, axes = plt.subplots(2, 1, figsize=(8, 4), sharex=True, layout="constrained")
for axis, name in zip(axes, ("base.rate.z", "arm_2.position"), strict=True):
    channel = sound[name]
    axis.plot(time, arrays[name], ".", color="#d55e00", ms=3, label="masked")
    axis.plot(*channel.usable(), ".", ms=3, label="used")
    axis.set_ylabel(f"{name}\n[{channel.unit}]")
axes[0].legend(loc="upper right")
axes[1].set_xlabel("time [s]")
