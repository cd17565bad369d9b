"""The arguments of `freefloat design`, understood: everything that can fail fast fails here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli.design import DesignRequest, MotionOptions, Outputs
from freefloat.cli.simulate_request import require_writable
from freefloat.errors import Fault, FreefloatError

if TYPE_CHECKING:
    from freefloat import Fit, Model, Parameters

SUFFIXES = {"plan": (".toml",), "table": (".csv",), "plot": (".png", ".svg", ".pdf")}
OPTIONS = {"plan": "--out", "table": "--table", "plot": "--plot"}


def understood(
    model: str,
    *,
    free: Sequence[str],
    fix: Sequence[str],
    prior: Sequence[str],
    criterion: str,
    sensors: str | None,
    motion: MotionOptions,
    fit: Path | None,
    outputs: Outputs,
) -> DesignRequest:
    """The design that the arguments ask for; FreefloatError with every fault of theirs."""
    files = {"plan": outputs.out, "table": outputs.table, "plot": outputs.plot}
    wanted = {name: path for name, path in files.items() if path is not None}
    limits, wrong = _limits(motion.limit)
    faults = [*_suffix_faults(wanted), *wrong, *_number_faults(motion, outputs.rate)]
    if faults:
        raise FreefloatError("these arguments cannot be used:", faults)
    if "plot" in wanted:
        from freefloat.report.plots import require_matplotlib

        require_matplotlib()
    from freefloat.cli.identify_request import default_globs
    from freefloat.model import load_model

    robot = load_model(model)
    known = _known(robot, fit)
    if known is not None:
        robot = known.model
    for path in wanted.values():
        require_writable(path)
    from freefloat.cli.identify_parameters import asked

    globs = tuple(free) or _found(known) or default_globs(robot)
    parameters = asked(robot, free=globs, fix=fix, prior=())
    if known is not None:
        parameters = _weighed(parameters, known)
    if prior:
        own = asked(robot, free=globs, fix=fix, prior=prior)
        parameters = _replaced(parameters, own)
    return DesignRequest(
        robot, parameters, globs, criterion, sensors, limits, motion, outputs.rate, wanted
    )


def _known(model: Model, fit: Path | None) -> Fit | None:
    """An earlier fit, of this model."""
    if fit is None:
        return None
    from freefloat.identification.fit_files import load_fit

    found = load_fit(fit)
    mine = {body.name for body in model.assembly.bodies}
    if {body.name for body in found.model.assembly.bodies} != mine:
        fault = Fault("--fit", f"{fit}, of {found.model.name!r}", f"a fit of {model.name!r}",
                      "give the fit and the model that belong together")  # fmt: skip
        raise FreefloatError("the fit is of another model", [fault])
    return found


def _found(fit: Fit | None) -> tuple[str, ...]:
    """What a fit looked for."""
    if fit is None:
        return ()
    return tuple(one.name for one in fit.estimates if one.status != "fixed")


def _weighed(parameters: Parameters, fit: Fit) -> Parameters:
    """The parameters with what a fit already knows of them as prior."""
    free = {p.name for p in parameters.free_ones}
    for one in fit.estimates:
        if one.name in free and math.isfinite(one.std) and one.std > 0.0:
            parameters = parameters.prior(one.name, std=one.std)
    return parameters


def _replaced(parameters: Parameters, own: Parameters) -> Parameters:
    """The priors of `own`, where it has some, in place of those of parameters."""
    for p in own.free_ones:
        if p.prior is not None:
            parameters = parameters.prior(p.name, std=p.prior[1])
    return parameters


def _limits(texts: Sequence[str]) -> tuple[dict[str, float], list[Fault]]:
    found, faults = {}, []
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            found.pop(name, None)
            number = ""
        if not name or not number:
            expected = "NAME=VALUE, such as arm_1.velocity=0.1"
            faults.append(Fault("--limit", text, expected, "in SI units and radians"))
    return found, faults


def _number_faults(motion: MotionOptions, rate: float) -> Iterator[Fault]:
    seconds = "give a time in seconds"
    if not 0.0 < motion.duration < math.inf:
        yield Fault("--duration", f"{motion.duration:g}", "> 0 s", seconds)
    if motion.time is not None and not 0.0 < motion.time < math.inf:
        yield Fault("--time", f"{motion.time:g}", "> 0 s", seconds)
    if not 1 <= motion.harmonics <= 30:
        yield Fault("--harmonics", f"{motion.harmonics}", "1 to 30", "choose fewer or more")
    if motion.seed < 0:
        yield Fault("--seed", f"{motion.seed}", ">= 0", "drop the sign")
    for name, value in (("--starts", motion.starts), ("--rounds", motion.rounds)):
        if not 1 <= value <= 1000:
            yield Fault(name, f"{value}", "1 to 1000", "choose fewer or more")
    if not 0 <= motion.scenarios <= 50:
        yield Fault("--scenarios", f"{motion.scenarios}", "0 to 50", "choose fewer")
    if not 0.0 < rate < math.inf:
        yield Fault("--rate", f"{rate:g}", "> 0 Hz", "give rows a second")


def _suffix_faults(files: Mapping[str, Path]) -> Iterator[Fault]:
    for name, path in files.items():
        if path.suffix.lower() not in SUFFIXES[name]:
            value = f"{path} ({path.suffix or 'no suffix'})"
            expected = "a name that ends in " + " or ".join(SUFFIXES[name])
            yield Fault(OPTIONS[name], value, expected, "the suffix chooses the format")
