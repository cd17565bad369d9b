"""Motions for tests: what drives them, smooth enough for the integrator to show its order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.dynamics import Start, System
from freefloat.dynamics.equations import no_inputs
from freefloat.dynamics.integrate import STEP
from freefloat.dynamics.integrate import integrate as freefloat_integrate
from freefloat.dynamics.kernels.integrate import Inputs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Swing:
    """A sum of sines per coordinate: prescribed motion where prescribed, torque elsewhere.

    amplitude, frequency [rad/s], phase (coordinates, terms); a prescribed coordinate swings about
    `home`.
    """

    home: Array
    amplitude: Array
    frequency: Array
    phase: Array

    def motion(self, t: Array) -> Array:
        """q, dq, ddq (..., coordinates, 3)."""
        A, w = self.amplitude, self.frequency
        angle = np.multiply.outer(t, w) + self.phase
        s, c = A * np.sin(angle), A * np.cos(angle)
        terms = [self.home + s.sum(-1), (w * c).sum(-1), -(w * w * s).sum(-1)]
        return np.stack(terms, axis=-1)

    def torque(self, t: Array) -> Array:
        """Torque [N m] (..., coordinates)."""
        return (self.amplitude * np.sin(np.multiply.outer(t, self.frequency) + self.phase)).sum(-1)


def random_swing(
    system: System,
    seed: int,
    *,
    angle: float = 0.4,
    torque: float = 0.5,
    fastest: float = 2.0,
    n_terms: int = 2,
) -> Swing:
    """Sines up to `fastest` [rad/s]; passive coordinates get no torque."""
    rng = np.random.default_rng(seed)
    coordinates = system.model.assembly.coordinates
    size = {"motion": angle, "torque": torque, "passive": 0.0, "locked": 0.0}
    scale = np.array([size[c.role] for c in coordinates])[:, None]
    shape = (len(coordinates), n_terms)
    return Swing(
        np.array([c.home for c in coordinates]),
        scale * rng.uniform(0.3, 1.0, shape) / n_terms,
        rng.uniform(0.2, 1.0, shape) * fastest,
        rng.uniform(0.0, 2.0 * np.pi, shape),
    )


def inputs_of(system: System, swing: Swing | None, time: Array) -> Inputs:
    """The kernels' tables for stage times (rows, 3)."""
    if swing is None:
        return no_inputs(system)
    inputs = no_inputs(system, n_rows=len(time))
    inputs.given[:] = swing.motion(time)[:, :, system.tree.given]
    inputs.effort[..., 0] = swing.torque(time)
    return inputs


def on_the_swing(system: System, swing: Swing | None, x: Array, *, time: float = 0.0) -> Array:
    """The state with prescribed coordinates put on their motion."""
    x, given, n = x.copy(), system.tree.given, system.n_coordinates
    if swing is not None:
        motion = swing.motion(np.array(time))
        x[13 + given], x[13 + n + given] = motion[given, 0], motion[given, 1]
    return x


def integrate(
    system: System,
    start: Start | Array,
    *,
    seconds: float,
    step: float = STEP,
    every: int = 100,
    swing: Swing | None = None,
    inputs: Callable[[Array], Inputs] | None = None,
) -> tuple[Array, Array]:
    """Times and states of an RK4 run: the start, then every `every`-th step.

    `inputs` makes tables from stage times (rows, 3), for whatever a Swing does not do.
    """
    x = start.vector(system) if isinstance(start, Start) else np.array(start, dtype=float)
    flight = freefloat_integrate(
        system,
        on_the_swing(system, swing, x),
        inputs or (lambda time: inputs_of(system, swing, time)),
        duration=seconds,
        step=step,
        every=every,
    )
    return flight.times, flight.states
