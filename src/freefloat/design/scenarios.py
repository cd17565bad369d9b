"""Models that might be true: drawn from what is known of the parameters."""

from __future__ import annotations

import numpy as np

from freefloat.errors import ExcitationError, IdentificationError
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters


def scenarios_of(model: Model, parameters: Parameters, *, n: int, seed: int = 0) -> list[Model]:
    """n models with the free parameters that have priors drawn from them; always physical.

    A draw that no real body could have is taken closer to the model's values, half way at a time.

    >>> from freefloat.model import load_model
    >>> model = load_model("ets7")
    >>> unsure = Parameters.of(model).free("bus.mass").prior("bus.mass", std=100.0)
    >>> [round(one.body("bus").mass) for one in scenarios_of(model, unsure, n=2)]
    [2658, 2633]
    """
    if n == 0:
        return []
    known = [p for p in parameters.free_ones if p.prior is not None]
    if not known:
        raise ExcitationError("there are no priors to draw models from; give some")
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        drawn = rng.normal(size=len(known))
        for shrink in 0.5 ** np.arange(12):
            spread = zip(known, shrink * drawn, strict=True)
            values = {p.name: p.value + float(z) * _std(p.prior) for p, z in spread}
            try:
                found.append(with_parameters(model, values))
                break
            except IdentificationError:
                continue
    return found


def _std(prior: tuple[float, float] | None) -> float:
    return 0.0 if prior is None else prior[1]
