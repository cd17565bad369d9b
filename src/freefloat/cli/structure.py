"""`freefloat structure`: which effects of a model recorded flights call for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat.identification.structure import Structure

_REPEATED = Parameter(negative=(), show_default=False, json_list=False)
_FLIGHTS = Parameter(name="FLIGHT", required=True)
KERNELS = ("tangent.rk4_tangent", "observe.observe")


def structure(
    model: str,
    /,
    *flights: Annotated[Path, _FLIGHTS],
    free: Annotated[tuple[str, ...], _REPEATED] = (),
    effects: Annotated[tuple[str, ...], _REPEATED] = (),
    plan: Annotated[tuple[Path, ...], _REPEATED] = (),
    known_start: Annotated[bool, FLAG] = False,
    save_model: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Decide which effects of a model the data call for.

    Give a model with every effect one can think of: wings, slosh, flexible
    joint, friction, gravity gradient, wheels. It is fitted without them, then
    with each (output error); an effect is called for when the Bayesian
    information criterion falls by more than 10. Modes seen in the free swing
    are told beside.

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
        What else to look for, as a name or glob; may be repeated. Unless said, the root body.
    effects
        The effects to decide on; may be repeated. Unless said, all that the model has.
    plan
        What was flown: a plan .toml for all flights, or one each, repeated.
    known_start
        The flights began exactly as the plan says.
    save_model
        The model with only what is called for, to write (.toml).
    """
    from freefloat.cli import screen
    from freefloat.cli.waiting import progress, tell_first_run
    from freefloat.errors import FreefloatError
    from freefloat.excitation.plan_file import load_plan
    from freefloat.identification.structure import find_structure
    from freefloat.model import load_model
    from freefloat.parameters.parameters import Parameters
    from freefloat.telemetry import read_telemetry

    robot = load_model(model)
    recorded = [read_telemetry(path) for path in flights]
    plans = [load_plan(path, robot) for path in plan]
    if known_start and not plans:
        raise FreefloatError("--known-start goes with --plan: which start is it?")
    wanted = Parameters(robot).free(*(free or (f"{robot.root.body}.*",)))
    tell_first_run(*KERNELS, takes="about half a minute")
    with progress("fitting") as tell:
        found = find_structure(
            robot, wanted, recorded, effects=effects or None,
            plan=plans[0] if len(plans) == 1 else plans or None, known_start=known_start,
            progress=tell,
        )  # fmt: skip
    if save_model is not None:
        found.fit.model.save(save_model)
    if shared.json:
        screen.print_json(as_dict(model, found, save_model))
    else:
        screen.show(*overview(model, found, save_model))
    return 0 if found.fit.is_trustworthy else 1


def overview(model: str, found: Structure, saved: Path | None) -> Iterator[RenderableType]:
    """Every effect with its worth, and how well the model with those called for fits."""
    from rich.text import Text

    from freefloat.cli.screen import facts, heading, table

    yield Text(model, style="bold")
    yield ""
    yield heading("Effects")
    rows = [
        (w.effect.name, _figure(w.gain), "called for" if w.is_called_for else "not called for",
         w.evidence or "–")
        for w in found.effects
    ]  # fmt: skip
    yield table(("effect", "worth", "verdict ", "also "), rows)
    yield ""
    parts = [("parts", ", ".join(w.effect.parts)) for w in found.effects if w.is_called_for]
    written = [("model written", str(saved))] if saved else []
    yield facts([*parts, ("the fit with these", found.fit.status), *written])
    names = ", ".join(found.names) or "rigid bodies alone"
    yield Text(f"called for: {names}", style="bold")


def _figure(gain: float) -> str:
    return "cannot be fitted" if gain == float("-inf") else f"{gain:+.1f}"


def as_dict(model: str, found: Structure, saved: Path | None) -> dict[str, object]:
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
        "values": {e.name: {"value": e.value, "std": e.std} for e in found.fit.estimates},
        "files": {"model": str(saved)} if saved else {},
    }
