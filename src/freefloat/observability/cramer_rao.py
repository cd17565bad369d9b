"""The Cramer-Rao bound: how well the best of all estimators could know, before anything flies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.default import default_plan
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.parts import Sensor
from freefloat.observability.information import (
    at_model_values,
    choose_sensors,
    column_mix,
    expected_rows,
    free_parameters,
    unknown_initial_states,
)
from freefloat.observability.visibility import spectrum
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters


@dataclass(frozen=True)
class CramerRaoBound:
    """Standard deviations (n,) that no unbiased estimator beats, and their covariance (n, n).

    NaN where the flight tells nothing of a parameter by itself.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    std: Array
    covariance: Array

    def __getitem__(self, name: str) -> float:
        """The bound on the standard deviation of a parameter, in its unit."""
        if name not in self.names:
            raise IdentificationError(f"no bound on {name!r}; known: {', '.join(self.names[:6])}")
        return float(self.std[self.names.index(name)])

    def __str__(self) -> str:
        """One line a parameter."""
        rows = zip(self.names, self.std, self.units, strict=True)
        return "\n".join(f"{name:<28} {std:10.4g} {unit}" for name, std, unit in rows)


def cramer_rao(
    model: Model,
    parameters: Parameters,
    plan: Plan | None = None,
    *,
    sensors: str | Sequence[Sensor] | None = None,
    known_start: bool = False,
    biases: Sequence[str] = (),
) -> CramerRaoBound:
    """The bound for the free parameters at the model's values, for a plan and a sensor suite.

    plan, sensors: the default motion and the model's suite unless given. The initial state counts
    as unknown unless it is known; `biases` names channels (globs) whose offset is unknown too.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> bound = cramer_rao(model, ff.Parameters(model).free("bus.izz"))
    >>> 0.0 < bound["bus.izz"] < 0.01
    True
    """
    system = flatten(model)
    parameters = at_model_values(system, parameters)
    wanted = free_parameters(parameters)
    states = unknown_initial_states(system, parameters, not known_start)
    names, mix = column_mix(parameters, wanted, states, {})
    suite = choose_sensors(model, sensors)
    rows = expected_rows(system, plan or default_plan(model), suite, names, mix, biases)
    n = len(wanted)
    nuisance = np.hstack([rows.columns[:, n : n + len(states)], rows.biases])
    sizes = natural_sizes(system, [p.name for p in wanted])
    weights = np.array(
        [s / p.prior[1] if p.prior else 0.0 for p, s in zip(wanted, sizes, strict=True)]
    )
    found = spectrum(rows.columns[:, :n] * sizes, nuisance, weights)
    is_seen = found.values > found.floor
    spread = found.directions[:, is_seen] / found.values[is_seen] * sizes[:, None]
    # a parameter that takes part in what nobody sees has no bound
    lost = np.linalg.norm(found.directions[:, ~is_seen], axis=1) > 1e-6
    covariance = spread @ spread.T
    covariance[lost] = np.nan
    covariance[:, lost] = np.nan
    return CramerRaoBound(
        tuple(p.name for p in wanted), tuple(p.unit for p in wanted),
        np.sqrt(np.diag(covariance)), covariance,
    )  # fmt: skip
