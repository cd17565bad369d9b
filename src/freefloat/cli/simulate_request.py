"""The arguments of `freefloat simulate`, understood: everything that can fail fast fails here."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from freefloat.cli.simulate import DURATION, Method, SimulateRequest
from freefloat.errors import Fault, FreefloatError

if TYPE_CHECKING:
    from freefloat import Model, Plan

PLAN_SUFFIXES = (".toml",)
SHARE_OF_MEMORY = 0.8
BYTES_PER_LINK = 46 * 8  # of the table of link motions that every sample has


def understood(
    model: str,
    *,
    out: Path | None,
    plan: Path | None,
    duration: float | None,
    seed: int,
    step: float,
    method: Method,
    plot: Path | None,
    save_plan: Path | None,
) -> SimulateRequest:
    """The flight that the arguments ask for; FreefloatError with every fault of theirs."""
    faults = [*_number_faults(duration, seed, step), *_choice_faults(plan, duration)]
    files = {"telemetry": out, "plan": save_plan, "plot": plot}
    wanted = {name: path for name, path in files.items() if path is not None}
    faults += _suffix_faults(wanted)
    if faults:
        raise FreefloatError("these arguments cannot be used:", faults)
    if plot is not None:
        from freefloat.report.plots import require_matplotlib

        require_matplotlib()
    from freefloat.model import load_model

    robot = load_model(model)
    _refuse_to_replace(model, save_plan)
    _require_sensors(robot, model)
    for path in wanted.values():
        require_writable(path)
    flown = _plan(robot, plan, duration if duration is not None else DURATION, seed)
    flown.check(robot)
    _refuse_unfit_length(robot, flown, step)
    return SimulateRequest(robot, flown, seed, step, method, wanted)


def _require_sensors(model: Model, file: str) -> None:
    """A flight without sensors would report nothing: said in the words of the command."""
    if model.sensors:
        return
    path = Path(file)
    if path.suffix.lower() == ".urdf":
        remedy = f'write a model file (.toml) with urdf = "{path.name}" and [[sensor]] tables'
        remedy += " beside it, and fly that"
    else:
        remedy = "add [[sensor]] tables to it"
    example = '[[sensor]] with kind = "gyro", on = "' + model.root.body + '", rate = 50.0'
    fault = Fault(str(path), "no sensors", f"at least one, such as {example}", remedy)
    raise FreefloatError(f"{model.name}: a flight without sensors would report nothing", [fault])


def require_writable(path: Path) -> None:
    """Raise FreefloatError unless a file can be written at `path`; nothing is left behind."""
    from freefloat.files import atomic_path

    class Enough(Exception):  # noqa: N818 - no error: it leaves the block before the file is made
        pass

    with suppress(Enough), atomic_path(path):
        raise Enough


def _plan(model: Model, path: Path | None, duration: float, seed: int) -> Plan:
    if path is None:
        from freefloat.excitation.default import default_plan

        return default_plan(model, duration=duration, seed=seed)
    from freefloat.excitation.plan_file import load_plan

    return load_plan(path, model)


def _number_faults(duration: float | None, seed: int, step: float) -> Iterator[Fault]:
    for name, value in (("--duration", duration), ("--step", step)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            yield Fault(name, f"{value:g}", "seconds, more than 0", "correct it")
    if seed < 0:
        yield Fault("--seed", str(seed), "0 or more", "drop the sign")


def _choice_faults(plan: Path | None, duration: float | None) -> Iterator[Fault]:
    if plan is not None and duration is not None:
        yield Fault(
            "--duration",
            f"{duration:g} beside --plan",
            "one of the two: a plan says itself how long it lasts",
            "change the duration in the plan, or leave one of them out",
        )


def _suffix_faults(files: dict[str, Path]) -> Iterator[Fault]:
    from freefloat.report.plots import SUFFIXES as PLOT_SUFFIXES
    from freefloat.telemetry.readers import suffixes as telemetry_suffixes

    options = {"telemetry": "--out", "plan": "--save-plan", "plot": "--plot"}
    suffixes = {
        "telemetry": telemetry_suffixes(can_write=True),
        "plan": PLAN_SUFFIXES,
        "plot": PLOT_SUFFIXES,
    }
    for name, path in files.items():
        if path.suffix.lower() not in suffixes[name]:
            value = f"{path} ({path.suffix or 'no suffix'})"
            expected = "a name that ends in " + " or ".join(suffixes[name])
            yield Fault(options[name], value, expected, "the suffix chooses the format")


def _refuse_to_replace(model: str, save_plan: Path | None) -> None:
    """A plan and a model are both .toml; a slip must not cost the model."""
    if save_plan is None or not save_plan.exists() or not Path(model).exists():
        return
    if save_plan.samefile(model):
        fault = Fault("--save-plan", str(save_plan), "another file", "name a new file")
        raise FreefloatError("the plan would replace the model it is for", [fault])


def _refuse_unfit_length(model: Model, plan: Plan, step: float) -> None:
    """A flight whose samples do not fit in memory would end in a crash, after a long time.

    One that ends before the second sample would report nothing.
    """
    from freefloat.prediction.time_grid import common_grid

    rate, _, _ = common_grid(model.sensors, step)
    n_samples = plan.duration * rate
    if n_samples < 1.0 - 1e-9:
        expected = f"at least {1.0 / rate:g} s, the time between two samples"
        remedy = "lengthen the flight, or raise the sensors' rates"
        fault = Fault("duration", f"{plan.duration:g} s", expected, remedy)
        raise FreefloatError("the flight is too short", [fault])
    size = n_samples * BYTES_PER_LINK * (1 + len(model.assembly.coordinates))
    available = _memory()
    if size > SHARE_OF_MEMORY * available:
        longest = plan.duration * SHARE_OF_MEMORY * available / size
        fault = Fault(
            "duration",
            f"{plan.duration:g} s, {n_samples:.3g} samples, about {size / 1e9:.3g} GB",
            f"at most about {longest:.2g} s on this machine ({available / 1e9:.3g} GB)",
            "shorten the flight, or lower the sensors' rates",
        )
        raise FreefloatError("the flight would not fit in memory", [fault])


def _memory() -> float:
    """The memory of this machine [B]; no bound where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows, among others
        return math.inf
