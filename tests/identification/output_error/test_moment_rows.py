"""Long recordings by the amplitudes of blocks: the same answer, deviations and grade."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

import freefloat as ff
from freefloat.identification.output_error.options import SearchOptions
from freefloat.identification.trust.misfit import band_tests
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import ChannelRows, WhiteRows
from freefloat.least_squares.block_moments import BlockMoments

MODEL = ff.load_model("planar-capture")
NAMES = ("target.mass", "target.mx", "target.my", "target.izz")
SAMPLES, BLOCKS = SearchOptions(whole_rows=10**9), SearchOptions(whole_rows=1000)


@cache
def flight(gain: float = 1.0) -> ff.Telemetry:
    sensors = tuple(replace(s, rate=100.0) for s in MODEL.sensors)
    plan = ff.default_plan(MODEL, duration=20.0, seed=3)
    body = replace(MODEL.body("bus"), mass=gain * MODEL.body("bus").mass)
    model = replace(MODEL, bodies=tuple(body if b.name == "bus" else b for b in MODEL.bodies))
    return ff.simulate(model, plan, seed=3, step=1e-2, sensors=sensors)


def fit_of(search: SearchOptions, flown: ff.Telemetry) -> ff.Fit:
    wanted = ff.Parameters(MODEL).free(*NAMES)
    return ff.identify(MODEL, wanted, flown, method="output_error", search=search, seed=1)


@pytest.mark.parametrize("gain", [1.0, pytest.param(1.2, marks=pytest.mark.full)])
def test_answer_and_grade_are_those_of_all_samples(gain: float) -> None:
    whole, blocks = (fit_of(search, flight(gain)) for search in (SAMPLES, BLOCKS))
    assert whole.assessment is not None
    assert blocks.assessment is not None
    assert blocks.assessment.grade == whole.assessment.grade
    assert any(blocks[name].value != whole[name].value for name in NAMES)  # by blocks indeed
    for name in NAMES:
        one, other = whole[name], blocks[name]
        # `information_loss` of 1 % scatters an estimate by a tenth of its deviation
        assert abs(other.value - one.value) < 0.3 * one.std
        assert 0.99 * one.std < other.std < 1.05 * one.std


def test_vibration_within_blocks_is_found() -> None:
    n, rng = 2048, np.random.default_rng(2)
    times, blocks, none = np.arange(n) / 100.0, BlockMoments(n, 32), cast("Any", None)
    channel = ChannelRows("base.rate.z", 0, slice(0, blocks.size), blocks.times(times), blocks,
                          slice(0, n))  # fmt: skip

    def tests(amplitude: float) -> list[float]:
        samples = rng.standard_normal((n, 9))
        samples[:, 0] += amplitude * np.cos(2.0 * np.pi * 31.0 * times)
        slow = blocks.amplitudes(samples)
        fast = samples - blocks.series(slow)
        jacobian = np.ones((blocks.size, 1))
        rows = WhiteRows(none, none, (channel,), slow[:, 0], jacobian, slow[:, 1:], np.ones(1),
                         fast=fast[:, 0], fast_draws=fast[:, 1:])  # fmt: skip
        return [test.chance for test in band_tests(rows, TrustOptions())]

    assert min(tests(0.0)) > 1e-3
    assert min(tests(0.5)) < 1e-9
