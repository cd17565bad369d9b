"""Does momentum balance? A second way to judge a model: no integration, no initial state to fit.

With the masses of the model and the motion as measured, momentum minus the impulse of thrust must
stay what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance as momentum_of
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.identification.linear.angular import ANGULAR
from freefloat.identification.linear.family import Equations, covariance, whiten
from freefloat.identification.linear.momentum import MOMENTUM
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.model import inertia as inertial
from freefloat.parameters.parameters import parameter_values
from freefloat.prediction.flight import FlightSegment
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation.flight_prediction import AXES, between
from freefloat.validation.scores import rms

# theory: adds sqrt(1 + 0.5^2), a tenth, to an rms of one; more would be taken for the model's error
ADMITTED = 0.5  # units of noise: what sampling and numerics may leave of a motion that balances


@dataclass(frozen=True)
class MomentumBalance:
    """One component of momentum over a flight.

    rms is what does not balance, in units of the noise it should have (1 is perfect); share is the
    same relative to what was exchanged.
    """

    component: str
    unit: str
    n: int
    rms: float
    rms_raw: float
    share: float


def momentum_balances(
    system: System, telemetry: Telemetry, at: FlightSegment
) -> tuple[tuple[MomentumBalance, ...], str]:
    """The balance of each component, and why there is none where there is none.

    Joints that swing unmeasured move as the prediction `at` has them. The predicted motion must
    balance when it is sampled in the same way; where it does not (samples too far apart to be
    integrated, forces the equations leave out), nothing can be said of the measured one.
    """
    reasons = []
    for family, equations in ((MOMENTUM, _momentum), (ANGULAR, _angular)):
        try:
            samples = samples_of(system, telemetry, family.fields)
            samples = _with_predicted(system, telemetry, samples, at)
            rows, values = equations(system, samples)
            own, _ = equations(system, _all_predicted(samples, at))
        except FreefloatError as error:
            reasons.append(error.message)
            continue
        if max(balance.rms for balance in _balances(own, values)) > ADMITTED:
            rate = 1.0 / float(np.median(np.diff(samples.time)))
            reasons.append(
                f"{family.name}: at {rate:.3g} Hz not even the predicted motion balances (samples"
                " too far apart, or forces that these equations leave out)"
            )
            continue
        return tuple(_balances(rows, values)), ""
    return (), "; ".join(dict.fromkeys(reasons))


def _with_predicted(
    system: System, telemetry: Telemetry, samples: Samples, at: FlightSegment
) -> Samples:
    inside = (samples.time >= at.times[0]) & (samples.time <= at.times[-1])
    samples = samples.select(inside)
    q, dq, c = samples.q.copy(), samples.dq.copy(), system.n_coordinates
    states = between(at.times, at.states[:, 13:], samples.time)
    for k, name in enumerate(system.coordinates):
        if f"{name}.position" not in telemetry and 6 + k in system.tree.free:
            q[:, k], dq[:, k] = states[:, k], states[:, c + k]
    return replace(samples, q=q, dq=dq)


def _all_predicted(samples: Samples, at: FlightSegment) -> Samples:
    """The same instants, with the whole motion as predicted."""
    states = between(at.times, at.states, samples.time)
    c = samples.q.shape[1]
    fields = {"attitude": states[:, 3:7], "velocity": states[:, 7:10], "rate": states[:, 10:13]}
    taken = {name: table for name, table in fields.items() if getattr(samples, name) is not None}
    return replace(samples, **taken, q=states[:, 13 : 13 + c], dq=states[:, 13 + c :])


def _momentum(system: System, samples: Samples) -> tuple[Equations, Array]:
    """Rows in the parameters of the root body, whose share is what the others exchange with it."""
    ready = MOMENTUM.prepare(system, samples)
    known = parameter_values(system)
    root = system.model.assembly.bodies[0].name
    values = {f"{root}.{field}": known[f"{root}.{field}"] for field in inertial.NAMES}
    return MOMENTUM.equations(system, ready, values), np.array(list(values.values()))


def _angular(system: System, samples: Samples) -> tuple[Equations, Array]:
    """Angular momentum about the centre of mass: no velocity, no integral, no force from outside.

    The share of the root body, I w, stands apart so that it is seen what is exchanged.
    """
    ready = ANGULAR.prepare(system, samples)
    axes = [2] if system.model.root.type == "planar" else [0, 1, 2]
    whole = _about_com(system, ready)[:, axes]
    body = system.model.assembly.bodies[0]
    phi = inertial.phi_from_com(body.mass, body.com, body.inertia)
    assert ready.rate is not None
    turned = np.einsum("nij,nj->ni", rotations(ready.states), ready.rate @ inertial.tensor(phi[4:]))
    root = turned[:, axes]
    pairs = ready.disturb("attitude", "rate", "q", "dq")
    slopes = [0.5 * (_about_com(system, up) - _about_com(system, down)) for up, down in pairs]
    start = np.broadcast_to(-np.eye(len(axes)), (len(whole), len(axes), len(axes)))
    rows = Equations(
        "angular", ("root", *(f"momentum0.{AXES[k]}" for k in axes)), 1,
        np.concatenate([root[:, :, None], start], axis=2), root - whole,
        tuple(f"angular.{AXES[k]}" for k in axes), ("N m s",) * len(axes),
        covariance([slope[:, axes] for slope in slopes]),
    )  # fmt: skip
    return rows, np.ones(1)


def _about_com(system: System, samples: Samples) -> Array:
    return momentum_of(system, samples.states).angular_momentum_about_com


def _balances(equations: Equations, values: Array) -> Iterator[MomentumBalance]:
    """What is left of every row once the unknown initial momentum is fitted."""
    n, k = len(values), equations.y.shape[1]
    rows = whiten(equations)
    left = rows.y - rows.Y[:, :n] @ values
    start = np.linalg.lstsq(rows.Y[:, n:], left, rcond=None)[0]
    white = (left - rows.Y[:, n:] @ start).reshape(-1, k)
    own = equations.Y[:, :, :n] * values
    raw = equations.y - own.sum(axis=2) - equations.Y[:, :, n:] @ start
    for i, (label, unit) in enumerate(zip(equations.labels, equations.units, strict=True)):
        lost, held = raw[:, i], own[:, i]
        if equations.family == MOMENTUM.name and label.startswith("angular"):
            # these rows speak of changes from sample to sample; added up they are momenta
            lost, held = np.cumsum(lost), np.cumsum(held, axis=0)
        exchanged = float(np.max(np.std(held, axis=0), initial=0.0))
        share = float(np.std(lost)) / exchanged if exchanged > 0.0 else float("nan")
        yield MomentumBalance(
            label, unit, len(white), rms(white[:, i]), rms(lost - np.mean(lost)), share
        )
