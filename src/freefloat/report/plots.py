"""Pictures of flights and spectra, with matplotlib (the extra `plot`), imported when needed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import Fault, FreefloatError
from freefloat.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from freefloat.identification.modes.modal import ModalFit, SeenMode
    from freefloat.identification.modes.power_spectrum import Spectrum
    from freefloat.model.model import Model
    from freefloat.telemetry.telemetry import Telemetry

SUFFIXES = (".png", ".svg", ".pdf")
AXES = ("x", "y", "z")
MOST_LINES = 12  # format: in one panel; beyond, nobody can tell them apart
MODE_STYLES = {"mode": "-", "driven": "--"}  # any other: dotted
# Blue, orange, green, ...: told apart by nearly everybody (Okabe and Ito's palette).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555", "#b3a000")


@dataclass(frozen=True)
class Line:
    """A line of a panel: what it is called, and its points."""

    name: str
    time: Array
    values: Array
    is_measured: bool = False


@dataclass(frozen=True)
class Panel:
    """A panel: what its vertical axis shows, and the lines in it."""

    title: str
    lines: tuple[Line, ...]


def require_matplotlib() -> None:
    """Raise FreefloatError, with the command that installs it, when matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        remedy = "pip install 'freefloat[plot]'"
        expected = "matplotlib, to draw with"
        fault = Fault("matplotlib", "not installed", expected, remedy, "package.missing")
        raise FreefloatError("pictures need matplotlib", [fault]) from error


def new_figure(*, width: float = 8.0, height: float) -> Figure:
    """An empty figure of so many inches; without a window and without global state."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=100, layout="constrained")


def save_flight_plot(model: Model, flight: Telemetry, path: str | Path) -> None:
    """Write a picture of a flight; the suffix chooses the format (.png, .svg or .pdf)."""
    require_picture_name(path)
    save_figure(plot_flight(model, flight), path)


def require_picture_name(path: str | Path) -> None:
    """Raise FreefloatError unless the suffix names a format for pictures."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        value = f"{target} ({target.suffix or 'no suffix'})"
        expected = "a name in " + " or ".join(SUFFIXES)
        fault = Fault("picture", value, expected, "rename it", "file.suffix")
        raise FreefloatError(f"{target.name}: not a format for pictures", [fault])


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure whole or not at all; the suffix chooses the format."""
    require_picture_name(path)
    kind = Path(path).suffix.lower()[1:]
    # No date inside: the same flight gives the same picture.
    about = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    content = io.BytesIO()
    figure.savefig(content, format=kind, metadata=about)
    atomic_write(Path(path), _small_png(content) if kind == "png" else content.getvalue())


def plot_flight(model: Model, flight: Telemetry) -> Figure:
    """A figure of a flight: what was driven, how the base answered, what bent.

    Lines are the truth where the flight has it; what sensors reported is drawn as dots.
    """
    panels = [panel for panel in panels_of(model, flight) if panel.lines]
    figure = new_figure(height=1.0 + 1.75 * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, panel)
    axes[-1].set_xlabel("time [s]")
    axes[-1].set_xlim(flight.start, flight.end)
    plan = flight.metadata.get("plan")
    name = flight.metadata.get("model", model.name)
    figure.suptitle(f"{name} flies {plan!r}" if plan else name, fontsize=11)
    figure.align_ylabels(list(axes))
    return figure


def _small_png(content: io.BytesIO) -> bytes:
    """The same picture with a palette: lines have few colours, and the file a third of the size."""
    from PIL import Image  # matplotlib needs it too

    small = io.BytesIO()
    Image.open(content).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return small.getvalue()


def panels_of(model: Model, flight: Telemetry) -> Iterator[Panel]:
    """The panels of a flight's picture, from top to bottom; some may be empty."""
    moving = [joint for joint in model.joints if joint.type != "fixed"]
    driven = [j.name for j in moving if j.role in ("motion", "torque") or j.drive is not None]
    passive = [j.name for j in moving if j.role == "passive" and j.drive is None]
    fuel = [f"{tank.name}_{i}" for tank in model.tanks for i in (1, 2)]
    slides = any(joint.type == "prismatic" for joint in moving)
    angle, small, torque = (
        ("rad or m", "mrad or mm", "N m or N") if slides else ("rad", "mrad", "N m")
    )
    yield Panel(f"driven joints\n[{angle}]", _few(flight, driven, "position"))
    yield Panel(f"joint torques\n[{torque}]", _few(flight, driven, "torque"))
    yield Panel("base rate\n[mrad/s]", tuple(_base_rate(flight)))
    yield Panel("base turned by\n[mrad]", _turn(flight))
    yield Panel(f"passive joints\n[{small}]", _few(flight, passive, "position", 1e3))
    drives = [joint.name for joint in moving if joint.drive is not None]
    yield Panel(f"drive wind-up\n[{small}]", tuple(_wind_up(flight, drives)))
    yield Panel("fuel\n[mrad]", _few(flight, fuel, "position", 1e3))


def _few(
    flight: Telemetry, names: list[str], quantity: str, factor: float = 1.0
) -> tuple[Line, ...]:
    lines = [_line(flight, f"{name}.{quantity}", name, factor) for name in names[:MOST_LINES]]
    return tuple(line for line in lines if line is not None)


def _line(flight: Telemetry, channel: str, name: str, factor: float = 1.0) -> Line | None:
    """The truth of a channel, or what was measured where there is no truth; None without both."""
    for source in (flight.truth, flight):
        if source is not None and channel in source:
            time, values = source[channel].usable()
            return Line(name, time, factor * values)
    return None


