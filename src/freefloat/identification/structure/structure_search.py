"""Which parts of a model recordings call for, part by part, and the fit with those that are there.

found = find_structure(model, Parameters(model).free("bus.*"), flight)
for part in found.parts:
    print(part.name, part.verdict, part.visible_at)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.fit_assembly import assemble_fit
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.output_error_fit import solution_of
from freefloat.identification.output_error.search import SearchResult
from freefloat.identification.structure.candidate_parts import EFFECTS, Part, parts_of
from freefloat.identification.structure.part_search import PartSearch, SearchEnd
from freefloat.identification.structure.part_state import PartState, Question
from freefloat.identification.structure.part_tests import PartTest
from freefloat.identification.trust.assess import assess_fit
from freefloat.identification.trust.trust_options import USUAL_TRUST, TrustOptions
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.recorded_parameters import fix_unrecorded
from freefloat.prediction.measurements import with_sensor_noise
from freefloat.prediction.recording_pieces import cut_at_gaps
from freefloat.progress import Progress, silent
from freefloat.provenance import provenance
from freefloat.records.option_record import require_value
from freefloat.telemetry.digest import digest
from freefloat.telemetry.doctor import prepare_recording
from freefloat.telemetry.sample_codes import codes_of_all
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing

PartWord = Literal["present", "absent", "cannot be told"]


@dataclass(frozen=True)
class PartVerdict:
    """Whether the recordings call for a part, and by what.

    code: part.present, part.absent, part.alike (another part would do as well), part.invisible (too
    small to be seen here) or part.motionless (nothing moves where it acts). chi_square: what it
    takes off the sum of squares, in units of the noise; chance: that an absent part takes off so
    much. value: of its number (friction, damping, drag) in `unit`, or 1 for what the model says.
    visible_at: what would have been seen in 99 of 100 flights, in `unit`. alike: parts that would
    do as well in its place.
    """

    name: str
    effect: str
    verdict: PartWord
    code: str
    chi_square: float
    chance: float
    value: float
    visible_at: float
    unit: str
    alike: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line: the part, the verdict and what would have been seen."""
        return f"{self.name} ({self.effect}): {self.verdict}; {self.reason}"

    @property
    def reason(self) -> str:
        """Why, and what to do where it cannot be told."""
        if self.code == "part.present":
            return f"chi-square falls by {self.chi_square:.4g} with it"
        if self.code == "part.alike":
            names = listing(self.alike)
            return f"{names} would explain the flight as well; move so that they act differently"
        if self.code == "part.motionless":
            return "nothing moves where it acts; record a flight in which its joint moves freely"
        if not np.isfinite(self.visible_at):
            return "what else is estimated explains all it would do; fix some of that"
        seen = f"visible at {_amount(self.visible_at, self.unit)}"
        if self.code == "part.invisible":
            return f"{seen}; fly a larger or longer motion that excites it"
        return seen


def _amount(value: float, unit: str) -> str:
    if unit == "1":
        return f"{100.0 * value:.2g} % of what the model says"
    return f"{value:.2g} {unit}"


