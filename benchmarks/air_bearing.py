"""What a real recording needs before its answers agree: a satellite on an air bearing.

    python benchmarks/air_bearing.py FOLDER

FOLDER has `real_test_data.csv` of the public repository AevarOfjord/mpc-air-bearing-satellite (MIT
licence): 196 s of motion capture of a planar satellite with eight on/off thrusters, as commanded.
Step by step more of what the drawings say is doubted; every line is what `identify` says of one
stretch. Scales under the bearings gave 23.09 kg and first moments of (0.128, 0.018) kg m.

From 183.8 s on the commands' own stamps jump by 0.6 s, and what they do no longer fits: left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.model import Model, Sensor
from freefloat.model.parts import Body, Root, Thruster
from freefloat.telemetry.channel import Channel

FILE = "real_test_data.csv"
# of the thrusters 1 to 8: places [m], directions, and thrust by a load cell, one at a time [N]
PLACES = (
    (0.145, 0.06), (0.145, -0.06), (0.06, -0.145), (-0.06, -0.145),
    (-0.145, -0.06), (-0.145, 0.06), (-0.06, 0.145), (0.06, 0.145),
)  # fmt: skip
DIRECTIONS = ((-1, 0), (-1, 0), (0, 1), (0, 1), (1, 0), (1, 0), (0, -1), (0, -1))
THRUST = (0.441450, 0.430659, 0.427716, 0.438017, 0.468918, 0.446846, 0.466956, 0.484124)
THRUST_DOUBT = 0.07  # relative: without nozzles, and not with several open at once
NOISE = {"base.position.x": 1e-4, "base.position.y": 1e-4, "base.angle": 3e-4}  # [m, m, rad]
JITTER = 6e-3  # [s] of the poses' stamps: fourth differences grow with speed, x and y alike
STRETCHES = ((3.0, 63.0), (63.0, 123.0), (123.0, 183.0))  # [s]
WEIGHED = {"bus.mass": 23.09, "bus.mx": 0.128, "bus.my": 0.018}
BODY = ("bus.mass", "bus.mx", "bus.my", "bus.izz")
DEAD = 0.25  # share of the thrust of the load cell, below which a command does nothing
STEP, BUMP = 0.01, 0.8  # [s] of what is integrated by parts
EARLIER = 1.0  # [s] of commands before a piece, which may still act in it
PIECE = 5.0  # [s]


@dataclass(frozen=True)
class Stage:
    """One step: pieces of so many seconds, whether commands act as found, and what else is free.

    own: free in every piece by itself. A torque on all of a piece is what two thrusters leak that
    push in opposite directions.
    """

    what: str
    piece: float  # [s]
    as_found: bool = False
    free: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def parameters(self, model: Model) -> ff.Parameters:
        """What is looked for."""
        found = ff.Parameters(model).free(*BODY, *self.free, *self.own)
        found = found.per_recording(*self.own) if self.own else found
        return found.tie("thr_5.bias", to="thr_1.bias") if "thr_1.bias" in self.own else found


SURROUNDINGS = ("gravity.x", "gravity.y", "drag.linear", "drag.angular")
STAGES = (
    Stage("as documented", 60.0),
    Stage("pieces of 5 s, commands as they act", PIECE, as_found=True),
    Stage("and slope and drag free", PIECE, as_found=True, free=SURROUNDINGS),
    Stage("and a slope and a torque of every piece instead", PIECE, as_found=True,
          own=("gravity.x", "gravity.y", "thr_1.bias")),
)  # fmt: skip


def satellite() -> Model:
    """The satellite as its drawings have it."""
    thrusters = tuple(
        Thruster(f"thr_{k}", "bus", (way[0], way[1], 0.0), (*place, 0.0), uncertainty=THRUST_DOUBT)
        for k, (place, way) in enumerate(zip(PLACES, DIRECTIONS, strict=True), start=1)
    )
    sensors = (
        Sensor("position", "bus", 16.7, noise=NOISE["base.position.x"]),
        Sensor("attitude", "bus", 16.7, noise=NOISE["base.angle"]),
        Sensor("thruster", "thr_*", 16.7),
    )
    body = Body("bus", 20.0, (0, 0, 0), (0.3, 0.0, 0.0, 0.3, 0.0, 0.5))
    root = Root("bus", type="planar")
    return Model("satellite", root, (body,), (), thrusters=thrusters, sensors=sensors)


def read(folder: Path) -> ff.Telemetry:
    """The recording with the channels' names and units, by the map beside this script."""
    flight = ff.import_telemetry(folder / FILE, Path(__file__).with_suffix(".toml"))
    return flight.with_metadata(thrust="level at the instant")