def _wind_up(flight: Telemetry, names: list[str]) -> Iterator[Line]:
    """Link against motor, where both are known at the same instants."""
    for name in names[:MOST_LINES]:
        link = _line(flight, f"{name}.position", name, 1e3)
        motor = _line(flight, f"{name}.motor_position", name, 1e3)
        if link is not None and motor is not None and np.array_equal(link.time, motor.time):
            yield Line(name, link.time, link.values - motor.values)


def _base_rate(flight: Telemetry) -> Iterator[Line]:
    for axis in AXES:
        channel = f"base.rate.{axis}"
        if channel in flight:
            time, values = flight[channel].usable()
            yield Line(axis, time, 1e3 * values, is_measured=True)
    for axis in AXES:
        line = _line(flight, f"base.rate.{axis}", axis, 1e3)
        if line is not None and flight.truth is not None:
            yield line


def _turn(flight: Telemetry) -> tuple[Line, ...]:
    """The base's rotation vector from its start, in its own axes [mrad]."""
    from freefloat.model.rotations import (
        conjugate,
        quaternion_product,
        rotation_vector_from_quaternion,
    )

    source = flight.truth if flight.truth is not None else flight
    if "base.angle" in source:
        time, values = source["base.angle"].usable()
        return (Line("z", time, 1e3 * (values - values[0])),)
    names = [f"base.attitude.{axis}" for axis in "xyzw"]
    if not all(name in source for name in names):
        return ()
    time, rows = source.matrix(names)
    keep = np.all(np.isfinite(rows), axis=1)
    start = np.broadcast_to(conjugate(rows[keep][0]), rows[keep].shape)
    turned = 1e3 * rotation_vector_from_quaternion(quaternion_product(start, rows[keep]))
    return tuple(Line(axis, time[keep], turned[:, k]) for k, axis in enumerate(AXES))


def _draw(axis: Axes, panel: Panel) -> None:
    colours: dict[str, str] = {}
    if all(line.name in AXES for line in panel.lines):
        colours |= zip(AXES, COLOURS, strict=False)  # an axis has its colour in every panel
    for line in panel.lines:
        colour = colours.setdefault(line.name, COLOURS[len(colours) % len(COLOURS)])
        if line.is_measured:
            # Pale dots behind the truth; thousands of them as a bitmap keep vector files small.
            style: dict[str, Any] = {"marker": ".", "markersize": 2, "linestyle": "none"}
            axis.plot(line.time, line.values, color=colour, alpha=0.3, rasterized=True, **style)
        else:
            style = {} if len(colours) <= len(COLOURS) else {"linestyle": "--"}
            axis.plot(line.time, line.values, color=colour, linewidth=1.2, label=line.name, **style)
    if any(line.is_measured for line in panel.lines):
        axis.plot([], [], color="gray", marker=".", markersize=4, linestyle="none", label="seen")
    axis.set_ylabel(panel.title, fontsize=9)
    axis.grid(alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)
    axis.margins(x=0.0)
    # Beside the axes, never on top of a line.
    legend = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
    axis.legend(fontsize=8, handlelength=1.2, labelspacing=0.3, **legend)


def save_spectrum_plot(found: ModalFit, path: str | Path, *, title: str = "") -> None:
    """Write a picture of a recording's spectra with its modes; the suffix chooses the format."""
    save_figure(plot_spectrum(found, title=title), path)


def plot_spectrum(found: ModalFit, *, title: str = "") -> Figure:
    """Densities by channel, each over its noise, with modes and their companions marked."""
    figure = new_figure(height=4.2)
    axis = figure.subplots()
    highest = max((mode.frequency for mode in (*found.modes, *found.others)), default=1.0)
    limit = min(float(found.spectrum.frequency[-1]), 1.6 * highest)
    _draw_spectrum(axis, found.spectrum, limit)
    marked = [mode for mode in (*found.modes, *found.others) if mode.kind != "drift"]
    for mode in marked:
        _mark_mode(axis, mode)
    axis.set_xlim(0.0, limit)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _draw_spectrum(axis: Axes, spectrum: Spectrum, limit: float) -> None:
    relative = spectrum.density / spectrum.floor[:, None]
    inside = (spectrum.frequency > 0.0) & (spectrum.frequency <= limit)
    order = np.argsort(-relative[:, inside].max(axis=1))[:MOST_LINES]
    for n, k in enumerate(order):
        style = "-" if n < len(COLOURS) else "--"
        axis.semilogy(
            spectrum.frequency[inside], np.maximum(relative[k, inside], 1e-2), style,
            color=COLOURS[n % len(COLOURS)], linewidth=1.0, label=spectrum.channels[k],
        )  # fmt: skip
    axis.axhline(1.0, color="gray", linewidth=0.8)
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel("power density over that of the noise [1]", fontsize=9)
    axis.grid(alpha=0.3, linewidth=0.5)
    axis.tick_params(labelsize=8)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _mark_mode(axis: Axes, mode: SeenMode) -> None:
    """A line at the frequency; its name stands above the axes, upright."""
    colour = "black" if mode.kind == "mode" else "gray"
    axis.axvline(
        mode.frequency, color=colour, linestyle=MODE_STYLES.get(mode.kind, ":"), linewidth=0.8
    )
    name = f"{mode.frequency:.3f}" + (f" {mode.kind}" if mode.kind != "mode" else "")
    axis.annotate(
        name, (mode.frequency, 1.01), xycoords=("data", "axes fraction"), rotation=90,
        fontsize=7, ha="center", va="bottom", color=colour,
    )  # fmt: skip
