"""Option dataclasses refuse what their annotations do not allow, in one way and with a code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pytest

from freefloat.errors import IdentificationError
from freefloat.records.option_record import CheckedOptions, require_value
from freefloat.records.values import Count, Natural, NotNegative, Positive, Share


class Kernel(NamedTuple):
    gate: Positive = 6.0


@dataclass(frozen=True)
class Descent(CheckedOptions, error=IdentificationError):
    step: Positive = 0.1
    damping: NotNegative | None = None
    share: Share = 0.5
    rounds: Count = 3
    seed: Natural = 0
    horizons: Sequence[Positive] = (1.0, 2.0)
    axis: tuple[float, float, float] | None = None
    loss: Literal["huber", "tukey"] | None = None
    is_robust: bool = False
    kernel: Kernel = Kernel()


@dataclass(frozen=True)
class Outer(CheckedOptions, error=IdentificationError):
    descent: Descent = field(default_factory=Descent)


def faults_of(given: dict[str, Any], record: type = Descent) -> list[tuple[str, str]]:
    with pytest.raises(IdentificationError) as caught:
        record(**given)
    return [(fault.place.partition(".")[2], fault.code) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("step", 0.0, "value.range"),
        ("step", float("nan"), "value.range"),
        ("step", float("inf"), "value.range"),
        ("step", "0.1", "value.type"),
        ("step", None, "value.type"),
        ("step", True, "value.type"),
        ("damping", -1e-9, "value.range"),
        ("share", 1.5, "value.range"),
        ("rounds", 0, "value.range"),
        ("rounds", 2.5, "value.type"),
        ("rounds", 10**40, "value.type"),
        ("seed", -1, "value.range"),
        ("horizons", 3.0, "value.type"),
        ("axis", (1.0, 2.0), "value.count"),
        ("loss", "cauchy", "value.choice"),
        ("is_robust", 1, "value.type"),
        ("kernel", (6.0,), "value.type"),
    ],
)
def test_a_value_that_cannot_be_is_refused(name, value, code):
    assert faults_of({name: value}) == [(name, code)]


def test_every_fault_is_told_at_once_with_its_place():
    given = {"step": -1.0, "horizons": [1.0, -2.0, "x"], "kernel": Kernel(gate=-6.0)}
    assert faults_of(given) == [
        ("step", "value.range"),
        ("horizons[2]", "value.type"),
        ("kernel.gate", "value.range"),
    ]
    assert faults_of({"descent": 5}, Outer) == [("descent", "value.type")]


def test_what_is_kept_has_the_annotated_type():
    # A kernel compiled for floats would be compiled anew for an integer.
    made = Descent(step=np.float32(1), rounds=np.int64(4), horizons=[1, 2], kernel=Kernel(6))  # type: ignore[arg-type]
    assert made == Descent(1.0, rounds=4)
    kept = (made.step, made.rounds, made.horizons, made.kernel.gate)
    assert [type(value) for value in kept] == [float, int, tuple, float]


def test_a_changed_copy_is_checked_too():
    with pytest.raises(IdentificationError):
        replace(Descent(), step=0.0)


def test_an_argument_is_checked_in_the_same_way():
    assert require_value(2, Positive, "step", IdentificationError) == 2.0
    for value, hint, code in [(-1, Positive, "value.range"), (None, Descent, "value.type")]:
        with pytest.raises(IdentificationError) as caught:
            require_value(value, hint, "given", IdentificationError)
        assert [(f.place, f.code) for f in caught.value.faults] == [("given", code)]
