"""Everything the golden outputs ask of freefloat, in one place.

Only public names are used. When one of them changes, the change belongs here and nowhere else in
these tools; what comes out is plain dictionaries, lists, numbers and text.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import freefloat as ff
from freefloat.design import Effort
from freefloat.excitation import Pulses
from freefloat.identification.output_error.options import SearchOptions
from freefloat.model import Sensor
from freefloat.papers.paper_001.recursive_filter import RECURSIVE, recursive_filter

Refusal = ff.FreefloatError
Flight = ff.Telemetry

METHODS = (
    "auto", "momentum", "angular", "force", "torque", "weak", "energy", "reduced", "output_error",
)  # fmt: skip
LIVE_METHODS = ("square-root", "kalman", "rls", "two-step", "modified-rls", "modified-rls-force")
NOISE = {
    "gyro": 1e-5, "attitude": 2.4e-5, "position": 1e-3, "velocity": 1e-3, "encoder": 1e-5,
    "joint_rate": 5e-5, "joint_torque": 1e-2, "wheel_speed": 1e-2, "wheel_torque": 1e-3,
}  # fmt: skip
OF_BODY = ("gyro", "attitude", "position", "velocity")
RATE = 20.0  # [Hz] of the full sensor suite
OFF = 1.1  # by what the model that identification starts from is too heavy


def model_names() -> tuple[str, ...]:
    """The built-in models."""
    return tuple(sorted(entry.name for entry in ff.builtin_models()))


@lru_cache(maxsize=2)
def load(name: str) -> ff.Model:
    """A built-in model."""
    return ff.load_model(name)


@lru_cache(maxsize=2)
def prior_model(name: str) -> ff.Model:
    """The model that identification starts from: root and target a tenth too heavy."""
    model = load(name)
    for body in (model.root.body, *(target.name for target in model.targets)):
        part = model.body(body)
        inertia = tuple(OFF * x for x in part.inertia)
        model = model.with_body(replace(part, mass=OFF * part.mass, inertia=inertia))
    return model


def wanted(model: ff.Model, *globs: str) -> ff.Parameters:
    """The parameters to find: those of root and target unless said; in the plane, what acts."""
    targets = tuple(f"{target.name}.*" for target in model.targets)
    found = ff.Parameters(model).free(*(globs or (f"{model.root.body}.*", *targets)))
    is_whole = not globs or any(glob.endswith(".*") for glob in globs)
    if model.root.type == "planar" and is_whole:
        found = found.fix("*.mz", "*.ixx", "*.ix[yz]", "*.iy[yz]")
    return found


def full_suite(model: ff.Model) -> tuple[Sensor, ...]:
    """Every sensor that some method can use, all at one rate."""
    kinds = [kind for kind in NOISE if model.wheels or not kind.startswith("wheel")]
    sensors = [
        Sensor(kind, model.root.body if kind in OF_BODY else "*", RATE, noise=NOISE[kind])
        for kind in kinds
    ]
    return (*sensors, *((Sensor("thruster", "*", RATE),) if model.thrusters else ()))


def plan_for(name: str, *, seed: int, duration: float, thrust: bool = True) -> ff.Plan:
    """The default motion from a slow turn; two thrusters fire where there are any."""
    model = load(name)
    plan = ff.default_plan(model, duration=duration, seed=seed)
    plan = replace(plan, start=ff.Start(rate=(0.0, 0.0, 0.02)))
    pulses = ((0.15, 0.3, 5.0), (0.5, 0.2, 5.0))  # begin and length as shares of the flight
    jets = model.thrusters[0:3:2] if thrust else ()
    thrusts = {
        jet.name: Pulses(((begin * duration, length * duration, force),))
        for jet, (begin, length, force) in zip(jets, pulses, strict=False)
    }
    return replace(plan, thrusts=thrusts)


@lru_cache(maxsize=8)
def flight_of(
    name: str, suite: str, *, seed: int, duration: float, thrust: bool = True
) -> ff.Telemetry:
    """A simulated flight, seen by the model's own sensors ("own") or by all kinds ("full")."""
    plan = plan_for(name, seed=seed, duration=duration, thrust=thrust)
    sensors = None if suite == "own" else full_suite(load(name))
    return ff.simulate(load(name), plan, seed=seed, sensors=sensors)


def identify(
    name: str, globs: tuple[str, ...], *flights: ff.Telemetry, search: Any = None, **options: Any
) -> ff.Fit:
    """A fit that starts from the model that is a tenth too heavy."""
    model = prior_model(name)
    if search:
        options["search"] = SearchOptions(**search)
    return ff.identify(model, wanted(model, *globs), flights, assess=False, **options)


