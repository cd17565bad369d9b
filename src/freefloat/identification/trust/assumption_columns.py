"""A column of the Jacobian for everything that is taken as exact, in units of its own doubt.

Beside every single assumption stand those that a whole class has in common: all known bodies from
one scale, all thrusters at one feed pressure, all torque sensors calibrated on one bench.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import require_stable_step
from freefloat.errors import FreefloatError
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.trust.white_rows import RANK, WhiteRows
from freefloat.model import inertia
from freefloat.model.parameter_name import SCALE, ParameterName
from freefloat.parameters.parameters import parameter_values
from freefloat.prediction.assumptions import Assumption, list_assumptions
from freefloat.telemetry.channel import Mask
from freefloat.text import listing

# theory: these fix newtons and kilograms, so that data cannot contradict them all at once
SCALE_WORDS = frozenset({"gain", "scale", "inertia", "stiffness", "mass"})
FORCES = ("torque", "acceleration", "force")
# theory: Runge-Kutta of order 4 errs by (2 pi f h)^4 / 120, 5e-4 of a motion of 1 Hz
COLUMN_STEP = 8e-2  # [s]
# what a class has in common, and the names that belong to it
COMMON = {
    "bodies.scale": "*.scale",
    "thrusters.gain": "*.gain",
    "inputs.delay": "*.delay",
    "torque sensors.gain": "gain.*torque",
    "sensors.delay": "delay.*",
}


@dataclass(frozen=True)
class AssumptionColumns:
    """Assumptions and their columns (rows, assumptions), each times its standard deviation."""

    assumptions: tuple[Assumption, ...]
    columns: Array
    members: tuple[tuple[int, ...], ...] = ()  # of what a class has in common, at the end

    @property
    def is_scale(self) -> Mask:
        """Which of them can carry the scale."""
        return np.array([carries_scale(a.name) for a in self.assumptions], dtype=bool)


def carries_scale(name: str) -> bool:
    """Whether newtons or kilograms are known by this assumption.

    >>> carries_scale("thr_1.gain"), carries_scale("gain.arm_1.torque"), carries_scale("arm_1.zero")
    (True, True, False)
    >>> carries_scale("gain.base.rate.x")
    False
    """
    parsed = ParameterName.parse(name)
    if parsed.kind == "gain":
        return any(word in parsed.owner for word in FORCES)
    return parsed.field in SCALE_WORDS


def assumption_columns(rows: WhiteRows) -> AssumptionColumns:
    """Of everything that the model and the recordings take as exact and that is not estimated."""
    problem = rows.problem
    free = {unknown.name for unknown in problem.unknowns.items}
    found: dict[str, Assumption] = {}
    for recording in problem.recordings:
        for assumption in list_assumptions(recording.model, recording.telemetry):
            if assumption.name not in free and assumption.std > 0.0:  # 0: stated as exact
                found.setdefault(assumption.name, assumption)
    names = list(found)
    columns = _columns(rows, names)
    for k, name in enumerate(names):
        columns[:, k] -= _estimated_share(rows, name)
    deviations = np.array([found[name].std for name in names])
    single = AssumptionColumns(tuple(found.values()), columns * deviations)
    return with_common(single)


def assumption_values(
    rows: WhiteRows, taken: AssumptionColumns, deviations: Array
) -> dict[str, float]:
    """Parameters by name, with the assumptions off by `deviations` (units of their doubt)."""
    n = len(taken.assumptions) - len(taken.members)
    off = deviations[:n].copy()
    for members, common in zip(taken.members, deviations[n:], strict=True):
        off[list(members)] += common
    found, free = {}, {unknown.name for unknown in rows.problem.unknowns.items}
    known = parameter_values(rows.problem.recordings[0].system)
    for assumption, amount in zip(taken.assumptions[:n], off, strict=True):
        value = assumption.value + amount * assumption.std
        own = _parts(assumption.name)
        if own & free:  # a body that is estimated in part: only the rest of it is known
            found |= {name: value * known[name] for name in own - free if name in known}
        else:
            found[assumption.name] = value
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
        own, columns = problem.slopes_beside(r, theta, names, _coarse(recording))
        places = problem.unknowns.columns(r)[0]
        coarse[first : first + len(own), places] = own * problem.unknowns.sizes[places]
        first += len(own)
        parts.append(columns)
    columns = np.vstack(parts)
    share = np.linalg.lstsq(coarse, columns, rcond=RANK)[0]
    return columns + (rows.jacobian - coarse) @ share


def _coarse(recording: Recording) -> Recording:
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


def with_common(single: AssumptionColumns) -> AssumptionColumns:
    """The assumptions, and what several of a class have in common."""
    assumptions, columns, groups = list(single.assumptions), [single.columns], []
    for name, pattern in COMMON.items():
        members = [k for k, a in enumerate(assumptions) if belongs(a.name, pattern)]
        if len(members) > 1:
            first = assumptions[members[0]]
            words = listing([assumptions[k].name for k in members], most=4)
            assumptions.append(replace(first, name=name, reason=f"common to {words}"))
            columns.append(np.sum(single.columns[:, members], axis=1, keepdims=True))
            groups.append(tuple(members))
    return AssumptionColumns(tuple(assumptions), np.hstack(columns), tuple(groups))


def belongs(name: str, pattern: str) -> bool:
    """Whether an assumption is one of a class that has something in common."""
    is_sensor = ParameterName.parse(name).is_of_sensor
    return fnmatchcase(name, pattern) and is_sensor == (not pattern.startswith("*"))
