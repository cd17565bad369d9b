"""Live identification of models with springs and slosh: an error-state Kalman filter.

States that nobody measures (wings, fuel, flexible joints) leave no momentum equation to be linear,
so the whole motion is estimated: the errors of the free states, of the parameters, and of the
driven joints' motion, which the encoders tell like any other sensor. Between samples the compiled
tangent of the dynamics carries the errors on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import hypot, nan
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.excitation.commands import WRENCH
from freefloat.identification.linear.method_choice import why_output_error
from freefloat.model.model import Model
from freefloat.model.parameter_name import field_of
from freefloat.observability.scale import is_scaled
from freefloat.online.filter_problem import (
    checked_forgetting,
    gate_limits,
    reset_places,
    walk_rates,
    with_fixed_values,
)
from freefloat.online.health import Event, EventKind, SampleOutcome
from freefloat.online.innovations import InnovationSums
from freefloat.online.intake import Intake
from freefloat.online.kalman_memory import Settings, kalman_unknowns
from freefloat.online.kalman_recursion import KalmanRecursion
from freefloat.online.kalman_start import StartWindow, WindowEnd, recording_of_samples, solve_window
from freefloat.online.kernels.kalman_tables import (
    CHI2,
    DOF,
    IS_BEGUN,
    N_BAD,
    N_ROWS,
    NIS,
    TIME,
)
from freefloat.online.live_channels import known_channels, thrust_noise
from freefloat.online.live_estimate import CovarianceEstimate, SampleReport
from freefloat.online.live_filter import FilterRequest, LiveFilter, restore_in_place
from freefloat.online.sample import is_number
from freefloat.online.sensing import live_streams
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.inputs import with_prescribed
from freefloat.prediction.measurements import Measurement
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry
from freefloat.telemetry.thrust_levels import open_levels, with_switches


def needs_kalman(model: Model, parameters: Parameters, like: Telemetry | None = None) -> bool:
    """Whether only the Kalman filter can find the parameters live.

    >>> import freefloat as ff
    >>> wings = ff.load_model("servicer-wings")
    >>> needs_kalman(wings, ff.Parameters(wings).free("bus.mass"))
    True
    """
    flights = [like if like is not None else Telemetry.of([])]
    return why_output_error(flatten(model), parameters, flights) is not None


def require_swinging(system: System) -> None:
    """IdentificationError for a rigid robot, of which the Kalman filter is too sure."""
    if not np.any(system.tree.free >= 6):
        raise IdentificationError(
            f"{system.model.name!r} has no unmeasured wings, fuel or springs; without them the"
            " Kalman filter states too small deviations; leave method= out (square-root), or, for"
            " sensor biases and flights without the root's velocity, identify from the recording",
            code="filter.rigid_model",
        )


class Readout:
    """The last sample by stream, with the thrust and wrench that hold from it.

    readings: of the kernels, which find measured numbers and which streams are there in them.
    """

    def __init__(self, recursion: KalmanRecursion, thrust_noise: Array) -> None:
        streams, system = recursion.streams, recursion.home
        self.readings, self.thrust_noise = recursion.readings, thrust_noise
        self.names = tuple(name for s in streams for name in s.channels)
        pushes = [f"{t.name}.force" for t in system.model.thrusters]
        self.pushes = (*pushes, *(f"base.{name}" for name in WRENCH))
        self.has_inputs = self.has_channels = False
        self.n_found = 0
        self._first = recursion.rows.table.value_at[:-1]
        self._attitudes = [k for k, stream in enumerate(streams) if stream.is_attitude]
        self._nothing = [nan] * len(self.names)

    def read(self, values: Mapping[str, Any], push: Array) -> None:
        """Find every stream whose numbers are all there and finite; put pushes into `push`."""
        self.has_channels = self.has_inputs = False
        numbers, found = self._nothing.copy(), self.readings
        for place, name in enumerate(self.names):
            number = values.get(name)
            if number is not None:
                self.has_channels = True
                if is_number(number):
                    numbers[place] = number
        found.measured[:] = numbers
        found.present[:] = np.logical_and.reduceat(np.isfinite(found.measured), self._first)
        for k in self._attitudes:
            at = int(self._first[k])
            # a quaternion far from unit length is no attitude
            if not abs(hypot(*numbers[at : at + 4]) - 1.0) < 0.1:
                found.present[k] = 0
        self.n_found = int(found.present.sum())
        for k, name in enumerate(self.pushes):
            if is_number(values.get(name)):
                push[k] = values[name]
                self.has_inputs = True
        n = len(self.thrust_noise)
        if self.has_inputs and n:
            push[:n] = open_levels(push[:n], self.thrust_noise)


class KalmanFilter(LiveFilter):
    """Finds parameters of models with unmeasured passive coordinates, and sensor biases.

    The first seconds (`options.kalman.start_window`) are solved at once by output error, more until
    most masses and inertias are known to a tenth of their size. Parameters without a prior count as
    known to half their natural size. Samples may hold any part of the channels, at any rate.
    """

    method = "kalman"

    def __init__(self, request: FilterRequest) -> None:
        model, parameters = request.model, request.parameters
        self.request, self.options = request, request.options.kalman
        fixed = with_fixed_values(model, parameters)
        driven = [c.name for c in fixed.assembly.coordinates if c.role == "torque"]
        self.system = flatten(with_prescribed(fixed, driven))
        require_swinging(self.system)
        streams = live_streams(self.system, request.like, request.noise)
        self.unknowns = kalman_unknowns(self.system, parameters, streams, self.options)
        sigma = np.concatenate([s.noise for s in streams])
        walk = walk_rates(self.unknowns, request.random_walk)
        thrust = thrust_noise(model, known_channels(model, request.like, request.noise)[1])
        gates = gate_limits(request.gate, [1, 1, 2, 3])
        self.state_settings = Settings(
            sigma, walk, checked_forgetting(request.forgetting),
            np.zeros(0) if gates is None else gates, thrust, self.options,
        )  # fmt: skip
        self.recursion = self._new_recursion(streams)
        self.memory = self.recursion.memory
        window = self.options.start_window
        self._may_wait = window is None
        seconds = self.options.first_window if window is None else window
        self.window = StartWindow(seconds, self.options.most_kept)
        self.readout = Readout(self.recursion, thrust)
        self.channels = self.readout.names
        self._is_coloured = any(s.sensor.coloured is not None for s in streams)
        self._rows = tuple(name for stream in streams for name in stream.rows)
        self.reset = reset_places(model, self.unknowns, request.reset)
        self._push = self.memory.push.copy()  # what pushes from the sample on that was read

    def _new_recursion(self, streams: Sequence[Measurement]) -> KalmanRecursion:
        return KalmanRecursion(
            self.system, self.request.parameters, streams, self.unknowns, self.state_settings
        )

    @property
    def values(self) -> Array:
        """The parameters as they are known now."""
        return self.memory.values.copy()

    @property
    def outliers(self) -> dict[str, int]:
        """How many readings of each sensor were gated."""
        counts = self.memory.outliers.tolist()
        return {s.group: n for s, n in zip(self.recursion.streams, counts, strict=True)}

    def estimate(self, report: SampleReport) -> CovarianceEstimate:
        """The estimate after a sample."""
        m = self.memory
        return CovarianceEstimate(
            report, float(m.numbers[NIS]), int(m.counts[DOF]), self.request.parameters,
            self.unknowns, m.values.copy(), m.root[self.recursion.layout.parameters].copy(),
            self.options.still_prior,
        )  # fmt: skip

    def warm_up(self) -> None:
        """Load or compile the kernels, so that the first sample takes no longer than others."""
        f = self._new_recursion(self.recursion.streams)
        f.readings.present[:] = 1
        for k, stream in enumerate(f.streams):
            f.readings.measured[f.rows.table.value_at[k + 1] - 1] = float(stream.is_attitude)
        f.begin(0.0)
        f.move_to(1e-3)
        f.take()

    def misfit(self) -> tuple[float, int]:
        """Chi-square of the innovations, and their number."""
        return float(self.memory.numbers[CHI2]), int(self.memory.counts[N_ROWS])

    def innovations(self) -> InnovationSums | None:
        """The sums of the innovations; None where noise is coloured, which they would tell of."""
        m = self.memory
        if self._is_coloured:
            return None
        return InnovationSums(
            m.row_counts[:-1].copy(), m.octave_power.copy(), m.window_worst.copy(), self._rows, 0.0
        )

    def samples_of(self, recording: Telemetry) -> Iterable[Sample]:
        """A recording's samples, and between them the instants at which thrusters switched."""
        thrusters = self.request.model.thrusters
        return with_switches(recording, [f"{t.name}.force" for t in thrusters])

    # -- one sample --------------------------------------------------------------------------------

    def read(self, sample: Sample, intake: Intake) -> SampleOutcome | None:
        """Read the sensors that are there; an outcome if none is."""
        readout = self.readout
        self._push = self.memory.push.copy()
        readout.read(sample.values, self._push)
        if not readout.n_found and not readout.has_inputs:
            return "unusable" if readout.has_channels else "incomplete"
        return None

    def take(self, sample: Sample, intake: Intake) -> SampleOutcome:
        """Use the sample that was read, or keep it for the first seconds."""
        if self.window.samples is not None:
            return self._keep(sample, intake)
        return self._follow(sample, self._push, intake)

    def _follow(self, sample: Sample, push: Array, intake: Intake) -> SampleOutcome:
        """Use a sample that was read; push: what pushes from it on."""
        f, m, readout = self.recursion, self.memory, self.readout
        if m.counts[IS_BEGUN] and sample.time - m.numbers[TIME] > self.options.gap:
            gap = sample.time - m.numbers[TIME]
            self.restart(sample.time, "gap", f"no sample for {gap:.3g} s", intake)
        outcome: SampleOutcome = "taken"
        if not m.counts[IS_BEGUN]:
            if not f.begin(sample.time):
                return "incomplete"
            outcome = "begun"
        elif not f.move_to(sample.time):
            self.restart(sample.time, "change", "the simulated motion diverged", intake)
            return "broken"
        m.push[:] = push
        if not readout.n_found:
            return "incomplete" if readout.has_channels else "told"
        return self._take_readings(sample.time, outcome, intake)

    def _take_readings(self, time: float, outcome: SampleOutcome, intake: Intake) -> SampleOutcome:
        f, m, n_found = self.recursion, self.memory, self.readout.n_found
        if not f.take():
            self.restart(time, "change", "the update diverged", intake)
            return "broken"
        m.outliers[:] += f.readings.odd
        n_odd = int(f.readings.odd.sum())
        intake.time = time
        # sensors fail one by one; when most of them are gated together, it is the robot
        is_bad = 2 * n_odd > n_found
        m.counts[N_BAD] = m.counts[N_BAD] + 1 if is_bad else 0
        if m.counts[N_BAD] >= self.options.bad_in_a_row:
            f.forget(self.reset)
            names = ", ".join(dict.fromkeys(self.unknowns.names[k] for k in self.reset))
            why = f"something changed; {names or 'nothing'} unknown again"
            self.restart(time, "change", why, intake)
        return "gated" if n_odd == n_found else outcome

    def restart(self, time: float, kind: EventKind, why: str, intake: Intake) -> None:
        """A new segment: the next complete sample begins the states anew."""
        self.memory.counts[IS_BEGUN] = 0
        if self.window.samples is not None:
            self.window.samples.clear()
        intake.report(Event(time, kind, f"{why}: states estimated anew"))

    # -- the first seconds -------------------------------------------------------------------------

    def _keep(self, sample: Sample, intake: Intake) -> SampleOutcome:
        """Keep a sample of the first seconds; once they are full, begin where they end."""
        kept = self.window.samples
        assert kept is not None
        if kept and sample.time - kept[-1].time > self.options.gap:
            kept.clear()
        outcome: SampleOutcome = "taken" if kept else "begun"
        kept.append(Sample(sample.time, dict(sample.values)))
        intake.time = sample.time
        if self.window.is_full():
            self._start(intake, may_wait=self._may_wait)
        return outcome

    def finish(self, intake: Intake) -> bool:
        """Solve the first seconds if no more samples came."""
        kept = self.window.samples
        if not kept or kept[-1].time - kept[0].time < self.options.shortest_window:
            return False
        self.window.seconds = self.options.failed_window  # there will be no more
        self._start(intake, may_wait=False)
        return True

    def _start(self, intake: Intake, *, may_wait: bool) -> None:
        """Begin at the end of the samples kept, or keep more."""
        window, f, options = self.window, self.recursion, self.options
        assert window.samples is not None
        flight = recording_of_samples(window.samples, f.streams, self.readout.pushes)
        end = solve_window(
            self.system.model, self.request.parameters, flight, unknowns=self.unknowns,
            layout=f.layout, options=options,
        )  # fmt: skip
        kept, window.samples = window.samples, None
        is_vague = end is not None and may_wait and self._is_vague(end)
        most = options.vague_window if is_vague else options.failed_window
        if (end is None or is_vague) and window.seconds < most and len(kept) < options.most_kept:
            window.samples, window.seconds = kept, 2.0 * window.seconds
            return
        if end is not None:
            f.begin_at(end)
            for before in (s for s in kept if s.time <= end.time):
                self.readout.read(before.values, f.memory.push)  # what pushes at the start
            for late in (s for s in kept if s.time > end.time):
                push = f.memory.push.copy()  # smoothing ends a little before the samples do
                self.readout.read(late.values, push)
                self._follow(late, push, intake)

    def _is_vague(self, end: WindowEnd) -> bool:
        """Whether most masses, or any spring, are known so badly that linearising misleads."""
        options, free = self.options, self.unknowns.free
        std = np.linalg.norm(end.root[self.recursion.layout.parameters], axis=1)
        pairs = zip(free, end.values / self.unknowns.sizes, strict=True)
        grows = np.array([is_scaled(p.name) and abs(value) > options.large for p, value in pairs])
        springs = np.array([field_of(p.name) == "stiffness" for p in free])
        is_lost = bool(np.any(grows) and np.median(std[grows]) > options.vague)
        return is_lost or bool(np.any(std[springs] > options.vague))

    # -- for the state file ------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """What a saved state must have been made with."""
        s = self.state_settings
        return {
            "noise": s.sigma.tolist(), "random_walk": s.walk.tolist(),
            "forgetting": s.forgetting, "gate": s.gates.tolist(),
        }  # fmt: skip

    def arrays(self) -> dict[str, Any]:
        """Everything, by name."""
        found = {f"memory.{name}": array for name, array in self.memory._asdict().items()}
        return found | self.window.arrays()

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Go on from `arrays`."""
        restore_in_place(arrays, "memory", self.memory._asdict())
        self.window.restore(arrays)
