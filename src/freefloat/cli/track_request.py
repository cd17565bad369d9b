"""What `freefloat track` was asked: read, checked, and the tracker made before the first sample."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli.identify_parameters import asked
from freefloat.cli.identify_request import default_globs
from freefloat.cli.simulate_request import require_writable
from freefloat.errors import Fault, FreefloatError
from freefloat.telemetry.sources import LINES, SampleSource

if TYPE_CHECKING:
    from freefloat import Model, OnlineEstimator, Telemetry
    from freefloat.cli.track import Connection, Tracking
    from freefloat.telemetry.sample_rows import Sample


@dataclass(frozen=True)
class TrackRequest:
    """A tracker that knows its model, and the samples to come."""

    tracker: OnlineEstimator
    samples: Iterable[Sample | None]


def understood(
    model: str,
    source: str,
    *,
    free: Sequence[str],
    fix: Sequence[str],
    prior: Sequence[str],
    tracking: Tracking,
    connection: Connection,
    state: Path | None,
    files: Sequence[Path | None],
) -> TrackRequest:
    """The request that the arguments make; FreefloatError for what is wrong with them."""
    from freefloat.model import load_model

    noise, walk = _pairs("--noise", tracking.noise), _pairs("--walk", tracking.walk)
    if not tracking.every > 0.0 or tracking.reorder < 0:
        fault = Fault("--every, --reorder", f"{tracking.every:g}, {tracking.reorder}",
                      "more than 0 s, and 0 or more samples", "leave them out")  # fmt: skip
        raise FreefloatError("these arguments cannot be used:", [fault])
    robot = load_model(model)
    for path in (*files, state):
        if path is not None:
            require_writable(path)
    parameters = asked(robot, free=tuple(free) or _usual(robot), fix=fix, prior=prior)
    flight, samples = _opened(source, connection)
    from freefloat.online.estimator import OnlineEstimator

    tracker = OnlineEstimator(
        robot, parameters, method=tracking.method, like=flight,
        noise=_noise(robot, flight, noise), random_walk=walk,
        forgetting=tracking.forgetting, gate=tracking.gate, reorder=tracking.reorder,
    )  # fmt: skip
    if state is not None and state.exists():
        tracker.restore(state)
    return TrackRequest(tracker, samples if flight is None else tracker.samples_of(flight))


def _usual(robot: Model) -> tuple[str, ...]:
    """What is looked for when nobody says; in the plane without what no motion in it could show."""
    globs = default_globs(robot)
    turns = [*(j.placement.rpy[:2] for j in robot.joints), *(j.axis[:2] for j in robot.joints)]
    turns += [t.placement.rpy[:2] for t in robot.targets]
    if robot.root.type != "planar" or any(x != 0.0 for turn in turns for x in turn):
        return globs
    bodies = [glob.removesuffix(".*") for glob in globs]
    return tuple(f"{body}.{name}" for body in bodies for name in ("mass", "m[xy]", "izz"))


def _opened(
    source: str, connection: Connection
) -> tuple[Telemetry | None, Iterable[Sample | None]]:
    path = Path(source)
    is_address = source == "-" or "://" in source
    if not is_address and path.suffix.lower() not in LINES:
        from freefloat.telemetry import read_telemetry

        flight = read_telemetry(path)
        return flight, flight
    if not is_address and not path.is_file():
        fault = Fault("SOURCE", source, "a file that exists", "look at its name")
        raise FreefloatError("there is no such source", [fault])
    return None, SampleSource(
        source, idle=connection.idle, retry=connection.retry, remote=connection.remote
    )


def _noise(robot: object, flight: Telemetry | None, globs: dict[str, float]) -> dict[str, float]:
    """Deviations by channel; a glob speaks for every channel that is known."""
    from freefloat.online.live_channels import told_by_model

    known = [*told_by_model(robot), *(flight.names if flight is not None else ())]  # type: ignore[arg-type]
    found: dict[str, float] = {}
    for glob, size in globs.items():
        hits = [name for name in known if fnmatchcase(name, glob)]
        found.update(dict.fromkeys(hits or [glob], size))
    return found


def _pairs(option: str, texts: Sequence[str]) -> dict[str, float]:
    """GLOB=NUMBER options as a dictionary; FreefloatError for others."""
    found, faults = {}, []
    for text in texts:
        glob, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not glob or not isfinite(value) or value < 0.0:
            faults.append(
                Fault(option, text, "GLOB=NUMBER, 0 or more", f"write {option} 'x.*=0.1'")
            )
        found[glob] = value
    if faults:
        raise FreefloatError("these arguments cannot be used:", faults)
    return found
