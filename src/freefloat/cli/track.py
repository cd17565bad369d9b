"""`freefloat track`: identify while samples arrive."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import FLAG, Shared

if TYPE_CHECKING:
    from freefloat import OnlineEstimator
    from freefloat.cli.track_output import Output
    from freefloat.online.latency import Latencies
    from freefloat.telemetry.sample_rows import Sample

_REPEATED = Parameter(negative=(), show_default=False, json_list=False)
KERNELS = ("update.take_sample",)
REFRESH = 0.25  # [s] between pictures on a terminal


@Parameter(name="*")
@dataclass(frozen=True)
class Tracking:
    """How samples are treated."""

    method: str = "auto"
    """auto, square-root, kalman; to compare: rls, two-step, modified-rls, modified-rls-force."""

    noise: Annotated[tuple[str, ...], _REPEATED] = ()
    """Noise of channels, over what file and model say: GLOB=STD, in SI units."""

    walk: Annotated[tuple[str, ...], _REPEATED] = ()
    """Parameters that change slowly: GLOB=STD, per root second (fuel: 'bus.mass=0.1')."""

    forgetting: float = 1.0
    """What old information counts after every sample; 1: nothing is forgotten."""

    gate: float = 1e-6
    """The chance to lose a good sample as an outlier; 0 takes all."""

    reorder: int = 0
    """How many samples to hold back so that late ones find their place."""

    every: float = 1.0
    """Seconds of data between estimates that are written."""


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
    free: Annotated[tuple[str, ...], _REPEATED] = (),
    fix: Annotated[tuple[str, ...], _REPEATED] = (),
    prior: Annotated[tuple[str, ...], _REPEATED] = (),
    tracking: Tracking = Tracking(),  # noqa: B008
    connection: Connection = Connection(),  # noqa: B008
    state: Path | None = None,
    out: Path | None = None,
    parquet: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Find parameters of a model while samples arrive, and show how sure they are.

    SOURCE is a recording (.parquet, .csv ...), newline JSON (.ndjson, or - for
    standard input), or an address on this machine: tcp://127.0.0.1:5000,
    udp://..., ws://... A line is {"time": 1.2, "base.rate.x": 1e-3, ...} in SI
    units. Lines that are none, and samples that are late, incomplete or
    impossible, are counted and survived. Ctrl-C ends it like the end of data.

    For example:
      freefloat track spatial-capture flight.parquet --out estimates.ndjson
      telemetry-feed | freefloat track my.toml - --state my.state --json

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    source
        Where samples come from.
    free
        Parameters to look for, as a name or glob; may be repeated. Unless said, those of the root
        body and of what is grasped.
    fix
        Parameters to hold at the model's value, or at another: GLOB or GLOB=VALUE.
    prior
        How well the model's values are known: GLOB=STD in the parameter's unit, or GLOB=10%.
    state
        Go on from this file if it exists, and keep the whole state there at the end.
    out
        Newline JSON to write estimates to.
    parquet
        A Parquet table of the estimates to write.
    """
    from freefloat.cli.track_output import output
    from freefloat.cli.track_request import understood
    from freefloat.cli.waiting import tell_first_run
    from freefloat.online.latency import Latencies

    request = understood(
        model, source, free=free, fix=fix, prior=prior, tracking=tracking,
        connection=connection, state=state, files=(out, parquet),
    )  # fmt: skip
    tracker, samples, quiet = request.tracker, request.samples, shared.json
    if not quiet:
        _announce(tracker, source)
    tell_first_run(*KERNELS, takes="about half a minute")
    tracker.warm_up()
    latencies = Latencies()
    with output(out, parquet, to_screen=quiet) as told:
        _follow(tracker, samples, told, latencies, every=tracking.every, quiet=quiet)
        if state is not None:  # with what is held back: it goes on from there
            tracker.save(state)
        told.write(tracker.finish())
    written = [str(path) for path in (out, parquet, state) if path is not None]
    _tell(tracker, latencies.as_dict(), getattr(samples, "n_lost", 0), written, as_json=quiet)
    return 0 if tracker.health.sentence == "fine" else 1


def _announce(tracker: OnlineEstimator, source: str) -> None:
    """What is looked for, and where."""
    from freefloat.cli import screen
    from freefloat.cli.track_view import announcement

    n = len(tracker.parameters.free_ones)
    screen.show(*announcement(tracker.model, n, source, tracker.notes))


def _tell(
    tracker: OnlineEstimator,
    latency: dict[str, float],
    n_lost: int,
    written: list[str],
    *,
    as_json: bool,
) -> None:
    """What became of the samples, at the end."""
    from freefloat.cli import screen
    from freefloat.cli.track_output import line_of
    from freefloat.cli.track_view import screenful, summary

    estimate, unused = tracker.estimate, tracker.strangers.names
    health = estimate.health
    if as_json:
        content = {"samples": health.counts, "health": health.sentence, "sight": estimate.sight}
        content |= {"latency": latency, "events": [vars(e) for e in health.events]}
        content |= {"connections_lost": n_lost, "unknown_channels": unused}
        sys.stdout.write(line_of({"summary": content, "files": written}) + "\n")
        return
    screen.show("", screenful(estimate, told_once=True), "")
    screen.show(*summary(estimate, latency, n_lost, written, unused=unused))


def _follow(
    tracker: OnlineEstimator,
    samples: Iterable[Sample | None],
    told: Output,
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
                    told.write(estimate)
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

    from freefloat.cli import screen
    from freefloat.cli.track_view import screenful

    last = -REFRESH
    with Live(console=screen.results(), auto_refresh=False, transient=True) as live:

        def show(tracker: OnlineEstimator) -> None:
            nonlocal last
            if time.monotonic() - last > REFRESH:
                last = time.monotonic()
                live.update(screenful(tracker.estimate), refresh=True)

        yield show
