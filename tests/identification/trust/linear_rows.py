"""White rows of a made-up linear problem, whose every statistic can be had by dense algebra."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from freefloat.identification.trust.assumption_columns import AssumptionColumns
from freefloat.identification.trust.white_rows import ChannelRows, WhiteRows
from freefloat.prediction.assumptions import Assumption


def linear_rows(
    rng: np.random.Generator,
    *,
    n: int = 600,
    channels: int = 3,
    unknowns: int = 4,
    draws: int = 8,
    signal: np.ndarray | None = None,
    noise: float = 1.0,
) -> WhiteRows:
    """Rows of `channels` channels of n samples: noise, and a signal that no unknown explains."""
    rows = n * channels
    times = np.linspace(0.0, 60.0, n)
    shapes = rng.standard_normal((unknowns, channels, 4))
    waves = np.array([np.cos((k + 1) * np.pi * times / 60.0) for k in range(4)])
    jacobian = np.concatenate([(shapes[:, c] @ waves).T for c in range(channels)])
    residual = noise * rng.standard_normal(rows) + (0.0 if signal is None else signal)
    drawn = rng.standard_normal((rows, draws))
    parts = tuple(
        ChannelRows(f"channel.{c}", 0, slice(c * n, (c + 1) * n), times) for c in range(channels)
    )
    scatter = np.sum(np.linalg.pinv(jacobian) ** 2, axis=1)
    none = cast("Any", None)
    rows = WhiteRows(none, none, parts, residual, jacobian, drawn, scatter)
    return replace(rows, residual=rows.remainder, draws=rows.project_out(drawn))


def assumptions(columns: np.ndarray, *names: str) -> AssumptionColumns:
    """Columns of assumptions that may be off by one."""
    found = tuple(Assumption(name, 0.0, "1", 1.0, 1.0, True, "made up") for name in names)
    return AssumptionColumns(found, columns)
