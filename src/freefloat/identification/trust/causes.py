"""Score tests: which assumption, were it wrong, would explain the residuals.

Every assumption is allowed to be off by its stated deviation (a prior row each); one at a time is
then freed altogether (`assumption_scores`).

The one that explains most is freed, the joint maximum looked for, and so on while any is
improbable: two that are wrong at once hide each other. That is begun with all assumptions exact,
and where it does not lead to noise, from the joint maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.identification.assessment import Cause
from freefloat.identification.trust.assumption_columns import AssumptionColumns
from freefloat.identification.trust.assumption_scores import (
    Scores,
    noise_of_each,
    score,
    surprise_limit,
)
from freefloat.identification.trust.consider import Consideration, total_deviations
from freefloat.identification.trust.input_noise_scores import with_input_noise
from freefloat.identification.trust.joint_point import JointPoint, approach
from freefloat.identification.trust.misfit import band_tests, block_tests, chance_of_squares
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.model.parameter_name import ParameterName

# theory: chances of errors far beyond a doubt fall about with the square of their size: what would
# have to be three times as far off is ten times less likely
LESS_LIKELY = 3.0


@dataclass(frozen=True)
class Reported:
    """The unknowns that are reported: places among all, names, natural sizes, deviations."""

    places: tuple[int, ...]
    names: tuple[str, ...]
    sizes: Array
    std: Array

    def total(self, considered: Consideration) -> Array:
        """Total standard deviations, in the parameters' units."""
        return total_deviations(considered, self.places, self.std, self.sizes)

    def largest_shift(self, moves: Array, total: Array) -> tuple[float, str]:
        """The largest of the moves (unknowns, natural sizes) [total deviations], and of what."""
        moved = np.abs(moves[list(self.places)] * self.sizes)
        with np.errstate(divide="ignore", invalid="ignore"):
            shifts = np.where(total > 0.0, moved / total, np.nan)
        if not np.any(np.isfinite(shifts)):
            return float("nan"), ""
        worst = int(np.nanargmax(shifts))
        return float(shifts[worst]), self.names[worst]


@dataclass(frozen=True)
class Explanation:
    """What the assumptions, within their doubt, make of the residuals.

    rows: residuals and draws without it: what noise alone must explain. causes: freed ones first,
    and those no longer needed after them. considered: with assumptions exact. joint: the joint
    maximum with the causes freed; None where nothing is strained. shift, moved: by how much the
    most probable assumptions would move an estimate [total standard deviations], and which.
    is_noise: whether `rows` are. first: the joint maximum before anything was freed.
    """

    rows: WhiteRows
    causes: tuple[Cause, ...]
    considered: Consideration
    joint: JointPoint | None
    shift: float
    moved: str
    is_noise: bool
    first: JointPoint | None = None


def explain(
    rows: WhiteRows,
    taken: AssumptionColumns,
    reported: Reported,
    options: TrustOptions,
    *,
    advance: Callable[[JointPoint, int], JointPoint] = approach,
) -> Explanation:
    """The assumptions the data contradict, by what freeing each explains; none where none is.

    advance: from a point to the joint maximum, by so many evaluations.
    """
    point = JointPoint(rows, taken, np.zeros(len(taken.assumptions)))
    considered = point.consideration
    if not taken.assumptions:
        return Explanation(rows, (), considered, None, 0.0, "", is_noise(rows, options))
    total = reported.total(considered)
    found = _scores(point)
    shift, moved = reported.largest_shift(considered.moves @ found.joint, total)
    if found.significant(options) or shift > options.reserve:
        scored = with_input_noise(rows, taken)
        if scored is not taken:  # it takes simulations: only where it decides
            return explain(rows, scored, reported, options, advance=advance)
    if not found.significant(options) and (
        shift <= options.reserve or _is_by_chance(rows, considered, options)
    ):
        left, shift = _without(rows, considered), min(shift, options.reserve)
        is_all = is_noise(left, options)
        return Explanation(left, (), considered, None, shift, moved, is_all, point)
    path = _best_path(point, found, options, advance)
    point = path.point
    left, heals = _at_joint(point), _is_healed(point, options)
    causes = _causes(path, heals, reported, total, options)
    begun = path.begun
    shift, moved = reported.largest_shift(begun.consideration.moves @ begun.deviations, total)
    found = Explanation(left, causes, considered, point, shift, moved, heals, begun)
    return found if heals else in_doubt(found, reported)


