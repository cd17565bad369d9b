"""Rates against positions: wrong units and signs are found, sound recordings pass."""

from __future__ import annotations

import numpy as np
import pytest
from estimator import identify

import freefloat as ff
from freefloat.model import builtin_models
from freefloat.notes import codes_of
from freefloat.telemetry import Channel, Telemetry, quality


def flown(name: str, seed: int = 0) -> Telemetry:
    model = ff.load_model(name)
    return ff.simulate(model, ff.default_plan(model), seed=seed)


def scaled(flight: Telemetry, glob: str, factor: float) -> Telemetry:
    """The flight with some channels times a factor, as a wrong header would make them."""
    chosen = [c for c in flight.select(glob).channels.values()]
    return flight.with_channels(
        *(Channel(c.name, c.unit, c.time, factor * c.values, noise=c.noise) for c in chosen)
    )


def codes(flight: Telemetry) -> list[str]:
    return [f.code for f in quality(flight).findings if f.code.startswith("rate.")]


@pytest.mark.parametrize("name", [m.name for m in builtin_models()])
def test_sound_flights_pass(name):
    assert codes(flown(name)) == []


@pytest.mark.parametrize(
    ("glob", "factor", "code"),
    [
        ("base.rate.*", np.pi / 180.0, "rate.degrees"),
        ("base.rate.*", 180.0 / np.pi, "rate.degrees"),
        ("*.velocity", np.pi / 180.0, "rate.degrees"),
        ("*.velocity", -1.0, "rate.sign"),
        ("base.rate.*", 1.5, "rate.gain"),
    ],
)
def test_wrong_units_and_signs_are_suspected(glob, factor, code):
    found = codes(scaled(flown("spatial-capture"), glob, factor))
    assert set(found) == {code}


def test_millimetres_called_metres_are_suspected():
    t = np.arange(0.0, 20.0, 0.1)
    columns = {"base.position.x": 1e3 * np.sin(t), "base.velocity.x": np.cos(t)}
    assert codes(Telemetry.from_arrays(t, columns)) == ["rate.millimetres"]


def test_a_gyro_mounted_another_way_is_no_fault():
    flight = flown("spatial-capture")
    x, y, z = (flight[f"base.rate.{a}"].values for a in "xyz")
    turned = {"base.rate.x": y, "base.rate.y": -x, "base.rate.z": z}
    flight = flight.with_channels(
        *(Channel(n, "rad/s", flight[n].time, v, noise=flight[n].noise) for n, v in turned.items())
    )
    assert codes(flight) == []


@pytest.mark.parametrize("seed", range(20))
def test_noise_alone_suspects_nothing(seed):
    rng, t = np.random.default_rng(seed), np.arange(0.0, 60.0, 0.1)
    q = np.column_stack([1e-4 * rng.normal(size=(t.size, 3)), np.ones(t.size)])
    columns = {f"base.attitude.{a}": q[:, k] for k, a in enumerate("xyzw")}
    columns |= {f"base.rate.{a}": 1e-5 * rng.normal(size=t.size) for a in "xyz"}
    columns |= {"a.position": rng.normal(size=t.size), "a.velocity": rng.normal(size=t.size)}
    assert codes(Telemetry.from_arrays(t, columns)) == []


def test_a_fit_says_so_too():
    model = ff.load_model("planar-capture")
    flight = scaled(flown("planar-capture"), "*.velocity", np.pi / 180.0)
    wanted = ff.Parameters(model).free("target.mass")
    fit = identify(model, wanted, flight, method="momentum")
    assert "rate.degrees" in codes_of(fit.notes)


@pytest.mark.parametrize(("spin", "duration"), [(0.2, 600.0), (0.5, 200.0), (2.0, 100.0)])
def test_a_base_that_spins_is_no_fault(spin, duration):
    t = np.arange(0.0, duration, 0.1)
    columns = {"base.attitude.x": 0.0 * t, "base.attitude.y": 0.0 * t}
    columns |= {
        "base.attitude.z": np.sin(0.5 * spin * t),
        "base.attitude.w": np.cos(0.5 * spin * t),
    }
    columns |= {"base.rate.x": 0.0 * t, "base.rate.y": 0.0 * t, "base.rate.z": 0.0 * t + spin}
    assert codes(Telemetry.from_arrays(t, columns)) == []
    columns["base.rate.z"] = np.degrees(columns["base.rate.z"])
    assert codes(Telemetry.from_arrays(t, columns)) == ["rate.degrees"]


def test_valves_open_and_shut_are_not_saturated():
    model = ff.load_model("planar-capture")
    t = np.arange(0.0, 40.0, 0.1)
    level = np.where((t % 2.0) < 1.0, 5.0, 0.0)
    flight = Telemetry.from_arrays(t, {f"{x.name}.force": level for x in model.thrusters})
    assert quality(flight).ok


def test_absurd_numbers_are_no_reason_to_fail():
    """What a damaged file may hold: finite, and beyond what can be multiplied."""
    t, huge = np.arange(0.0, 10.0, 0.1), 1e300 * (-1.0) ** np.arange(100)
    names = [f"base.attitude.{a}" for a in "xyzw"] + [f"base.rate.{a}" for a in "xyz"]
    columns = dict.fromkeys([*names, "a.position", "a.velocity"], huge)
    assert codes(Telemetry.from_arrays(t, columns)) == []
