"""Score tests of parts: what each would take off the sum of squares, without a refit.

A part is a block of columns at the point where it is absent: the change it makes as the model has
it, and the slopes of that by its own parameters and initial states. What all other unknowns can
explain is projected out, and so is what assumptions (gains, delays, lengths, ...) can explain
within their doubt: each stands in the table with a row that says it is nought to one deviation.
Noise of recorded inputs adds up along some directions and not along others, so that the variance
along every block is taken from draws of all noise. Over that variance, the sum of squares that the
block takes off follows Fisher's F with its rank and the number of draws where the part is absent; a
number that cannot be negative follows nought or that with rank one, half of the time each
(Chernoff, Annals of Mathematical Statistics 25, 1954).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import chndtrinc, fdtrc, fdtri

from freefloat.arrays import Array
from freefloat.identification.output_error.unknowns import is_assumed
from freefloat.identification.structure.candidate_parts import Part
from freefloat.identification.structure.part_state import PartState, Values, predicted_change
from freefloat.identification.trust.assumption_columns import assumption_columns
from freefloat.identification.trust.causes import is_noise
from freefloat.identification.trust.misfit import excess
from freefloat.identification.trust.noise_draws import input_errors, noise_draws
from freefloat.identification.trust.white_rows import WhiteRows, orthonormal
from freefloat.model.parameter_name import ParameterName

# theory: factors of stiffness, half an octave of frequency apart, over two octaves: a hinge twice
# as stiff or soft as the model says still swings like one of them
STIFFER = (0.25, 0.5, 1.0, 2.0, 4.0)
# theory: with 32 draws the limit of one number at a chance of 1e-3 is a tenth above that of a known
# variance
DRAWS = 32
POWER = 0.99  # theory: what is said to be visible is seen so often


@dataclass(frozen=True)
class PartBlock:
    """The columns of a part where it is absent, and the residuals there.

    change (rows,): the part as the model or the fit has it; columns (rows, k): with slopes. left
    (rows,): residuals without the part. start: values of its parameters to begin a refit with.
    """

    part: Part
    change: Array
    columns: Array
    left: Array
    own: tuple[int, ...]  # places of its unknowns in the state, where it is there
    starts: tuple[Mapping[str, float], ...] = ()


@dataclass(frozen=True)
class PartTest:
    """What a part takes off the sum of squares, and whether chance would.

    gain: in units of noise along its columns, whose variance in whitened rows is `noise`; rank: of
    its columns; amount: of its change that fits best; visible_at: amount that would be seen (99 %)
    at the level of all tests together.
    """

    part: Part
    is_present: bool
    gain: float
    rank: int
    chance: float
    amount: float
    visible_at: float
    length: float  # sum of squares of the change, nuisances projected out
    block: PartBlock
    noise: float = 1.0

    @property
    def is_one_sided(self) -> bool:
        """Whether it can only be there, and not the opposite of it."""
        return self.rank == 1 and (self.part.is_number or not self.part.parameters)

    def limit(self, level: float) -> float:
        """The gain that an absent part exceeds with that chance."""
        if not self.rank:
            return np.inf
        level = 2.0 * level if self.is_one_sided else level
        return self.rank * float(fdtri(self.rank, DRAWS, 1.0 - level))


class _Nuisance:
    """What unknowns and assumptions explain, as an orthonormal basis of rows and prior rows."""

    def __init__(self, jacobian: Array, assumed: Array) -> None:
        self.n, self.m = assumed.shape
        J = orthonormal(jacobian)
        J = np.vstack([J, np.zeros((self.m, J.shape[1]))])
        G = np.vstack([assumed, np.eye(self.m)])
        Q = np.linalg.qr(G - J @ (J.T @ G))[0]
        self.basis = np.hstack([J, Q])

    def project(self, rows: Array) -> Array:
        """Columns of rows, prior rows nought, without what the nuisances explain."""
        wide = np.zeros((self.n + self.m, *rows.shape[1:]))
        wide[: len(rows)] = rows
        return wide - self.basis @ (self.basis.T @ wide)


@dataclass(frozen=True)
class PartTests:
    """All tests of a state.

    unexplained: factor on the variance of noise by what neither parts nor assumptions nor noise
    explain, one where noise is all that is left.
    """

    tests: tuple[PartTest, ...]
    unexplained: float
    significance: float

    @cached_property
    def significant(self) -> frozenset[str]:
        """Names of the parts that are seen (Holm over all of them)."""
        order = sorted(self.tests, key=lambda test: test.chance)
        found = set()
        for k, test in enumerate(order):
            if test.chance > self.significance / (len(order) - k):
                break
            found.add(test.part.name)
        return frozenset(found)

    def of(self, part: Part) -> PartTest:
        """The test of a part."""
        return next(test for test in self.tests if test.part.name == part.name)

    def temper(self) -> PartTests:
        """The tests with what is unexplained taken for noise."""
        level = self.significance / max(len(self.tests), 1)
        return replace(self, tests=tuple(_judge(t, self.unexplained, level) for t in self.tests))


def score_parts(state: PartState) -> PartTests:
    """Every part of the question tested at a state, in the order of the question."""
    rows, assumed = state.rows, _nuisance_columns(state)
    blocks = [_block(state, part) for part in state.question.parts]
    whole = _Nuisance(rows.jacobian, assumed)
    drawn = _draws(_fresh_draws(state), assumed.shape[1])
    level = state.question.options.significance / max(len(blocks), 1)
    found = []
    for block in blocks:
        nuisance = whole
        if block.own:
            nuisance = _Nuisance(np.delete(rows.jacobian, block.own, axis=1), assumed)
        basis = _seen_basis(nuisance.project(block.columns), block.columns)
        test = _measure(block, nuisance, basis, block.part.name in state.names)
        along = basis.T @ nuisance.project(drawn)
        found.append(_judge(test, max(1.0, float(np.mean(along**2))) if test.rank else 1.0, level))
    significance = state.question.options.significance
    return PartTests(tuple(found), _inflation(state, whole), significance)


def _measure(block: PartBlock, nuisance: _Nuisance, basis: Array, is_present: bool) -> PartTest:
    """What a block takes off, before it is judged."""
    change, left = nuisance.project(block.change), nuisance.project(block.left)
    length, along = float(change @ change), basis.T @ left
    amount = -float(change @ left) / length if length > 0.0 else 0.0
    rank = basis.shape[1] if length > 0.0 else 0
    return PartTest(
        block.part, is_present, float(along @ along), rank, 1.0, amount, np.inf, length, block
    )


def _judge(test: PartTest, noise: float, level: float) -> PartTest:
    """The test with more noise, by a factor on its variance, at a level of significance."""
    gain, length = test.gain / noise, test.length / noise
    test = replace(test, noise=test.noise * noise)
    if not test.rank:
        return replace(test, gain=0.0, chance=1.0, visible_at=np.inf, length=length)
    if test.is_one_sided:
        gain = gain if test.amount > 0.0 else 0.0
        chance = 0.5 * float(fdtrc(1, DRAWS, gain)) if gain > 0.0 else 1.0
    else:
        chance = float(fdtrc(test.rank, DRAWS, gain / test.rank))
    limit = test.limit(level)
    visible = float(np.sqrt(chndtrinc(limit, test.rank, 1.0 - POWER) / length))
    return replace(test, gain=gain, chance=chance, visible_at=visible, length=length)


def _seen_basis(projected: Array, columns: Array) -> Array:
    """An orthonormal basis of what is left of columns; what rounding makes is none of it."""
    length = np.linalg.norm(columns, axis=0)
    # theory: tangents are good to 1e-6 of themselves; what is left below that is no column
    kept = np.linalg.norm(projected, axis=0) > 1e-5 * np.maximum(length, 1e-300)
    kept &= length > 0.0
    return orthonormal(projected[:, kept], least=1e-4) if kept.any() else projected[:, :0]


def _nuisance_columns(state: PartState) -> Array:
    """Columns of what is taken as exact, but for what the parts themselves bring."""
    own = {name for part in state.question.parts for name in part.parameters}
    taken = assumption_columns(state.rows)
    kept = [
        k for k, a in enumerate(taken.assumptions)
        if a.name not in own and ParameterName.parse(a.name).field not in ("friction", "damping")
    ]  # fmt: skip
    return taken.columns[:, kept]


def _fresh_draws(state: PartState) -> Array:
    """Draws (rows, DRAWS) of all noise, whitened: as many as a variance needs, however small."""
    problem, theta = state.rows.problem, state.rows.descent.at.theta
    options = replace(state.question.options, draws=DRAWS, quiet_draws=DRAWS, sensor_draws=DRAWS)
    by_inputs = input_errors(problem, theta, options=options, seed=1)
    draws = noise_draws(problem, by_inputs, options=options, seed=1)
    return np.column_stack(
        [np.concatenate([problem.whiten(r, part) for r, part in enumerate(d)]) for d in draws]
    )


def _draws(noise: Array, n_assumed: int) -> Array:
    """Draws of the noise, and of the assumptions within their doubt."""
    rng = np.random.default_rng(0x5C)
    return np.vstack([noise, rng.standard_normal((n_assumed, noise.shape[1]))])


def _inflation(state: PartState, nuisance: _Nuisance) -> float:
    """Variance of a component by what neither unknowns nor assumptions nor noise explain.

    One where noise is all that is left.
    """
    rows = state.rows
    n = len(rows.residual)
    left = replace(
        rows,
        residual=nuisance.project(rows.residual)[:n],
        draws=nuisance.project(_draws(rows.draws, nuisance.m))[:n],
    )
    if is_noise(left, state.question.options):
        return 1.0
    found = excess(left)
    return 1.0 + found.energy / found.modes


def _block(state: PartState, part: Part) -> PartBlock:
    if part.name in state.names:
        return _present_block(state, part)
    return _absent_block(state, part)


def _present_block(state: PartState, part: Part) -> PartBlock:
    """Of a part that is there: the change is what it does at its fitted values."""
    own = {*part.parameters, *_states(part)}
    places = tuple(
        k for k, u in enumerate(state.rows.problem.unknowns.items) if u.name in own
    )  # fmt: skip
    rest = [other for other in state.present if other.name != part.name]
    found = predicted_change(state, rest, _known_values(state, rest))
    n = len(state.rows.residual)
    if found is None:
        none = np.zeros(n)
        return PartBlock(part, none, np.zeros((n, 0)), state.rows.residual, places)
    change = -found[0]
    slopes = state.rows.jacobian[:, places] if not part.is_number else np.zeros((n, 0))
    columns = np.column_stack([change, slopes])
    return PartBlock(part, change, columns, state.rows.residual - change, places)


def _absent_block(state: PartState, part: Part) -> PartBlock:
    """Of a part that is not there: what it would do, as the model has it and stiffer or softer."""
    n = len(state.rows.residual)
    none = PartBlock(part, np.zeros(n), np.zeros((n, 0)), state.rows.residual, ())
    more = [*state.present, part]
    known = _known_values(state, more)
    if part.is_number:
        zero = tuple({**values, part.name: 0.0} for values in known)
        found = predicted_change(state, more, zero, [part.name]) if _is_there(state, part) else None
        if found is None:
            return none
        return replace(none, change=found[1][:, 0], columns=found[1])
    names = [n for n in (*part.parameters, *_states(part)) if not state.question.known_start
             or not n.startswith("start.")]  # fmt: skip
    own = _model_values(state, part)
    changes, columns, starts = [], [], []
    for factor in STIFFER if part.parameters else (1.0,):
        values = {k: v * _factor(k, factor) for k, v in own.items()}
        found = predicted_change(state, more, tuple({**v, **values} for v in known), names)
        if found is not None:
            changes.append(found[0])
            columns.append(np.column_stack([found[0], found[1]]))
            starts.append(values)
        if factor == 1.0 and found is not None:
            none = replace(none, change=found[0])
    if not columns:
        return none
    order = _order(state.rows, columns)
    return replace(none, columns=np.hstack(columns), starts=tuple(starts[k] for k in order))


def _order(rows: WhiteRows, columns: Sequence[Array]) -> list[int]:
    """Starts by what their columns explain, the best first."""
    gains = []
    for own in columns:
        basis = orthonormal(rows.project_out(own))
        gains.append(float(np.sum((basis.T @ rows.remainder) ** 2)))
    return [int(k) for k in np.argsort(gains)[::-1]]


def _factor(name: str, stiffer: float) -> float:
    """Of a parameter where the stiffness changes: dampers keep the ratio of damping."""
    field = ParameterName.parse(name).field
    return stiffer if field == "stiffness" else stiffer**0.5 if field == "damping" else 1.0


def _is_there(state: PartState, part: Part) -> bool:
    """Whether the model has what a number belongs to (a drive's friction needs the drive)."""
    more = [*state.present, part]
    names = {p.name for p in state.question.parameters(more).free_ones}
    return part.name in names


def _states(part: Part) -> list[str]:
    return [f"start.{c}.{field}" for c in part.coordinates for field in ("position", "velocity")]


def _model_values(state: PartState, part: Part) -> dict[str, float]:
    known = {p.name: p.value for p in state.question.asked}
    return {name: known[name] for name in part.parameters if name in known}


def _known_values(state: PartState, present: Sequence[Part]) -> Values:
    """The values of the state that a model with other parts knows, by recording."""
    known = {p.name for p in state.question.parameters(present)}
    absent = state.question.absent(present)
    gone = {f"start.{c}" for part in absent for c in part.coordinates}
    own = {name for part in absent for name in part.parameters}
    return tuple(
        {
            name: value
            for name, value in values.items()
            if (name in known or is_assumed(name))
            and name not in own
            and name.rpartition(".")[0] not in gone
        }
        for values in state.best_values
    )
