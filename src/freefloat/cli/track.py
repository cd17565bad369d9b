"""`freefloat track`: identify while samples arrive."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from freefloat.cli import screen
from freefloat.cli.options import (
    FLAG,
    REPEATED,
    WHOLE,
    OutputFiles,
    ParameterOptions,
    Shared,
    check_value,
    choose_parameters,
    default_globs,
    parse_pairs,
    require,
)
from freefloat.cli.settings import parse_settings, require_used
from freefloat.errors import Fault, FreefloatError
from freefloat.records.values import Natural, Positive
from freefloat.text import did_you_mean

if TYPE_CHECKING:
    from freefloat import Model, OnlineEstimator, Telemetry
    from freefloat.cli.latency import Latencies
    from freefloat.cli.track_view import EstimateWriter
    from freefloat.online.filter_options import FilterOptions
    from freefloat.telemetry.sample_rows import Sample

KERNELS = ("update.take_sample",)
# The groups of `--set`, or single settings, that a filter has.
SETTINGS_OF = {
    "MomentumFilter": "filter limits startup",
    "FrameFilter": "filter limits startup frames",
    "KalmanFilter": "filter.clock_jump kalman",
}
REFRESH = 0.25  # format: [s] between pictures on a terminal


@Parameter(name="*")
@dataclass(frozen=True)
class Tracking:
    """How samples are treated."""

    method: str = "auto"
    """auto, square-root, kalman; to compare: rls, two-step, modified-rls, modified-rls-force."""

    noise: Annotated[tuple[str, ...], REPEATED] = ()
    """Noise of channels, instead of what file and model say: GLOB=STD, in SI units."""

    walk: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters that change slowly: GLOB=STD, per root second (fuel: 'bus.mass=0.1')."""

    forgetting: float = 1.0
    """Forgetting factor of the filter, per sample; 1 forgets nothing."""

    gate: float = 1e-6
    """Probability that the outlier gate rejects a good sample; 0 turns it off."""

    reorder: Annotated[int, WHOLE] = 0
    """How many samples to hold back so that late ones find their place."""

    every: float = 1.0
    """Seconds of data between estimates that are written."""

    set: Annotated[tuple[str, ...], REPEATED] = ()
    """NAME=VALUE: an option of the filter; may be repeated. `--set help` lists them."""


@Parameter(name="*")
@dataclass(frozen=True)
class Connection:
    """How an address is listened to."""

    idle: float | None = None
    """End when nothing arrives for so many seconds; never unless said."""

    retry: float = 10.0
    """Seconds to try to connect (again)."""

    remote: Annotated[bool, FLAG] = False
    """Allow addresses on other machines."""


