"""The arguments of `freefloat identify`, understood: everything that can fail fast fails here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli.identify import Choices, IdentifyRequest
from freefloat.cli.simulate_request import require_writable
from freefloat.errors import Fault, FreefloatError

if TYPE_CHECKING:
    from freefloat import Model, Telemetry

SUFFIXES = {"fit": (".json",), "model": (".toml", ".urdf"), "report": (".html", ".htm")}
OPTIONS = {"fit": "--out", "model": "--save-model", "report": "--report"}


def understood(
    model: str,
    flights: Sequence[Path],
    *,
    free: Sequence[str],
    fix: Sequence[str],
    prior: Sequence[str],
    choices: Choices,
    out: Path | None,
    save_model: Path | None,
    report: Path | None,
) -> IdentifyRequest:
    """The identification that the arguments ask for; FreefloatError with every fault of theirs."""
    files = {"fit": out, "model": save_model, "report": report}
    wanted = {name: path for name, path in files.items() if path is not None}
    faults = [*_suffix_faults(wanted), *_repeated_faults(flights)]
    if faults:
        raise FreefloatError("these arguments cannot be used:", faults)
    from freefloat.model import load_model

    robot = load_model(model)
    _refuse_to_replace(model, save_model)
    for path in wanted.values():
        require_writable(path)
    from freefloat.cli.identify_parameters import asked

    globs = tuple(free) or default_globs(robot)
    parameters = asked(robot, free=globs, fix=fix, prior=prior)
    seen, sources = _read(flights), _sources(model, flights)
    return IdentifyRequest(robot, parameters, globs, not free, seen, sources, choices, wanted)


def default_globs(model: Model) -> tuple[str, ...]:
    """What is looked for when nobody says: the root body and whatever is grasped."""
    return tuple(f"{name}.*" for name in (model.root.body, *(t.name for t in model.targets)))


def _read(flights: Sequence[Path]) -> dict[Path, Telemetry]:
    from freefloat.telemetry import read_telemetry

    return {path: read_telemetry(path) for path in flights}


def _sources(model: str, flights: Sequence[Path]) -> dict[str, str]:
    """What the fit is made from, for its provenance, so that it can be made again."""
    told = {"model": model}
    for number, path in enumerate(flights, start=1):
        with path.open("rb") as file:
            told[f"flight_{number}"] = str(path)
            told[f"flight_{number}_sha256"] = file_digest(file, "sha256").hexdigest()
    return told


def _repeated_faults(flights: Sequence[Path]) -> Iterator[Fault]:
    """A flight that counts twice would make the answer look surer than it is."""
    seen: set[Path] = set()
    for path in flights:
        if (there := path.absolute()) in seen:
            yield Fault("FLIGHT", f"{path} twice", "every flight once", "leave one of them out")
        seen.add(there)


def _suffix_faults(files: dict[str, Path]) -> Iterator[Fault]:
    for name, path in files.items():
        if path.suffix.lower() not in SUFFIXES[name]:
            value = f"{path} ({path.suffix or 'no suffix'})"
            expected = "a name that ends in " + " or ".join(SUFFIXES[name])
            yield Fault(OPTIONS[name], value, expected, "the suffix chooses the format")


def _refuse_to_replace(model: str, save_model: Path | None) -> None:
    """The model before is what the next identification starts from; a slip must not cost it."""
    if save_model is None or not save_model.exists() or not Path(model).exists():
        return
    if save_model.samefile(model):
        fault = Fault("--save-model", str(save_model), "another file", "name a new file")
        raise FreefloatError("the estimates would replace the model they started from", [fault])
