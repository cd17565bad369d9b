"""One way to simulate a recording (or a plan) and to read its sensors, with the Jacobian.

    predictor = predictor_of(model, telemetry, step=1e-2)          # or plan_predictor(model, plan)
    prediction = predictor.at({"bus.mass": 61.0, "start.rate.z": 1e-3}, ["bus.mass", "bus.izz"])
    prediction.residuals[k]    # predicted minus measured, of predictor.measurements[k]
    prediction.jacobian[k]     # d residual / d parameter

Output error, validation, the Cramér-Rao bound and the start of the Kalman filter are its clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import STEP, longest_stable_step
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.excitation.commands import SAME_INSTANT
from freefloat.excitation.plan import Plan
from freefloat.model.model import Model
from freefloat.model.parameter_name import is_of_sensor
from freefloat.model.parts import Sensor
from freefloat.prediction.flight import FlightSegment, fly
from freefloat.prediction.flight_setup import FlightSetup, InputTables, setup_at
from freefloat.prediction.initial_state import first_state, with_start
from freefloat.prediction.inputs import (
    InputSource,
    driving_torques,
    inputs_from_plan,
    inputs_from_telemetry,
)
from freefloat.prediction.measurements import (
    Measurement,
    measurements_of,
    planned_measurements,
)
from freefloat.prediction.sensor_errors import SensorContext, predict_measurement
from freefloat.prediction.setup_derivative import setup_changes
from freefloat.prediction.time_grid import ON_RECORD, SampleWeights, TimeGrid, common_grid
from freefloat.telemetry.telemetry import Telemetry

# theory: a polynomial of degree 5 errs by (2 pi f h)^6 / 200, 1e-6 of a motion of 2 Hz
COARSEST = 2e-2  # [s] between records where samples fall between them


@dataclass(frozen=True)
class Prediction:
    """What the sensors would have read at some parameter values; one array per measurement.

    values: predicted readings (N, k) at the samples. residuals (N, r): predicted minus measured,
    of an attitude the rotation vector from the measured one [rad]; empty (0, r) where nothing has
    been measured yet. jacobian (N, r, names): of the residuals, or of the readings where there are
    none. segment: the simulated motion.
    """

    names: tuple[str, ...]
    values: tuple[Array, ...]
    residuals: tuple[Array, ...]
    jacobian: tuple[Array, ...]
    segment: FlightSegment | None = None


@dataclass(frozen=True)
class Predictor:
    """A flight that can be simulated at any parameter values, and the measurements to compare with.

    source: where the inputs come from. start: the nominal state vector at the grid's first record;
    `start.*` parameters are counted from it.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=5.0), seed=1)
    >>> predictor = predictor_of(model, flight, step=1e-2)
    >>> [m.group for m in predictor.measurements]
    ['base.angle', 'base.position', 'base.rate']
    >>> prediction = predictor.at({"bus.mass": 9.0, "bias.base.rate.z": 1e-3}, ["bus.mass"])
    >>> prediction.residuals[2].shape, prediction.jacobian[2].shape
    ((475, 1), (475, 1, 1))
    """

    source: InputSource
    measurements: tuple[Measurement, ...]
    start: Array
    grid: TimeGrid

    @property
    def model(self) -> Model:
        """The model, those coordinates prescribed whose motion is an input."""
        return self.source.model

    @property
    def system(self) -> System:
        """The model's arrays, at its own numbers."""
        return self.source.system

    @property
    def times(self) -> Array:
        """The times of the records [s]."""
        return self.grid.times

    @cached_property
    def tables(self) -> InputTables:
        """The inputs as they were recorded or planned."""
        return InputTables(self.source, self.grid)

    @property
    def inputs(self) -> Inputs:
        """Inputs of every step, as they were recorded or planned."""
        return self.tables.steps

    @property
    def record_inputs(self) -> Inputs:
        """Inputs at every record, as they were recorded or planned."""
        return self.tables.records

    @cached_property
    def needs_forces(self) -> bool:
        """Whether a sensor reads forces or accelerations."""
        return any(measurement.needs_forces for measurement in self.measurements)

    @cached_property
    def _weights(self) -> dict[tuple[int, bool], tuple[float, SampleWeights]]:
        return {}  # by measurement and whether a delay moves it: the last delay [s] is kept

    @cached_property
    def _latest(self) -> dict[tuple[object, ...], Prediction]:
        return {}  # the last prediction with slopes, by values and names: many ask for it again

    def at(
        self, values: Mapping[str, float] | None = None, names: Sequence[str] = ()
    ) -> Prediction | None:
        """Simulate with parameters at `values` and read every sensor.

        Args:
            values: Parameters of the model, `start.*`, `bias.*`, `gain.*`, `delay.*` by name, in
                their units; what is not named is as the model has it.
            names: What to differentiate by; without any the tangent is not integrated.

        Returns:
            The prediction; None where the simulated motion is not finite.
        """
        values = values or {}
        if not names:
            return self.predict_with(values, names, self.setup_at(values))
        asked = (tuple(values.items()), tuple(names))
        if asked in self._latest:
            return self._latest[asked]
        self._latest.clear()  # before the next is made: memory holds one
        found = self.predict_with(values, names, self.setup_at(values))
        if found is not None:
            self._latest[asked] = found
        return found

    def predict_with(
        self, values: Mapping[str, float], names: Sequence[str], setup: FlightSetup
    ) -> Prediction | None:
        """The prediction at `values` with another setup than theirs."""
        segment = self._fly(setup, self.tables, values, names)
        end = segment.states[-1], segment.tangent.tangents[-1]
        if not all(np.all(np.isfinite(table)) for table in end):
            return None
        read = []
        for k, m in enumerate(self.measurements):
            weights = self.weights(k, values, names)
            context = SensorContext(values, names, weights, self.grid.first)
            read.append(predict_measurement(m, setup.system, segment, context))
        predicted, residuals, jacobian = zip(*read, strict=True) if read else ((), (), ())
        return Prediction(tuple(names), predicted, residuals, jacobian, segment)

    def fly(
        self,
        values: Mapping[str, float],
        names: Sequence[str] = (),
        *,
        grid: TimeGrid | None = None,
    ) -> FlightSegment:
        """Only the motion at `values`, with its sensitivity to `names`; not checked to be finite.

        grid: of other records in place of the predictor's own, on the same steps.
        """
        tables = self.tables if grid is None else InputTables(self.source, grid)
        setup = setup_at(self.system, tables, self.start, values)
        return self._fly(setup, tables, values, names)

    def _fly(
        self,
        setup: FlightSetup,
        tables: InputTables,
        values: Mapping[str, float],
        names: Sequence[str],
    ) -> FlightSegment:
        inner = [name for name in names if not is_of_sensor(name)]
        start = with_start(setup.system, setup.start, values)
        changes = setup_changes(setup, tables, values, inner)
        return fly(
            setup.system, start, tables.grid, inputs=setup.inputs,
            record_inputs=setup.record_inputs, names=inner, with_forces=self.needs_forces,
            setup=changes,
        )  # fmt: skip

    def setup_at(self, values: Mapping[str, float]) -> FlightSetup:
        """The system and its inputs with parameters at `values`."""
        return setup_at(self.system, self.tables, self.start, values)

    def system_at(self, values: Mapping[str, float]) -> System:
        """The model's arrays with its parameters at `values`."""
        return self.setup_at(values).system

    def weights(
        self, k: int, values: Mapping[str, float], names: Sequence[str] = ()
    ) -> SampleWeights:
        """Where the samples of measurement k fall; how that changes too, where it has a delay."""
        measurement = self.measurements[k]
        name = f"delay.{measurement.group}"
        is_moving = name in values or name in names
        delay = values.get(name, measurement.sensor.delay)
        known = self._weights.get((k, is_moving))
        if known is None or known[0] != delay:
            known = delay, self.grid.weights(measurement.times - delay, is_moving=is_moving)
            self._weights[k, is_moving] = known
        return known[1]

    def finer(self) -> Self:
        """The same, integrated with half the step."""
        return replace(self, grid=self.grid.finer())

    def until(self, seconds: float) -> Self:
        """The first `seconds` only."""
        grid = self.grid.until(seconds)
        if grid.n_records == self.grid.n_records:
            return self
        end = grid.first + (grid.n_records - 1) * grid.every * grid.step
        parts = (m.select(m.times <= end + SAME_INSTANT) for m in self.measurements)
        return replace(self, measurements=tuple(m for m in parts if len(m.times)), grid=grid)