@dataclass(frozen=True)
class Structure:
    """Every part with its verdict, and the graded fit of the model with those that are there."""

    parts: tuple[PartVerdict, ...]
    fit: Fit
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The effects that are called for, by a part that is there or by one of several alike."""
        called = {p.effect for p in self.parts if p.verdict == "present" or p.alike}
        return tuple(name for name in EFFECTS if name in called)

    @property
    def present(self) -> tuple[str, ...]:
        """The parts that are there."""
        return tuple(p.name for p in self.parts if p.verdict == "present")

    def __getitem__(self, name: str) -> PartVerdict:
        """The verdict on the part of that name."""
        return {part.name: part for part in self.parts}[name]

    def __str__(self) -> str:
        """The parts, one a line."""
        return "\n".join([*map(str, self.parts), *self.notes])


def find_structure(
    model: Model,
    parameters: Parameters,
    flights: Telemetry | Sequence[Telemetry],
    *,
    effects: Sequence[str] | None = None,
    plan: Plan | Sequence[Plan] | None = None,
    known_start: bool = False,
    search: SearchOptions = USUAL,
    options: TrustOptions = USUAL_TRUST,
    raw: bool = False,
    progress: Progress = silent,
) -> Structure:
    """Which parts of the model the flights call for: every hinge, tank, drive, joint, wheel.

    Score tests decide, at a chance of `options.significance` that any absent part is called
    present (Holm over all parts); the winners are fitted.

    Args:
        model: With every part that comes into question.
        parameters: What else is free (the bus, say); the parameters of parts are freed by
            themselves. Bounds, priors and ties on any of them hold.
        flights: One recording or several.
        effects: Names among EFFECTS; all that the model can have unless given.
        plan: As for `identify`.
        known_start: As for `identify`.
        search: How the model is simulated.
        options: Significance and draws of noise.
        raw: Whether the recordings are used as they are; else their faults are repaired first.
        progress: Called before every simulation; may raise to stop.

    Returns:
        The verdict on every part, and the fit with those that are there.

    Raises:
        IdentificationError: If the model has no such part, or nothing else is free.

    >>> import freefloat as ff
    >>> from freefloat.excitation import Moves
    >>> model = ff.load_model("servicer-slosh")
    >>> shake = Moves((0.0, 2.0, 4.0), (0.6, 0.9, 0.6))
    >>> flight = ff.simulate(model, ff.Plan(10.0, motions={"arm_2": shake}), seed=0)
    >>> find_structure(model, ff.Parameters(model).free("bus.mass"), flight).present
    ('tank',)
    """
    require_value(search, SearchOptions, "search", IdentificationError)
    require_value(options, TrustOptions, "options", IdentificationError)
    recorded = (flights,) if isinstance(flights, Telemetry) else tuple(flights)
    plans = tuple(plan) if isinstance(plan, Sequence) else (plan,) * len(recorded)
    sound = tuple(
        with_sensor_noise(model, prepare_recording(flight, model, raw=raw)[0])
        for flight in recorded
    )
    parameters, beside = fix_unrecorded(parameters, sound, is_planned=plan is not None)
    pieces, cuts = cut_at_gaps(model, sound) if plan is None else (sound, ())
    plans = plans if pieces is sound else (None,) * len(pieces)
    question = Question(
        model, _require_parts(model, effects), parameters, pieces, plans, known_start, search,
        options,
    )  # fmt: skip
    if not question.base:
        raise IdentificationError(
            "no parameter is free besides those of the parts; free others, such as 'bus.*'",
            code="parameters.none",
        )
    found = PartSearch(question, progress).run()
    verdicts = tuple(_verdict(found, test) for test in found.tests.tests)
    fit = _graded_fit(found.state, recorded)
    notes = () if found.tests.unexplained < UNEXPLAINED else (_unexplained_note(found),)
    return Structure(verdicts, fit, (*beside, *cuts, *notes))


# theory: three times the noise's variance, as large as a fit's reservation from its own residuals
UNEXPLAINED = 3.0


def _require_parts(model: Model, effects: Sequence[str] | None) -> tuple[Part, ...]:
    parts = parts_of(model, effects)
    if not parts:
        raise IdentificationError(
            f"{model.name!r} has no part to decide on; give it wings, a tank, a drive, an orbit or"
            f" a wheel, or name one of {', '.join(EFFECTS)}",
            code="effect.none",
        )
    return parts


def _unexplained_note(found: SearchEnd) -> Note:
    text = (
        "no set of parts explains the recordings: what is left is"
        f" {found.tests.unexplained:.2g} times the noise and counts as noise here;"
        " look at the causes with `freefloat diagnose`"
    )
    return Note("structure.unexplained", text)


def _verdict(found: SearchEnd, test: PartTest) -> PartVerdict:
    """What the test of a part, and its refit where it is there, say of it."""
    part, tests = test.part, found.tests
    alike = found.alike.get(part.name, ())
    alike = alike or tuple(own for own, others in found.alike.items() if part.name in others)
    size = _value_of(found.state, part) if test.is_present else 0.0
    scale = size if test.is_present and part.is_number else 1.0
    visible = test.visible_at * scale if scale else test.visible_at
    chi_square = test.gain
    if test.is_present:
        chi_square = min(test.gain, max(found.falls.get(part.name, 0.0), 0.0) / test.noise)
    is_seen = part.name in tests.significant
    word: PartWord = "cannot be told"
    if alike:
        code = "part.alike"
    elif test.is_present and is_seen:
        word, code = "present", "part.present"
    elif not test.block.change.any():
        code = "part.motionless"
    elif not is_seen and visible <= _size_that_counts(found.state, test):
        word, code = "absent", "part.absent"
    else:
        code = "part.invisible"
    value = size if test.is_present else max(test.amount, 0.0)
    return PartVerdict(
        part.name, part.effect, word, code, chi_square, test.chance, value, visible, part.unit,
        alike,
    )  # fmt: skip


def _value_of(state: PartState, part: Part) -> float:
    """The number of a part that is there; one of what the fit says of any other."""
    return float(state.best_values[0].get(part.name, part.size)) if part.is_number else 1.0


def _size_that_counts(state: PartState, test: PartTest) -> float:
    """How much of a part there would be: as the model says, or what would move an estimate.

    A number that the model has as nought is absent if it would have been seen before it moves
    anything that is estimated by a standard deviation.
    """
    if not test.part.is_number or test.part.size > 0.0:
        return test.part.size
    rows = state.rows
    kept = [k for k, u in enumerate(rows.problem.unknowns.items) if u.is_reported]
    inverse = np.linalg.pinv(rows.jacobian, rcond=1e-10)
    moves = np.abs(inverse @ test.block.change)[kept]
    std = np.linalg.norm(inverse, axis=1)[kept]
    with np.errstate(divide="ignore", invalid="ignore"):
        shifts = np.where(std > 0.0, moves / std, 0.0)
    worst = float(np.max(shifts, initial=0.0))
    return np.inf if worst == 0.0 else 1.0 / worst


def _graded_fit(state: PartState, recorded: Sequence[Telemetry]) -> Fit:
    """The fit of a state, with the grade of its assessment."""
    question, rows = state.question, state.rows
    problem, errors = rows.problem, rows.descent.at.errors
    misfit, colour = {}, []
    for r, recording in enumerate(problem.recordings):
        for m, measurement in enumerate(recording.measurements):
            for c, name in enumerate(measurement.rows):
                noise, label = problem.noise[r][m][c], recording.place + name
                misfit[label] = float(np.mean(errors[r][m][:, c] ** 2)) / noise.size**2
                colour += [label] * (not noise.is_white)
    none = np.zeros((len(rows.descent.at.theta), 0))
    result = SearchResult(
        problem, rows.descent, misfit, tuple(colour), rows.descent.n_evaluations, none
    )
    notes = [note for recording in problem.recordings for note in recording.notes]
    parameters = question.parameters(state.present)
    fit = assemble_fit(
        solution_of(parameters, result, notes, ()), method="output_error",
        reason=Note("choice.structure", "with the parts that the recordings call for"),
        prior_model=parameters.model,
        provenance=provenance(
            seed=0, data=digest(recorded), method="output_error",
            recordings=" ".join(digest([flight]) for flight in recorded),
            samples=codes_of_all(recorded),
        ),
    )  # fmt: skip
    flights = [recording.telemetry for recording in problem.recordings]
    plans = [plan for plan in question.plans if plan is not None] or None
    return assess_fit(
        fit, flights, parameters=parameters, plan=plans, known_start=question.known_start,
        options=question.options, search=question.search, raw=True,
    )  # fmt: skip
