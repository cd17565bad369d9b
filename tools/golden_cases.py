"""The cases whose outputs are kept: every built-in model by every method, and all other verbs.

A case is a name and a function without arguments. Flights are short: what counts is that every
path is gone, not that the estimates are good. A refusal is an output as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import golden_api as api
import golden_live as live

SEEDS = (1, 2)
SUITES = ("own", "full")
DURATION = 6.0  # [s] of every flight
PLANAR = "planar-capture"


@dataclass(frozen=True)
class Case:
    """A named computation whose result is kept."""

    name: str
    compute: Callable[[], dict[str, Any]]

    def content(self) -> dict[str, Any]:
        """The result; a refusal gives its text."""
        try:
            return {"is_refused": False, **self.compute()}
        except api.Refusal as refusal:
            return {"is_refused": True, "refused": str(refusal)}


def all_cases() -> list[Case]:
    """Every case, model by model, so that flights can be used again."""
    cases: list[Case] = []
    for model in api.model_names():
        for seed in SEEDS:
            cases += _of_model_and_seed(model, seed)
        cases += _of_model(model)
    return [*cases, *_variants(), *_springs(), *live.damaged_cases(Case), *_other_verbs()]


def _of_model_and_seed(model: str, seed: int) -> Iterator[Case]:
    for suite in SUITES if seed == SEEDS[0] else ("full",):
        yield Case(f"simulate/{model}/{suite}/{seed}", partial(_simulate, model, suite, seed))
        # With their own sensors nearly all models end at output error by "auto" as well.
        for method in api.METHODS if suite == "full" else api.METHODS[:-1]:
            what = partial(_identify, model, suite, method, seed)
            yield Case(f"identify/{model}/{suite}/{method}/{seed}", what)


def _of_model(model: str) -> Iterator[Case]:
    for suite in SUITES:
        for method in live.RECURSIONS:
            what = partial(live.track, model, suite, method, duration=DURATION)
            yield Case(f"live/{model}/{suite}/{method}", what)
    what = partial(live.track, model, "own", "kalman", duration=live.KALMAN_DURATION)
    yield Case(f"live/{model}/own/kalman", what)
    for source in ("fit", "model"):
        yield Case(f"validate/{model}/{source}", partial(_validate, model, source))
    what = partial(api.identifiability_content, model, DURATION)
    yield Case(f"identifiability/{model}", what)
    yield Case(f"cramer-rao/{model}", partial(api.cramer_rao_content, model, DURATION))
    yield Case(f"check/{model}", partial(api.command, "check", model))


def _simulate(model: str, suite: str, seed: int) -> dict[str, Any]:
    return api.telemetry_content(api.flight_of(model, suite, seed=seed, duration=DURATION))


def _identify(model: str, suite: str, method: str, seed: int) -> dict[str, Any]:
    # The angular family refuses thrust, and the reduced one finds the root body alone.
    flight = api.flight_of(
        model, suite, seed=seed, duration=DURATION, thrust=method != "angular"
    )  # fmt: skip
    globs = ("bus.*",) if method == "reduced" else ()
    return api.fit_content(api.identify(model, globs, flight, method=method))


def _validate(model: str, source: str) -> dict[str, Any]:
    flight = api.flight_of(model, "own", seed=2, duration=DURATION)
    return api.verdict_content(_auto_fit(model) if source == "fit" else api.load(model), flight)


@lru_cache(maxsize=1)
def _auto_fit(model: str) -> Any:
    return api.identify(model, (), api.flight_of(model, "own", seed=1, duration=DURATION))


def _variants() -> Iterator[Case]:
    """Options of identification, each on the cheapest model that can show it."""
    options: dict[str, dict[str, Any]] = {
        "solver-ls": {"method": "momentum", "solver": "ls"},
        "solver-iv": {"method": "momentum", "solver": "iv"},
        "robust-huber": {"method": "momentum", "robust": "huber"},
        "robust-tukey": {"method": "weak", "robust": "tukey"},
        "not-physical": {"method": "momentum", "physical": False},
        "clock-base": {"method": "momentum", "clock": "base"},
        "clock-joints": {"method": "weak", "clock": "joints"},
        "angular-with-thrust": {"method": "angular"},
        "output-error-huber": {"method": "output_error", "robust": "huber"},
        "output-error-starts": {"method": "output_error", "search": {"starts": 2}},
        "output-error-profile": {"method": "output_error", "search": {"profile": ("bus.mass",)}},
        "unknown-method": {"method": "magic"},
    }
    for name, chosen in options.items():
        yield Case(f"variant/{PLANAR}/{name}", partial(_variant, chosen))
    for name, globs in {
        "bias": ("bus.mass", "target.mass", "bias.base.rate.z"),
        "delay": ("bus.mass", "target.mass", "delay.base.rate"),
    }.items():
        what = partial(_variant, {"method": "output_error"}, globs=globs)
        yield Case(f"variant/{PLANAR}/{name}", what)
    for method in ("momentum", "output_error"):
        what = partial(_variant, {"method": method}, seeds=SEEDS)
        yield Case(f"variant/{PLANAR}/two-flights-{method}", what)
    yield Case(f"variant/{PLANAR}/known-start", _known_start)
    for name, chosen in {"drag": {"drag": True}, "momentum": {"momentum": (0.0, 0.0, 0.0)}}.items():
        what = partial(_variant, {"method": "angular", **chosen}, thrust=False)
        yield Case(f"variant/{PLANAR}/angular-{name}", what)


def _variant(
    options: dict[str, Any],
    *,
    globs: tuple[str, ...] = (),
    seeds: tuple[int, ...] = (1,),
    thrust: bool = True,
) -> dict[str, Any]:
    flights = [
        api.flight_of(PLANAR, "full", seed=seed, duration=DURATION, thrust=thrust)
        for seed in seeds
    ]  # fmt: skip
    return api.fit_content(api.identify(PLANAR, globs, *flights, **options))


def _known_start() -> dict[str, Any]:
    plan = api.plan_for(PLANAR, seed=1, duration=DURATION)
    return _variant({"method": "output_error", "plan": plan, "known_start": True})


def _springs() -> Iterator[Case]:
    """What swings: springs and fuel, in batch and live."""
    for model, globs in {
        "servicer-wings": ("bus.izz", "hinge_l1.stiffness", "hinge_r1.stiffness"),
        "servicer-slosh": ("bus.mass", "tank.mass", "tank.length"),
        "cbk-arm": ("bus.izz", "arm_1.drive.stiffness", "arm_1.drive.damping"),
    }.items():
        for suite in SUITES:
            what = partial(_spring_fit, model, suite, globs)
            yield Case(f"springs/{model}/{suite}/auto", what)
        what = partial(
            live.track, model, "own", "auto", duration=live.KALMAN_DURATION, globs=globs
        )  # fmt: skip
        yield Case(f"springs/{model}/own/live-auto", what)


def _spring_fit(model: str, suite: str, globs: tuple[str, ...]) -> dict[str, Any]:
    flight = api.flight_of(model, suite, seed=1, duration=DURATION)
    return api.fit_content(api.identify(model, globs, flight))


def _other_verbs() -> Iterator[Case]:
    for model, globs in {"cepheus": ("link_2.mx", "link_2.izz"), PLANAR: ("target.*",)}.items():
        what = partial(api.design_content, model, globs, duration=DURATION, seed=1)
        yield Case(f"design/{model}", what)
    options = ("--free", "bus.izz", "--duration", "6", "--starts", "1", "--rounds", "1")
    what = partial(api.command, "design", "servicer-wings", *options, "--avoid-modes")
    yield Case("design/servicer-wings", what)
    yield Case("models", partial(api.command, "models"))
    yield Case("structure/servicer-slosh", _structure)
    yield Case("spectrum/servicer-wings", _spectrum)


def _structure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        api.plan_for("servicer-slosh", seed=1, duration=DURATION).save(folder / "plan.toml")
        flight = api.flight_of("servicer-slosh", "own", seed=1, duration=DURATION)
        flight.save(folder / "flight.parquet")
        options = ("--plan", "plan.toml", "--known-start", "--free", "bus.mass", "--free", "bus.i*")
        return api.command(
            "structure", "servicer-slosh", "flight.parquet", *options, folder=folder
        )  # fmt: skip


def _spectrum() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        live.swinging().save(Path(name) / "swing.parquet")
        arguments = ("spectrum", "swing.parquet", "--model", "servicer-wings")
        return api.command(*arguments, folder=Path(name))
