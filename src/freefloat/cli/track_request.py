"""What `freefloat track` is asked for: the options, and the tracker and samples they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from freefloat.cli import screen
from freefloat.cli.options import (
    FLAG,
    REPEATED,
    WHOLE,
    RecordingOptions,
    check_value,
    parse_pairs,
    read_flight,
    require,
)
from freefloat.cli.output_files import OutputFiles
from freefloat.cli.parameter_options import ParameterOptions, choose_parameters
from freefloat.cli.settings import parse_settings, require_used
from freefloat.errors import Fault
from freefloat.records.values import Natural, Positive
from freefloat.text import did_you_mean

if TYPE_CHECKING:
    from freefloat import Model, OnlineEstimator, Telemetry
    from freefloat.online.filter_options import FilterOptions
    from freefloat.telemetry.sample_rows import Sample

# The groups of `--set`, or single settings, that a filter has.
SETTINGS_OF = {
    "MomentumFilter": "filter limits startup",
    "FrameFilter": "filter limits startup frames",
    "KalmanFilter": "filter.clock_jump kalman",
}


@Parameter(name="*")
@dataclass(frozen=True)
class Tracking:
    """How samples are treated."""

    method: str = "auto"
    """auto, square-root, kalman; to compare: rls, two-step, modified-rls, modified-rls-force."""

    walk: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters that drift as a random walk: GLOB=STD per root second ('bus.mass=0.1')."""

    forgetting: float = 1.0
    """Forgetting factor of the filter, per sample; 1 forgets nothing."""

    gate: float = 1e-6
    """Probability that the outlier gate rejects a good sample; 0 turns it off."""

    reorder: Annotated[int, WHOLE] = 0
    """How many samples to hold back so that late ones can be put in order."""

    every: float = 1.0
    """Interval between the estimates that are written [s of data]."""

    set: Annotated[tuple[str, ...], REPEATED] = ()
    """NAME=VALUE: an option of the filter; may be repeated. `--set help` lists them."""


@Parameter(name="*")
@dataclass(frozen=True)
class Connection:
    """How an address is listened to."""

    idle: float | None = None
    """End when nothing arrives for this long [s]; never by default."""

    retry: float = 10.0
    """How long to try to connect or reconnect [s]."""

    remote: Annotated[bool, FLAG] = False
    """Allow addresses on other machines."""


@Parameter(name="*")
@dataclass(frozen=True)
class LiveFiles:
    """What a live run writes, and how often it is made safe."""

    state: Path | None = None
    """Keep the whole state in this file; if it exists, the run continues from it."""

    out: Path | None = None
    """Write estimates as newline JSON; appended to when a run continues."""

    parquet: Path | None = None
    """Write estimates as a Parquet table."""

    mcap: Path | None = None
    """Write estimates as MCAP, for Foxglove and PlotJuggler."""

    checkpoint: float = 10.0
    """Interval at which state and estimates are flushed to disk [s]."""

    @property
    def paths(self) -> list[Path]:
        """Those that were asked for."""
        each = (self.out, self.parquet, self.mcap, self.state)
        return [path for path in each if path is not None]


@dataclass(frozen=True)
class TrackRequest:
    """A tracker that knows its model, the samples to come, and whether it goes on from a state."""

    tracker: OnlineEstimator
    samples: Iterable[Sample | None]
    is_resumed: bool


def _filter_options(method: str) -> dict[str, Any]:
    """The filter that `--method` names: a built-in one, or a recursion of the literature."""
    from freefloat.online.estimator import METHODS

    if method in METHODS:
        return {"method": method}
    from freefloat.papers.paper_001.recursive_filter import RECURSIVE, recursive_filter

    known = (*METHODS, *RECURSIVE)
    if method not in known:
        remedy = did_you_mean(method, known, otherwise="leave it out")
        expected = f"one of {', '.join(known)}"
        require([Fault("--method", method, expected, remedy, code="value.choice")])
    return {"filter": recursive_filter(method)}


