"""Flights of paper 001: the closed loop after capture, and what each method makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.closed_loop import integrate_closed_loop
from freefloat.dynamics.state import Start
from freefloat.dynamics.tree import System, flatten
from freefloat.excitation.plan import CaptureControl
from freefloat.model import inertia as inertial
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.model.rotations import quaternion_from_rotation_vector, quaternion_product
from freefloat.online.estimator import OnlineEstimator
from freefloat.online.live_channels import noise_of_sensors
from freefloat.papers.paper_001.one_step_rows import (
    PAIRS,
    PaperForm,
    force_columns,
    momentum_columns,
    one_step_rows,
)
from freefloat.papers.paper_001.published import BAND, GUESS, PRIOR
from freefloat.papers.paper_001.rls import ModifiedRls, PlainRls
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.telemetry.telemetry import Telemetry

STEP, SAMPLED, OFTEN = 1e-3, 100, 10  # [s]; steps between samples: the paper's, and at 100 Hz
WRENCH_EVERY = 2  # format: protocol, steps between wrenches
QUIET = 1e-3  # format: protocol, noise-free data are given this part of the sensors' noise


@dataclass(frozen=True)
class Flight:
    """A closed-loop flight at every step: states, accelerations and the wrench on the root."""

    system: System
    times: Array
    states: Array
    ddq: Array
    wrench: Array

    @property
    def form(self) -> PaperForm:
        """Base and target are looked for."""
        return PaperForm(self.system, ("bus", "target"))

    @property
    def samples(self) -> slice:
        """The steps at which sensors report."""
        return slice(None, None, SAMPLED)


@lru_cache(maxsize=8)
def fly(
    name: str,
    *,
    duration: float,
    velocity: tuple[float, ...],
    rate: tuple[float, ...],
    max_force: float = 10.0,
) -> Flight:
    """The flight of a built-in model from an initial velocity [m/s] and rate [rad/s]."""
    system = flatten(load_model(name))
    law = CaptureControl(max_force=max_force)
    start = Start(velocity=velocity, rate=rate).vector(system)
    gains = (law.damping, law.stiffness, law.force_gain, law.max_force)
    loop = integrate_closed_loop(
        system, start, (*gains, law.torque_gain, law.max_torque), duration=duration, step=STEP
    )
    return Flight(system, loop.times, loop.states, loop.accelerations, loop.wrench)


def planar(name: str = "planar-capture", *, duration: float = 60.0) -> Flight:
    """The paper's 2D run."""
    return fly(name, duration=duration, velocity=(1.0, 2.0, 0.0), rate=(0.0, 0.0, 0.1))


def spatial(*, duration: float = 100.0) -> Flight:
    """The paper's 3D run."""
    velocity, rate = (10.0, 20.0, 30.0), (0.1, 0.2, 0.3)
    return fly("spatial-capture", duration=duration, velocity=velocity, rate=rate)


# -- the paper's methods ---------------------------------------------------------------------------


def first_guess(form: PaperForm) -> tuple[Array, Array]:
    """mu and theta the paper starts from."""
    mu, theta = [], []
    for body in form.bodies:
        m, b, inertia = GUESS[body]
        mu += [m, *[m * b] * (2 if form.is_planar else 3)]
        theta += [inertia] if form.is_planar else [inertia, 0.0, 0.0, inertia, 0.0, inertia]
    return np.array(mu), np.array(theta)


def rows_of(flight: Flight, kind: str) -> Iterator[tuple[Array, Array, Array, Array, Array]]:
    """A, b, phi, y and psi of every sample after the first, momentum- or force-based."""
    columns, right = _momentum(flight) if kind == "momentum" else _force(flight)
    return one_step_rows(flight.form, columns[1:], right[1:])


def _momentum(flight: Flight) -> tuple[Array, Array]:
    columns, _ = momentum_columns(flight.form, flight.states[flight.samples])
    turning = flight.wrench[:, :3] + np.cross(flight.states[:, :3], flight.wrench[:, 3:])
    gained = np.hstack([flight.wrench[:, 3:], turning])
    whole = np.zeros_like(gained)
    whole[1:] = np.cumsum(0.5 * STEP * (gained[1:] + gained[:-1]), axis=0)
    return columns - columns[0], whole[flight.samples]


