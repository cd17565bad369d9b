"""`freefloat track`: identify while samples arrive."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli import screen
from freefloat.cli.options import RecordingOptions, Shared
from freefloat.cli.parameter_options import ParameterOptions
from freefloat.cli.track_request import Connection, LiveFiles, Tracking, parse_request

if TYPE_CHECKING:
    from freefloat import OnlineEstimator
    from freefloat.cli.live_run import LiveRun

KERNELS = ("update.take_sample",)
NOT_TRUSTED, NOT_WRITTEN = 1, 2  # exit codes, as in `cli/run.py`


def track(
    model: str,
    source: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    wanted: ParameterOptions = ParameterOptions(),  # noqa: B008
    reading: RecordingOptions = RecordingOptions(),  # noqa: B008
    tracking: Tracking = Tracking(),  # noqa: B008
    connection: Connection = Connection(),  # noqa: B008
    files: LiveFiles = LiveFiles(),  # noqa: B008
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Estimate parameters of a model while samples arrive, and show their accuracy.

    SOURCE is a recording (.parquet, .csv ...), newline JSON (.ndjson, or - for
    standard input), or an address on this machine: tcp://127.0.0.1:5000,
    udp://..., ws://... A line is {"time": 1.2, "base.rate.x": 1e-3, ...} in SI
    units. Unreadable lines, and samples that are late, incomplete or
    impossible, are counted and skipped. Ctrl-C, SIGTERM and SIGHUP end the run
    like the end of data. The estimate is graded as a fit is: trusted, with
    reservations, or not trusted. The exit code is 1 if it is not trusted, and 2
    if the source broke off or something could not be written.

    For example:
      freefloat track spatial-capture flight.parquet --out estimates.ndjson
      telemetry-feed | freefloat track my.toml - --state my.state --json

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    source
        Where samples come from.
    """
    from freefloat.cli.live_run import LiveRun
    from freefloat.cli.waiting import tell_first_run

    request = parse_request(
        model, source, wanted, tracking, connection, reading=reading, files=files,
        max_bytes=shared.max_bytes, strict=shared.strict,
    )  # fmt: skip
    tracker, quiet = request.tracker, shared.json
    if not quiet:
        _announce(tracker, source)
    tell_first_run(*KERNELS, takes="about half a minute")
    tracker.warm_up()
    run = LiveRun(
        tracker, files, every=tracking.every, is_quiet=quiet, is_resumed=request.is_resumed
    )
    run.follow(request.samples)
    _show_end(tracker, run, [str(path) for path in files.paths], as_json=quiet)
    run.tell_failures()
    if run.is_incomplete:
        return NOT_WRITTEN
    return NOT_TRUSTED if tracker.estimate.grade == "not trusted" else 0


def _announce(tracker: OnlineEstimator, source: str) -> None:
    """What is estimated, and from where."""
    from freefloat.cli.track_view import announcement

    n = len(tracker.parameters.free_ones)
    screen.show(*announcement(tracker.model, n, source, tracker.notes))


def _show_end(tracker: OnlineEstimator, run: LiveRun, written: list[str], *, as_json: bool) -> None:
    """The last estimates, and what became of the samples."""
    from freefloat.cli.track_view import estimate_view, fill_texts, summary

    estimate, unused, latency = tracker.estimate, tracker.unknown_channels, run.latencies.as_dict()
    health = estimate.health
    if as_json:
        content = {"samples": health.counts, "health": health.sentence}
        content |= {"health_codes": health.codes, "status": str(estimate.status)}
        content |= {"status_code": estimate.status.code, "grade": estimate.grade}
        content |= {"assessment": asdict(estimate.assessment)}
        content |= {"latency": latency, "events": [vars(e) for e in health.events]}
        content |= {"unknown_channels": unused, "fill_values": fill_texts(health), **run.as_dict()}
        screen.print_json({"summary": content, "files": written}, is_line=True)
        return
    screen.show("", estimate_view(estimate, is_last=True), "")
    screen.show(*summary(estimate, latency, run.remarks(), written, unused=unused))
