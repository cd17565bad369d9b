"""`validate`: from a fit and a flight it has not seen to a Verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freefloat.errors import FreefloatError, IdentificationError, TelemetryError
from freefloat.identification.fit import Fit
from freefloat.identification.identify import digest
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.provenance import provenance
from freefloat.telemetry import quality
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import count_noun
from freefloat.validation import acceptance
from freefloat.validation.acceptance import AcceptanceCriterion, AcceptanceLimits
from freefloat.validation.end_effectors import end_effectors
from freefloat.validation.flight_prediction import FlightPrediction, predict_flight
from freefloat.validation.momentum_balance import momentum_balances
from freefloat.validation.scores import (
    expected_errors,
    residual_statistics,
    scores_of,
    traces_of,
)
from freefloat.validation.verdict import Verdict


def validate(
    fit: Fit | Model,
    flight: Telemetry,
    *,
    limits: AcceptanceLimits = AcceptanceLimits(),  # noqa: B008
    deflections: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Verdict:
    """Whether a fitted model (or any model) predicts a flight it was not made from, and why.

    The joints follow the recording; the initial state of the base is fitted to it. Everything else
    is prediction, compared with every sensor.

    Args:
        fit: the fit to be judged, or a model.
        flight: a recording that took no part in the fit.
        limits: from when on a criterion fails.
        deflections: whether the initial deflections of wings and fuel are fitted too; otherwise
            they start at home, at rest.
        progress: told the fraction done.

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
    new, old = (fit, None) if isinstance(fit, Model) else (fit.model, fit.prior_model)
    recorded = _Recorded.of(fit, flight)
    report = progress or (lambda fraction: None)
    report(0.1)
    try:
        predicted = predict_flight(new, flight, deflections=deflections)
    except (IdentificationError, TelemetryError):
        raise  # bad input is not a verdict
    except FreefloatError as error:
        return recorded.without_prediction(error.message)
    report(0.4)
    before = None
    if old is not None and old != new:
        try:
            before = predict_flight(old, flight, deflections=deflections)
        except FreefloatError as error:
            text = f"the model before the fit cannot be simulated: {error.message}"
            recorded.notes.append(Note("prediction.before_failed", text))
    elif old is not None:
        text = "the fit changed no parameter of the model"
        recorded.notes.append(Note("fit.unchanged", text))
    report(0.7)
    return recorded.judge(predicted, before, limits)


@dataclass(frozen=True)
class _Recorded:
    """A flight and where the model came from: what every verdict on it has in common."""

    source: Fit | Model
    flight: Telemetry
    quality: tuple[str, ...]
    notes: list[str]

    @classmethod
    def of(cls, source: Fit | Model, flight: Telemetry) -> _Recorded:
        found = quality(flight)
        return cls(source, flight, (found.summary, *map(str, found.findings)), [])

    @property
    def is_held_out(self) -> bool | None:
        """Whether the flight took no part in the fit; None where the fit does not say."""
        if isinstance(self.source, Model):
            return None
        made_from = self.source.provenance.get("recordings", "").split()
        return digest([self.flight]) not in made_from if made_from else None

    @property
    def model(self) -> Model:
        return self.source if isinstance(self.source, Model) else self.source.model

    def verdict(self, **parts: object) -> Verdict:
        """A verdict with what is not given left empty."""
        empty = ("scores", "balances", "end_effectors", "whiteness", "spectra", "traces")
        fit = {} if isinstance(self.source, Model) else dict(self.source.provenance)
        fit = {f"fit_{name}": value for name, value in fit.items()}
        record = provenance(data=digest([self.flight]), **fit)
        whole: dict[str, object] = {name: () for name in empty}
        whole |= {
            "model": self.model.name,
            "method": "" if isinstance(self.source, Model) else self.source.method,
            "quality": self.quality,
            "notes": tuple(dict.fromkeys(self.notes)),
            "provenance": record,
        }
        return Verdict(**(whole | parts))  # type: ignore[arg-type]

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
        limits: AcceptanceLimits,
    ) -> Verdict:
        """The verdict on a prediction."""
        expected = expected_errors(prediction, self.source)
        scores = scores_of(prediction, before, expected)
        balances, why_not = momentum_balances(prediction.system, self.flight, prediction.segment)
        tips = end_effectors(prediction, self.flight)
        correlations, spectra = residual_statistics(prediction, before)
        criteria = (
            acceptance.prediction(scores, limits),
            acceptance.white_residuals(correlations, scores, limits),
            acceptance.momentum(balances, why_not, limits),
            acceptance.physical(self.model),
            *([] if before is None else [acceptance.improvement(scores, limits)]),
            *acceptance.tips(tips, limits),
            *acceptance.provenance_criteria(self.source, self.is_held_out),
        )
        self.notes.extend(prediction.notes)
        code, status = _status(criteria)
        return self.verdict(
            is_positive=code == "predicts", has_run=True, execution=_execution(prediction),
            status=status, status_code=code, criteria=criteria, scores=scores, balances=balances,
            end_effectors=tips, whiteness=correlations, spectra=spectra,
            traces=traces_of(prediction, before, self.flight),
        )  # fmt: skip


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
    if first.name in ("held out", "fit"):
        text = f"The model predicts this flight, but is not proven yet ({names}): {first.reason}"
        return "unproven", text
    return "rejected", f"The model does not predict this flight ({names}): {first.reason}."
