"""What the live Kalman filter looks for, what it was asked, and what it remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.named_parameters import parameter_names
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.model.parameter_name import ParameterName
from freefloat.online.filter_options import KalmanOptions
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.kernels.innovation_tests import OCTAVES
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.measurements import Measurement


class KalmanMemory(NamedTuple):
    """Everything that changes from sample to sample."""

    x: Array  # the state
    joints: Array  # (4, joints) position, rate, acceleration, jerk
    root: Array  # S of the error state's covariance S S^T
    values: Array  # of the parameters
    push: Array  # thrusters, then torque and force
    numbers: Array  # see TIME in kernels/kalman_tables.py
    counts: NDArray[np.int64]  # see IS_BEGUN there
    outliers: NDArray[np.int64]  # by stream: readings that were gated
    # whether innovations are noise, see kernels/innovation_tests.py
    row_counts: NDArray[np.int64]  # (rows + 1,) innovations of every row; last, of samples
    octave_half: Array  # (octaves, rows)
    octave_power: Array  # (octaves, rows)
    window_half: Array  # (octaves, 2)
    window_worst: Array  # (octaves, 2)


def innovation_arrays(n: int) -> tuple[NDArray[np.int64], Array, Array, Array, Array]:
    """Room for the sums of n rows, from row_counts on."""
    half, power = np.zeros((2, OCTAVES, n))
    windows, worst = np.zeros((2, OCTAVES, 2))
    return np.zeros(n + 1, dtype=np.int64), half, power, windows, worst


def copy_of(memory: KalmanMemory) -> KalmanMemory:
    """The memory as it is now."""
    return KalmanMemory._make(array.copy() for array in memory)


@dataclass(frozen=True)
class Settings:
    """What was asked of the filter.

    sigma: deviations of all rows; walk: variance per second of parameters, in natural sizes; gates:
    the largest NIS by number of rows, none when empty; thrust: deviations of the thrusters' levels
    [N], fresh with every sample.
    """

    sigma: Array
    walk: Array
    forgetting: float
    gates: Array
    thrust: Array
    options: KalmanOptions


def kalman_unknowns(
    system: System, parameters: Parameters, streams: Sequence[Measurement], options: KalmanOptions
) -> FilterUnknowns:
    """The free parameters with sizes and priors; IdentificationError for what is not looked for."""
    free = parameters.free_ones
    if not free:
        raise IdentificationError(
            "nothing is free; say what to look for with Parameters.free(...)",
            code="parameters.none",
        )
    noise = {f"bias.{c}": n for s in streams for c, n in zip(s.rows, s.noise, strict=True)}
    known = {*parameter_names(system), *noise}
    odd = [p.name for p in free if p.name not in known or ParameterName.parse(p.name).is_start]
    if odd:
        raise IdentificationError(
            f"live identification does not look for {', '.join(odd[:4])}; leave them out: states"
            " are found anyway, gains and delays by `identify` from a recording",
            code="parameters.kind",
        )
    sizes = natural_sizes(system, [p.name for p in free])
    prior = np.zeros((len(free), 2))
    for k, p in enumerate(free):
        is_bias = p.name in noise
        sizes[k] = noise[p.name] if is_bias else sizes[k]
        prior[k, 1] = options.bias_spread if is_bias else options.parameter_spread
        if p.prior is not None:
            prior[k] = np.array([p.prior[0] - p.value, p.prior[1]]) / sizes[k]
    return FilterUnknowns(free, (), sizes, prior)
