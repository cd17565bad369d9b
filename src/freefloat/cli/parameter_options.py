"""Which parameters a verb estimates: `--free`, `--fix`, `--tie`, `--prior` and what else of them.

Every fault of the options is told at once, each with its option.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from freefloat.cli.options import REPEATED, parse_number, require
from freefloat.errors import Fault
from freefloat.records.values import LARGEST

if TYPE_CHECKING:
    from freefloat import Model, Parameters
    from freefloat.parameters.parameters import Parameter as ModelParameter


@Parameter(name="*")
@dataclass(frozen=True)
class ParameterOptions:
    """Which parameters are estimated, and what is known of them beforehand."""

    free: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters to estimate, names or globs; by default those of the bus and a grasped target."""

    fix: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters to hold fixed, at the model's value or another: GLOB or GLOB=VALUE."""

    prior: Annotated[tuple[str, ...], REPEATED] = ()
    """Standard deviation of the model's values: GLOB=STD in the parameter's unit, or GLOB=10%."""

    tie: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters tied to another: GLOB=NAME, such as delays of sensors on one clock."""


@Parameter(name="*")
@dataclass(frozen=True)
class FitParameterOptions(ParameterOptions):
    """The same of a fit to whole recordings, with what only that can do."""

    bound: Annotated[tuple[str, ...], REPEATED] = ()
    """Bounds on estimates: GLOB=LEAST..MOST in the parameter's unit; either may be left out."""

    start: Annotated[tuple[str, ...], REPEATED] = ()
    """Start values of the search, in place of the model's: GLOB=VALUE; priors are unaffected."""

    per_recording: Annotated[tuple[str, ...], REPEATED] = ()
    """Parameters to estimate separately for every flight, names or globs (output error)."""


def choose_parameters(
    model: Model, *, free: Sequence[str], fix: Sequence[str] = (), prior: Sequence[str] = (),
    tie: Sequence[str] = (), bound: Sequence[str] = (), start: Sequence[str] = (),
    per_recording: Sequence[str] = (),
) -> Parameters:  # fmt: skip
    """The parameters as the options leave them: first freed, then fixed, tied, and given the rest.

    >>> from freefloat.model import load_model
    >>> choose_parameters(load_model("cepheus"), free=["bus.m*"], fix=["bus.mz=0"]).names
    ('bus.mass', 'bus.mx', 'bus.my')
    """
    from freefloat.parameters.parameters import Parameters

    choice = _ParameterChoice(Parameters(model))
    # Starts come last: a prior is about the value of the model.
    steps = (
        (choice.free, free), (choice.fix, fix), (choice.tie, tie), (choice.prior, prior),
        (choice.bound, bound), (choice.find_anew, per_recording), (choice.start, start),
    )  # fmt: skip
    for step, texts in steps:
        for text in texts:
            step(text)
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
        if value is None:
            remedy = f"write --fix {glob}=2.5, or --fix {glob} for the model's value"
            self.fault("--fix", text, "a number after the equals sign", remedy, "option.form")
        elif self._has_one_unit("--fix", text, matching):
            self.parameters = self.parameters.fix(glob, value=value)

    def start(self, text: str) -> None:
        glob, is_given, number = text.rpartition("=")
        value = parse_number(number)
        if not is_given or value is None:
            remedy = f"write --start {glob or text}=2.5, in the parameter's unit"
            self.fault("--start", text, "GLOB=VALUE", remedy, "option.form")
            return
        matching = self._matching_free("--start", glob, text)
        if matching and self._has_one_unit("--start", text, matching):
            names = [parameter.name for parameter in matching]
            self.parameters = self.parameters.fix(*names, value=value).free(*names)

    def bound(self, text: str) -> None:
        glob, is_given, range_ = text.rpartition("=")
        least, is_range, most = range_.partition("..")
        lower = parse_number(least) if least else -math.inf
        upper = parse_number(most) if most else math.inf
        if not (is_given and is_range and (least or most)) or lower is None or upper is None:
            name = glob or text
            remedy = f"write --bound {name}=0.5..2, in the parameter's unit, or one side: 0.5.."
            self.fault("--bound", text, "GLOB=LEAST..MOST", remedy, "option.form")
        elif lower > upper:
            self.fault("--bound", text, "the lesser one first", "swap them", "option.order")
        elif (matching := self._matching_free("--bound", glob, text)) and self._has_one_unit(
            "--bound", text, matching
        ):
            names = (parameter.name for parameter in matching)
            self.parameters = self.parameters.bound(*names, lower=lower, upper=upper)

    def find_anew(self, glob: str) -> None:
        if matching := self._matching_free("--per-recording", glob, glob):
            names = (parameter.name for parameter in matching)
            self.parameters = self.parameters.per_recording(*names)

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
        elif matching := self._matching_free("--prior", glob, text):
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

    def _matching_free(self, option: str, glob: str, text: str) -> list[ModelParameter]:
        """The free parameters a glob matches; a prior on others would do nothing, unnoticed."""
        matching = self._matching(option, glob)
        free = [parameter for parameter in matching if parameter.status == "free"]
        # A --free that was refused is the reason then, and is a fault already.
        if matching and not free and not any(f.place == "--free" for f in self.faults):
            remedy = f"add --free {glob}, or leave {option} out"
            got, expected = f"{text}, which is fixed", "a parameter that is free"
            self.fault(option, got, expected, remedy, "value.conflict")
        return free

    def _has_one_unit(self, option: str, text: str, matching: list[ModelParameter]) -> bool:
        units = sorted({parameter.unit for parameter in matching})
        if len(units) > 1:
            got = f"{text}, which is {len(matching)} parameters in {', '.join(units)}"
            expected = "one value for parameters of one unit"
            self.fault(option, got, expected, "name them singly", "value.conflict")
        return len(units) == 1

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
