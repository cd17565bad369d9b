"""How `freefloat simulate` tells what happened, to people and to machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from freefloat.cli.screen import counted, facts, heading, indented, named, table
from freefloat.errors import shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

    from freefloat import Model
    from freefloat.cli.simulate import SimulatedFlight, SimulateRequest
    from freefloat.prediction.flight_summary import Account

DEGREES = 57.29577951308232  # per radian
MOST_EXCESSES = 10
NOT_WRITTEN = "the telemetry {} written: add --out flight.parquet to keep it"


def announcement(request: SimulateRequest) -> Iterator[RenderableType]:
    """What is about to fly; the first thing a person sees."""
    how = f"RK4, steps of {request.step:g} s" if request.method == "rk4" else "DOP853"
    plan = f" flies {shortened(request.plan.name)!r} for {request.plan.duration:g} s"
    yield Text.assemble((request.model.name, "bold"), plan)
    yield Text(f"{how}, seed {request.seed}", style="dim")
    if "telemetry" not in request.files:
        yield Text(NOT_WRITTEN.format("will not be"), style="yellow")


def overview(flown: SimulatedFlight, written: dict[str, Path]) -> Iterator[RenderableType]:
    """What happened, section by section."""
    yield ""
    yield heading("Channels")
    yield table(("quantity", "of", "unit", "rate [Hz]", "samples"), _channels(flown), left=3)
    happened = flown.account
    yield ""
    yield heading("What happened")
    yield facts([*_happened(happened, _unit(flown.request.model)), *_excesses(happened)])
    yield ""
    yield heading("Files")
    if written:
        yield facts((name, str(path)) for name, path in written.items())
    if "telemetry" not in written:
        yield indented(Text(NOT_WRITTEN.format("was not"), style="yellow"))
    if flown.seconds is not None:
        speed = happened.duration / flown.seconds
        yield ""
        yield Text(f"flown in {flown.seconds:.2f} s, {speed:.3g} times real time", style="dim")


def as_dict(flown: SimulatedFlight, written: dict[str, Path]) -> dict[str, object]:
    """The same for machines; angles in rad, everything in SI."""
    happened = flown.account
    return {
        "ok": True,
        "model": flown.request.model.name,
        "plan": flown.request.plan.name,
        "duration": happened.duration,
        "seed": flown.request.seed,
        "method": flown.request.method,
        "step": float(flown.flight.metadata["step"]),
        "seconds": flown.seconds,
        "channels": [
            {"name": c.name, "unit": c.unit, "rate": c.rate, "samples": c.n_samples}
            for c in flown.flight.channels.values()
        ],
        "base": {
            "turn": happened.turn,
            "rate": happened.rate,
            "displacement": happened.displacement,
        },
        "deflections": happened.deflections,
        "momentum": None if happened.momentum is None else asdict(happened.momentum),
        "pushed_by": happened.pushes,
        "limits_exceeded": [asdict(excess) for excess in happened.excesses],
        "files": {name: str(path) for name, path in written.items()},
    }


def _channels(flown: SimulatedFlight) -> list[tuple[str, ...]]:
    """One row for channels of the same quantity, rate and number of samples."""
    groups: dict[tuple[str, ...], dict[str, str]] = {}
    for channel in flown.flight.channels.values():
        place, _, quantity = channel.name.partition(".")
        word, _, axis = quantity.partition(".")
        key = (word, channel.unit, f"{channel.rate:.4g}", str(channel.n_samples))
        places = groups.setdefault(key, {})
        places[place] = places.get(place, "") + axis
    return [
        (word, named([_with_axes(*item) for item in places.items()]), unit, rate, samples)
        for (word, unit, rate, samples), places in groups.items()
    ]


def _with_axes(place: str, axes: str) -> str:
    return f"{place} {axes}" if axes else place


def _happened(happened: Account, unit: str) -> Iterator[tuple[str, str]]:
    turn = f"{happened.turn:.3g} rad ({happened.turn * DEGREES:.3g} deg)"
    yield "base turned", f"up to {turn}, at up to {happened.rate:.3g} rad/s"
    yield "base moved", f"up to {happened.displacement:.3g} m"
    if happened.deflections:
        bent = (f"{name} {value:.2g}" for name, value in happened.deflections.items())
        yield "deflections", f"up to {', '.join(bent)} {unit}"
    pushed = " and ".join(happened.pushes)
    momentum = happened.momentum
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


def _excesses(happened: Account) -> Iterator[tuple[str, str | Text]]:
    if not happened.excesses:
        yield "limits", Text("none exceeded", style="green")
        return
    number = counted(len(happened.excesses), "limit")
    yield "limits", Text(f"{number} exceeded", style="bold yellow")
    for excess in happened.excesses[:MOST_EXCESSES]:
        yield "", f"· {excess}"
    unshown = len(happened.excesses) - MOST_EXCESSES
    if unshown > 0:
        yield "", f"· and {unshown} more; --json lists them all"
