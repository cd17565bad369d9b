"""Which estimator does what is asked for."""

from __future__ import annotations

from typing import Any

from freefloat.errors import IdentificationError
from freefloat.identification.online.estimator import OnlineEstimator
from freefloat.identification.online.gathering import GatheringEstimator, has_different_rates
from freefloat.identification.online.kalman import KalmanEstimator, is_filtered
from freefloat.identification.online.recursions import RECURSIVE
from freefloat.identification.online.recursive import RecursiveEstimator
from freefloat.identification.parameters import Parameters
from freefloat.model.model import Model

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
