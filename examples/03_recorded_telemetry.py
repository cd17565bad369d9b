"""Telemetry from a recorder: other units, other rates, gaps and bad samples, read and judged.

    python examples/03_recorded_telemetry.py

Writes to build/examples. docs/formats.md lists channel names and units.
"""

from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.telemetry import resample, smooth

folder = Path("build/examples")
folder.mkdir(parents=True, exist_ok=True)

# What a recorder might have written: degrees, a gyro at 50 Hz, an encoder at 10 Hz (empty cells
# in between), one bad sample (nan) and half a second that is missing.
rng = np.random.default_rng(0)
rows = ["# robot: my-robot", "time [s],base.rate.z [deg/s],shoulder.position [deg]"]
for n in range(1000):
    t = n / 50.0
    if 8.0 < t < 8.5:
        continue
    rate = "nan" if n == 123 else f"{3.0 * np.sin(0.5 * t) + 0.02 * rng.normal():.4f}"
    angle = f"{20.0 * (1.0 - np.cos(0.5 * t)):.4f}" if n % 5 == 0 else ""
    rows.append(f"{t:.2f},{rate},{angle}")
(folder / "recording.csv").write_text("\n".join(rows))

# Everything is SI once read; each channel has its own instants.
flight = ff.read_telemetry(folder / "recording.csv")
print(flight)

# Is it fit for use, and if not, where and why?
print()
print(ff.quality(flight))

# A common time base; nothing is invented across the gap.
even = resample(flight, rate=10.0)
_, values = even.matrix(["base.rate.z", "shoulder.position"])
print(
    f"\nat 10 Hz: {len(values)} instants, {np.isnan(values).any(axis=1).sum()} of them in the gap"
)

# A smooth rate and its derivative, with the noise found in the data themselves.
channel = flight["base.rate.z"]
rate = smooth(channel.time, channel.values)
t = np.array([2.0, 5.0, 12.0])
exact = np.deg2rad(1.5 * np.cos(0.5 * t))  # the derivative of 3 sin(0.5 t) deg/s
print(f"gyro noise: {rate.noise[0]:.1e} rad/s, true {np.deg2rad(0.02):.1e}")
print("angular acceleration [rad/s^2]:", rate.rate(t).round(4), "exact:", exact.round(4))

# Any file can be written in any format.
flight.save(folder / "recording.parquet")
assert ff.read_telemetry(folder / "recording.parquet")["base.rate.z"] == flight["base.rate.z"]
