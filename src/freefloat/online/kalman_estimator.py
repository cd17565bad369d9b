"""Live identification of models with springs and slosh, behind the same interface.

States that nobody measures (wings, fuel, flexible joints) leave no momentum equation to be linear,
so the whole motion is estimated: the errors of the free states, of the parameters, and of the
driven joints' motion, which the encoders tell like any other sensor. Between samples the compiled
tangent of the dynamics carries the errors on.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.identification.linear.method_choice import why_output_error
from freefloat.model.model import Model
from freefloat.observability.scale import is_scaled
from freefloat.online.estimator import GATE, OnlineEstimator, checked_forgetting, with_fixed_values
from freefloat.online.filter_problem import walk_rates
from freefloat.online.health import Event, SampleOutcome
from freefloat.online.kalman_filter import KalmanFilter
from freefloat.online.kalman_input import FilteredEstimate, Readout
from freefloat.online.kalman_memory import (
    CHI2,
    DOF,
    IS_BEGUN,
    N_BAD,
    N_ROWS,
    NIS,
    TIME,
    Settings,
    unknowns_of,
)
from freefloat.online.kalman_start import MOST, Kept, Opened, opened, recorded
from freefloat.online.live_channels import known_channels, thrust_noise
from freefloat.online.live_estimate import LiveEstimate
from freefloat.online.sensing import live_streams
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.inputs import with_prescribed
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry

JERK = 3.0  # [rad/s^3 per root second]
OPENING = 6.0  # [s] solved at once before the filter goes on
SHORTEST_OPENING = 3.0  # [s] that are worth solving when no more come
GAP = 2.0  # [s] without a sample, after which the states are found anew
MOST_OPENING = 20.0  # [s]; if even these cannot be solved, the filter starts from the priors
VAGUE = 0.1  # natural sizes: with masses known to 30 % the filter is soon sure of wrong ones
LARGE = 0.3  # natural sizes: smaller ones say little of the scale
LONGEST_OPENING = 40.0  # [s]; from then on even vague ones must do
RIGID = (
    "nothing swings unmeasured here, and the Kalman filter is then too sure:"
    " the square-root method is made for that"
)
MOST_BAD = 10  # samples in a row that surprise: something has changed


def is_filtered(model: Model, parameters: Parameters, like: Telemetry | None = None) -> bool:
    """Whether only the Kalman filter can find the parameters live.

    >>> import freefloat as ff
    >>> wings = ff.load_model("servicer-wings")
    >>> is_filtered(wings, ff.Parameters(wings).free("bus.mass"))
    True
    """
    flights = [like if like is not None else Telemetry.of([])]
    return why_output_error(flatten(model), parameters, flights) is not None


class KalmanEstimator(OnlineEstimator):
    """The OnlineEstimator of models with unmeasured passive coordinates.

    Options are those of OnlineEstimator but `correct` and `solve_every`, and jerk: how briskly
    driven joints move, as a random walk of their jerk [rad/s^3 per root second]; opening [s]: the
    first seconds, which are solved at once by output error; unless said 6 s, and more until most
    masses and inertias are known to a tenth of their size. Parameters without a prior count as
    known to half their natural size. Samples may hold any part of the channels, at any rate.
    """

    filter: KalmanFilter

    def __init__(
        self,
        model: Model,
        parameters: Parameters,
        *,
        method: str = "kalman",
        like: Telemetry | None = None,
        noise: Mapping[str, float] | None = None,
        random_walk: Mapping[str, float] | None = None,
        forgetting: float = 1.0,
        gate: float = GATE,
        reorder: int = 0,
        reset: tuple[str, ...] | None = None,
        jerk: float = JERK,
        opening: float | None = None,
    ) -> None:
        whole = with_fixed_values(model, parameters)
        driven = [c.name for c in whole.assembly.coordinates if c.role == "torque"]
        self.model, self.parameters = model, parameters
        self.system = flatten(with_prescribed(whole, driven))
        streams = live_streams(self.system, like, noise or {})
        self.unknowns = unknowns_of(self.system, parameters, streams)
        sigma = np.concatenate([s.noise for s in streams])
        walk = walk_rates(self.unknowns, random_walk or {})
        thrust = thrust_noise(model, known_channels(model, like, noise)[1])
        self.problem: Any = Settings(
            sigma, walk, checked_forgetting(forgetting), _gates(gate), float(jerk), thrust
        )
        self.filter = KalmanFilter(self.system, parameters, streams, self.unknowns, self.problem)
        self.memory: Any = self.filter.memory
        self._may_wait = opening is None
        self._swings = bool(np.any(self.system.tree.free >= 6))
        self.early: Any = Kept(OPENING if opening is None else opening)
        self.channels: Any = Readout(self.system, streams, thrust)
        self.taken: Any = self.channels
        self._keep_books(reorder, like, noise or {})
        globs = tuple(f"{t.name}.*" for t in model.targets) if reset is None else reset
        names = self.unknowns.names
        self._reset = [
            k for k, name in enumerate(names) if any(fnmatchcase(name, g) for g in globs)
        ]

    @property
    def values(self) -> Array:
        """The parameters as they are known now."""
        return self.filter.memory.values.copy()

    @property
    def outliers(self) -> dict[str, int]:
        """How many readings of each sensor were too surprising to be used."""
        counts = self.filter.memory.outliers.tolist()
        return {s.group: n for s, n in zip(self.filter.streams, counts, strict=True)}

    def warm_up(self) -> None:
        """Load or compile the kernels, so that the first sample takes no longer than others."""
        f = KalmanFilter(
            self.system, self.parameters, self.filter.streams, self.unknowns, self.problem
        )
        readings = {k: np.zeros(len(s.channels)) for k, s in enumerate(f.streams)}
        for k, stream in enumerate(f.streams):
            if stream.is_attitude:
                readings[k][3] = 1.0
        f.begin(0.0, readings)
        f.move_to(1e-3)
        f.take(readings)

    # -- inside ------------------------------------------------------------------------------------

    def _misfit(self) -> tuple[float, int]:
        m = self.filter.memory
        return float(m.numbers[CHI2]), int(m.counts[N_ROWS])

    def _concerns(self) -> tuple[str, ...]:
        rigid = () if self._swings else (RIGID,)
        return (*rigid, *self.strangers.concerns)  # any pace will do

    def _estimate(self, verdict: SampleOutcome, events: tuple[Event, ...]) -> FilteredEstimate:
        m = self.filter.memory
        return FilteredEstimate(
            self.time, verdict, float(m.numbers[NIS]), int(m.counts[DOF]), events, self._counted(),
            self.parameters, self.unknowns, m.root[self.filter.layout.parameters].copy(),
            m.values.copy(), int(m.counts[N_ROWS]),
        )  # fmt: skip

    def _process(self, sample: Sample) -> SampleOutcome:
        readout = self.channels
        self._greet(sample.values)
        push = self.filter.memory.push.copy()
        readout.read(sample.values, push)
        if not readout.found and not readout.has_inputs:
            return "unusable" if readout.has_channels else "incomplete"
        judged = self.clock.judge(sample.time)
        if judged == "jumped":
            self._restart(sample.time, "clock jump", "the clock jumped")
        elif judged != "next":
            return "clock jump" if judged == "suspect" else judged
        if self.early.samples is not None:
            return self._keep(sample)
        return self._follow(sample, push)

    def _follow(self, sample: Sample, push: Array) -> SampleOutcome:
        """Use a sample that was read; push: what pushes from it on."""
        f, m, readout = self.filter, self.filter.memory, self.channels
        if m.counts[IS_BEGUN] and sample.time - m.numbers[TIME] > GAP:
            self._restart(
                sample.time, "gap", f"no sample for {sample.time - m.numbers[TIME]:.3g} s"
            )
        verdict: SampleOutcome = "taken"
        if not m.counts[IS_BEGUN]:
            if not f.begin(sample.time, readout.found):
                return "incomplete"
            verdict = "begun"
        elif not f.move_to(sample.time):
            self._restart(sample.time, "change", "the motion could not be followed")
            return "broken"
        m.push[:] = push
        if not readout.found:
            return "incomplete" if readout.has_channels else "told"
        return self._take(sample.time, verdict)

    def _keep(self, sample: Sample) -> SampleOutcome:
        """Keep a sample of the first seconds; once they are full, begin where they end."""
        early = self.early
        if early.samples and sample.time - early.samples[-1].time > GAP:
            early.samples.clear()
        verdict: SampleOutcome = "taken" if early.samples else "begun"
        early.samples.append(Sample(sample.time, dict(sample.values)))
        self.time = sample.time
        if early.is_full():
            self._open(may_wait=self._may_wait)
        return verdict

    def finish(self) -> LiveEstimate:
        """Use what is still held back, the first seconds too if no more came; the last estimate."""
        estimate = super().finish()
        kept = self.early.samples
        if not kept or kept[-1].time - kept[0].time < SHORTEST_OPENING:
            return estimate
        self.early.seconds = MOST_OPENING  # there will be no more
        self._open(may_wait=False)
        return self.estimate

    def _open(self, *, may_wait: bool) -> None:
        """Begin at the end of the samples kept, or keep more."""
        early, f = self.early, self.filter
        flight = recorded(early.samples, f.streams, self.channels.pushes)
        start = opened(
            self.system.model, self.parameters, flight, unknowns=self.unknowns, layout=f.layout
        )
        kept, early.samples = early.samples, None
        is_vague = start is not None and may_wait and self._is_vague(start)
        most = LONGEST_OPENING if is_vague else MOST_OPENING
        if (start is None or is_vague) and early.seconds < most and len(kept) < MOST:
            early.samples, early.seconds = kept, 2.0 * early.seconds
            return
        if start is not None:
            f.begin_at(start)
            for before in (s for s in kept if s.time <= start.time):
                self.channels.read(before.values, f.memory.push)  # what pushes at the start
            for late in (s for s in kept if s.time > start.time):
                push = f.memory.push.copy()  # smoothing ends a little before the samples do
                self.channels.read(late.values, push)
                self._follow(late, push)

    def _is_vague(self, start: Opened) -> bool:
        """Whether most masses, or any spring, are known so badly that slopes mislead."""
        std = np.linalg.norm(start.root[self.filter.layout.parameters], axis=1)
        pairs = zip(self.unknowns.free, start.values / self.unknowns.sizes, strict=True)
        grows = np.array([is_scaled(p.name) and abs(value) > LARGE for p, value in pairs])
        springs = np.array([p.name.endswith(".stiffness") for p in self.unknowns.free])
        is_lost = bool(np.any(grows) and np.median(std[grows]) > VAGUE)
        return is_lost or bool(np.any(std[springs] > VAGUE))

    def _take(self, time: float, verdict: SampleOutcome) -> SampleOutcome:
        f, found = self.filter, self.channels.found
        odd = f.take(found)
        if odd is None:
            self._restart(time, "change", "the readings could not be followed")
            return "broken"
        f.memory.outliers[odd] += 1
        self.time = time
        # sensors fail one by one; when most of them surprise together, it is the robot
        is_bad = 2 * len(odd) > len(found)
        f.memory.counts[N_BAD] = f.memory.counts[N_BAD] + 1 if is_bad else 0
        if f.memory.counts[N_BAD] >= MOST_BAD:
            f.forget(self._reset)
            names = ", ".join(dict.fromkeys(self.unknowns.names[k] for k in self._reset))
            self._restart(time, "change", f"something changed; {names or 'nothing'} unknown again")
        return "gated" if len(odd) == len(found) else verdict

    def _restart(self, time: float, kind: Any, why: str) -> None:
        """A new segment: the next complete sample begins the states anew."""
        self.filter.memory.counts[IS_BEGUN] = 0
        if self.early.samples is not None:
            self.early.samples.clear()
        self._note(Event(time, kind, f"{why}: states found anew"))


def _gates(gate: float) -> Array:
    """The largest NIS by number of rows; none for no gate."""
    if not 0.0 <= gate < 0.5:
        raise IdentificationError(f"gate={gate!r}: expected a chance from 0 (no gate) to 0.5")
    if gate == 0.0:
        return np.zeros(0)
    from scipy.stats import chi2

    return chi2.isf(gate, [1, 1, 2, 3])
