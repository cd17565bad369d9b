"""A made-up linear method: the linear momentum of the whole, where nothing pushes."""

from __future__ import annotations

import numpy as np

from freefloat.dynamics.equations import balance, momentum_regressor
from freefloat.identification.linear.family import BASE, Equations, Family, covariance
from freefloat.identification.linear.parameter_columns import parameter_columns, require_linear


class LinearMomentum(Family):
    """P(t) - P0 = 0 at every sample, where nothing pushes: three rows in world axes."""

    name = "linear_momentum"
    fields = needs = BASE

    def rows(self, given):
        """The columns of the parameters, then those of the initial momentum P0."""
        system, samples, names = given.system, given.samples, given.names
        require_linear(system, names)
        R = samples.rotation
        velocity = np.einsum("nji,nj->ni", R, samples.velocity)
        local, _ = momentum_regressor(system, samples.rate, velocity, samples.coordinates)
        columns, known = parameter_columns(system, names, R @ local[:, 3:], given.theta)
        initial = np.broadcast_to(-np.eye(3), (len(columns), 3, 3))
        blocks = np.zeros((0, 3, 3))
        if given.noise:  # how far a standard deviation of every reading moves the rows
            pairs = samples.disturb("attitude", "rate", "velocity", "q", "dq")
            blocks = covariance(
                0.5 * (_momentum(system, a) - _momentum(system, b)) for a, b in pairs
            )
        return Equations(
            self.name, (*names, *(f"momentum0.{axis}" for axis in "xyz")), len(names),
            np.concatenate([columns, initial], axis=2), -known,
            tuple(f"linear.{axis}" for axis in "xyz"), ("N s",) * 3, blocks,
        )  # fmt: skip


def _momentum(system, samples):
    return balance(system, samples.states).linear_momentum
