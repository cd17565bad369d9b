"""What verbs have in common: the options of every verb, and arguments that several of them check.

A check gives faults, each with its option and a code; a verb collects them all before it raises.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter, Token

from freefloat.errors import Fault, FreefloatError
from freefloat.records.bounded_read import DEFAULT_MAX_BYTES
from freefloat.records.option_record import value_check
from freefloat.records.values import LARGEST, RefusedError

if TYPE_CHECKING:
    from freefloat import Model, Plan, Telemetry

FLAG = Parameter(negative=(), show_default=False)  # only --name, no --no-name
# No --empty-free, and a glob such as [ab]* is not taken for a JSON list.
REPEATED = Parameter(negative=(), show_default=False, json_list=False)
FLIGHTS = Parameter(name="FLIGHT", required=True)
SHARED = Group("Options of every verb", sort_key=100)


def _whole_number(_: object, tokens: Sequence[Token]) -> int:
    """A whole number as it is written; the parser itself would round 1.5 to 2."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"{tokens[0].value} is not a whole number") from None


WHOLE = Parameter(converter=_whole_number)


@Parameter(name="*")
@dataclass(frozen=True)
class Shared:
    """Options of every verb."""

    json: Annotated[bool, FLAG, Parameter(group=SHARED)] = False
    """Print JSON on standard output, and nothing else."""

    debug: Annotated[bool, FLAG, Parameter(group=SHARED)] = False
    """Show the traceback of an error."""

    strict: Annotated[bool, FLAG, Parameter(group=SHARED)] = False
    """Refuse a robot file of which any part would have to be reinterpreted or left out."""

    max_bytes: Annotated[int, WHOLE, Parameter(group=SHARED)] = DEFAULT_MAX_BYTES
    """Refuse telemetry larger than this [B], on disk or in memory."""


@Parameter(name="*")
@dataclass(frozen=True)
class FlightOptions:
    """How flights are read."""

    map: Path | None = None
    """Map (.toml) from the fields of a foreign recording to channels; see `freefloat import`."""


@Parameter(name="*")
@dataclass(frozen=True)
class RecordingOptions(FlightOptions):
    """How flights are read, and what of them counts."""

    channels: Annotated[tuple[str, ...], REPEATED] = ()
    """Channels to use, names or globs; may be repeated. All by default."""

    without: Annotated[tuple[str, ...], REPEATED] = ()
    """Channels to leave out, names or globs; may be repeated."""

    noise: Annotated[tuple[str, ...], REPEATED] = ()
    """Noise of channels, overriding file and model: GLOB=STD, in SI units."""

    def deviations(self) -> tuple[dict[str, float], list[Fault]]:
        """The noise that was stated, by glob, and the faults of what cannot be one."""
        return parse_pairs("--noise", self.noise, example="base.rate.*=1e-4", least=0.0)


def require(faults: Iterable[Fault], message: str = "these arguments cannot be used:") -> None:
    """Raise FreefloatError with all of the faults, if there is one."""
    if found := list(faults):
        raise FreefloatError(message, found)


def check_value(option: str, value: object, hint: Any) -> Iterator[Fault]:
    """A fault unless a value is what a type and its bounds allow; None was not given.

    >>> from freefloat.records.values import Positive
    >>> [(fault.place, fault.code) for fault in check_value("--step", 0.0, Positive)]
    [('--step', 'value.range')]
    """
    try:
        value_check(hint | None)(value)
    except RefusedError as refused:
        _, shown, expected, remedy, code = refused.faults[0]
        yield Fault(option, shown, expected, remedy, code)


def parse_pairs(
    option: str, texts: Sequence[str], *, example: str, least: float = -math.inf
) -> tuple[dict[str, float], list[Fault]]:
    """NAME=NUMBER arguments as a dictionary, and the faults of those that are none.

    Args:
        option: Where they were given, such as "--limit".
        texts: What was given.
        example: A good one, for the remedy.
        least: The least number that is allowed.

    >>> parse_pairs("--limit", ["arm_1.velocity=0.1"], example="arm_1.velocity=0.1")
    ({'arm_1.velocity': 0.1}, [])
    """
    found: dict[str, float] = {}
    faults = []
    for text in texts:
        name, _, number = text.rpartition("=")
        value = parse_number(number)
        if name and value is not None and value >= least:
            found[name] = value
        else:
            start = f"from {least:g} " if math.isfinite(least) else ""
            expected = f"NAME=NUMBER, a finite number {start}up to {LARGEST:g}"
            remedy = f"write {option} '{example}', in SI units and radians"
            if number.rstrip().endswith("%"):
                remedy += "; 1 % of a factor is 0.01"
            faults.append(Fault(option, text, expected, remedy, "option.form"))
    return found, faults


