"""What `--free`, `--fix` and `--prior` ask for, as Parameters: every fault names its option."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches

from freefloat.errors import Fault, FreefloatError
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameter, Parameters


def asked(
    model: Model, *, free: Sequence[str], fix: Sequence[str], prior: Sequence[str]
) -> Parameters:
    """The parameters as the options leave them: first freed, then fixed, then weighed.

    >>> from freefloat.model import load_model
    >>> asked(load_model("cepheus"), free=["bus.m*"], fix=["bus.mz=0"], prior=[]).names
    ('bus.mass', 'bus.mx', 'bus.my')
    """
    asking = _Asking(Parameters(model))
    for glob in free:
        asking.free(glob)
    for text in fix:
        asking.fix(text)
    for text in prior:
        asking.prior(text)
    if not asking.faults and not asking.parameters.free_ones:
        remedy = "leave out a --fix, or add --free GLOB"
        asking.fault("--fix", ", ".join(fix), "at least one parameter left to find", remedy)
    if asking.faults:
        raise FreefloatError("these parameters cannot be asked for:", asking.faults)
    return asking.parameters


class _Asking:
    """The parameters so far, and what was wrong with the options so far."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.faults: list[Fault] = []

    def fault(self, option: str, value: str, expected: str, remedy: str) -> None:
        self.faults.append(Fault(option, value, expected, remedy))

    def free(self, glob: str) -> None:
        if self._matching("--free", glob):
            self.parameters = self.parameters.free(glob)

    def fix(self, text: str) -> None:
        glob, is_given, number = text.rpartition("=") if "=" in text else (text, "", "")
        found = self._matching("--fix", glob)
        if not found:
            return
        if not is_given:
            self.parameters = self.parameters.fix(glob)
            return
        value = _number(number)
        units = sorted({parameter.unit for parameter in found})
        if value is None:
            remedy = f"write --fix {glob}=2.5, or --fix {glob} for the model's value"
            self.fault("--fix", text, "a number after the equals sign", remedy)
        elif len(units) > 1:
            told = f"{text}, which is {len(found)} parameters in {', '.join(units)}"
            self.fault("--fix", told, "one value for parameters of one unit", "name them singly")
        else:
            self.parameters = self.parameters.fix(glob, value=value)

    def prior(self, text: str) -> None:
        glob, is_given, number = text.rpartition("=")
        is_relative = number.endswith("%")
        spread = _number(number.removesuffix("%"))
        if not is_given or spread is None or not spread > 0.0:
            name = glob or text
            remedy = f"write --prior {name}=0.5 in the parameter's unit, or --prior {name}=10%"
            self.fault("--prior", text, "GLOB=STD or GLOB=PERCENT%, more than 0", remedy)
        elif found := self._free(glob, text):
            zero = [parameter.name for parameter in found if parameter.value == 0.0]
            if is_relative and zero:
                told = f"{text}, but {zero[0]} is 0, of which {number} is nothing"
                remedy = f"write --prior {zero[0]}=STD, in its unit, and narrow the glob"
                self.fault("--prior", told, "a spread of more than 0", remedy)
                return
            spec = {"relative": spread / 100.0} if is_relative else {"std": spread}
            names = (parameter.name for parameter in found)
            self.parameters = self.parameters.prior(*names, **spec)

    def _free(self, glob: str, text: str) -> list[Parameter]:
        """The free parameters a glob matches; a prior on others would do nothing, unnoticed."""
        matching = self._matching("--prior", glob)
        free = [parameter for parameter in matching if parameter.status == "free"]
        # A --free that was refused is the reason then, and told already.
        if matching and not free and not any(f.place == "--free" for f in self.faults):
            told = f"{text}, which is fixed"
            remedy = f"add --free {glob}, or leave the prior out"
            self.fault("--prior", told, "a parameter that is looked for", remedy)
        return free

    def _matching(self, option: str, glob: str) -> list[Parameter]:
        found = self.parameters.matching(glob)
        if not found:
            known = [parameter.name for parameter in self.parameters]
            close = get_close_matches(glob[:100], known, n=3, cutoff=0.5) or known[:3]
            remedy = f"did you mean {', '.join(close)}? Quote globs, or the shell changes them"
            expected = f"a name or glob of a parameter of {self.parameters.model.name!r}"
            self.fault(option, glob or "nothing", expected, remedy)
        return found


def _number(text: str) -> float | None:
    """A finite number, written plainly; None for anything else."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
