"""`freefloat structure`: which parts of a model recorded flights call for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import (
    FLAG,
    FLIGHTS,
    REPEATED,
    RecordingOptions,
    Shared,
    check_flights,
    read_flights,
    read_plans,
    require,
)
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.cli.parameter_options import (
    FitParameterOptions,
    choose_parameters,
)
from freefloat.cli.settings import parse_settings
from freefloat.errors import Fault, visible
from freefloat.parameters.default_choice import default_globs
from freefloat.text import count_noun

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.identification.output_error.options import SearchOptions
    from freefloat.identification.structure.structure_search import PartVerdict, Structure
    from freefloat.identification.trust.trust_options import TrustOptions

KERNELS = ("tangent.rk4_tangent", "observe.observe")


def structure(
    model: str,
    /,
    *flights: Annotated[Path, FLIGHTS],
    wanted: FitParameterOptions = FitParameterOptions(),  # noqa: B008
    effects: Annotated[tuple[str, ...], REPEATED] = (),
    plan: Annotated[tuple[Path, ...], REPEATED] = (),
    known_start: Annotated[bool, FLAG] = False,
    set: Annotated[tuple[str, ...], REPEATED] = (),
    save_model: Path | None = None,
    reading: RecordingOptions = RecordingOptions(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Decide which parts of a model the data call for.

    Each hinge, tank, drive, wheel and joint (friction, damping) is tested by
    itself: present, absent, or cannot be told, with the size that would have
    been detected. Only sets of parts that the score tests favour are fitted.
    Exit code 1 says that the fit with these parts is not to be trusted.

    For example:
      freefloat structure servicer-wings flight.parquet --free 'bus.*'
      freefloat structure arm.toml a.csv b.csv --effects friction --known-start

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    flights
        One or several flights: .parquet, .pq, .csv, .tsv, .mcap, .mat; any other with --map.
    effects
        The effects to decide on; may be repeated. By default all that the model can have.
    plan
        The plan that was flown (.toml): one for all flights, or one each, repeated.
    known_start
        Take the initial state of the plan as exact.
    set
        NAME=VALUE: an option of the search; may be repeated. `--set help` lists them.
    save_model
        Write the model with the parts that are present (.toml).
    """
    from freefloat.cli.robot_file import read_robot, write_robot
    from freefloat.cli.waiting import progress, tell_first_run

    files = OutputFiles(model=("--save-model", save_model))
    require([*files.faults(), *check_flights(flights), *_start_faults(known_start, plan)])
    options = parse_settings("structure", set)
    robot = read_robot(model, strict=shared.strict)
    files.require_possible(model=model, flight=flights, plan=plan, map=reading.map)
    globs = wanted.free or default_globs(robot)
    parameters = choose_parameters(robot, **asdict(replace(wanted, free=globs)))
    plans = read_plans(plan, robot)
    recorded = [*read_flights(flights, reading=reading, max_bytes=shared.max_bytes).values()]
    tell_first_run(*KERNELS, takes="about half a minute")
    screen.note(f"testing parts of {robot.name} by {count_noun(len(recorded), 'flight')}")
    from freefloat.identification.structure.structure_search import (  # loads Numba, hence late
        find_structure,
    )

    with progress("testing parts") as update:
        found = find_structure(
            robot, parameters, recorded, effects=effects or None, plan=plans,
            known_start=known_start, search=_search_options(options),
            options=_test_options(options), progress=update,
        )  # fmt: skip
    if save_model is not None:
        write_robot(found.fit.model, save_model, model)
    _show(model, found, files.paths, is_json=shared.json)
    return 0 if found.fit.is_trustworthy else 1


def _show(model: str, found: Structure, written: dict[str, Path], *, is_json: bool) -> None:
    if is_json:
        screen.print_json(_as_dict(model, found, written))
    else:
        screen.show(*_overview(model, found, written))


def _search_options(given: dict[str, dict[str, Any]]) -> SearchOptions:
    from freefloat.identification.fit_assembly import TrustLimits
    from freefloat.identification.output_error.options import SearchOptions

    return SearchOptions(**given["search"], trust=TrustLimits(**given["trust"]))


def _test_options(given: dict[str, dict[str, Any]]) -> TrustOptions:
    from freefloat.identification.trust.trust_options import TrustOptions

    return TrustOptions(**given["tests"])


def _start_faults(known_start: bool, plan: tuple[Path, ...]) -> Iterator[Fault]:
    if known_start and not plan:
        expected = "a plan, whose initial state is meant"
        yield Fault("--known-start", "no --plan", expected, "add --plan", "option.conflict")


def _overview(model: str, found: Structure, files: dict[str, Path]) -> Iterator[RenderableType]:
    """Every part with its verdict, and how well the model with those that are there fits."""
    yield Text(visible(model), style="bold")
    rows = [(p.name, p.verdict, f"{p.chi_square:.4g}", _visible(p)) for p in found.parts]
    head = ("part", "verdict", "chi-square", "visible at")
    yield from screen.section("Parts", screen.table(head, rows, align="Llrl"))
    yield ""
    doubts = [(p.name, p.reason) for p in found.parts if p.verdict == "cannot be told"]
    notes = [("note", note) for note in found.notes]
    written = [(f"{what} written", str(path)) for what, path in files.items()]
    graded = [("grade", found.fit.grade)]
    for reason in found.fit.assessment.reasons if found.fit.assessment is not None else ():
        words = f"{reason.text}; {reason.remedy}" if reason.remedy else reason.text
        graded.append(("", f"· {words}"))
    fit = [("the fit with these", found.fit.status), *graded]
    yield screen.facts([*doubts, *notes, *fit, *written])
    names = ", ".join(found.present) or "no part of it"
    yield Text(f"called for: {names}", style="bold")


def _visible(part: PartVerdict) -> str:
    if part.visible_at == float("inf"):
        return "never here"
    if part.unit == "1":
        return f"{100.0 * part.visible_at:.2g} % of the model's"
    return f"{part.visible_at:.2g} {part.unit}"


def _as_dict(model: str, found: Structure, files: dict[str, Path]) -> dict[str, object]:
    """The verdicts for machines."""
    return {
        "ok": found.fit.is_trustworthy,
        "model": model,
        "called_for": list(found.names),
        "present": list(found.present),
        "parts": [
            {
                "name": p.name,
                "effect": p.effect,
                "verdict": p.verdict,
                "code": p.code,
                "reason": p.reason,
                "chi_square": p.chi_square,
                "chance": p.chance,
                "value": p.value,
                "visible_at": p.visible_at if p.visible_at < float("inf") else None,
                "unit": p.unit,
                "alike": list(p.alike),
            }
            for p in found.parts
        ],
        "status": found.fit.status,
        "status_code": found.fit.status_code,
        "grade": found.fit.grade,
        "values": {
            e.name: {"value": e.value, "std": e.std, "total_std": e.total_std}
            for e in found.fit.estimates
        },
        "notes": screen.notes_json(found.notes),
        "files": paths_as_text(files),
    }
