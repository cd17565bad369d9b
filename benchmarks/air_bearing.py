"""What a real recording needs before its answers agree: a satellite on an air bearing.

    python benchmarks/air_bearing.py FOLDER

FOLDER has `real_test_data.csv` of the public repository AevarOfjord/mpc-air-bearing-satellite (MIT
licence): 196 s of motion capture of a planar satellite with eight on/off thrusters, as commanded.
Step by step more of what the drawings say is doubted; every line is what `identify` says of one
stretch. Scales under the bearings gave 23.09 kg and first moments of (0.128, 0.018) kg m.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
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
NOISE = {"base.position.x": 3e-4, "base.position.y": 3e-4, "base.angle": 1e-3}  # [m, m, rad]
STRETCHES = ((5.0, 60.0), (65.0, 120.0), (125.0, 180.0))  # [s]
WEIGHED = {"bus.mass": 23.09, "bus.mx": 0.128, "bus.my": 0.018}
BODY = ("bus.mass", "bus.mx", "bus.my", "bus.izz")
DEAD = 0.25  # share of the thrust of the load cell, below which a command does nothing
STEP, BUMP = 0.01, 0.8  # [s] of what is integrated by parts
EARLIER = 1.0  # [s] of commands before a piece, which may still act in it


@dataclass(frozen=True)
class Stage:
    """One step: pieces of so many seconds, whether commands act as found, and what else is free."""

    what: str
    piece: float  # [s]
    as_found: bool = False
    free: tuple[str, ...] = ()


SURROUNDINGS = ("gravity.x", "gravity.y", "drag.linear", "drag.angular")
STAGES = (
    Stage("as documented", 55.0),
    Stage("pieces of 5 s", 5.0),
    Stage("and commands as they act", 5.0, as_found=True),
    Stage("and slope and drag free", 5.0, as_found=True, free=SURROUNDINGS),
)


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

    delay [s]: by which commands act late. share: of the variance of the angular acceleration that
    they explain.
    """

    delay: float
    share: float
    force: np.ndarray
    turn: np.ndarray


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
    return max(found, key=lambda one: one.share)


def with_effects(flight: ff.Telemetry, found: Effects) -> ff.Telemetry:
    """The recording with commands as late as they act, and none where nothing happens."""
    channels = list(flight.channels.values())
    for k, (push, direction) in enumerate(zip(found.force, DIRECTIONS, strict=True)):
        name = f"thr_{k + 1}.force"
        own = flight[name]
        is_dead = float(np.dot(push, direction)) < DEAD * THRUST[k]
        values = 0.0 * own.values if is_dead else own.values
        moved = Channel(name, "N", own.time + found.delay, values)
        channels = [moved if c.name == name else c for c in channels]
    return ff.Telemetry.of(channels, flight.metadata)


def cut(flight: ff.Telemetry, begin: float, end: float, piece: float) -> Iterator[ff.Telemetry]:
    """Pieces of a stretch, each with the commands from a little earlier on."""
    for start in np.arange(begin, end - piece + 1e-6, piece):
        stop = start + piece - 1e-3
        thrust = flight.select("thr_*").between(start - EARLIER, stop + EARLIER)
        motion = flight.select("base.*").between(start, stop)
        both = [*motion.channels.values(), *thrust.channels.values()]
        yield ff.Telemetry.of(both, flight.metadata)


def line(fit: ff.Fit) -> str:
    """Grade, weighed quantities with total deviations, and the worst residual."""
    told = fit.assessment
    grade = told.grade if told is not None else "-"
    numbers = " ".join(f"{fit[n].value:9.3f} ± {fit[n].total_std:<7.2g}" for n in WEIGHED)
    worst = max(r.rms for r in fit.residuals)
    codes = ", ".join(reason.code for reason in told.reasons[:3]) if told is not None else ""
    return f"{grade:18} {numbers} {worst:8.1f}  {codes}"


def disagreement(fits: Sequence[ff.Fit]) -> float:
    """The largest difference between stretches [total deviations of the difference]."""
    found = [0.0]
    for one, other in combinations(fits, 2):
        for name in WEIGHED:
            a, b = one[name], other[name]
            found.append(abs(a.value - b.value) / np.hypot(a.total_std, b.total_std))
    return max(found)


def main() -> None:
    """Print the table."""
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / FILE).is_file():
        print(f"usage: python benchmarks/air_bearing.py FOLDER, where FOLDER has {FILE}")
        raise SystemExit(2)
    flight, model = read(Path(sys.argv[1])), satellite()
    chosen = [STAGES[int(n)] for n in sys.argv[2:]] or STAGES
    print(f"weighed: {', '.join(f'{n} {v:g}' for n, v in WEIGHED.items())}")
    found = effects(flight)
    print(f"commands act {1e3 * found.delay:.0f} ms late and explain {100 * found.share:.0f} % of")
    print("what turns it; each pushes by [N] along x and y, where the load cell said")
    for k, (push, way) in enumerate(zip(found.force, DIRECTIONS, strict=True)):
        cell = [THRUST[k] * axis for axis in way]
        print(f"  thr_{k + 1} {push[0]:6.2f} {push[1]:6.2f}   {cell[0]:6.2f} {cell[1]:6.2f}")
    for stage in chosen:
        print(f"\n{stage.what}")
        fits, used = [], with_effects(flight, found) if stage.as_found else flight
        for begin, end in STRETCHES:
            pieces = list(cut(used, begin, end, stage.piece))
            wanted = ff.Parameters(model).free(*BODY, *stage.free)
            fit = ff.identify(model, wanted, pieces, method="output_error")
            print(f"  {begin:3.0f}-{end:3.0f} s {line(fit)}", flush=True)
            fits.append(fit)
        believed = [fit for fit in fits if fit.is_trustworthy]
        some = f"{len(believed)} of {len(fits)} stretches are believed"
        if len(believed) > 1:
            some += f" and differ by {disagreement(believed):.1f} total deviations"
        print(f"  {some}; all of them differ by {disagreement(fits):.1f}")


if __name__ == "__main__":
    main()
