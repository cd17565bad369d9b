"""What verbs have in common: the options of every verb, and arguments that several of them check.

A check gives faults, each with its option and a code; a verb collects them all before it raises.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter, Token

from freefloat.errors import Fault, FreefloatError
from freefloat.records.bounded_read import DEFAULT_MAX_BYTES
from freefloat.records.option_record import value_check
from freefloat.records.values import LARGEST, RefusedError

if TYPE_CHECKING:
    from freefloat import Model, Parameters, Plan, Telemetry
    from freefloat.parameters.parameters import Parameter as ModelParameter

FLAG = Parameter(negative=(), show_default=False)  # only --name, no --no-name
# No --empty-free, and a glob such as [ab]* is not taken for a JSON list.
REPEATED = Parameter(negative=(), show_default=False, json_list=False)
FLIGHTS = Parameter(name="FLIGHT", required=True)
_SHARED = Group("Options of every verb", sort_key=100)


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

    json: Annotated[bool, FLAG, Parameter(group=_SHARED)] = False
    """Print JSON on standard output and nothing else."""

    debug: Annotated[bool, FLAG, Parameter(group=_SHARED)] = False
    """Show the traceback of an error."""

    strict: Annotated[bool, FLAG, Parameter(group=_SHARED)] = False
    """Refuse a robot of which anything must be read in another way than its file has it."""

    max_bytes: Annotated[int, WHOLE, Parameter(group=_SHARED)] = DEFAULT_MAX_BYTES
    """Refuse telemetry that would take more [B], on disk or as a table in memory."""


@Parameter(name="*")
@dataclass(frozen=True)
class FlightOptions:
    """How flights are read."""

    map: Path | None = None
    """A map (.toml) of a recording of another kind to channels; see `freefloat import`."""


@Parameter(name="*")
@dataclass(frozen=True)
class ParameterOptions:
    """Which parameters are estimated, and what is known of them beforehand."""

    free: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters to estimate, names or globs; those of the root and of what is grasped if none."""

    fix: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters to hold at the model's value, or at another: GLOB or GLOB=VALUE."""

    prior: Annotated[tuple[str, ...], REPEATED] = ()
    """Standard deviation of the model's values: GLOB=STD in the parameter's unit, or GLOB=10%."""

    tie: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters that follow another: GLOB=NAME, as delays of sensors on one clock."""


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
    """Every recording, by its file."""
    return {path: read_flight(path, reading, max_bytes=max_bytes) for path in flights}


def read_flight(path: Path, reading: FlightOptions, *, max_bytes: int) -> Telemetry:
    """A recording: a telemetry file, or any other with a map; what no map takes is noted."""
    if reading.map is None:
        from freefloat.telemetry import read_telemetry

        return read_telemetry(path, max_bytes=max_bytes)
    from freefloat.cli.screen import note
    from freefloat.telemetry.recordings.import_telemetry import import_recording
    from freefloat.text import listing

    found = import_recording(path, reading.map, max_bytes=max_bytes)
    for one in found.notes:
        note(f"{path.name}: {one}")
    if found.unmapped:
        note(f"{path.name}: not mapped: {listing(found.unmapped, most=8)}")
    return found.telemetry


def read_plans(paths: Sequence[Path], model: Model) -> Plan | list[Plan] | None:
    """One plan for all flights, or one each."""
    from freefloat.excitation.plan_file import load_plan

    plans = [load_plan(path, model) for path in paths]
    return plans if len(plans) > 1 else next(iter(plans), None)


# -- parameters: --free, --fix, --tie, --prior -----------------------------------------------------


def default_globs(model: Model) -> tuple[str, ...]:
    """The parameters that are free unless said: those of the bus and of what is grasped."""
    return tuple(f"{name}.*" for name in (model.bus, *(t.name for t in model.targets)))


def choose_parameters(
    model: Model, *, free: Sequence[str], fix: Sequence[str] = (), prior: Sequence[str] = (),
    tie: Sequence[str] = (),
) -> Parameters:  # fmt: skip
    """The parameters as the options leave them: first freed, then fixed, tied, and given priors.

    >>> from freefloat.model import load_model
    >>> choose_parameters(load_model("cepheus"), free=["bus.m*"], fix=["bus.mz=0"]).names
    ('bus.mass', 'bus.mx', 'bus.my')
    """
    from freefloat.parameters.parameters import Parameters

    choice = _ParameterChoice(Parameters(model))
    for glob in free:
        choice.free(glob)
    for text in fix:
        choice.fix(text)
    for text in tie:
        choice.tie(text)
    for text in prior:
        choice.prior(text)
    if not choice.faults and not choice.parameters.free_ones:
        remedy = "leave out a --fix, or add --free GLOB"
        choice.fault("--fix", ", ".join(fix), "at least one free parameter", remedy, "value.count")
    require(choice.faults)
    return choice.parameters


class _ParameterChoice:
    """The parameters so far, and what was wrong with the options so far."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.faults: list[Fault] = []

    def fault(self, option: str, value: str, expected: str, remedy: str, code: str) -> None:
        self.faults.append(Fault(option, value, expected, remedy, code))

    def free(self, glob: str) -> None:
        if self._matching("--free", glob):
            self.parameters = self.parameters.free(glob)

    def fix(self, text: str) -> None:
        glob, is_given, number = text.rpartition("=") if "=" in text else (text, "", "")
        matching = self._matching("--fix", glob)
        if not matching:
            return
        if not is_given:
            self.parameters = self.parameters.fix(glob)
            return
        value = parse_number(number)
        units = sorted({parameter.unit for parameter in matching})
        if value is None:
            remedy = f"write --fix {glob}=2.5, or --fix {glob} for the model's value"
            self.fault("--fix", text, "a number after the equals sign", remedy, "option.form")
        elif len(units) > 1:
            got = f"{text}, which is {len(matching)} parameters in {', '.join(units)}"
            expected = "one value for parameters of one unit"
            self.fault("--fix", got, expected, "name them singly", "value.conflict")
        else:
            self.parameters = self.parameters.fix(glob, value=value)

    def tie(self, text: str) -> None:
        glob, _, name = text.rpartition("=")
        led = [parameter.name for parameter in self.parameters.matching(name)] if name else []
        if not glob or led != [name]:
            remedy = "write --tie 'delay.hand.*=delay.hand.angle'"
            self.fault("--tie", text, "GLOB=NAME, the name of one parameter", remedy, "option.form")
        elif self.parameters[name].status != "free":
            got = f"{text}, but {name} is not free"
            expected = "a parameter that is estimated"
            self.fault("--tie", got, expected, f"add --free {name}", "value.conflict")
        elif self._matching("--tie", glob):
            self.parameters = self.parameters.tie(glob, to=name)

    def prior(self, text: str) -> None:
        from freefloat.parameters.parameters import SMALLEST

        glob, is_given, number = text.rpartition("=")
        is_relative = number.endswith("%")
        std = parse_number(number.removesuffix("%"))
        if not is_given or std is None or not SMALLEST <= std <= LARGEST:
            name = glob or text
            remedy = f"write --prior {name}=0.5 in the parameter's unit, or --prior {name}=10%"
            expected = f"GLOB=STD or GLOB=PERCENT%, {SMALLEST:g} to {LARGEST:g}"
            self.fault("--prior", text, expected, remedy, "option.form")
        elif matching := self._matching_free(glob, text):
            zero = [parameter.name for parameter in matching if parameter.value == 0.0]
            if is_relative and zero:
                got = f"{text}, but {zero[0]} is 0, of which {number} is 0"
                remedy = f"write --prior {zero[0]}=STD, in its unit, and narrow the glob"
                expected = "a standard deviation of more than 0"
                self.fault("--prior", got, expected, remedy, "value.range")
                return
            spec = {"relative": std / 100.0} if is_relative else {"std": std}
            names = (parameter.name for parameter in matching)
            self.parameters = self.parameters.prior(*names, **spec)

    def _matching_free(self, glob: str, text: str) -> list[ModelParameter]:
        """The free parameters a glob matches; a prior on others would do nothing, unnoticed."""
        matching = self._matching("--prior", glob)
        free = [parameter for parameter in matching if parameter.status == "free"]
        # A --free that was refused is the reason then, and is a fault already.
        if matching and not free and not any(f.place == "--free" for f in self.faults):
            remedy = f"add --free {glob}, or leave the prior out"
            got, expected = f"{text}, which is fixed", "a parameter that is free"
            self.fault("--prior", got, expected, remedy, "value.conflict")
        return free

    def _matching(self, option: str, glob: str) -> list[ModelParameter]:
        matching = self.parameters.matching(glob)
        if not matching:
            self.faults.append(unknown_parameter(option, glob, self.parameters))
        return matching


def unknown_parameter(option: str, glob: str, parameters: Parameters) -> Fault:
    """A glob that fits no parameter, with those most like it."""
    from freefloat.text import closest

    known = [parameter.name for parameter in parameters]
    close = closest(glob, known, most=3, likeness=0.5) or known[:3]
    remedy = f"did you mean {', '.join(close)}? Quote globs, or the shell expands them"
    expected = f"a name or glob of a parameter of {parameters.model.name!r}"
    return Fault(option, glob or "nothing", expected, remedy, "name.unknown")
