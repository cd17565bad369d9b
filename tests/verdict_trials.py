"""How often `validate` is right: models that are right, and models that are wrong in many ways.

    python tests/verdict_trials.py [--right N] [--wrong N] [--prove | --first SEED] [--only GLOB]

Prints a line a trial and the two rates. Seeds from 0 on are for choosing anything; `--prove` takes
those from 1000 on, which nothing may be chosen by, `--first` any others.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from worlds.right import COLOURS, LIBRARY, MORE, flight_plan, library_model

import freefloat as ff
from freefloat.excitation import Plan
from freefloat.model.mass_properties import mass_properties
from freefloat.model.parts import Body, Joint, Placement, Sensor, SensorKind

PROVE = 1000  # the first seed that nothing is chosen by
# sensors of the base on an air bearing, with their noise
AIR: dict[str, dict[SensorKind, float]] = {
    "gyro": {"gyro": 5e-4},
    "markers": {"position": 5e-4, "attitude": 1e-3},
    "positions": {"position": 5e-4},
    "all": {"gyro": 5e-4, "position": 5e-4, "attitude": 1e-3, "accelerometer": 5e-3},
}
BASE: dict[SensorKind, float] = {"gyro": 1e-4, "attitude": 1e-4, "velocity": 5e-4}


@dataclass(frozen=True)
class Trial:
    """A model or fit, and a flight it shall be judged by; size: how wrong, 0 where it is right."""

    kind: str
    size: float
    name: str
    make: Callable[[], tuple[ff.Fit | ff.Model, ff.Telemetry]]
    raw: bool = False  # whether the recording is used as it is


def bearing(sensors: str) -> ff.Model:
    """A base on an air bearing with a panel on a spring of about 3 Hz."""
    return ff.Model(
        name="bearing",
        root=replace(ff.load_model("cepheus").root, body="bus"),
        bodies=(
            Body("bus", 20.0, (0.0, 0.0, 0.0), _flat(0.6)),
            Body("panel", 2.0, (0.4, 0.0, 0.0), _flat(0.08)),
        ),
        joints=(
            Joint("hinge", "revolute", "bus", "panel", Placement((0.2, 0.05, 0.0)), role="passive",
                  stiffness=60.0, damping=0.05),
        ),
        sensors=tuple(Sensor(k, "bus", 50.0, noise=n) for k, n in AIR[sensors].items()),
    )  # fmt: skip


def _flat(izz: float) -> tuple[float, float, float, float, float, float]:
    return (izz, 0.0, 0.0, izz, 0.0, izz)


def ring_down(model: ff.Model, seed: int, *, duration: float = 30.0) -> ff.Telemetry:
    """Released from a deflection, the base drifting and turning."""
    rng = np.random.default_rng([seed, 5])
    start = ff.Start(
        rate=(0.0, 0.0, 0.1 * rng.normal()),
        velocity=(0.02 * rng.normal(), 0.02 * rng.normal(), 0.0),
        coordinates={"hinge": float(rng.uniform(0.05, 0.4) * rng.choice([-1, 1]))},
    )
    return ff.simulate(model, Plan(duration, start=start), seed=seed)


# -- right ----------------------------------------------------------------------------------------


def right_trials(first: int = 0) -> Iterator[Trial]:
    """Without end: fits of the library, ring-downs, and models as they are, begun in motion."""
    seed = first
    while True:
        for k, name in enumerate(LIBRARY):
            colour = COLOURS[(seed + k) % len(COLOURS)]
            sensors = tuple(MORE)[(seed // 2 + k) % len(MORE)]
            label = f"{name}, {sensors}, {colour}, {seed}"
            yield Trial("fit", 0.0, label, _library_fit(name, seed, colour, sensors))
            if k % 3 == 0:
                air = tuple(AIR)[(k // 3 + seed // 3) % len(AIR)]
                yield Trial("ring-down", 0.0, f"{air}, {seed}", _ring_model(air, seed))
                yield Trial("ring-down fit", 0.0, f"{air}, {seed}", _ring_fit(air, seed))
            if k % 3 == 1:
                yield Trial("in motion", 0.0, f"{name}, {seed}", _in_motion(name, seed))
            if k % 3 == 2:
                air = tuple(AIR)[(k // 3 + seed) % len(AIR)]
                make = _without_noise(_ring_model(air, seed))
                yield Trial("noise not stated", 0.0, f"bearing, {air}, {seed}", make)
                make = _without_noise(_in_motion(name, seed))
                yield Trial("noise not stated", 0.0, f"{name}, {seed}", make)
            seed += 1


def _library_fit(
    name: str, seed: int, colour: str, sensors: str
) -> Callable[[], tuple[ff.Fit, ff.Telemetry]]:
    def make() -> tuple[ff.Fit, ff.Telemetry]:
        believed, model, free = library_model(name, seed, colour, sensors)
        first = ff.simulate(model, flight_plan(model, seed), seed=seed)
        fit = ff.identify(believed, ff.Parameters(believed).free(*free), first)
        return fit, ff.simulate(model, flight_plan(model, seed + 500), seed=seed + 500)

    return make


def _ring_model(sensors: str, seed: int) -> Callable[[], tuple[ff.Model, ff.Telemetry]]:
    return lambda: (bearing(sensors), ring_down(bearing(sensors), seed))


def _ring_fit(sensors: str, seed: int) -> Callable[[], tuple[ff.Fit, ff.Telemetry]]:
    def make() -> tuple[ff.Fit, ff.Telemetry]:
        model = bearing(sensors)
        believed = model.with_joint("hinge", stiffness=66.0, damping=0.03)
        wanted = ff.Parameters(believed).free("hinge.stiffness", "hinge.damping")
        first = ring_down(model, seed + 500)
        return ff.identify(believed, wanted, first), ring_down(model, seed)

    return make


def _in_motion(name: str, seed: int) -> Callable[[], tuple[ff.Model, ff.Telemetry]]:
    """The model as it is, thrown: base, wings, fuel and springs move at the start."""

    def make() -> tuple[ff.Model, ff.Telemetry]:
        model = ff.load_model(name)
        plan = flight_plan(model, seed)
        rng = np.random.default_rng([seed, 6])
        flat = np.array([0.0, 0.0, 1.0]) if model.root.type == "planar" else np.ones(3)
        bent = {
            j.name: j.home + float(0.03 * rng.normal()) for j in model.joints if j.role == "passive"
        }
        start = ff.Start(
            rate=tuple((0.05 * rng.normal(size=3) * flat).tolist()),
            velocity=tuple((0.02 * rng.normal(size=3) * (1.0, 1.0, flat[0])).tolist()),
            coordinates=bent,
        )
        return model, ff.simulate(model, replace(plan, start=start), seed=seed)

    return make


def _without_noise(
    make: Callable[[], tuple[ff.Model, ff.Telemetry]],
) -> Callable[[], tuple[ff.Model, ff.Telemetry]]:
    """The same, and nobody says how large the noise is."""

    def bare() -> tuple[ff.Model, ff.Telemetry]:
        model, flight = make()
        channels = [channel.with_noise(None) for channel in flight.channels.values()]
        silent = tuple(replace(s, noise=0.0, coloured=None) for s in model.sensors)
        return replace(model, sensors=silent), flight.with_channels(*channels)

    return bare


# -- wrong ----------------------------------------------------------------------------------------


def wrong_trials(first: int = 0) -> Iterator[Trial]:
    """Without end: every kind in every size, another robot with every seed."""
    robots = ("planar-capture", "spatial-capture", "ets7", "dual-arm", "servicer")
    seed = first
    while True:
        for kind, (sizes, change) in WRONG.items():
            for size in sizes:
                name = robots[seed % len(robots)]
                label = f"{name}, {seed}"
                yield Trial(kind, size, label, _wrong(name, seed, size, change), kind in RAW)
                seed += 1
        for kind, sizes in RINGS.items():
            for size in sizes:
                air = tuple(AIR)[seed % len(AIR)]
                yield Trial(
                    kind, size, f"bearing, {air}, {seed}", _ring_wrong(kind, air, seed, size)
                )
                seed += 1


Change = Callable[[ff.Model, ff.Telemetry | None, float], "ff.Model | ff.Telemetry"]


def _wrong(
    name: str, seed: int, size: float, change: Change
) -> Callable[[], tuple[ff.Model, ff.Telemetry]]:
    """The model as it is, and a flight of another one, or one that was read wrongly."""

    def make() -> tuple[ff.Model, ff.Telemetry]:
        model = ff.load_model(name)
        root = model.root.body
        extra = [
            Sensor(kind, root, 20.0, noise=noise)
            for kind, noise in BASE.items()
            if (kind, root) not in {(s.kind, s.on) for s in model.sensors}
        ]
        model = replace(model, sensors=(*model.sensors, *extra))
        flies = change(model, None, size)
        assert isinstance(flies, ff.Model)
        flight = ff.simulate(flies, flight_plan(model, seed), seed=seed)
        read = change(model, flight, size)
        assert isinstance(read, ff.Telemetry)
        return model, replace(read, truth=None)

    return make


def _body(which: str, field: str) -> Change:
    def change(model: ff.Model, flight: ff.Telemetry | None, size: float):
        if flight is not None:
            return flight
        name = (
            model.root.body if which == "root" or not model.targets else model.targets[0].body.name
        )
        body = model.body(name)
        if field == "mass":
            inertia = tuple((1.0 + size) * x for x in body.inertia)
            return model.with_body(replace(body, mass=(1.0 + size) * body.mass, inertia=inertia))
        if field == "com":
            com = (body.com[0] + size, body.com[1], body.com[2])
            return model.with_body(replace(body, com=com))
        inertia = tuple((1.0 + size) * x for x in body.inertia)
        return model.with_body(replace(body, inertia=inertia))

    return change


def _link(model: ff.Model, flight: ff.Telemetry | None, size: float):
    """The second moving joint sits further out."""
    if flight is not None:
        return flight
    joint = [j for j in model.joints if j.type != "fixed"][1]
    x, y, z = joint.placement.xyz
    return model.with_joint(joint.name, placement=replace(joint.placement, xyz=(x + size, y, z)))


def _late(model: ff.Model, flight: ff.Telemetry | None, size: float):
    """The gyro's stamps are late."""
    return model if flight is None else flight.shift("base.rate.*", size)


