"""Which effects the data call for: wings, fuel, flexible joints, friction, orbit, wheels.

The model given has every effect one can think of. It is fitted without any of them, then with
each; the Bayesian information criterion says what each is worth. The one worth most is kept, and
the others are tried again beside it, until none that is left is called for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.errors import FreefloatError, IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.identify import identify
from freefloat.identification.model_effects import EFFECTS, Effect, effects_of
from freefloat.identification.modes.modal import identify_modes
from freefloat.identification.modes.modal_match import match_modes
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.records.option_record import require_value
from freefloat.telemetry.telemetry import Telemetry

STRONG = 10.0  # theory: a difference of BIC above 10 is very strong evidence (Kass, Raftery 1995)
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Worth:
    """What an effect is worth: by how much the criterion falls with it, and the verdict.

    evidence: what else speaks for it, such as modes seen at its frequencies.
    """

    effect: Effect
    gain: float
    is_called_for: bool
    evidence: str = ""

    def __str__(self) -> str:
        """One line: the effect, its worth and the verdict."""
        word = "called for" if self.is_called_for else "not called for"
        more = f"; {self.evidence}" if self.evidence else ""
        return (
            f"{self.effect.name} ({', '.join(self.effect.parts)}): {word}, {self.gain:+.1f}{more}"
        )


@dataclass(frozen=True)
class Structure:
    """Every effect with its worth, and the fit of the model with only those called for."""

    effects: tuple[Worth, ...]
    fit: Fit
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The effects that are called for."""
        return tuple(w.effect.name for w in self.effects if w.is_called_for)

    def __str__(self) -> str:
        """The effects, one a line."""
        return "\n".join([*map(str, self.effects), *self.notes])


def find_structure(
    model: Model,
    parameters: Parameters,
    flights: Telemetry | Sequence[Telemetry],
    *,
    effects: Sequence[str] | None = None,
    plan: Plan | Sequence[Plan] | None = None,
    known_start: bool = False,
    search: SearchOptions = USUAL,
    progress: Progress | None = None,
) -> Structure:
    """Which of the model's effects the flights call for.

    An effect counts when the Bayesian information criterion falls by more than 10 with it: very
    strong evidence, so that noise alone does not call for anything.

    Args:
        model: with every effect that comes into question.
        parameters: what else is free (the bus, say); the parameters of effects are freed by
            themselves. Bounds, priors and ties on any of them hold.
        flights: one recording or several.
        effects: names among EFFECTS; all that the model has unless given ("friction" only when
            given or when the model has some).
        plan: as for `identify`.
        known_start: as for `identify`.
        search: how each output-error fit looks for its minimum.
        progress: is called with the fraction done, 0 to 1.

    Returns:
        Every effect with what it is worth, and the fit with those called for.

    Raises:
        IdentificationError: if the model has no such effect, or nothing else is free.
    """
    recorded = (flights,) if isinstance(flights, Telemetry) else tuple(flights)
    candidates = effects_of(model, effects)
    if not candidates:
        raise IdentificationError(
            f"{model.name!r} has no effect to decide on; give it wings, a tank, a drive, friction,"
            f" an orbit or a wheel, or name one of {', '.join(EFFECTS)}",
            code="effect.none",
        )
    require_value(search, SearchOptions, "search", IdentificationError)
    how: dict[str, Any] = {"known_start": known_start, "search": search}
    fits = _StructureSearch(model, candidates, parameters, recorded, plan, how, progress)
    kept, current = [], fits.plain()
    gains: dict[str, float] = {}
    while len(kept) < len(candidates):
        tried = {e: fits.best([*kept, e], current) for e in candidates if e not in kept}
        worth = {e: -np.inf if fit is None else gain_of(fit, current) for e, fit in tried.items()}
        gains |= {effect.name: gain for effect, gain in worth.items()}
        most = max(worth, key=lambda effect: worth[effect])
        found = tried[most]
        if found is None or worth[most] <= STRONG:
            break
        kept.append(most)
        current = found
    seen = _modes_seen(model, recorded)
    worths = tuple(Worth(e, gains[e.name], e in kept, seen.get(e.name, "")) for e in candidates)
    return Structure(worths, current, current.notes)


