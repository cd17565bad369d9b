"""`freefloat structure`: which effects of a model recorded flights call for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import (
    FLAG,
    FLIGHTS,
    REPEATED,
    OutputFiles,
    Shared,
    check_flights,
    choose_parameters,
    paths_as_text,
    read_flights,
    read_plans,
    require,
)
from freefloat.cli.settings import parse_settings
from freefloat.errors import Fault

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.identification.output_error.options import SearchOptions
    from freefloat.identification.structure import Structure

KERNELS = ("tangent.rk4_tangent", "observe.observe")


def structure(
    model: str,
    /,
    *flights: Annotated[Path, FLIGHTS],
    free: Annotated[tuple[str, ...], REPEATED] = (),
    effects: Annotated[tuple[str, ...], REPEATED] = (),
    plan: Annotated[tuple[Path, ...], REPEATED] = (),
    known_start: Annotated[bool, FLAG] = False,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    save_model: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Decide which effects of a model the data call for.

    Give a model with every effect one can think of: wings, slosh, flexible
    joint, friction, gravity gradient, wheels. It is fitted without them, then
    with each (output error); an effect is called for when the Bayesian
    information criterion falls by more than 10. Modes of the free response
    are listed beside.

    For example:
      freefloat structure servicer-wings flight.parquet --free 'bus.*'
      freefloat structure arm.toml a.csv b.csv --effects friction --known-start

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    flights
        Telemetry of one flight or of several: .parquet, .pq, .csv or .tsv.
    free
        What else to estimate, as a name or glob; may be repeated. Unless said, the root body.
    effects
        The effects to decide on; may be repeated. Unless said, all that the model has.
    plan
        What was flown: a plan .toml for all flights, or one each, repeated.
    known_start
        The initial state is exactly that of the plan.
    set
        NAME=VALUE: an option of the search; may be repeated. `--set help` lists them.
    save_model
        The model with only what is called for, to write (.toml).
    """
    from freefloat.cli.waiting import progress, tell_first_run
    from freefloat.model import load_model

    files = OutputFiles(model=("--save-model", save_model))
    require([*files.faults(), *check_flights(flights), *_start_faults(known_start, plan)])
    options = parse_settings("structure", set)
    robot = load_model(model)
    files.require_possible(model=model)
    wanted = choose_parameters(robot, free=free or (f"{robot.root.body}.*",))
    plans = read_plans(plan, robot)
    recorded = list(read_flights(flights).values())
    tell_first_run(*KERNELS, takes="about half a minute")
    from freefloat.identification.structure import find_structure  # loads Numba, hence late

    with progress("fitting") as update:
        found = find_structure(
            robot, wanted, recorded, effects=effects or None, plan=plans, known_start=known_start,
            search=_search_options(options), progress=update,
        )  # fmt: skip
    if save_model is not None:
        found.fit.model.save(save_model)
    if shared.json:
        screen.print_json(_as_dict(model, found, files.paths))
    else:
        screen.show(*_overview(model, found, files.paths))
    return 0 if found.fit.is_trustworthy else 1


def _search_options(given: dict[str, dict[str, Any]]) -> SearchOptions:
    from freefloat.identification.fit_assembly import TrustLimits
    from freefloat.identification.output_error.options import SearchOptions

    return SearchOptions(**given["search"], trust=TrustLimits(**given["trust"]))


def _start_faults(known_start: bool, plan: tuple[Path, ...]) -> Iterator[Fault]:
    if known_start and not plan:
        expected = "a plan, whose initial state is meant"
        yield Fault("--known-start", "no --plan", expected, "add --plan", "option.conflict")


def _overview(model: str, found: Structure, files: dict[str, Path]) -> Iterator[RenderableType]:
    """Every effect with its worth, and how well the model with those called for fits."""
    yield Text(model, style="bold")
    rows = [
        (w.effect.name, _figure(w.gain), "called for" if w.is_called_for else "not called for",
         w.evidence or "–")
        for w in found.effects
    ]  # fmt: skip
    head = ("effect", "fall of BIC", "verdict", "also")
    yield from screen.section("Effects", screen.table(head, rows, align="Lrll"))
    yield ""
    parts = [("parts", ", ".join(w.effect.parts)) for w in found.effects if w.is_called_for]
    written = [(f"{what} written", str(path)) for what, path in files.items()]
    yield screen.facts([*parts, ("the fit with these", found.fit.status), *written])
    names = ", ".join(found.names) or "rigid bodies alone"
    yield Text(f"called for: {names}", style="bold")


def _figure(gain: float) -> str:
    return "cannot be fitted" if gain == float("-inf") else f"{gain:+.1f}"


def _as_dict(model: str, found: Structure, files: dict[str, Path]) -> dict[str, object]:
    """The verdict for machines."""
    return {
        "ok": found.fit.is_trustworthy,
        "model": model,
        "called_for": list(found.names),
        "effects": [
            {
                "name": w.effect.name,
                "parts": list(w.effect.parts),
                "gain": w.gain,
                "is_called_for": w.is_called_for,
                "evidence": w.evidence,
            }
            for w in found.effects
        ],
        "status": found.fit.status,
        "status_code": found.fit.status_code,
        "values": {e.name: {"value": e.value, "std": e.std} for e in found.fit.estimates},
        "files": paths_as_text(files),
    }
