"""
What does the accelerometer add on a slow orbit?
================================================

On ETS-VII the arm moves slowly and the gradient of gravity turns the whole. A gyro alone leaves
the mass of the satellite open; accelerometers show it.
"""

import matplotlib.pyplot as plt

import freefloat as ff

model = ff.load_model("ets7")
wanted = ff.Parameters(model).free(f"{model.bus}.*")

# %%
# The deviation that no method can beat, for two sets of sensors.
deviations = {}
for sensors in ("gyro encoders", "gyro encoders accelerometer"):
    seen = ff.identifiability(model, wanted, sensors=sensors)
    deviations[sensors] = {p.name: 100.0 * p.std / p.size for p in seen.parameters}
    print(sensors, "->", ", ".join(seen.names("seen")) or "nothing is seen alone")

# %%
# In % of the natural size of each parameter; what is not determined has no dot.
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for (sensors, found), marker in zip(deviations.items(), "os", strict=True):
    axis.plot(list(found.values()), list(found), marker, label=sensors)
axis.set_xscale("log")
axis.set_xlabel("expected standard deviation [% of natural size]")
axis.invert_yaxis()
axis.legend()
