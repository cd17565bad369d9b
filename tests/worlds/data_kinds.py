"""Recordings that are damaged or described wrongly."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter
from worlds.kinds import Kind
from worlds.recorder import Column, Columns
from worlds.world import World


def data(alter):
    """The recording through alter(columns, size, rng)."""

    def change(world: World, size: float, rng: np.random.Generator) -> None:
        world.recording.append(lambda world, columns: alter(columns, size, rng))

    return change


def measured(columns: Columns) -> list[str]:
    """Channels of sensors: what thrusters were told is known."""
    return [name for name in columns if not name.endswith(".force")]


def groups(columns: Columns) -> list[list[str]]:
    """Channels that one device writes together."""
    found: dict[str, list[str]] = {}
    for name in measured(columns):
        stem = name[:-2] if name[-2] == "." else name
        found.setdefault(stem, []).append(name)
    return list(found.values())


def outliers(columns, size, rng):
    """One sample in a hundred is off by up to 3 % of the channel's span."""
    for name in measured(columns):
        c = columns[name]
        hit = rng.random(len(c.values)) < size
        c.values = c.values + hit * rng.normal(size=len(hit)) * 0.3 * np.ptp(c.values)


def bursts(columns, size, rng):
    """Half a second of nonsense in each channel, `size` times."""
    for names in groups(columns):
        for _ in range(int(size)):
            for name in names:
                c = columns[name]
                start = rng.uniform(c.time[0], c.time[-1])
                hit = (c.time >= start) & (c.time < start + 0.5)
                c.values = np.where(hit, c.values + 0.2 * np.ptp(c.values), c.values)


def stuck(columns, size, rng):
    """One device repeats its last sample for `size` seconds."""
    options = groups(columns)
    names = options[int(rng.integers(len(options)))]
    time = columns[names[0]].time
    start = rng.uniform(0.2, 0.6) * time[-1]
    first = int(np.searchsorted(time, start))
    last = int(np.searchsorted(time, start + size))
    for name in names:
        c = columns[name]
        c.values = c.values.copy()
        c.values[first:last] = c.values[first]


def saturated(columns, size, rng):
    """The gyro clips at a share of what it should read."""
    for name in measured(columns):
        if name.startswith("base.rate"):
            c = columns[name]
            most = size * np.max(np.abs(c.values))
            c.values = np.clip(c.values, -most, most)


def clock_step(columns, size, rng):
    """All clocks jump by `size` half way."""
    for c in columns.values():
        c.time = c.time + np.where(c.time > 0.5 * c.time[-1], size, 0.0)


def base_clock_step(columns, size, rng):
    """The clock of the base's sensors jumps, that of the joints and thrusters does not."""
    for name, c in columns.items():
        if name.startswith("base."):
            c.time = c.time + np.where(c.time > 0.5 * c.time[-1], size, 0.0)


def clock_drift(columns, size, rng):
    """The clock of the base's sensors runs fast."""
    for name, c in columns.items():
        if name.startswith("base."):
            c.time = c.time * (1.0 + size)


def clock_rate(columns, size, rng):
    """All stamps are made by a clock that runs fast."""
    for c in columns.values():
        c.time = c.time * (1.0 + size)


def derived_rates(columns, size, rng):
    """Joint rates that somebody made by differences of positions, `size` samples apart."""
    n = int(size)
    for name in measured(columns):
        if name.endswith(".velocity"):
            q = columns[name.replace(".velocity", ".position")]
            late = np.concatenate([np.full(n, q.values[0]), q.values[:-n]])
            columns[name].values = (q.values - late) / (n * (q.time[1] - q.time[0]))


def dropouts(columns, size, rng):
    """A share of the samples is not there, each channel group's own."""
    for names in groups(columns):
        keep = rng.random(len(columns[names[0]].time)) >= size
        keep[[0, -1]] = True
        for name in names:
            c = columns[name]
            c.time, c.values = c.time[keep], c.values[keep]


def restate_noise(columns, size, rng):
    for c in columns.values():
        c.noise = None if c.noise is None else c.noise * size


def noise_not_told(columns, size, rng):
    for c in columns.values():
        c.noise = None


def extra_noise(columns, size, rng):
    """Noise `size` times what is stated, on every sensor."""
    for name in measured(columns):
        c = columns[name]
        more = (c.noise or 0.0) * np.sqrt(max(size**2 - 1.0, 0.0))
        half = 0.5 if ".attitude." in name else 1.0  # a quaternion turns by half the angle
        c.values = c.values + half * more * rng.normal(size=len(c.values))


