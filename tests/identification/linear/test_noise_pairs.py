"""How many pairs of fresh noise a recording needs: the fewer, the longer it is."""

from __future__ import annotations

from typing import Any

import pytest

import freefloat as ff
from freefloat.identification.linear import linear_estimate
from freefloat.identification.linear.linear_options import LinearOptions

MODEL = ff.load_model("planar-capture")


def test_long_recordings_need_fewer_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    flight = ff.simulate(MODEL, ff.default_plan(MODEL, duration=20.0, seed=2), seed=2, step=1e-2)
    wanted = ff.Parameters(MODEL).free("target.mass", "target.mx", "target.izz")
    n, drawn, original = len(flight["base.rate.z"].time), [], linear_estimate._noisy_tables

    def count(stack: Any, make: Any, recordings: Any, n_pairs: int, rng: Any) -> list[Any]:
        drawn.append(n_pairs)
        return original(stack, make, recordings, n_pairs, rng)

    monkeypatch.setattr(linear_estimate, "_noisy_tables", count)

    def fit(instants: int) -> ff.Fit:
        drawn.clear()
        options = LinearOptions(noise_instants=instants)
        return ff.identify(MODEL, wanted, flight, method="momentum", options=options, assess=False)

    usual = fit(100 * n)
    assert drawn[0] == LinearOptions().first_noise_pairs
    assert drawn[-1] == LinearOptions().noise_pairs - LinearOptions().first_noise_pairs
    one = fit(n)
    assert set(drawn[:-1]) == {1}
    assert drawn[-1] == 0
    for estimate in usual.estimates:
        # what noise does to the columns is a small part of what it does to the rows
        assert abs(one[estimate.name].value - estimate.value) < 0.3 * estimate.std
