"""`validate`: from a fit and a flight it has not seen to a Verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from freefloat.digits import amount_text
from freefloat.errors import FreefloatError, IdentificationError, TelemetryError, require_type
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.prediction.measurements import unknown_channel_notes, with_sensor_noise
from freefloat.progress import Progress, count_steps, portion, silent
from freefloat.provenance import provenance
from freefloat.telemetry import quality
from freefloat.telemetry.digest import digest
from freefloat.telemetry.doctor import prepare_recording
from freefloat.telemetry.sample_codes import SAMPLES_APART, shares_samples
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun, listing
from freefloat.validation import acceptance
from freefloat.validation.acceptance import AcceptanceCriterion, AcceptanceLimits
from freefloat.validation.consistency import Consistency, judge_consistency
from freefloat.validation.end_effectors import end_effectors
from freefloat.validation.flight_prediction import FlightPrediction, StartKind, predict_flight
from freefloat.validation.momentum_balance import momentum_balances
from freefloat.validation.scores import (
    expected_errors,
    residual_statistics,
    scores_of,
    traces_of,
)
from freefloat.validation.start_search import StartSearch
from freefloat.validation.verdict import Verdict


def validate(
    fit: Fit | Model,
    flight: Telemetry,
    *,
    limits: AcceptanceLimits = AcceptanceLimits(),  # noqa: B008
    plan: Plan | None = None,
    start: StartKind = "search",
    raw: bool = False,
    progress: Progress = silent,
) -> Verdict:
    """Whether a fitted model (or any model) predicts a flight it was not made from, and why.

    The joints follow the recording; the initial state is found from it. Everything else is
    prediction, compared with every sensor.

    Args:
        fit: the fit to be judged, or a model.
        flight: a recording that took no part in the fit.
        limits: from when on a criterion fails.
        plan: the commands, if known exactly; they drive the prediction in place of the recording.
        start: "search": the initial state is found from the recording, that of wings, fuel and
            springs too; "rest": these are at home and at rest; "plan": all of it is the plan's.
        raw: whether the recording is used as it is; else its faults are repaired first.
        progress: called before every simulation; may raise to stop.

    Returns:
        the verdict; negative too where the model cannot be simulated.

    Raises:
        FreefloatError: the recording lacks what a prediction needs.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    >>> verdict = ff.validate(model, flight)
    >>> verdict.is_positive, verdict["prediction"].code
    (True, 'prediction.within_expected')
    """
    require_type(fit, (Fit, Model), "fit", error=IdentificationError)
    require_type(flight, Telemetry, "flight", error=IdentificationError)
    require_type(plan, (Plan, type(None)), "plan", error=IdentificationError)
    new, old = (fit, None) if isinstance(fit, Model) else (fit.model, fit.prior_model)
    progress("examining the recording", 0.0)
    recorded = _Recorded.of(fit, flight, raw=raw)
    predict = partial(predict_flight, telemetry=recorded.flight, plan=plan)
    try:
        predicted = predict(new, start=start, progress=portion(progress, 0.1, 0.4))
    except (IdentificationError, TelemetryError):
        raise  # bad input is not a verdict
    except FreefloatError as error:
        return recorded.without_prediction(error.message)
    progress("judging what is left", 0.4)
    options = TrustOptions(significance=limits.significance)
    found = judge_consistency(fit, _tell_by(predicted.search, portion(progress, 0.4, 0.5)),
                              options=options)  # fmt: skip
    contradicted = ""
    if not found.is_met and start != "search":
        other = predict(new, start="search", progress=portion(progress, 0.5, 0.6))
        without = judge_consistency(
            fit, _tell_by(other.search, portion(progress, 0.6, 0.6)), options=options
        )
        if without.is_met:
            contradicted = _start_words(predicted, other, start)
            predicted, found = other, without
    with_old = partial(predict, start=start, progress=portion(progress, 0.6, 0.9))
    before = recorded.before(old, new, with_old)
    progress("judging the prediction", 0.9)
    return recorded.judge(predicted, before, found, limits, contradicted=contradicted)


def _tell_by(search: StartSearch, progress: Progress) -> StartSearch:
    """The search, whose later simulations are told of as what they are for."""
    told = count_steps(progress, "judging what is left")
    return replace(search, problem=replace(search.problem, progress=told))


def _start_words(given: FlightPrediction, found: FlightPrediction, start: StartKind) -> str:
    """What of the initial state that was given is not so, by the surest of it."""
    search = found.search
    moved = [
        (abs(value) / std, name, value, std)
        for (name, value), std in zip(search.values.items(), search.deviations, strict=True)
        if name not in given.start and std > 0.0
    ]
    begin = "with wings and fuel at rest" if start == "rest" else "as the plan says"
    _, name, value, std = max(moved)
    return (
        f"the flight does not begin {begin}: {name.removeprefix('start.')} is"
        f" {amount_text(value, '', std).strip()} off; once the initial state is found from the"
        " recording, the model predicts it (leave --start out)"
    )


@dataclass(frozen=True)
class _Recorded:
    """A flight and where the model came from: what every verdict on it has in common.

    given: the recording as it came; flight: as it is used, its faults repaired.
    """

    source: Fit | Model
    given: Telemetry
    flight: Telemetry
    quality: tuple[str, ...]
    notes: list[str]

    @classmethod
    def of(cls, source: Fit | Model, flight: Telemetry, *, raw: bool) -> _Recorded:
        found, model = quality(flight), _model_of(source)
        prepared = prepare_recording(flight, model, raw=raw)
        used = with_sensor_noise(model, prepared.recording)
        told = (found.summary, *map(str, found.findings))
        notes: list[str] = [*prepared.notes, *unknown_channel_notes(model, [flight])]
        return cls(source, flight, used, told, notes)

    @property
    def is_held_out(self) -> bool | None:
        """Whether no part of the flight took part in the fit; None where the fit does not say."""
        if isinstance(self.source, Model):
            return None
        told = self.source.provenance
        made_from = told.get("recordings", "").split()
        if not made_from:
            return None
        used = [codes for codes in told.get("samples", "").split(SAMPLES_APART) if codes]
        is_part = any(shares_samples(self.given, codes) for codes in used)
        return digest([self.given]) not in made_from and not is_part

    @property
    def model(self) -> Model:
        return _model_of(self.source)

    def verdict(self, **parts: object) -> Verdict:
        """A verdict with what is not given left empty."""
        empty = ("scores", "balances", "end_effectors", "whiteness", "spectra", "traces")
        fit = {} if isinstance(self.source, Model) else dict(self.source.provenance)
        fit = {f"fit_{name}": value for name, value in fit.items() if name != "samples"}
        record = provenance(data=digest([self.given]), **fit)
        whole: dict[str, object] = {name: () for name in empty}
        whole |= {
            "model": self.model.name,
            "method": "" if isinstance(self.source, Model) else self.source.method,
            "quality": self.quality,
            "notes": tuple(dict.fromkeys(self.notes)),
            "provenance": record,
        }
        return Verdict(**(whole | parts))  # type: ignore[arg-type]

    def before(
        self, old: Model | None, new: Model, predict: Callable[[Model], FlightPrediction]
    ) -> FlightPrediction | None:
        """The prediction of the model before the fit, if there is one that differs."""
        if old is None or old == new:
            text = "the fit changed no parameter of the model"
            self.notes.extend([Note("fit.unchanged", text)] if old is not None else [])
            return None
        try:
            return predict(old)
        except FreefloatError as error:
            text = f"the model before the fit cannot be simulated: {error.message}"
            self.notes.append(Note("prediction.before_failed", text))
            return None

    def without_prediction(self, why: str) -> Verdict:
        """A model that cannot even be run is not believed."""
        nan = float("nan")
        failed = AcceptanceCriterion(
            "prediction", False, nan, nan, "no prediction could be made", "prediction.failed"
        )
        return self.verdict(
            is_positive=False, has_run=False, execution=f"The prediction failed: {why}",
            status="The model cannot predict this flight: its simulation does not run.",
            status_code="no_prediction",
            criteria=(failed, acceptance.physical(self.model)),
        )  # fmt: skip

    def judge(
        self,
        prediction: FlightPrediction,
        before: FlightPrediction | None,
        found: Consistency,
        limits: AcceptanceLimits,
        *,
        contradicted: str = "",
    ) -> Verdict:
        """The verdict on a prediction."""
        expected = expected_errors(prediction, self.source)
        scores = scores_of(prediction, before, expected)
        balances, why_not = momentum_balances(prediction.system, self.flight, prediction.segment)
        tips = end_effectors(prediction, self.flight)
        correlations, spectra = residual_statistics(prediction, before)
        is_explained = found.is_met
        judged = (
            acceptance.prediction(scores, limits, is_explained=is_explained),
            acceptance.residuals(found),
            acceptance.deviations(found),
            acceptance.momentum(balances, why_not, limits, is_explained=is_explained),
            *([] if before is None else [acceptance.improvement(scores, limits)]),
            *acceptance.tips(tips, limits),
        )
        if not prediction.search.is_found and not is_explained:
            judged = tuple(acceptance.without_start(c, prediction) for c in judged)
        criteria = (
            acceptance.initial_state(prediction.search, contradicted=contradicted,
                                     is_explained=is_explained),
            *judged,
            acceptance.physical(self.model),
            *acceptance.provenance_criteria(self.source, self.is_held_out),
        )  # fmt: skip
        self.notes.extend((*prediction.notes, *_noise_notes(prediction)))
        code, status = _status(criteria)
        return self.verdict(
            is_positive=code == "predicts", has_run=True, execution=_execution(prediction),
            status=status, status_code=code, criteria=criteria, scores=scores, balances=balances,
            end_effectors=tips, whiteness=correlations, spectra=spectra,
            traces=traces_of(prediction, before, self.flight),
        )  # fmt: skip


def _model_of(source: Fit | Model) -> Model:
    return source if isinstance(source, Model) else source.model


def _noise_notes(prediction: FlightPrediction) -> Iterator[Note]:
    """Channels whose noise nobody stated."""
    guessed = [
        name for s in prediction.sensors if not s.measurement.is_noise_known for name in s.names
    ]
    if guessed:
        text = (
            f"the noise of {listing(guessed, most=3)} is not stated: residuals were tested for"
            " being white, not for being as small as the noise; state it with the recording or in"
            " the model's [[sensor]]"
        )
        yield Note("noise.not_stated", text)


def _execution(prediction: FlightPrediction) -> str:
    span = prediction.segment.times
    n = sum(len(sensor.measurement.times) for sensor in prediction.sensors)
    fitted = count_noun(len(prediction.start), "initial state") + " fitted"
    return (
        f"The simulation ran from {span[0]:.4g} s to {span[-1]:.4g} s beside {n} samples of"
        f" {count_noun(len(prediction.sensors), 'sensor')};"
        f" {fitted if prediction.start else 'no initial state to fit'}."
    )


def _status(criteria: Sequence[AcceptanceCriterion]) -> tuple[str, str]:
    """A code, and one sentence a person can act on."""
    failed = [criterion for criterion in criteria if criterion.is_met is False]
    if not failed:
        unjudged = [criterion.name for criterion in criteria if criterion.is_met is None]
        rest = f" Not judged: {', '.join(unjudged)}." if unjudged else ""
        return (
            "predicts",
            f"The model predicts this flight; every criterion that could be judged is met.{rest}",
        )
    first = failed[0]
    names = ", ".join(criterion.name for criterion in failed)
    of_model = [c for c in failed if c.name not in ("start", "held out", "fit")]
    if of_model:
        reason = of_model[0].reason
        return "rejected", f"The model does not predict this flight ({names}): {reason}."
    if first.name == "start":
        return "start_unknown", f"The model is not judged by this flight yet: {first.reason}."
    text = f"The model predicts this flight, but is not proven yet ({names}): {first.reason}"
    return "unproven", text
