"""What identify says about a world, held against what is true of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

import numpy as np
from worlds.kinds import Kind
from worlds.recorder import record
from worlds.world import World

import freefloat as ff
from freefloat.dynamics.tree import flatten
from freefloat.errors import FreefloatError
from freefloat.identification.fit import Fit
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.telemetry.doctor import examine

WRONG_SIGMA, WRONG_SHARE = 4.0, 0.02  # a wrong answer: as many total deviations, and this share
COMMON_NAMES = {
    "thr_*.gain": "thrusters.gain", "thr_*.fade": "thrusters.fade",
    "thr_*.offset*": "thrusters.offset*", "*.scale": "bodies.scale", "thr_*.delay": "inputs.delay",
    "*_?.delay": "inputs.delay", "*.gear": "encoders.gear", "delay.base*": "sensors.delay",
}  # fmt: skip
DOCTOR_WORDS = {"recording.delay": "delay"}
GRADES = ("trusted", "with reservations", "not trusted", "refused")


@dataclass(frozen=True)
class Outcome:
    """One world and the answer.

    sigma and total_sigma: the largest error in statistical and total deviations; share: the largest
    error of a parameter that is off by more than 4 total deviations, of its natural size (of any
    where none is); covered: how many of `seen` parameters lie in their total 95 % intervals.

    catalogued: whether a catalogue of causes can have the true one; rank: of the true one among
    those named, 0 where it is not; named: the first of them; healing: those said to heal the fit.
    """

    kind: str
    size: float
    robot: str
    suite: str
    seed: int
    grade: str
    codes: tuple[str, ...]
    method: str
    sigma: float = 0.0
    total_sigma: float = 0.0
    share: float = 0.0
    worst: str = ""
    is_wrong: bool = False
    covered: int = 0
    seen: int = 0
    catalogued: bool = False
    rank: int = 0
    named: tuple[str, ...] = ()
    healing: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def is_confident_error(self) -> bool:
        """A wrong number that is called trusted."""
        return self.grade == "trusted" and self.is_wrong

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def try_kind(
    kind: Kind, robot: str, seed: int, size: float, *, suite: str = "", method: str = "auto"
) -> Outcome:
    """Fly one world of a kind and identify it, with the sensors named or another set each seed."""
    world, suite = kind.world(robot, seed, size, suite=suite)
    return try_world(world, suite, kind.name, size, causes=kind.causes_in(world), method=method)


def try_world(
    world: World, suite: str, kind: str, size: float, *, causes: Sequence[str] = (),
    method: str = "auto",
) -> Outcome:  # fmt: skip
    """Identify a world, and hold the answer against the truth."""
    return try_flight(
        world.believed, world.free, record(world), world.truths,
        label=(kind, size, world.robot.name, suite, world.seed), causes=causes, method=method,
    )  # fmt: skip


def try_flight(
    believed: ff.Model, free: Sequence[str], flight: ff.Telemetry,
    truths: Sequence[dict[str, float]], *, label: tuple[str, float, str, str, int],
    causes: Sequence[str] = (), method: str = "auto",
) -> Outcome:  # fmt: skip
    """Identify a recording, and hold the answer against its truths, the kindest of them."""
    begun = time.perf_counter()
    try:
        fit = ff.identify(believed, ff.Parameters(believed).free(*free), flight, method=method)
    except FreefloatError as error:
        codes = tuple(fault.code for fault in error.faults) or (type(error).__name__,)
        seconds = time.perf_counter() - begun
        return Outcome(*label, "refused", codes, method, seconds=seconds)
    seconds = time.perf_counter() - begun
    each = [_errors(fit, believed, truth) for truth in truths]
    found = min(each, key=lambda e: (e["is_wrong"], e["total_sigma"]))
    listed = fit.assessment.causes if fit.assessment else ()
    named = [cause.names for cause in listed]
    hits = [k for k, names in enumerate(named, start=1) if _is_one_of(names, causes)]
    mended = [n for n in _repaired(flight, believed) if _is_one_of(n, causes)] if causes else []
    if mended:  # named, with its size, before any fit
        named, hits = [*mended, *named], [1]
    return Outcome(
        *label, grade_of(fit), codes_of(fit), fit.method, **found, catalogued=bool(causes),
        rank=min(hits, default=0), named=tuple(names[0] for names in named[:5]),
        healing=tuple(c.names[0] for c in listed if c.heals), seconds=seconds,
    )  # fmt: skip


def _repaired(flight: ff.Telemetry, believed: ff.Model) -> list[tuple[str, ...]]:
    """What was found and taken out of the recording before any fit, by the names of parameters."""
    found = []
    for finding in examine(flight, believed).findings:
        word = DOCTOR_WORDS.get(finding.code)
        if word and finding.done:
            groups = dict.fromkeys(name.rpartition(".")[0] for name in finding.channels)
            found.append(tuple(f"{word}.{group}" for group in groups))
    return found


def _is_one_of(names: Sequence[str], globs: Sequence[str]) -> bool:
    # what a whole class has in common is one of its own causes
    both = (*globs, *(COMMON_NAMES[glob] for glob in globs if glob in COMMON_NAMES))
    return any(fnmatchcase(name, glob) for name in names for glob in both)


def grade_of(fit: Fit) -> str:
    """The grade of the assessment; of earlier fits whether they are called trustworthy."""
    assessment = getattr(fit, "assessment", None)
    if assessment is not None:
        return str(assessment.grade)
    return "trusted" if fit.is_trustworthy else "not trusted"


def codes_of(fit: Fit) -> tuple[str, ...]:
    """Codes of the reasons for a grade."""
    assessment = getattr(fit, "assessment", None)
    if assessment is not None:
        return tuple(str(getattr(reason, "code", reason)) for reason in assessment.reasons)
    return (fit.status_code,)


def _errors(fit: Fit, believed: ff.Model, truth: dict[str, float]) -> dict:
    sizes = dict(zip(truth, natural_sizes(flatten(believed), list(truth)), strict=True))
    rows = []
    for e in fit.estimates:
        total = getattr(e, "total_std", None) or np.nan
        total = total if np.isfinite(total) else e.std
        if e.name in truth and np.isfinite(e.std) and e.std > 0.0:
            error = abs(e.value - truth[e.name])
            natural = max(abs(truth[e.name]), sizes[e.name])
            rows.append((e.name, error / e.std, error / total, error / natural))
    if not rows:
        return {"sigma": 0.0, "total_sigma": 0.0, "share": 0.0, "is_wrong": False}
    far = [row for row in rows if row[2] > WRONG_SIGMA]
    worst = max(far or rows, key=lambda row: row[3])
    return {
        "sigma": float(max(row[1] for row in rows)),
        "total_sigma": float(max(row[2] for row in rows)),
        "share": float(worst[3]),
        "worst": worst[0],
        "is_wrong": bool(far and worst[3] > WRONG_SHARE),
        "covered": sum(row[2] <= 1.96 for row in rows),
        "seen": len(rows),
    }
