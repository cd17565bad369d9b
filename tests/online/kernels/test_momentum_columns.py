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
from freefloat.online.kernels.momentum_columns import (
    first_moment_columns,
    measure_sample,
    momentum_slopes,
    perturb_sample,
    sample_columns,
    signs_of,
)
from freefloat.online.live_channels import Channels, noise_of_sensors
from freefloat.online.live_filter import FilterRequest
from freefloat.online.momentum_filter import MomentumFilter


@kernel
def both(problem, par, w, Y, energy, s, out, moved):
    x, y, z = sample_columns(problem, w, Y, energy, s, out)
    momentum_slopes(problem.tree, par, w, problem.sigma, x, y, z, moved)


def setup(name: str):
    model = ff.load_model(name)
    parameters = ff.Parameters(model).free("bus.*", "target.*")
    system = flatten(model)
    unknowns = unknowns_of(system, parameters)
    told = noise_of_sensors(model)
    channels = Channels.of(system, list(told), dict.fromkeys(told, 1.0))
    request = FilterRequest(model, parameters)
    problem = problem_of(system, request, unknowns, channels, (0.0, 0.0))
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


@kernel
def first_moments(problem, w, Y, energy, s, columns, out):
    sample_columns(problem, w, Y, energy, s, columns)
    first_moment_columns(problem, w, out)


@kernel
def perturb(problem, k, bits, more):
    perturb_sample(problem, k, 1.0, bits, more)


@kernel
def measure(problem, m, k, s):
    measure_sample(problem, m, k, s)


@kernel
def random_signs(n, out):
    for k in range(n):
        word = signs_of(k)
        for bit in range(64):
            out[k, bit] = (word >> np.uint64(bit)) & np.uint64(1)


def random_sample(c: int) -> np.ndarray:
    s = np.random.default_rng(1).normal(size=10 + 2 * c)
    s[3:7] /= np.linalg.norm(s[3:7])
    return s


@pytest.mark.parametrize("name", ["spatial-capture", "servicer"])
def test_first_moments_are_those_of_the_momentum_of_a_root_that_only_translates(name):
    """With a velocity v and nothing else moving, P = M v and L = S x v."""
    system, problem, _ = setup(name)
    c, links, n = system.n_coordinates, system.n_links, problem.n_unknowns
    s = random_sample(c)
    s[:3], s[10 + c :] = 0.0, 0.0
    tables = np.zeros((2, 6, n + 1))
    out = np.zeros((4, n))
    for axis, table in zip((0, 1), tables, strict=True):
        s[7:10] = np.eye(3)[axis]
        first_moments(problem, new_work(system.tree), np.zeros((6, 10 * links)),
                      np.zeros(10 * links), s, table, out)  # fmt: skip
    np.testing.assert_allclose(out[3], tables[0, 0, :n], rtol=1e-12, atol=1e-12)
    # e_x: S x e_x = (0, S_z, -S_y); e_y: S x e_y = (-S_z, 0, S_x)
    S = np.array([tables[1, 5, :n], -tables[0, 5, :n], tables[0, 4, :n]])
    np.testing.assert_allclose(out[:3], S, rtol=1e-10, atol=1e-10)


def test_the_probe_is_the_sample_moved_by_its_noise():
    model = ff.load_model("spatial-capture")
    request = FilterRequest(model, ff.Parameters(model).free("bus.*", "target.*"))
    own = MomentumFilter(request)
    problem, m, k, c = own.problem, own.memory, own.scratch, own.system.n_coordinates
    s = random_sample(c)
    measure(problem, m, k, s)
    np.testing.assert_array_equal(k.sample, s)  # as it is, at last
    whole = momentum(own.system, s)
    np.testing.assert_allclose(k.columns[:, -1], whole, rtol=1e-10)
    k.original[:] = s
    perturb(problem, k, np.uint64(0x5555555555555555), np.uint64(0))
    moved_sample = k.sample.copy()
    step = np.where(np.arange(9 + 2 * c) % 2 == 0, 1.0, -1.0) * problem.sigma
    expected = s.copy()
    expected[:3] += step[:3]
    turn = quaternion_from_rotation_vector(step[3:6])
    expected[3:7] = quaternion_product(s[3:7], turn)
    expected[7:] += step[6:]
    # a small turn to first order: the square of 1e-5 rad is left out
    np.testing.assert_allclose(moved_sample, expected, atol=1e-9)


def test_signs_are_fair_and_do_not_repeat():
    out = np.zeros((2000, 64), dtype=np.int64)
    random_signs(2000, out)
    # 2000 fair bits: mean within four deviations of a half, in each place
    assert np.max(np.abs(out.mean(axis=0) - 0.5)) < 4.0 * 0.5 / np.sqrt(2000)
    following = np.mean(out[1:] == out[:-1])
    assert abs(following - 0.5) < 4.0 * 0.5 / np.sqrt(2000 * 64)
    assert len(np.unique(out, axis=0)) == 2000