def gain_of(full: Fit, less: Fit) -> float:
    """By how much the Bayesian information criterion rises from the full model to the lesser one.

    Channels that both compare count, each by its mean square residual x over the stated noise: x
    itself up to one, and 1 + log x beyond, as for noise that is at least as large as stated.
    """
    tables = [{r.channel: r for r in fit.residuals} for fit in (full, less)]
    shared = [name for name in tables[0] if name in tables[1]]
    n = np.array([tables[0][name].n for name in shared])
    misfits = []
    for table in tables:
        x = np.array([table[name].rms ** 2 for name in shared])
        misfits.append(float(np.sum(n * np.where(x <= 1.0, x, 1.0 + np.log(np.maximum(x, 1.0))))))
    more = len(full.estimates) - len(less.estimates)
    return misfits[1] - misfits[0] - more * float(np.log(max(np.sum(n), 1)))


class _StructureSearch:
    """Fits of a model with some of its effects."""

    def __init__(
        self,
        model: Model,
        every: tuple[Effect, ...],
        asked: Parameters,
        flights: tuple[Telemetry, ...],
        plan: Plan | Sequence[Plan] | None,
        how: dict[str, Any],
        progress: Progress | None,
    ) -> None:
        self.model, self.every, self.asked = model, every, asked
        self.base = [n for n in asked.names if not any(n in e.parameters for e in every)]
        self.flights, self.plan, self.how = flights, plan, how
        self.progress, self.n = progress, 0

    def plain(self) -> Fit:
        """The fit without any effect."""
        if not self.base:
            raise IdentificationError(
                "nothing is to be found beside the effects; free something else, such as 'bus.*'",
                code="parameters.none",
            )
        return self._fit(self.model, [])

    def best(self, kept: Sequence[Effect], before: Fit) -> Fit | None:
        """The better of two fits, from the model's values and from those found so far.

        None where the model with these effects cannot be made to fly like the data at all.
        """
        values = {e.name: e.value for e in before.estimates if np.isfinite(e.value)}
        found = []
        for start in (self.model, _with_values(self.model, values)):
            # An absent effect may drive the search to singular inertias.
            with suppress(FreefloatError, np.linalg.LinAlgError):
                found.append(self._fit(start, kept))
        return min(found, key=lambda fit: gain_of(before, fit), default=None)

    def _fit(self, model: Model, kept: Sequence[Effect]) -> Fit:
        flights, plan = list(self.flights), self.plan
        for effect in self.every:
            if effect not in kept:
                model = effect.remove(model)
                flights = [effect.record_without(flight) for flight in flights]
                plan = effect.plan_without(plan)
        for effect in kept:
            model = effect.start(model)
        known = {p.name for p in Parameters(model)}
        names = [n for n in self.base if n in known or ParameterName.parse(n).is_of_sensor]
        names += [n for effect in kept for n in effect.parameters if n in known]
        wanted = Parameters(model).free(*names).with_conditions_of(self.asked)
        found = identify(model, wanted, flights, method="output_error", plan=plan, **self.how)
        self.n += 1
        if self.progress is not None:
            self.progress(min(0.99, self.n / (4 * len(self.every) + 1)))
        return found


def _with_values(model: Model, values: dict[str, float]) -> Model:
    """The model with values found, as far as it can have them."""
    known = {p.name for p in Parameters(model) if not ParameterName.parse(p.name).is_start}
    try:
        return with_parameters(model, {n: v for n, v in values.items() if n in known})
    except IdentificationError:
        return model


def _modes_seen(model: Model, flights: tuple[Telemetry, ...]) -> dict[str, str]:
    """Modes seen in the free response of the first flight, in words, by effect."""
    flight = flights[0]
    try:
        match = match_modes(model, identify_modes(flight, model), flight)
    except IdentificationError:  # no rest to look at
        return {}
    found: dict[str, list[str]] = {}
    for pair in match.matches:
        if pair.seen is None or pair.likeness < 0.8:
            continue
        mover = max(pair.mode.shape, key=lambda name: abs(pair.mode.shape[name]))
        for effect in effects_of(model, None):
            if any(mover == part or mover.startswith(f"{part}_") for part in effect.parts):
                found.setdefault(effect.name, []).append(f"{pair.seen.frequency:.3g} Hz")
    return {name: f"{' and '.join(seen)} seen" for name, seen in found.items()}


def without_effects(model: Model, drop: Sequence[str]) -> Model:
    """The model without the named effects.

    >>> import freefloat as ff
    >>> len(ff.modes(without_effects(ff.load_model("servicer-wings"), ["wings"])))
    0
    """
    for effect in effects_of(model, list(drop)):
        model = effect.remove(model)
    return model
