"""Simulations of candidate motions: what the sensors would tell, how near the limits they come.

A candidate is simulated on a grid as coarse as its motion allows; a sample of the grid stands for
all the samples that the sensors take in that time. Input tables are linear in the unknowns: they
are sums of tables made once. Derivatives of readings by parameters are analytic; how they change
with the motion comes by finite differences from neighbouring flights, one an unknown of the design,
on all cores.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import sqrt
from typing import Protocol

import numpy as np

from freefloat.arrays import Array
from freefloat.design.variables import Variables
from freefloat.dynamics.equations import observe
from freefloat.dynamics.integrate import integrate, longest_stable_step
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.modes import modes
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.tree import System, with_friction
from freefloat.excitation.plan import Plan
from freefloat.model.checks import sensor_targets
from freefloat.model.parameter_name import field_of
from freefloat.model.parts import Sensor
from freefloat.prediction.flight import FlightSegment, fly
from freefloat.prediction.limit_monitors import LimitMonitor
from freefloat.prediction.sensor_models import sensor_jacobian, sensor_reading
from freefloat.prediction.sensor_noise import counted_noise
from freefloat.prediction.time_grid import TimeGrid

# theory: the error of RK4 at 16 steps a cycle is about (2 pi / 16)^4 / 120 = 2e-4 of the motion
A_CYCLE = 16  # steps in a cycle of the fastest motion
# theory: RK4 is stable down to 2 pi / 2.83 = 2.3 steps a cycle of an undamped mode; at 5 a swing
# loses a tenth in a cycle (|R|^2 = 1 - z^6 / 72 + z^8 / 576 a step, z = 2 pi / 5)
A_SWING = 5  # steps in a cycle of the fastest mode
# theory: twice the rate that resolves products of two motions (Nyquist: four samples a cycle)
SAMPLES = 8  # grid points in a cycle of the fastest motion
# theory: a half sine seen at 100 points shows its peak to (pi / 200)^2 / 2 = 1e-4
LEAST = 100  # grid points in a flight, where there are as many steps: limits are checked there
# theory: RK4 errs by 1e-4 of what it does at a tenth of the step
FINER = 10  # steps of a replay in one of a search
# theory: a one-sided difference errs by about the step (curvature) plus rounding over it, 1e-5 and
# 1e-12 / 1e-5: more than enough for a local model of which a tenth of the gain must come true
NEARBY = 1e-5  # units of an unknown: the step of finite differences


@dataclass(frozen=True)
class CandidateFlight:
    """One flight: Jacobian `rows` (rows, columns) in units of noise, shares of limits (N, limits).

    A share is what a monitored quantity takes of its limit: 1 is at it.
    """

    at: FlightSegment
    rows: Array
    shares: Array


class Criterion(Protocol):
    """A number for a flight: some rows of it, and what they are worth."""

    def rows(self, flight: CandidateFlight) -> Array:
        """What of the flight counts."""
        ...

    def value(self, rows: Array) -> tuple[float, Array]:
        """A logarithm, the smaller the better, and its derivative by the rows."""
        ...

    def describe(self, value: float) -> tuple[str, float]:
        """The value for people: what it is, and the number."""
        ...


@dataclass(frozen=True)
class DesignUnknowns:
    """What readings are differentiated by: names, and how they make columns (names, columns)."""

    names: tuple[str, ...]
    mix: Array


class Flier(Protocol):
    """Whoever can fly candidates: `CandidateFlights`, or something that knows a shorter way."""

    @property
    def system(self) -> System:
        """The mechanism that flies."""
        ...

    @property
    def variables(self) -> Variables:
        """The unknowns of the design."""
        ...

    @property
    def monitors(self) -> tuple[LimitMonitor, ...]:
        """The limits that a flight shows."""
        ...

    def fly(self, x: Array) -> CandidateFlight:
        """The flight of one candidate."""
        ...

    def neighbours(self, x: Array) -> list[CandidateFlight]:
        """The flights of candidates that are NEARBY further along each unknown."""
        ...

    def replay(self, plan: Plan) -> FlightSegment:
        """The flight of a plan at a tenth of the step, every step recorded."""
        ...


class CandidateFlights:
    """Flies candidates of one system.

    Args:
        system: what flies.
        variables: the unknowns of the design.
        monitors: limits, whose shares every flight tells.
        sensors: whose readings are differentiated; thrusters are passed over.
        unknowns: what they are differentiated by; none: no Jacobian is made.
        n_threads: for neighbouring flights; as many as there are cores unless given.
    """

    def __init__(
        self,
        system: System,
        variables: Variables,
        monitors: Sequence[LimitMonitor],
        *,
        sensors: Sequence[Sensor] = (),
        unknowns: DesignUnknowns = DesignUnknowns((), np.zeros((0, 0))),  # noqa: B008
        n_threads: int | None = None,
    ) -> None:
        self.system, self.variables, self.monitors = system, variables, tuple(monitors)
        self.unknowns = unknowns
        self._is_mixed = not np.array_equal(unknowns.mix, np.eye(len(unknowns.names)))
        if any(field_of(name) == "friction" for name in unknowns.names):
            self.system = with_friction(system)
        self._directions = parameter_directions(self.system, unknowns.names)
        self.n_threads = n_threads or os.cpu_count() or 1
        self.step, self.every = _grid(system, variables)
        self.n_steps = self.every * round(variables.duration / (self.step * self.every))
        self.grid = TimeGrid(0.0, self.step, self.every, self.n_steps // self.every + 1)
        self.times, self._stages = self.grid.times, self.grid.stages
        self._moves = self._columns(self._stages)
        self._moves_sampled = self._columns(np.repeat(self.times[:, None], 3, axis=1))
        self._at_rest = self._tables(variables.plan(np.zeros(variables.n)))
        self._read_at = _read_at(system, variables, self.times)
        self._weighted = self._weigh_sensors(sensors) if unknowns.names else []

    def fly(self, x: Array) -> CandidateFlight:
        """The flight of one candidate."""
        return self._simulate(*self._candidate_tables(x))

    def fly_plan(self, plan: Plan) -> CandidateFlight:
        """The flight of any plan of the same duration."""
        return self._simulate(*self._tables(plan))

    def neighbours(self, x: Array) -> list[CandidateFlight]:
        """The flights of candidates that are NEARBY further along each unknown."""
        start, inputs, sampled = self._candidate_tables(x)

        def fly(k: int) -> CandidateFlight:
            if k >= len(self._moves):
                near = x.copy()
                near[k] += NEARBY
                return self.fly(near)
            return self._simulate(start, self._shift(inputs, k, 0), self._shift(sampled, k, 1))

        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(fly, range(self.variables.n)))

    def replay(self, plan: Plan) -> FlightSegment:
        """The flight of a plan at a tenth of the step, every step recorded."""
        step, tabulate = self.step / FINER, plan.inputs(self.system)
        flight = integrate(
            self.system, plan.start_state(self.system), tabulate,
            duration=FINER * self.n_steps * step, step=step, breaks=plan.edges(),
        )  # fmt: skip
        inputs = tabulate(np.repeat(flight.times[:, None], 3, axis=1))
        motion = observe(self.system, flight.states, inputs=inputs, times=flight.times)
        return FlightSegment(flight.times, flight.states, motion, inputs)

    def _columns(self, times: Array) -> Array:
        """What one unit of each motion's unknown adds to the input tables: (n, rows, 3, 3)."""
        found = self.variables.columns(times.ravel())[:, :3]
        return np.moveaxis(found.reshape(-1, 3, *times.shape), 1, -1)

    def _shift(self, inputs: Inputs, k: int, which: int) -> Inputs:
        """The tables with the k-th unknown moved by NEARBY."""
        given = inputs.given.copy()
        move = (self._moves, self._moves_sampled)[which][k]
        given[:, :, self.variables.places[k]] += NEARBY * move
        return inputs._replace(given=given)

    def _tables(self, plan: Plan) -> tuple[Array, Inputs, Inputs]:
        """The initial state of a plan, its inputs at the stages of every step and on the grid."""
        tabulate = plan.inputs(self.system)
        sampled = tabulate(np.repeat(self.times[:, None], 3, axis=1))
        return plan.start_state(self.system), tabulate(self._stages), sampled

    def _candidate_tables(self, x: Array) -> tuple[Array, Inputs, Inputs]:
        """The tables of a candidate: at rest, plus each unknown times what it adds."""
        start, *tables = self._at_rest
        if self.variables.pulsers:
            start, *tables = self._tables(replace(self.variables.plan(x), motions={}))
        for which, moves in enumerate((self._moves, self._moves_sampled)):
            given, first = tables[which].given.copy(), 0
            for mover in self.variables.movers:
                own = slice(first, first + mover.n)
                given[:, :, mover.place] += np.tensordot(x[own], moves[own], axes=1)
                first += mover.n
            tables[which] = tables[which]._replace(given=given)
        return start, tables[0], tables[1]

    def _simulate(self, start: Array, inputs: Inputs, sampled: Inputs) -> CandidateFlight:
        # a candidate may be far too fast to be integrated; its infinite shares then refuse it
        with np.errstate(over="ignore", invalid="ignore"):
            at = self._integrate(start, inputs, sampled)
            shares = [monitor.shares(self.system, at) for monitor in self.monitors]
            table = np.column_stack(shares) if shares else np.zeros((len(self.times), 0))
            return CandidateFlight(at, self._rows(at.thin(self._read_at)), table)

    def _rows(self, at: FlightSegment) -> Array:
        """Derivatives of all readings by all columns, in units of their noise."""
        if not self._weighted:
            return np.zeros((0, 0))
        ends = np.ones((len(at.times), 1, 1))
        ends[[0, -1]] = sqrt(0.5)  # as of a trapezoid
        found = [
            (weight * ends) * sensor_jacobian(self.system, sensor, target, at)
            for sensor, target, weight in self._weighted
        ]
        J = np.vstack([table.reshape(-1, table.shape[2]) for table in found])
        return J @ self.unknowns.mix if self._is_mixed else J

    def _integrate(self, start: Array, inputs: Inputs, sampled: Inputs) -> FlightSegment:
        return fly(
            self.system, start, self.grid, inputs=inputs, record_inputs=sampled,
            names=self.unknowns.names, known=self._directions,
        )  # fmt: skip

    def _weigh_sensors(self, sensors: Sequence[Sensor]) -> list[tuple[Sensor, str, float]]:
        """Sensors that tell something of the unknowns, with the weight of a grid point.

        Found by a random motion: a derivative that is zero on it is zero on any other.
        """
        rng = np.random.default_rng(0)
        n = self.variables.n
        x = rng.uniform(0.1, 0.5, n) if n > self.variables.n_motion else rng.normal(size=n)
        at = self._integrate(*self._tables(self.variables.plan(x)))
        spacing = self.step * self.every * self._read_at
        found = []
        for sensor in sensors:
            if sensor.kind == "thruster":
                continue  # what is commanded is known anyway
            for target in sensor_targets(self.system.model, sensor):
                if not np.any(sensor_jacobian(self.system, sensor, target, at)):
                    continue
                noise = counted_noise(sensor, sensor_reading(self.system, sensor, target, at))
                each = sqrt((1.0 - sensor.dropout) * sensor.rate * spacing)
                found.append((sensor, target, each / noise))
        return found


