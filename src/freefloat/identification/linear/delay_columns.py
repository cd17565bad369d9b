"""Clocks that disagree: how late some channels are, found together with the parameters.

A channel stamped late by d shows at t what was true at t - d. To first order its samples should be
moved by d times their slopes, which is one more column of any family's equations, multiplied by
the parameters; so it is made with the parameters of the last pass, the recording is moved by what
was found, and this is repeated until nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.family import EquationMaker, Equations, Family
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.identification.linear.parameter_solution import LinearFinding
from freefloat.identification.linear.samples import Samples
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.notes import Note
from freefloat.telemetry.smoothing import smooth
from freefloat.telemetry.telemetry import Telemetry

# What hangs on each clock: kinds of channels, and fields whose slopes move them.
KINDS = {
    "base": ("rate", "velocity", "attitude", "angle"),
    "joints": ("position", "velocity", "speed", "motor_position", "motor_velocity"),
    "torques": ("torque",),
}
FIELDS = {"base": ("rate", "velocity"), "joints": ("dq",), "torques": ("torque",)}
NUISANCE = "delay"
# theory: [s] of the central difference that makes the column; rates turn by 1e-6 of themselves, so
# that neither rounding (1e-16 / 1e-6) nor curvature (1e-12) is felt
PROBE = 1e-6


def channels_of(clock: str, telemetry: Telemetry) -> tuple[str, ...]:
    """The channels that hang on a clock; raises IdentificationError when there are none.

    >>> flight = Telemetry.from_arrays([0.0, 1.0], {"base.angle": [0, 0], "j1.position": [0, 1]})
    >>> channels_of("base", flight)
    ('base.angle',)
    """
    is_base = clock == "base"
    found = tuple(
        name
        for name in telemetry.names
        if name.startswith("base.") == is_base
        and (name.split(".")[1] if is_base else name.rpartition(".")[2]) in KINDS[clock]
    )
    if not found:
        raise IdentificationError(
            f"the recording has no channel of the {clock} whose delay to find; choose another"
            " clock=, or none",
            code="channel.missing",
        )
    return found


def require_clock(clock: str | None, family: Family) -> None:
    """Raise IdentificationError for a clock there is not, or that a method cannot set."""
    if clock is None:
        return
    if clock not in KINDS:
        raise IdentificationError(
            f"there is no clock called {clock!r}; choose one of {', '.join(KINDS)}",
            code="option.choice",
        )
    if not family.has_clock:
        raise IdentificationError(
            f"the {family.name} method, which takes accelerations from windows, cannot find delays;"
            " momentum, weak, angular and energy can",
            code="method.delay",
        )


def with_slopes(samples: Samples, clock: str | None) -> Samples:
    """The samples with the slopes of what hangs on the clock, for `with_delay` to move it."""
    if clock is None:
        return samples
    parts = []
    for field in FIELDS[clock]:
        values = getattr(samples, field)
        if values is None:
            continue
        parts.append(_slopes(samples, field, values))
    return replace(samples, slopes=np.hstack(parts))


def _slopes(samples: Samples, field: str, values: Array) -> Array:
    """Slopes of smooth curves through the columns that move at all."""
    sizes = {part[1]: part[2] for s in samples.sources for part in s.parts if part[0] == field}
    out = np.zeros_like(values)
    for k in np.flatnonzero(np.ptp(values, axis=0) > 0.0):
        curve = smooth(samples.time, values[:, k], noise=sizes.get(int(k)))
        out[:, k] = np.ravel(curve.rate(samples.time))
    return out


def with_delay(make: EquationMaker, clock: str | None) -> EquationMaker:
    """Equations with one more unknown: how late [s] the channels of a clock are."""
    if clock is None:
        return make

    def make_with_delay(
        system: System, samples: Samples, values: dict[str, float], noise: bool = True
    ) -> Equations:
        e = make(system, samples, values, noise=noise)
        up = make(system, _shift(samples, clock, PROBE), values, noise=False)
        down = make(system, _shift(samples, clock, -PROBE), values, noise=False)
        theta = np.array(list(values.values()))
        n = e.n_parameters
        gap = (up.Y[:, :, :n] - down.Y[:, :, :n]) @ theta - (up.y - down.y)
        column = gap[:, :, None] / (2.0 * PROBE)
        return replace(e, Y=np.concatenate([e.Y, column], axis=2), names=(*e.names, NUISANCE))

    return make_with_delay


def _shift(samples: Samples, clock: str, seconds: float) -> Samples:
    """What the channels of a clock would show so much later."""
    assert samples.slopes is not None
    changed: dict[str, Any] = {}
    at = 0
    for field in FIELDS[clock]:
        values = getattr(samples, field)
        if values is None:
            continue
        width = values.shape[1]
        changed[field] = values + seconds * samples.slopes[:, at : at + width]
        at += width
    if clock == "joints":
        changed["q"] = samples.q + seconds * samples.dq
    if clock == "base" and samples.attitude is not None and samples.rate is not None:
        turn = quaternion_from_rotation_vector(seconds * samples.rate)
        changed["attitude"] = quaternion_product(samples.attitude, turn)
    return replace(samples, **changed)


def find_with_delays(
    find: Callable[[Sequence[Telemetry]], LinearFinding],
    recorded: Sequence[Telemetry],
    options: LinearOptions,
) -> tuple[LinearFinding, tuple[Note, ...]]:
    """The finding once the delay of every recording is taken out, and a note for each."""
    clock = options.clock
    assert clock is not None
    late = np.zeros(len(recorded))
    names = [channels_of(clock, flight) for flight in recorded]
    for _ in range(options.clock_rounds):
        moved = [
            flight.shift(which, -float(d))
            for flight, which, d in zip(recorded, names, late, strict=True)
        ]
        finding = find(moved)
        step, std = delays_of(finding)
        if not np.all(np.isfinite(step)):
            raise IdentificationError(
                f"the delay of the {clock} is not observable in this recording; leave clock= out,"
                " or record faster motion",
                code="delay.unobservable",
            )
        late = late + step
        if np.all(np.abs(step) <= options.clock_tolerance * std + PROBE):
            break
    else:
        last = ", ".join(f"{1e3 * d:.3g}" for d in late)
        raise IdentificationError(
            f"the delay of the {clock} does not converge (last {last} ms); align the channels"
            " first (freefloat.telemetry.estimate_offset)",
            code="delay.diverged",
        )
    notes = []
    for k, (d, s) in enumerate(zip(late, std * finding.widening, strict=True), start=1):
        place = f"recording {k}: " if len(late) > 1 else ""
        side = "later" if d >= 0.0 else "earlier"
        text = f"{place}{clock}: {1e3 * abs(d):.4g} ± {1e3 * s:.2g} ms {side} than the rest"
        notes.append(Note("delay.estimated", text))
    return finding, tuple(notes)


def delays_of(finding: LinearFinding) -> tuple[Array, Array]:
    """The delay of every recording and its standard deviation [s]."""
    estimate = finding.estimate
    which = [k for k, name in enumerate(estimate.names) if name.partition("#")[0] == NUISANCE]
    return estimate.values[which], estimate.solution.std[which]
