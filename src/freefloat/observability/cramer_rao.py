"""The Cramér-Rao bound: how well the best unbiased estimator could know, before anything flies."""

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
from freefloat.text import did_you_mean, listing, table_lines


@dataclass(frozen=True)
class CramerRaoBound:
    """Standard deviations (n,) that no unbiased estimator beats, and their covariance (n, n).

    NaN where a parameter is not observable by itself.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    std: Array
    covariance: Array

    def __getitem__(self, name: str) -> float:
        """The bound on the standard deviation of a parameter, in its unit."""
        if name not in self.names:
            known = listing(self.names, most=6)
            hint = did_you_mean(name, self.names, otherwise=f"known: {known}")
            raise IdentificationError(f"no bound on {name!r}; {hint}", code="name.unknown")
        return float(self.std[self.names.index(name)])

    def __str__(self) -> str:
        """One line a parameter."""
        rows = zip(self.names, self.std, self.units, strict=True)
        lines = [(name, f"{std:.4g}", unit) for name, std, unit in rows]
        return "\n".join(table_lines(lines, left=(True, False, True)))


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

    Args:
        model: what flies, with its sensors and their noise.
        parameters: of that model; the free ones get a bound, priors count as information.
        plan: the motion; every driven joint on a gentle one for 60 s unless given.
        sensors: words such as "gyro encoders", or a list; the model's suite unless given.
        known_start: whether the initial state is known.
        biases: channels (globs) whose bias is unknown.

    Returns:
        standard deviations in the parameters' units, and their covariance.

    Raises:
        IdentificationError: no parameter is free, or a name fits nothing of the model.

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
    # a parameter that takes part in a null direction has no bound; 1e-6 of a direction is rounding
    lost = np.linalg.norm(found.directions[:, ~is_seen], axis=1) > 1e-6
    covariance = spread @ spread.T
    covariance[lost] = np.nan
    covariance[:, lost] = np.nan
    return CramerRaoBound(
        tuple(p.name for p in wanted), tuple(p.unit for p in wanted),
        np.sqrt(np.diag(covariance)), covariance,
    )  # fmt: skip
