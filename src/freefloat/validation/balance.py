"""Does momentum balance? A second way to judge a model: no integration, no start to be fitted.

With the masses of the model and the motion as measured, momentum minus the impulse of thrust must
stay what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.identification.linear.angular import AngularForm, prepared_for_angular
from freefloat.identification.linear.families import family_named, fields_of
from freefloat.identification.linear.rows import Equations, whitened
from freefloat.identification.parameters import parameter_values
from freefloat.identification.reading import samples_of
from freefloat.identification.samples import Samples
from freefloat.model import inertia as inertial
from freefloat.telemetry.channels import Telemetry
from freefloat.telemetry.truths import Instant
from freefloat.validation.looks import between
from freefloat.validation.metrics import rms


@dataclass(frozen=True)
class Balance:
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


def balances(system: System, telemetry: Telemetry, at: Instant) -> tuple[tuple[Balance, ...], str]:
    """The balance of each component, and why there is none where there is none.

    Joints that swing unmeasured move as the prediction `at` has them.
    """
    has_velocity = any(f"base.velocity.{axis}" in telemetry for axis in "xy")
    name = "momentum" if has_velocity else "angular"
    try:
        samples = samples_of(system, telemetry, fields_of(name, False))
        samples = _with_predicted(system, telemetry, samples, at)
        equations, values = (
            _momentum(system, samples) if has_velocity else _angular(system, samples)
        )
    except FreefloatError as error:
        return (), f"momentum is not balanced: {error.message}"
    return tuple(_judged(equations, values)), ""


def _with_predicted(system: System, telemetry: Telemetry, samples: Samples, at: Instant) -> Samples:
    inside = (samples.time >= at.times[0]) & (samples.time <= at.times[-1])
    samples = samples.taken(inside)
    q, dq, c = samples.q.copy(), samples.dq.copy(), system.n_coordinates
    states = between(at.times, at.states[:, 13:], samples.time, is_smooth=True)
    for k, name in enumerate(system.coordinates):
        if f"{name}.position" not in telemetry and 6 + k in system.tree.free:
            q[:, k], dq[:, k] = states[:, k], states[:, c + k]
    return replace(samples, q=q, dq=dq)


def _momentum(system: System, samples: Samples) -> tuple[Equations, Array]:
    """Rows in the parameters of the root body, whose share is what the others exchange with it."""
    family = family_named("momentum")
    ready = family.prepared(samples, system)
    known = parameter_values(system)
    root = system.model.assembly.bodies[0].name
    values = {f"{root}.{field}": known[f"{root}.{field}"] for field in inertial.NAMES}
    return family.equations(system, ready, values), np.array(list(values.values()))


def _angular(system: System, samples: Samples) -> tuple[Equations, Array]:
    form = AngularForm.of(system, has_drag=bool(system.tree.field[13]))
    ready = prepared_for_angular(samples, system)
    return form.equations(system, ready, {}), form.parameters(system)


def _judged(equations: Equations, values: Array) -> Iterator[Balance]:
    """What is left of every row once the unknown initial momentum is fitted."""
    n, k = len(values), equations.y.shape[1]
    rows = whitened(equations)
    left = rows.y - rows.Y[:, :n] @ values
    start = np.linalg.lstsq(rows.Y[:, n:], left, rcond=None)[0]
    white = (left - rows.Y[:, n:] @ start).reshape(-1, k)
    own = equations.Y[:, :, :n] * values
    raw = equations.y - own.sum(axis=2) - equations.Y[:, :, n:] @ start
    for i, (label, unit) in enumerate(zip(equations.labels, equations.units, strict=True)):
        lost, held = raw[:, i], own[:, i]
        if equations.family == "momentum" and label.startswith("angular"):
            # these rows speak of changes from sample to sample; added up they are momenta
            lost, held = np.cumsum(lost), np.cumsum(held, axis=0)
        exchanged = float(np.max(np.std(held, axis=0), initial=0.0))
        share = float(np.std(lost)) / exchanged if exchanged > 0.0 else float("nan")
        yield Balance(label, unit, len(white), rms(white[:, i]), rms(lost - np.mean(lost)), share)