def _scaled(model: ff.Model, flight: ff.Telemetry | None, size: float):
    """Joint angles read too large by a share."""
    if flight is None:
        return model
    names = [n for n in flight.names if n.endswith(".position") and not n.startswith("base.")]
    channels = [replace(flight[n], values=flight[n].values * (1.0 + size)) for n in names]
    return flight.with_channels(*channels)


def _pushed(model: ff.Model, flight: ff.Telemetry | None, size: float):
    """A constant acceleration that nobody knows of: a leak, a slope."""
    if flight is not None:
        return flight
    return replace(model, gravity=(size, 0.0, 0.0))


def _dragged(model: ff.Model, flight: ff.Telemetry | None, size: float):
    """Something holds the base back."""
    if flight is not None:
        return flight
    whole = mass_properties(model)
    turn = size * float(np.trace(whole.inertia)) / 3.0
    root = replace(model.root, linear_drag=size * whole.mass, angular_drag=turn)
    return replace(model, root=root)


WRONG: dict[str, tuple[tuple[float, ...], Change]] = {
    "base too light": ((0.05, 0.1, 0.3, 1.0), _body("root", "mass")),
    "target too light": ((0.05, 0.1, 0.3, 1.0), _body("target", "mass")),
    "base inertia": ((0.05, 0.1, 0.3, 1.0), _body("root", "inertia")),
    "centre of mass [m]": ((0.02, 0.05, 0.2), _body("root", "com")),
    "joint further out [m]": ((0.02, 0.05, 0.2), _link),
    "late gyro [s]": ((0.02, 0.05, 0.2), _late),
    "joint angles": ((0.02, 0.05, 0.2), _scaled),
    "unknown push [m/s2]": ((1e-3, 1e-2), _pushed),
    "unknown drag [1/s]": ((0.01, 0.1), _dragged),
}
RAW = ("late gyro [s]",)  # else the recording's doctor finds it and sets it right
RINGS = {"stiffness": (0.03, 0.1, 0.5), "panel held": (1.0,), "inertia": (0.1, 0.5)}


