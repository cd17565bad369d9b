"""OnlineEstimator: one sample in, one estimate out, for as long as it flies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from freefloat.arrays import Array
from freefloat.errors import Fault, IdentificationError
from freefloat.model.model import Model
from freefloat.online.filter_options import FilterOptions
from freefloat.online.frame_filter import FrameFilter, has_different_rates
from freefloat.online.health import REPEATED, Event, Health, SampleOutcome
from freefloat.online.intake import Intake
from freefloat.online.kalman_filter import KalmanFilter, needs_kalman
from freefloat.online.live_estimate import LiveEstimate, SampleReport
from freefloat.online.live_filter import FilterFactory, FilterRequest, LiveFilter
from freefloat.online.momentum_filter import MomentumFilter
from freefloat.online.sample import as_sample
from freefloat.online.state_file import restore_state, save_state
from freefloat.parameters.parameters import Parameters
from freefloat.records.option_record import require_value
from freefloat.telemetry.sample_rows import Sample
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import did_you_mean

METHODS = ("auto", "square-root", "kalman")


class OnlineEstimator:
    """Finds the free ones of `parameters` from samples, one by one; never raises on a bad one.

    An Intake checks time, order and names of what arrives; a LiveFilter makes estimates of it.

    Args:
        model: the robot.
        parameters: what is free, with priors; the rest is known.
        method: "square-root", the momentum filter of record; "kalman", for models with unmeasured
            passive coordinates; "auto" chooses between the two.
        filter: any other LiveFilter, as its class or a function of a FilterRequest; `method` is
            then not looked at.
        like: a recording whose channels and noises the samples have.
        noise: standard deviations by channel [SI], over those of `like` and of the model's sensors.
        random_walk: glob -> standard deviation per root second, for what changes slowly (fuel:
            {"bus.mass": 0.1}).
        forgetting: weight of old information after a sample (Kalman: after a second); 1 keeps all.
        gate: probability to lose a good sample as an outlier; 0 takes all.
        reorder: samples held back so that late ones find their place.
        reset: globs of what a change (capture, release) makes unknown again, by default those of
            the targets; an empty tuple: changes are only reported.
        correct: take off what noise in the columns does to the estimate ("square-root"); only
            data without noise do better without.
        gather: channels come at different rates and are brought to common instants
            ("square-root"); by default as `like` or the sensors have it.
        options: all other numbers.

    Raises:
        IdentificationError: the filter cannot find the parameters, channels are missing, or an
            argument is out of its range.

    Example:
        >>> import freefloat as ff
        >>> model = ff.load_model("planar-capture")
        >>> params = ff.Parameters(model).free("bus.mass", "target.mass")
        >>> tracker = ff.OnlineEstimator(model, params)
        >>> tracker.update({"time": 0.0, "base.rate.z": float("nan")}).outcome
        'incomplete'
    """

    def __init__(
        self,
        model: Model,
        parameters: Parameters,
        *,
        method: str = "auto",
        filter: FilterFactory | None = None,
        like: Telemetry | None = None,
        noise: Mapping[str, float] | None = None,
        random_walk: Mapping[str, float] | None = None,
        forgetting: float = 1.0,
        gate: float = 1e-6,
        reorder: int = 0,
        reset: tuple[str, ...] | None = None,
        correct: bool = True,
        gather: bool | None = None,
        options: FilterOptions | None = None,
    ) -> None:
        self.model, self.parameters = model, parameters
        options = FilterOptions() if options is None else options
        self.options = require_value(options, FilterOptions, "options", IdentificationError)
        request = FilterRequest(
            model, parameters, like, noise or {}, random_walk or {}, forgetting, gate, reset,
            correct, options,
        )  # fmt: skip
        if filter is not None and not callable(filter):
            expected = "a LiveFilter class, or a function that makes one"
            remedy = "leave it out, or use method="
            fault = Fault("filter", repr(filter), expected, remedy, "value.type")
            raise IdentificationError("filter cannot be used:", [fault])
        factory = filter or _filter_by_name(method, request, gather)
        self.filter: LiveFilter = factory(request)
        self.intake = Intake(model, reorder=reorder, like=like, noise=noise, options=options)
        clock = self.intake.clock
        self._judge = clock.judge if self.filter.is_ordered else clock.follow

    @property
    def estimate(self) -> LiveEstimate:
        """What is known now."""
        return self.estimate_after("taken" if self.intake.time is not None else "waiting", ())

    @property
    def values(self) -> Array:
        """The filter's own quick estimate, in the parameters' units."""
        return self.filter.values

    @property
    def health(self) -> Health:
        """What became of the samples so far, and whether any parameter is observable."""
        return self.estimate.health

    @property
    def counts(self) -> Mapping[str, int]:
        """Samples so far, by outcome."""
        return self.intake.counts

    @property
    def events(self) -> list[Event]:
        """The last events."""
        return self.intake.events

    @property
    def unknown_channels(self) -> tuple[str, ...]:
        """Names that arrived and that are no channels of the model."""
        return self.intake.unknown.names

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, and what is wrong with the channels."""
        own = self.filter
        return (*own.notes(), *own.concerns(), *self.intake.unknown.concerns)

    def warm_up(self) -> None:
        """Load or compile the kernels, so that the first sample takes no longer than others."""
        self.filter.warm_up()

    def update(self, sample: Sample | Mapping[str, Any]) -> LiveEstimate:
        """Take one sample; the estimate after it.

        A sample is a Sample, or a mapping with "time" [s] and the channels' values [SI].
        """
        before = self.intake.n_events
        outcome = self.take(sample)
        return self.estimate_after(outcome, self.intake.events_since(before))

    def take(self, sample: Sample | Mapping[str, Any]) -> SampleOutcome:
        """Take one sample, as `update` does, and say what became of it: quicker by the estimate."""
        intake, read = self.intake, as_sample(sample)
        if read is None:
            intake.counts["unreadable"] += 1
            return "unreadable"
        if intake.resumed_at is not None and intake.is_in_state(
            read.time, is_ordered=self.filter.is_ordered
        ):
            intake.counts[REPEATED] += 1
            return REPEATED
        if not intake.buffer.size:
            return self._process(read)
        outcome: SampleOutcome = "waiting"
        for ready in intake.buffer.push(read):
            outcome = self._process(ready)
        return outcome

    def finish(self) -> LiveEstimate:
        """Use what is still held back; the last estimate."""
        intake = self.intake
        before = intake.n_events
        outcome: SampleOutcome = "waiting"
        for ready in intake.buffer.drain():
            outcome = self._process(ready)
        is_later = self.filter.finish(intake)
        self.filter.renew_trust()
        return (
            self.estimate if is_later else self.estimate_after(outcome, intake.events_since(before))
        )

    def run(self, samples: Telemetry) -> LiveEstimate:
        """All samples of a recording; the estimate after the last."""
        for sample in self.samples_of(samples):
            self.take(sample)
        return self.finish()

    def samples_of(self, recording: Telemetry) -> Iterable[Sample]:
        """A recording's samples as the filter wants them: with the times thrusters switched at.

        Its fill values are known from now on, as if it had been examined.
        """
        self.intake.fills.learn(recording)
        return self.filter.samples_of(recording)

    def save(self, path: str | Path) -> None:
        """Write the whole state; `restore` goes on from it bit for bit."""
        save_state(self, path)

    def restore(self, path: str | Path) -> None:
        """Go on from a saved state; IdentificationError if its problem or options are others."""
        restore_state(self, path)

    def _process(self, sample: Sample) -> SampleOutcome:
        """One sample through intake and filter; its outcome, counted."""
        intake, own = self.intake, self.filter
        if not intake.unknown.familiar.issuperset(sample.values):
            intake.unknown.look(map(str, sample.values))
        masked = intake.fills.look(sample.values)
        if masked:
            sample = intake.mask_fill_values(sample, masked)
        outcome = own.read(sample, intake)
        if outcome is None:
            judged = self._judge(sample.time)
            if judged == "jumped":
                own.restart(sample.time, "clock jump", "the clock jumped", intake)
                outcome = own.take(sample, intake)
            elif judged == "next":
                outcome = own.take(sample, intake)
            else:
                own.skip()
                outcome = "clock jump" if judged == "suspect" else judged
        if masked and outcome in ("incomplete", "told") and not masked.isdisjoint(own.channels):
            outcome = "fill value"
        intake.counts[outcome] += 1
        return outcome

    def estimate_after(self, outcome: SampleOutcome, events: tuple[Event, ...]) -> LiveEstimate:
        """What is known now, after a sample that this became of, and these events."""
        intake, own = self.intake, self.filter
        health = intake.health(*own.misfit(), own.concerns(), own.innovations())
        return own.estimate(SampleReport(intake.time, outcome, events, health, own.judge))


def _filter_by_name(method: str, request: FilterRequest, gather: bool | None) -> FilterFactory:
    """The filter that a name stands for; IdentificationError for names that are none."""
    model, like = request.model, request.like
    if method not in METHODS:
        raise IdentificationError(
            f"method={method!r}: expected one of {', '.join(METHODS)};"
            f" {did_you_mean(method, METHODS)} other filters, such as the recursions of the"
            " literature, are given as filter=... (docs/live.md, Methods)",
            code="option.choice",
        )
    if method == "auto":
        is_kalman = needs_kalman(model, request.parameters, like)
        method = "kalman" if is_kalman else "square-root"
    if method == "kalman":
        return KalmanFilter
    is_framed = has_different_rates(model, like) if gather is None else gather
    return FrameFilter if is_framed else MomentumFilter


__all__ = ["METHODS", "LiveEstimate", "OnlineEstimator"]
