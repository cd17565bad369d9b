"""Recursive least squares as in the literature: plain, two-step, and paper 001's modified form.

They are here to be compared with; the estimator of record is the square-root filter. Equations 34
and 35 of the paper:

    A mu = b                      masses and first moments
    phi theta = y + psi D(mu)     inertias about the centres of mass

With the steps that eqs 36-38 leave out, for every new set of rows N:

    theta_{N-1,N} = theta_{N-1,N-1} + M(N-1) [D(mu_N) - D(mu_{N-1})]
    theta_{N,N}   = theta_{N-1,N} + K_N [y_N + psi_N D(mu_N) - phi_N theta_{N-1,N}]
    M(N)          = (1 - K_N phi_N) M(N-1) + K_N psi_N
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from freefloat.arrays import Array


class PlainRls:
    """Covariance RLS: P and x, updated with every set of rows.

    symmetric: P is made symmetric again after every update. As it is written in the literature it
    is not, and rounding then makes P lose its sign within some hundred samples of precise data.

    >>> rls = PlainRls(np.zeros(1), np.full(1, 1e6))
    >>> for _ in range(3): gain = rls.update(np.ones((1, 1)), np.array([2.0]))
    >>> round(float(rls.x[0]), 6)
    1.999999
    """

    def __init__(self, x: Array, variance: Array, *, symmetric: bool = False) -> None:
        self.symmetric = symmetric
        self.x, self.P = np.array(x, dtype=float), np.diag(np.asarray(variance, dtype=float))

    def update(self, Y: Array, y: Array) -> Array:
        """Take rows Y x = y with unit noise; the gain."""
        with np.errstate(all="ignore"):  # once P is no covariance, anything may come of it
            across = self.P @ Y.T
            K = np.linalg.solve(np.eye(len(y)) + Y @ across, across.T).T
            self.x = self.x + K @ (y - Y @ self.x)
            self.P = self.P - K @ across.T
            if self.symmetric:
                self.P = 0.5 * (self.P + self.P.T)
        return K

    def arrays(self) -> dict[str, Array]:
        """x and P, for a state file."""
        return {"x": self.x, "P": self.P}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Go on from `arrays`."""
        self.x, self.P = arrays["x"], arrays["P"]

    @property
    def is_positive(self) -> bool:
        """Whether P still is a covariance; rounding takes that away."""
        finite = bool(np.all(np.isfinite(self.P)))
        return finite and bool(np.all(np.linalg.eigvalsh(0.5 * (self.P + self.P.T)) > 0.0))


class _BothEquations:
    """mu by a first recursion, theta by a second one; quadratic: D(mu)."""

    def __init__(
        self, mu: Array, theta: Array, variance: float, quadratic: Callable[[Array], Array]
    ) -> None:
        self.first = PlainRls(mu, np.full(len(mu), variance))
        self.second = PlainRls(theta, np.full(len(theta), variance))
        self.quadratic = quadratic

    def arrays(self) -> dict[str, Array]:
        """Everything, for a state file."""
        parts = {"first": self.first, "second": self.second}
        return {f"{k}.{n}": a for k, rls in parts.items() for n, a in rls.arrays().items()}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Go on from `arrays`."""
        self.first.restore({n: arrays[f"first.{n}"] for n in ("x", "P")})
        self.second.restore({n: arrays[f"second.{n}"] for n in ("x", "P")})

    @property
    def x(self) -> Array:
        """mu, then theta."""
        return np.concatenate([self.first.x, self.second.x])


class ModifiedRls(_BothEquations):
    """Paper 001's one-step method: theta follows mu without starting again."""

    def __init__(
        self, mu: Array, theta: Array, variance: float, quadratic: Callable[[Array], Array]
    ) -> None:
        super().__init__(mu, theta, variance, quadratic)
        self.D = quadratic(np.asarray(mu, dtype=float))
        self.M = np.zeros((len(theta), len(self.D)))

    def update(self, A: Array, b: Array, phi: Array, y: Array, psi: Array) -> None:
        """Take one set of rows of both equations.

        Args:
            A, b: Columns and right-hand side of the equation of linear momentum.
            phi, y: Columns and right-hand side of that of angular momentum.
            psi: Columns of D(mu) in the latter, moved to its right-hand side with the estimate.
        """
        self.first.update(A, b)
        D = self.quadratic(self.first.x)
        self.second.x = self.second.x + self.M @ (D - self.D)
        K = self.second.update(phi, y + psi @ D)
        self.M = self.M - K @ (phi @ self.M) + K @ psi
        self.D = D

    def arrays(self) -> dict[str, Array]:
        """Everything, for a state file."""
        return super().arrays() | {"D": self.D, "M": self.M}

    def restore(self, arrays: dict[str, Array]) -> None:
        """Go on from `arrays`."""
        super().restore(arrays)
        self.D, self.M = arrays["D"], arrays["M"]


class TwoStepRls(_BothEquations):
    """The traditional way: with every new mu, theta is found again from all rows kept so far."""

    def __init__(
        self, mu: Array, theta: Array, variance: float, quadratic: Callable[[Array], Array]
    ) -> None:
        super().__init__(mu, theta, variance, quadratic)
        self.theta, self.variance = np.array(theta), variance
        self.kept: list[tuple[Array, Array, Array]] = []

    def update(self, A: Array, b: Array, phi: Array, y: Array, psi: Array) -> None:
        """Take one set of rows of both equations."""
        self.first.update(A, b)
        self.kept.append((phi, y, psi))
        D = self.quadratic(self.first.x)
        self.second = PlainRls(self.theta, np.full(len(self.theta), self.variance))
        for rows, right, mix in self.kept:
            self.second.update(rows, right + mix @ D)

    def arrays(self) -> dict[str, Array]:
        """Everything, for a state file."""
        found = super().arrays()
        for k, name in enumerate(("phi", "y", "psi")):
            found[f"kept.{name}"] = np.array([rows[k] for rows in self.kept])
        return found

    def restore(self, arrays: dict[str, Array]) -> None:
        """Go on from `arrays`."""
        super().restore(arrays)
        kept = (arrays[f"kept.{name}"] for name in ("phi", "y", "psi"))
        self.kept = list(zip(*kept, strict=True))
