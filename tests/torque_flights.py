"""Noise-free and noisy flights of built-in models with torque sensors added, as samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import freefloat as ff
from freefloat.dynamics import System, flatten
from freefloat.excitation import Plan, Pulses, default_plan
from freefloat.identification.corrected_least_squares import LeastSquaresSolution, least_squares
from freefloat.identification.linear.family import Equations, whiten
from freefloat.identification.linear.sample_reader import samples_of
from freefloat.identification.linear.samples import Samples
from freefloat.model import Model, Sensor
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameters

MODELS = ("planar-capture", "spatial-capture", "ets7", "dual-arm")
STARTS = {
    "planar-capture": ff.Start(velocity=(1.0, 2.0, 0.0), rate=(0.0, 0.0, 0.1)),
    "spatial-capture": ff.Start(velocity=(10.0, 20.0, 30.0), rate=(0.1, 0.2, 0.3)),
}
PULSES = ((2.0, 4.0, 5.0),), ((7.5, 2.0, 5.0),)
NOISE = {
    "gyro": 1e-5, "attitude": 2.4e-5, "velocity": 1e-3, "encoder": 1e-5, "joint_rate": 5e-5,
    "joint_torque": 1e-2, "wheel_speed": 1e-2, "wheel_torque": 1e-3,
}  # fmt: skip


@dataclass(frozen=True)
class Flight:
    """Samples of a flight and the true values of what is to be found."""

    system: System
    samples: Samples
    values: dict[str, float]

    @property
    def truth(self) -> np.ndarray:
        return np.array(list(self.values.values()))

    def solved(self, make: Callable[..., Equations], **options) -> LeastSquaresSolution:
        """Plain least squares for the error of every value."""
        equations = make(self.system, self.samples, self.values, **options)
        rows = whiten(equations)
        return least_squares(rows.Y, rows.y - rows.Y @ self.truth)

    def error(self, found: LeastSquaresSolution) -> float:
        """The largest error relative to a parameter's natural size; all must be seen."""
        assert found.rank == len(self.values)
        return float(np.max(np.abs(found.values) / natural_sizes(self.system, list(self.values))))


def suite(model: Model, rate: float, *, quiet: bool, without: tuple[str, ...] = ()):
    """Everything a torque family can use, at one rate [Hz]."""
    kinds = dict(NOISE)
    if not model.wheels:
        del kinds["wheel_speed"], kinds["wheel_torque"]
    body = ("gyro", "attitude", "velocity")
    sensors = [
        Sensor(kind, model.root.body if kind in body else "*", rate, noise=0.0 if quiet else noise)
        for kind, noise in kinds.items()
        if kind not in without and not (model.root.type == "fixed" and kind in body)
    ]
    return (*sensors, *((Sensor("thruster", "*", rate),) if model.thrusters else ()))


def plan_of(model: Model, duration: float) -> Plan:
    """The default motion; two thrusters fire where there are any."""
    start = STARTS.get(model.name, ff.Start(rate=(0.0, 0.0, 0.02)))
    plan = replace(default_plan(model, duration=duration), start=start)
    jets = model.thrusters[0:3:2]
    return replace(
        plan, thrusts={jet.name: Pulses(p) for jet, p in zip(jets, PULSES, strict=False)}
    )


def flown(
    model: Model | str,
    *,
    free: tuple[str, ...] = ("bus.*", "target.*"),
    plan: Plan | None = None,
    duration: float = 10.0,
    rate: float = 100.0,
    quiet: bool = True,
    seed: int = 0,
    without: tuple[str, ...] = (),
    motors: bool = False,
) -> Flight:
    """A flight with perfect (`quiet`) or noisy sensors; motors: their torques are read, too."""
    model = ff.load_model(model) if isinstance(model, str) else model
    plan = plan_of(model, duration) if plan is None else plan
    sensors = suite(model, rate, quiet=quiet, without=without)
    noise = 0.0 if quiet else NOISE["joint_torque"]
    sensors += (Sensor("motor_torque", "*", rate, noise=noise),) * motors
    system = flatten(model)
    samples = samples_of(system, ff.simulate(model, plan, seed=seed, sensors=sensors))
    globs = [g for g in free if g != "target.*" or model.targets]
    wanted = Parameters.of(model).free(*globs)
    if model.root.type == "planar":
        wanted = wanted.fix("*.mz", "*.ixx", "*.ix[yz]", "*.iy[yz]")
    return Flight(system, samples, {p.name: p.value for p in wanted.free_ones})
