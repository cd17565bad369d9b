"""Which effects the data call for: wings, fuel, flexible joints, friction, orbit, wheels.

The model given has every effect one can think of. It is fitted whole, and again without each
effect; the Bayesian information criterion says what each is worth. Effects that are worth nothing
are dropped, the least worth first, until all that are left are called for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freefloat.errors import IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.identification.effects import EFFECTS, Effect, effects_of
from freefloat.identification.fit import Fit
from freefloat.identification.identify import identify
from freefloat.identification.modal import identify_modes
from freefloat.identification.modal_match import match_modes
from freefloat.identification.parameters import Parameters
from freefloat.model.model import Model
from freefloat.telemetry.channels import Telemetry

STRONG = 10.0  # fall of the criterion that counts as strong evidence
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Worth:
    """What an effect is worth: by how much the criterion rises without it, and the verdict.

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
    progress: Progress | None = None,
) -> Structure:
    """Which of the model's effects the flights call for.

    parameters: what else is free (the bus, say); the parameters of effects are freed by themselves.
    effects: names among EFFECTS, all that the model has unless given ("friction" only when given or
    when the model has some). plan, known_start: as for `identify`. progress is told the fraction
    done.

    An effect counts when the criterion falls by more than 10 with it: strong evidence, so that
    noise alone does not call for anything.
    """
    recorded = (flights,) if isinstance(flights, Telemetry) else tuple(flights)
    candidates = effects_of(model, effects)
    if not candidates:
        raise IdentificationError(
            f"{model.name!r} has no effect to decide on; give it wings, a tank, a drive, friction,"
            f" an orbit or a wheel, or name one of {', '.join(EFFECTS)}"
        )
    base = [n for n in parameters.names if not any(n in e.parameters for e in candidates)]
    search = _Search(base, recorded, plan, known_start, progress, 2 * len(candidates) + 1)
    kept, full = list(candidates), search.fitted(model, candidates, candidates)
    gains: dict[str, float] = {}
    while kept:
        tried = {e.name: search.without(full, model, kept, e, candidates) for e in kept}
        worth = {name: gain_of(full, fit) for name, fit in tried.items()}
        gains |= worth
        least = min(worth, key=lambda name: worth[name])
        if worth[least] > STRONG:
            break
        kept = [effect for effect in kept if effect.name != least]
        full = tried[least]
    chosen = {effect.name for effect in kept}
    seen = _modes_seen(model, recorded)
    worths = tuple(
        Worth(e, gains[e.name], e.name in chosen, seen.get(e.name, "")) for e in candidates
    )
    return Structure(worths, full, tuple(full.notes))


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


class _Search:
    """Fits of models with some effects, each started from the one before."""

    def __init__(
        self,
        base: list[str],
        flights: tuple[Telemetry, ...],
        plan: Plan | Sequence[Plan] | None,
        known_start: bool,
        progress: Progress | None,
        n_expected: int,
    ) -> None:
        self.base, self.flights, self.plan = base, flights, plan
        self.known_start, self.progress, self.n_expected = known_start, progress, n_expected
        self.n = 0

    def fitted(self, model: Model, kept: Sequence[Effect], every: Sequence[Effect]) -> Fit:
        """The fit of a model that has the effects `kept` of `every`."""
        flights, plan = list(self.flights), self.plan
        for effect in every:
            if effect not in kept:
                model = effect.removed(model)
                flights = [effect.recorded(flight) for flight in flights]
                plan = effect.planned(plan)
            else:
                model = effect.started(model)
        known = {p.name for p in Parameters(model)}
        names = [n for n in self.base if n in known]
        names += [n for effect in kept for n in effect.parameters if n in known]
        if not names:
            raise IdentificationError(
                "nothing is left to be found without the effects; free something else too, such"
                " as 'bus.*'"
            )
        wanted = Parameters(model).free(*names)
        found = identify(
            model, wanted, flights, method="output_error", plan=plan, known_start=self.known_start
        )
        self.n += 1
        if self.progress is not None:
            self.progress(min(1.0, self.n / self.n_expected))
        return found

    def without(
        self, full: Fit, model: Model, kept: list[Effect], out: Effect, every: Sequence[Effect]
    ) -> Fit:
        """The fit without one more effect, its other values as they were found with it."""
        values = {e.name: e.value for e in full.estimates if np.isfinite(e.value)}
        start = _with_values(model, values)
        return self.fitted(start, [e for e in kept if e is not out], every)


def _with_values(model: Model, values: dict[str, float]) -> Model:
    """The model with values found, as far as it can have them."""
    from freefloat.identification.write_back import with_parameters

    known = {p.name for p in Parameters(model) if not p.name.startswith("start.")}
    try:
        return with_parameters(model, {n: v for n, v in values.items() if n in known})
    except IdentificationError:
        return model


def _modes_seen(model: Model, flights: tuple[Telemetry, ...]) -> dict[str, str]:
    """Modes of effects that swing freely in the first flight, in words, by effect."""
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


def reduced(model: Model, drop: Sequence[str]) -> Model:
    """The model without the named effects.

    >>> import freefloat as ff
    >>> len(ff.modes(reduced(ff.load_model("servicer-wings"), ["wings"])))
    0
    """
    for effect in effects_of(model, list(drop)):
        model = effect.removed(model)
    return replace(model)