def track(
    model: str,
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    wanted: ParameterOptions = ParameterOptions(),  # noqa: B008
    tracking: Tracking = Tracking(),  # noqa: B008
    connection: Connection = Connection(),  # noqa: B008
    state: Path | None = None,
    out: Path | None = None,
    parquet: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Estimate parameters of a model while samples arrive, and show their accuracy.

    SOURCE is a recording (.parquet, .csv ...), newline JSON (.ndjson, or - for
    standard input), or an address on this machine: tcp://127.0.0.1:5000,
    udp://..., ws://... A line is {"time": 1.2, "base.rate.x": 1e-3, ...} in SI
    units. Lines that are none, and samples that are late, incomplete or
    impossible, are counted and survived. Ctrl-C ends it like the end of data.
    The estimate is graded as a fit is: trusted, with reservations, or not
    trusted; the exit code is 1 for the last.

    For example:
      freefloat track spatial-capture flight.parquet --out estimates.ndjson
      telemetry-feed | freefloat track my.toml - --state my.state --json

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    source
        Where samples come from.
    state
        Go on from this file if it exists, and keep the whole state there at the end.
    out
        Newline JSON to write estimates to.
    parquet
        A Parquet table of the estimates to write.
    """
    from freefloat.cli.latency import Latencies
    from freefloat.cli.track_view import open_writer
    from freefloat.cli.waiting import tell_first_run

    request = parse_request(
        model, source, wanted, tracking, connection, state=state, out=out, parquet=parquet
    )
    tracker, samples, quiet = request.tracker, request.samples, shared.json
    if not quiet:
        _announce(tracker, source)
    tell_first_run(*KERNELS, takes="about half a minute")
    tracker.warm_up()
    latencies = Latencies()
    with open_writer(out, parquet, to_screen=quiet) as writer:
        _follow(tracker, samples, writer, latencies, every=tracking.every, quiet=quiet)
        if state is not None:  # with what is held back: it goes on from there
            tracker.save(state)
        writer.write(tracker.finish())
    written = [str(path) for path in (out, parquet, state) if path is not None]
    lost = getattr(samples, "n_lost", 0)
    _show_end(tracker, latencies.as_dict(), lost, written, as_json=quiet)
    return 1 if tracker.estimate.grade == "not trusted" else 0


def _announce(tracker: OnlineEstimator, source: str) -> None:
    """What is estimated, and from where."""
    from freefloat.cli.track_view import announcement

    n = len(tracker.parameters.free_ones)
    screen.show(*announcement(tracker.model, n, source, tracker.notes))


def _show_end(
    tracker: OnlineEstimator,
    latency: dict[str, float],
    n_lost: int,
    written: list[str],
    *,
    as_json: bool,
) -> None:
    """The last estimates, and what became of the samples."""
    from freefloat.cli.track_view import estimate_view, summary

    estimate, unused = tracker.estimate, tracker.unknown_channels
    health = estimate.health
    if as_json:
        content = {"samples": health.counts, "health": health.sentence}
        content |= {"health_codes": health.codes, "status": str(estimate.status)}
        content |= {"status_code": estimate.status.code, "grade": estimate.grade}
        content |= {"assessment": asdict(estimate.assessment)}
        content |= {"latency": latency, "events": [vars(e) for e in health.events]}
        content |= {"connections_lost": n_lost, "unknown_channels": unused}
        screen.print_json({"summary": content, "files": written}, is_line=True)
        return
    screen.show("", estimate_view(estimate, is_last=True), "")
    screen.show(*summary(estimate, latency, n_lost, written, unused=unused))


def _follow(
    tracker: OnlineEstimator,
    samples: Iterable[Sample | None],
    writer: EstimateWriter,
    latencies: Latencies,
    *,
    every: float,
    quiet: bool,
) -> None:
    """Every sample into the tracker, an estimate out every so often, until the end or Ctrl-C."""
    due: float | None = None
    with _picture(quiet) as show:
        try:
            for sample in samples:
                begun = time.perf_counter()
                estimate = tracker.update({} if sample is None else sample)
                latencies.add(time.perf_counter() - begun)
                now = estimate.time
                if now is not None and (due is None or now >= due or now < due - 2.0 * every):
                    due = now + every
                    writer.write(estimate)
                if show is not None:
                    show(tracker)
        except KeyboardInterrupt:  # how a live run ends
            pass


@contextmanager
def _picture(quiet: bool) -> Iterator[Callable[[OnlineEstimator], None] | None]:
    """A live table on a terminal, drawn a few times a second; nothing elsewhere."""
    if quiet or not sys.stdout.isatty():
        yield None
        return
    from rich.live import Live

    from freefloat.cli.track_view import estimate_view

    last = -REFRESH
    with Live(console=screen.results(), auto_refresh=False, transient=True) as live:

        def show(tracker: OnlineEstimator) -> None:
            nonlocal last
            if time.monotonic() - last > REFRESH:
                last = time.monotonic()
                live.update(estimate_view(tracker.estimate), refresh=True)

        yield show


# -- the request -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrackRequest:
    """A tracker that knows its model, and the samples to come."""

    tracker: OnlineEstimator
    samples: Iterable[Sample | None]


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
    state: Path | None,
    out: Path | None,
    parquet: Path | None,
) -> TrackRequest:
    """The tracker that the arguments ask for; FreefloatError for what is wrong with them."""
    from freefloat.model import load_model
    from freefloat.online.estimator import OnlineEstimator

    noise, wrong_noise = parse_pairs("--noise", tracking.noise, example="x.*=0.1", least=0.0)
    walk, wrong_walk = parse_pairs("--walk", tracking.walk, example="x.*=0.1", least=0.0)
    files = OutputFiles(
        estimates=("--out", out), parquet=("--parquet", parquet), state=("--state", state)
    )
    require(
        [
            *wrong_noise,
            *wrong_walk,
            *check_value("--every", tracking.every, Positive),
            *check_value("--reorder", tracking.reorder, Natural),
            *files.faults(),
        ]
    )
    settings = parse_settings("track", tracking.set)
    robot = load_model(model)
    files.require_possible(model=model, source=None if _is_address(source) else source)
    globs = wanted.free or _default_globs(robot)
    parameters = choose_parameters(
        robot, free=globs, fix=wanted.fix, prior=wanted.prior, tie=wanted.tie
    )
    flight, samples = _open_source(source, connection)
    tracker = OnlineEstimator(
        robot, parameters, **_filter_options(tracking.method), like=flight,
        noise=_noise_by_channel(robot, flight, noise), random_walk=walk,
        forgetting=tracking.forgetting, gate=tracking.gate, reorder=tracking.reorder,
        options=_filter_numbers(settings),
    )  # fmt: skip
    chosen = type(tracker.filter).__name__
    used = SETTINGS_OF.get(chosen, "filter.clock_jump")
    require_used(settings, used=used, by=f"the {chosen}, which this model and --method ask for")
    if state is not None and state.exists():
        tracker.restore(state)
    return TrackRequest(tracker, samples if flight is None else tracker.samples_of(flight))


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


def _default_globs(robot: Model) -> tuple[str, ...]:
    """What is estimated unless said; in the plane without what no motion in it could show."""
    globs = default_globs(robot)
    turns = [*(j.placement.rpy[:2] for j in robot.joints), *(j.axis[:2] for j in robot.joints)]
    turns += [t.placement.rpy[:2] for t in robot.targets]
    if robot.root.type != "planar" or any(x != 0.0 for turn in turns for x in turn):
        return globs
    bodies = [glob.removesuffix(".*") for glob in globs]
    return tuple(f"{body}.{name}" for body in bodies for name in ("mass", "m[xy]", "izz"))


def _is_address(source: str) -> bool:
    """Whether samples come from anything but a file."""
    return source == "-" or "://" in source


def _open_source(
    source: str, connection: Connection
) -> tuple[Telemetry | None, Iterable[Sample | None]]:
    from freefloat.telemetry.sources import LINES, SampleSource

    path, is_address = Path(source), _is_address(source)
    if not is_address and path.suffix.lower() not in LINES:
        from freefloat.telemetry import read_telemetry

        flight = read_telemetry(path)
        return flight, flight
    if not is_address and not path.is_file():
        fault = Fault("SOURCE", source, "a file that exists", "check its name", "file.missing")
        raise FreefloatError("there is no such source", [fault])
    return None, SampleSource(
        source, idle=connection.idle, retry=connection.retry, remote=connection.remote
    )


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
