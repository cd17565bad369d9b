"""Where a recorded flight begins: found over growing stretches of it, from several beginnings.

Over a whole recording an initial state that is a little off may be turns away from it at the end,
and the nearest minimum is a false one. Over the first second it is not; what is found there is
where the search over two seconds begins, and so on. Where what is left is not noise, the search
begins anew elsewhere: if it ends at the same place, that is the best start there is, and the model
is to blame; if it does not, nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import FreefloatError, IdentificationError
from freefloat.identification.output_error.cost import OutputErrorProblem, stated_noise
from freefloat.identification.output_error.levenberg import Descent, descend
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.output_error.search import refine_steps
from freefloat.identification.output_error.unknowns import SearchUnknowns, unknowns_of
from freefloat.model.parameter_name import ParameterName
from freefloat.parameters.parameters import Parameters
from freefloat.progress import Progress, count_steps, silent

# theory: a second of gyro and attitude tells rates to a hundredth of what a minute does, and no
# motion of a spacecraft turns far within it
FIRST_HORIZON = 1.0  # [s]
# theory: a start that is good to a sample's noise at the end of a stretch drifts by twice of it
# over twice the stretch
GROWTH = 2.0
# theory: the deviation of a rate that positions tell falls with the power 3/2 of the stretch
LONGER = 4.0  # the first stretch of later searches
# theory: with one false minimum as wide as the right one, six searches miss both once in 32
MOST_TRIES = 6
# theory: the mean square of n white residuals scatters by sqrt(2 / n); beyond this it is not noise
EXPLAINED = 5.0  # standard deviations
# theory: minima within a standard deviation of each other differ by half a square
SAME_COST = 0.5
# theory: residuals that are not noise scatter with the path of the search, by rounding only
SAME_SHARE = 1e-4  # of the cost
# format: how far from the first readings a state may be; a weak pull keeps unseen ones from running
ROOM = {"attitude": 3.0, "rate": 3.0, "position": 10.0, "velocity": 3.0, "swing": 1.0}
SWING_RATE = 10.0  # format: [1/s], of a coordinate that swings, in units of its room
# theory: a sample tells a position, two a rate; four times as many tell both against their noise
LEAST_SAMPLES = 8
# theory: another beginning is to leave the neighbourhood of a minimum, three natural sizes wide
ASIDE = 3.0
HORIZON_EVALUATIONS = 15  # format: of a stretch, at most; the next one goes on from there


@dataclass(frozen=True)
class StartSearch:
    """The initial state of a flight, and how sure that is.

    problem: of the start alone, on steps that are short enough. n_tried: searches from different
    beginnings; n_agreed: how many of them ended here. held: as in `find_start`.
    """

    problem: OutputErrorProblem
    descent: Descent
    n_tried: int
    n_agreed: int
    held: frozenset[str] | None = frozenset()

    @property
    def theta(self) -> Array:
        """The initial state, counted from that of the recording's predictor."""
        return self.descent.at.theta

    @property
    def values(self) -> dict[str, float]:
        """The same as `start.*` values, of what was looked for."""
        items = self.problem.unknowns.items
        return {u.name: float(x) for u, x in zip(items, self.theta, strict=True)}

    @property
    def deviations(self) -> Array:
        """Standard deviations of the values, by the noise of the sensors alone."""
        R = self.descent.at.blocks[0].factor[:, :-1]
        return np.sqrt(np.diag(np.linalg.pinv(R.T @ R, rcond=1e-14, hermitian=True)))

    @property
    def misfit(self) -> float:
        """Mean square of residuals in units of the stated noise."""
        return 2.0 * self.descent.at.cost / max(self.descent.at.n_rows, 1)

    @property
    def is_found(self) -> bool:
        """Whether it is the best start there is: it explains the flight, or most searches agree."""
        if not len(self.theta):
            return True
        is_ended = self.descent.ending == "converged"
        is_agreed = self.n_agreed > 1 and 2 * self.n_agreed > self.n_tried
        scatter = np.sqrt(2.0 / max(self.descent.at.n_rows, 1))
        return is_ended and (self.misfit < 1.0 + EXPLAINED * scatter or is_agreed)


