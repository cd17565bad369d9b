"""Statistical deviations at the maximum of the likelihood: no luck of the draws in them."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff
from freefloat.observability.cramer_rao import cramer_rao


@pytest.mark.parametrize("seed", [0, 1])
def test_deviations_are_the_bounds_whatever_noise_was_drawn(seed: int) -> None:
    """Where encoders are good all that is unknown is noise of sensors, and that is known."""
    model = ff.load_model("ets7")
    plan = ff.default_plan(model, duration=40.0)
    free = ff.Parameters(model).free("bus.ixx", "bus.iyy", "bus.izz")
    bound = cramer_rao(model, free, plan)
    fit = ff.identify(model, free, ff.simulate(model, plan, seed=3), seed=seed)
    ratio = np.array([fit[name].std for name in bound.names]) / bound.std
    # 64 draws know a deviation to 9 %; encoders add 2 %, margins without samples another 2 %
    assert np.all((ratio > 0.9) & (ratio < 1.25))
    assert fit.reason.code == "choice.likelihood"