def in_doubt(found: Explanation, reported: Reported) -> Explanation:
    """The explanation where what was freed may be wrong: all that it moved is in doubt."""
    point = found.joint
    if point is None:
        return found
    total = reported.total(replace(point.consideration, is_adjusted=True))
    shift, moved = reported.largest_shift(point.consideration.moves @ point.deviations, total)
    return replace(found, shift=shift, moved=moved)


def if_stretches_agree(
    found: Explanation, reported: Reported, options: TrustOptions
) -> Explanation:
    """The explanation, healing nothing where stretches of the flight disagree all the same.

    A few assumptions bend to whatever is left; then what each stretch says still differs.
    """
    if found.joint is None or not found.is_noise:
        return found
    tests = block_tests(found.rows, list(reported.places), options)
    if min(test.chance for test in tests) * len(tests) > options.significance:
        return found
    causes = tuple(replace(cause, heals=False) for cause in found.causes)
    return in_doubt(replace(found, causes=causes, is_noise=False), reported)


def _is_by_chance(rows: WhiteRows, considered: Consideration, options: TrustOptions) -> bool:
    """Whether noise alone would strain the assumptions as much, so that they may stay exact.

    theory: within their doubt they take r'G M G'r off the sum of squares.
    """
    root = np.linalg.cholesky(considered.posterior + 1e-12 * np.eye(len(considered.posterior)))
    slopes, drawn = considered.slopes(rows.remainder), considered.drawn_slopes(rows.draws)
    both = root.T @ np.column_stack([slopes, drawn])
    return chance_of_squares(both[:, 0], both[:, 1:].T) > options.significance


@dataclass(frozen=True)
class _Path:
    """Where freeing one assumption after another led to from a point, and the scores there."""

    begun: JointPoint
    first: _PointScores
    point: JointPoint
    freed: tuple[int, ...] = ()


def _best_path(
    point: JointPoint, found: _PointScores, options: TrustOptions,
    advance: Callable[[JointPoint, int], JointPoint],
) -> _Path:  # fmt: skip
    """From exact assumptions if that heals, else from where all have settled within their doubt.

    One that is grossly off drives all others far away before they settle; many that are slightly
    off hide which one is grossly.
    """
    paths = [_free_by_turns(point, found, options, advance)]
    if not (paths[0].freed and _is_healed(paths[0].point, options)):
        settled = advance(point, options.joint_evaluations)
        paths.append(_free_by_turns(settled, _scores(settled), options, advance))

    def rank(path: _Path) -> tuple[bool, bool, float]:
        left = _at_joint(path.point).residual
        return not path.point.is_reached, not _is_healed(path.point, options), float(left @ left)

    return min((path for path in paths if path.freed or path is not paths[0]), key=rank)


def _free_by_turns(
    begun: JointPoint, first: _PointScores, options: TrustOptions,
    advance: Callable[[JointPoint, int], JointPoint],
) -> _Path:  # fmt: skip
    """Free what explains most, find the joint maximum, and so on while any is improbable."""
    point, found, freed = begun, first, list[int]()
    while len(freed) < options.causes_named:
        new = found.first(options, point)
        if not new:
            break
        loose = {**point.loose, **_alternatives(point, found, new, options)}
        trial = replace(point, freed=(*point.freed, *new), loose=loose)
        trial = advance(trial, options.joint_evaluations)
        if not trial.is_reached:
            break  # what is named next would rest on slopes that mislead
        freed += new
        point, found = trial, _scores(trial)
    return _hold_again(_Path(begun, first, point, tuple(freed)), options, advance)