def _force(flight: Flight) -> tuple[Array, Array]:
    rates = np.hstack([flight.states[:, 10:13], flight.states[:, 7:10]])
    slope = np.gradient(rates, STEP, axis=0, edge_order=2)[flight.samples]
    states, ddq = flight.states[flight.samples], flight.ddq[flight.samples]
    push = flight.wrench[flight.samples]
    return force_columns(flight.form, states, slope, ddq), np.hstack([push[:, 3:], push[:, :3]])


def modified_rls(flight: Flight, kind: str, *, prior: float = PRIOR) -> Array:
    """The paper's estimates after every sample (N, quantities): mu and theta as m, b, I."""
    form = flight.form
    rls = ModifiedRls(*first_guess(form), prior, form.quadratic)
    found = []
    for row in rows_of(flight, kind):
        rls.update(*row)
        found.append(rls.x)
    return in_words(form, np.array(found))


def plain_rls(flight: Flight, *, prior: float) -> tuple[Array, bool]:
    """Covariance RLS on the joint linear form; whether P was positive to the end."""
    form = flight.form
    mu, theta = first_guess(form)
    places = [*form.mu_places, *form.theta_places]
    rls = PlainRls(np.concatenate([mu, theta]), np.full(len(places), prior))
    columns, right = _momentum(flight)
    rows = [*form.linear, *form.angular]
    is_positive = True
    for Y, y in zip(columns[1:, rows], right[1:, rows], strict=True):
        rls.update(Y[:, places], y - Y[:, 20])
        is_positive = rls.is_positive
        if not is_positive:
            break
    return rls.x, is_positive


def in_words(form: PaperForm, found: Array) -> Array:
    """Estimates (N, mu + theta) with first moments divided by masses: b."""
    n, half = len(form.mu_places), len(form.mu_places) // 2
    out = found.copy()
    for first in (0, half):
        out[:, first + 1 : first + half] /= found[:, first : first + 1]
    return out[:, _by_body(n, found.shape[1] - n)]