@dataclass(frozen=True)
class Effects:
    """What a command does: force in body axes [N] and angular acceleration [rad/s^2] of each.

    delay [s]: by which commands act late; closing [s]: by which valves close later still, with its
    deviation. share: of the variance of the angular acceleration that they explain.
    """

    delay: float
    share: float
    force: np.ndarray
    turn: np.ndarray
    closing: tuple[float, float] = (0.0, 0.0)

    @property
    def is_dead(self) -> np.ndarray:
        """Which thrusters do not push."""
        return np.sum(self.force * DIRECTIONS, axis=1) < DEAD * np.array(THRUST)


def effects(flight: ff.Telemetry) -> Effects:
    """What the motion says by itself, without a model: second derivatives by parts.

    Accelerations are weighted by bumps of 0.8 s, whose own derivatives act on the positions.
    """
    time = flight["base.angle"].time
    fine = np.arange(time[0], time[-1], STEP)
    x, y, angle = (np.interp(fine, time, flight[name].values) for name in NOISE)
    n = round(BUMP / STEP)
    s = (np.arange(n) + 0.5) / n
    hill = s * (1.0 - s)
    bump, curved = hill**3, (6 * hill * (1 - 2 * s) ** 2 - 6 * hill**2) / BUMP**2
    line = np.column_stack([np.ones(n), s])
    curved -= line @ np.linalg.lstsq(line, curved)[0]  # a uniform motion has no acceleration

    def weigh(values: np.ndarray, by: np.ndarray) -> np.ndarray:
        return np.convolve(values, by[::-1], "valid")[:: n // 8] * STEP

    told = [weigh(values, curved) for values in (x, y, angle)]
    opened = np.column_stack([flight[f"thr_{k}.force"].values > 0.0 for k in range(1, 9)])
    found = []
    for delay in np.arange(0.0, 0.3, 0.02):
        at = np.clip(np.searchsorted(time + delay, fine, side="right") - 1, 0, None)
        acts = opened[at].astype(float)
        along, across = np.cos(angle)[:, None] * acts, np.sin(angle)[:, None] * acts
        c, q = ([weigh(column, bump) for column in part.T] for part in (along, across))
        forces = np.vstack([np.column_stack([*c, *(-b for b in q)]), np.column_stack([*q, *c])])
        turns = np.column_stack([weigh(column, bump) for column in acts.T])
        force = np.linalg.lstsq(forces, np.concatenate(told[:2]))[0].reshape(2, 8).T
        turn = np.linalg.lstsq(turns, told[2])[0]
        share = 1.0 - np.var(told[2] - turns @ turn) / np.var(told[2])
        found.append(Effects(float(delay), float(share), WEIGHED["bus.mass"] * force, turn))
    best = max(found, key=lambda one: one.share)
    return replace(best, closing=late_closing(flight, best))


def late_closing(flight: ff.Telemetry, found: Effects) -> tuple[float, float]:
    """By how much valves close later than they open [s], and its deviation.

    Positions of pieces without what a uniform acceleration does, against the double integrals of
    the thrust as commanded and of an impulse at every opening: their ratio knows no mass. The
    deviation is by the scatter of the pieces.
    """
    time = flight["base.angle"].time
    fine = np.arange(time[0], time[-1], STEP)
    angle = np.interp(fine, time, flight["base.angle"].values)
    turned = np.exp(1j * angle)
    opened = np.column_stack([flight[f"thr_{k}.force"].values for k in range(1, 9)])
    at = np.clip(np.searchsorted(time + found.delay, fine, side="right") - 1, 0, None)
    push = np.where(found.is_dead, 0.0, opened[at])
    edges = np.maximum(np.diff(push, axis=0, prepend=push[:1]), 0.0) / STEP
    along = np.array([x + 1j * y for x, y in DIRECTIONS])
    twice = [np.cumsum(np.cumsum(turned * (force @ along))) * STEP**2 for force in (push, edges)]
    place = flight["base.position.x"].values + 1j * flight["base.position.y"].values
    products, pulls = [], []
    for begin in np.arange(STRETCHES[0][0], STRETCHES[-1][1] - PIECE + 1e-6, PIECE):
        inside = (time >= begin) & (time < begin + PIECE)
        free = np.vander(time[inside] - begin, 3)
        rows = np.column_stack([place[inside], *(np.interp(time[inside], fine, t) for t in twice)])
        rows -= free @ np.linalg.lstsq(free.astype(complex), rows)[0]
        products.append((rows[:, 1:].conj().T @ rows[:, 1:]).real)
        pulls.append((rows[:, 1:].conj().T @ rows[:, 0]).real)
    inverse = np.linalg.inv(np.sum(products, axis=0))
    gain, impulse = inverse @ np.sum(pulls, axis=0)
    left = np.array(pulls) - np.array(products) @ np.array([gain, impulse])
    slope = np.array([-impulse / gain, 1.0]) / gain
    return float(impulse / gain), float(np.linalg.norm(left @ inverse @ slope))


def with_effects(flight: ff.Telemetry, found: Effects) -> ff.Telemetry:
    """The recording with commands as late as they act, and none where nothing happens."""
    moved = []
    for k, is_dead in enumerate(found.is_dead):
        own = flight[f"thr_{k + 1}.force"]
        is_closing = np.diff(own.values, prepend=0.0) < 0.0
        time = own.time + found.delay + found.closing[0] * is_closing
        moved.append(Channel(own.name, "N", time, 0.0 * own.values if is_dead else own.values))
    return flight.with_channels(*moved)


def cut(flight: ff.Telemetry, begin: float, end: float, piece: float) -> Iterator[ff.Telemetry]:
    """Pieces of a stretch, each with its noise and with the commands from a little earlier on."""
    for start in np.arange(begin, end - piece + 1e-6, piece):
        stop = start + piece - 1e-3
        thrust = flight.select("thr_*").between(start - EARLIER, stop + EARLIER)
        motion = flight.select("base.*").between(start, stop).channels.values()
        both = [*map(with_jitter, motion), *thrust.channels.values()]
        yield ff.Telemetry.of(both, flight.metadata)


def with_jitter(channel: Channel) -> Channel:
    """The channel with the noise that stamps add which are off by some milliseconds."""
    speed = np.gradient(np.polyval(np.polyfit(channel.time, channel.values, 3), channel.time),
                        channel.time)  # fmt: skip
    size = JITTER * float(np.sqrt(np.mean(speed**2)))
    return channel.with_noise(float(np.hypot(NOISE[channel.name], size)))


def line(fit: ff.Fit) -> str:
    """Grade, weighed quantities with total deviations, and the worst residual."""
    told = fit.assessment
    grade = told.grade if told is not None else "-"
    numbers = " ".join(f"{fit[n].value:9.3f} ± {fit[n].total_std:<7.2g}" for n in WEIGHED)
    worst = max(r.rms for r in fit.residuals)
    codes = ", ".join(reason.code for reason in told.reasons[:3]) if told is not None else ""
    return f"{grade:18} {numbers} {worst:8.1f}  {codes}"


def agreement(fits: Sequence[ff.Fit]) -> str:
    """Of every weighed quantity: chi-square between the stretches, and how far off the worst is.

    What all stretches have in common, the thrust of the load cell, moves all masses alike and is no
    excuse for a difference: it is taken off.
    """
    told = []
    for name, true in WEIGHED.items():
        value = np.array([fit[name].value for fit in fits])
        total = np.array([fit[name].total_std for fit in fits])
        common = THRUST_DOUBT * np.abs(value)
        own = np.sqrt(np.maximum(total**2 - common**2, 1e-4 * total**2))
        weight = own**-2.0
        mean = np.sum(weight * value) / np.sum(weight)
        worst = np.max(np.abs(value - true) / total)
        told.append(f"{name} {np.sum(weight * (value - mean) ** 2):.1f} ({worst:.1f})")
    return ", ".join(told)


def main() -> None:
    """Print the table."""
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / FILE).is_file():
        print(f"usage: python benchmarks/air_bearing.py FOLDER, where FOLDER has {FILE}")
        raise SystemExit(2)
    flight, model = read(Path(sys.argv[1])), satellite()
    chosen = [STAGES[int(n)] for n in sys.argv[2:]] or STAGES
    print(f"weighed: {', '.join(f'{n} {v:g}' for n, v in WEIGHED.items())}")
    found = effects(flight.between(0.0, STRETCHES[-1][1]))
    late, closing = 1e3 * found.delay, [1e3 * part for part in found.closing]
    print(f"commands act {late:.0f} ms late, valves close {closing[0]:.0f} ± {closing[1]:.0f} ms")
    print(f"later still; they explain {100 * found.share:.0f} % of what turns it. Each pushes by")
    print("[N] along x and y, where the load cell said")
    for k, (push, way) in enumerate(zip(found.force, DIRECTIONS, strict=True)):
        cell = [THRUST[k] * axis for axis in way]
        print(f"  thr_{k + 1} {push[0]:6.2f} {push[1]:6.2f}   {cell[0]:6.2f} {cell[1]:6.2f}")
    print("every line: stretch, grade, value ± total deviation, worst residual over its noise")
    for stage in chosen:
        print(f"\n{stage.what}")
        fits, used = [], with_effects(flight, found) if stage.as_found else flight
        for begin, end in STRETCHES:
            pieces = list(cut(used, begin, end, stage.piece))
            wanted = stage.parameters(model)
            fit = ff.identify(model, wanted, pieces, method="output_error", raw=True)
            print(f"  {begin:3.0f}-{end:3.0f} s {line(fit)}", flush=True)
            fits.append(fit)
        print(
            f"  {sum(fit.is_trustworthy for fit in fits)} of {len(fits)} are believed. Chi-square"
        )
        print(f"  of 2 between them (worst, in total deviations): {agreement(fits)}")


if __name__ == "__main__":
    main()