def _hold_again(
    path: _Path, options: TrustOptions, advance: Callable[[JointPoint, int], JointPoint]
) -> _Path:
    """The path without what was freed early and is no longer improbable with the others freed.

    A thrust gain that nothing holds would take all masses along.
    """
    point = path.point
    limit = surprise_limit(len(point.taken.assumptions), options.significance)
    gains = _gains(point)
    kept = tuple(c for c in path.freed if gains[c] > limit**2)
    if len(kept) == len(path.freed) or not kept:
        return path
    trial = advance(replace(point, freed=kept), options.joint_evaluations)
    before, after = (_is_healed(one, options) for one in (point, trial))
    is_worse = not trial.is_reached or before > after
    return path if is_worse else replace(path, point=trial, freed=kept)


def _gains(point: JointPoint) -> Array:
    """What every freed one would cost if its doubt held it: d^2 / (1 + v), v its variance."""
    variance = np.maximum(np.diag(point.consideration.posterior), 0.0)
    noise = noise_of_each(point.exact_rows, point.consideration)
    return point.deviations**2 / (1.0 + variance) / noise**2


@dataclass(frozen=True)
class _PointScores(Scores):
    """Scores at a joint point; joint: the most probable deviations along its slopes."""

    joint: Array

    def significant(self, options: TrustOptions) -> list[int]:
        """Assumptions that are improbably far off, by what freeing each explains."""
        limit = surprise_limit(len(self.surprise), options.significance)
        order = np.argsort(-self.chi_square)
        return [int(c) for c in order if abs(self.surprise[c]) > limit]

    def first(self, options: TrustOptions, point: JointPoint) -> list[int]:
        """The first of them that is not freed yet, with other axes of the same that are, too."""
        left = [c for c in self.significant(options) if c not in point.freed]
        names = [assumption.name for assumption in point.taken.assumptions]
        return [c for c in left if vector_of(names[c]) == vector_of(names[left[0]])]


def vector_of(name: str) -> str:
    """What an assumption is a component of; itself where it is none.

    >>> vector_of("offset.base.acceleration.x"), vector_of("arm_1.zero")
    ('offset.base.acceleration', 'arm_1.zero')
    """
    whole, _, axis = name.rpartition(".")
    return whole if axis in ("x", "y", "z") else name


def _alternatives(
    point: JointPoint, found: Scores, freed: Sequence[int], options: TrustOptions
) -> dict[int, float]:
    """Assumptions that may be off farther than their doubt once others are freed, and how far.

    Those that the data can hardly tell from what is freed, as far as would explain the same: then
    the total deviations hold whichever of them is wrong. Not those that would have to be off by
    many more of their doubts. Once two parts of a kind are off, so may
    be all of that kind, by as much.
    """
    F, times = point.consideration.information, _of_a_kind(point, found, freed)
    for c in freed:
        for k in _alike(point.consideration, c, options.alike)[1:]:
            far = abs(found.amplitude[c]) * abs(F[c, k]) / max(F[k, k], 1e-300)
            is_likely = far < LESS_LIKELY * abs(found.amplitude[c])
            if k not in freed and is_likely and far > times.get(k, 1.0):
                times[k] = float(far)
    return times


def _of_a_kind(point: JointPoint, found: Scores, freed: Sequence[int]) -> dict[int, float]:
    """The others of a kind of which two parts or more are off, with the root mean square of it."""
    taken = point.taken.assumptions
    parsed = [ParameterName.parse(assumption.name) for assumption in taken]
    kinds = [(a.key, name.field.partition(".")[0]) for a, name in zip(taken, parsed, strict=True)]
    off = {c: float(point.deviations[c]) for c in point.freed}
    off |= {c: float(found.amplitude[c]) for c in freed}
    times = dict[int, float]()
    for kind in {kinds[c] for c in off}:
        own = [c for c in off if kinds[c] == kind]
        if len({parsed[c].owner for c in own}) < 2:
            continue
        far = float(np.sqrt(np.mean([off[c] ** 2 for c in own])))
        times |= {k: far for k in range(len(taken)) if kinds[k] == kind and k not in off}
    return {k: far for k, far in times.items() if far > 1.0}