def _grid(system: System, variables: Variables) -> tuple[float, int]:
    """Step [s] and steps between grid points that suit motion, pulses and modes."""
    swings = [mode.frequency for mode in modes(system.model)] if _is_flexible(system) else []
    shortest = min((p.length / 8.0 for p in variables.pulsers), default=np.inf)
    step = min(1.0 / (A_CYCLE * variables.fastest), shortest, variables.duration / 40.0)
    step = min([step, *(1.0 / (A_SWING * swing) for swing in swings)])
    start = variables.plan(np.zeros(variables.n)).start_state(system)
    step = longest_stable_step(system, start, step, shortest=step / 1024)
    every = max(1, round(1.0 / (SAMPLES * variables.fastest) / step))
    every = max(1, min(every, int(variables.duration / step / LEAST)))
    n = max(1, round(variables.duration / (step * every)))
    return variables.duration / (n * every), every


def _read_at(system: System, variables: Variables, times: Array) -> int:
    """Every how many grid points readings are differentiated: SAMPLES a cycle if nothing swings."""
    if _is_flexible(system) or variables.pulsers:
        return 1
    n = len(times) - 1
    most = max(1, int(n / (SAMPLES * variables.fastest * variables.duration)))
    return max(k for k in range(1, most + 1) if n % k == 0)


def _is_flexible(system: System) -> bool:
    return bool(np.any(system.tree.free >= 6)) and len(system.model.assembly.springs) > 0
