"""What a linear method is: a family of equations Y theta = y + e, with the covariance of e.

A family is one object in one file (see `momentum`, `weak`, ...): its name, the measurements it uses
and needs, and `rows`, which makes k rows at each of R instants (or intervals, windows, test
functions) of a recording. `families` lists them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.linear_options import DEFAULTS, LinearOptions
from freefloat.identification.linear.parameter_columns import update_system
from freefloat.identification.linear.samples import Samples
from freefloat.parameters.parameters import Parameter, Parameters

# Attitude [-], rate [rad/s] and velocity [m/s] of the root: what momenta are made of.
BASE = ("attitude", "rate", "velocity")
# (system, samples, values, noise=True) -> Equations
EquationMaker = Callable[..., "Equations"]


@dataclass(frozen=True)
class Equations:
    """Y (R, k, unknowns) theta = y (R, k), in units of the physics.

    names: the unknowns, first n_parameters parameters, then nuisance such as an initial momentum;
    labels (k): what each row speaks of, with its unit; blocks (R, k, k): covariance of the rows of
    an instant, neighbours (R - 1, k, k): with those of the next one, or None. Blocks are empty when
    the equations were asked for without noise, to be whitened like others.
    """

    family: str
    names: tuple[str, ...]
    n_parameters: int
    Y: Array
    y: Array
    labels: tuple[str, ...]
    units: tuple[str, ...]
    blocks: Array
    neighbours: Array | None = None


@dataclass(frozen=True)
class EquationInputs:
    """What equations are made from.

    samples: a recording, prepared for the family; values: the unknowns with their present
    estimates, in order; noise: False spares the covariance (the rows are then weighted like others
    of the same shape).
    """

    system: System
    samples: Samples
    values: Mapping[str, float]
    options: LinearOptions = DEFAULTS
    noise: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns."""
        return tuple(self.values)

    @property
    def theta(self) -> Array:
        """Their present estimates."""
        return np.array(list(self.values.values()))


class Family(Protocol):
    """One linear method: inherit, fill in the names, write `rows`.

    fields: the measurements it can use, of "attitude", "rate", "velocity", "acceleration" (of the
    base) and "torque" (of the joints); needs: those it cannot do without. scale_inputs: the known
    inputs in its rows ("thrust", "wrench", "torque"), each of which fixes the scale of masses.
    has_clock: whether it can find how late channels are; needs_free_root: whether it rests on the
    momentum, which a fixed root does not conserve; takes_momentum: whether the options `momentum`
    and `drag` are for it; is_start_only: whether its answer is biased, a starting point;
    has_own_unknowns: whether `form` has other unknowns than the parameters.
    """

    name: str
    fields: tuple[str, ...]
    needs: tuple[str, ...]
    scale_inputs: tuple[str, ...] = ("thrust", "wrench")
    has_clock: bool = False
    needs_free_root: bool = False
    takes_momentum: bool = False
    is_start_only: bool = False
    has_own_unknowns: bool = False

    @abstractmethod
    def rows(self, given: EquationInputs) -> Equations:
        """The equations of a recording in the unknowns `given.names`."""

    def equations(
        self,
        system: System,
        samples: Samples,
        values: Mapping[str, float],
        *,
        options: LinearOptions = DEFAULTS,
        noise: bool = True,
    ) -> Equations:
        """The equations of a recording, see `EquationInputs`."""
        return self.rows(EquationInputs(system, samples, values, options, noise))

    def prepare(
        self, system: System, samples: Samples, *, options: LinearOptions = DEFAULTS
    ) -> Samples:
        """The recording as the equations want it; raises IdentificationError for what it lacks."""
        is_fixed = system.model.root.type == "fixed"  # and so needs no sensor
        samples.need(self.name, *(f for f in self.needs if not (is_fixed and f in BASE)))
        if self.needs_free_root and is_fixed:
            raise IdentificationError(
                "momentum is not conserved with a fixed root; use the torque or weak method",
                code="method.fixed_root",
            )
        return samples

    def form(self, system: System, parameters: Parameters, options: LinearOptions) -> LinearForm:
        """The equations for one system: here those in the standard parameters themselves."""
        tied = [p for p in parameters if p.status == "tied"]
        unknowns = (*parameters.free_ones, *tied)
        names, before = [p.name for p in unknowns], np.array([p.value for p in unknowns])

        def renew(after: Array) -> System:
            """With new values, unless they would make nonsense of the weights."""
            new = update_system(system, names, before, after)
            is_sound = np.all(np.isfinite(after)) and new.parameters.phi[:, 0].sum() > 0.0
            return new if is_sound else system

        return LinearForm(unknowns, partial(self.equations, options=options), renew)


