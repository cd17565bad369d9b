"""`freefloat simulate`: simulate a flight of a plan, write the telemetry, say what happened."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Literal

from rich.text import Text

from freefloat.cli import screen
from freefloat.cli.options import WHOLE, Shared, check_value, require
from freefloat.cli.output_files import OutputFiles, paths_as_text
from freefloat.errors import Fault, FreefloatError, shorten
from freefloat.files import together
from freefloat.records.values import Bounds, Natural
from freefloat.text import count_noun, name_list

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model, Plan, Telemetry
    from freefloat.prediction.flight_summary import FlightSummary

Method = Literal["rk4", "dop853"]
DURATION = 60.0  # format: [s] of the default motion
# theory: RK4 has nothing to gain below: its error is rounding there
Step = Annotated[float, Bounds(least=1e-6, unit="s", remedy="1e-3 suits most models")]
SHARE_OF_MEMORY = 0.8  # format: of the machine's, so that the rest of it goes on
BYTES_PER_LINK = 46 * 8  # format: of the table of link motions that every sample has
MOST_VIOLATIONS = 10  # format: limits named on the screen
NOT_WRITTEN = "the telemetry {} written: add --out flight.parquet to keep it"


@dataclass(frozen=True)
class SimulateRequest:
    """What to fly and where to write: the arguments, read and found to make sense."""

    model: Model
    plan: Plan
    seed: int
    step: float
    method: Method
    files: dict[str, Path]  # "telemetry", "plan" and "plot" where asked for


@dataclass(frozen=True)
class SimulatedFlight:
    """A flight and what happened on it; `seconds` it took, unless kernels had to be compiled."""

    request: SimulateRequest
    flight: Telemetry
    summary: FlightSummary
    seconds: float | None


def simulate(
    model: str,
    /,
    *,
    out: Path | None = None,
    plan: Path | None = None,
    duration: float | None = None,
    seed: Annotated[int, WHOLE] = 0,
    step: float = 1e-3,
    method: Method = "rk4",
    plot: Path | None = None,
    save_plan: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Simulate a flight, write what its sensors read, and summarise what happened.

    The truth goes to a file of its own beside the telemetry, such as
    flight.truth.parquet. Without --plan every motion-driven joint moves on a
    gentle multisine within half its limits. Without --out the flight is
    simulated and described, but not written.

    A flight that exceeds limits is written all the same, with exit code 0; the
    summary names every limit that was exceeded (limits_exceeded with --json).

    For example:
      freefloat simulate servicer --out flight.parquet --plot flight.png
      freefloat simulate my_robot.toml --plan plan.toml --seed 7 --out flight.csv

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml, .urdf, .xacro or MJCF (.xml) file.
    out
        Write the telemetry to this file: .parquet, .pq, .csv or .tsv.
    plan
        The plan to fly (.toml).
    duration
        Duration of the default motion [s], 60 by default. A plan has its own.
    seed
        Seed of noise and default motion; the same seed gives the same flight.
    step
        Step of the integrator [s], shortened where samples would fall between steps.
    method
        rk4 with a fixed step, or dop853 with error control.
    plot
        Plot the flight to this file: .png, .svg or .pdf. Needs freefloat[plot].
    save_plan
        Write the plan that was flown to this file (.toml).
    """
    files = OutputFiles(
        telemetry=("--out", out), plan=("--save-plan", save_plan), plot=("--plot", plot)
    )
    request = parse_request(model, files, plan=plan, duration=duration, seed=seed, step=step,
                            method=method, strict=shared.strict)  # fmt: skip
    if not shared.json:
        screen.show(*_announcement(request))
    simulated = run_simulation(request)
    written = _write(simulated)
    if shared.json:
        screen.print_json(_as_dict(simulated, written))
    else:
        screen.show(*_overview(simulated, written))
    return 0


def run_simulation(request: SimulateRequest) -> SimulatedFlight:
    """The flight that was asked for, with a bar on the terminal while it lasts."""
    from freefloat.cli.waiting import progress, tell_first_run

    is_ready = tell_first_run(*_kernels(request), takes="about half a minute")
    with progress("simulating") as update:
        # Here and not above: these load Numba, and the note above should come before that.
        from freefloat.prediction.flight_summary import summarise_flight
        from freefloat.prediction.simulate import simulate

        began = perf_counter()
        flight = simulate(
            request.model, request.plan, seed=request.seed, step=request.step,
            method=request.method, progress=update,
        )  # fmt: skip
        summary = summarise_flight(request.model, request.plan, flight)
        seconds = perf_counter() - began
        return SimulatedFlight(request, flight, summary, seconds if is_ready else None)


