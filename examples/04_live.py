"""Base and target found while a capture is flown, with a stream that is not perfect.

    python examples/04_live.py

docs/live.md says how it works. On the command line: freefloat track spatial-capture FLIGHT
"""

import numpy as np

import freefloat as ff
from freefloat.excitation import Pulses, Sinusoid

# A six-joint arm has just caught a target as heavy as its base. It is shaken, and thrusters pulse.
model = ff.load_model("spatial-capture")
joints = [joint for joint in model.joints if joint.type != "fixed"]
plan = ff.Plan(
    40.0,
    motions={
        j.name: Sinusoid(40.0, j.home, 0.5, 7.0 + 2.0 * k, 3.0, first=j.home)
        for k, j in enumerate(joints)
    },
    thrusts={
        thruster.name: Pulses(((1.0 + 0.7 * k, 2.0, 5.0), (15.0 + 0.7 * k, 2.0, 5.0)))
        for k, thruster in enumerate(model.thrusters)
    },
)
flight = ff.simulate(model, plan, seed=1)

# Nothing is known of base and target: the values in the model are only where the search starts.

params = ff.Parameters(model).free("bus.*", "target.*")
tracker = ff.OnlineEstimator(model, params, like=flight, reorder=2)

rng = np.random.default_rng(0)
next_line = 5.0
for sample in flight:
    values = dict(sample.values)
    if rng.random() < 0.1:  # measurements lost on the way; what was commanded is known
        values = {name: value for name, value in values.items() if name.endswith(".force")}
    elif sample.time > 1.0 and rng.random() < 0.02:  # a wild reading
        values["base.velocity.x"] += 5.0
    estimate = tracker.update({"time": sample.time, **values})
    if sample.time >= next_line:
        value, std = estimate["target.mass"]
        print(f"{sample.time:5.1f} s  target {value:8.2f} +- {1.96 * std:.2f} kg (true 503.76)")
        next_line += 5.0

estimate = tracker.finish()
print(estimate.health.counts, estimate.health.sentence)
print(f"closest physical target: {estimate.physical.model.body('target').mass:.2f} kg")