def plan_predictor(
    model: Model,
    plan: Plan,
    *,
    sensors: Sequence[Sensor] | None = None,
    step: float = 10 * STEP,
) -> Predictor:
    """The predictor of a plan that has not been flown yet: readings without noise and bias.

    Args:
        model: Flies the plan.
        plan: Drives everything.
        sensors: In place of the model's own suite.
        step: Of the integration [s], at most: every sample falls on a step.

    >>> import freefloat as ff
    >>> predictor = plan_predictor(ff.load_model("cepheus"), ff.default_plan("cepheus"))
    >>> predictor.at(names=["bus.izz"]).jacobian[0].shape[-1]
    1
    """
    if plan.control is not None:
        raise IdentificationError(
            "a closed-loop plan cannot be predicted; fly it and use its log",
            code="plan.closed_loop",
        )
    source = inputs_from_plan(model, plan)
    suite = tuple(model.sensors if sensors is None else sensors)
    rate, step, every = common_grid(suite, step)
    n = int(np.floor(plan.duration * rate * (1 + 1e-12)))
    grid = TimeGrid(0.0, step, every, n + 1)
    measurements = planned_measurements(source.system, suite, float(grid.times[-1]))
    return Predictor(source, measurements, plan.start_state(source.system), grid)


def predictor_of(
    model: Model,
    telemetry: Telemetry,
    *,
    step: float,
    plan: Plan | None = None,
    has_delays: bool = False,
    trims: tuple[bool, bool] = (True, True),
) -> Predictor:
    """The predictor of a recorded flight.

    Args:
        model: As far as it is known; its parameters are where `at` starts from.
        telemetry: Joints and wheels follow it, thrust and wrench act as recorded.
        step: Of the integration [s], at most; halved until springs are stable.
        plan: Drives everything in place of the recorded motion.
        has_delays: Delays will be asked for, so that samples fall between records.
        trims: Whether the start and the end, where smoothed motion is known poorly, may be left
            out; not where the state there matters.

    Raises:
        IdentificationError: What the recording lacks.
    """
    if plan is None:
        source = inputs_from_telemetry(model, telemetry)
    else:
        source = inputs_from_plan(model, plan)
    source = _without_margins(source, telemetry, trims)
    system, first, last = source.system, source.first, source.last
    driving = driving_torques(system.model)  # their readings are inputs, and no news
    measurements = [
        m.select((m.times >= first - SAME_INSTANT) & (m.times <= last + SAME_INSTANT))
        for m in measurements_of(system, telemetry)
        if plan is not None or m.group not in driving
    ]
    measurements = [m for m in measurements if len(m.times)]
    if not measurements:
        raise IdentificationError(
            "the recording has no channel the model predicts; give base.rate.*, base.attitude.*, a"
            f" joint torque or the like (channels: {', '.join(telemetry.names[:6])} ...)",
            code="channel.none",
        )
    start = plan.start_state(system) if plan else first_state(system, source, measurements)
    interval = _record_interval(measurements, first, step)
    if has_delays and interval > COARSEST:
        interval /= np.ceil(interval / COARSEST)
    step = longest_stable_step(system, start, min(step, interval))
    every = max(1, int(np.ceil(interval / step * (1.0 - 1e-9))))
    end = min(last, max(float(m.times[-1]) for m in measurements))
    n_records = int(np.ceil((end - first) / interval * (1.0 - 1e-12) - ON_RECORD)) + 1
    if n_records < 2:
        raise IdentificationError(
            f"the recording lasts {end - first:g} s, less than two samples; record longer",
            code="samples.few",
        )
    grid = TimeGrid(first, interval / every, every, n_records)
    return Predictor(source, tuple(measurements), start, grid)


def _without_margins(
    source: InputSource, telemetry: Telemetry, trims: tuple[bool, bool]
) -> InputSource:
    """The inputs without their margins, from one sample of the finest channel to another."""
    before, after = (
        m if is_trimmed else 0.0 for m, is_trimmed in zip(source.margins, trims, strict=True)
    )
    first, last = source.first + before, source.last - after
    times = max((c.time for c in telemetry.channels.values()), key=len)
    inside = times[(times >= first - SAME_INSTANT) & (times <= last + SAME_INSTANT)]
    if len(inside) < 2:
        return source
    return replace(
        source,
        first=float(inside[0]) if trims[0] else first,
        last=float(inside[-1]) if after else last,
    )


def _record_interval(measurements: Sequence[Measurement], first: float, step: float) -> float:
    """The finest sample interval where all samples fall on it, else one fine enough to bridge."""
    intervals = [np.median(np.diff(m.times)) for m in measurements if len(m.times) > 1]
    finest = float(min(intervals, default=step))
    for m in measurements:
        at = (m.times - m.sensor.delay - first) / finest
        at = at[at > 0.0]
        if np.any(np.abs(at - np.round(at)) > ON_RECORD):
            return min(finest, COARSEST)
    return finest
