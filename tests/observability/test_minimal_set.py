"""Minimal parameter sets: counts known from theory, for random chains and branched trees."""

import numpy as np
import pytest
from fault_codes import refused
from systems import random_model

from freefloat.dynamics import balance, flatten, force_regressor
from freefloat.dynamics.equations import coordinates_of
from freefloat.errors import IdentificationError
from freefloat.identification.linear.angular_regressor import (
    angular_rows,
    pair_form,
    pair_parameters,
    rotor_momentum,
)
from freefloat.model import load_model
from freefloat.observability.minimal_set import generic_accelerations, generic_states, minimal_set


def tree(seed: int, n_joints: int):
    """A random revolute tree with `n_joints` joints."""
    model = random_model(seed, n_joints=n_joints, prismatic=0.0, massless=False)
    return flatten(model)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", [0, 1])
def test_force_rows_see_ten_a_body_less_three_a_revolute_joint(n: int, seed: int) -> None:
    system = tree(10 * seed + n, n)
    states, accelerations = generic_states(system, 200), generic_accelerations(system, 200)
    coordinates = coordinates_of(states, accelerations)
    Y = force_regressor(system, states[:, 10:13], accelerations[:, :6], coordinates)
    names = [f"{link}.{k}" for link in range(n + 1) for k in range(10)]
    assert minimal_set(Y.reshape(-1, len(names)), names).count == 10 * (n + 1) - 3 * n
    assert minimal_set(Y[:, 6:].reshape(-1, len(names)), names).count == 7 * n


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_angular_momentum_pair_form_is_exact_and_has_the_known_rank(n: int, seed: int) -> None:
    system = tree(20 * seed + n, n)
    states = generic_states(system, 400)
    Y = angular_rows(system, states)
    h = balance(system, states).angular_momentum_about_com
    # rounding of a few hundred products of order one
    assert np.max(np.abs(Y @ pair_parameters(system) - h)) < 1e-12 * np.max(np.abs(h)) * 100
    count = minimal_set(Y.reshape(-1, Y.shape[2]), pair_form(system).names).count
    assert count == (n + 2) * (2 * n + 3)  # 15, 28, 45, 66


def test_cepheus_gives_the_paper_table_3_in_words() -> None:
    system = flatten(load_model("cepheus"))
    states = generic_states(system, 300)
    h = balance(system, states).angular_momentum_about_com[:, 2]
    Y = angular_rows(system, states)[:, 2]
    full = pair_parameters(system)
    assert np.max(np.abs(Y @ full + rotor_momentum(system, states)[:, 2] - h)) < 1e-12
    minimal = minimal_set(Y, pair_form(system).names)
    found = dict(zip(minimal.words, minimal.regroup @ full, strict=True))
    table_3 = {
        "B[bus,link_1].xx + B[bus,link_1].yy": 0.0074,
        "B[bus,link_2].xx + B[bus,link_2].yy": 0.0046,
        "B[bus,link_1].xy - B[bus,link_1].yx": -0.0039,
        "B[bus,link_2].xy - B[bus,link_2].yx": -0.0024,
        "J[bus].zz": 0.1314,
        "B[link_1,link_2].xx + B[link_1,link_2].yy": 0.0048,
        "J[link_1].zz": 0.0075,
        "J[link_2].zz": 0.0046,
    }
    for words, value in table_3.items():
        assert round(found[words], 4) == value
    # A general planar two-joint arm has nine; the paper's links are straight, so one is zero.
    rest = set(found) - set(table_3)
    assert len(rest) == 1 and abs(found[rest.pop()]) < 1e-12


def test_prismatic_joints_are_refused_with_a_way_out() -> None:
    system = flatten(random_model(3, n_joints=3, prismatic=1.0))
    with refused(IdentificationError, "method.prismatic"):
        pair_form(system)


def test_columns_that_never_act_are_invisible() -> None:
    rows = np.array([[1.0, 0.0, 2.0], [0.5, 0.0, -1.0], [0.1, 0.0, 3.0]])
    found = minimal_set(rows, ["a", "b", "c"])
    assert found.invisible == ("b",)
    assert found.words == ("a", "c")
