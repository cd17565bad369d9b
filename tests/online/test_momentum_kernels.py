"""Columns and slopes of a sample against the library's other formulas and central differences."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics.equations import balance
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.tree import flatten
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.numba_.compilation import kernel
from freefloat.online.filter_problem import problem_of, unknowns_of
from freefloat.online.kernels.momentum_columns import columns, slopes
from freefloat.online.live_channels import Channels, told_by_model


@kernel
def both(problem, par, w, Y, energy, s, out, moved):
    x, y, z = columns(problem, w, Y, energy, s, out)
    slopes(problem.tree, par, w, problem.sigma, x, y, z, moved)


def setup(name: str):
    model = ff.load_model(name)
    parameters = ff.Parameters(model).free("bus.*", "target.*")
    system = flatten(model)
    unknowns = unknowns_of(system, parameters)
    told = told_by_model(model)
    channels = Channels.of(system, list(told), dict.fromkeys(told, 1.0))
    problem = problem_of(system, parameters, unknowns, channels, walk={}, forgetting=1.0,
                         gates=(0.0, 0.0), every=(1, 8), correct=True)  # fmt: skip
    return system, problem, unknowns


def momentum(system, s) -> np.ndarray:
    c = system.n_coordinates
    x = np.concatenate([np.zeros(3), s[3:7], s[7:10], s[:3], s[10 : 10 + c], s[10 + c :]])
    found = balance(system, x[None])
    return np.concatenate([found.linear_momentum[0], found.angular_momentum[0]])


def moved(s, source: int, size: float, c: int) -> np.ndarray:
    out = s.copy()
    if source < 3:
        out[source] += size
    elif source < 6:
        turn = np.zeros(3)
        turn[source - 3] = size
        out[3:7] = quaternion_product(s[3:7], quaternion_from_rotation_vector(turn))
    else:
        out[source + 1] += size
    return out


@pytest.mark.parametrize("name", ["spatial-capture", "servicer"])
def test_columns_and_slopes(name):
    system, problem, _ = setup(name)
    rng, c = np.random.default_rng(0), system.n_coordinates
    s = rng.normal(size=10 + 2 * c)
    s[3:7] /= np.linalg.norm(s[3:7])
    n = problem.n_unknowns
    out, slope = np.zeros((6, n + 1)), np.zeros((9 + 2 * c, 6))
    sigma = np.ones(9 + 2 * c)
    problem = problem._replace(sigma=sigma)
    links = system.n_links
    both(problem, system.parameters, new_work(system.tree), np.zeros((6, 10 * links)),
         np.zeros(10 * links), s, out, slope)  # fmt: skip
    assert out[:, n] == pytest.approx(momentum(system, s), rel=1e-10)
    for source in range(9 + 2 * c):
        step = 1e-6
        up, down = (momentum(system, moved(s, source, d, c)) for d in (step, -step))
        # central differences of O(1000) N m s with a step of 1e-6: 1e-5 of rounding and curvature
        assert slope[source] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=2e-5)