def _kernels(request: SimulateRequest) -> tuple[str, ...]:
    """What a simulation needs compiled."""
    if request.plan.control is not None:
        integrator = "capture.rk4_capture"
    elif request.method == "rk4":
        integrator = "integrate.rk4"
    else:
        integrator = "integrate.state_rate_at"
    return integrator, "observe.observe"


@together()
def _write(simulated: SimulatedFlight) -> dict[str, Path]:
    """Write every file that was asked for; what each is, and where."""
    from freefloat.telemetry.readers import truth_path

    files, written = simulated.request.files, {}
    if "telemetry" in files:
        simulated.flight.save(files["telemetry"])
        written = {"telemetry": files["telemetry"], "truth": truth_path(files["telemetry"])}
    if "plan" in files:
        simulated.request.plan.save(files["plan"])
        written["plan"] = files["plan"]
    if "plot" in files:
        from freefloat.report.plots import save_flight_plot

        save_flight_plot(simulated.request.model, simulated.flight, files["plot"])
        written["plot"] = files["plot"]
    return written


# -- the request -----------------------------------------------------------------------------------


def parse_request(
    model: str,
    files: OutputFiles,
    *,
    plan: Path | None,
    duration: float | None,
    seed: int,
    step: float,
    method: Method,
    strict: bool = False,
) -> SimulateRequest:
    """The flight that the arguments ask for; FreefloatError with every fault of theirs."""
    from freefloat.cli.robot_file import equip, read_robot
    from freefloat.excitation.motions import Duration
    from freefloat.telemetry.readers import truth_path

    require(
        [
            *check_value("--duration", duration, Duration),
            *check_value("--step", step, Step),
            *check_value("--seed", seed, Natural),
            *_choice_faults(plan, duration),
            *files.faults(),
        ]
    )
    robot = read_robot(model, strict=strict)
    out = files.paths.get("telemetry")
    beside = None if out is None else truth_path(out)
    files.require_possible(beside=beside, model=model, plan=plan)
    robot = equip(robot)
    flown = _plan(robot, plan, DURATION if duration is None else duration, seed)
    flown.check(robot)
    _require_possible_length(robot, flown, step)
    return SimulateRequest(robot, flown, seed, step, method, files.paths)


def _plan(model: Model, path: Path | None, duration: float, seed: int) -> Plan:
    if path is None:
        from freefloat.excitation.default import default_plan

        return default_plan(model, duration=duration, seed=seed)
    from freefloat.excitation.plan_file import load_plan

    return load_plan(path, model)


def _choice_faults(plan: Path | None, duration: float | None) -> Iterator[Fault]:
    if plan is not None and duration is not None:
        yield Fault(
            "--duration",
            f"{duration:g} beside --plan",
            "one of the two: a plan says itself how long it lasts",
            "change the duration in the plan, or leave one of them out",
            "value.conflict",
        )


def _require_possible_length(model: Model, plan: Plan, step: float) -> None:
    """A flight whose samples do not fit in memory would end in a crash, after a long time.

    One that ends before the second sample would report nothing.
    """
    from freefloat.prediction.time_grid import common_grid

    rate, _, _ = common_grid(model.sensors, step)
    n_samples = plan.duration * rate
    if n_samples < 1.0 - 1e-9:  # a duration of one period, rounded
        expected = f"at least {1.0 / rate:g} s, the time between two samples"
        remedy = "lengthen the flight, or raise the sensors' rates"
        fault = Fault("duration", f"{plan.duration:g} s", expected, remedy, "value.range")
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
            "value.range",
        )
        raise FreefloatError("the flight would not fit in memory", [fault])