@dataclass(frozen=True)
class LinearForm:
    """A family's equations for one system, and the unknowns they are linear in.

    unknowns: with their values in the model, free ones first, then tied; renew: the system for new
    values of them, so that weights follow the estimates (None: weights stay); unknowns_of: the
    unknowns of a system, for families whose unknowns are functions of the parameters.
    """

    unknowns: tuple[Parameter, ...]
    equations: EquationMaker
    renew: Callable[[Array], System] | None = None
    unknowns_of: Callable[[System], Array] | None = None


@dataclass(frozen=True)
class WhitenedRows:
    """Y theta = y + noise, whitened: every row has noise of standard deviation one."""

    family: str
    names: tuple[str, ...]
    n_parameters: int
    Y: Array
    y: Array
    labels: tuple[str, ...]
    units: tuple[str, ...]


def covariance(slopes: Iterable[Array]) -> Array:
    """Covariance (R, k, k) of rows that move by slopes (R, k) with each independent error.

    Rows that no error moves get a ten-thousandth of the deviation of their like, so that nothing
    has infinite weight.
    """
    total: Array | None = None
    for slope in slopes:
        outer = slope[:, :, None] * slope[:, None, :]
        total = outer if total is None else total + outer
    assert total is not None
    return total + np.diag(floor_of(total))


def floor_of(blocks: Array) -> Array:
    """The least variance of each kind of row (k,): a ten-thousandth of the largest deviation."""
    largest = np.max(np.einsum("rii->ri", blocks), axis=0, initial=0.0)
    return np.maximum(1e-8 * largest, 1e-8 * 1e-8 * np.max(largest, initial=0.0) + 1e-60)


def whiten(equations: Equations, like: Equations | None = None) -> WhitenedRows:
    """The rows divided by their noise, or by that of other equations of the same shape."""
    model = equations if like is None else like
    e = equations
    both = np.concatenate([e.Y, e.y[:, :, None]], axis=2)
    if model.neighbours is None:
        flat = np.linalg.solve(np.linalg.cholesky(model.blocks), both).reshape(e.y.size, -1)
    else:
        flat = _whiten_banded(both, model.blocks, model.neighbours)
    return WhitenedRows(
        e.family, e.names, e.n_parameters, flat[:, :-1], flat[:, -1], e.labels, e.units
    )


def _whiten_banded(both: Array, blocks: Array, neighbours: Array) -> Array:
    """Divide (R, k, columns) by the factor of a block tridiagonal covariance, in time ~ R."""
    from scipy.linalg import cholesky_banded, solve_banded

    n, k, _ = both.shape
    band = 2 * k - 1
    upper = np.zeros((band + 1, n * k))
    for i in range(k):
        for j in range(k):
            if j >= i:
                upper[band - (j - i), j::k] = blocks[:, i, j]
            upper[band - (k + j - i), k + j :: k] = neighbours[:, i, j]
    factor = cholesky_banded(upper)  # C = U^T U, U upper
    lower = np.zeros_like(factor)
    for d in range(min(band + 1, n * k)):  # U^T by diagonals
        lower[d, : n * k - d] = factor[band - d, d:]
    return solve_banded((band, 0), lower, both.reshape(n * k, -1))