def fit_content(fit: ff.Fit) -> dict[str, Any]:
    """A fit as its file has it, with the identified model as a table."""
    content = json.loads(fit.to_json())
    del content["prior_model"], content["format"], content["version"]
    content["model"] = tomllib.loads(content["model"])
    return content


def verdict_content(source: ff.Fit | ff.Model, flight: ff.Telemetry) -> dict[str, Any]:
    """The verdict on a fit or model, as its file has it."""
    content = json.loads(ff.validate(source, flight).to_json())
    del content["format"], content["version"]
    return content


def telemetry_content(flight: ff.Telemetry) -> dict[str, Any]:
    """Every channel's instants and values, those of the truth beside."""
    parts = {"measured": flight, "truth": flight.truth}
    return {
        what: {
            name: {"unit": c.unit, "time": c.time, "values": c.values, "noise": c.noise}
            for name, c in part.channels.items()
        }
        for what, part in parts.items()
        if part is not None
    }


def identifiability_content(name: str, duration: float) -> dict[str, Any]:
    """What a flight would tell of root and target."""
    model, plan = load(name), plan_for(name, seed=1, duration=duration)
    return asdict(ff.identifiability(model, wanted(model), plan=plan))


def cramer_rao_content(name: str, duration: float) -> dict[str, Any]:
    """The deviations that no method can beat."""
    model, plan = load(name), plan_for(name, seed=1, duration=duration)
    bound = ff.cramer_rao(model, wanted(model), plan)
    return {"std": dict(zip(bound.names, bound.std, strict=True)), "covariance": bound.covariance}


def design_content(name: str, globs: tuple[str, ...], **options: Any) -> dict[str, Any]:
    """A designed plan as its file has it, found with little effort."""
    effort = Effort(random=4, starts=1, rounds=2)
    plan = ff.design_excitation(load(name), wanted(load(name), *globs), effort=effort, **options)
    with tempfile.TemporaryDirectory() as folder:
        plan.save(Path(folder) / "plan.toml")
        return tomllib.loads((Path(folder) / "plan.toml").read_text(encoding="utf-8"))


class Tracker:
    """A live estimator, fed sample by sample."""

    def __init__(self, name: str, method: str, flight: ff.Telemetry, **options: Any) -> None:
        model = prior_model(name)
        globs = options.pop("globs", ())
        chosen = {"filter": recursive_filter(method)} if method in RECURSIVE else {"method": method}
        self.estimator = ff.OnlineEstimator(
            model, wanted(model, *globs), like=flight, **chosen, **options
        )

    def update(self, sample: Any) -> Any:
        """The estimate after one more sample."""
        return self.estimator.update(sample)

    def run(self, flight: ff.Telemetry) -> dict[str, Any]:
        """The last estimate after a whole recording."""
        return self.content(self.estimator.run(flight))

    def finish(self) -> dict[str, Any]:
        """The last estimate, with all counts and the closest bodies that could be real."""
        last = self.estimator.finish()
        content = self.content(last)
        content["counts"] = dict(last.health.counts)
        content["all_events"] = [vars(event) for event in last.health.events]
        content["covariance"] = last.covariance
        content["physical"] = np.asarray(last.physical.values)
        content["notes"] = list(self.estimator.notes)
        return content

    @staticmethod
    def content(estimate: Any) -> dict[str, Any]:
        """An estimate as plain values, called as in the records made before the renames."""
        content = estimate.as_dict()
        content["verdict"], content["sight"] = content.pop("outcome"), content.pop("status")
        del content["health_codes"], content["status_code"]
        return content


def samples_in(flight: ff.Telemetry) -> Iterator[tuple[float, Mapping[str, float]]]:
    """Instants and values of a recording, in the order in which they come."""
    for sample in flight:
        yield sample.time, sample.values


def command(*arguments: str, folder: Path | None = None) -> dict[str, Any]:
    """What `freefloat ... --json` prints, with the exit code; always from the tree tested here."""
    home = str(Path(ff.__file__).parents[1])
    ended = subprocess.run(
        [sys.executable, "-m", "freefloat", *arguments, "--json"],
        cwd=folder, env={**os.environ, "PYTHONPATH": home}, capture_output=True, text=True,
    )  # fmt: skip
    content = json.loads(ended.stdout) if ended.stdout.strip() else {"error": ended.stderr}
    return {"exit_code": ended.returncode, "output": content}