def _scores(point: JointPoint) -> _PointScores:
    rows, considered = point.exact_rows, point.consideration
    slopes = considered.slopes(rows.remainder)
    found = score(considered, slopes, noise=noise_of_each(rows, considered))
    found.surprise[list(point.freed)] = 0.0  # what nothing holds surprises nobody
    return _PointScores(**vars(found), joint=-considered.posterior @ slopes)


def _is_healed(point: JointPoint, options: TrustOptions) -> bool:
    """Whether nothing but noise is left, and what explains it is probable and possible.

    Many that are wrong together explain anything: none that is still held may be improbable, and
    no body may have become one that cannot be.
    """
    is_settled = point.is_possible and not _scores(point).significant(options)
    return is_settled and is_noise(_at_joint(point), options)


def is_noise(rows: WhiteRows, options: TrustOptions) -> bool:
    """Whether nothing but noise is left in the rows."""
    tests = band_tests(rows, options)
    return min(test.chance for test in tests) * len(tests) > options.significance


def _without(rows: WhiteRows, considered: Consideration) -> WhiteRows:
    """Residuals and draws without what the assumptions explain."""
    G = considered.columns
    share = considered.posterior @ (G.T @ np.column_stack([rows.remainder, rows.draws]))
    explained = G @ share
    return replace(
        rows, residual=rows.remainder - explained[:, 0], draws=rows.draws - explained[:, 1:]
    )


def _at_joint(point: JointPoint) -> WhiteRows:
    """The rows at a joint maximum, and draws without what the assumptions explain of them."""
    left = _without(point.exact_rows, point.consideration)
    return replace(point.rows, residual=point.rows.remainder, draws=left.draws)


def _alike(considered: Consideration, c: int, alike: float) -> list[int]:
    """Assumptions whose columns the data can hardly tell from that of c, c first."""
    F = considered.information
    length = np.sqrt(np.maximum(np.diag(F), 1e-300))
    cosine = np.abs(F[c]) / (length[c] * length)
    return [c, *(int(k) for k in np.argsort(-cosine) if k != c and cosine[k] > alike)]


def _causes(
    path: _Path, heals: bool, reported: Reported, total: Array, options: TrustOptions
) -> tuple[Cause, ...]:  # fmt: skip
    """What was freed, then what looked improbable before that, as far as it is something else."""
    point, first = path.point, path.first
    considered = point.consideration
    noise = noise_of_each(point.exact_rows, considered)
    variance = np.maximum(np.diag(considered.posterior), 0.0)
    gains = _gains(point)
    found, done = [], set[int]()
    order = sorted(path.freed, key=lambda c: -gains[c])
    for c in [*order, *first.significant(options)]:
        if c in done or len(found) >= options.causes_named:
            continue
        is_freed = c in path.freed
        group = _alike(considered, c, options.alike)
        done |= set(group)
        # residuals are predicted minus measured: what explains them is to be taken back
        off = point.deviations[c] if is_freed else -first.amplitude[c]
        std = noise[c] * np.sqrt(variance[c]) if is_freed else first.std[c]
        chi_square = gains[c] if is_freed else first.chi_square[c]
        shift, name = reported.largest_shift(considered.moves[:, c] * off, total)
        unit, doubt = point.taken.assumptions[c].unit, point.taken.assumptions[c].std
        names = tuple(point.taken.assumptions[k].name for k in group)
        found.append(
            Cause(
                names, unit, float(off) * doubt, float(std) * doubt, float(chi_square), shift,
                name, heals and is_freed,
            )
        )  # fmt: skip
    return tuple(found)
