"""Right worlds: nothing is wrong but the numbers looked for.

Half are flown by MuJoCo (the robots of this folder), half by freefloat itself (the library's
models); sensor sets and colours of noise go round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from worlds.outcome import Outcome, try_flight, try_world
from worlds.robots import ROBOTS, Suite
from worlds.world import right_world

import freefloat as ff
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import flatten
from freefloat.excitation.commands import Pulses
from freefloat.excitation.plan import Plan
from freefloat.model.parts import Coloured, Sensor, SensorKind
from freefloat.parameters.parameters import parameter_values

COLOURS = ("white", "slow", "mixed")
SLOW = 2.0  # [s], correlation time
# what is looked for in the models of the library; of a body all, since all of it is drawn anew
PLANAR = tuple(f"{body}.{n}" for body in ("bus", "target") for n in ("mass", "mx", "my", "izz"))
LIBRARY = {
    "planar-capture": PLANAR,
    "spatial-capture": ("bus.*", "target.*"),
    "dual-arm": ("target.*",),
    "servicer": ("target.*",),
    "cepheus": ("bus.mass", "bus.izz"),
    "ets7": ("bus.*",),
    "planar-capture-small": PLANAR,
    "planar-capture-large": PLANAR,
    "ets7-load": ("target.*",),
    "servicer-wings": ("bus.*", "hinge_?1.stiffness"),
    "servicer-slosh": ("bus.*", "tank_1.stiffness", "tank_2.stiffness"),
    "cbk-arm-geared": ("arm_1.drive.stiffness", "arm_1.drive.damping"),
}


# sensors of the base beside those of the model, with their noise
MORE: dict[str, dict[SensorKind, float]] = {
    "own": {},
    "own and velocity": {"gyro": 1e-4, "attitude": 1e-4, "velocity": 5e-4},
    "own and accelerometer": {"gyro": 1e-4, "attitude": 1e-4, "accelerometer": 5e-4},
}


def right_outcomes(
    n: int, *, first: int = 0, method: str = "auto", robots: Sequence[str] = ()
) -> Iterator[Outcome]:
    """`n` right worlds, by turns of robots and models, sensors and colours."""
    by_engine = [(name, suite) for name in robots or ROBOTS for suite in ROBOTS[name]().suites]
    models = list(LIBRARY)
    for k in range(n):
        seed = first + k
        if k % 2 == 0:
            turn, which = divmod(k // 2, len(by_engine))
            name, suite = by_engine[which]
            colour = COLOURS[(which + turn) % len(COLOURS)]
            world = right_world(name, seed, suite)
            world.suite = in_colour(world.believed.sensors, colour)
            world.believed = replace(world.believed, sensors=world.suite)
            yield try_world(world, suite, f"right, {colour}", 0.0, method=method)
        else:
            turn, which = divmod(k // 2, len(models))
            again, kind = divmod(turn, len(MORE))
            colour = COLOURS[(which + again) % len(COLOURS)]
            sensors = tuple(MORE)[kind]
            yield by_simulation(models[which], seed, colour, sensors=sensors, method=method)


def by_simulation(
    name: str, seed: int, colour: str, *, sensors: str = "own", method: str = "auto"
) -> Outcome:
    """A model of the library, flown by freefloat, with another bus and target than stated."""
    believed, model, free = library_model(name, seed, colour, sensors)
    flight = ff.simulate(model, flight_plan(model, seed), seed=seed)
    values = parameter_values(flatten(model))
    label = (f"right, {colour}", 0.0, name, sensors, seed)
    return try_flight(
        believed, free, flight, [{n: values[n] for n in free}], label=label, method=method
    )


def library_model(
    name: str, seed: int, colour: str, sensors: str = "own"
) -> tuple[ff.Model, ff.Model, tuple[str, ...]]:
    """A model of the library as believed, as it flies, and what is looked for."""
    believed = ff.load_model(name)
    root = believed.root.body
    have = {(s.kind, s.on) for s in believed.sensors}
    more = tuple(
        Sensor(kind, root, 20.0, noise=noise)
        for kind, noise in MORE[sensors].items()
        if (kind, root) not in have
    )
    believed = replace(believed, sensors=in_colour((*believed.sensors, *more), colour))
    rng = np.random.default_rng([seed, 77])
    free = tuple(p.name for p in ff.Parameters(believed).free(*LIBRARY[name]).free_ones)
    model = believed
    bodies = {body.name for body in (*model.bodies, *(t.body for t in model.targets))}
    for body in dict.fromkeys(n.partition(".")[0] for n in free if n.partition(".")[0] in bodies):
        old, factor = model.body(body), float(rng.uniform(0.9, 1.1))
        inertia = tuple(factor * x for x in old.inertia)
        model = model.with_body(replace(old, mass=factor * old.mass, inertia=inertia))
    return believed, model, free


def flight_plan(model: ff.Model, seed: int) -> Plan:
    """Every joint moves, every thruster pushes once, from a slow turn."""
    rng = np.random.default_rng([seed, 78])
    plan = ff.default_plan(model, duration=40.0, seed=seed)
    flat = (0.0, 0.0, 1.0) if model.root.type == "planar" else (1.0, 1.0, 1.0)
    start = Start(rate=tuple((0.02 * rng.normal(size=3) * flat).tolist()))
    thrusts = {
        t.name: Pulses(((round(float(rng.uniform(2, 30)), 1), 2.0, t.max_force or 1.0),))
        for t in model.thrusters
    }
    return replace(plan, start=start, thrusts=thrusts)


def in_colour(suite: Suite, colour: str) -> Suite:
    """The sensors with noise that is white, slow, or half of each; as large in all."""
    # never quite without white noise, which no sensor is
    share = {"white": 0.0, "slow": 0.91**0.5, "mixed": 0.5**0.5}[colour]

    def tint(sensor: Sensor) -> Sensor:
        if not share or sensor.kind not in ("gyro", "attitude", "velocity", "accelerometer"):
            return sensor
        white = sensor.noise * (1.0 - share**2) ** 0.5
        coloured = Coloured(sensor.noise * share, SLOW)
        return replace(sensor, noise=white, coloured=coloured)

    return tuple(tint(sensor) for sensor in suite)
