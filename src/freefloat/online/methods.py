"""Which estimator does what is asked for."""

from __future__ import annotations

from typing import Any

from freefloat.errors import IdentificationError
from freefloat.model.model import Model
from freefloat.online.estimator import OnlineEstimator
from freefloat.online.frame_estimator import GatheringEstimator, has_different_rates
from freefloat.online.kalman_estimator import KalmanEstimator, is_filtered
from freefloat.online.literature.recursions import RECURSIVE
from freefloat.online.literature.recursive import RecursiveEstimator
from freefloat.parameters.parameters import Parameters

METHODS = ("auto", "square-root", "kalman", *RECURSIVE)


def class_of(model: Model, parameters: Parameters, options: dict[str, Any]) -> type:
    """The class for OnlineEstimator's options; IdentificationError for methods that are none."""
    method, like = options.get("method", "auto"), options.get("like")
    if method == "auto":
        method = "kalman" if is_filtered(model, parameters, like) else "square-root"
    if method in RECURSIVE:
        return RecursiveEstimator
    if method == "kalman":
        return KalmanEstimator
    if method != "square-root":
        raise IdentificationError(f"method={method!r}: expected one of {', '.join(METHODS)}")
    gather = options.get("gather")
    if gather is None:
        gather = has_different_rates(model, like)
    return GatheringEstimator if gather else OnlineEstimator