def _by_body(n: int, k: int) -> list[int]:
    """Base first: its mu, its theta; then the target's."""
    a, b = range(n), range(n, n + k)
    return [*a[: n // 2], *b[: k // 2], *a[n // 2 :], *b[k // 2 :]]


def names_of(form: PaperForm) -> list[str]:
    """The quantities in the order of `in_words`."""
    axes = "xy" if form.is_planar else "xyz"
    six = [""] if form.is_planar else ["xx", "xy", "xz", "yy", "yz", "zz"]
    return [
        name
        for body in ("1", "n")
        for name in (f"m_{body}", *(f"b_{body}{a}" for a in axes), *(f"I_{body}{s}" for s in six))
    ]


# -- ours ------------------------------------------------------------------------------------------


def guess_model(model: Model) -> Model:
    """The model with the paper's first guesses for base and target."""
    values: dict[str, float] = {}
    is_planar = model.root.type == "planar"
    for body, (m, b, inertia) in GUESS.items():
        com = np.array([b, b, 0.0 if is_planar else b])
        six = [inertia, 0.0, 0.0, inertia, 0.0, inertia]
        phi = inertial.phi_from_com(m, com, six)
        kept = (0, 1, 2, 9) if is_planar else range(10)
        values.update({f"{body}.{inertial.NAMES[k]}": float(phi[k]) for k in kept})
    return with_parameters(model, values)


def unknowns_of(model: Model) -> Parameters:
    """The eight or twenty parameters, starting at the first guesses."""
    start = Parameters(guess_model(model))
    if model.root.type != "planar":
        return start.free("bus.*", "target.*")
    return start.free(*(f"{b}.{n}" for b in GUESS for n in ("mass", "mx", "my", "izz")))


def telemetry(
    flight: Flight, *, noise: float = 0.0, seed: int = 0, every: int = SAMPLED
) -> Telemetry:
    """What the model's sensors see of a flight, with `noise` times their noise; and the wrench."""
    parts = [f"base.{kind}.{a}" for kind in ("torque", "force") for a in "xyz"]
    every_wrench = slice(None, None, WRENCH_EVERY)
    wrench = {name: flight.wrench[every_wrench, k] for k, name in enumerate(parts)}
    channels = Telemetry.from_arrays(flight.times[every_wrench], wrench).channels.values()
    return sense(flight, noise=noise, seed=seed, every=every).with_channels(*channels)


def sense(flight: Flight, *, noise: float = 0.0, seed: int = 0, every: int = SAMPLED) -> Telemetry:
    """What the model's sensors see of a flight, with `noise` times their noise."""
    rng = np.random.default_rng(seed)
    model, x = flight.system.model, flight.states[::every]
    sigma = noise_of_sensors(model)
    c, t = flight.system.n_coordinates, flight.times[::every]
    turn = noise * sigma["base.attitude.x"] * rng.normal(size=(len(x), 3))
    if model.root.type == "planar":
        turn[:, :2] = 0.0
    q = quaternion_product(x[:, 3:7], quaternion_from_rotation_vector(turn))
    values = {f"base.rate.{a}": x[:, 10 + k] for k, a in enumerate("xyz")}
    values |= {f"base.velocity.{a}": x[:, 7 + k] for k, a in enumerate("xyz")}
    for k, name in enumerate(flight.system.coordinates):
        values[f"{name}.position"] = x[:, 13 + k]
        values[f"{name}.velocity"] = x[:, 13 + c + k]
    values = {
        name: column + noise * sigma[name] * rng.normal(size=len(column))
        for name, column in values.items()
    }
    if model.root.type == "planar":
        values["base.angle"] = np.unwrap(2.0 * np.arctan2(q[:, 2], q[:, 3]))
    else:
        values |= {f"base.attitude.{a}": q[:, k] for k, a in enumerate("xyzw")}
    return Telemetry.from_arrays(t, values)


def tracker_of(model: Model, *, noise: float = 1.0, **options: object) -> OnlineEstimator:
    """Our filter from the paper's first guesses, for `noise` times the sensors' noise."""
    sizes = {name: max(noise, QUIET) * size for name, size in noise_of_sensors(model).items()}
    parameters = unknowns_of(model)
    return OnlineEstimator(parameters.model, parameters, noise=sizes, **options)  # type: ignore[arg-type]


def our_estimates(flight: Flight, *, every: int = SAMPLED) -> tuple[Array, Array]:
    """Times and our estimates (N, quantities) from the noise-free flight."""
    tracker = tracker_of(flight.system.model, noise=QUIET, gate=0.0, correct=False, reset=())
    times, found = [], []
    for sample in telemetry(flight, every=every):
        if tracker.update(sample).outcome == "taken":
            times.append(sample.time)
            found.append(tracker.values)
    return np.array(times), as_paper(flight.form, np.array(found))


def as_paper(form: PaperForm, values: Array) -> Array:
    """Standard parameters (N, 8 or 20) as m, b and I about the centres of mass."""
    phi = np.zeros((*values.shape[:-1], 20))
    kept = [0, 1, 2, 9, 10, 11, 12, 19] if form.is_planar else list(range(20))
    phi[..., kept] = values
    out = []
    for body in (phi[..., :10], phi[..., 10:]):
        m, s = body[..., :1], body[..., 1:4]
        b = s / m
        bb = np.sum(b * b, axis=-1, keepdims=True)
        steiner = [m * (bb * (i == j) - b[..., [i]] * b[..., [j]]) for i, j in PAIRS]
        about = body[..., 4:] - np.concatenate(steiner, axis=-1)
        parts = [m, b[..., :2], about[..., 5:]] if form.is_planar else [m, b, about]
        out.append(np.concatenate(parts, axis=-1))
    return np.concatenate(out, axis=-1)


def truth_of(form: PaperForm) -> Array:
    """The true quantities."""
    phi = np.concatenate([form.system.model.body(body).phi for body in form.bodies])
    kept = [0, 1, 2, 9, 10, 11, 12, 19] if form.is_planar else list(range(20))
    return as_paper(form, phi[kept][None])[0]


def transit(times: Array, found: Array, truth: float, *, size: float | None = None) -> float | None:
    """The last entry [s] into the band of 0.1 %; None when it ends outside."""
    outside = np.abs(found - truth) > BAND * abs(size or truth)
    if outside[-1]:
        return None
    last = np.flatnonzero(outside)
    return float(times[0] if not len(last) else times[last[-1] + 1])