def _ring_wrong(
    kind: str, sensors: str, seed: int, size: float
) -> Callable[[], tuple[ff.Model, ff.Telemetry]]:
    def make() -> tuple[ff.Model, ff.Telemetry]:
        model = bearing(sensors)
        if kind == "stiffness":
            believed = model.with_joint("hinge", stiffness=60.0 * (1.0 + size))
        elif kind == "panel held":
            believed = model.with_joint("hinge", type="fixed", role="motion", stiffness=0.0,
                                        damping=0.0)  # fmt: skip
        else:
            panel = model.body("panel")
            inertia = tuple((1.0 + size) * x for x in panel.inertia)
            believed = model.with_body(replace(panel, inertia=inertia))
        return believed, ring_down(model, seed)

    return make


# -- the rates ------------------------------------------------------------------------------------


def judge(trial: Trial) -> tuple[ff.Verdict, float]:
    """The verdict on a trial, and the seconds it took."""
    source, flight = trial.make()
    begun = time.perf_counter()
    verdict = ff.validate(source, flight, raw=trial.raw)
    return verdict, time.perf_counter() - begun


def row(trial: Trial, verdict: ff.Verdict, seconds: float) -> str:
    """One line on a trial."""
    failed = [c.code for c in verdict.criteria if c.is_met is False]
    head = f"{trial.kind:<22} {trial.size:<7g} {trial.name:<52} {verdict.status_code:<14}"
    return f"{head} {seconds:5.1f} s  {', '.join(failed)}"