def parse_request(
    model: str,
    source: str,
    wanted: ParameterOptions,
    tracking: Tracking,
    connection: Connection,
    *,
    reading: RecordingOptions,
    files: LiveFiles,
    max_bytes: int,
    strict: bool = False,
) -> TrackRequest:
    """The tracker that the arguments ask for; FreefloatError for what is wrong with them."""
    from freefloat.cli.robot_file import read_robot
    from freefloat.online.estimator import OnlineEstimator
    from freefloat.online.state_file import STATE_FILE, restore_state
    from freefloat.parameters.default_choice import live_globs
    from freefloat.telemetry.sources import is_address

    noise, wrong_noise = reading.deviations()
    walk, wrong_walk = parse_pairs("--walk", tracking.walk, example="x.*=0.1", least=0.0)
    written = OutputFiles(
        estimates=("--out", files.out), parquet=("--parquet", files.parquet),
        mcap=("--mcap", files.mcap), state=("--state", files.state),
    )  # fmt: skip
    require(
        [
            *wrong_noise,
            *wrong_walk,
            *check_value("--every", tracking.every, Positive),
            *check_value("--reorder", tracking.reorder, Natural),
            *check_value("--checkpoint", files.checkpoint, Positive),
            *written.faults(),
            *_reading_faults(source, reading),
        ]
    )
    if files.mcap is not None:
        from freefloat.telemetry.readers.mcap_ import mcap_library

        mcap_library("mcap.writer", files.mcap)  # said before the run, where it is missing
    settings = parse_settings("track", tracking.set)
    robot, is_file = read_robot(model, strict=strict), not is_address(source)
    written.require_possible(model=model, source=source if is_file else None, map=reading.map)
    globs = wanted.free or live_globs(robot)
    parameters = choose_parameters(
        robot, free=globs, fix=wanted.fix, prior=wanted.prior, tie=wanted.tie
    )
    flight, samples = _open_source(source, connection, reading, max_bytes=max_bytes)
    tracker = OnlineEstimator(
        robot, parameters, **_filter_options(tracking.method), like=flight,
        noise=_noise_by_channel(robot, flight, noise), random_walk=walk,
        forgetting=tracking.forgetting, gate=tracking.gate, reorder=tracking.reorder,
        options=_filter_numbers(settings),
    )  # fmt: skip
    chosen = type(tracker.filter).__name__
    used = SETTINGS_OF.get(chosen, "filter.clock_jump")
    require_used(settings, used=used, by=f"the {chosen}, which this model and --method ask for")
    is_resumed = files.state is not None and files.state.exists()
    if files.state is not None and is_resumed:
        restore_state(tracker, files.state, max_bytes=min(max_bytes, STATE_FILE.max_bytes))
    if flight is not None:
        samples = tracker.samples_of(flight)
    return TrackRequest(tracker, samples, is_resumed)


def _filter_numbers(given: Mapping[str, Mapping[str, Any]]) -> FilterOptions:
    """The numbers of the filters, with what `--set` says of them."""
    from freefloat.online.filter_options import (
        FilterOptions,
        FrameOptions,
        KalmanOptions,
        StartupOptions,
    )
    from freefloat.online.kernels.kernel_limits import KernelLimits

    return FilterOptions(
        **given["filter"],
        limits=KernelLimits(**given["limits"]),
        startup=StartupOptions(**given["startup"]),
        frames=FrameOptions(**given["frames"]),
        kalman=KalmanOptions(**given["kalman"]),
    )


def _reading_faults(source: str, reading: RecordingOptions) -> Iterator[Fault]:
    """What is done to a recording as a whole cannot be done to lines that are still to come."""
    from freefloat.telemetry.sources import has_lines

    if not has_lines(source):
        return
    expected = "a recording as SOURCE, not lines of JSON"
    if reading.map is not None:
        remedy = "send channels by their names in SI units, or track the recording with its map"
        yield Fault("--map", str(reading.map), expected, remedy, "option.conflict")
    for option, globs in (("--channels", reading.channels), ("--without", reading.without)):
        if globs:
            remedy = "send the channels that are meant, and no others"
            yield Fault(option, ", ".join(globs), expected, remedy, "option.conflict")


def _open_source(
    source: str, connection: Connection, reading: RecordingOptions, *, max_bytes: int
) -> tuple[Telemetry | None, Iterable[Sample | None]]:
    from freefloat.telemetry.sources import SampleSource, has_lines, require_file_of_lines

    if not has_lines(source):
        # noise is the tracker's business, which knows channels that a recording lacks as well
        flight = read_flight(Path(source), replace(reading, noise=()), max_bytes=max_bytes)
        return flight, flight
    require_file_of_lines(source, max_bytes)
    return None, SampleSource(
        source, idle=connection.idle, retry=connection.retry, remote=connection.remote,
        tell=screen.note,
    )  # fmt: skip


def _noise_by_channel(
    robot: Model, flight: Telemetry | None, globs: dict[str, float]
) -> dict[str, float]:
    """Deviations by channel; a glob speaks for every channel that is known."""
    from freefloat.online.live_channels import noise_of_sensors

    known = [*noise_of_sensors(robot), *(flight.names if flight is not None else ())]
    found: dict[str, float] = {}
    for glob, size in globs.items():
        hits = [name for name in known if fnmatchcase(name, glob)]
        found.update(dict.fromkeys(hits or [glob], size))
    return found
