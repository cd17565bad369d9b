"""A column of the Jacobian for everything that is taken as exact, in units of its own doubt.

Beside every single assumption stand those that a whole class has in common: all known bodies from
one scale, all thrusters at one feed pressure, all torque sensors calibrated on one bench, all
encoders and gears by one supplier, all stamps by one clock.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import require_stable_step
from freefloat.errors import FreefloatError
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.trust.white_rows import RANK, WhiteRows
from freefloat.model import inertia
from freefloat.model.model import Model
from freefloat.model.parameter_name import SCALE, ParameterName
from freefloat.model.uncertainty import stated_uncertainty
from freefloat.prediction.assumptions import Assumption, list_assumptions
from freefloat.prediction.doubts import CLOCK, DOUBTS, is_exact
from freefloat.prediction.flight_setup import SIZES
from freefloat.telemetry.channel import Mask
from freefloat.text import listing

# theory: these fix newtons and kilograms, so that data cannot contradict them all at once
SCALE_WORDS = frozenset({"gain", "scale", "inertia", "stiffness", "mass"})
# an accelerometer does not: forces and masses may grow by one factor, and it reads the same
FORCES = ("torque", "force")
# theory: Runge-Kutta of order 4 errs by (2 pi f h)^4 / 120, 5e-4 of a motion of 1 Hz
COLUMN_STEP = 8e-2  # [s]
# what a class has in common, and which assumptions belong to it, by key and axis
COMMON = {
    "bodies.scale": ("body.scale",),
    "thrusters.gain": ("thruster.gain", "wrench.gain", "torque.gain"),
    "thrusters.fade": ("thruster.fade",),
    "thrusters.offset.x": ("thruster.offset",),
    "thrusters.offset.y": ("thruster.offset",),
    "thrusters.offset.z": ("thruster.offset",),
    "inputs.delay": tuple(
        f"{who}.delay" for who in ("thruster", "wrench", "torque", "joint", "wheel")
    ),
    "encoders.gear": ("joint.gear",),
    "torque sensors.gain": ("gain.torque",),
    "sensors.delay": ("delay",),
}
SPEEDS = (".velocity", ".velocity.x", ".velocity.y", ".velocity.z", ".speed")
# theory: to whoever reads a clock that is fast by the factor r, a quantity with seconds to the
# power n seems larger by r^n: forces by r^-2. What sensors say in true seconds is the other way
SECONDS = {
    "thruster.gain": -2.0, "wrench.gain": -2.0, "torque.gain": -2.0, "gravity.ground": -2.0,
    "gravity.space": -2.0, "spring.stiffness": -2.0, "spring.friction": -2.0,
    "spring.damping": -1.0, "drag.ground": -1.0, "drag.space": -1.0, "wheel.inertia": -1.0,
    "gain.gyro": 1.0, "gain.accelerometer": 2.0, "gain.torque": 2.0,
}  # fmt: skip


@dataclass(frozen=True)
class AssumptionColumns:
    """Assumptions and their columns (rows, assumptions), each times its standard deviation.

    members: of what a class has in common, at the end: its places, and doubts of each per doubt of
    it. by_inputs (assumptions, draws): what draws of input noise add to the score of each, because
    they are in its column and in the residuals (`input_noise_scores`); empty where that is not
    known.
    """

    assumptions: tuple[Assumption, ...]
    columns: Array
    members: tuple[tuple[tuple[int, ...], Array], ...] = ()
    by_inputs: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def n_single(self) -> int:
        """How many there are before those that a class has in common."""
        return len(self.assumptions) - len(self.members)

    def after(self, others: AssumptionColumns) -> AssumptionColumns:
        """These behind others that have nothing in common; what classes share stays at the end."""
        first = len(others.assumptions)
        members = tuple((tuple(first + k for k in own), doubts) for own, doubts in self.members)
        columns = np.hstack([others.columns, self.columns])
        return AssumptionColumns((*others.assumptions, *self.assumptions), columns, members)

    def with_shared(self, single: Array) -> Array:
        """Rows of the single assumptions (n_single, k), and after them those of the classes."""
        shared = [weights @ single[list(own)] for own, weights in self.members]
        return np.vstack([single, *shared])

    @property
    def is_scale(self) -> Mask:
        """Which of them can carry the scale."""
        return np.array([carries_scale(a.name) for a in self.assumptions], dtype=bool)


def carries_scale(name: str) -> bool:
    """Whether newtons or kilograms are known by this assumption.

    >>> carries_scale("thr_1.gain"), carries_scale("gain.arm_1.torque"), carries_scale("arm_1.zero")
    (True, True, False)
    >>> carries_scale("gain.base.rate.x"), carries_scale("gain.base.acceleration.x")
    (False, False)
    """
    parsed = ParameterName.parse(name)
    if parsed.kind == "gain":
        return any(word in parsed.owner for word in FORCES)
    return parsed.field in SCALE_WORDS


def is_common(name: str) -> bool:
    """Whether the name stands for what several have in common: no parameter of its own."""
    return name in COMMON or name == CLOCK


def assumption_columns(
    rows: WhiteRows, *, prior: Model | None = None, known: AssumptionColumns | None = None
) -> AssumptionColumns:
    """Of everything that the model and the recordings take as exact and that is not estimated.

    prior: the model before it was identified, by which doubts count; the model itself unless given.
    known: the same assumptions at another point.
    """
    singles = _singles(rows, prior) if known is None else known.assumptions[: known.n_single]
    columns = _columns(rows, [assumption.name for assumption in singles])
    for k, assumption in enumerate(singles):
        columns[:, k] -= _estimated_share(rows, assumption.name)
    deviations = np.array([assumption.std for assumption in singles])
    single = AssumptionColumns(tuple(singles), columns * deviations)
    found = with_common(single, rows.problem.recordings[0].model)
    return found if known is None else replace(found, by_inputs=known.by_inputs)


def _singles(rows: WhiteRows, prior: Model | None) -> list[Assumption]:
    """The assumptions of all recordings, each once."""
    free = {unknown.name for unknown in rows.problem.unknowns.items}
    found: dict[str, Assumption] = {}
    for recording in rows.problem.recordings:
        believed = list_assumptions(prior or recording.model, recording.telemetry)
        std = {a.name: a.std for a in believed}
        for assumption in list_assumptions(recording.model, recording.telemetry):
            assumption = replace(assumption, std=std.get(assumption.name, assumption.std))
            if assumption.name not in free and not is_exact(assumption.std, assumption.size):
                found.setdefault(assumption.name, assumption)
    return without_repetition(list(found.values()), free)


def without_repetition(found: Sequence[Assumption], free: set[str]) -> list[Assumption]:
    """The assumptions, with the place of a body's mass told once.

    By its displacement where all of the body is known, else by the first moments that are.
    """
    estimated = {parsed.owner for parsed in map(ParameterName.parse, free) if parsed.is_inertial}
    other = {True: "body.com", False: "body.moment"}
    return [a for a in found if a.key != other[ParameterName.parse(a.name).owner in estimated]]


def assumption_values(
    rows: WhiteRows, taken: AssumptionColumns, deviations: Array
) -> dict[str, float]:
    """Parameters by name, with the assumptions off by `deviations` (units of their doubt)."""
    n = taken.n_single
    off = deviations[:n].copy()
    for (members, weights), common in zip(taken.members, deviations[n:], strict=True):
        off[list(members)] += weights * common
    found, free = {}, {unknown.name for unknown in rows.problem.unknowns.items}
    known: dict[str, float] = {}
    for assumption, amount in zip(taken.assumptions[:n], off, strict=True):
        value = assumption.value + amount * assumption.std
        own = _parts(assumption.name)
        if own & free:  # a body that is estimated in part: only the rest of it is known
            known = known or rows.own_values
            found |= {name: value * known[name] for name in own - free if name in known}
        else:  # on top of what the scale of its body says, which comes before it
            base = found.get(assumption.name, assumption.value)
            found[assumption.name] = base + amount * assumption.std
    return found


def _parts(name: str) -> set[str]:
    """The parameters that the scale of a body multiplies; none of anything else."""
    parsed = ParameterName.parse(name)
    fields = inertia.NAMES if parsed.field == SCALE else ()
    return {f"{parsed.owner}.{field}" for field in fields}


def _columns(rows: WhiteRows, names: Sequence[str]) -> Array:
    """Whitened columns of the named assumptions, one unit each.

    Of a thrust gain, which masses can nearly make up for, little is left once they are fitted: the
    share that unknowns explain is worked out on the coarse grid, and taken from the fine one.
    """
    problem, theta = rows.problem, rows.descent.at.theta
    coarse, parts = np.zeros_like(rows.jacobian), []
    first = 0
    for r, recording in enumerate(problem.recordings):
        own, columns, _ = problem.slopes_beside(r, theta, names, coarse_recording(recording))
        coarse[first : first + len(own)] = own
        first += len(own)
        parts.append(columns)
    columns = np.vstack(parts)
    share = np.linalg.lstsq(coarse, columns, rcond=RANK)[0]
    return columns + (rows.jacobian - coarse) @ share


def coarse_recording(recording: Recording) -> Recording:
    """The recording on the longest steps that a column, good to a thousandth, allows."""
    grid = recording.grid
    for every in range(max(1, math.ceil(grid.interval / COLUMN_STEP)), grid.every):
        step = grid.interval / every
        try:
            require_stable_step(recording.system, recording.start, step)
        except FreefloatError:
            continue
        return replace(recording, grid=replace(grid, step=step, every=every))
    return recording


def _estimated_share(rows: WhiteRows, name: str) -> Array:
    """What of a body's scale belongs to parameters that are estimated, and not taken as exact."""
    share, own = np.zeros(len(rows.residual)), _parts(name)
    unknowns, theta = rows.problem.unknowns, rows.descent.at.theta
    for k, unknown in enumerate(unknowns.items):
        if unknown.name in own:
            share += rows.jacobian[:, k] * theta[k] / unknowns.sizes[k]
    return share