def parse_number(text: str) -> float | None:
    """A number that can be computed with, written plainly; None for anything else."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if abs(value) <= LARGEST else None


# -- files -----------------------------------------------------------------------------------------


def check_flights(flights: Sequence[Path]) -> Iterator[Fault]:
    """A flight that counts twice would make the result look more certain than it is."""
    seen: set[Path] = set()
    for path in flights:
        if (there := path.absolute()) in seen:
            remedy = "leave one of them out"
            yield Fault("FLIGHT", f"{path} twice", "every flight once", remedy, "name.duplicate")
        seen.add(there)


def read_flights(
    flights: Sequence[Path], *, reading: FlightOptions = FlightOptions(),  # noqa: B008
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> dict[Path, Telemetry]:  # fmt: skip
    """Every recording, by its file, with the channels and the noise that were asked for."""
    found = {path: _read(path, reading.map, max_bytes=max_bytes) for path in flights}
    return _choose_channels(found, reading) if isinstance(reading, RecordingOptions) else found


def read_flight(path: Path, reading: FlightOptions, *, max_bytes: int) -> Telemetry:
    """One recording, in the same way."""
    return read_flights([path], reading=reading, max_bytes=max_bytes)[path]


def _read(path: Path, map: Path | None, *, max_bytes: int) -> Telemetry:
    """A recording: a telemetry file, or any other with a map; what no map takes is noted."""
    if map is None:
        from freefloat.telemetry import read_telemetry

        return read_telemetry(path, max_bytes=max_bytes)
    from freefloat.cli.screen import note
    from freefloat.telemetry.recordings.import_telemetry import import_recording
    from freefloat.text import listing

    found = import_recording(path, map, max_bytes=max_bytes)
    for one in found.notes:
        note(f"{path.name}: {one}")
    if found.unmapped:
        note(f"{path.name}: not mapped: {listing(found.unmapped, most=8)}")
    return found.telemetry


def _choose_channels(
    flights: dict[Path, Telemetry], reading: RecordingOptions
) -> dict[Path, Telemetry]:
    """The flights with the channels that were asked for; a glob must fit one of them somewhere."""
    from freefloat.telemetry.names import suggest

    known = tuple(dict.fromkeys(name for flight in flights.values() for name in flight.names))
    noise, faults = reading.deviations()
    asked = {"--channels": reading.channels, "--without": reading.without, "--noise": [*noise]}
    for option, globs in asked.items():
        for glob in globs:
            if not any(_fits(name, [glob]) for name in known):
                expected, remedy = "a name or glob of a recorded channel", suggest(glob, known)
                faults.append(Fault(option, glob, expected, remedy, "channel.unknown"))
    require(faults)
    chosen = {}
    for path, flight in flights.items():
        kept = [
            flight[name]
            for name in flight.names
            if not reading.channels or _fits(name, reading.channels)
            if not _fits(name, reading.without)
        ]
        if not kept:
            option = "--channels" if reading.channels else "--without"
            got, remedy = f"no channel of {path}", "choose more of them, or leave the flight out"
            faults.append(Fault(option, got, "at least one", remedy, "channel.none"))
            continue
        for glob, size in noise.items():
            kept = [c.with_noise(size) if fnmatchcase(c.name, glob) else c for c in kept]
        chosen[path] = replace(flight, channels={c.name: c for c in kept})
    require(faults)
    return chosen


def _fits(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def read_plans(paths: Sequence[Path], model: Model) -> Plan | list[Plan] | None:
    """One plan for all flights, or one each."""
    from freefloat.excitation.plan_file import load_plan

    plans = [load_plan(path, model) for path in paths]
    return plans if len(plans) > 1 else next(iter(plans), None)
