"""CUSUM of the NIS, gated samples, frozen channels and stuck joints, against plain Python."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from freefloat.numba_.compilation import kernel
from freefloat.online.kernels.change_detection import odd_findings
from freefloat.online.kernels.codes import (
    DOF,
    EXCESS,
    GATED,
    LEVEL,
    NIS,
    SETTLED,
    SINCE_CHANGE,
    TAKEN,
    Count,
    Number,
    Odd,
)
from freefloat.online.kernels.kernel_limits import KernelLimits

Memory = namedtuple("Memory", "counts numbers repeats rest")
Problem = namedtuple("Problem", "limits sigma")
PROBLEM = Problem(KernelLimits(), np.full(9 + 4, 1e-3))


@kernel
def find(problem, m, code):
    return odd_findings(problem, m, code)


def settled() -> Memory:
    """Two joints, weights of an estimate, long after a change."""
    m = Memory(
        np.zeros(len(Count), dtype=np.int64), np.zeros(len(Number)),
        np.zeros(13, dtype=np.int64), np.zeros((2, 2)),
    )  # fmt: skip
    m.counts[SINCE_CHANGE], m.numbers[SETTLED], m.numbers[LEVEL] = 1000, 1.0, 1.0
    m.numbers[DOF] = 6.0
    return m


def test_surprise_cumulates_as_a_cusum():
    rng, m, limits = np.random.default_rng(0), settled(), PROBLEM.limits
    excess, n_alarms = 0.0, 0
    for nis in rng.chisquare(6, size=400) * np.linspace(1.0, 3.0, 400):
        m.numbers[NIS] = nis
        found = find(PROBLEM, m, TAKEN)
        raw = excess + (nis - 6.0) / np.sqrt(12.0) - limits.surprise_allowance
        excess = max(0.0, raw)
        assert m.numbers[EXCESS] == pytest.approx(excess, abs=1e-12)
        assert bool(found & Odd.CHANGED) == (raw > limits.surprise_limit)
        n_alarms += bool(found & Odd.CHANGED)
    assert n_alarms > 0


def test_soon_after_a_change_nothing_cumulates():
    m = settled()
    m.counts[SINCE_CHANGE], m.numbers[NIS] = PROBLEM.limits.surprise_after, 1e9
    assert find(PROBLEM, m, TAKEN) == 0 and m.numbers[EXCESS] == 0.0
    m.numbers[SETTLED] = 0.0  # with the model's weights later still, and only where they fit
    m.counts[SINCE_CHANGE] = PROBLEM.limits.surprise_after_model + 1
    m.numbers[LEVEL] = PROBLEM.limits.fitting
    assert find(PROBLEM, m, TAKEN) == 0
    m.numbers[LEVEL] = 1.0
    assert find(PROBLEM, m, TAKEN) & Odd.CHANGED


def test_six_of_the_last_ten_gated_are_a_change():
    rng, m = np.random.default_rng(1), settled()
    history: list[bool] = []
    n_changes = 0
    for _ in range(300):
        history.append(bool(rng.random() < 0.45))
        found = find(PROBLEM, m, GATED if history[-1] else TAKEN)
        is_change = sum(history[-10:]) >= 6
        assert bool(found & Odd.CHANGED) == is_change
        is_out_of_step = not is_change and len(history) > 1 and all(history[-2:])
        assert bool(found & Odd.OUT_OF_STEP) == is_out_of_step
        n_changes += is_change
    assert n_changes > 0


def test_frozen_and_stuck_are_told_apart():
    m, limits = settled(), PROBLEM.limits
    m.repeats[4] = limits.frozen_after
    assert find(PROBLEM, m, TAKEN) == Odd.FROZEN
    m.repeats[4] += 1  # told once
    assert find(PROBLEM, m, TAKEN) == 0
    m.rest[0] = limits.stuck_after + 0.1, 1.01 * limits.moved * 1e-3  # it moved, and rests
    assert find(PROBLEM, m, TAKEN) == 0  # so does the other one
    m.rest[1] = 0.0, 1.01 * limits.moved * 1e-3
    assert find(PROBLEM, m, TAKEN) == Odd.STUCK
    m.rest[0, 1] = 0.99 * limits.moved * 1e-3  # it never moved
    assert find(PROBLEM, m, TAKEN) == 0