def find_start(
    recording: Recording, *, held: Collection[str] | None = (), seed: int = 0,
    progress: Progress = silent,
) -> StartSearch:  # fmt: skip
    """The initial state of a recording.

    Args:
        recording: Of a model that is taken as it is.
        held: Coordinates whose initial state stays that of the recording's predictor; None: all of
            it, that of the root as well.
        seed: Of the beginnings that are tried where the first readings lead nowhere.
        progress: Called before every simulation.

    Raises:
        FreefloatError: The motion is not finite.
    """
    unknowns = _unknowns(recording, held)
    problem = OutputErrorProblem(
        (recording,), unknowns, stated_noise([recording]), None, np.zeros(len(unknowns.items)),
        progress=count_steps(progress, "finding the initial state"),
    )  # fmt: skip
    known = None if held is None else frozenset(held)
    try:
        best = descend(problem, problem.unknowns.start, most=1)
    except IdentificationError as error:  # of the model, not of the recording
        raise FreefloatError(error.message, code=error.code) from None
    n_tried = n_agreed = 0
    if not unknowns.items:
        problem = refine_steps(problem, best.at.theta)
        return StartSearch(problem, descend(problem, best.at.theta, most=1), 1, 1, known)
    for theta, seconds in _beginnings(problem, seed):
        found = _search(problem, theta, seconds)
        if found is None:
            continue
        n_tried += 1
        if n_tried == 1:
            problem = refine_steps(problem, found.at.theta)
            found = descend(problem, found.at.theta)
        if n_agreed and _is_same(found, best):
            n_agreed += 1
            best = min(found, best, key=lambda one: one.at.cost)
        elif not n_agreed or found.at.cost < best.at.cost:
            best, n_agreed = found, 1
        search = StartSearch(problem, best, n_tried, n_agreed, known)
        if search.is_found or n_tried >= MOST_TRIES:
            return search
    return StartSearch(problem, best, n_tried, n_agreed, known)


def _unknowns(recording: Recording, held: Collection[str] | None) -> SearchUnknowns:
    """The initial state, with room to be anywhere."""
    found = unknowns_of(
        Parameters(recording.model), [recording], is_start_known=held is None, held=held or ()
    )
    room = np.array([_room(unknown.name) for unknown in found.items])
    return replace(found, room=room / found.options.horizon_reach)


def _room(name: str) -> float:
    """How far an initial state may well be from its first reading, in its unit."""
    parsed = ParameterName.parse(name)
    if parsed.owner in ROOM:
        return ROOM[parsed.owner]
    return ROOM["swing"] * (SWING_RATE if parsed.field == "velocity" else 1.0)


def _search(problem: OutputErrorProblem, theta: Array, first: float) -> Descent | None:
    """The end of one search; None where the motion it begins with is not finite."""
    try:
        for seconds in _horizons(problem.recordings[0], first):
            enough = problem.options.horizon_tolerance
            short = descend(problem.until(seconds), theta, most=HORIZON_EVALUATIONS, enough=enough)
            theta = short.at.theta
        return descend(problem, theta)
    except FreefloatError:
        return None


def _horizons(recording: Recording, first: float) -> Iterator[float]:
    """Growing stretches [s] of a recording, each with more samples than there are states."""
    longest = recording.times[-1] - recording.grid.first
    rates = [len(m.times) / max(float(np.ptp(m.times)), 1e-9) for m in recording.measurements]
    seconds = max(first, LEAST_SAMPLES / max(rates))
    while seconds * GROWTH <= longest:
        yield seconds
        seconds *= GROWTH


def _beginnings(problem: OutputErrorProblem, seed: int) -> Iterator[tuple[Array, float]]:
    """Initial states to begin with, and the first stretch [s] of the recording to fit.

    The first readings, and by turns others: far where nothing was read, near where it was. Over
    one second sensors of positions alone may tell too little; then a longer stretch tells more.
    """
    theta = problem.unknowns.start
    rng = np.random.default_rng([seed, 0x5A])
    recording = problem.recordings[0]
    root = recording.model.root.body
    kinds = {m.sensor.kind for m in recording.measurements if m.target == root}
    is_turned = "attitude" not in kinds
    wide = problem.unknowns.room * problem.options.horizon_reach
    spread = ASIDE * problem.unknowns.sizes
    for k, unknown in enumerate(problem.unknowns.items):
        if is_turned and unknown.name.startswith("start.attitude."):
            spread[k] = wide[k]
    for k in range(MOST_TRIES):
        aside = spread * rng.standard_normal(len(theta)) if k % 2 else 0.0
        yield theta + aside, FIRST_HORIZON * LONGER ** (k % 3)


def _is_same(one: Descent, other: Descent) -> bool:
    """Whether two searches ended at the same place, by their costs."""
    apart = abs(one.at.cost - other.at.cost)
    return apart <= SAME_COST + SAME_SHARE * min(one.at.cost, other.at.cost)
