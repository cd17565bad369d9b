"""Fly a servicer: load a model, plan a motion, simulate, look at what the sensors reported.

    python examples/01_first_flight.py

Writes to build/examples. The command does the same:

    freefloat simulate servicer --seed 1 --out flight.parquet
"""

from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.prediction.flight_summary import summarise_flight

folder = Path("build/examples")
folder.mkdir(parents=True, exist_ok=True)

# A model: a built-in one by name, or your own file. Frozen, like everything else here.
model = ff.load_model("servicer")
print(f"{model.name}: {len(model.bodies)} bodies, {model.mass:g} kg")
for mode in ff.modes(model):
    print(" ", mode)

# A plan: every driven joint on a gentle multisine within half its limits.
plan = ff.default_plan(model, duration=60.0, seed=1)
plan.save(folder / "plan.toml")

# A flight: what the sensors report. The seed decides the noise and is recorded.
flight = ff.simulate(model, plan, seed=1)
print()
print(ff.quality(flight.select(["base.rate.*", "arm_*"])).summary)
flight.save(folder / "flight.parquet")  # the truth goes to flight.truth.parquet beside it

# What the gyro said, against the truth that only a simulation has.
gyro = flight["base.rate.z"]
truth = flight.truth["base.rate.z"]
error = gyro.values - np.interp(gyro.time, truth.time, truth.values)
print(f"gyro z: {gyro.n_samples} samples at {gyro.rate:g} Hz, error {error.std():.1e} rad/s")

# What happened to the spacecraft as a whole.
happened = summarise_flight(model, plan, flight)
print(f"the base turned by up to {happened.turn:.3f} rad")
print(f"the left wing bent by up to {1e3 * happened.deflections['hinge_l1']:.2f} mrad")
print(f"unexplained change of angular momentum: {happened.momentum.angular_drift:.1e} N m s")
for excess in happened.violations:  # the default motion knows the joints' limits, not the base's
    print("limit passed:", excess)
