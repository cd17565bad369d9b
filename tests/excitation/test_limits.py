"""Limits by name: a model's own, those put in their place, and what cannot be used."""

from __future__ import annotations

import numpy as np
import pytest

import freefloat as ff
from freefloat.errors import ExcitationError
from freefloat.excitation.limits import limits_of


def test_every_limit_of_a_model_has_a_name():
    found = limits_of(ff.load_model("servicer"))
    assert found["base.attitude"].value == 0.35
    assert found["arm_2.jerk"].value == 0.8
    assert found["rw_1.momentum"].value == 15.0
    assert found["thrusters.impulse"].value == 200.0
    assert found["hinge_l1.upper"].value == 0.15
    assert np.isinf(found["tank_1.deflection"].value)


def test_given_limits_replace_those_of_the_model():
    found = limits_of(ff.load_model("servicer"), {"arm_*.velocity": 0.05, "base.rate": 0.01})
    assert {found[f"arm_{k}.velocity"].value for k in range(1, 8)} == {0.05}
    assert found["base.rate"].value == 0.01


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(ExcitationError) as caught:
        limits_of(ff.load_model("cepheus"), {"arm_9.velocity": 1.0, "arm_1.velocity": -1.0})
    assert [fault.place for fault in caught.value.faults] == ["arm_9.velocity", "arm_1.velocity"]
