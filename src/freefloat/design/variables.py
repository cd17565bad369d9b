"""The unknowns of a design: coefficients of motions and lengths of thruster pulses.

A vector x of them is a plan; x = 0 stays at home. One unit of a motion's coefficient is a motion
of about half a radian or a fifth of the rate limit, so that all unknowns are of one size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System
from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.basis import Basis
from freefloat.excitation.commands import Pulses
from freefloat.excitation.limits import Limit
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model

# theory: a choice of units, no limit. Moved by half a radian, the mass matrix of an arm changes in
# the first order (sin 0.5 = 0.48), so that one trust radius and one step of differences fit all
REACH = 0.5  # [rad], per unit of a coefficient
SHARE = 0.2  # theory: as REACH, of the rate limit: of five harmonics each has a fifth of it
STILL = 1e-9  # theory: [rad], rounding of an angle; with less room a joint cannot move


@dataclass(frozen=True)
class Mover:
    """A coordinate that is moved: its place among the prescribed ones, its curves and home.

    mix (basis.n, n): raw coefficients per unit of ours.
    """

    name: str
    place: int
    basis: Basis
    mix: Array
    home: float
    speed: float = 0.0

    @property
    def n(self) -> int:
        """How many unknowns it has."""
        return self.mix.shape[1]


@dataclass(frozen=True)
class Pulser:
    """A thruster that is fired: up to `length` [s] from every one of the times [s], at `level`.

    tick [s]: valves switch at multiples of it, so that recorded levels tell their impulses.
    """

    name: str
    times: tuple[float, ...]
    length: float
    level: float
    tick: float = 0.0

    @property
    def n(self) -> int:
        """How many unknowns it has: the share of each pulse, 0 to 1."""
        return len(self.times)


@dataclass(frozen=True)
class Variables:
    """All unknowns in order: movers, then pulsers."""

    duration: float
    movers: tuple[Mover, ...]
    pulsers: tuple[Pulser, ...] = ()
    start: Start = Start()

    @property
    def n(self) -> int:
        """How many unknowns there are."""
        return sum(part.n for part in (*self.movers, *self.pulsers))

    @property
    def n_motion(self) -> int:
        """How many of them are coefficients of motions; the others are pulses."""
        return sum(mover.n for mover in self.movers)

    def parts(self, x: Array) -> list[Array]:
        """x cut up: one piece a mover and pulser."""
        return np.split(x, np.cumsum([part.n for part in (*self.movers, *self.pulsers)])[:-1])

    def plan(self, x: Array, name: str = "designed") -> Plan:
        """The plan that x stands for."""
        pieces = self.parts(x)
        motions = {
            m.name: m.basis.motion(m.mix @ c, home=m.home, speed=m.speed)
            for m, c in zip(self.movers, pieces, strict=False)
        }
        thrusts = {}
        for p, shares in zip(self.pulsers, pieces[len(self.movers) :], strict=True):
            rows = zip(p.times, np.clip(shares, 0.0, 1.0).tolist(), strict=True)
            pulses = tuple((t, share * p.length, p.level) for t, share in rows if share > 1e-6)
            if pulses:
                thrusts[p.name] = Pulses(pulses)
        return Plan(self.duration, self.start, motions, thrusts=thrusts, name=name)

    def on_ticks(self, x: Array) -> Array:
        """x with pulses cut short to whole ticks of their valves."""
        pieces = self.parts(x)
        for k, p in enumerate(self.pulsers, start=len(self.movers)):
            if p.tick > 0.0:
                share = p.tick / p.length
                # what is a whole number of ticks but for rounding stays one
                pieces[k] = np.floor(np.clip(pieces[k], 0.0, 1.0) / share + 1e-9) * share
        return np.concatenate(pieces)

    def curves(self, times: Array) -> list[Array]:
        """For every mover what one unit of each of its unknowns adds: (4, times, its n)."""
        raw = {basis: basis.columns(times) for basis in {m.basis for m in self.movers}}
        return [raw[m.basis] @ m.mix for m in self.movers]

    def columns(self, times: Array) -> Array:
        """What one unit of each motion's unknown adds to its coordinate: (n_motion, 4, times)."""
        found = [np.moveaxis(curves, 2, 0) for curves in self.curves(times)]
        return np.concatenate(found) if found else np.zeros((0, 4, len(times)))

    @property
    def places(self) -> list[int]:
        """For every motion's unknown, the place of its coordinate among the prescribed ones."""
        return [m.place for m in self.movers for _ in range(m.n)]

    @property
    def fastest(self) -> float:
        """The highest frequency [Hz] in the motions."""
        return max((m.basis.fastest for m in self.movers), default=1.0 / self.duration)

    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of every unknown: none for coefficients, 0 to 1 for pulses."""
        n_pulses = self.n - self.n_motion
        return [(-np.inf, np.inf)] * self.n_motion + [(0.0, 1.0)] * n_pulses


def variables_of(
    system: System,
    limits: dict[str, Limit],
    *,
    basis: Basis,
    joints: Sequence[str] = ("*",),
    wheels: Sequence[str] = (),
    thrusters: Sequence[str] = (),
    start: Start | None = None,
    pulses: int = 4,
    longest_pulse: float = 0.05,
) -> Variables:
    """The unknowns for the joints, wheels and thrusters that fit the globs.

    Args:
        system: what is moved.
        limits: of the model, which say what has room to move.
        basis: the curves of a joint.
        joints, wheels, thrusters: globs of what is moved.
        start: where it begins; at rest at home unless given.
        pulses: of a thruster over a flight.
        longest_pulse: share of the duration.

    Raises:
        ExcitationError: nothing can be moved, or a thruster has no force limit.
    """
    start = start or Start()
    model, names = system.model, [system.coordinates[i] for i in system.tree.given]
    movers: list[Mover] = []
    still: list[Fault] = []
    wheel_names = {wheel.name for wheel in model.wheels}
    knots = replace(basis, shape="speeds", size=max(3, basis.size))
    for place, name in enumerate(names):
        coordinate = model.assembly.coordinates[model.assembly.index(name)]
        home = start.coordinates.get(name, coordinate.home)
        if name in wheel_names:
            held = _wheel_stops(name, limits)
            still += held if _fits(name, wheels) else []
            if _fits(name, wheels) and not held:
                speed = start.speeds.get(name, coordinate.speed)
                room = min(max(limits[f"{name}.speed"].value - abs(speed), 1.0), 100.0)
                mix = knots.orthonormal(reach=SHARE * room, rate=room / basis.duration)
                movers.append(Mover(name, place, knots, mix, home, speed))
            continue
        joint = name.removesuffix(".motor")
        if coordinate.role != "motion" or not _fits(joint, joints):
            continue
        held = _joint_stops(joint, limits, home)
        if held:
            still += held
            continue
        speed = limits[f"{joint}.velocity"].value
        mix = basis.orthonormal(reach=REACH, rate=SHARE * min(speed, 10.0))
        movers.append(Mover(name, place, basis, mix, home))
    fired = enumerate(_thruster_forces(system, limits, thrusters).items())
    pulsers = tuple(
        _pulser(model, name, level, n, pulses, longest_pulse, basis.duration)
        for n, (name, level) in fired
    )
    if not movers and not pulsers:
        raise ExcitationError(
            f"nothing of {model.name!r} can be moved: no motion-driven joint with room to move is"
            " among those asked for; name joints, wheels or thrusters",
            still,
        )
    return Variables(basis.duration, tuple(movers), pulsers, start)


def _joint_stops(joint: str, limits: dict[str, Limit], home: float) -> list[Fault]:
    """Limits that hold a joint where it is; beyond them at home is a fault the search tells of."""
    reach = {side: limits[f"{joint}.{side}"] for side in ("lower", "upper")}
    rooms = [(limit, abs(limit.value - home)) for limit in reach.values()]
    others = (limits[f"{joint}.{one}"] for one in ("velocity", "acceleration", "jerk"))
    return _without_room([*rooms, *((limit, limit.value) for limit in others)])


def _wheel_stops(wheel: str, limits: dict[str, Limit]) -> list[Fault]:
    """Limits that let a wheel do nothing."""
    found = (limits[f"{wheel}.{one}"] for one in ("speed", "momentum", "torque"))
    return _without_room([(limit, limit.value) for limit in found])


def _without_room(rooms: Sequence[tuple[Limit, float]]) -> list[Fault]:
    return [
        Fault(
            limit.name,
            f"{room:g} {limit.unit} of room",
            "room to move",
            "allow more",
            "limit.no_room",
        )
        for limit, room in rooms
        if room < STILL
    ]


def _fits(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _thruster_forces(
    system: System, limits: dict[str, Limit], globs: Sequence[str]
) -> dict[str, float]:
    """The force [N] of every thruster that is fired."""
    fitting = [t.name for t in system.model.thrusters if _fits(t.name, globs)]
    endless = [name for name in fitting if not np.isfinite(limits[f"{name}.force"].value)]
    if endless:
        raise ExcitationError(
            f"{endless[0]!r} has no max_force; give it one in the model file",
            code="force.unlimited",
        )
    return {name: limits[f"{name}.force"].value for name in fitting}


def _pulser(
    model: Model, name: str, level: float, n: int, pulses: int, longest: float, duration: float
) -> Pulser:
    """The n-th thruster's slots over the flight; one after the other for different thrusters."""
    span = duration / pulses
    shift = (0.07 + 0.19 * n) % (1.0 - longest * pulses)
    rates = [s.rate for s in model.sensors if s.kind == "thruster" and fnmatchcase(name, s.on)]
    tick = 1.0 / max(rates) if rates else 0.0
    times = [(k + shift) * span for k in range(pulses)]
    if tick > 0.0:
        times = [round(t / tick) * tick for t in times]
    return Pulser(name, tuple(times), longest * duration, level, tick)
