"""The free response in a recording: the stretch on which nothing is driven or pushed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array, read_only_copy
from freefloat.errors import IdentificationError
from freefloat.identification.modes.power_spectrum import noise_level, resample_evenly
from freefloat.model.assembly import Coordinate
from freefloat.model.model import Model
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Count, Positive
from freefloat.telemetry.channel import Channel, noise_floor
from freefloat.telemetry.names import channel_names, match
from freefloat.telemetry.telemetry import Telemetry

# Quantities that respond to an oscillation; encoders of driven joints and commands do not.
RESPONSES = (".rate", ".torque", ".acceleration", ".position", ".velocity", ".angle", ".attitude")
# theory: false once in 1e15 looks at white noise, so never; what drives an arm is far above
SURE = 8.0  # standard deviations
STEPS = 5  # theory: of a look, so that no change falls between two
ENOUGH = 8  # theory: samples; fourth differences, which tell noise, need nine


@dataclass(frozen=True)
class ModalOptions(CheckedOptions, error=IdentificationError):
    """How free responses are found and read.

    Args:
        look: over which a joint's rate is judged [s].
        creep: slower than this a joint stands still [rad/s].
        shortest: rest worth looking at [s].
        most: oscillations looked for.
        patience: further ones tried after the information criterion has ceased to fall.
        faint: amplitude over its standard deviation below which an oscillation may be chance.
    """

    look: Positive = 0.5
    creep: Positive = 1e-4
    shortest: Positive = 3.0
    most: Count = 12
    patience: Count = 2
    faint: Positive = 8.0


DEFAULTS = ModalOptions()


@dataclass(frozen=True)
class FreeResponse:
    """Evenly sampled channels in units of their noise, over a stretch without commands.

    time (N,) [s] from the start of the stretch; values (N, channels) [1]; scale: the noise of a
    value in the unit of each channel; bandwidth [Hz] that the sampling leaves; driven: what was
    driven or pushed all the same, in a stretch that was asked for.
    """

    start: float
    time: Array
    values: Array
    scale: Array
    channels: tuple[str, ...]
    driven: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """How long it lasts [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def bandwidth(self) -> float:
        """The highest frequency [Hz] below which nothing is aliased."""
        return 0.5 / float(self.time[1] - self.time[0])


def free_response(
    telemetry: Telemetry,
    model: Model | None = None,
    *,
    channels: str | Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    bandwidth: float = np.inf,
    options: ModalOptions = DEFAULTS,
) -> FreeResponse:
    """What sensors saw while driven joints stood still: the longest such stretch unless given.

    In a stretch that is given, what is driven nevertheless is named in the answer.

    `channels` (names or globs): gyro, torques, accelerometer and the like unless given. Samples
    are averaged over as many as `bandwidth` [Hz] allows: an average changes how large a decaying
    oscillation is but neither its frequency nor its decay.
    """
    start, end = quiet_stretch(telemetry, model, options) if between is None else between
    cut = telemetry.between(start, end)
    names = responding(cut, model) if channels is None else match(channels, cut.names)
    wanted = [cut[name] for name in names if _is_recorded(cut, name)]
    if not wanted:
        raise IdentificationError(
            f"no channel between {start:g} and {end:g} s shows a free oscillation; gyro,"
            " accelerometer or joint torques would, or name channels",
            code="oscillation.none",
        )
    rates = [1.0 / float(np.median(np.diff(c.usable()[0]))) for c in wanted]
    fold = max(1, int(min(rates) / (4.0 * bandwidth)))
    step = fold / min(rates)
    first = max(float(c.usable()[0][0]) for c in wanted)
    last = min(float(c.usable()[0][-1]) for c in wanted)
    n = int((last - first) / step * (1.0 + 1e-12))
    if n < 16:
        raise IdentificationError(
            f"{last - first:.3g} s of free oscillation are {n} samples; give a longer stretch",
            code="samples.few",
        )
    edges = first + step * np.arange(n + 1)
    columns, scale = zip(*(_fold(c, edges) for c in wanted), strict=True)
    keep = np.array(scale) > 0.0
    time = step * np.arange(n)
    values = np.column_stack(columns)[:, keep] / np.array(scale)[keep]
    used = tuple(c.name for c, k in zip(wanted, keep, strict=True) if k)
    return FreeResponse(
        first,
        read_only_copy(time),
        read_only_copy(values),
        read_only_copy(np.array(scale)[keep]),
        used,
        () if between is None else drivers(cut, model, options),
    )


def _fold(channel: Channel, edges: Array) -> tuple[Array, float]:
    """Averages of a channel between edges, and the noise of one."""
    time, values = resample_evenly(channel)
    step = float(time[1] - time[0])
    area = np.concatenate([[0.0], np.cumsum(values) * step])
    # Every sample stands for the step after it: an average over whole samples stays one.
    at = np.concatenate([time, [time[-1] + step]])
    means = np.diff(np.interp(edges, at, area)) / np.diff(edges)
    # Amplitude dependence of real springs shows below 1e-5 of the oscillation, noise or no noise.
    sigma = max(noise_level(channel), noise_floor(channel), 1e-5 * float(np.ptp(values)))
    sigma = sigma if np.ptp(values) > 0.0 else 0.0
    return means, sigma * float(np.sqrt(step / (edges[1] - edges[0])))


def quiet_stretch(
    telemetry: Telemetry, model: Model | None = None, options: ModalOptions = DEFAULTS
) -> tuple[float, float]:
    """Start and end [s] of the longest time in which driven joints and thrusters rested."""
    grid = _grid(telemetry, options)
    busy = np.zeros(len(grid), dtype=bool)
    for driven in _busy(telemetry, model, grid, options).values():
        busy |= driven
    return _longest(grid, busy, telemetry, options)


def drivers(
    telemetry: Telemetry, model: Model | None = None, options: ModalOptions = DEFAULTS
) -> tuple[str, ...]:
    """Names of the joints, motors, wheels and thrusters that do not rest in all of a recording.

    >>> t = np.arange(0.0, 10.0, 0.02)
    >>> flight = Telemetry.from_arrays(t, {"elbow.position": np.sin(t), "wrist.position": 0.0 * t})
    >>> drivers(flight)
    ('elbow',)
    """
    found = _busy(telemetry, model, _grid(telemetry, options), options)
    names = (name.rpartition(".")[0] for name, busy in found.items() if busy.any())
    return tuple(dict.fromkeys(names))


def _grid(telemetry: Telemetry, options: ModalOptions) -> Array:
    return np.arange(telemetry.start, telemetry.end, options.look / STEPS)


def _busy(
    telemetry: Telemetry, model: Model | None, grid: Array, options: ModalOptions
) -> dict[str, NDArray[np.bool_]]:
    """Whether something is driven at every time of a grid, by the channel that shows it."""
    creep = options.creep * options.look
    busy = {
        name: _changes(telemetry[name], grid, options.look, creep)
        for name in _driven_encoders(telemetry, model)
    }
    for name in _wheel_channels(telemetry, model):
        busy[name] = _changes(telemetry[name], grid, options.look, 0.0)
    for name in telemetry.names:
        if name.endswith(".force") or name.startswith(("base.force.", "base.torque.")):
            busy[name] = _pushes(telemetry[name], grid)
    return busy


def _changes(channel: Channel, grid: Array, look: float, least: float) -> NDArray[np.bool_]:
    """Whether a channel changes by more than `least` and its noise within a look [s]."""
    time, values = channel.usable()
    sigma = max(noise_level(channel), noise_floor(channel))
    n = max(1.0, look / 2.0 / float(np.median(np.diff(time))))
    before, after = (np.interp(grid + shift, time, _smooth(values, int(n)))
                     for shift in (-look / 2.0, look / 2.0))  # fmt: skip
    return np.abs(after - before) > least + SURE * sigma * np.sqrt(2.0 / n)


def _pushes(channel: Channel, grid: Array) -> NDArray[np.bool_]:
    """Whether any sample near each time of a grid is a push, however short."""
    time, values = channel.usable()
    if not len(time):
        return np.zeros(len(grid), dtype=bool)
    # the samples of a push are no noise: only what is stated counts as such
    limit = max(SURE * (channel.noise or 0.0), noise_floor(channel))
    so_far = np.concatenate([[0], np.cumsum(np.abs(values) > limit)])
    step = float(grid[1] - grid[0]) if len(grid) > 1 else 0.0
    first = np.searchsorted(time, grid - step, side="left")
    last = np.searchsorted(time, grid + step, side="right")
    return so_far[last] > so_far[first]


def _smooth(values: Array, n: int) -> Array:
    """A running mean over n samples, as long as the values."""
    if n < 2:
        return values
    padded = np.pad(values, (n // 2, n - 1 - n // 2), mode="edge")
    return np.convolve(padded, np.full(n, 1.0 / n), mode="valid")


def _longest(
    grid: Array, busy: Array, telemetry: Telemetry, options: ModalOptions
) -> tuple[float, float]:
    edges = np.flatnonzero(np.diff(np.concatenate([[True], busy, [True]]).astype(int)))
    runs = edges.reshape(-1, 2)
    start = end = telemetry.start
    if len(runs):
        first, last = runs[np.argmax(runs[:, 1] - runs[:, 0])]
        # A look reaches half its length to either side.
        start = telemetry.start if first == 0 else float(grid[first]) + options.look / 2.0
        end = telemetry.end if last == len(grid) else float(grid[last - 1]) - options.look / 2.0
    if end - start < options.shortest:
        raise IdentificationError(
            "driven joints, wheels and thrusters never rest together for"
            f" {options.shortest:g} s; fly a plan that ends with some tens of seconds at rest",
            code="oscillation.driven",
        )
    return start, end


def _driven_encoders(telemetry: Telemetry, model: Model | None) -> list[str]:
    """The encoders of what somebody drives; without a model every encoder is taken for one."""
    if model is None:
        names = [n for n in telemetry.names if n.endswith((".position", ".motor_position"))]
    else:
        wheels = {wheel.name for wheel in model.wheels}
        names = [channel_names(c)[0] for c in _driven_coordinates(model) if c.name not in wheels]
    return [n for n in names if _is_recorded(telemetry, n)]


def _wheel_channels(telemetry: Telemetry, model: Model | None) -> list[str]:
    """The speeds of wheels: one that spins evenly rests. Of a free wheel its torque, if known.

    A wheel that no torque drives turns against the swing of what carries it.
    """
    if model is None:
        return [n for n in telemetry.names if n.endswith(".speed") and _is_recorded(telemetry, n)]
    found = []
    for wheel in model.wheels:
        names = [f"{wheel.name}.torque"] if wheel.role == "torque" else []
        names.append(f"{wheel.name}.speed")
        found += [n for n in names if _is_recorded(telemetry, n)][:1]
    return found


def _driven_coordinates(model: Model) -> list[Coordinate]:
    return [c for c in model.assembly.coordinates if c.role in ("motion", "torque")]


def _is_recorded(telemetry: Telemetry, name: str) -> bool:
    return name in telemetry and len(telemetry[name].usable()[0]) > ENOUGH


def _commands(telemetry: Telemetry, model: Model | None) -> set[str]:
    """The channels that show what somebody drives, and so no free oscillation."""
    if model is not None:
        return {name for c in _driven_coordinates(model) for name in channel_names(c)}
    owners = {name.rpartition(".")[0] for name in _driven_encoders(telemetry, None)}
    wheels = {name.rpartition(".")[0] for name in _wheel_channels(telemetry, None)}
    fields = ("position", "velocity", "motor_position", "motor_velocity")
    return {f"{o}.{f}" for o in owners for f in fields} | {f"{wheel}.angle" for wheel in wheels}


def responding(telemetry: Telemetry, model: Model | None) -> list[str]:
    """The channels that show a free oscillation."""
    commands = _commands(telemetry, model)
    has_rate = any(name.startswith("base.rate") for name in telemetry.names)
    found = []
    for name in telemetry.names:
        stem = name[:-2] if name[-2:] in (".x", ".y", ".z", ".w") else name
        if not stem.endswith(RESPONSES) or name.startswith(("base.torque.", "base.force.")):
            continue
        is_repeated = has_rate and stem.endswith((".attitude", ".angle"))
        if name in commands or is_repeated or name.endswith(".attitude.w"):
            continue
        found.append(name)
    return found