def with_common(single: AssumptionColumns, model: Model) -> AssumptionColumns:
    """The assumptions, and what several of a class have in common."""
    assumptions, columns, groups = list(single.assumptions), [single.columns], []
    for common, members, weights in _classes(single.assumptions, model):
        assumptions.append(common)
        columns.append(single.columns[:, list(members)] @ weights[:, None])
        groups.append((members, weights))
    return AssumptionColumns(tuple(assumptions), np.hstack(columns), tuple(groups))


def _classes(
    singles: Sequence[Assumption], model: Model
) -> Iterator[tuple[Assumption, tuple[int, ...], Array]]:
    """What is common to several, whose they are, and by how many of its doubts each is off then."""
    for name in COMMON:
        members = tuple(k for k, a in enumerate(singles) if belongs(a, name))
        if len(members) > 1:
            words = listing([singles[k].name for k in members], most=4)
            common = replace(singles[members[0]], name=name, reason=f"common to {words}")
            yield common, members, np.ones(len(members))
    doubt, stated = DOUBTS[CLOCK], stated_uncertainty(model.uncertainty, CLOCK)
    std = doubt.std if stated is None else stated
    clock = Assumption(CLOCK, 1.0, "1", SIZES["gain"], std, stated is not None, doubt.reason, CLOCK)
    timed = [(k, _seconds(a) * a.value * std / a.std) for k, a in enumerate(singles)]
    timed = [(k, weight) for k, weight in timed if weight]
    if timed and not is_exact(clock.std, clock.size):
        yield clock, tuple(k for k, _ in timed), np.array([weight for _, weight in timed])


def _seconds(assumption: Assumption) -> float:
    """The power of a fast clock's factor by which an assumption seems larger."""
    is_speed = assumption.key == "gain.other" and assumption.name.endswith(SPEEDS)
    return 1.0 if is_speed else SECONDS.get(assumption.key, 0.0)


def belongs(assumption: Assumption, common: str) -> bool:
    """Whether an assumption is one of a class that has something in common."""
    axis = common[-2:] if common[-2:] in (".x", ".y", ".z") else ""
    return assumption.key in COMMON[common] and assumption.name.endswith(axis)
