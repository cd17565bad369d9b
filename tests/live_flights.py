"""Flights for tests of live identification: noise-free ones, made noisy or damaged in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from exciting_plans import exciting_plan

import freefloat as ff
from freefloat.excitation.commands import Pulses
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.online.live_channels import noise_of_sensors
from freefloat.telemetry.sample_rows import Sample

ATTITUDE = tuple(f"base.attitude.{a}" for a in "xyzw")
EIGHT = tuple(f"{b}.{n}" for b in ("bus", "target") for n in ("mass", "mx", "my", "izz"))


@lru_cache(maxsize=4)
def clean_flight(name: str) -> ff.Telemetry:
    """Every joint swings and thrusters pulse, without noise."""
    model = ff.load_model(name)
    quiet = tuple(replace(sensor, noise=0.0) for sensor in model.sensors)
    return ff.simulate(model, exciting_plan(model), sensors=quiet)


@lru_cache(maxsize=4)
def steady_flight(name: str) -> ff.Telemetry:
    """The same with thrust that never switches."""
    model = ff.load_model(name)
    quiet = tuple(replace(sensor, noise=0.0) for sensor in model.sensors)
    held = {t.name: Pulses(((0.0, 60.0, 1.0 + 0.5 * k),)) for k, t in enumerate(model.thrusters)}
    return ff.simulate(model, replace(exciting_plan(model), thrusts=held), sensors=quiet)


def noisy(name: str, seed: int, flight: ff.Telemetry | None = None) -> ff.Telemetry:
    """The flight with fresh noise of the model's sensors."""
    flight = clean_flight(name) if flight is None else flight
    noise, rng = noise_of_sensors(ff.load_model(name)), np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    for channel in flight.channels.values():
        if channel.name not in ATTITUDE:
            size = noise.get(channel.name, 0.0)
            columns[channel.name] = channel.values + size * rng.normal(size=channel.n_samples)
    if ATTITUDE[0] in flight:
        q = np.column_stack([flight[a].values for a in ATTITUDE])
        turn = noise[ATTITUDE[0]] * rng.normal(size=(len(q), 3))
        q = quaternion_product(q, quaternion_from_rotation_vector(turn))
        columns |= {a: q[:, k] for k, a in enumerate(ATTITUDE)}
    time = next(iter(flight.channels.values())).time
    sizes = {n: noise[n] for n in columns if noise.get(n)}
    units = {n: flight[n].unit for n in columns}
    return ff.Telemetry.from_arrays(time, columns, noise=sizes, units=units)


def wanted(name: str) -> ff.Parameters:
    """Base and target: eight parameters in the plane, twenty in space."""
    parameters = ff.Parameters(ff.load_model(name))
    return (
        parameters.free(*EIGHT)
        if name.startswith("planar")
        else parameters.free("bus.*", "target.*")
    )


def truth(name: str) -> np.ndarray:
    return np.array([p.value for p in wanted(name).free_ones])


def damaged(flight: ff.Telemetry, seed: int) -> list[Sample]:
    """20 % dropped, 5 % NaN, 5 % out of order, 1 % outliers of 100 sigma, duplicates, a jump.

    Measurements are dropped; what the thrusters were told to do is known on board.
    """
    rng = np.random.default_rng(seed)
    sigma = {n: c.noise for n, c in flight.channels.items() if c.noise}
    names, out = list(sigma), []
    for sample in flight:
        chance = rng.random()
        values = dict(sample.values)
        if chance < 0.20:
            values = {n: v for n, v in values.items() if n.endswith(".force")}
        elif chance < 0.25:
            values[names[rng.integers(len(names))]] = float("nan")
        elif chance < 0.26:
            hit = names[rng.integers(len(names))]
            values[hit] += 100.0 * sigma[hit]
        time = sample.time + (500.0 if sample.time > 40.0 else 0.0)  # the clock jumps
        out.append(Sample(time, values))
        if rng.random() < 0.02:
            out.append(Sample(time, values))
    for k in range(len(out) - 1):
        if rng.random() < 0.05:
            out[k], out[k + 1] = out[k + 1], out[k]
    return out