def jitter(columns, size, rng):
    """Stamps that are off by chance, each device's own."""
    for names in groups(columns):
        time = columns[names[0]].time
        shifted = np.sort(time + size * rng.normal(size=len(time)))
        for name in names:
            columns[name].time = shifted


def low_pass(columns, size, rng):
    """A first-order filter of time constant `size` in the base's sensors."""
    for name in measured(columns):
        if name.startswith(("base.rate", "base.velocity", "base.acceleration")):
            _filter(columns[name], size)


def _filter(c: Column, tau: float) -> None:
    keep = float(np.exp(-float(np.median(np.diff(c.time))) / tau))
    start = [keep * c.values[0]]
    c.values = np.asarray(lfilter([1.0 - keep], [1.0, -keep], c.values, zi=start)[0])


def interpolated(columns, size, rng):
    """Samples that lie between measured ones, drawn as lines: every `size`-th one is real."""
    n = int(size)
    for name in measured(columns):
        c = columns[name]
        c.values = np.interp(c.time, c.time[::n], c.values[::n])


def sample_and_hold(columns, size, rng):
    """Every `size`-th sample is real and repeated until the next."""
    n = int(size)
    for name in measured(columns):
        if name.startswith("base."):
            c = columns[name]
            c.values = c.values[(np.arange(len(c.values)) // n) * n]


def wrong_unit(prefix: str):
    """Numbers in another unit than the channel says."""

    def alter(columns, size, rng):
        for name in columns:
            if name.startswith(prefix):
                columns[name].values = columns[name].values * size

    return alter


def joints_in_degrees(columns, size, rng):
    for name in columns:
        if name.split(".")[1] == "velocity" and not name.startswith("base"):
            columns[name].values = np.rad2deg(columns[name].values)


KINDS = (
    Kind("outliers", (), (1e-3, 0.01, 0.05), "of the samples", data(outliers)),
    Kind("bursts", (), (1.0, 3.0, 10.0), "times", data(bursts)),
    Kind("stuck", (), (0.3, 2.0, 8.0), "s", data(stuck)),
    Kind("gyro saturated", (), (0.95, 0.8, 0.5), "of its span", data(saturated)),
    Kind("clock step", (), (0.02, 0.2, 1.0), "s", data(clock_step)),
    Kind("clock step of the base", ("step.*delay*", "delay.base*"), (0.01, 0.05, 0.3), "s",
         data(base_clock_step)),
    Kind("clock drift of the base", ("clock.drift",), (1e-4, 1e-3, 1e-2), "1", data(clock_drift)),
    Kind("clock rate of all stamps", ("clock.rate",), (1e-4, 1e-3, 1e-2), "1", data(clock_rate)),
    Kind("joint rates by differences", (), (1.0, 5.0, 25.0), "samples", data(derived_rates),
         part="joints"),
    Kind("dropouts", (), (0.05, 0.3, 0.6), "of the samples", data(dropouts)),
    Kind("noise understated", (), (0.7, 0.3, 0.1), "of the true", data(restate_noise)),
    Kind("noise overstated", (), (1.5, 4.0, 20.0), "of the true", data(restate_noise)),
    Kind("noise not told", (), (1.0,), "1", data(noise_not_told)),
    Kind("noise larger", (), (1.3, 3.0, 10.0), "of the stated", data(extra_noise)),
    Kind("jitter of stamps", (), (1e-3, 5e-3, 0.02), "s", data(jitter)),
    Kind("low-pass filtered", ("delay.base*",), (0.02, 0.1, 0.5), "s", data(low_pass)),
    Kind("interpolated", (), (2.0, 5.0, 20.0), "samples", data(interpolated)),
    Kind("sample and hold", ("delay.base*",), (2.0, 5.0, 20.0), "samples",
         data(sample_and_hold)),
    Kind("gyro in degrees", ("gain.base.rate*",), (57.29577951308232,), "1",
         data(wrong_unit("base.rate"))),
    Kind("velocity in millimetres", ("gain.base.velocity*",), (1000.0,), "1",
         data(wrong_unit("base.velocity")), sensor="velocity"),
    Kind("joint rates in degrees", ("gain.*.velocity",), (1.0,), "1",
         data(joints_in_degrees), part="joints"),
    Kind("thrust in pounds", ("thr_*.gain",), (0.2248089,), "1",
         data(wrong_unit("thr_")), part="thrusters"),
)  # fmt: skip