def main() -> None:
    """Run what is asked for, and print rows as they come, then the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--right", type=int, default=0, help="trials with a right model")
    parser.add_argument("--wrong", type=int, default=0, help="trials with a wrong one")
    parser.add_argument("--only", default="*", help="glob of kinds")
    parser.add_argument("--prove", action="store_true", help="seeds that nothing was chosen by")
    parser.add_argument("--first", type=int, help="seed of the first trial")
    args = parser.parse_args()
    first = args.first if args.first is not None else PROVE if args.prove else 0
    told: dict[tuple[bool, str, float], list[str]] = defaultdict(list)
    for is_right, n, trials in (
        (True, args.right, right_trials(first)),
        (False, args.wrong, wrong_trials(first)),
    ):
        for trial in islice(trials, n):
            if not fnmatchcase(trial.kind, args.only):
                continue
            verdict, seconds = judge(trial)
            told[is_right, trial.kind, trial.size].append(verdict.status_code)
            print(row(trial, verdict, seconds), flush=True)
    print("\n".join(summary(told)))


def summary(told: dict[tuple[bool, str, float], list[str]]) -> Iterator[str]:
    """Rates of false alarms and of wrong models caught, by kind and size."""
    for (is_right, kind, size), codes in told.items():
        n = len(codes)
        what = f"{'right' if is_right else 'wrong'}  {kind:<24} {size:<7g}"
        yield f"{what} {sum(map(is_believed, codes))} of {n} believed"
    for is_right, words in ((True, "false alarms"), (False, "caught")):
        all_codes = [code for key, codes in told.items() if key[0] is is_right for code in codes]
        if all_codes:
            n, refused = len(all_codes), sum(not is_believed(code) for code in all_codes)
            models = f"{'right' if is_right else 'wrong'} models"
            yield f"{words}: {refused} of {n} {models} ({100 * refused / n:.1f} %)"


def is_believed(code: str) -> bool:
    """Whether the prediction is believed; a fit may still not be trusted for its own reasons."""
    return code in ("predicts", "unproven")


if __name__ == "__main__":
    main()