def _memory() -> float:
    """The memory of this machine [B]; no bound where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows, among others
        return math.inf


# -- the result ------------------------------------------------------------------------------------


def _announcement(request: SimulateRequest) -> Iterator[RenderableType]:
    """What is about to fly; the first thing a person sees."""
    how = f"RK4, steps of {request.step:g} s" if request.method == "rk4" else "DOP853"
    plan = f" flies {shorten(request.plan.name)!r} for {request.plan.duration:g} s"
    yield Text.assemble((request.model.name, "bold"), plan)
    yield Text(f"{how}, seed {request.seed}", style="dim")
    if "telemetry" not in request.files:
        yield Text(NOT_WRITTEN.format("will not be"), style="yellow")


def _overview(simulated: SimulatedFlight, written: dict[str, Path]) -> Iterator[RenderableType]:
    """What happened, section by section."""
    head = ("quantity", "of", "unit", "rate [Hz]", "samples")
    channels = screen.table(head, _channels(simulated), align="Lllrr")
    yield from screen.section("Channels", channels)
    summary = simulated.summary
    events = [*_events(summary, _unit(simulated.request.model)), *_violations(summary)]
    yield from screen.section("What happened", screen.facts(events))
    missing = "" if "telemetry" in written else NOT_WRITTEN.format("was not")
    yield from screen.files_section(written, missing=missing)
    if simulated.seconds is not None:
        speed = summary.duration / simulated.seconds
        yield ""
        yield Text(
            f"simulated in {simulated.seconds:.2f} s, {speed:.3g} times real time", style="dim"
        )


def _as_dict(simulated: SimulatedFlight, written: dict[str, Path]) -> dict[str, object]:
    """The same for machines; angles in rad, everything in SI."""
    summary = simulated.summary
    return {
        "ok": True,
        "model": simulated.request.model.name,
        "plan": simulated.request.plan.name,
        "duration": summary.duration,
        "seed": simulated.request.seed,
        "method": simulated.request.method,
        "step": float(simulated.flight.metadata["step"]),
        "seconds": simulated.seconds,
        "channels": [
            {"name": c.name, "unit": c.unit, "rate": c.rate, "samples": c.n_samples}
            for c in simulated.flight.channels.values()
        ],
        "base": {field: getattr(summary, field) for field in ("turn", "rate", "displacement")},
        "deflections": summary.deflections,
        "momentum": None if summary.momentum is None else asdict(summary.momentum),
        "pushed_by": summary.pushes,
        "limits_exceeded": [asdict(violation) for violation in summary.violations],
        "files": paths_as_text(written),
    }


def _channels(simulated: SimulatedFlight) -> list[tuple[str, ...]]:
    """One row for channels of the same quantity, rate and number of samples."""
    groups: dict[tuple[str, ...], dict[str, str]] = {}
    for channel in simulated.flight.channels.values():
        place, _, quantity = channel.name.partition(".")
        word, _, axis = quantity.partition(".")
        key = (word, channel.unit, f"{channel.rate:.4g}", str(channel.n_samples))
        places = groups.setdefault(key, {})
        places[place] = places.get(place, "") + axis
    return [
        (word, name_list([_with_axes(*one) for one in places.items()]), unit, rate, samples)
        for (word, unit, rate, samples), places in groups.items()
    ]


def _with_axes(place: str, axes: str) -> str:
    return f"{place} {axes}" if axes else place


def _events(summary: FlightSummary, unit: str) -> Iterator[tuple[str, str]]:
    turn = f"{summary.turn:.3g} rad ({math.degrees(summary.turn):.3g} deg)"
    yield "base turned", f"up to {turn}, at up to {summary.rate:.3g} rad/s"
    yield "base moved", f"up to {summary.displacement:.3g} m"
    if summary.deflections:
        bent = (f"{name} {value:.2g}" for name, value in summary.deflections.items())
        yield "deflections", f"up to {', '.join(bent)} {unit}"
    pushed = " and ".join(summary.pushes)
    momentum = summary.momentum
    if momentum is None:
        yield "momentum", f"not compared: {pushed or 'the fixed root'} acted from outside"
        return
    if pushed:
        change = f"{momentum.linear:.3g} N s and {momentum.angular:.3g} N m s"
        yield "momentum", f"changed by {change} ({pushed})"
    drift = f"{momentum.linear_drift:.1e} N s and {momentum.angular_drift:.1e} N m s"
    yield "momentum drift", f"{drift}, the integrator's error"


def _unit(model: Model) -> str:
    slides = any(joint.type == "prismatic" and joint.role == "passive" for joint in model.joints)
    return "rad (m for prismatic joints)" if slides else "rad"


def _violations(summary: FlightSummary) -> Iterator[tuple[str, str | Text]]:
    if not summary.violations:
        yield "limits", Text("none exceeded", style="green")
        return
    number = count_noun(len(summary.violations), "limit")
    yield "limits", Text(f"{number} exceeded", style="bold yellow")
    for violation in summary.violations[:MOST_VIOLATIONS]:
        yield "", f"· {violation}"
    unshown = len(summary.violations) - MOST_VIOLATIONS
    if unshown > 0:
        yield "", f"· and {unshown} more; --json lists them all"
