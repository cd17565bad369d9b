"""`freefloat simulate`: fly a plan with a model, write the telemetry, say what happened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from freefloat.cli.options import Shared

if TYPE_CHECKING:
    from freefloat import Model, Plan, Telemetry
    from freefloat.prediction.flight_summary import Account

Method = Literal["rk4", "dop853"]
DURATION = 60.0  # [s] of the default motion


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
    account: Account
    seconds: float | None


def simulate(
    model: str,
    /,
    *,
    out: Path | None = None,
    plan: Path | None = None,
    duration: float | None = None,
    seed: int = 0,
    step: float = 1e-3,
    method: Method = "rk4",
    plot: Path | None = None,
    save_plan: Path | None = None,
    shared: Shared = Shared(),  # noqa: B008
) -> int:
    """Fly a plan with a model, write what its sensors report, and say what happened.

    The truth goes to a file of its own beside the telemetry, such as
    flight.truth.parquet. Without --plan every motion-driven joint moves on a
    gentle multisine within half its limits. Without --out the flight is flown
    and told, but not written.

    A flight that exceeds limits is a flight all the same: it is written, every
    limit is named (limits_exceeded with --json), and the exit code is 0.

    For example:
      freefloat simulate servicer --out flight.parquet --plot flight.png
      freefloat simulate my_robot.toml --plan plan.toml --seed 7 --out flight.csv

    Parameters
    ----------
    model
        The name of a built-in model, or a .toml or .urdf file.
    out
        The telemetry to write: .parquet, .pq, .csv or .tsv; nothing unless said.
    plan
        The plan to fly (.toml).
    duration
        How long the default motion lasts [s]; 60 unless said. A plan says itself how long.
    seed
        Of the noise, and of the default motion; the same seed gives the same flight.
    step
        Of the integrator [s], shortened where samples would fall between steps.
    method
        rk4 with this step, or dop853 with error control.
    plot
        A picture of the flight to write: .png, .svg or .pdf. Needs freefloat[plot].
    save_plan
        The plan that was flown, to write (.toml).
    """
    from freefloat.cli import screen
    from freefloat.cli.simulate_request import understood
    from freefloat.cli.simulate_view import announcement, as_dict, overview

    request = understood(
        model, out=out, plan=plan, duration=duration, seed=seed, step=step, method=method,
        plot=plot, save_plan=save_plan,
    )  # fmt: skip
    if not shared.json:
        screen.show(*announcement(request))
    flown = fly(request)
    written = _write(flown)
    if shared.json:
        screen.print_json(as_dict(flown, written))
    else:
        screen.show(*overview(flown, written))
    return 0


def fly(request: SimulateRequest) -> SimulatedFlight:
    """The flight that was asked for, with a bar on the terminal while it lasts."""
    from time import perf_counter

    from freefloat.cli.waiting import progress, tell_first_run

    is_ready = tell_first_run(*_kernels(request), takes="about half a minute")
    with progress("flying") as tell:
        # Here and not above: these load Numba, and the note above should come before that.
        from freefloat.prediction.flight_summary import account
        from freefloat.prediction.simulate import simulate as run_simulation

        began = perf_counter()
        flight = run_simulation(
            request.model,
            request.plan,
            seed=request.seed,
            step=request.step,
            method=request.method,
            progress=tell,
        )
        happened = account(request.model, request.plan, flight)
        taken = perf_counter() - began
        return SimulatedFlight(request, flight, happened, taken if is_ready else None)


def _kernels(request: SimulateRequest) -> tuple[str, ...]:
    """What a flight needs compiled."""
    if request.plan.control is not None:
        integrator = "capture.rk4_capture"
    elif request.method == "rk4":
        integrator = "integrate.rk4"
    else:
        integrator = "integrate.state_rate_at"
    return integrator, "observe.observe"


def _write(flown: SimulatedFlight) -> dict[str, Path]:
    """Write every file that was asked for; what each is, and where."""
    from freefloat.telemetry.readers import truth_path

    files, written = flown.request.files, {}
    if "telemetry" in files:
        flown.flight.save(files["telemetry"])
        written = {"telemetry": files["telemetry"], "truth": truth_path(files["telemetry"])}
    if "plan" in files:
        flown.request.plan.save(files["plan"])
        written["plan"] = files["plan"]
    if "plot" in files:
        from freefloat.report.plots import save_flight_plot

        save_flight_plot(flown.request.model, flown.flight, files["plot"])
        written["plot"] = files["plot"]
    return written
