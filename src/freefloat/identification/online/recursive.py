"""The recursions of the literature behind the same interface: a sample in, an estimate out.

They are here to be compared with `OnlineEstimator`: rows are not weighed by noise, nothing is
gated, and there are no deviations. Momentum is taken about the fixed point where the first sample
was, reached by integrating the velocity; thrusters hold what they were last told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.identification.online.channels import Channels, told_by_model
from freefloat.identification.online.health import Verdict
from freefloat.identification.online.paper_rows import PaperForm, momentum_columns
from freefloat.identification.online.rls import ModifiedRls, PlainRls, TwoStepRls
from freefloat.identification.online.sample import Taken, taken_from
from freefloat.model.model import Model
from freefloat.telemetry.stream import Sample

Method = Literal["modified_rls", "two_step_rls", "plain_rls"]
METHODS: tuple[Method, ...] = ("modified_rls", "two_step_rls", "plain_rls")


class Live(Protocol):
    """What every live estimate tells."""

    @property
    def time(self) -> float | None:
        """The instant [s] of the last sample used."""
        ...

    @property
    def verdict(self) -> Verdict:
        """What became of the sample."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        ...

    @property
    def values(self) -> Array:
        """Their estimates."""
        ...


class LiveEstimator(Protocol):
    """One sample in, one estimate out: `OnlineEstimator` and `RecursiveEstimator`."""

    def update(self, sample: Sample | Mapping[str, Any]) -> Live:
        """Take one sample; the estimate after it."""
        ...


@dataclass(frozen=True, eq=False)
class RecursiveEstimate:
    """Values after a sample: mu, then theta.

    Inertias are about the centres of mass, those of plain_rls about the bodies' frames.
    """

    time: float | None
    verdict: Verdict
    names: tuple[str, ...]
    values: Array


class _Before(NamedTuple):
    """The last sample, and the columns of the first."""

    state: Array
    R: Array
    levels: Array
    first: Array


class RecursiveEstimator:
    """Base and target by recursive least squares; `prior`: the variance that P starts from.

    >>> from freefloat.model import load_model
    >>> rls = RecursiveEstimator(load_model("planar-capture"), method="plain_rls")
    >>> rls.update({"time": 0.0}).verdict
    'incomplete'
    """

    def __init__(
        self,
        model: Model,
        bodies: tuple[str, str] = ("bus", "target"),
        *,
        method: Method = "modified_rls",
        prior: float = 1e6,
    ) -> None:
        if method not in METHODS:
            raise IdentificationError(f"method={method!r}: expected one of {', '.join(METHODS)}")
        self.form = PaperForm(flatten(model), bodies)
        told = told_by_model(model)
        self.taken = Taken(Channels.of(self.form.system, list(told), told))
        phi = np.concatenate([model.body(name).phi for name in bodies])
        mu = phi[self.form.mu_places]
        start = self.form.theta(phi)
        self.rls: PlainRls | ModifiedRls | TwoStepRls
        if method == "plain_rls":
            x = np.concatenate([mu, phi[self.form.theta_places]])
            self.rls = PlainRls(x, np.full(len(x), prior))
        else:
            kind = ModifiedRls if method == "modified_rls" else TwoStepRls
            self.rls = kind(mu, start, prior, self.form.quadratic)
        places = [*self.form.mu_places, *self.form.theta_places]
        self.names = tuple(self.form.names[k] for k in places)
        self.time: float | None = None
        self._before: _Before | None = None
        self._gained = np.zeros(6)

    def update(self, sample: Sample | Mapping[str, Any]) -> RecursiveEstimate:
        """Take one sample; the estimate after it. Never raises on a bad one."""
        read = taken_from(sample)
        if read is None:
            return self._estimate("unreadable")
        if not self.taken.read(read):
            return self._estimate("incomplete")
        if not np.all(np.isfinite(self.taken.vector)):
            return self._estimate("unusable")
        if self.time is not None and read.time <= self.time:
            return self._estimate("duplicate" if read.time == self.time else "late")
        return self._estimate(self._take(read.time))

    def _estimate(self, verdict: Verdict) -> RecursiveEstimate:
        return RecursiveEstimate(self.time, verdict, self.names, self.rls.x.copy())

    def _take(self, time: float) -> Verdict:
        v = self.taken.vector
        state = np.concatenate([np.zeros(3), v[3:7], v[7:10], v[:3], v[10:]])
        if self._before is None or self.time is None:
            columns, R = momentum_columns(self.form, state[None])
            self._before = _Before(state, R[0], self.taken.levels.copy(), columns[0])
            self.time = time
            return "begun"
        last, h = self._before, time - self.time
        state[:3] = last.state[:3] + 0.5 * h * (last.state[7:10] + state[7:10])
        columns, R = momentum_columns(self.form, state[None])
        ends = ((last.state, last.R), (state, R[0]))  # the same thrust, seen from both ends
        self._gained += 0.5 * h * sum(self._push(x, axes, last.levels) for x, axes in ends)
        self._before = _Before(state, R[0], self.taken.levels.copy(), last.first)
        self.time = time
        self._rows(columns[0] - last.first)
        return "taken"

    def _push(self, state: Array, R: Array, levels: Array) -> Array:
        """Force, and torque about the origin, of thrusters at these levels."""
        thrust = self.form.system.tree.thrusters.T @ levels
        force, torque = R @ thrust[3:], R @ thrust[:3]
        return np.concatenate([force, torque + np.cross(state[:3], force)])

    def _rows(self, moved: Array) -> None:
        form = self.form
        linear, angular = ([0, 1], [5]) if form.is_planar else ([0, 1, 2], [3, 4, 5])
        Y, y = moved[:, :20], self._gained - moved[:, 20]
        if isinstance(self.rls, PlainRls):
            kept = [*linear, *angular]
            self.rls.update(Y[kept][:, [*form.mu_places, *form.theta_places]], y[kept])
            return
        phi, psi = form.split(Y[angular])
        self.rls.update(Y[linear][:, form.mu_places], y[linear], phi, y[angular], -psi)
